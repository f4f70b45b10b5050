//! The menu of a chat, and the actions behind it.

use chat_core::message::Fid;
use gettextrs::gettext;
use gtk::{gdk, gio, glib};
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::{ChatList, Input};
use crate::popover;

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
    let items = gio::Menu::new();
    for (label, action) in [
        (gettext("_Rename…"), "chats.rename"),
        (gettext("_Export as Markdown…"), "chats.export"),
        (gettext("_Delete"), "chats.delete"),
    ] {
        let item = gio::MenuItem::new(Some(&label), None);
        item.set_action_and_target_value(Some(action), Some(&fid.as_str().to_variant()));
        items.append_item(&item);
    }
    let menu = gtk::PopoverMenu::from_model(Some(&items));
    menu.set_pointing_to(Some(place));
    menu.set_has_arrow(false);
    menu.set_halign(gtk::Align::Start);
    popover::show_once(menu.upcast_ref(), root);
}
