//! Edits a connection, and tests it before it is saved.

mod requests;
pub(super) mod sentences;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use adw::prelude::*;
use chat_core::client::check_address;
use chat_core::error::{Error, Kind};
use chat_core::event::{ConnectionState, Health};
use chat_core::manager::Manager;
use chat_core::settings::{Connection, ConnectionKind, Key, KeySource, KeyStorage, KeyringFailure};
use chat_presentation::words;
use gettextrs::gettext;
use gtk::glib;

use self::requests::Requests;
use super::naming;
use super::rows::close_with_escape;
use crate::accessible;

/// The protocols of a connection, in the order of the row; the first one means automatic detection.
fn kinds() -> impl Iterator<Item = Option<ConnectionKind>> {
    std::iter::once(None).chain(ConnectionKind::ALL.map(Some))
}

/// The dialog's size, in pixels at the default font: with space for the longest test result, since
/// GTK does not let a window grow with its content.
const SIZE: (i32, i32) = (480, 640);
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
    test: gtk::Button,
    save: gtk::Button,
    cancel: gtk::Button,
    title: adw::WindowTitle,
    result: gtk::Label,
    /// The existing connection, if there is one.
    old: RefCell<Option<ConnectionState>>,
    /// Whether it is being saved; its server may be asked first.
    saving: Cell<bool>,
    manager: Manager,
}

/// Opens the settings of an existing or new connection.
pub(super) fn open(parent: &gtk::Window, manager: &Manager, old: Option<ConnectionState>) {
    let editor = Rc::new(Editor::new(parent, manager.clone(), old));
    editor.fill();
    editor.connect();
    editor.check();
    editor.window.present();
    editor.url.grab_focus();
}

impl Editor {
    fn new(parent: &gtk::Window, manager: Manager, old: Option<ConnectionState>) -> Self {
        let words = if old.is_some() { gettext("Connection") } else { gettext("New Connection") };
        let title = adw::WindowTitle::new(&words, "");
        let url = adw::EntryRow::builder().title(gettext("Address")).build();
        url.set_input_purpose(gtk::InputPurpose::Url);
        let name = adw::EntryRow::builder().title(gettext("Name")).build();
        let titles = gtk::StringList::new(&[]);
        for kind in kinds() {
            titles.append(&kind.map_or_else(|| gettext("Automatic"), words::protocol));
        }
        let kind = adw::ComboRow::builder().title(gettext("Protocol")).model(&titles).build();
        let key = adw::PasswordEntryRow::builder().title(gettext("Key")).build();

        let server = adw::PreferencesGroup::builder()
            .description(gettext(
                "For example, http://127.0.0.1:11434 or https://openrouter.ai/api/v1",
            ))
            .build();
        server.add(&url);
        server.add(&name);
        server.add(&kind);
        let secret =
            adw::PreferencesGroup::builder().description(sentences::key(old.as_ref())).build();
        secret.add(&key);
        let unlisted = adw::PreferencesGroup::builder()
            .description(gettext(
                "Model names, separated by commas. Needed only for models that the server doesn’t list.",
            ))
            .build();
        let models = adw::EntryRow::builder().title(gettext("Models")).build();
        if let Some(text) = models.delegate() {
            accessible::set_label(&text, &gettext("Models"));
        }
        unlisted.add(&models);
        let requests = Requests::new();
        let test = gtk::Button::builder()
            .label(gettext("_Test"))
            .use_underline(true)
            .halign(gtk::Align::Start)
            .build();
        let result = gtk::Label::builder()
            .xalign(0.0)
            .wrap(true)
            .wrap_mode(gtk::pango::WrapMode::WordChar)
            .selectable(true)
            .build();
        let outcome = gtk::Box::new(gtk::Orientation::Vertical, 10);
        outcome.append(&test);
        outcome.append(&result);
        let column = gtk::Box::builder()
            .orientation(gtk::Orientation::Vertical)
            .spacing(18)
            .margin_top(18)
            .margin_bottom(24)
            .margin_start(18)
            .margin_end(18)
            .build();
        column.append(&server);
        column.append(&secret);
        column.append(&unlisted);
        column.append(&requests.group);
        column.append(&outcome);

        let header = adw::HeaderBar::builder()
            .css_classes(["flat"])
            .show_start_title_buttons(false)
            .show_end_title_buttons(false)
            .title_widget(&title)
            .build();
        let cancel = gtk::Button::builder().label(gettext("_Cancel")).use_underline(true).build();
        cancel.set_action_name(Some("window.close"));
        let save = gtk::Button::builder()
            .label(gettext("_Save"))
            .use_underline(true)
            .css_classes(["suggested-action"])
            .build();
        header.pack_start(&cancel);
        header.pack_end(&save);
        let scroller = gtk::ScrolledWindow::builder()
            .child(&column)
            .hscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .vexpand(true)
            .build();
        let content = gtk::Box::new(gtk::Orientation::Vertical, 0);
        content.append(&header);
        content.append(&scroller);
        let window = adw::Window::builder()
            .transient_for(parent)
            .modal(true)
            .destroy_with_parent(true)
            .default_width(SIZE.0)
            .default_height(SIZE.1)
            .title(&words)
            .content(&content)
            .build();
        let old = RefCell::new(old);
        let saving = Cell::new(false);
        Self {
            window,
            name,
            url,
            kind,
            key,
            models,
            requests,
            test,
            save,
            cancel,
            title,
            result,
            old,
            saving,
            manager,
        }
    }

    fn fill(&self) {
        if let Some(ConnectionState { connection, .. }) = &*self.old.borrow() {
            self.url.set_text(&connection.url);
            self.name.set_text(&connection.name);
            self.models.set_text(&connection.models.join(", "));
            self.requests.show(connection);
            let at = kinds().position(|kind| kind == connection.kind).unwrap_or(0);
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
            let result =
                this.manager.connections().test(&this.connection(), this.typed_key()).await;
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
        (Connection { name: String::new(), ..self.connection() }, self.key.text().into())
    }

    fn run_save(self: &Rc<Self>) {
        let this = Rc::clone(self);
        self.saving.set(true);
        self.save.set_sensitive(false);
        glib::spawn_future_local(async move {
            let stored = this.store().await;
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
            let asking = connections.test(&connection, key.clone());
            let report = glib::future_with_timeout(NAMING, asking).await;
            let program = report.ok().and_then(Result::ok).and_then(|report| report.program);
            connection.name = naming::free_for(&self.manager, &connection.url, program);
        }
        // A discovered connection is not in the settings yet, so it is added rather than replaced.
        let old = self.old.borrow().clone().filter(|old| !old.discovered);
        let replaces = old.as_ref().map(|old| old.connection.name.as_str());
        let destination =
            self.manager.connections().save(connection.clone(), key, replaces).await?;
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
