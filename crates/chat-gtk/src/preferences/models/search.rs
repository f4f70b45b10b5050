//! Searches the hub for any other model.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use chat_core::manager::Manager;
use chat_core::models::{RemoteModel, Repository};
use chat_presentation::words::{bytes, fill, sentence};
use gettextrs::{gettext, ngettext};
use gtk::glib;

use super::installed::remark;
use crate::accessible;
use crate::models::Stock;
use crate::models::fetch::{Fetch, Goods};
use crate::models::machine::{self, Room};
use crate::models::row::ModelRow;
use crate::models::words;

/// The group. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Search {
    inner: Rc<Inner>,
}

#[derive(Debug)]
struct Inner {
    group: adw::PreferencesGroup,
    entry: adw::EntryRow,
    results: gtk::ListBox,
    remark: gtk::Label,
    trouble: gtk::Label,
    fetches: RefCell<Vec<Fetch>>,
    stock: RefCell<Stock>,
    /// Counts the queries: an answer to an earlier one is ignored.
    asked: Cell<u32>,
    manager: Manager,
}

/// What is known about a repository's files.
#[derive(Debug)]
enum Files {
    Unknown,
    /// They were requested, or are shown.
    Asked,
    /// They could not be fetched, as this row says.
    Failed(adw::ActionRow),
}

impl Search {
    pub(super) fn new(manager: &Manager) -> Self {
        let group = adw::PreferencesGroup::builder()
            .title(gettext("Find a Model"))
            .description(gettext(
                "Any GGUF model on Hugging Face. Your search is sent there when you press Enter.",
            ))
            .build();
        let entry = adw::EntryRow::builder().title(gettext("Search Hugging Face")).build();
        let go = gtk::Button::builder()
            .icon_name("system-search-symbolic")
            .tooltip_text(gettext("Search"))
            .valign(gtk::Align::Center)
            .css_classes(["flat"])
            .build();
        accessible::set_label(&go, &gettext("Search Hugging Face Now"));
        entry.add_suffix(&go);
        let results = gtk::ListBox::builder()
            .selection_mode(gtk::SelectionMode::None)
            .css_classes(["boxed-list"])
            .visible(false)
            .build();
        accessible::set_label(&results, &gettext("Search Results"));
        let column = gtk::Box::new(gtk::Orientation::Vertical, 0);
        let words = remark("", "dim-label");
        let trouble = remark("", "error");
        for part in [words.upcast_ref::<gtk::Widget>(), trouble.upcast_ref(), results.upcast_ref()]
        {
            // Hidden parts take no space.
            part.set_margin_top(12);
            column.append(part);
        }
        group.add(&entry);
        group.add(&column);
        let inner = Rc::new(Inner {
            group,
            entry,
            results,
            remark: words,
            trouble,
            fetches: RefCell::default(),
            stock: RefCell::default(),
            asked: Cell::new(0),
            manager: manager.clone(),
        });
        let weak = Rc::downgrade(&inner);
        inner.entry.connect_entry_activated(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.search();
            }
        });
        let weak = Rc::downgrade(&inner);
        go.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.search();
            }
        });
        Self { inner }
    }

    pub(super) fn widget(&self) -> &adw::PreferencesGroup {
        &self.inner.group
    }

    pub(super) fn show(&self, stock: &Stock) {
        self.inner.stock.replace(stock.clone());
        for fetch in self.inner.fetches.borrow().iter() {
            fetch.update(stock);
        }
    }
}

impl Inner {
    fn search(self: &Rc<Self>) {
        let words = self.entry.text().trim().to_owned();
        if words.is_empty() {
            return;
        }
        self.clear();
        let asked = self.asked.get() + 1;
        self.asked.set(asked);
        self.say(&gettext("Searching…"), false);
        let inner = Rc::clone(self);
        glib::spawn_future_local(async move {
            let found = inner.manager.repositories().search(&words).await;
            if inner.asked.get() != asked {
                return;
            }
            match found {
                Ok(found) => inner.show_found(&found),
                Err(error) => inner.say(&sentence(&error), true),
            }
        });
    }

    fn clear(&self) {
        self.fetches.take();
        while let Some(row) = self.results.first_child() {
            self.results.remove(&row);
        }
        self.results.set_visible(false);
    }

    fn say(&self, words: &str, wrong: bool) {
        self.remark.set_visible(!wrong && !words.is_empty());
        self.trouble.set_visible(wrong);
        let label = if wrong { &self.trouble } else { &self.remark };
        label.set_label(words);
    }

    fn show_found(self: &Rc<Self>, found: &[Repository]) {
        if found.is_empty() {
            self.say(&gettext("No results. Try fewer or different words."), false);
            return;
        }
        self.say("", false);
        for repository in found {
            self.results.append(&self.repository_row(repository));
        }
        self.results.set_visible(true);
    }

    /// The row of a repository; its files are requested when it is expanded.
    fn repository_row(self: &Rc<Self>, repository: &Repository) -> adw::ExpanderRow {
        let count = u32::try_from(repository.downloads).unwrap_or(u32::MAX);
        let text = ngettext("{n} download", "{n} downloads", count);
        let mut below = fill(&text, &[("n", &repository.downloads.to_string())]);
        if let Some(licence) = &repository.licence {
            below = format!("{below} · {licence}");
        }
        if repository.closed {
            below = format!("{below} · {}", gettext("requires accepting its terms"));
        }
        let row = adw::ExpanderRow::builder()
            .use_markup(false)
            .title(&repository.name)
            .subtitle(&below)
            .build();
        let files = Rc::new(RefCell::new(Files::Unknown));
        let (weak, name) = (Rc::downgrade(self), repository.name.clone());
        row.connect_expanded_notify(move |row| {
            if row.is_expanded()
                && let Some(inner) = weak.upgrade()
            {
                inner.list_files(row, &name, &files);
            }
        });
        row
    }

    /// Requests a repository's files, if they are unknown. After a failure they are requested again
    /// when it is expanded again.
    fn list_files(
        self: &Rc<Self>,
        row: &adw::ExpanderRow,
        repository: &str,
        files: &Rc<RefCell<Files>>,
    ) {
        match files.replace(Files::Asked) {
            Files::Unknown => {}
            Files::Failed(words) => row.remove(&words),
            Files::Asked => return,
        }
        let waiting = words_row(&words::asking());
        row.add_row(&waiting);
        let (inner, row, repository) = (Rc::clone(self), row.clone(), repository.to_owned());
        let files = Rc::clone(files);
        glib::spawn_future_local(async move {
            let found = inner.manager.repositories().models(&repository).await;
            row.remove(&waiting);
            match found {
                Ok(found) if found.is_empty() => {
                    row.add_row(&words_row(&gettext("No GGUF models here")));
                }
                Ok(mut found) => {
                    found.sort_by_key(RemoteModel::size);
                    for file in found {
                        row.add_row(&inner.file_row(file));
                    }
                }
                Err(error) => {
                    let words = words_row(&sentence(&error));
                    row.add_row(&words);
                    files.replace(Files::Failed(words));
                }
            }
        });
    }

    fn file_row(&self, model: RemoteModel) -> gtk::Widget {
        let size = model.size();
        let mut about = bytes(size);
        // The header, which says more, arrives with the file.
        if let Some(Room::Little | Room::TooLittle) = machine::room(size) {
            about = format!("{about} · {}", gettext("too large for this computer"));
        }
        let row = ModelRow::new("folder-download-symbolic", &model.file);
        let fetch = Fetch::new(&self.manager, Goods::Remote(model), row, about);
        fetch.update(&self.stock.borrow());
        self.fetches.borrow_mut().push(fetch.clone());
        fetch.widget()
    }
}

fn words_row(words: &str) -> adw::ActionRow {
    adw::ActionRow::builder().use_markup(false).title(words).title_lines(0).build()
}
