//! Defines the texts about changes and about the outcome of an answer.

use chat_core::review::ConflictReason;
use chat_presentation::words::{fill, visible};
use gettextrs::{gettext, ngettext};

/// `2 files changed`.
pub(crate) fn files_changed(count: usize) -> String {
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let words = ngettext("{count} file changed", "{count} files changed", number);
    fill(&words, &[("count", &count.to_string())])
}

/// Why a file was left alone.
pub(crate) fn conflict(reason: &ConflictReason) -> String {
    match reason {
        ConflictReason::Changed => gettext("These lines have changed since, so nothing was done."),
        ConflictReason::Occupied => {
            gettext("Something else now exists at this path, so nothing was done.")
        }
        ConflictReason::Refused(why) => {
            let words = gettext("Couldn’t write the file, so nothing was done: {why}");
            fill(&words, &[("why", &visible(why))])
        }
    }
}

/// A change no longer exists.
pub(super) fn gone() -> String {
    gettext("This change is out of date, so nothing was done.")
}

/// The outcome of an answer to several changes; none if all of it was applied.
pub(crate) fn answered(conflicts: usize) -> Option<String> {
    let number = u32::try_from(conflicts).unwrap_or(u32::MAX);
    let words = ngettext(
        "{count} file was skipped. See its note.",
        "{count} files were skipped. See their notes.",
        number,
    );
    (conflicts > 0).then(|| fill(&words, &[("count", &conflicts.to_string())]))
}
