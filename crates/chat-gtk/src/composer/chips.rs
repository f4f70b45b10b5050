//! Shows what is attached to a message: one removable chip each.

use std::cell::RefCell;
use std::rc::Rc;

use chat_presentation::words::{fill, one_line, visible};
use gettextrs::gettext;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use crate::accessible;
use crate::wrap::wrap;

/// What is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Along {
    /// The active file.
    Active,
    /// The names of the other open files.
    Others,
    /// A pin, by its index.
    Pin(usize),
}

/// A chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chip {
    pub(crate) along: Along,
    pub(crate) icon: &'static str,
    /// Whether it is still being fetched.
    pub(crate) is_coming: bool,
    /// The action of a click on it, if it has one.
    pub(crate) act: Option<String>,
    /// Its text.
    pub(crate) label: String,
    /// What exactly is attached.
    pub(crate) tooltip: String,
}

/// The row of chips.
pub(super) struct Chips {
    root: gtk::Box,
    current: RefCell<Vec<Chip>>,
    handler: RefCell<Option<ChipHandler>>,
}

impl std::fmt::Debug for Chips {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chips").field("shown", &self.current).finish_non_exhaustive()
    }
}

/// Receives the user's actions on chips.
type ChipHandler = Rc<dyn Fn(ChipAction)>;

/// The user's action on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChipAction {
    /// Do not attach it.
    Removed(Along),
    /// It was clicked.
    Activated(Along),
}

impl Default for Chips {
    fn default() -> Self {
        let root = wrap();
        root.set_visible(false);
        root.add_css_class("chips");
        accessible::set_label(&root, &gettext("Attachments"));
        Self { root, current: RefCell::default(), handler: RefCell::default() }
    }
}

impl Chips {
    pub(super) fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Sets what receives the user's actions on chips.
    pub(super) fn connect(&self, handler: impl Fn(ChipAction) + 'static) {
        self.handler.replace(Some(Rc::new(handler)));
    }

    /// Shows these.
    pub(super) fn show(&self, chips: Vec<Chip>) {
        let handler = self.handler.borrow().clone();
        let Some(handler) = handler.filter(|_| *self.current.borrow() != chips) else { return };
        self.root.set_visible(!chips.is_empty());
        // A chip whose text alone changes is kept, since it may have the focus.
        let kind = |chip: &Chip| (chip.along, chip.act.is_some());
        let same = self.current.borrow().iter().map(kind).eq(chips.iter().map(kind));
        if !same {
            while let Some(child) = self.root.first_child() {
                self.root.remove(&child);
            }
            for chip in &chips {
                self.root.append(&made(chip, &handler));
            }
        }
        let mut child = self.root.first_child();
        for chip in &chips {
            let Some(widget) = child else { break };
            describe(&widget, chip);
            child = widget.next_sibling();
        }
        self.current.replace(chips);
    }
}

fn made(chip: &Chip, handler: &ChipHandler) -> gtk::Box {
    let along = chip.along;
    let icon = gtk::Stack::new();
    icon.add_named(&gtk::Image::from_icon_name(chip.icon), Some("icon"));
    icon.add_named(&gtk::Spinner::new(), Some("coming"));
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
    if chip.act.is_some() {
        let button = gtk::Button::builder().child(&label).css_classes(["flat", "act"]).build();
        let acted = Rc::clone(handler);
        button.connect_clicked(move |_| acted(ChipAction::Activated(along)));
        root.append(&button);
    } else {
        root.append(&label);
    }
    root.append(&close);
    let removed = Rc::clone(handler);
    close.connect_clicked(move |_| removed(ChipAction::Removed(along)));
    let keys = gtk::EventControllerKey::new();
    let removed = Rc::clone(handler);
    keys.connect_key_pressed(move |_, key, _, _| {
        if matches!(key, gdk::Key::Delete | gdk::Key::BackSpace) {
            removed(ChipAction::Removed(along));
            return glib::Propagation::Stop;
        }
        glib::Propagation::Proceed
    });
    root.add_controller(keys);
    root
}

fn describe(widget: &gtk::Widget, chip: &Chip) {
    let Some(icon) = widget.first_child().and_downcast::<gtk::Stack>() else { return };
    if let Some(image) = icon.child_by_name("icon").and_downcast::<gtk::Image>() {
        image.set_icon_name(Some(chip.icon));
    }
    if let Some(spinner) = icon.child_by_name("coming").and_downcast::<gtk::Spinner>() {
        spinner.set_spinning(chip.is_coming);
    }
    icon.set_visible_child_name(if chip.is_coming { "coming" } else { "icon" });
    let Some(body) = icon.next_sibling() else { return };
    let label = body.downcast_ref::<gtk::Label>().cloned().or_else(|| {
        let button = body.downcast_ref::<gtk::Button>()?;
        button.child().and_downcast::<gtk::Label>()
    });
    let Some(label) = label else { return };
    // File names may contain anything.
    let (name, tooltip) = (one_line(&chip.label), visible(&chip.tooltip));
    label.set_label(&name);
    widget.set_tooltip_text(Some(&tooltip));
    accessible::set_description(&label, &tooltip);
    if let Some(act) = &chip.act {
        body.set_tooltip_text(Some(act));
        accessible::set_label(&body, &format!("{name}, {act}"));
    }
    if let Some(close) = body.next_sibling() {
        let words = fill(&gettext("Remove {what}"), &[("what", &name)]);
        close.set_tooltip_text(Some(&words));
        accessible::set_label(&close, &words);
    }
}
