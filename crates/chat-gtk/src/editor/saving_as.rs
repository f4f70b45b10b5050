//! Saves a file under another name, in the project or elsewhere.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;

use super::document::Document;
use super::{Inner, disk};
use crate::file_dialog;

impl Inner {
    /// Asks for a path, and saves the file there.
    pub(super) fn save_as(self: &Rc<Self>, document: &Rc<Document>) {
        if !document.is_whole() {
            return;
        }
        let chooser = gtk::FileChooserNative::builder()
            .title(gettext("Save As"))
            .action(gtk::FileChooserAction::Save)
            .modal(true)
            .build();
        let window = self.root.root().and_downcast::<gtk::Window>();
        chooser.set_transient_for(window.as_ref());
        let location = document.location();
        // If the folder is gone, the dialog chooses where to begin.
        let folder = location.ancestors().skip(1).find(|folder| folder.is_dir());
        let _ = chooser.set_current_folder(folder.map(gio::File::for_path).as_ref());
        chooser.set_current_name(&document.name());
        let (weak, document) = (Rc::downgrade(self), Rc::clone(document));
        file_dialog::ask(&chooser, move |files| {
            if let Some(path) = files.first().and_then(gio::File::path) {
                let document = Rc::clone(&document);
                glib::spawn_future_local(async move {
                    let project = document.project().to_owned();
                    let find = move || disk::called(&project, &path);
                    let found = gio::spawn_blocking(find).await;
                    if let (Some(editor), Ok(path)) = (weak.upgrade(), found) {
                        editor.save_to(&document, path);
                    }
                });
            }
            document.focus();
        });
    }

    /// Saves a file at the chosen path, unless that would overwrite unsaved text in another tab.
    fn save_to(&self, document: &Rc<Document>, path: PathBuf) {
        let open = self.other(document, &path).filter(|other| other.is_unsaved());
        if let Some(other) = open {
            let text = gettext("“{name}” is open with unsaved changes. Save or close it first.");
            return document.say(&fill(&text, &[("name", &other.name())]));
        }
        document.save_as(path);
    }

    /// A file has become another one: removes its old state, and closes any other tab of the new
    /// file.
    pub(super) fn became(self: &Rc<Self>, document: &Rc<Document>, before: PathBuf) {
        let path = document.path();
        if let Some(other) = self.other(document, &path)
            && let Some(group) = self.group(document.project())
        {
            group.close(&other);
        }
        if before != path {
            self.drop_draft((document.project().to_owned(), before));
        }
        self.save_draft_soon((document.project().to_owned(), path));
        self.tell_moved();
        self.save_tabs_soon();
    }

    /// Another tab with the file of this path.
    fn other(&self, document: &Rc<Document>, path: &Path) -> Option<Rc<Document>> {
        let documents = self.group(document.project())?.documents();
        documents.into_iter().find(|other| !Rc::ptr_eq(other, document) && other.path() == path)
    }
}
