//! Shows the page with what tools may do: the mode of new chats, the stored permission rules, and the trusted
//! projects.

mod rules;
mod secrets;
mod trust;

use adw::prelude::*;
use chat_core::permission::Mode;
use chat_core::settings::Settings;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::rows::{PreferencesContext, plain_row};
use crate::unattended;
use rules::RulesGroup;
use secrets::SecretsGroup;
use trust::{Kind, TrustGroup};

/// Creates the empty page.
pub(super) fn page() -> adw::PreferencesPage {
    adw::PreferencesPage::builder()
        .title(gettext("Permissions"))
        .icon_name("security-high-symbolic")
        .build()
}

/// The content of the page.
#[derive(Clone, Debug)]
pub(super) struct PermissionsPage {
    rules: RulesGroup,
    secrets: SecretsGroup,
    trust: TrustGroup,
    servers: TrustGroup,
}

impl PermissionsPage {
    pub(super) fn new(page: &adw::PreferencesPage, context: &PreferencesContext) -> Self {
        let chats = adw::PreferencesGroup::builder().title(gettext("New Chats")).build();
        chats.add(&mode_row(context));
        page.add(&chats);
        page.add(&commands_group(context));
        let secrets = SecretsGroup::new(context);
        page.add(secrets.widget());
        let rules = RulesGroup::new(context);
        page.add(rules.widget());
        let trust = TrustGroup::new(Kind::Definitions, context);
        page.add(trust.widget());
        let servers = TrustGroup::new(Kind::Servers, context);
        page.add(servers.widget());
        Self { rules, secrets, trust, servers }
    }

    /// Shows the current rules and secret files.
    pub(super) fn fill(&self) {
        self.rules.fill();
        self.secrets.fill();
    }

    /// Shows which projects are trusted now.
    pub(super) fn fill_trust(&self) {
        self.trust.fill();
        self.servers.fill();
    }
}

/// How commands are confined here; absent if no tool runs any.
fn commands_group(context: &PreferencesContext) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::builder().title(gettext("Commands")).visible(false).build();
    let (manager, weak) = (context.manager.clone(), group.downgrade());
    glib::spawn_future_local(async move {
        let bounds = manager.commands().bounds().await.ok().flatten();
        if let (Some(bounds), Some(group)) = (bounds, weak.upgrade()) {
            let row = plain_row(&words::enforcement(&bounds), &words::bounds(&bounds).join("\n"));
            row.set_subtitle_lines(0);
            let icon = if bounds.are_full() {
                "security-high-symbolic"
            } else {
                "dialog-warning-symbolic"
            };
            row.add_prefix(&gtk::Image::from_icon_name(icon));
            group.add(&row);
            group.set_visible(true);
        }
    });
    group
}

fn mode_row(context: &PreferencesContext) -> adw::ComboRow {
    let titles = Mode::ALL.map(words::mode_choice);
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let row = adw::ComboRow::builder()
        .title(gettext("Tool permissions"))
        .subtitle_lines(3)
        .model(&gtk::StringList::new(&titles))
        .build();
    let weak = row.downgrade();
    context.shows(move |settings| {
        let Some(row) = weak.upgrade() else { return };
        let mode = settings.permissions.mode;
        let at = Mode::ALL.iter().position(|other| *other == mode).unwrap_or(0);
        row.set_selected(at as u32);
        row.set_subtitle(&words::mode_meaning(mode));
    });
    let context = context.clone();
    row.connect_selected_notify(move |row| {
        if context.is_showing() {
            return;
        }
        let Some(mode) = Mode::ALL.get(row.selected() as usize).copied() else { return };
        if mode == Mode::Unattended {
            let window = context.window.upgrade();
            let confirmed = context.clone();
            unattended::confirm(window.as_ref().map(Cast::upcast_ref), move || {
                keep(&confirmed, mode);
            });
            // Until then, the old value stays.
            context.show();
            return;
        }
        row.set_subtitle(&words::mode_meaning(mode));
        keep(&context, mode);
    });
    row
}

fn keep(context: &PreferencesContext, mode: Mode) {
    let context = context.clone();
    glib::spawn_future_local(async move {
        context.change(move |settings: &mut Settings| settings.permissions.mode = mode).await;
    });
}
