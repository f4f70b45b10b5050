//! Stores unsaved text and the list of open files when the user pauses, and restores both in the
//! next run.

use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};
use std::time::Duration;

use chat_presentation::words::fill;
use gettextrs::ngettext;
use gtk::{gio, glib};

use super::open_tabs::{OpenTabs, Tabs};
use super::unsaved_files::{Draft, File, UnsavedFiles};
use super::{Inner, Output};

/// The maximum delay before typed text is stored.
const TYPED: Duration = Duration::from_millis(500);
/// The maximum delay before open files and cursor positions are stored.
const OPEN: Duration = Duration::from_secs(2);

/// The editor's state on disk. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct EditorState {
    pub(super) unsaved: UnsavedFiles,
    pub(super) open_tabs: OpenTabs,
}

impl EditorState {
    /// Uses folders of the window's state.
    pub(super) fn new(state: &Path) -> Self {
        Self { unsaved: UnsavedFiles::new(state), open_tabs: OpenTabs::new(state) }
    }

    /// Writes all pending changes. Blocks.
    pub(crate) fn write(&self) {
        self.unsaved.write();
        self.open_tabs.write();
    }
}

impl Inner {
    /// A file's text changed.
    pub(super) fn save_draft_soon(self: &Rc<Self>, file: File) {
        self.changed_files.borrow_mut().insert(file);
        if !self.draft_save_pending.replace(true) {
            let weak = Rc::downgrade(self);
            glib::timeout_add_local_once(TYPED, move || {
                if let Some(editor) = weak.upgrade() {
                    editor.draft_save_pending.set(false);
                    editor.collect_drafts();
                    editor.write();
                }
            });
        }
    }

    /// Other files are open, or the cursor moved.
    pub(super) fn save_tabs_soon(self: &Rc<Self>) {
        if !self.tabs_save_pending.replace(true) {
            let weak = Rc::downgrade(self);
            glib::timeout_add_local_once(OPEN, move || {
                if let Some(editor) = weak.upgrade() {
                    editor.tabs_save_pending.set(false);
                    editor.collect_tabs();
                    editor.write();
                }
            });
        }
    }

    /// Removes what is stored about a file: it was closed, or is another file now.
    pub(super) fn drop_draft(self: &Rc<Self>, file: File) {
        self.changed_files.borrow_mut().remove(&file);
        self.state.unsaved.set(file, None);
        self.write();
        self.save_tabs_soon();
    }

    /// Collects everything that changed.
    pub(super) fn collect(&self) {
        self.collect_drafts();
        self.collect_tabs();
    }

    fn collect_drafts(&self) {
        for (project, path) in self.changed_files.take() {
            let Some(group) = self.group(&project) else { continue };
            // A file that is still being loaded has not changed.
            let document = group.by_path(&path).filter(|document| document.is_settled());
            let Some(draft) = document.map(|document| document.draft_to_save()) else { continue };
            // Unsaved text that is still being restored must not be mistaken for none.
            if draft.is_some() || !group.is_restoring() {
                self.state.unsaved.set((project, path), draft);
            }
        }
    }

    fn collect_tabs(&self) {
        for group in self.groups.borrow().iter().filter(|group| !group.is_restoring()) {
            let (project, tabs) = (group.project().to_owned(), group.tabs());
            let mut saved = self.saved_tabs.borrow_mut();
            if saved.get(&project) != Some(&tabs) {
                saved.insert(project.clone(), tabs.clone());
                self.state.open_tabs.set(project, tabs);
            }
        }
    }

    fn write(&self) {
        let state = self.state.clone();
        drop(gio::spawn_blocking(move || state.write()));
    }

    /// Opens the files that were open in an earlier run, and those with unsaved text from it.
    pub(super) fn reopen_files(self: &Rc<Self>, project: &Path) {
        let group = self.group_of(project);
        group.set_restoring(true);
        let (state, project) = (self.state.clone(), project.to_owned());
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let place = project.clone();
            let read = move || (state.open_tabs.read(&place), state.unsaved.read(&place));
            if let Ok((tabs, drafts)) = gio::spawn_blocking(read).await {
                let count = drafts.len();
                let is_any = count > 0 || !tabs.files.is_empty();
                reopen(&weak, &project, tabs, drafts).await;
                if let Some(editor) = weak.upgrade().filter(|_| is_any) {
                    editor.report_restored(count);
                }
            }
            group.set_restoring(false);
        });
    }

    fn report_restored(&self, unsaved: usize) {
        (self.output)(Output::Reopened);
        if unsaved > 0 {
            let text = ngettext(
                "Your unsaved changes are back in the editor",
                "Your unsaved changes in {count} files are back in the editor",
                u32::try_from(unsaved).unwrap_or(u32::MAX),
            );
            let words = fill(&text, &[("count", &unsaved.to_string())]);
            (self.output)(Output::DraftsRestored(words));
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
            document.set_draft(drafts.swap_remove(found).1);
        }
        drop((inner, document));
        rest().await;
    }
    for (path, draft) in drafts {
        let Some(inner) = editor.upgrade() else { return };
        inner.open(project, &path, None).set_draft(draft);
        drop(inner);
        rest().await;
    }
}
