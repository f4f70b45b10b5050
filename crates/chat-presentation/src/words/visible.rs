//! Escapes text of a model or a tool, so that invisible characters are seen.

use std::borrow::Cow;

/// Characters of a text that goes into one line: what is longer is cut, and the cut is shown.
const LINE: usize = 160;

/// The text with all that hides or moves what a person is to judge shown by a sign of its own:
/// control characters as `␛` and the like, and marks that turn the direction of writing or take no
/// room as `⟨U+202E⟩`. Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| hides(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if c == '\n' || c == '\t' { out.push(c) } else { show(c, &mut out) }
    }
    Cow::Owned(out)
}

/// The same in one line, whole.
pub fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "⏎")
}

/// The same in one line: line breaks are signs, too, and a long text is cut.
pub fn one_line(text: &str) -> String {
    line_within(text, LINE)
}

/// The same with so many characters at most.
pub fn line_within(text: &str, most: usize) -> String {
    let text = text.trim();
    let mut out = String::with_capacity(text.len().min(4 * most));
    let mut chars = text.chars().filter(|c| *c != '\r');
    for c in chars.by_ref().take(most) {
        match c {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            c => show(c, &mut out),
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

fn show(c: char, out: &mut String) {
    use std::fmt::Write as _;
    match c as u32 {
        code @ 0..=0x1f => out.push(char::from_u32(0x2400 + code).unwrap_or('\u{fffd}')),
        0x7f => out.push('\u{2421}'),
        // Writing into a string cannot fail.
        code if hides(c) => drop(write!(out, "⟨U+{code:04X}⟩")),
        _ => out.push(c),
    }
}

/// Whether a character is not seen, or changes where others are seen. Joiners of letters and signs
/// (U+200C, U+200D) are left: scripts and emoji need them.
pub fn hides(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_or_turns_text_is_seen() {
        assert_eq!(visible("rm \u{202e}x\x1b[8m\r"), "rm ⟨U+202E⟩x␛[8m␍");
        assert_eq!(visible("a\u{200b}b\u{85}"), "a⟨U+200B⟩b⟨U+0085⟩");
        let plain = "ä 漢\t👩‍👩‍👧\nend";
        assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain));
        assert_eq!(visible_line("run:a\n\u{202e}b "), "run:a⏎⟨U+202E⟩b ");
    }

    #[test]
    fn a_line_is_one_line_and_not_long() {
        assert_eq!(one_line(" a\r\nb\n\tc\x07 "), "a⏎b⏎ c␇");
        let long = one_line(&"ü".repeat(1_000));
        assert_eq!(long.chars().count(), LINE + 1);
        assert!(long.ends_with("ü…"), "{long}");
        assert_eq!(one_line(&"ü".repeat(LINE)).chars().count(), LINE);
    }
}
