//! Defines text with styles: what a tool took and gave, before any widget shows it.

use std::ops::Range;

use super::sgr::TerminalStyle;

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TextStyle {
    /// As the text around it.
    #[default]
    Plain,
    /// What names the text below it.
    Label,
    /// Where in a file a change is.
    Dim,
    /// A line that came.
    Added,
    /// What in it is new.
    AddedWord,
    /// A line that went.
    Removed,
    /// What in it is gone.
    RemovedWord,
    /// As a command wants it.
    Written(TerminalStyle),
}

/// Text, and which letters of it look other than plain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StyledText {
    text: String,
    letters: usize,
    spans: Vec<(Range<usize>, TextStyle)>,
}

impl StyledText {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The letters of each piece that is not plain, in order.
    pub fn spans(&self) -> &[(Range<usize>, TextStyle)] {
        &self.spans
    }

    /// Adds a piece.
    pub fn push(&mut self, text: &str, style: TextStyle) {
        let start = self.letters;
        self.text.push_str(text);
        self.letters += text.chars().count();
        let end = self.letters;
        if style == TextStyle::Plain || start == end {
            return;
        }
        match self.spans.last_mut() {
            Some((last, same)) if *same == style && last.end == start => last.end = end,
            _ => self.spans.push((start..end, style)),
        }
    }

    /// Adds another text.
    pub fn append(&mut self, other: &Self) {
        let before = self.letters;
        self.text.push_str(&other.text);
        self.letters += other.letters;
        let moved = |(span, style): &(Range<usize>, TextStyle)| {
            (span.start + before..span.end + before, *style)
        };
        self.spans.extend(other.spans.iter().map(moved));
    }

    /// Takes the line break at the end away.
    pub fn trim(&mut self) {
        if self.text.ends_with('\n') {
            self.text.pop();
            self.letters -= 1;
            if let Some((last, _)) = self.spans.last_mut() {
                last.end = last.end.min(self.letters);
            }
            self.spans.retain(|(span, _)| !span.is_empty());
        }
    }

    /// Sees to it that what comes next begins a line, with `empty` lines before it, unless it
    /// begins the text.
    pub fn begin_line(&mut self, empty: usize) {
        if !self.text.is_empty() {
            let ends = usize::from(!self.text.ends_with('\n'));
            self.push(&"\n".repeat(ends + empty), TextStyle::Plain);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_count_letters_and_meet() {
        let mut text = StyledText::default();
        text.push("naïve ", TextStyle::Plain);
        text.push("“a”", TextStyle::Added);
        text.push("b", TextStyle::Added);
        text.push("", TextStyle::Label);
        text.begin_line(1);
        let mut more = StyledText::default();
        more.push("x", TextStyle::Removed);
        text.append(&more);
        assert_eq!(text.text(), "naïve “a”b\n\nx");
        assert_eq!(text.spans(), [(6..10, TextStyle::Added), (12..13, TextStyle::Removed)]);
        text.push("\n", TextStyle::Added);
        text.trim();
        text.trim();
        assert_eq!(text.text(), "naïve “a”b\n\nx");
        assert_eq!(text.spans().len(), 2);
    }
}
