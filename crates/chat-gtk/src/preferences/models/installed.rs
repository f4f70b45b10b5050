//! Shows the installed models, and the downloads that are listed nowhere else on the page.

use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_core::models::{Download, Installed, title};
use chat_presentation::words::{bytes, fill, sentence};
use gettextrs::gettext;
use gtk::{glib, pango};

use super::super::rows::PreferencesContext;
use crate::models::fetch::{Fetch, Goods};
use crate::models::list::KeyedList;
use crate::models::row::{Act, ModelRow, RowContents};
use crate::models::{Stock, adding, words};

/// The group. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct InstalledModels {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    group: adw::PreferencesGroup,
    models: KeyedList<Installed, ModelRow>,
    coming: KeyedList<Coming, Fetch>,
    none: gtk::Label,
    add: gtk::Button,
    /// The error about a file or about the list.
    trouble: gtk::Label,
    window: glib::WeakRef<adw::PreferencesWindow>,
    manager: Manager,
}

/// What does not change about a download while it runs.
#[derive(Clone, Debug, PartialEq)]
struct Coming {
    id: String,
    name: String,
    repository: String,
}

impl Coming {
    fn of(it: &Download) -> Self {
        Self { id: it.id.clone(), name: it.name.clone(), repository: it.repository.clone() }
    }
}

impl InstalledModels {
    pub(super) fn new(context: &PreferencesContext) -> Self {
        let add = gtk::Button::builder()
            .label(gettext("Add a File…"))
            .valign(gtk::Align::Center)
            .css_classes(["flat"])
            .build();
        let group = adw::PreferencesGroup::builder()
            .title(gettext("On This Computer"))
            .description(gettext("Models that run without a server"))
            .header_suffix(&add)
            .build();
        let models = KeyedList::new(&gettext("Installed Models"), |row: &ModelRow| {
            row.widget().clone().upcast()
        });
        let coming = KeyedList::new(&gettext("Downloads"), Fetch::widget);
        let none =
            remark(&gettext("None yet. Download one below, or add a GGUF file."), "dim-label");
        let trouble = remark("", "error");
        let column = gtk::Box::new(gtk::Orientation::Vertical, 12);
        column.append(&trouble);
        column.append(models.widget());
        column.append(coming.widget());
        column.append(&none);
        group.add(&column);
        let inner = Inner {
            group,
            models,
            coming,
            none,
            add,
            trouble,
            window: context.window.clone(),
            manager: context.manager.clone(),
        };
        let this = Self { inner: Rc::new(inner) };
        let weak = Rc::downgrade(&this.inner);
        this.inner.add.connect_clicked(move |_| {
            let Some(inner) = weak.upgrade() else { return };
            let Some(window) = inner.window.upgrade() else { return };
            let weak = weak.clone();
            adding::choose(window.upcast_ref(), move |files| {
                if let Some(inner) = weak.upgrade() {
                    Self { inner }.add(files);
                }
            });
        });
        this
    }

    pub(super) fn widget(&self) -> &adw::PreferencesGroup {
        &self.inner.group
    }

    /// Focuses the button that adds a file.
    pub(super) fn focus(&self) {
        self.inner.add.grab_focus();
    }

    /// Adds files and shows the outcome.
    pub(super) fn add(&self, files: Vec<PathBuf>) {
        let inner = Rc::clone(&self.inner);
        inner.trouble.set_visible(false);
        adding::add_then(&self.inner.manager, files, move |words, well| {
            if well {
                inner.toast(&words);
            } else {
                inner.say(&words);
            }
        });
    }

    /// Shows an error.
    pub(super) fn say(&self, words: &str) {
        self.inner.say(words);
    }

    /// Shows the installed models, and the downloads that are listed nowhere else on the page.
    pub(super) fn show(&self, stock: &Stock, elsewhere: impl Fn(&Download) -> bool) {
        let inner = &self.inner;
        let lost = inner.models.sync(stock.installed.clone(), |model| inner.row(model));
        let coming: Vec<&Download> = stock.coming().filter(|it| !elsewhere(it)).collect();
        let keys = coming.into_iter().map(Coming::of).collect();
        let lost = lost
            | inner.coming.sync(keys, |it| {
                let row = ModelRow::new("folder-download-symbolic", title(&it.name));
                let goods = Goods::Coming(it.id.clone());
                Fetch::new(&inner.manager, goods, row, it.repository.clone())
            });
        for fetch in inner.coming.rows() {
            fetch.update(stock);
        }
        let nothing = stock.installed.is_empty() && stock.coming().next().is_none();
        inner.none.set_visible(nothing);
        if lost {
            inner.add.grab_focus();
        }
    }
}

impl Inner {
    fn row(self: &Rc<Self>, model: &Installed) -> ModelRow {
        let problem = words::problem(model);
        let icon = match problem {
            Some(_) => "dialog-warning-symbolic",
            None => "natter-computer-symbolic",
        };
        let row = ModelRow::new(icon, &words::title(model));
        let act = if model.owned { Act::Delete } else { Act::Remove };
        row.show(RowContents {
            about: words::about(model),
            wrong: problem.is_some(),
            state: problem,
            acts: vec![act],
            fraction: None,
        });
        let (weak, model) = (Rc::downgrade(self), model.clone());
        row.connect_act(move |act| {
            let Some(inner) = weak.upgrade() else { return };
            match act {
                Act::Delete => inner.ask_deletion(&model),
                _ => inner.remove(&model),
            }
        });
        row
    }

    fn ask_deletion(self: &Rc<Self>, model: &Installed) {
        let Some(parent) = self.window.upgrade() else { return };
        let heading = fill(&gettext("Delete “{model}”?"), &[("model", &words::title(model))]);
        let text = match model.source {
            Some(_) => gettext(
                "This deletes its file ({size}). Chats that used it are kept, and you can download it again.",
            ),
            None => gettext("This deletes its file ({size}). Chats that used it are kept."),
        };
        let body = fill(&text, &[("size", &bytes(model.size))]);
        let dialog = adw::MessageDialog::builder()
            .heading(heading)
            .body(body)
            .transient_for(&parent)
            .modal(true)
            .default_response("cancel")
            .close_response("cancel")
            .build();
        dialog.add_response("cancel", &gettext("_Cancel"));
        dialog.add_response("delete", &gettext("_Delete"));
        dialog.set_response_appearance("delete", adw::ResponseAppearance::Destructive);
        let (weak, model) = (Rc::downgrade(self), model.clone());
        dialog.connect_response(Some("delete"), move |_, _| {
            if let Some(inner) = weak.upgrade() {
                inner.remove(&model);
            }
        });
        dialog.present();
    }

    fn remove(self: &Rc<Self>, model: &Installed) {
        let (inner, model) = (Rc::clone(self), model.clone());
        inner.trouble.set_visible(false);
        glib::spawn_future_local(async move {
            match inner.manager.local_models().remove(&model.name).await {
                Ok(_) if model.owned => {}
                Ok(_) => {
                    let text = gettext("{model} was removed from the list. Its file is kept.");
                    inner.toast(&fill(&text, &[("model", &words::title(&model))]));
                }
                Err(error) => inner.say(&sentence(&error)),
            }
        });
    }

    fn say(&self, words: &str) {
        self.trouble.set_label(words);
        self.trouble.set_visible(true);
    }

    fn toast(&self, words: &str) {
        if let Some(window) = self.window.upgrade() {
            window.add_toast(adw::Toast::new(&glib::markup_escape_text(words)));
        }
    }
}

/// A sentence between the rows.
pub(super) fn remark(words: &str, class: &str) -> gtk::Label {
    gtk::Label::builder()
        .label(words)
        .xalign(0.0)
        .wrap(true)
        .wrap_mode(pango::WrapMode::WordChar)
        .visible(!words.is_empty())
        .css_classes([class])
        .build()
}
