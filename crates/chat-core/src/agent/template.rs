//! Parses the template of a system prompt: blocks of text with placeholders.

/// Fills a template. A place is `{name}`; what is put in is never looked at for further places.
/// Blocks are parted by blank lines; one whose places are all empty vanishes, with the tags or the
/// heading that stand in it.
pub(super) fn fill(template: &str, value: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    for block in template.split("\n\n") {
        let Some(filled) = fill_block(block.trim_matches('\n'), &value) else { continue };
        if !out.is_empty() {
            out.push_str("\n\n");
        }
        out.push_str(&filled);
    }
    out
}

/// One block; none where it has places and nothing is in them.
fn fill_block(block: &str, value: &impl Fn(&str) -> Option<String>) -> Option<String> {
    let mut out = String::with_capacity(block.len());
    let (mut places, mut filled) = (0, 0);
    let mut rest = block;
    while let Some((before, name, after)) = next_placeholder(rest) {
        out.push_str(before);
        match value(name) {
            Some(text) => {
                places += 1;
                let text = text.trim();
                filled += usize::from(!text.is_empty());
                out.push_str(text);
            }
            // Not a place of ours: braces are common in what people write.
            None => out.push_str(&rest[before.len()..rest.len() - after.len()]),
        }
        rest = after;
    }
    out.push_str(rest);
    (places == 0 || filled > 0).then_some(out)
}

/// What stands before the next `{name}`, the name, and what follows it.
fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text[from..].find('{')?;
        let inside = &text[open + 1..];
        let end =
            inside.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(inside.len());
        if end > 0 && inside[end..].starts_with('}') {
            return Some((&text[..open], &inside[..end], &inside[end + 1..]));
        }
        from = open + 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn with(values: &[(&str, &str)], template: &str) -> String {
        fill(template, |name| {
            values.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn a_block_without_content_vanishes_with_its_tags() {
        let template = "{hello}\n\n<rules>\n{rules}\n</rules>\n\n<end>\n{end}\n</end>";
        assert_eq!(
            with(&[("hello", "Hello."), ("rules", " \n"), ("end", "x")], template),
            "Hello.\n\n<end>\nx\n</end>"
        );
    }

    #[test]
    fn a_block_without_places_stays() {
        assert_eq!(with(&[("a", "")], "Always.\n\n{a}"), "Always.");
    }

    #[test]
    fn what_is_put_in_is_not_filled_again() {
        let values = [("a", "{b} and\n\n<rules>\n\n</rules>"), ("b", "wrong")];
        assert_eq!(with(&values, "<x>\n{a}\n</x>"), format!("<x>\n{}\n</x>", values[0].1));
    }

    #[test]
    fn other_braces_are_text() {
        assert_eq!(with(&[("a", "1")], "{ {} {unknown} {A} {{a}} {"), "{ {} {unknown} {A} {1} {");
    }

    proptest! {
        #[test]
        fn every_value_stands_whole_in_the_result(text in "\\PC{1,40}") {
            let text = text.trim();
            prop_assume!(!text.is_empty());
            let filled = with(&[("a", text)], "<t>\n{a}\n</t>");
            prop_assert_eq!(filled, format!("<t>\n{text}\n</t>"));
        }
    }
}
