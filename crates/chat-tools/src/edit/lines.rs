//! Splits a text into lines with their positions and line endings.

/// A line of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its start.
    pub start: usize,
    /// The line without its ending.
    pub text: &'a str,
    /// Its ending: `\n`, `\r\n`, or nothing at the end of the text.
    pub ending: &'a str,
}

impl Line<'_> {
    /// The end of its text.
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// A text as lines. The last one has no ending, and may be empty.
#[derive(Debug)]
pub struct Lines<'a> {
    /// The lines.
    pub all: Vec<Line<'a>>,
}

impl<'a> Lines<'a> {
    /// Splits a text into lines.
    pub fn new(text: &'a str) -> Self {
        let mut start = 0;
        let mut all = Vec::new();
        for whole in text.split_inclusive('\n') {
            let bare = whole
                .strip_suffix('\n')
                .map_or(whole, |bare| bare.strip_suffix('\r').unwrap_or(bare));
            all.push(Line { start, text: bare, ending: &whole[bare.len()..] });
            start += whole.len();
        }
        if all.last().is_none_or(|last| !last.ending.is_empty()) {
            all.push(Line { start, text: "", ending: "" });
        }
        Self { all }
    }

    /// The ending for a new line after this line: that of this line, of the ones before it, or of
    /// most lines.
    pub fn ending_at(&self, line: usize) -> &'a str {
        let own = self.all[..=line].iter().rev().find(|line| !line.ending.is_empty());
        own.map_or("\n", |line| line.ending)
    }
}

/// A line's indentation.
pub fn indent(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// A line without trailing blanks.
pub fn trimmed(line: &str) -> &str {
    line.trim_end_matches([' ', '\t'])
}

/// Whether a line is empty or contains only blanks.
pub fn is_blank(line: &str) -> bool {
    trimmed(line).is_empty()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_know_their_endings() {
        let lines = Lines::new("a\r\nb\nc\r");
        let seen: Vec<_> =
            lines.all.iter().map(|line| (line.start, line.text, line.ending)).collect();
        assert_eq!(seen, [(0, "a", "\r\n"), (3, "b", "\n"), (5, "c\r", "")]);
        assert_eq!(Lines::new("").all.len(), 1);
        assert_eq!(Lines::new("a\n").all.len(), 2);
        assert_eq!(lines.ending_at(0), "\r\n");
        assert_eq!(lines.ending_at(2), "\n");
        assert_eq!(Lines::new("a").ending_at(0), "\n");
    }

    proptest! {
        #[test]
        fn lines_are_the_whole_text(text in "[ab\r\n]{0,20}") {
            let lines = Lines::new(&text);
            let whole: String = lines.all.iter().flat_map(|line| [line.text, line.ending]).collect();
            prop_assert_eq!(&whole, &text);
            for pair in lines.all.windows(2) {
                prop_assert_eq!(pair[0].end() + pair[0].ending.len(), pair[1].start);
            }
        }
    }
}
