//! The menu next to the search: words that narrow it.

use chat_core::message::SessionMeta;
use chat_presentation::search_words;
use gettextrs::gettext;
use gtk::gio;
use relm4::gtk::prelude::*;

use crate::accessible;
use crate::projects;

/// The most projects and models that the menu offers. Others can be typed.
const MOST: usize = 10;

/// The button with the menu.
pub(super) fn button() -> gtk::MenuButton {
    let button = gtk::MenuButton::builder()
        .icon_name("view-more-symbolic")
        .css_classes(["flat"])
        .tooltip_text(gettext("Narrow the Search"))
        .build();
    accessible::set_label(&button, &gettext("Narrow the Search"));
    button
}

/// The menu for these chats.
pub(super) fn menu<'a>(chats: impl Iterator<Item = &'a SessionMeta>) -> gio::Menu {
    let (mut folders, mut models) = (Vec::new(), Vec::new());
    for chat in chats {
        if let Some(project) = chat.project.as_deref().map(projects::name)
            && !folders.contains(&project)
        {
            folders.push(project);
        }
        if let Some(model) = chat.model.as_ref().map(|model| model.model.clone())
            && !models.contains(&model)
        {
            models.push(model);
        }
    }
    let menu = gio::Menu::new();
    let kinds = gio::Menu::new();
    kinds.append_item(&item(&gettext("Pinned"), "is:pinned"));
    kinds.append_item(&item(&gettext("Archived"), "is:archived"));
    menu.append_section(None, &kinds);
    let times = gio::Menu::new();
    times.append_item(&item(&gettext("Last 7 days"), &search_words::after_days(7)));
    times.append_item(&item(&gettext("Last 30 days"), &search_words::after_days(30)));
    menu.append_section(None, &times);
    let more = gio::Menu::new();
    for (title, word, names) in
        [(gettext("Project"), "in", folders), (gettext("Model"), "model", models)]
    {
        let items = gio::Menu::new();
        for name in names.iter().take(MOST) {
            items.append_item(&item(name, &search_words::narrowing(word, name)));
        }
        if items.n_items() > 0 {
            more.append_submenu(Some(&title), &items);
        }
    }
    menu.append_section(None, &more);
    menu
}

fn item(label: &str, words: &str) -> gio::MenuItem {
    // An underline in a name is no mnemonic.
    let item = gio::MenuItem::new(Some(&label.replace('_', "__")), None);
    item.set_action_and_target_value(Some("chats.narrow"), Some(&words.to_variant()));
    item
}
