//! Strips line numbers that a model copied together with the text, as `read_file` and searches show
//! them.

use super::Edit;

/// The edit without its line numbers; none unless every line of the old text has one, each greater
/// by one than the line before it.
pub fn without(edit: &Edit) -> Option<Edit> {
    let mut next = None;
    let mut old = Vec::new();
    for line in edit.old.trim_end_matches('\n').split('\n') {
        let (number, text) = numbered(line)?;
        if next.is_some_and(|next| next != number) {
            return None;
        }
        next = number.checked_add(1);
        old.push(text);
    }
    // If only some of the new lines begin with a number, it belongs to the text.
    let all_numbered: Option<Vec<_>> = edit
        .new
        .split('\n')
        .map(|line| if line.is_empty() { Some(line) } else { numbered(line).map(|(_, text)| text) })
        .collect();
    let new = all_numbered.map_or_else(|| edit.new.clone(), |lines| lines.join("\n"));
    let mut old = old.join("\n");
    if edit.old.ends_with('\n') {
        old.push('\n');
    }
    Some(Edit { old, new, all: edit.all })
}

/// A line's number and its text.
fn numbered(line: &str) -> Option<(u64, &str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (number, rest) = line.split_at(digits);
    let text = rest.strip_prefix(['\t', '→', '|']).or_else(|| {
        let rest = rest.strip_prefix(':')?;
        Some(rest.strip_prefix(' ').unwrap_or(rest))
    })?;
    Some((number.parse().ok()?, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(old: &str, new: &str) -> Option<(String, String)> {
        without(&Edit { old: old.into(), new: new.into(), all: false })
            .map(|edit| (edit.old, edit.new))
    }

    #[test]
    fn numbers_of_lines_that_follow_each_other_are_left_out() {
        let some = |old: &str, new: &str| Some((old.to_owned(), new.to_owned()));
        assert_eq!(
            bare("9\tlet a;\n10\t  b", "9\tlet c;\n10\t  b"),
            some("let a;\n  b", "let c;\n  b")
        );
        assert_eq!(bare("  7→x\n", "y\n"), some("x\n", "y\n"));
        assert_eq!(bare("7: x", "7: y\n8: z"), some("x", "y\nz"));
        assert_eq!(bare("7: x", "y\n8: z"), some("x", "y\n8: z"));
        assert_eq!(
            bare("7\tm = {", "m = {\n    404: gone,"),
            some("m = {", "m = {\n    404: gone,")
        );
        assert_eq!(bare("1\ta\n3\tb", "c"), None);
        assert_eq!(bare("1\ta\nb", "c"), None);
        assert_eq!(bare("a", "1\tb"), None);
    }
}
