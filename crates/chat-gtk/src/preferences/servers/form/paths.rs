//! Shows folders to type or to choose, a row for each.

use std::cell::RefCell;
use std::rc::Rc;

use adw::prelude::*;
use gettextrs::gettext;
use gtk::glib;

use super::super::super::rows::icon_button;
use super::Changed;
use super::section::{Section, entry};
use crate::file_dialog;

/// The list. Cheap to clone.
#[derive(Clone)]
pub(super) struct Paths(Rc<Inner>);

struct Inner {
    section: Section,
    /// What one of them is called.
    one: String,
    add: gtk::Button,
    rows: RefCell<Vec<adw::EntryRow>>,
    changed: RefCell<Option<Changed>>,
}

impl Paths {
    pub(super) fn new(title: &str, one: &str, add: &str) -> Self {
        let section = Section::new(title, "");
        let add = icon_button("list-add-symbolic", add);
        section.group.set_header_suffix(Some(&add));
        let inner = Rc::new(Inner {
            section,
            one: one.to_owned(),
            add,
            rows: RefCell::default(),
            changed: RefCell::default(),
        });
        let weak = Rc::downgrade(&inner);
        inner.add.connect_clicked(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.add("").grab_focus();
            }
        });
        Self(inner)
    }

    pub(super) fn section(&self) -> &Section {
        &self.0.section
    }

    pub(super) fn connect_changed(&self, changed: Changed) {
        self.0.changed.replace(Some(changed));
    }

    pub(super) fn fill(&self, paths: &[String]) {
        for path in paths {
            self.0.add(path);
        }
    }

    /// Adds a folder, and leads the keyboard to it.
    pub(super) fn add(&self, path: &str) {
        self.0.add(path).grab_focus();
        self.0.tell();
    }

    /// What is filled in.
    pub(super) fn filled(&self) -> Vec<String> {
        self.0.rows.borrow().iter().map(|row| row.text().into()).collect()
    }
}

impl Inner {
    fn add(self: &Rc<Self>, path: &str) -> adw::EntryRow {
        let row = entry(&self.one);
        row.set_text(path);
        let choose = icon_button("folder-open-symbolic", &gettext("Choose Folder"));
        let remove = icon_button("user-trash-symbolic", &gettext("Remove Folder"));
        row.add_suffix(&choose);
        row.add_suffix(&remove);
        let weak = row.downgrade();
        choose.connect_clicked(move |button| choose_folder(button, &weak));
        let (weak, of) = (Rc::downgrade(self), row.downgrade());
        remove.connect_clicked(move |_| {
            if let (Some(inner), Some(row)) = (weak.upgrade(), of.upgrade()) {
                inner.remove(&row);
            }
        });
        let weak = Rc::downgrade(self);
        row.connect_changed(move |_| {
            if let Some(inner) = weak.upgrade() {
                inner.tell();
            }
        });
        self.section.group.add(&row);
        self.rows.borrow_mut().push(row.clone());
        row
    }

    fn remove(&self, row: &adw::EntryRow) {
        // The button that was pressed goes, too.
        self.add.grab_focus();
        self.section.group.remove(row);
        self.rows.borrow_mut().retain(|other| other != row);
        self.tell();
    }

    fn tell(&self) {
        let changed = self.changed.borrow().clone();
        if let Some(changed) = changed {
            changed();
        }
    }
}

/// Asks for a folder, and puts its path into a row.
pub(super) fn choose_folder(button: &gtk::Button, row: &glib::WeakRef<adw::EntryRow>) {
    let chooser = gtk::FileChooserNative::builder()
        .title(gettext("Choose Folder"))
        .action(gtk::FileChooserAction::SelectFolder)
        .accept_label(gettext("_Choose"))
        .modal(true)
        .build();
    chooser.set_transient_for(button.root().and_downcast::<gtk::Window>().as_ref());
    let row = row.clone();
    file_dialog::ask_paths(&chooser, move |folders| {
        if let (Some(row), Some(folder)) = (row.upgrade(), folders.first()) {
            row.set_text(&folder.to_string_lossy());
        }
    });
}
