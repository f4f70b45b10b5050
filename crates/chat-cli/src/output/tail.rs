//! Shows the last line that a running command has written.

use chat_presentation::words::one_line;

/// The last non-empty line, without terminal controls. If the command overwrote a line, the final
/// text counts.
pub fn last_line(tail: &str) -> Option<String> {
    let plain = without_escapes(tail);
    let mut lines = plain.rsplit(['\n', '\r']).map(str::trim);
    lines.find(|line| !line.is_empty()).map(one_line)
}

/// The text without escape sequences: colours and cursor movements (`ESC [ … letter`), titles and
/// links (`ESC ] …` up to BEL or `ESC \`), and those of a single letter.
fn without_escapes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => {
                chars.find(|c| matches!(c, '@'..='~'));
            }
            Some(']') => {
                while let Some(c) = chars.next() {
                    if c == '\x07' || (c == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::last_line;

    #[test]
    fn it_is_the_last_line_as_it_is_seen() {
        let last = |tail: &str| last_line(tail).unwrap_or_default();
        assert_eq!(last("one\ntwo\n\n"), "two");
        assert_eq!(last("10 %\r50 %\r"), "50 %");
        assert_eq!(last("\x1b[32m   Compiling\x1b[0m a \x1b]0;title\x07b\n"), "Compiling a b");
        assert_eq!(last("a\x1b]8;;http://x\x1b\\link"), "alink");
        assert_eq!(last("a\x1b[31"), "a");
        assert_eq!(last("bell\x07"), "bell␇");
        assert_eq!(last_line(" \n\x1b[0m\n"), None);
    }
}
