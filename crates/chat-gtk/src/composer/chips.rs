//! What goes along with a message: a chip each, which can be taken away.

use std::cell::RefCell;
use std::rc::Rc;

use chat_edge::words::fill;
use gettextrs::gettext;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use crate::accessible;

/// What goes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// The file that the person works on.
    Active,
    /// The names of the other open files.
    Others,
}

/// A chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chip {
    pub(crate) along: Along,
    /// What it says.
    pub(crate) label: String,
    /// What exactly goes along.
    pub(crate) tooltip: String,
}

/// The row of chips.
#[derive(Debug)]
pub(super) struct Chips {
    root: gtk::Box,
    shown: RefCell<Vec<Chip>>,
}

impl Chips {
    pub(super) fn new() -> Self {
        let root = gtk::Box::builder().spacing(4).visible(false).css_classes(["chips"]).build();
        accessible::set_label(&root, &gettext("Goes Along"));
        Self { root, shown: RefCell::default() }
    }

    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows these. `removed` gets the one that is taken away.
    pub(super) fn show(&self, chips: Vec<Chip>, removed: &Rc<dyn Fn(Along)>) {
        if *self.shown.borrow() == chips {
            return;
        }
        self.root.set_visible(!chips.is_empty());
        // A chip whose words alone are others stays: it may have the keyboard.
        let same =
            self.shown.borrow().iter().map(|chip| chip.along).eq(chips.iter().map(|c| c.along));
        if !same {
            while let Some(child) = self.root.first_child() {
                self.root.remove(&child);
            }
            for Chip { along, .. } in &chips {
                self.root.append(&chip(*along, removed));
            }
        }
        let mut child = self.root.first_child();
        for chip in &chips {
            let Some(widget) = child else { break };
            describe(&widget, chip);
            child = widget.next_sibling();
        }
        self.shown.replace(chips);
    }
}

fn chip(along: Along, removed: &Rc<dyn Fn(Along)>) -> gtk::Box {
    let icon = gtk::Image::from_icon_name("text-x-generic-symbolic");
    let label = gtk::Label::builder()
        .ellipsize(gtk::pango::EllipsizeMode::Middle)
        .width_chars(6)
        .max_width_chars(32)
        .build();
    let close = gtk::Button::builder()
        .icon_name("window-close-symbolic")
        .css_classes(["flat", "circular"])
        .build();
    let root = gtk::Box::builder().css_classes(["chip"]).spacing(4).build();
    root.append(&icon);
    root.append(&label);
    root.append(&close);
    let told = Rc::clone(removed);
    close.connect_clicked(move |_| told(along));
    let keys = gtk::EventControllerKey::new();
    let told = Rc::clone(removed);
    keys.connect_key_pressed(move |_, key, _, _| {
        if matches!(key, gdk::Key::Delete | gdk::Key::BackSpace) {
            told(along);
            return glib::Propagation::Stop;
        }
        glib::Propagation::Proceed
    });
    close.add_controller(keys);
    root
}

fn describe(widget: &gtk::Widget, chip: &Chip) {
    let icon = widget.first_child();
    let Some(label) = icon.and_then(|icon| icon.next_sibling()).and_downcast::<gtk::Label>() else {
        return;
    };
    label.set_label(&chip.label);
    widget.set_tooltip_text(Some(&chip.tooltip));
    accessible::set_description(&label, &chip.tooltip);
    if let Some(close) = label.next_sibling() {
        let words = fill(&gettext("Do not send {what}"), &[("what", &chip.label)]);
        close.set_tooltip_text(Some(&words));
        accessible::set_label(&close, &words);
    }
}
