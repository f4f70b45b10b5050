//! Shows what few connections need: a proxy, certificates, headers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::settings::{Connection, HeaderSource, Key};
use chat_presentation::words;
use gettextrs::gettext;

use super::super::rows::icon_button;

/// The group with one row, which unfolds.
#[derive(Debug)]
pub(super) struct Advanced {
    pub(super) group: adw::PreferencesGroup,
    pub(super) row: adw::ExpanderRow,
    proxy: adw::EntryRow,
    ca: adw::EntryRow,
    header: adw::EntryRow,
    value: adw::PasswordEntryRow,
    /// The headers that it has already.
    headers: Rc<RefCell<BTreeMap<String, HeaderSource>>>,
    changed: Rc<Changed>,
}

/// What is told of changes.
#[derive(Default)]
struct Changed(RefCell<Option<Box<dyn Fn()>>>);

impl std::fmt::Debug for Changed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Changed")
    }
}

impl Changed {
    fn tell(&self) {
        if let Some(told) = &*self.0.borrow() {
            told();
        }
    }
}

impl Advanced {
    pub(super) fn new() -> Self {
        let row = adw::ExpanderRow::builder().title(gettext("Advanced")).build();
        let group = adw::PreferencesGroup::new();
        group.add(&row);
        let entry = |title: &str| adw::EntryRow::builder().title(title).build();
        let this = Self {
            group,
            row,
            proxy: entry(&gettext("Proxy (http, https or socks5 address, or none)")),
            ca: entry(&gettext("Certificates (PEM file)")),
            header: entry(&gettext("New Header")),
            value: adw::PasswordEntryRow::builder()
                .title(gettext("Value of the New Header"))
                .build(),
            headers: Rc::default(),
            changed: Rc::default(),
        };
        this.proxy.set_input_purpose(gtk::InputPurpose::Url);
        this
    }

    /// Adds its rows below those that came before.
    pub(super) fn add_own_rows(&self) {
        for row in [&self.proxy, &self.ca, &self.header, self.value.upcast_ref()] {
            self.row.add_row(row);
            let changed = Rc::clone(&self.changed);
            row.connect_changed(move |_| changed.tell());
        }
    }

    pub(super) fn connect_changed(&self, told: impl Fn() + 'static) {
        self.changed.0.replace(Some(Box::new(told)));
    }

    pub(super) fn show(&self, connection: &Connection) {
        self.proxy.set_text(connection.proxy.as_deref().unwrap_or_default());
        let ca = connection.ca.as_ref().map(|path| path.display().to_string());
        self.ca.set_text(&ca.unwrap_or_default());
        self.headers.replace(connection.headers.clone());
        for (name, source) in &connection.headers {
            self.row.add_row(&self.known_header(name, source));
        }
    }

    /// A header that it has, without its value.
    fn known_header(&self, name: &str, source: &HeaderSource) -> adw::ActionRow {
        let from = match source {
            HeaderSource::Value(_) => gettext("Header, its value is in the settings file"),
            HeaderSource::Env { env } => words::fill(
                &gettext("Header, its value comes from the environment variable {name}"),
                &[("name", env)],
            ),
            HeaderSource::Command { .. } => gettext("Header, its value comes from a command"),
            HeaderSource::Keyring(_) => gettext("Header, its value is in your keyring"),
        };
        let row = adw::ActionRow::builder().use_markup(false).title(name).subtitle(from).build();
        let words = words::fill(&gettext("Remove the header {name}"), &[("name", name)]);
        let remove = icon_button("user-trash-symbolic", &words);
        let (headers, changed) = (Rc::clone(&self.headers), Rc::clone(&self.changed));
        let (name, weak) = (name.to_owned(), row.downgrade());
        let expander = self.row.downgrade();
        remove.connect_clicked(move |_| {
            headers.borrow_mut().remove(&name);
            if let (Some(row), Some(expander)) = (weak.upgrade(), expander.upgrade()) {
                expander.remove(&row);
            }
            changed.tell();
        });
        row.add_suffix(&remove);
        row
    }

    pub(super) fn proxy(&self) -> Option<String> {
        let text = self.proxy.text().trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    pub(super) fn ca(&self) -> Option<PathBuf> {
        let text = self.ca.text().trim().to_owned();
        (!text.is_empty()).then(|| PathBuf::from(text))
    }

    /// The headers that stay.
    pub(super) fn headers(&self) -> BTreeMap<String, HeaderSource> {
        self.headers.borrow().clone()
    }

    /// The new header, whose value goes into the keyring.
    pub(super) fn typed_header(&self) -> Option<(String, Key)> {
        let (name, value) = (self.header.text(), self.value.text());
        let name = name.trim();
        (!name.is_empty() && !value.trim().is_empty()).then(|| (name.to_owned(), Key::new(&value)))
    }

    /// The connection with the new header, for a test.
    pub(super) fn with_typed_header(&self, mut connection: Connection) -> Connection {
        if let Some((name, value)) = self.typed_header() {
            connection.headers.insert(name, HeaderSource::Value(value.expose().to_owned()));
        }
        connection
    }
}
