//! Formats the matches for the model.

use std::fmt::Write as _;

use super::gather::{Gathered, MATCHES};
use crate::spec::counted;

/// How many lines one call returns, not counting context, and their total size in bytes.
const SHOWN: u64 = 200;
const BYTES: usize = 64 * 1024;

/// The lines by file, and remarks about them.
pub fn text(found: &Gathered, most: usize) -> String {
    let mut text = String::new();
    let (mut shown, mut files, mut is_full) = (0, 0, false);
    for (path, lines) in &found.files {
        if shown >= SHOWN || is_full {
            break;
        }
        files += 1;
        let _ = writeln!(text, "{path}");
        let mut before = None;
        for line in lines {
            if text.len() + line.text.len() > most.min(BYTES) {
                is_full = true;
                break;
            }
            // A match that is not shown has no context either.
            if shown >= SHOWN && line.is_match {
                break;
            }
            if before.is_some_and(|before| before + 1 < line.number)
                && lines.iter().any(|line| !line.is_match)
            {
                text.push_str("--\n");
            }
            before = Some(line.number);
            let _ = writeln!(
                text,
                "{}{} {}",
                line.number,
                if line.is_match { ':' } else { '-' },
                line.text
            );
            shown += u64::from(line.is_match);
        }
    }
    let all = found.matches();
    let mut notes = Vec::new();
    if found.is_cut {
        let (files, are) = (counted(files, "file"), if shown == 1 { "is" } else { "are" });
        notes.push(format!(
            "More than {MATCHES} lines match. {shown} of them in {files} {are} shown. Narrow the search."
        ));
    } else if shown < all {
        let (lines, files) = (counted(all, "line"), counted(found.files.len() as u64, "file"));
        let verb = if all == 1 { "matches" } else { "match" };
        let shown = match shown {
            0 => "None are shown".to_owned(),
            1 => "The first is shown".to_owned(),
            shown => format!("The first {shown} are shown"),
        };
        notes.push(format!("{lines} in {files} {verb}. {shown}. Narrow the search."));
    } else if all == 0 {
        notes.push("No matches.".to_owned());
    }
    if found.several_links > 0 {
        let files = counted(found.several_links as u64, "file");
        notes.push(format!("Not searched: {files} with several hard links."));
    }
    if found.unfinished > 0 {
        let files = counted(found.unfinished as u64, "file");
        notes.push(format!("Not fully searched: {files} with very long lines or read errors."));
    }
    if !notes.is_empty() {
        let _ = writeln!(text, "[{}]", notes.join(" "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::gather::Line;
    use super::*;

    fn found(files: &[(&str, &[(u64, bool)])]) -> Gathered {
        let line = |(number, is_match): &(u64, bool)| Line {
            number: *number,
            text: format!("line {number}"),
            is_match: *is_match,
        };
        let files = files
            .iter()
            .map(|(path, lines)| ((*path).to_owned(), lines.iter().map(line).collect()));
        Gathered { files: files.collect(), ..Gathered::default() }
    }

    #[test]
    fn lines_stand_below_their_files_with_their_context() {
        let found = found(&[
            ("a.rs", &[(1, false), (2, true), (9, true)]),
            ("b.rs", &[(4, true), (7, true)]),
        ]);
        assert_eq!(
            text(&found, BYTES),
            "a.rs\n1- line 1\n2: line 2\n--\n9: line 9\nb.rs\n4: line 4\n7: line 7\n"
        );
    }

    #[test]
    fn what_is_not_shown_is_told() {
        let many: Vec<_> = (1..=150).map(|number| (number, true)).collect();
        let text = text(&found(&[("a", &many), ("b", &many), ("c", &many)]), BYTES);
        assert!(
            text.ends_with("b\n") || text.contains("\nb\n") && !text.contains("\nc\n"),
            "{text}"
        );
        assert!(
            text.ends_with(
                "[450 lines in 3 files match. The first 200 are shown. Narrow the search.]\n"
            ),
            "{text}"
        );
        assert_eq!(super::text(&Gathered::default(), BYTES), "[No matches.]\n");
        let gathered = Gathered { is_cut: true, several_links: 2, ..found(&[("a", &[(1, true)])]) };
        assert!(super::text(&gathered, BYTES).contains("More than 10000 lines match. 1 of them in 1 file is shown. Narrow the search. Not searched: 2 files with several hard links."));
    }
}
