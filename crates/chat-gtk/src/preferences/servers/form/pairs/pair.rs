//! Shows one variable or header. Its value is hidden while it is a secret.

use std::cell::Cell;
use std::rc::Rc;

use adw::prelude::*;
use chat_mcp::config::Template;
use chat_mcp::draft::DraftPair;
use chat_mcp::import::{looks_secret, names_secret};
use chat_presentation::words;
use gettextrs::gettext;

use super::super::super::super::rows::icon_button;
use super::super::Changed;
use super::super::section::{entry, name};
use super::PairWords;
use crate::accessible;

/// The rows of one.
pub(super) struct Pair {
    name: adw::EntryRow,
    plain: adw::EntryRow,
    hidden: adw::PasswordEntryRow,
    secret: gtk::ToggleButton,
    remove: gtk::Button,
    /// What the list calls one.
    one: String,
    /// The reference to the secret that it has in the keyring already.
    kept: Option<Template>,
    is_decided: Cell<bool>,
    /// Whether the program presses the button for secrets.
    is_guessing: Cell<bool>,
    changed: Changed,
}

impl Pair {
    pub(super) fn new(words: &PairWords, filled: &DraftPair, changed: Changed) -> Rc<Self> {
        let secret = gtk::ToggleButton::builder()
            .icon_name("channel-secure-symbolic")
            .tooltip_text(gettext("Secret"))
            .valign(gtk::Align::Center)
            .css_classes(["flat"])
            .build();
        let remove = icon_button("user-trash-symbolic", &gettext("Remove"));
        let named = entry(&words.one);
        named.add_suffix(&secret);
        named.add_suffix(&remove);
        let title = match &filled.kept {
            Some(_) => gettext("Value (in Your Keyring)"),
            None => gettext("Secret Value"),
        };
        let hidden = adw::PasswordEntryRow::builder().title(title).build();
        let this = Rc::new(Self {
            name: named,
            plain: entry(&gettext("Value")),
            hidden,
            secret,
            remove,
            one: words.one.clone(),
            kept: filled.kept.clone(),
            is_decided: Cell::new(filled.is_decided),
            is_guessing: Cell::new(false),
            changed,
        });
        this.name.set_text(&filled.name);
        this.plain.set_text(if filled.is_secret { "" } else { &filled.text });
        this.hidden.set_text(if filled.is_secret { &filled.text } else { "" });
        this.secret.set_active(filled.is_secret);
        this.show();
        this.call();
        this.connect();
        this
    }

    fn connect(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        self.name.connect_changed(move |_| {
            if let Some(this) = weak.upgrade() {
                this.guess();
                this.call();
                (this.changed)();
            }
        });
        for row in [&self.plain, self.hidden.upcast_ref()] {
            let weak = Rc::downgrade(self);
            row.connect_changed(move |_| {
                if let Some(this) = weak.upgrade() {
                    (this.changed)();
                }
            });
        }
        let weak = Rc::downgrade(self);
        self.secret.connect_toggled(move |_| {
            if let Some(this) = weak.upgrade() {
                this.is_decided.set(this.is_decided.get() || !this.is_guessing.get());
                this.take_value_along();
                this.show();
                (this.changed)();
            }
        });
    }

    pub(super) fn connect_removed(&self, removed: impl Fn() + 'static) {
        self.remove.connect_clicked(move |_| removed());
    }

    /// Its rows from above.
    pub(super) fn rows(&self) -> [gtk::Widget; 3] {
        [self.name.clone().upcast(), self.plain.clone().upcast(), self.hidden.clone().upcast()]
    }

    pub(super) fn grab_focus(&self) {
        self.name.grab_focus();
    }

    pub(super) fn filled(&self) -> DraftPair {
        let is_secret = self.secret.is_active();
        let text = if is_secret { self.hidden.text() } else { self.plain.text() };
        DraftPair {
            name: self.name.text().into(),
            text: text.into(),
            is_secret,
            is_decided: self.is_decided.get(),
            kept: self.kept.clone(),
        }
    }

    /// Takes it for a secret if it is called like one, until the user says whether it is.
    fn guess(&self) {
        if self.is_decided.get() {
            return;
        }
        let DraftPair { name, text, .. } = self.filled();
        let is_secret =
            if text.is_empty() { names_secret(&name) } else { looks_secret(&name, &text) };
        self.is_guessing.set(true);
        self.secret.set_active(is_secret);
        self.is_guessing.set(false);
    }

    /// Takes the value from the row that goes to the one that comes. A reference to a secret is seen only where it can be
    /// changed.
    fn take_value_along(&self) {
        let kept = self.kept.as_ref().map(Template::source);
        if self.secret.is_active() {
            let text = self.plain.text();
            self.hidden.set_text(if kept == Some(text.as_str()) { "" } else { &text });
        } else {
            let text = self.hidden.text();
            self.plain.set_text(if text.is_empty() { kept.unwrap_or_default() } else { &text });
        }
    }

    /// Shows the row for the value that is used.
    fn show(&self) {
        let is_secret = self.secret.is_active();
        self.plain.set_visible(!is_secret);
        self.hidden.set_visible(is_secret);
    }

    /// Names its parts by its own name, for screen readers.
    fn call(&self) {
        let typed = self.name.text();
        let own = if typed.trim().is_empty() { self.one.as_str() } else { typed.trim() };
        let about = |text: String| words::fill(&text, &[("name", own)]);
        let value = about(gettext("Value of {name}"));
        name(&self.plain, &value);
        name(&self.hidden, &value);
        accessible::set_label(&self.secret, &about(gettext("{name} Is Secret")));
        accessible::set_label(&self.remove, &about(gettext("Remove {name}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(filled: &DraftPair) -> Rc<Pair> {
        crate::init();
        adw::init().expect("a display");
        Pair::new(&PairWords::of_variables(), filled, Rc::new(|| {}))
    }

    #[gtk::test]
    fn one_that_is_called_like_a_secret_is_one_until_somebody_decides() {
        let pair = pair(&DraftPair::default());
        pair.plain.set_text("abcdef");
        pair.name.set_text("API_TOKEN");
        assert!(pair.hidden.get_visible() && !pair.plain.get_visible());
        assert_eq!(pair.filled().text, "abcdef");
        assert!(!pair.filled().is_decided);
        pair.name.set_text("LEVEL");
        assert!(!pair.filled().is_secret);
        pair.secret.set_active(true);
        pair.name.set_text("COLOR");
        let filled = pair.filled();
        assert!(filled.is_secret && filled.is_decided);
        assert_eq!(filled.text, "abcdef");
    }

    #[gtk::test]
    fn a_secret_in_the_keyring_is_replaced_or_seen_as_a_reference() {
        let reference = Template::parse("${keyring:notes/TOKEN}").unwrap();
        let pair = pair(&DraftPair::of("TOKEN", &reference));
        assert!(pair.hidden.get_visible() && pair.hidden.text().is_empty());
        pair.secret.set_active(false);
        assert_eq!(pair.plain.text(), "${keyring:notes/TOKEN}");
        pair.secret.set_active(true);
        assert_eq!(pair.hidden.text(), "");
        pair.hidden.set_text("new");
        assert_eq!(pair.filled().text, "new");
    }
}
