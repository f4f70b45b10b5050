//! Stores unsaved text and the list of open files when the user pauses, and restores both in the
//! next run.

use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

use chat_presentation::words::fill;
use gettextrs::ngettext;
use gtk::{gio, glib};

use super::remembered::{Remembered, Tabs};
use super::unsaved::{Draft, File, Unsaved};
use super::{Inner, Output};

/// The maximum delay before typed text is stored.
const TYPED: Duration = Duration::from_millis(500);
/// The maximum delay before open files and cursor positions are stored.
const OPEN: Duration = Duration::from_secs(2);

/// The editor's state on disk. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(super) unsaved: Unsaved,
    pub(super) remembered: Remembered,
}

impl State {
    /// Uses folders of the window's state.
    pub(super) fn new(state: &Path) -> Self {
        Self { unsaved: Unsaved::new(state), remembered: Remembered::new(state) }
    }

    /// Writes all pending changes. Blocks.
    pub(crate) fn write(&self) {
        self.unsaved.write();
        self.remembered.write();
    }
}

impl Inner {
    /// A file's text changed.
    pub(super) fn keep(self: &Rc<Self>, file: File) {
        self.to_keep.borrow_mut().insert(file);
        if !self.keeping.replace(true) {
            let weak = Rc::downgrade(self);
            glib::timeout_add_local_once(TYPED, move || {
                if let Some(editor) = weak.upgrade() {
                    editor.keeping.set(false);
                    editor.gather_unsaved();
                    editor.write();
                }
            });
        }
    }

    /// Other files are open, or the cursor moved.
    pub(super) fn remember(self: &Rc<Self>) {
        if !self.remembering.replace(true) {
            let weak = Rc::downgrade(self);
            glib::timeout_add_local_once(OPEN, move || {
                if let Some(editor) = weak.upgrade() {
                    editor.remembering.set(false);
                    editor.gather_tabs();
                    editor.write();
                }
            });
        }
    }

    /// Removes what is stored about a file: it was closed, or is another file now.
    pub(super) fn forget(self: &Rc<Self>, file: File) {
        self.to_keep.borrow_mut().remove(&file);
        self.state.unsaved.set(file, None);
        self.write();
        self.remember();
    }

    /// Collects everything that changed.
    pub(super) fn gather(&self) {
        self.gather_unsaved();
        self.gather_tabs();
    }

    fn gather_unsaved(&self) {
        for (project, path) in self.to_keep.take() {
            let Some(group) = self.group(&project) else { continue };
            // A file that is still being loaded has not changed.
            let document = group.by_path(&path).filter(|document| document.is_settled());
            let Some(draft) = document.map(|document| document.to_keep()) else { continue };
            // Unsaved text that is still being restored must not be mistaken for none.
            if draft.is_some() || !group.is_coming() {
                self.state.unsaved.set((project, path), draft);
            }
        }
    }

    fn gather_tabs(&self) {
        for group in self.groups.borrow().iter().filter(|group| !group.is_coming()) {
            let (project, tabs) = (group.project().to_owned(), group.tabs());
            let mut told = self.told_tabs.borrow_mut();
            if told.get(&project) != Some(&tabs) {
                told.insert(project.clone(), tabs.clone());
                self.state.remembered.set(project, tabs);
            }
        }
    }

    fn write(&self) {
        let state = self.state.clone();
        drop(gio::spawn_blocking(move || state.write()));
    }

    /// Opens the files that were open in an earlier run, and those with unsaved text from it.
    pub(super) fn bring_back(self: &Rc<Self>, project: &Path) {
        let group = self.group_of(project);
        group.set_coming(true);
        let (state, project) = (self.state.clone(), project.to_owned());
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let place = project.clone();
            let read = move || (state.remembered.read(&place), state.unsaved.read(&place));
            if let Ok((tabs, drafts)) = gio::spawn_blocking(read).await {
                let count = drafts.len();
                let is_any = count > 0 || !tabs.files.is_empty();
                reopen(&weak, &project, tabs, drafts).await;
                if let Some(editor) = weak.upgrade().filter(|_| is_any) {
                    editor.tell_brought_back(count);
                }
            }
            group.set_coming(false);
        });
    }

    fn tell_brought_back(&self, unsaved: usize) {
        (self.output)(Output::Reopened);
        if unsaved > 0 {
            let text = ngettext(
                "Your unsaved changes are back in the editor",
                "Your unsaved changes in {count} files are back in the editor",
                u32::try_from(unsaved).unwrap_or(u32::MAX),
            );
            let words = fill(&text, &[("count", &unsaved.to_string())]);
            (self.output)(Output::BroughtBack(words));
        }
    }
}

/// Opens files one by one, so that no frame waits for all: first the one that was visible.
async fn reopen(
    editor: &Weak<Inner>,
    project: &Path,
    tabs: Tabs,
    mut drafts: Vec<(PathBuf, Draft)>,
) {
    let rest = || glib::timeout_future_with_priority(glib::Priority::DEFAULT_IDLE, Duration::ZERO);
    let (active, count) = (tabs.active, tabs.files.len());
    let order = std::iter::once(active).chain((0..count).filter(|at| *at != active));
    for at in order.take(count) {
        let (Some(inner), Some(tab)) = (editor.upgrade(), tabs.files.get(at)) else { return };
        // The later ones are placed before or after it.
        let document = inner.open(project, &tab.path, Some(at));
        document.expect_at(tab.place());
        if let Some(found) = drafts.iter().position(|(path, _)| *path == tab.path) {
            document.offer(drafts.swap_remove(found).1);
        }
        drop((inner, document));
        rest().await;
    }
    for (path, draft) in drafts {
        let Some(inner) = editor.upgrade() else { return };
        inner.open(project, &path, None).offer(draft);
        drop(inner);
        rest().await;
    }
}
