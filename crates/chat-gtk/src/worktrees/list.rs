//! Shows the list of all worktrees, and below it the snapshots of removed ones.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::{Rc, Weak};

use adw::prelude::*;
use chat_core::manager::{WorktreeRow, WorktreeState};
use chat_core::worktree::Snapshot;
use chat_presentation::words::{fill, one_line};
use gettextrs::gettext;

use super::dialog::{Dialog, Overview};
use super::sentences;
use crate::accessible;
use crate::preferences::{icon_button, plain_row};

/// The page with both lists.
pub(super) struct ListPage {
    pub(super) page: adw::PreferencesPage,
    worktrees: adw::PreferencesGroup,
    snapshots: adw::PreferencesGroup,
    /// The rows of worktrees, with their folders; none where there is no worktree.
    of_worktrees: RefCell<Vec<(adw::ActionRow, Option<PathBuf>)>>,
    of_snapshots: RefCell<Vec<adw::ActionRow>>,
}

impl ListPage {
    pub(super) fn new() -> Self {
        let worktrees = adw::PreferencesGroup::builder()
            .title(gettext("Worktrees"))
            .description(gettext(
                "Branches with folders of their own, in which chats and agents work",
            ))
            .build();
        let snapshots = adw::PreferencesGroup::builder()
            .title(gettext("Snapshots"))
            .description(gettext("Commits and files of worktrees that were removed"))
            .visible(false)
            .build();
        let page = adw::PreferencesPage::new();
        page.add(&worktrees);
        page.add(&snapshots);
        let (of_worktrees, of_snapshots) = (RefCell::default(), RefCell::default());
        Self { page, worktrees, snapshots, of_worktrees, of_snapshots }
    }

    /// Shows what there is.
    pub(super) fn fill(&self, overview: &Overview, dialog: &Rc<Dialog>) {
        for (row, _) in self.of_worktrees.take() {
            self.worktrees.remove(&row);
        }
        for row in self.of_snapshots.take() {
            self.snapshots.remove(&row);
        }
        let row = |row: &WorktreeRow| (worktree_row(row, dialog), Some(row.path.clone()));
        let mut rows: Vec<_> = overview.worktrees.iter().map(row).collect();
        if rows.is_empty() {
            rows.push((plain_row(&gettext("No worktrees yet"), ""), None));
        }
        for (row, _) in &rows {
            self.worktrees.add(row);
        }
        self.of_worktrees.replace(rows);
        let rows: Vec<_> = overview.snapshots.iter().map(|it| snapshot_row(it, dialog)).collect();
        for row in &rows {
            self.snapshots.add(row);
        }
        self.snapshots.set_visible(!rows.is_empty());
        self.of_snapshots.replace(rows);
    }

    /// Focuses the row of a worktree, or the first one.
    pub(super) fn focus(&self, folder: Option<&Path>) {
        let rows = self.of_worktrees.borrow();
        let found = rows.iter().find(|(_, path)| folder.is_some() && path.as_deref() == folder);
        if let Some((row, _)) = found.or(rows.first()) {
            row.grab_focus();
        }
    }
}

fn worktree_row(worktree: &WorktreeRow, dialog: &Rc<Dialog>) -> adw::ActionRow {
    let name = sentences::name(worktree);
    let row = plain_row(&name, &sentences::below(worktree));
    row.set_activatable(true);
    if worktree.state != WorktreeState::Whole {
        row.add_prefix(&gtk::Image::from_icon_name("dialog-warning-symbolic"));
    }
    row.add_suffix(&gtk::Image::from_icon_name("go-next-symbolic"));
    let (weak, worktree) = (Rc::downgrade(dialog), worktree.clone());
    row.connect_activated(move |_| {
        if let Some(dialog) = weak.upgrade() {
            dialog.open_details(worktree.clone());
        }
    });
    row
}

fn snapshot_row(snapshot: &Snapshot, dialog: &Rc<Dialog>) -> adw::ActionRow {
    let name = one_line(&snapshot.name);
    let row = plain_row(&name, &sentences::below_snapshot(snapshot));
    let restore =
        gtk::Button::builder().label(gettext("Restore")).valign(gtk::Align::Center).build();
    let named = fill(&gettext("Restore the snapshot of {name}"), &[("name", &name)]);
    accessible::set_label(&restore, &named);
    let (weak, id) = (Rc::downgrade(dialog), snapshot.id.clone());
    restore.connect_clicked(move |_| {
        let id = id.clone();
        run(&weak, |dialog| dialog.run(|this| this.restore(id)));
    });
    row.add_suffix(&restore);
    let delete = icon_button(
        "user-trash-symbolic",
        &fill(&gettext("Delete the snapshot of {name}"), &[("name", &name)]),
    );
    let (weak, snapshot) = (Rc::downgrade(dialog), snapshot.clone());
    delete.connect_clicked(move |_| {
        let snapshot = snapshot.clone();
        run(&weak, |dialog| dialog.run(|this| this.delete_snapshot(snapshot)));
    });
    row.add_suffix(&delete);
    dialog.add_actions(&row);
    row
}

fn run(dialog: &Weak<Dialog>, action: impl FnOnce(&Rc<Dialog>)) {
    if let Some(dialog) = dialog.upgrade() {
        action(&dialog);
    }
}
