//! Shows one worktree: what it is, the chats that work there, what it changes, and what can be done
//! with it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::error::Result;
use chat_core::manager::{WorktreeRow, WorktreeState};
use chat_core::message::Fid;
use chat_core::worktree::{ChangedFile, Status, WorkDiff, Worktree};
use chat_presentation::words::{self, one_line};
use gettextrs::gettext;

use super::dialog::Dialog;
use super::sentences::{self, name_in_line};
use crate::models::has_keyboard;
use crate::preferences::plain_row;
use crate::{accessible, projects};

/// More files are counted, not listed.
const FILES: usize = 100;

/// The page of a worktree.
pub(super) struct Details {
    pub(super) row: WorktreeRow,
    pub(super) page: adw::PreferencesPage,
    about: adw::PreferencesGroup,
    changes: adw::PreferencesGroup,
    files: RefCell<Vec<adw::ActionRow>>,
    /// The message of the commit.
    message: adw::EntryRow,
    commit: gtk::Button,
    merge: gtk::Button,
    /// The row with the button to merge.
    merge_row: adw::ActionRow,
}

impl Details {
    pub(super) fn new(
        row: WorktreeRow,
        titles: &HashMap<Fid, String>,
        dialog: &Rc<Dialog>,
    ) -> Self {
        let page = adw::PreferencesPage::new();
        let about = about(&row);
        page.add(&about);
        if !row.sessions.is_empty() {
            page.add(&chats(&row, titles, dialog));
        }
        let message = adw::EntryRow::builder().title(gettext("Commit message (optional)")).build();
        if let Some(text) = message.delegate() {
            accessible::set_label(&text, &gettext("Commit message (optional)"));
        }
        let commit = button(&gettext("Commit"), dialog, |dialog| dialog.run(Dialog::commit));
        let merge = button(&gettext("Merge…"), dialog, |dialog| dialog.run(Dialog::merge));
        let merge_title = row.worktree.as_ref().map(sentences::merge_into).unwrap_or_default();
        let merge_row = action_row(&merge_title, &sentences::about_merge(true), &merge, dialog);
        let changes = adw::PreferencesGroup::builder().title(gettext("Changes")).build();
        match (&row.worktree, row.state) {
            (Some(_), WorktreeState::Whole) => {
                page.add(&commit_group(&message, &commit, dialog));
                page.add(&finish_group(merge_row.clone(), dialog));
                page.add(&changes);
            }
            (Some(_), WorktreeState::Unlinked) => {
                let repair = button(&gettext("Repair"), dialog, |dialog| {
                    dialog.run(Dialog::repair);
                });
                page.add(&group(&[action_row(
                    &gettext("Repair"),
                    &gettext("Links the folder and its repository again"),
                    &repair,
                    dialog,
                )]));
            }
            (Some(_), WorktreeState::FolderGone | WorktreeState::RepositoryGone) => {
                let remove = button(&gettext("Remove"), dialog, |dialog| {
                    dialog.run(Dialog::forget);
                });
                page.add(&group(&[action_row(
                    &gettext("Remove From List"),
                    &gettext("What is left of it is kept"),
                    &remove,
                    dialog,
                )]));
            }
            _ => {}
        }
        let files = RefCell::default();
        Self { row, page, about, changes, files, message, commit, merge, merge_row }
    }

    /// Loads how far the work is, and what it changes.
    pub(super) async fn load(&self, dialog: &Dialog) -> Result<()> {
        let Some(worktree) = &self.row.worktree else { return Ok(()) };
        if self.row.state != WorktreeState::Whole {
            return Ok(());
        }
        let worktrees = dialog.manager.worktrees();
        let status = dialog.wait(worktrees.status(worktree)).await?;
        let diff = dialog.wait(worktrees.diff(worktree)).await?;
        self.show(worktree, &status, &diff);
        Ok(())
    }

    fn show(&self, worktree: &Worktree, status: &Status, diff: &WorkDiff) {
        let summary = words::work_summary(&one_line(worktree.branch()), status);
        self.about.set_description(Some(&gtk::glib::markup_escape_text(&summary)));
        let can_merge = status.ahead > 0 || status.is_dirty();
        self.merge_row.set_subtitle(&sentences::about_merge(can_merge));
        let can_commit = status.changed + status.untracked > 0;
        for (button, is_usable) in [(&self.commit, can_commit), (&self.merge, can_merge)] {
            let had_keyboard = has_keyboard(button);
            button.set_sensitive(is_usable);
            if had_keyboard && !is_usable {
                self.message.grab_focus();
            }
        }
        for row in self.files.take() {
            self.changes.remove(&row);
        }
        let mut rows: Vec<_> = diff.files.iter().take(FILES).map(file_row).collect();
        let more = diff.files.len().saturating_sub(FILES) + diff.more_files;
        if more > 0 {
            rows.push(plain_row(&sentences::more_files(more), ""));
        }
        for path in &diff.too_large {
            rows.push(plain_row(&name_in_line(path), &gettext("Too large to compare")));
        }
        for path in &diff.nested {
            rows.push(plain_row(&name_in_line(path), &gettext("A repository of its own")));
        }
        if rows.is_empty() {
            rows.push(plain_row(&gettext("No changes yet"), ""));
        }
        for row in &rows {
            self.changes.add(row);
        }
        self.files.replace(rows);
    }

    /// The message that was typed for the commit.
    pub(super) fn message(&self) -> Option<String> {
        let text = self.message.text();
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    /// Focuses the message of the commit.
    pub(super) fn focus_message(&self) {
        self.message.grab_focus();
    }

    /// The message was used.
    pub(super) fn clear_message(&self) {
        self.message.set_text("");
    }
}

/// What a worktree is, and what is wrong with it.
fn about(row: &WorktreeRow) -> adw::PreferencesGroup {
    let mut rows = Vec::new();
    if let Some(worktree) = &row.worktree {
        rows.push(plain_row(&gettext("Branch"), &one_line(worktree.branch())));
        let project = projects::display_path(worktree.parent_project());
        rows.push(plain_row(&gettext("Project"), &one_line(&project)));
    }
    rows.push(plain_row(&gettext("Folder"), &one_line(&projects::display_path(&row.path))));
    let group = group(&rows);
    if let Some(state) = sentences::state(row.state) {
        group.set_description(Some(&gtk::glib::markup_escape_text(&state)));
    }
    group
}

fn chats(
    row: &WorktreeRow,
    titles: &HashMap<Fid, String>,
    dialog: &Rc<Dialog>,
) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::builder().title(gettext("Chats")).build();
    for fid in &row.sessions {
        let title = titles.get(fid).filter(|title| !title.is_empty());
        let title = title.map_or_else(|| gettext("New Chat"), |title| one_line(title));
        let row = plain_row(&title, "");
        row.set_activatable(true);
        row.add_suffix(&gtk::Image::from_icon_name("go-next-symbolic"));
        let (weak, fid) = (Rc::downgrade(dialog), fid.clone());
        row.connect_activated(move |_| {
            if let Some(dialog) = weak.upgrade() {
                dialog.open_chat(fid.clone());
            }
        });
        group.add(&row);
    }
    group
}

fn commit_group(
    message: &adw::EntryRow,
    commit: &gtk::Button,
    dialog: &Dialog,
) -> adw::PreferencesGroup {
    let entered = commit.downgrade();
    message.connect_entry_activated(move |_| {
        if let Some(commit) = entered.upgrade().filter(WidgetExt::is_sensitive) {
            commit.emit_clicked();
        }
    });
    let group = adw::PreferencesGroup::builder().title(gettext("Finish")).build();
    group.add(message);
    group.add(&action_row(
        &gettext("Commit"),
        &gettext("Commits all files on the worktree’s own branch"),
        commit,
        dialog,
    ));
    group
}

fn finish_group(merge: adw::ActionRow, dialog: &Rc<Dialog>) -> adw::PreferencesGroup {
    let discard = button(&gettext("Discard…"), dialog, |dialog| dialog.run(Dialog::discard));
    discard.add_css_class("destructive-action");
    group(&[
        merge,
        action_row(
            &gettext("Discard"),
            &gettext("Removes the folder and the branch. A snapshot is kept."),
            &discard,
            dialog,
        ),
    ])
}

fn file_row(file: &ChangedFile) -> adw::ActionRow {
    let row = plain_row(&name_in_line(&file.path), &sentences::kind(file));
    if let Some(lines) = sentences::lines(file) {
        let label =
            gtk::Label::builder().label(lines).css_classes(["dim-label", "numeric"]).build();
        row.add_suffix(&label);
    }
    row
}

fn group(rows: &[adw::ActionRow]) -> adw::PreferencesGroup {
    let group = adw::PreferencesGroup::new();
    for row in rows {
        group.add(row);
    }
    group
}

fn action_row(
    title: &str,
    subtitle: &str,
    button: &gtk::Button,
    dialog: &Dialog,
) -> adw::ActionRow {
    let row = plain_row(title, subtitle);
    row.add_suffix(button);
    row.set_activatable_widget(Some(button));
    dialog.add_actions(&row);
    row
}

fn button(
    label: &str,
    dialog: &Rc<Dialog>,
    clicked: impl Fn(&Rc<Dialog>) + 'static,
) -> gtk::Button {
    let button = gtk::Button::builder().label(label).valign(gtk::Align::Center).build();
    let weak = Rc::downgrade(dialog);
    button.connect_clicked(move |_| {
        if let Some(dialog) = weak.upgrade() {
            clicked(&dialog);
        }
    });
    button
}
