//! Defines the menu of a chat, and the actions behind it.

use chat_core::message::Fid;
use gettextrs::gettext;
use gtk::{gdk, gio, glib};
use relm4::ComponentSender;
use relm4::gtk::prelude::*;

use super::{Act, ChatList, Input};
use crate::popover;

/// The CSS class of the list while the menu is open.
const OPEN: &str = "has-menu";

/// Whether the menu of this widget's list is open: a tooltip would cover it.
pub(super) fn is_open_over(widget: &impl IsA<gtk::Widget>) -> bool {
    let above = std::iter::successors(widget.parent(), WidgetExt::parent);
    above.into_iter().any(|widget| widget.has_css_class(OPEN))
}

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
    add("stop", Input::Stop);
    add("stop-all", Input::StopAll);
    add("rename", Input::Rename);
    add("export", Input::Export);
    add("delete", |fid| Input::Act(Act::Delete, fid));
    add("pin", |fid| Input::Act(Act::Pin, fid));
    add("archive", |fid| Input::Act(Act::Archive, fid));
    add("duplicate", Input::Duplicate);
    add("mark", Input::ToggleMark);
    let narrow = gio::SimpleAction::new("narrow", Some(glib::VariantTy::STRING));
    let input = sender.input_sender().clone();
    narrow.connect_activate(move |_, words| {
        if let Some(words) = words.and_then(glib::Variant::str) {
            input.emit(Input::Narrow(words.to_owned()));
        }
    });
    group.add_action(&narrow);
    root.insert_action_group("chats", Some(&group));
}

/// What can be done with a chat.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Possible {
    /// It is at work itself.
    pub(super) stop: bool,
    /// Agents that work for it are.
    pub(super) stop_agents: bool,
    /// It is no agent: those are where their chat is.
    pub(super) arrange: bool,
    pub(super) is_pinned: bool,
    pub(super) is_archived: bool,
}

/// Opens the menu of a chat next to a position.
pub(super) fn popup(root: &gtk::Box, fid: &Fid, possible: Possible, place: &gdk::Rectangle) {
    let items = gio::Menu::new();
    let section = |entries: &[(String, &str)]| {
        let section = gio::Menu::new();
        for (label, action) in entries {
            let item = gio::MenuItem::new(Some(label), None);
            item.set_action_and_target_value(Some(action), Some(&fid.as_str().to_variant()));
            section.append_item(&item);
        }
        items.append_section(None, &section);
    };
    let stop = possible.stop.then(|| (gettext("_Stop"), "chats.stop"));
    let stop_all =
        possible.stop_agents.then(|| (gettext("Stop with _All Agents"), "chats.stop-all"));
    let stops: Vec<_> = stop.into_iter().chain(stop_all).collect();
    if !stops.is_empty() {
        section(&stops);
    }
    if possible.arrange {
        let pin = if possible.is_pinned { gettext("Un_pin") } else { gettext("_Pin") };
        let archive =
            if possible.is_archived { gettext("Move Back to _List") } else { gettext("_Archive") };
        section(&[
            (pin, "chats.pin"),
            (archive, "chats.archive"),
            (gettext("Se_lect"), "chats.mark"),
        ]);
    }
    section(&[
        (gettext("_Rename…"), "chats.rename"),
        (gettext("D_uplicate"), "chats.duplicate"),
        (gettext("_Export as Markdown…"), "chats.export"),
        (gettext("Move to _Trash"), "chats.delete"),
    ]);
    let menu = gtk::PopoverMenu::from_model(Some(&items));
    menu.set_pointing_to(Some(place));
    menu.set_has_arrow(false);
    menu.set_halign(gtk::Align::Start);
    root.add_css_class(OPEN);
    let weak = root.downgrade();
    menu.connect_closed(move |_| {
        if let Some(root) = weak.upgrade() {
            root.remove_css_class(OPEN);
        }
    });
    popover::show_once(menu.upcast_ref(), root);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn no_tooltip_of_the_list_comes_while_the_menu_is_open() {
        crate::init();
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        let title = gtk::Label::new(Some("A title"));
        root.append(&title);
        let window = gtk::Window::builder().child(&root).build();
        window.present();
        assert!(!is_open_over(&title));
        let place = gdk::Rectangle::new(0, 0, 1, 1);
        popup(&root, &Fid::new("2026-01-15-14-30-45"), Possible::default(), &place);
        assert!(is_open_over(&title));
        let children = std::iter::successors(root.first_child(), WidgetExt::next_sibling);
        let menu = children.into_iter().find_map(|child| child.downcast::<gtk::PopoverMenu>().ok());
        menu.expect("the menu").popdown();
        until("the menu to close", || !is_open_over(&title));
    }
}
