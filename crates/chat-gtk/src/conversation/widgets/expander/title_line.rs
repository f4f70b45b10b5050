//! Shows a sentence in one line. What it is about is shortened where not all of it has room: what is done stays whole,
//! and so does what came of it. A note behind it is left out where it would take too much of that room.

use std::ops::Range;

use gtk::glib;
use gtk::pango::EllipsizeMode;
use gtk::prelude::*;
use gtk::subclass::prelude::*;

/// Between the sentence and the note, in pixels.
const GAP: i32 = 9;
/// So much of what the sentence is about is seen before the rest of it is cut, in pixels.
const LEAST_SUBJECT: i32 = 72;

/// A sentence, and where in it stands what it is about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Title {
    text: String,
    /// The bytes of what it is about; none where nothing in it may be shortened before the rest.
    subject: Range<usize>,
    is_path: bool,
}

impl Title {
    /// A sentence that is about this part of it. The end of a path says more than its middle.
    pub fn about(text: String, subject: Range<usize>, is_path: bool) -> Self {
        Self { text, subject, is_path }
    }

    /// The whole sentence.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl<T: Into<String>> From<T> for Title {
    fn from(text: T) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

mod imp {
    use super::{
        GAP, LayoutManagerImpl, ObjectImpl, ObjectSubclass, WidgetExt, glib, natural, parts, widths,
    };

    #[derive(Debug, Default)]
    pub struct TitleLayout;

    #[glib::object_subclass]
    impl ObjectSubclass for TitleLayout {
        const NAME: &'static str = "NatterTitleLayout";
        type Type = super::TitleLayout;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for TitleLayout {}

    impl LayoutManagerImpl for TitleLayout {
        fn request_mode(&self, _widget: &gtk::Widget) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::ConstantSize
        }

        fn measure(
            &self,
            widget: &gtk::Widget,
            orientation: gtk::Orientation,
            _for_size: i32,
        ) -> (i32, i32, i32, i32) {
            let Some((sentence, note)) = parts(widget) else { return (0, 0, -1, -1) };
            let sizes = sentence.each_ref().map(|part| part.measure(orientation, -1));
            let of_note = note.map_or(0, |note| natural(&note, orientation));
            if orientation == gtk::Orientation::Horizontal {
                let least = sizes.iter().map(|size| size.0).sum();
                let wanted: i32 = sizes.iter().map(|size| size.1).sum();
                let of_note = if of_note > 0 { GAP + of_note } else { 0 };
                return (least, wanted + of_note, -1, -1);
            }
            let tallest = sizes.iter().map(|size| size.1).max().unwrap_or(0).max(of_note);
            (tallest, tallest, -1, -1)
        }

        fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32, _baseline: i32) {
            let Some((sentence, note)) = parts(widget) else { return };
            let of_note = note.as_ref().map_or(0, |n| natural(n, gtk::Orientation::Horizontal));
            let (widths, has_note) = widths(&sentence, of_note, width);
            let to_left = widget.direction() == gtk::TextDirection::Rtl;
            let place = |part: &gtk::Widget, x: i32, wide: i32| {
                let x = if to_left { width - x - wide } else { x };
                part.size_allocate(&gtk::Allocation::new(x, 0, wide, height), -1);
            };
            let mut x = 0;
            for (part, wide) in sentence.iter().zip(widths) {
                place(part, x, wide);
                x += wide;
            }
            if let Some(note) = note {
                note.set_child_visible(has_note);
                // Left out, it lies under the sentence: where it was shown at last may be beyond the line by now.
                place(&note, if has_note { width - of_note } else { 0 }, of_note);
            }
        }
    }
}

glib::wrapper! {
    /// The layout of the parts of a sentence, and of a note.
    pub struct TitleLayout(ObjectSubclass<imp::TitleLayout>) @extends gtk::LayoutManager;
}

/// A sentence in three parts, and a note.
pub struct TitleLine {
    root: gtk::Box,
    /// What is done, what it is about, and what else there is to say.
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
        root.set_layout_manager(Some(glib::Object::new::<TitleLayout>()));
        parts.iter().for_each(|part| root.append(part));
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
/// what the sentence is about keeps more than the note takes.
fn widths(sentence: &[gtk::Widget; 3], of_note: i32, width: i32) -> ([i32; 3], bool) {
    let [act, subject, rest] = sentence.each_ref().map(|part| {
        let (least, wanted, ..) = part.measure(gtk::Orientation::Horizontal, -1);
        (least, wanted)
    });
    let taken = GAP + of_note;
    let for_subject = width - act.1 - rest.1;
    let has_note = of_note > 0 && (subject.1 + taken <= for_subject || 2 * taken <= for_subject);
    let width = if has_note { width - taken } else { width };
    // What it is about goes first, then the end of the sentence.
    let left = |others: i32, (least, wanted): (i32, i32)| (width - others).clamp(least, wanted);
    let least = (subject.0.max(LEAST_SUBJECT.min(subject.1)), subject.1);
    let of_subject = left(act.1 + rest.1, least);
    let of_rest = left(act.1 + of_subject, rest);
    let of_act = left(of_subject + of_rest, act);
    // Where even that is too much, all it needs goes to what was kept for it.
    ([of_act, left(of_act + of_rest, subject), of_rest], has_note)
}

fn natural(widget: &gtk::Widget, orientation: gtk::Orientation) -> i32 {
    widget.measure(orientation, -1).1
}
