//! Lays out a title and a note behind it. The note is left out where it would take too much of the title's room.

use gtk::glib;
use gtk::prelude::*;
use gtk::subclass::prelude::*;

/// Between the two, in pixels.
const GAP: i32 = 9;

mod imp {
    use super::{
        GAP, LayoutManagerImpl, ObjectImpl, ObjectSubclass, WidgetExt, glib, has_room, natural, two,
    };

    #[derive(Debug, Default)]
    pub struct TitleLine;

    #[glib::object_subclass]
    impl ObjectSubclass for TitleLine {
        const NAME: &'static str = "NatterTitleLine";
        type Type = super::TitleLine;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for TitleLine {}

    impl LayoutManagerImpl for TitleLine {
        fn request_mode(&self, _widget: &gtk::Widget) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::ConstantSize
        }

        fn measure(
            &self,
            widget: &gtk::Widget,
            orientation: gtk::Orientation,
            _for_size: i32,
        ) -> (i32, i32, i32, i32) {
            let Some((title, note)) = two(widget) else { return (0, 0, -1, -1) };
            let (least, wanted, ..) = title.measure(orientation, -1);
            let of_note = note.map_or(0, |note| natural(&note, orientation));
            match orientation {
                gtk::Orientation::Horizontal if of_note > 0 => {
                    (least, wanted + GAP + of_note, -1, -1)
                }
                gtk::Orientation::Horizontal => (least, wanted, -1, -1),
                _ => (least.max(of_note), wanted.max(of_note), -1, -1),
            }
        }

        fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32, _baseline: i32) {
            let Some((title, note)) = two(widget) else { return };
            let mut of_title = width;
            let to_left = widget.direction() == gtk::TextDirection::Rtl;
            if let Some(note) = note {
                let of_note = natural(&note, gtk::Orientation::Horizontal);
                let shown = has_room(&title, GAP + of_note, width);
                note.set_child_visible(shown);
                if shown {
                    of_title -= GAP + of_note;
                }
                // Left out, it lies under the title: where it was shown at last may be beyond the line by now.
                let x = if to_left == shown { 0 } else { width - of_note };
                note.size_allocate(&gtk::Allocation::new(x, 0, of_note, height), -1);
            }
            let x = if to_left { width - of_title } else { 0 };
            title.size_allocate(&gtk::Allocation::new(x, 0, of_title, height), -1);
        }
    }
}

glib::wrapper! {
    /// The layout.
    pub struct TitleLine(ObjectSubclass<imp::TitleLine>) @extends gtk::LayoutManager;
}

/// A box of a title and of a note.
pub fn title_line(title: &gtk::Label, note: &gtk::Label) -> gtk::Box {
    let both = gtk::Box::builder().hexpand(true).build();
    both.append(title);
    both.append(note);
    both.set_layout_manager(Some(glib::Object::new::<TitleLine>()));
    both
}

/// The title, and the note where there is one.
fn two(widget: &gtk::Widget) -> Option<(gtk::Widget, Option<gtk::Widget>)> {
    let title = widget.first_child()?;
    let note = title.next_sibling().filter(WidgetExt::is_visible);
    Some((title, note))
}

/// Whether so much may be taken from the title in a line of this width: nothing of it is cut then, or it keeps at
/// least half of what it has beyond its least width.
fn has_room(title: &gtk::Widget, taken: i32, width: i32) -> bool {
    let (least, wanted, ..) = title.measure(gtk::Orientation::Horizontal, -1);
    wanted + taken <= width || 2 * taken <= width - least
}

fn natural(widget: &gtk::Widget, orientation: gtk::Orientation) -> i32 {
    widget.measure(orientation, -1).1
}
