//! Draws the end of what a command writes while it runs: only what is seen is read and drawn.

use std::cell::RefCell;

use gettextrs::gettext;

use super::super::fitted::fitted;
use super::super::style_tags::StyleTags;
use crate::accessible;
use crate::conversation::model::ansi::Reader;
use crate::conversation::model::styled_text::StyledText;

/// The lines that are seen.
const LINES: usize = 9;
/// Taller than so many lines in the largest letters, in pixels.
const TALLEST: i32 = 2_000;
/// The letters of a line that are read: more than the widest window shows.
const COLUMNS: usize = 400;

/// The view.
pub struct LiveOutput {
    root: gtk::Box,
    buffer: gtk::TextBuffer,
    style_tags: StyleTags,
    shown: RefCell<StyledText>,
}

impl LiveOutput {
    /// A view without text.
    pub fn new(style_tags: &StyleTags) -> Self {
        let buffer = style_tags.buffer();
        let view = gtk::TextView::builder()
            .buffer(&buffer)
            .editable(false)
            .cursor_visible(false)
            .accepts_tab(false)
            .focusable(false)
            .css_classes(["tool-text"])
            .build();
        accessible::set_label(&view, &gettext("Output"));
        let root = fitted(&view, TALLEST, &["expander-body", "tool-frame"]);
        Self { root, buffer, style_tags: style_tags.clone(), shown: RefCell::default() }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows the end of what was written, of which there were so many bytes in all.
    pub fn show(&self, tail: &str, bytes: u64) {
        let now = end(tail, (tail.len() as u64) < bytes);
        if *self.shown.borrow() != now {
            self.style_tags.fill(&self.buffer, &now);
            self.shown.replace(now);
        }
    }
}

/// The last lines of a text. `cut`: whether it begins in the middle of what was written.
fn end(tail: &str, cut: bool) -> StyledText {
    let whole = match tail.find('\n') {
        // A line without its beginning could be half of a sequence.
        Some(first) if cut => &tail[first + 1..],
        _ => tail,
    };
    let mut reader = Reader::new(LINES);
    reader.push(whole.trim_end_matches(['\n', '\r']).as_bytes());
    reader.styled_within(COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown() {
        let all: Vec<_> = (1..=30).map(|line| format!("line {line}\n")).collect();
        let shown = end(&all.concat(), false);
        assert_eq!(shown.text().lines().count(), LINES);
        assert!(shown.text().starts_with("line 22\n") && shown.text().ends_with("line 30"));
        assert_eq!(end("m half\nwhole\n", true).text(), "whole");
        assert_eq!(end("one long line", true).text(), "one long line");
        assert_eq!(end("50 %\r100 %\r", false).text(), "100 %");
        assert!(end(&"x".repeat(16_000), true).text().len() <= COLUMNS);
    }
}
