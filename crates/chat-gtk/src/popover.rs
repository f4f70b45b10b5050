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

/// Shows no tooltip of a button while a popover in it is open: GTK would show it over the popover's entries, since
/// these are inside the button.
pub(crate) fn silence_tooltip(button: &impl IsA<gtk::Widget>) {
    silence(button.upcast_ref());
}

/// Does so for a widget and all in it. Returns the popovers that it has.
fn silence(widget: &gtk::Widget) -> Vec<glib::WeakRef<gtk::Popover>> {
    let children = std::iter::successors(widget.first_child(), WidgetExt::next_sibling);
    let inside = children.flat_map(|child| match child.downcast::<gtk::Popover>() {
        Ok(popover) => vec![popover.downgrade()],
        Err(child) => silence(&child),
    });
    let popovers: Vec<_> = inside.collect();
    if !popovers.is_empty() {
        let inside = popovers.clone();
        widget.connect_query_tooltip(move |widget, _, _, _, _| {
            if inside.iter().filter_map(glib::WeakRef::upgrade).any(|it| it.is_visible()) {
                widget.stop_signal_emission_by_name("query-tooltip");
            }
            false
        });
    }
    popovers
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn a_button_has_no_tooltip_while_its_menu_is_open() {
        crate::init();
        let items = gtk::gio::Menu::new();
        items.append(Some("Entry"), None);
        let button = gtk::MenuButton::builder().menu_model(&items).tooltip_text("Menu").build();
        silence_tooltip(&button);
        let window = gtk::Window::builder().child(&button).build();
        window.present();
        let tells = || {
            let tooltip = glib::Object::new::<gtk::Tooltip>();
            button.emit_by_name::<bool>("query-tooltip", &[&1, &1, &false, &tooltip])
        };
        assert!(tells());
        let menu = button.popover().expect("a menu");
        button.popup();
        until("the menu to open", || menu.is_mapped());
        assert!(!tells());
        // Not even where the text changes meanwhile.
        button.set_tooltip_text(Some("Another"));
        assert!(!tells());
        button.popdown();
        until("the menu to close", || !menu.is_visible());
        assert!(tells());
        window.destroy();
    }
}
