//! The menu of a chat, and the actions behind it.

use chat_core::message::Fid;
use gettextrs::gettext;
use gtk::{gdk, gio, glib};
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::{ChatList, Input};

/// The actions of the menu; each takes the chat's id.
pub(super) fn install_actions(root: &gtk::Box, sender: &ComponentSender<ChatList>) {
    let group = gio::SimpleActionGroup::new();
    let add = |name: &str, make: fn(Fid) -> Input| {
        let action = gio::SimpleAction::new(name, Some(glib::VariantTy::STRING));
        let input = sender.input_sender().clone();
        action.connect_activate(move |_, fid| {
            if let Some(fid) = fid.and_then(glib::Variant::str) {
                input.emit(make(Fid::new(fid)));
            }
        });
        group.add_action(&action);
    };
    add("rename", Input::Rename);
    add("export", Input::Export);
    add("delete", Input::Delete);
    root.insert_action_group("chats", Some(&group));
}

/// Opens the menu of a chat beside a place.
pub(super) fn popup(root: &gtk::Box, fid: &Fid, place: &gdk::Rectangle) {
    let menu = gio::Menu::new();
    for (label, action) in [
        (gettext("_Rename…"), "chats.rename"),
        (gettext("_Export as Markdown…"), "chats.export"),
        (gettext("_Delete"), "chats.delete"),
    ] {
        let item = gio::MenuItem::new(Some(&label), None);
        item.set_action_and_target_value(Some(action), Some(&fid.as_str().to_variant()));
        menu.append_item(&item);
    }
    let popover = gtk::PopoverMenu::from_model(Some(&menu));
    popover.set_pointing_to(Some(place));
    popover.set_has_arrow(false);
    popover.set_halign(gtk::Align::Start);
    show_once(popover.upcast_ref(), root);
}

/// Shows a popover that is taken away again when it closes.
pub(super) fn show_once(popover: &gtk::Popover, parent: &gtk::Box) {
    popover.set_parent(parent);
    popover.connect_closed(|popover| {
        // Not at once: the action of a menu's item is run after the menu has closed.
        let popover = popover.clone();
        glib::idle_add_local_once(move || popover.unparent());
    });
    popover.popup();
}
