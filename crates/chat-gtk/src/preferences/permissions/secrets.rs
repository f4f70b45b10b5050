//! Shows which files may hold secrets, and lets the user edit the list.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::permission::SecretFiles;
use chat_core::settings::Settings;
use chat_presentation::words;
use gettextrs::{gettext, ngettext};
use gtk::glib;

use super::super::rows::{PreferencesContext, icon_button, plain_row};

/// The group. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct SecretsGroup(Rc<Inner>);

#[derive(Debug)]
struct Inner {
    group: adw::PreferencesGroup,
    list: adw::ExpanderRow,
    reset: gtk::Button,
    rows: RefCell<Vec<adw::ActionRow>>,
    shown: RefCell<Option<SecretFiles>>,
    context: PreferencesContext,
}

impl SecretsGroup {
    pub(super) fn new(context: &PreferencesContext) -> Self {
        let reset = gtk::Button::builder()
            .label(gettext("_Reset"))
            .use_underline(true)
            .valign(gtk::Align::Center)
            .css_classes(["flat"])
            .build();
        let group = adw::PreferencesGroup::builder()
            .title(gettext("Secret Files"))
            .description(gettext("Tools ask before reading these. Commands can’t see them."))
            .header_suffix(&reset)
            .build();
        let list = adw::ExpanderRow::builder().title(gettext("File Names")).build();
        let add = adw::EntryRow::builder()
            .title(gettext("Add a name or pattern, such as *.pem"))
            .show_apply_button(true)
            .build();
        list.add_row(&add);
        group.add(&list);
        let inner = Rc::new(Inner {
            group,
            list,
            reset,
            rows: RefCell::default(),
            shown: RefCell::default(),
            context: context.clone(),
        });
        let weak = Rc::downgrade(&inner);
        add.connect_apply(move |row| {
            if let Some(inner) = weak.upgrade() {
                inner.add(row);
            }
        });
        let weak = Rc::downgrade(&inner);
        inner.reset.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.change(SecretFiles::default());
            }
        });
        let this = Self(inner);
        this.fill();
        this
    }

    pub(super) fn widget(&self) -> &adw::PreferencesGroup {
        &self.0.group
    }

    /// Shows the current list.
    pub(super) fn fill(&self) {
        self.0.fill();
    }
}

impl Inner {
    fn fill(self: &Rc<Self>) {
        let files = self.context.manager.settings().current().permissions.secrets.clone();
        if self.shown.borrow().as_ref() == Some(&files) {
            return;
        }
        for row in self.rows.take() {
            self.list.remove(&row);
        }
        let count = u32::try_from(files.patterns().len()).unwrap_or(u32::MAX);
        let text = ngettext("{count} pattern", "{count} patterns", count);
        self.list.set_subtitle(&words::fill(&text, &[("count", &count.to_string())]));
        let rows: Vec<_> = files.patterns().iter().map(|pattern| self.row(pattern)).collect();
        for row in &rows {
            self.list.add_row(row);
        }
        self.reset.set_sensitive(files != SecretFiles::default());
        self.rows.replace(rows);
        self.shown.replace(Some(files));
    }

    fn row(self: &Rc<Self>, pattern: &str) -> adw::ActionRow {
        let row = match pattern.strip_prefix('!') {
            Some(name) => plain_row(name, &gettext("Not a secret")),
            None => plain_row(pattern, ""),
        };
        let remove = icon_button("user-trash-symbolic", &gettext("Remove"));
        let (weak, pattern) = (Rc::downgrade(self), pattern.to_owned());
        remove.connect_clicked(move |_| {
            let Some(inner) = weak.upgrade() else { return };
            let known = inner.context.manager.settings().current().permissions.secrets.clone();
            let others = known.patterns().iter().filter(|other| **other != pattern).cloned();
            // They were valid patterns before.
            if let Ok(files) = SecretFiles::new(others) {
                inner.change(files);
            }
        });
        row.add_suffix(&remove);
        row
    }

    /// Adds what was typed.
    fn add(self: &Rc<Self>, row: &adw::EntryRow) {
        let text = row.text();
        let known = self.context.manager.settings().current().permissions.secrets.clone();
        let all = known.patterns().iter().cloned().chain([text.trim().to_owned()]);
        match SecretFiles::new(all) {
            Ok(files) => {
                row.set_text("");
                self.change(files);
            }
            Err(error) => {
                let text = gettext("“{pattern}” isn’t a file name or pattern.");
                self.context.tell(&words::fill(&text, &[("pattern", &error.pattern)]));
            }
        }
    }

    fn change(self: &Rc<Self>, files: SecretFiles) {
        let this = Rc::clone(self);
        glib::spawn_future_local(async move {
            let change = move |settings: &mut Settings| settings.permissions.secrets = files;
            if this.context.change(change).await {
                this.fill();
            }
        });
    }
}
