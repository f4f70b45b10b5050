//! Keeps what is typed and not saved, when typing rests, and brings it back in the next run.

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use chat_edge::words::fill;
use gettextrs::ngettext;
use gtk::{gio, glib};

use super::unsaved::File;
use super::{Inner, Output};

/// How long typing must rest before it is kept.
const REST: Duration = Duration::from_millis(500);

impl Inner {
    /// A file's text changed.
    pub(super) fn keep(self: &Rc<Self>, file: File) {
        self.to_keep.borrow_mut().insert(file);
        if self.keeping.replace(true) {
            return;
        }
        let weak = Rc::downgrade(self);
        glib::timeout_add_local_once(REST, move || {
            if let Some(editor) = weak.upgrade() {
                editor.keeping.set(false);
                editor.gather();
                editor.write();
            }
        });
    }

    /// A file was closed: there is nothing to keep of it any more.
    pub(super) fn forget(&self, file: File) {
        self.to_keep.borrow_mut().remove(&file);
        self.unsaved.set(file, None);
        self.write();
    }

    /// Hands over what changed.
    pub(super) fn gather(&self) {
        for (project, path) in self.to_keep.take() {
            let document = self.group(&project).and_then(|group| group.by_path(&path));
            // What is still being read has not been changed.
            if let Some(document) = document.filter(|document| document.has_text()) {
                self.unsaved.set((project, path), document.to_keep());
            }
        }
    }

    fn write(&self) {
        let unsaved = self.unsaved.clone();
        drop(gio::spawn_blocking(move || unsaved.write()));
    }

    /// Opens the files that have something from an earlier run.
    pub(super) fn bring_back(self: &Rc<Self>, project: &Path) {
        let (unsaved, project) = (self.unsaved.clone(), project.to_owned());
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let place = project.clone();
            let kept = gio::spawn_blocking(move || unsaved.read(&place)).await;
            let (Some(editor), Ok(kept)) = (weak.upgrade(), kept) else { return };
            let count = kept.len();
            for (path, draft) in kept {
                editor.open(&project, &path, Some(draft));
            }
            if count > 0 {
                let text = ngettext(
                    "What you had not saved is back in the editor",
                    "What you had not saved in {count} files is back in the editor",
                    u32::try_from(count).unwrap_or(u32::MAX),
                );
                let words = fill(&text, &[("count", &count.to_string())]);
                (editor.output)(Output::BroughtBack(words));
            }
        });
    }
}
