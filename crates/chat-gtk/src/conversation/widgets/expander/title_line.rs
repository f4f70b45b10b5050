//! Shows a sentence in one line. Where not all of it has room, only its subject is shortened: the command, the file.
//! What is done and what came of it stay whole. A note at the end is left out where it would take too much room.

use std::ops::Range;

use gtk::pango::EllipsizeMode;
use gtk::prelude::*;

use crate::layout::{self, Layout, place, width_of};

/// Between the sentence and the note, in pixels.
const GAP: i32 = 9;
/// So much of the subject is seen before the rest of the sentence is cut, in pixels.
const LEAST_SUBJECT: i32 = 72;

/// A sentence about a subject: what it is about, such as a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Title {
    text: String,
    /// Its bytes; none where nothing may be shortened before the rest.
    subject: Range<usize>,
    is_path: bool,
}

impl Title {
    /// A sentence with these bytes as its subject. A path is cut in the middle, since its end says the most.
    pub fn about(text: String, subject: Range<usize>, is_path: bool) -> Self {
        Self { text, subject, is_path }
    }

    /// The whole sentence.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl From<String> for Title {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

struct TitleLayout;

impl Layout for TitleLayout {
    fn wraps(&self) -> bool {
        false
    }

    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        _for_size: i32,
    ) -> (i32, i32) {
        let Some((sentence, note)) = parts(widget) else { return (0, 0) };
        if orientation == gtk::Orientation::Horizontal {
            let widths = sentence.each_ref().map(width_of);
            let wanted: i32 = widths.iter().map(|(_, wanted)| wanted).sum();
            let of_note = note.map_or(0, |note| GAP + width_of(&note).1);
            return (widths.iter().map(|(least, _)| least).sum(), wanted + of_note);
        }
        let heights = sentence.iter().chain(&note).map(|part| layout::height_of(part, -1));
        let tallest = heights.max().unwrap_or(0);
        (tallest, tallest)
    }

    fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32) {
        let Some((sentence, note)) = parts(widget) else { return };
        let of_note = note.as_ref().map_or(0, |note| width_of(note).1);
        let (widths, has_note) = widths(&sentence, of_note, width);
        let mut x = 0;
        for (part, wide) in sentence.iter().zip(widths) {
            place(part, width, x, 0, (wide, height));
            x += wide;
        }
        if let Some(note) = note {
            note.set_child_visible(has_note);
            // Left out, it lies under the sentence: where it was shown at last may be beyond the line by now.
            let x = if has_note { width - of_note } else { 0 };
            place(&note, width, x, 0, (of_note, height));
        }
    }
}

/// A sentence in three parts, and a note.
pub struct TitleLine {
    root: gtk::Box,
    /// What is done, the subject, and the rest.
    parts: [gtk::Label; 3],
    note: gtk::Label,
}

impl TitleLine {
    pub fn new() -> Self {
        let part = || gtk::Label::builder().xalign(0.0).ellipsize(EllipsizeMode::End).build();
        let parts = [part(), part(), part()];
        parts[1].add_css_class("expander-subject");
        let note = gtk::Label::builder().css_classes(["expander-aside"]).visible(false).build();
        let root = gtk::Box::builder().hexpand(true).css_classes(["expander-title"]).build();
        root.set_layout_manager(Some(layout::manager(TitleLayout)));
        for part in &parts {
            root.append(part);
        }
        root.append(&note);
        Self { root, parts, note }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows this.
    pub fn set(&self, title: &Title, note: &str) {
        let Title { text, subject, is_path } = title;
        let texts = [&text[..subject.start], &text[subject.clone()], &text[subject.end..]];
        for (part, text) in self.parts.iter().zip(texts) {
            part.set_text(text);
        }
        let cut = if *is_path { EllipsizeMode::Middle } else { EllipsizeMode::End };
        self.parts[1].set_ellipsize(cut);
        self.note.set_text(note);
        self.note.set_visible(!note.is_empty());
    }
}

/// The parts of the sentence, and the note where there is one.
fn parts(widget: &gtk::Widget) -> Option<([gtk::Widget; 3], Option<gtk::Widget>)> {
    let act = widget.first_child()?;
    let subject = act.next_sibling()?;
    let rest = subject.next_sibling()?;
    let note = rest.next_sibling().filter(WidgetExt::is_visible);
    Some(([act, subject, rest], note))
}

/// The widths of a sentence's parts in a line of this width, and whether the note has room: nothing is cut then, or
/// the subject keeps more room than the note takes.
fn widths(sentence: &[gtk::Widget; 3], of_note: i32, width: i32) -> ([i32; 3], bool) {
    let [act, subject, rest] = sentence.each_ref().map(width_of);
    let taken = GAP + of_note;
    let for_subject = width - act.1 - rest.1;
    let has_note = of_note > 0 && (subject.1 + taken <= for_subject || 2 * taken <= for_subject);
    let width = if has_note { width - taken } else { width };
    // First the subject gives way, then the end of the sentence, then its beginning, and then again the subject.
    let left = |others: i32, (least, wanted): (i32, i32)| (width - others).clamp(least, wanted);
    let least = (subject.0.max(LEAST_SUBJECT.min(subject.1)), subject.1);
    let of_subject = left(act.1 + rest.1, least);
    let of_rest = left(act.1 + of_subject, rest);
    let of_act = left(of_subject + of_rest, act);
    ([of_act, left(of_act + of_rest, subject), of_rest], has_note)
}
