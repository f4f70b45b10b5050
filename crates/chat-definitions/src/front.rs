//! Splits a Markdown file into its front matter and its body.

use crate::problem::{Found, ProblemKind};

/// The parts of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts<'a> {
    /// The YAML between the two `---`, if the file begins with one.
    pub front: Option<&'a str>,
    /// The number of lines in front of the YAML.
    pub front_offset: usize,
    /// The rest, without blank lines at its ends.
    pub body: &'a str,
    /// The line in which the body begins, counted from 1.
    pub body_line: usize,
}

/// Splits the text of a file. Blank lines in front of the front matter don't matter. Fails if the front matter is not
/// closed.
pub(crate) fn split(text: &str) -> Result<Parts<'_>, Found> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (rest, blank) = without_blank_lines(text);
    let mut lines = rest.split_inclusive('\n');
    let is_mark = |line: &str| line.trim_end() == "---";
    let Some(first) = lines.next().filter(|line| is_mark(line)) else {
        return Ok(Parts {
            front: None,
            front_offset: 0,
            body: rest.trim_end(),
            body_line: blank + 1,
        });
    };
    let mut end = first.len();
    for (number, line) in lines.enumerate() {
        if is_mark(line) {
            let (body, skipped) = without_blank_lines(&rest[end + line.len()..]);
            return Ok(Parts {
                front: Some(&rest[first.len()..end]),
                front_offset: blank + 1,
                body: body.trim_end(),
                body_line: blank + number + 3 + skipped,
            });
        }
        end += line.len();
    }
    Err(Found::at(blank + 1, ProblemKind::Unclosed))
}

/// A text without blank lines at its beginning, and how many there were.
fn without_blank_lines(text: &str) -> (&str, usize) {
    let mut rest = text;
    let mut skipped = 0;
    while let Some((line, after)) = rest.split_once('\n')
        && line.trim().is_empty()
    {
        rest = after;
        skipped += 1;
    }
    (rest, skipped)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_has_front_matter_and_body() {
        let parts = split("---\na: 1\n---\n\n\n  Hello\n---\n").unwrap();
        assert_eq!((parts.front, parts.body), (Some("a: 1\n"), "  Hello\n---"));
        assert_eq!((parts.front_offset, parts.body_line), (1, 6));
        let parts = split("\u{feff}---\r\na: 1\r\n--- \r\nHello").unwrap();
        assert_eq!((parts.front, parts.body, parts.body_line), (Some("a: 1\r\n"), "Hello", 4));
        assert_eq!(split("---\n---").unwrap().front, Some(""));
    }

    #[test]
    fn a_file_without_front_matter_is_all_body() {
        let parts = split("\nHello\n---\n").unwrap();
        assert_eq!((parts.front, parts.body, parts.body_line), (None, "Hello\n---", 2));
        assert_eq!(split("").unwrap().body, "");
        assert_eq!(split("---\na: 1\n").unwrap_err(), Found::at(1, ProblemKind::Unclosed));
    }

    #[test]
    fn blank_lines_may_come_before_the_front_matter() {
        let parts = split("\n \t\r\n---\na: 1\n---\n\nHello\n").unwrap();
        assert_eq!((parts.front, parts.body), (Some("a: 1\n"), "Hello"));
        assert_eq!((parts.front_offset, parts.body_line), (3, 7));
        let parts = split("\u{feff}\n---\n---\nHello").unwrap();
        assert_eq!((parts.front, parts.front_offset, parts.body_line), (Some(""), 2, 4));
        assert_eq!(split("\n---\na: 1\n").unwrap_err(), Found::at(2, ProblemKind::Unclosed));
    }

    proptest! {
        #[test]
        fn the_body_is_where_it_says(text in "\n{0,2}(---\n)?([a-z: ]{0,6}\n){0,4}(---\n)?([a-z ]{0,4}\n){0,4}") {
            if let Ok(parts) = split(&text) && let Some(first) = parts.body.lines().next() {
                prop_assert_eq!(text.lines().nth(parts.body_line - 1).unwrap().trim_end(), first.trim_end());
            }
        }
    }
}
