//! Builds the small parts of the window: buttons, the menu, bars, pages.

use adw::prelude::*;
use gettextrs::gettext;
use gtk::gio;
use relm4::ComponentSender;

use super::{Input, Window};
use crate::{accessible, popover};

pub(super) fn flat_header() -> adw::HeaderBar {
    adw::HeaderBar::builder().css_classes(["flat"]).build()
}

/// A pane of the window, below its header bar.
pub(super) fn pane(class: &str, header: &adw::HeaderBar) -> gtk::Box {
    let pane =
        gtk::Box::builder().orientation(gtk::Orientation::Vertical).css_classes([class]).build();
    pane.append(header);
    pane
}

pub(super) fn icon_button(icon: &str, name: &str, action: &str) -> gtk::Button {
    let button =
        gtk::Button::builder().icon_name(icon).tooltip_text(name).action_name(action).build();
    accessible::set_label(&button, name);
    button
}

pub(super) fn new_chat_button() -> gtk::Button {
    let button = icon_button("list-add-symbolic", &gettext("New Chat"), "win.new-chat");
    button.set_tooltip_text(Some(&gettext("New Chat (Ctrl+N)")));
    button
}

/// The menu of the chat list.
pub(super) fn list_menu() -> gtk::MenuButton {
    let menu = gio::Menu::new();
    for section in [
        &[
            (gettext("_Group by Project"), "win.group-by-project"),
            (gettext("_Select Chats"), "win.select-chats"),
        ][..],
        &[(gettext("_Archived Chats"), "win.archived-chats"), (gettext("_Trash"), "win.trash")],
        &[(gettext("_Import Chats…"), "win.import")],
    ] {
        let items = gio::Menu::new();
        for (label, action) in section {
            items.append(Some(label), Some(action));
        }
        menu.append_section(None, &items);
    }
    let button = gtk::MenuButton::builder()
        .icon_name("view-more-symbolic")
        .menu_model(&menu)
        .tooltip_text(gettext("Chat List Menu"))
        .build();
    accessible::set_label(&button, &gettext("Chat List Menu"));
    popover::return_focus(&button);
    popover::silence_tooltip(&button);
    button
}

pub(super) fn main_menu() -> gtk::MenuButton {
    let menu = gio::Menu::new();
    for section in [
        &[
            (gettext("New _Temporary Chat"), "win.new-temporary-chat"),
            (gettext("_New Chat in a Worktree…"), "win.new-worktree-chat"),
            (gettext("_Worktrees…"), "win.worktrees"),
            (gettext("Project’s A_gents and Skills…"), "win.review-definitions"),
        ][..],
        &[
            (gettext("_Find in Chat"), "win.find"),
            (gettext("_Rename Chat…"), "win.rename"),
            (gettext("_Pin or Unpin Chat"), "win.pin"),
            (gettext("Archi_ve Chat"), "win.archive"),
            (gettext("D_uplicate Chat"), "win.duplicate"),
            (gettext("_Export as Markdown…"), "win.export"),
            (gettext("Move Chat to _Trash"), "win.delete"),
        ],
        &[
            (gettext("Files and Ed_itor"), "win.toggle-panel"),
            (gettext("_Save File As…"), "win.save-as"),
        ],
        &[
            (gettext("_Preferences"), "win.preferences"),
            (gettext("_Keyboard Shortcuts"), "win.shortcuts"),
            (gettext("_About Natter"), "win.about"),
        ],
    ] {
        let items = gio::Menu::new();
        for (label, action) in section {
            let item = gio::MenuItem::new(Some(label), Some(action));
            if *action == "win.save-as" {
                // Without an open file it would only be clutter.
                item.set_attribute_value("hidden-when", Some(&"action-disabled".to_variant()));
            }
            items.append_item(&item);
        }
        menu.append_section(None, &items);
    }
    let button = gtk::MenuButton::builder()
        .icon_name("open-menu-symbolic")
        .menu_model(&menu)
        .primary(true)
        .tooltip_text(gettext("Main Menu"))
        .build();
    accessible::set_label(&button, &gettext("Main Menu"));
    popover::return_focus(&button);
    popover::silence_tooltip(&button);
    button
}

/// A bar for messages that are too long for a toast; it stays until it is closed.
pub(super) fn notice_bar() -> (gtk::Revealer, gtk::Label) {
    let words = gtk::Label::builder()
        .xalign(0.0)
        .wrap(true)
        .wrap_mode(gtk::pango::WrapMode::WordChar)
        .selectable(true)
        .hexpand(true)
        .build();
    let close = gtk::Button::builder()
        .icon_name("window-close-symbolic")
        .css_classes(["flat", "circular"])
        .valign(gtk::Align::Start)
        .tooltip_text(gettext("Close"))
        .build();
    accessible::set_label(&close, &gettext("Close this notice"));
    let line = gtk::Box::builder().spacing(10).css_classes(["notice"]).build();
    line.append(&words);
    line.append(&close);
    let revealer = gtk::Revealer::builder().child(&line).build();
    let weak = revealer.downgrade();
    close.connect_clicked(move |_| {
        if let Some(revealer) = weak.upgrade() {
            revealer.set_reveal_child(false);
        }
    });
    (revealer, words)
}

pub(super) fn failure_page(sender: &ComponentSender<Window>) -> adw::StatusPage {
    let again = gtk::Button::builder()
        .label(gettext("Retry"))
        .halign(gtk::Align::Center)
        .css_classes(["pill", "suggested-action"])
        .build();
    let input = sender.input_sender().clone();
    again.connect_clicked(move |_| input.emit(Input::StartAgain));
    adw::StatusPage::builder()
        .icon_name("dialog-warning-symbolic")
        .title(gettext("Can’t Open Your Chats"))
        .child(&again)
        .build()
}
