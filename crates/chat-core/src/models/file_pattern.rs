//! Matches file names with the patterns of the catalogue: `*` is any text, `?` any one character.

use globset::{GlobBuilder, GlobMatcher};

/// A pattern. The case of letters counts.
#[derive(Debug)]
pub(super) struct FilePattern<'a> {
    text: &'a str,
    /// None where the text is no pattern: then it means the file of just this name.
    matcher: Option<GlobMatcher>,
}

impl<'a> FilePattern<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let glob = GlobBuilder::new(text).backslash_escape(false).build();
        Self { text, matcher: glob.ok().map(|glob| glob.compile_matcher()) }
    }

    /// Whether it fits a path, or the name of the file there.
    pub(super) fn fits(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let fits = |text: &str| {
            text == self.text || self.matcher.as_ref().is_some_and(|glob| glob.is_match(text))
        };
        fits(path) || fits(name)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::FilePattern;

    #[test]
    fn stars_and_marks() {
        for (pattern, name, expected) in [
            ("*Q4_K_M.gguf", "big-Q4_K_M.gguf", true),
            ("*Q4_K_M.gguf", "big-Q4_K_S.gguf", false),
            ("*q4*.gguf", "a-q4-b-q4-c.gguf", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("a*b*c", "aXbYbZ", false),
            ("A.gguf", "a.gguf", false),
            ("*.gguf", "folder/a.gguf", true),
            ("a.gguf", "folder/a.gguf", true),
            ("b*.gguf", "folder/a.gguf", false),
            ("[a.gguf", "[a.gguf", true),
        ] {
            assert_eq!(FilePattern::new(pattern).fits(name), expected, "{pattern} {name}");
        }
    }

    proptest! {
        #[test]
        fn a_name_fits_itself_and_every_part_with_a_star(name in "[a-c.]{0,12}", cut in 0..13_usize) {
            prop_assert!(FilePattern::new(&name).fits(&name));
            let cut = cut.min(name.len());
            let (start, end) = (format!("{}*", &name[..cut]), format!("*{}", &name[cut..]));
            prop_assert!(FilePattern::new(&start).fits(&name));
            prop_assert!(FilePattern::new(&end).fits(&name));
        }
    }
}
