//! Draws the text of a line. It wraps like a label, but is laid out only once. A list measures
//! about two hundred rows before it shows any, and a wrapping label lays out its text letter below
//! letter each time to find its minimum width.

use std::cell::OnceCell;

use gtk::subclass::prelude::*;
use gtk::{glib, pango};
use relm4::gtk::prelude::*;

use crate::accessible;

/// Its minimum width, in pixels. It takes all the space there is.
const LEAST: i32 = 60;

mod imp {
    use super::{
        LEAST, ObjectImpl, ObjectSubclass, ObjectSubclassExt, OnceCell, SnapshotExt,
        StyleContextExt, WidgetExt, WidgetImpl, glib, pango,
    };
    use gtk::subclass::prelude::*;

    #[derive(Debug, Default)]
    pub struct LineText {
        layout: OnceCell<pango::Layout>,
    }

    impl LineText {
        pub(super) fn layout(&self) -> &pango::Layout {
            self.layout.get_or_init(|| {
                let layout = self.obj().create_pango_layout(None);
                layout.set_wrap(pango::WrapMode::WordChar);
                layout
            })
        }

        fn wrap_at(&self, width: i32) {
            let width = if width < 0 { -1 } else { width.saturating_mul(pango::SCALE) };
            self.layout().set_width(width);
        }
    }

    #[glib::object_subclass]
    impl ObjectSubclass for LineText {
        const NAME: &'static str = "NatterLineText";
        type Type = super::LineText;
        type ParentType = gtk::Widget;

        fn class_init(class: &mut Self::Class) {
            class.set_css_name("label");
            class.set_accessible_role(gtk::AccessibleRole::Label);
        }
    }

    impl ObjectImpl for LineText {}

    impl WidgetImpl for LineText {
        fn request_mode(&self) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::HeightForWidth
        }

        fn measure(&self, orientation: gtk::Orientation, for_size: i32) -> (i32, i32, i32, i32) {
            if orientation == gtk::Orientation::Horizontal {
                return (LEAST, LEAST, -1, -1);
            }
            self.wrap_at(for_size);
            let height = self.layout().pixel_size().1;
            (height, height, -1, -1)
        }

        fn size_allocate(&self, width: i32, _height: i32, _baseline: i32) {
            self.wrap_at(width);
        }

        fn snapshot(&self, snapshot: &gtk::Snapshot) {
            let colour = self.obj().style_context().color();
            snapshot.append_layout(self.layout(), &colour);
        }
    }
}

glib::wrapper! {
    /// The widget.
    pub struct LineText(ObjectSubclass<imp::LineText>) @extends gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget;
}

impl LineText {
    /// An empty text.
    pub(super) fn new() -> Self {
        let text: Self = glib::Object::new();
        text.set_hexpand(true);
        text
    }

    /// Shows this.
    pub(super) fn show(&self, text: &str, marks: Option<&pango::AttrList>) {
        let layout = self.imp().layout();
        layout.set_text(text);
        layout.set_attributes(marks);
        accessible::set_label(self, text);
        self.queue_resize();
    }

    #[cfg(test)]
    pub(super) fn text(&self) -> glib::GString {
        self.imp().layout().text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[gtk::test]
    fn a_long_text_takes_more_lines_where_it_has_less_room() {
        crate::init();
        let text = LineText::new();
        text.show(&"word ".repeat(40), None);
        let high = |width| WidgetExt::measure(&text, gtk::Orientation::Vertical, width).1;
        let one = high(-1);
        assert!(high(100) > 4 * one && high(400) > one && high(100_000) == one);
        text.show("word", None);
        assert_eq!(high(100), one);
        text.show("", None);
        assert_eq!(high(100), one, "an empty line is a line");
    }
}
