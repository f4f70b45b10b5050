//! Shows a line of a change: its numbers, its state, and its text with the changed words marked.

use std::ops::Range;

use chat_core::review::diff::{Ending, Kind, Line};
use chat_presentation::words::visible;
use gettextrs::gettext;
use gtk::pango;
use relm4::gtk::prelude::*;

use super::text::LineText;

/// The opacity of the background of changed words, out of 65535.
const WORD: u16 = 0x6000;

/// The widgets of a line, or of one side of it.
#[derive(Debug)]
pub(super) struct LineView {
    root: gtk::Box,
    gutter: gtk::Label,
    text: LineText,
}

impl LineView {
    pub(super) fn new() -> Self {
        let gutter = gtk::Label::builder()
            .yalign(0.0)
            .use_markup(false)
            .css_classes(["change-gutter"])
            .build();
        let text = LineText::new();
        let root = gtk::Box::builder().hexpand(true).css_classes(["change-text"]).build();
        root.append(&gutter);
        root.append(&text);
        Self { root, gutter, text }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows a line; none means the empty space next to a line of the other side.
    pub(super) fn show(&self, gutter: &str, line: Option<&Line>) {
        self.gutter.set_text(gutter);
        let class = match line.map(|line| line.kind) {
            None => "missing",
            Some(Kind::Same) => "same",
            Some(Kind::Removed) => "removed",
            Some(Kind::Added) => "added",
        };
        self.root.set_css_classes(&["change-text", class]);
        let Some(line) = line else {
            return self.text.show("", None);
        };
        let (text, words) = shown(line);
        self.text.show(&text, self.marks(line.kind, &words).as_ref());
    }

    fn marks(&self, kind: Kind, words: &[Range<usize>]) -> Option<pango::AttrList> {
        let name = if kind == Kind::Removed { "error_color" } else { "success_color" };
        let colour = self.text.style_context().lookup_color(name).filter(|_| !words.is_empty())?;
        let part = |value: f32| (value * f32::from(u16::MAX)) as u16;
        let marks = pango::AttrList::new();
        for word in words {
            let (red, green, blue) =
                (part(colour.red()), part(colour.green()), part(colour.blue()));
            let add = |mut mark: pango::Attribute| {
                mark.set_start_index(word.start as u32);
                mark.set_end_index(word.end as u32);
                marks.insert(mark);
            };
            add(pango::AttrColor::new_background(red, green, blue).upcast());
            add(pango::AttrInt::new_background_alpha(WORD).upcast());
            // Visible without colours, too.
            add(pango::AttrInt::new_weight(pango::Weight::Bold).upcast());
        }
        Some(marks)
    }
}

/// The text of a line with hidden characters made visible, and the positions of its changed words.
fn shown(line: &Line) -> (String, Vec<Range<usize>>) {
    let mut text = String::with_capacity(line.text.len());
    let mut words = Vec::with_capacity(line.spans.len());
    let mut done = 0;
    for span in &line.spans {
        text.push_str(&visible(&line.text[done..span.start]));
        let start = text.len();
        text.push_str(&visible(&line.text[span.clone()]));
        words.push(start..text.len());
        done = span.end;
    }
    text.push_str(&visible(&line.text[done..]));
    if line.kind != Kind::Same {
        match line.ending {
            Ending::Newline => {}
            Ending::CarriageReturn => text.push('␍'),
            Ending::Nothing => {
                text.push_str(" ⟨");
                text.push_str(&gettext("no newline"));
                text.push('⟩');
            }
        }
    }
    (text, words)
}

#[cfg(test)]
mod tests {
    use chat_core::review::diff::Diff;

    use super::*;

    #[test]
    fn words_stay_marked_where_what_hides_before_them_is_shown() {
        let diff = Diff::new("a\u{202e}b one\r\n".as_bytes(), "a\u{202e}b two".as_bytes());
        let (text, words) = shown(&diff.lines[0]);
        assert_eq!(text, "a⟨U+202E⟩b one␍");
        assert_eq!(words.iter().map(|word| &text[word.clone()]).collect::<Vec<_>>(), ["one"]);
        let (text, words) = shown(&diff.lines[1]);
        assert_eq!(text, "a⟨U+202E⟩b two ⟨no newline⟩");
        assert_eq!(&text[words[0].clone()], "two");
    }
}
