//! Parses JSON as editors write it: with comments and trailing commas, and nothing else that JSON does not allow.

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Range;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::ProblemKind;

/// What a file may have besides plain JSON.
pub(super) fn options() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// The text of a file without the mark that some editors put in front of it.
pub(crate) fn text_of(bytes: &[u8], limit: usize) -> Result<&str, ProblemKind> {
    if bytes.len() > limit {
        return Err(ProblemKind::TooLarge { limit });
    }
    let text = std::str::from_utf8(bytes).map_err(|_| ProblemKind::NotUtf8)?;
    Ok(text.strip_prefix(MARK).unwrap_or(text))
}

/// The mark of Unicode in front of a text.
pub(super) const MARK: char = '\u{feff}';

/// The value of a text, none if it is empty; or the line, counted from 1, in which it is no JSON.
pub(crate) fn parse_root(text: &str) -> Result<Option<Value<'_>>, usize> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    match parse_to_ast(text, &collect, &options()) {
        Ok(result) => Ok(result.value),
        Err(error) => Err(error.line_display()),
    }
}

/// A key as it was meant.
pub(crate) fn key<'t>(name: &'t ObjectPropName<'_>) -> &'t str {
    match name {
        ObjectPropName::String(text) => &text.value,
        ObjectPropName::Word(word) => word.value,
    }
}

/// Where the lines of a text begin.
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub(crate) fn of(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line, counted from 1, in which something begins.
    pub(crate) fn line(&self, range: Range) -> usize {
        self.0.partition_point(|end| *end < range.start) + 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn comments_and_trailing_commas_are_all_that_is_tolerated() {
        for good in ["", "// no\n", "{\"a\": [1, 2,], /* b */}", "null"] {
            assert!(parse_root(good).is_ok(), "{good}");
        }
        for (bad, line) in [
            ("{a: 1}", 1),
            ("{\n'a': 1}", 2),
            ("\n{\"a\": 0x1}", 2),
            ("[1 2]", 1),
            ("{", 1),
            ("{} {}", 1),
            ("[+1]", 1),
        ] {
            assert_eq!(parse_root(bad).err(), Some(line), "{bad}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_no_crash() {
        for deep in ["[".repeat(100_000), "{\"a\":".repeat(100_000)] {
            assert!(parse_root(&deep).is_err());
        }
    }

    #[test]
    fn a_file_is_text_of_a_limited_size() {
        assert_eq!(text_of("\u{feff}{}".as_bytes(), 9), Ok("{}"));
        assert_eq!(text_of(b"{}  ", 3), Err(ProblemKind::TooLarge { limit: 3 }));
        assert_eq!(text_of(b"\xff", 3), Err(ProblemKind::NotUtf8));
    }

    #[test]
    fn lines_are_counted_from_one() {
        let lines = Lines::of("ab\n\nc");
        let found: Vec<_> = (0..5).map(|at| lines.line(Range::new(at, at))).collect();
        assert_eq!(found, [1, 1, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "[\\[\\]{}\":,/*\\\\ \na0-9.eE+tfu'-]{0,60}") {
            let _ = parse_root(&text);
        }
    }
}
