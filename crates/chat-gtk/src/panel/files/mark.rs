//! Marks a changed file: with a letter, and with a word for screen readers.

use chat_project::git::Change;
use gettextrs::gettext;

/// The mark of a change: a letter, a word, and its CSS class.
pub(super) fn of(change: &Change) -> (&'static str, String, &'static str) {
    match change {
        Change::Modified => ("M", gettext("modified"), "git-modified"),
        Change::Added => ("A", gettext("added"), "git-added"),
        Change::Deleted => ("D", gettext("deleted"), "git-deleted"),
        Change::Renamed(_) => ("R", gettext("renamed"), "git-modified"),
        Change::Untracked => ("U", gettext("untracked"), "git-added"),
        Change::Conflicted => ("!", gettext("in conflict"), "git-deleted"),
    }
}

/// The CSS classes of all marks.
pub(super) const STYLES: [&str; 4] = ["git-modified", "git-added", "git-deleted", "git-inside"];
