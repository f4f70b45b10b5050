//! The settings of one connection, with a test before they are kept.

use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::{Error, Kind};
use chat_core::event::ConnectionState;
use chat_core::manager::{Manager, TestReport};
use chat_core::settings::{Connection, ConnectionKind, Kept, Key, KeySource};
use chat_edge::words;
use gettextrs::{gettext, ngettext};
use gtk::glib;

/// What a connection may speak, in the order of the row; the first is found out.
const KINDS: [Option<ConnectionKind>; 3] =
    [None, Some(ConnectionKind::Ollama), Some(ConnectionKind::OpenAi)];

#[derive(Debug)]
struct Editor {
    window: adw::Window,
    name: adw::EntryRow,
    url: adw::EntryRow,
    kind: adw::ComboRow,
    key: adw::PasswordEntryRow,
    test: gtk::Button,
    save: gtk::Button,
    result: gtk::Label,
    /// The connection as it was, where it is changed.
    old: Option<ConnectionState>,
    manager: Manager,
}

/// Opens the settings of a connection, or of a new one.
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
        let title = if old.is_some() { gettext("Connection") } else { gettext("Add a Connection") };
        let url = adw::EntryRow::builder().title(gettext("Address")).build();
        url.set_input_purpose(gtk::InputPurpose::Url);
        let name = adw::EntryRow::builder().title(gettext("Name")).build();
        let kinds = gtk::StringList::new(&[
            gettext("Automatic").as_str(),
            "Ollama",
            gettext("OpenAI and what is compatible").as_str(),
        ]);
        let kind = adw::ComboRow::builder().title(gettext("Protocol")).model(&kinds).build();
        let key = adw::PasswordEntryRow::builder().title(gettext("Key")).build();

        let server = adw::PreferencesGroup::builder()
            .description(gettext("Such as http://127.0.0.1:11434 or https://openrouter.ai/api/v1"))
            .build();
        server.add(&url);
        server.add(&name);
        server.add(&kind);
        let secret = adw::PreferencesGroup::builder().description(key_words(old.as_ref())).build();
        secret.add(&key);
        let test = gtk::Button::builder()
            .label(gettext("_Test"))
            .use_underline(true)
            .halign(gtk::Align::Start)
            .build();
        let result = gtk::Label::builder().xalign(0.0).wrap(true).selectable(true).build();
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
        column.append(&outcome);

        let header = adw::HeaderBar::builder()
            .css_classes(["flat"])
            .show_start_title_buttons(false)
            .show_end_title_buttons(false)
            .title_widget(&adw::WindowTitle::new(&title, ""))
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
            .default_width(480)
            .title(&title)
            .content(&content)
            .build();
        Self { window, name, url, kind, key, test, save, result, old, manager }
    }

    fn fill(&self) {
        if let Some(ConnectionState { connection, .. }) = &self.old {
            self.url.set_text(&connection.url);
            self.name.set_text(&connection.name);
            let at = KINDS.iter().position(|kind| *kind == connection.kind).unwrap_or(0);
            self.kind.set_selected(at as u32);
        }
    }

    fn connect(self: &Rc<Self>) {
        // The window keeps its editor alive, and nothing else does.
        let this = Rc::clone(self);
        self.test.connect_clicked(move |_| this.run_test());
        let this = Rc::downgrade(self);
        self.save.connect_clicked(move |_| {
            if let Some(this) = this.upgrade() {
                this.run_save();
            }
        });
        for row in [&self.url, &self.name] {
            let this = Rc::downgrade(self);
            row.connect_changed(move |_| {
                if let Some(this) = this.upgrade() {
                    this.check();
                }
            });
            let save = self.save.clone();
            row.connect_entry_activated(move |_| {
                save.emit_clicked();
            });
        }
        let keys = gtk::EventControllerKey::new();
        let window = self.window.downgrade();
        keys.connect_key_pressed(move |_, key, _, _| {
            if key == gtk::gdk::Key::Escape {
                if let Some(window) = window.upgrade() {
                    window.close();
                }
                return glib::Propagation::Stop;
            }
            glib::Propagation::Proceed
        });
        self.window.add_controller(keys);
    }

    /// Nothing can be tested without an address, nor a slash stand in a name.
    fn check(&self) {
        let has_url = !self.url.text().trim().is_empty();
        let bad_name = self.name.text().contains('/');
        self.test.set_sensitive(has_url);
        self.save.set_sensitive(has_url && !bad_name);
        if bad_name {
            self.name.add_css_class("error");
            self.say(&gettext("A name holds no slash."), false);
        } else if self.name.has_css_class("error") {
            self.name.remove_css_class("error");
            self.say("", true);
        }
    }

    fn connection(&self) -> Connection {
        let url = self.url.text().trim().to_owned();
        let name = self.name.text().trim().to_owned();
        let old = self.old.as_ref().map(|old| &old.connection);
        let key = match (self.key.text().is_empty(), old) {
            (false, _) => KeySource::Keyring,
            (true, Some(old)) => old.key.clone(),
            (true, None) => KeySource::None,
        };
        Connection {
            name: if name.is_empty() { name_from(&url) } else { name },
            kind: KINDS.get(self.kind.selected() as usize).copied().flatten(),
            url,
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
        self.say(&gettext("Asking the server…"), true);
        glib::spawn_future_local(async move {
            let result = this.manager.test_connection(&this.connection(), this.typed_key()).await;
            match result {
                Ok(report) => this.say(&report_words(&report), true),
                Err(error) => this.say(&words::sentence(&error), false),
            }
            this.test.set_sensitive(true);
        });
    }

    fn run_save(self: &Rc<Self>) {
        let this = Rc::clone(self);
        self.save.set_sensitive(false);
        glib::spawn_future_local(async move {
            match this.store().await {
                Ok(Some(Kept::ThisRun)) => {
                    // The person must know before the window goes.
                    this.say(&words::kept(Kept::ThisRun), true);
                    this.key.set_text("");
                    this.save.set_visible(false);
                }
                Ok(_) => this.window.close(),
                Err(error) => {
                    this.say(&words::sentence(&error), false);
                    this.save.set_sensitive(true);
                }
            }
        });
    }

    async fn store(&self) -> Result<Option<Kept>, Error> {
        let connection = self.connection();
        if connection.name.is_empty() {
            return Err(Kind::InvalidUrl.into());
        }
        // One that was found is not in the settings yet: it is added, not replaced.
        let replaces =
            self.old.as_ref().filter(|old| !old.found).map(|old| old.connection.name.clone());
        self.manager.save_connection(connection, self.typed_key(), replaces.as_deref()).await
    }

    fn say(&self, words: &str, well: bool) {
        self.result.set_label(words);
        self.result.set_css_classes(if well { &[] } else { &["error"] });
    }
}

/// Where the key is kept, in words.
fn key_words(old: Option<&ConnectionState>) -> String {
    match old.map(|old| &old.connection.key) {
        Some(KeySource::Env(variable)) => words::fill(
            &gettext(
                "The key is taken from the environment variable {name}. One that is typed here replaces that.",
            ),
            &[("name", variable)],
        ),
        Some(KeySource::Command(_)) => {
            gettext("The key is taken from a command. One that is typed here replaces that.")
        }
        Some(KeySource::Keyring) => {
            gettext("The key is in your keyring. One that is typed here replaces it.")
        }
        Some(KeySource::None) | None => gettext(
            "Only where the server wants one. It is kept in your keyring; where there is none, only until Natter ends.",
        ),
    }
}

fn report_words(report: &TestReport) -> String {
    let count = u32::try_from(report.models.len()).unwrap_or(u32::MAX);
    let text = ngettext(
        "It works: {kind}, {n} model, answered in {ms} ms.",
        "It works: {kind}, {n} models, answered in {ms} ms.",
        count,
    );
    let kind = match report.kind {
        ConnectionKind::Ollama => "Ollama".to_owned(),
        ConnectionKind::OpenAi => gettext("compatible with OpenAI"),
    };
    words::fill(
        &text,
        &[("kind", &kind), ("n", &count.to_string()), ("ms", &report.took.as_millis().to_string())],
    )
}

/// A name for a server that was given none: its host without what says nothing.
fn name_from(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = host.strip_prefix("www.").or_else(|| host.strip_prefix("api.")).unwrap_or(host);
    host.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_without_a_name_is_called_after_its_host() {
        assert_eq!(name_from("https://api.openai.com/v1"), "openai.com");
        assert_eq!(name_from("http://127.0.0.1:8080"), "127.0.0.1:8080");
        assert_eq!(name_from("https://me:secret@models.example/v1"), "models.example");
        assert_eq!(name_from("box.local:11434"), "box.local:11434");
    }
}
