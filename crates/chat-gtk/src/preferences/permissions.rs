//! The page with what tools may do: how new chats begin, and what was answered for longer.

mod rules;

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_core::permission::Mode;
use chat_core::settings::Settings;
use chat_edge::words;
use gettextrs::gettext;
use gtk::glib;

use super::rows::Place;
use rules::RulesGroup;

/// The page. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct PermissionsPage {
    page: adw::PreferencesPage,
    rules: RulesGroup,
}

impl PermissionsPage {
    pub(super) fn new(window: &adw::PreferencesWindow, manager: &Manager) -> Self {
        let place = Place::new(window, manager);
        let page = adw::PreferencesPage::builder()
            .title(gettext("Permissions"))
            .icon_name("security-high-symbolic")
            .build();
        let chats = adw::PreferencesGroup::builder().title(gettext("New Chats")).build();
        chats.add(&mode_row(&place));
        page.add(&chats);
        let rules = RulesGroup::new(&place);
        page.add(rules.widget());
        Self { page, rules }
    }

    pub(super) fn widget(&self) -> &adw::PreferencesPage {
        &self.page
    }

    /// Shows the rules as they are now.
    pub(super) fn fill(&self) {
        self.rules.fill();
    }
}

fn mode_row(place: &Place) -> adw::ComboRow {
    let titles = Mode::ALL.map(words::mode_title);
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mode = place.manager.settings().permissions.mode;
    let at = Mode::ALL.iter().position(|other| *other == mode).unwrap_or(0);
    let row = adw::ComboRow::builder()
        .title(gettext("What tools may do"))
        .subtitle(words::mode_meaning(mode))
        .subtitle_lines(3)
        .model(&gtk::StringList::new(&titles))
        .selected(at as u32)
        .build();
    let place = place.clone();
    row.connect_selected_notify(move |row| {
        let Some(mode) = Mode::ALL.get(row.selected() as usize).copied() else { return };
        row.set_subtitle(&words::mode_meaning(mode));
        let place = place.clone();
        glib::spawn_future_local(async move {
            place.change(move |settings: &mut Settings| settings.permissions.mode = mode).await;
        });
    });
    row
}
