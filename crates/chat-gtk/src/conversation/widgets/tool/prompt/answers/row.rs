//! Draws an answer: a button with the rules that it stores.

use gtk::prelude::*;
use gtk::{glib, pango};

use crate::accessible;

/// A button that says what it does, and below that what follows from it.
#[derive(Debug)]
pub struct Row {
    pub button: gtk::Button,
    name: gtk::Label,
    pub below: gtk::Label,
}

/// A row, as long as it is there.
pub struct WeakRow {
    button: glib::WeakRef<gtk::Button>,
    name: glib::WeakRef<gtk::Label>,
    below: glib::WeakRef<gtk::Label>,
}

impl WeakRow {
    pub fn upgrade(&self) -> Option<Row> {
        let (button, name) = (self.button.upgrade()?, self.name.upgrade()?);
        Some(Row { button, name, below: self.below.upgrade()? })
    }
}

impl Row {
    pub fn new(title: &str, below: &str) -> Self {
        let name = gtk::Label::builder().use_markup(false).xalign(0.0).build();
        let second = gtk::Label::builder()
            .use_markup(false)
            .xalign(0.0)
            .wrap(true)
            .wrap_mode(pango::WrapMode::Char)
            .max_width_chars(38)
            .css_classes(["answer-rules"])
            .build();
        let both = gtk::Box::new(gtk::Orientation::Vertical, 1);
        both.append(&name);
        both.append(&second);
        let button = gtk::Button::builder().child(&both).css_classes(["flat", "answer"]).build();
        let row = Self { button, name, below: second };
        row.set(title, below);
        row
    }

    pub fn downgrade(&self) -> WeakRow {
        let Self { button, name, below } = self;
        WeakRow { button: button.downgrade(), name: name.downgrade(), below: below.downgrade() }
    }

    pub fn set(&self, title: &str, below: &str) {
        self.name.set_label(title);
        self.below.set_label(below);
        accessible::set_label(&self.button, title);
        accessible::set_description(&self.button, below);
    }
}
