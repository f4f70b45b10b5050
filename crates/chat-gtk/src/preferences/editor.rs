//! Edits a connection, and tests it before it is saved.

mod advanced;
mod build;
mod requests;
pub(super) mod sentences;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use adw::prelude::*;
use chat_core::client::{Preset, check_address};
use chat_core::error::{Error, Kind};
use chat_core::event::{ConnectionState, Health};
use chat_core::manager::Manager;
use chat_core::settings::{Connection, ConnectionKind, Key, KeySource, KeyStorage, KeyringFailure};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use self::advanced::Advanced;
use self::requests::Requests;
use super::naming;
use crate::close_keys::close_with_escape;

/// The protocols of a connection, in the order of the row; the first one means automatic detection.
fn kinds() -> impl Iterator<Item = Option<ConnectionKind>> {
    std::iter::once(None).chain(ConnectionKind::ALL.map(Some))
}

/// How long a server may take to report its program's name, if the connection is to be named after
/// it.
const NAMING: Duration = Duration::from_secs(3);

#[derive(Debug)]
struct Editor {
    window: adw::Window,
    name: adw::EntryRow,
    url: adw::EntryRow,
    kind: adw::ComboRow,
    key: adw::PasswordEntryRow,
    /// Names of models that the server does not list.
    models: adw::EntryRow,
    requests: Requests,
    advanced: Advanced,
    test: gtk::Button,
    save: gtk::Button,
    cancel: gtk::Button,
    title: adw::WindowTitle,
    result: gtk::Label,
    /// The known server that it is to, if it is new and was chosen.
    preset: Option<&'static Preset>,
    /// The existing connection, if there is one.
    old: RefCell<Option<ConnectionState>>,
    /// Whether it is being saved; its server may be asked first.
    saving: Cell<bool>,
    manager: Manager,
}

/// Opens the settings of an existing or new connection.
pub(super) fn open(parent: &gtk::Window, manager: &Manager, old: Option<ConnectionState>) {
    let editor = show(Editor::new(parent, manager.clone(), old, None));
    editor.url.grab_focus();
}

/// Opens the settings of a new connection to a known server: only its key is missing.
pub(super) fn open_preset(parent: &gtk::Window, manager: &Manager, preset: &'static Preset) {
    let editor = show(Editor::new(parent, manager.clone(), None, Some(preset)));
    if preset.key_url.is_some() {
        editor.key.grab_focus();
    } else {
        editor.save.grab_focus();
    }
}

fn show(editor: Editor) -> Rc<Editor> {
    let editor = Rc::new(editor);
    editor.fill();
    editor.connect();
    editor.check();
    editor.window.present();
    editor
}

impl Editor {
    fn fill(&self) {
        if let Some(ConnectionState { connection, .. }) = &*self.old.borrow() {
            self.url.set_text(&connection.url);
            self.name.set_text(&connection.name);
            self.models.set_text(&connection.models.join(", "));
            self.requests.show(connection);
            self.advanced.show(connection);
            let at = kinds().position(|kind| kind == connection.kind).unwrap_or(0);
            self.kind.set_selected(at as u32);
        } else if let Some(preset) = self.preset {
            self.url.set_text(&preset.url);
            let name = naming::free_named(&self.manager, &preset.name);
            self.name.set_text(&name);
            let at = kinds().position(|kind| kind == Some(preset.kind)).unwrap_or(0);
            self.kind.set_selected(at as u32);
        }
    }

    fn connect(self: &Rc<Self>) {
        // The window keeps its editor alive as long as it exists.
        let editor = Cell::new(Some(Rc::clone(self)));
        self.window.connect_unrealize(move |_| drop(editor.take()));
        let this = Rc::downgrade(self);
        self.test.connect_clicked(move |_| {
            if let Some(this) = this.upgrade() {
                this.run_test();
            }
        });
        let this = Rc::downgrade(self);
        self.save.connect_clicked(move |_| {
            if let Some(this) = this.upgrade() {
                this.run_save();
            }
        });
        for row in [&self.url, &self.name, self.key.upcast_ref(), &self.models] {
            let this = Rc::downgrade(self);
            row.connect_changed(move |_| {
                if let Some(this) = this.upgrade() {
                    this.check();
                }
            });
        }
        let this = Rc::downgrade(self);
        self.advanced.connect_changed(move || {
            if let Some(this) = this.upgrade() {
                this.check();
            }
        });
        let this = Rc::downgrade(self);
        self.kind.connect_selected_notify(move |_| {
            if let Some(this) = this.upgrade() {
                this.check();
            }
        });
        for row in [&self.url, &self.name, self.key.upcast_ref(), &self.models] {
            let save = self.save.clone();
            row.connect_entry_activated(move |_| {
                if save.is_sensitive() && save.get_visible() {
                    save.emit_clicked();
                }
            });
        }
        close_with_escape(&self.window);
    }

    /// A connection can be tested or saved only with a valid address, and saved only under a name
    /// without a slash that is not the built-in engine's.
    fn check(&self) {
        let url = self.url.text();
        let given = !url.trim().is_empty();
        let bad_url = given && check_address(&self.connection()).is_err();
        let name = self.connection().name;
        let (has_slash, is_reserved) = (name.contains('/'), words::is_engine_name(&name));
        let bad_name = has_slash || is_reserved;
        mark(&self.url, bad_url);
        mark(&self.name, bad_name);
        self.test.set_sensitive(given && !bad_url);
        self.save.set_sensitive(given && !bad_url && !bad_name && !self.saving.get());
        if bad_url {
            self.say(&words::sentence(&Kind::InvalidUrl.into()), false);
        } else if has_slash {
            self.say(&gettext("Names can’t contain a slash."), false);
        } else if is_reserved {
            self.say(&words::sentence(&Kind::NameTaken { name }.into()), false);
        } else {
            self.say("", true);
        }
    }

    fn connection(&self) -> Connection {
        let url = self.url.text().trim().to_owned();
        let name = self.name.text().trim().to_owned();
        let key = match (self.key.text().is_empty(), &*self.old.borrow()) {
            (false, _) => KeySource::Keyring,
            (true, Some(old)) => old.connection.key.clone(),
            (true, None) => KeySource::None,
        };
        let models = self.models.text();
        let models = models.split(',').map(str::trim).filter(|name| !name.is_empty());
        Connection {
            name,
            kind: kinds().nth(self.kind.selected() as usize).flatten(),
            url,
            models: models.map(str::to_owned).collect(),
            requests: self.requests.chosen(self.old.borrow().as_ref().map(|old| &old.connection)),
            key,
            headers: self.advanced.headers(),
            proxy: self.advanced.proxy(),
            ca: self.advanced.ca(),
        }
    }

    fn typed_key(&self) -> Option<Key> {
        let text = self.key.text();
        (!text.trim().is_empty()).then(|| Key::new(&text))
    }

    fn run_test(self: &Rc<Self>) {
        let this = Rc::clone(self);
        self.test.set_sensitive(false);
        self.say(&gettext("Testing the connection…"), true);
        glib::spawn_future_local(async move {
            let tested = this.tested();
            let connection = this.advanced.with_typed_header(this.connection());
            let result = this.manager.connections().test(&connection, this.typed_key()).await;
            if this.tested() != tested {
                // The result is not about the current fields.
                return;
            }
            match result {
                Ok(report) => {
                    if this.name.text().trim().is_empty() {
                        let name =
                            naming::free_for(&this.manager, &this.url.text(), report.program);
                        this.name.set_text(&name);
                    }
                    this.say(&sentences::report(&report), true);
                }
                Err(error) => this.say(&words::sentence(&error), false),
            }
            this.test.set_sensitive(true);
        });
    }

    /// What a test uses: everything but the name.
    fn tested(&self) -> (Connection, String) {
        let connection = self.advanced.with_typed_header(self.connection());
        (Connection { name: String::new(), ..connection }, self.key.text().into())
    }

    fn run_save(self: &Rc<Self>) {
        let this = Rc::clone(self);
        self.saving.set(true);
        self.save.set_sensitive(false);
        glib::spawn_future_local(async move {
            // It is large, and lives as long as the window may wait.
            let stored = Box::pin(this.store()).await;
            this.saving.set(false);
            match stored {
                Ok((connection, Some(destination @ KeyStorage::ThisRun(why)))) => {
                    this.show_added(connection, destination, why);
                }
                Ok(_) => this.window.close(),
                Err(error) => {
                    this.check();
                    this.say(&words::sentence(&error), false);
                }
            }
        });
    }

    /// Keeps the connection, and gives it as it was kept.
    async fn store(&self) -> Result<(Connection, Option<KeyStorage>), Error> {
        let mut connection = self.connection();
        let key = self.typed_key();
        if connection.name.is_empty() {
            let connections = self.manager.connections();
            let asked = self.advanced.with_typed_header(connection.clone());
            let asking = connections.test(&asked, key.clone());
            let report = glib::future_with_timeout(NAMING, Box::pin(asking)).await;
            let program = report.ok().and_then(Result::ok).and_then(|report| report.program);
            connection.name = naming::free_for(&self.manager, &connection.url, program);
        }
        // A discovered connection is not in the settings yet, so it is added rather than replaced.
        let old = self.old.borrow().clone().filter(|old| !old.discovered);
        let replaces = old.as_ref().map(|old| old.connection.name.as_str());
        let headers = self.advanced.typed_header().into_iter().collect();
        let connections = self.manager.connections();
        let destination = connections.save_with(connection.clone(), key, headers, replaces).await?;
        Ok((connection, destination))
    }

    /// The connection is there, but its key lasts for this run only: the person must know before
    /// the window goes, and may try again where there is a keyring.
    fn show_added(&self, connection: Connection, destination: KeyStorage, why: KeyringFailure) {
        self.title.set_title(&connection.name);
        self.window.set_title(Some(&connection.name));
        self.name.set_text(&connection.name);
        let text = gettext("“{name}” is set up. {key}");
        let words = [("name", connection.name.as_str()), ("key", &words::key_storage(destination))];
        let words = words::fill(&text, &words);
        let state = ConnectionState {
            connection,
            discovered: false,
            built_in: false,
            health: Health::Checking,
        };
        self.old.replace(Some(state));
        self.cancel.set_label(&gettext("_Close"));
        self.say(&words, true);
        let again = why != KeyringFailure::Absent;
        self.save.set_visible(again);
        self.save.set_sensitive(again);
    }

    fn say(&self, words: &str, well: bool) {
        self.result.set_label(words);
        self.result.set_css_classes(if well { &[] } else { &["error"] });
    }
}

fn mark(row: &adw::EntryRow, wrong: bool) {
    if wrong {
        row.add_css_class("error");
    } else {
        row.remove_css_class("error");
    }
}

#[cfg(test)]
mod tests;
