//! Shows the page with the connections and their status.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::event::{ConnectionState, Health};
use chat_core::manager::Manager;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use super::rows::{PreferencesContext, icon_button, switch_row};
use super::{editor, models, presets, say};

/// Creates the empty page.
pub(super) fn page() -> adw::PreferencesPage {
    adw::PreferencesPage::builder()
        .title(gettext("Connections"))
        .icon_name("network-server-symbolic")
        .build()
}

/// The content of the page. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct ConnectionsPage {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    group: adw::PreferencesGroup,
    rows: RefCell<Vec<adw::ActionRow>>,
    shown: RefCell<Vec<ConnectionState>>,
    window: glib::WeakRef<adw::PreferencesWindow>,
    manager: Manager,
}

impl ConnectionsPage {
    pub(super) fn new(page: &adw::PreferencesPage, context: &PreferencesContext) -> Self {
        let PreferencesContext { window, manager, .. } = context;
        let group = adw::PreferencesGroup::builder()
            .title(gettext("Connections"))
            .description(gettext("Model servers and providers"))
            .build();
        let header = gtk::Box::new(gtk::Orientation::Horizontal, 6);
        let again = icon_button("view-refresh-symbolic", &gettext("Search Again"));
        let refreshed = manager.clone();
        again.connect_clicked(move |_| refreshed.connections().refresh());
        let add = icon_button("list-add-symbolic", &gettext("Add Connection"));
        let parent = window.clone();
        let adding = manager.clone();
        add.connect_clicked(move |_| {
            if let Some(window) = parent.upgrade() {
                presets::open(window.upcast_ref(), &adding);
            }
        });
        header.append(&again);
        header.append(&add);
        group.set_header_suffix(Some(&header));
        page.add(&group);

        let local = adw::PreferencesGroup::new();
        local.add(&switch_row(
            context,
            &gettext("Find servers on this computer"),
            &gettext("Ollama, llama.cpp, LM Studio, and vLLM on their default ports"),
            |settings| settings.chat.find_local_servers,
            |settings, on| settings.chat.find_local_servers = on,
        ));
        page.add(&local);

        let inner = Inner {
            group,
            rows: RefCell::default(),
            shown: RefCell::default(),
            window: window.clone(),
            manager: manager.clone(),
        };
        let this = Self { inner: Rc::new(inner) };
        this.fill();
        this
    }

    /// Shows the current connections.
    pub(super) fn fill(&self) {
        let inner = &self.inner;
        let states = inner.manager.connections().list();
        if *inner.shown.borrow() == states && !states.is_empty() {
            return;
        }
        for row in inner.rows.take() {
            inner.group.remove(&row);
        }
        let mut rows: Vec<adw::ActionRow> = states.iter().map(|state| inner.row(state)).collect();
        if rows.is_empty() {
            let none = adw::ActionRow::builder()
                .title(gettext("No connections yet"))
                .subtitle(gettext("Add one, or start a model server on this computer"))
                .build();
            rows.push(none);
        }
        for row in &rows {
            inner.group.add(row);
        }
        inner.rows.replace(rows);
        inner.shown.replace(states);
    }
}

impl Inner {
    fn row(&self, state: &ConnectionState) -> adw::ActionRow {
        let connection = &state.connection;
        let health = words::health(&state.health);
        let below = if state.built_in {
            gettext("Natter’s built-in engine")
        } else if state.discovered {
            let text = gettext("{url}, found on this computer");
            words::fill(&text, &[("url", &connection.shown_url())])
        } else {
            connection.shown_url().into_owned()
        };
        let row = adw::ActionRow::builder()
            .use_markup(false)
            .title(crate::models::words::connection(&connection.name))
            .subtitle(format!("{below}\n{health}"))
            .subtitle_lines(3)
            .activatable(true)
            .build();
        let icon = match state.health {
            Health::Checking => "content-loading-symbolic",
            Health::Ready { .. } => "emblem-ok-symbolic",
            Health::Failed(_) => "dialog-warning-symbolic",
        };
        row.add_prefix(&gtk::Image::from_icon_name(icon));
        if !state.discovered && !state.built_in {
            let remove = icon_button("user-trash-symbolic", &gettext("Remove this connection"));
            let (window, manager) = (self.window.clone(), self.manager.clone());
            let name = connection.name.clone();
            remove.connect_clicked(move |_| ask_removal(&window, &manager, &name));
            row.add_suffix(&remove);
        }
        row.add_suffix(&gtk::Image::from_icon_name("go-next-symbolic"));
        let (window, manager) = (self.window.clone(), self.manager.clone());
        let state = state.clone();
        row.connect_activated(move |_| {
            if let Some(window) = window.upgrade() {
                open(&window, &manager, &state);
            }
        });
        row
    }
}

/// Opens the settings of a connection; for the built-in engine these are its models.
pub(super) fn open(window: &adw::PreferencesWindow, manager: &Manager, state: &ConnectionState) {
    if state.built_in {
        window.set_visible_page_name(models::PAGE);
    } else {
        editor::open(window.upcast_ref(), manager, Some(state.clone()));
    }
}

fn ask_removal(window: &glib::WeakRef<adw::PreferencesWindow>, manager: &Manager, name: &str) {
    let Some(parent) = window.upgrade() else { return };
    let heading = words::fill(&gettext("Remove “{name}”?"), &[("name", name)]);
    let dialog = adw::MessageDialog::builder()
        .heading(heading)
        .body(gettext("This also removes its saved key. Chats that used it are kept."))
        .transient_for(&parent)
        .modal(true)
        .default_response("cancel")
        .close_response("cancel")
        .build();
    dialog.add_response("cancel", &gettext("_Cancel"));
    dialog.add_response("remove", &gettext("_Remove"));
    dialog.set_response_appearance("remove", adw::ResponseAppearance::Destructive);
    let (window, manager, name) = (window.clone(), manager.clone(), name.to_owned());
    dialog.connect_response(Some("remove"), move |_, _| {
        let (window, manager, name) = (window.clone(), manager.clone(), name.clone());
        glib::spawn_future_local(async move {
            say(&window, &manager.connections().remove(&name).await);
        });
    });
    dialog.present();
}
