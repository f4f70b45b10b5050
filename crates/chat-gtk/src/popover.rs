//! Creates popovers for a single use: renaming a chat, or showing something once.

use std::rc::Rc;

use gettextrs::gettext;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use crate::accessible;

/// Asks for a title; `done` receives it if one was typed. The focus returns to where it was.
pub(crate) fn ask_title(
    parent: &gtk::Box,
    place: &gdk::Rectangle,
    title: &str,
    done: impl Fn(String) + 'static,
) -> gtk::Popover {
    let entry = gtk::Entry::builder().text(title).width_chars(28).build();
    accessible::set_label(&entry, &gettext("Title"));
    let button =
        gtk::Button::builder().label(gettext("Rename")).css_classes(["suggested-action"]).build();
    let line = gtk::Box::new(gtk::Orientation::Horizontal, 6);
    line.append(&entry);
    line.append(&button);
    let popover = gtk::Popover::builder().child(&line).pointing_to(place).build();
    let before: glib::WeakRef<gtk::Widget> = glib::WeakRef::new();
    before.set(parent.root().and_then(|root| root.focus()).as_ref());
    show_once(&popover, parent);
    popover.connect_closed(move |_| give_back_focus(&before));
    entry.grab_focus();

    let weak = popover.downgrade();
    entry.connect_activate(move |entry| {
        let title = entry.text().trim().to_owned();
        if !title.is_empty() {
            done(title);
        }
        if let Some(popover) = weak.upgrade() {
            popover.popdown();
        }
    });
    button.connect_clicked(move |_| entry.emit_activate());
    popover
}

/// Returns the focus to the widget that had it before a popover, after the popover has closed and
/// lost its own focus.
pub(crate) fn give_back_focus(before: &glib::WeakRef<gtk::Widget>) {
    let before = before.clone();
    glib::idle_add_local_once(move || {
        if let Some(before) = before.upgrade().filter(gtk::Widget::is_mapped) {
            before.grab_focus();
        }
    });
}

/// Returns the focus to the widget that had it before a button's menu opened, unless something else
/// has it by then. The chosen action runs later, and may move it from there.
pub(crate) fn return_focus(button: &gtk::MenuButton) {
    let Some(menu) = button.popover() else { return };
    // Otherwise a click would take it before the menu opens.
    button.set_focus_on_click(false);
    let before: Rc<glib::WeakRef<gtk::Widget>> = Rc::default();
    let opening = Rc::clone(&before);
    button.set_create_popup_func(move |button| {
        opening.set(button.root().and_then(|root| root.focus()).as_ref());
    });
    let weak = button.downgrade();
    menu.connect_closed(move |_| {
        let Some(button) = weak.upgrade() else { return };
        let focus = button.root().and_then(|root| root.focus());
        let moved_on = focus.is_some_and(|focus| !focus.is_ancestor(&button));
        let Some(before) = before.upgrade().filter(|it| it.is_mapped() && !moved_on) else {
            return;
        };
        // Typing continues there, and does not replace the text.
        match before.downcast_ref::<gtk::Text>() {
            Some(entry) => entry.grab_focus_without_selecting(),
            None => before.grab_focus(),
        };
    });
}

/// Shows a popover that is removed when it closes.
pub(crate) fn show_once(popover: &gtk::Popover, parent: &impl IsA<gtk::Widget>) {
    popover.set_parent(parent);
    popover.connect_closed(|popover| {
        // Not at once: the action of a menu item runs after the menu has closed.
        let popover = popover.clone();
        glib::idle_add_local_once(move || popover.unparent());
    });
    popover.popup();
}
