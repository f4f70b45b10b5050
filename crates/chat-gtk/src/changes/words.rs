//! What is said of changes and of what came of an answer.

use chat_core::review::ConflictReason;
use chat_edge::words::{fill, visible};
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
        ConflictReason::Changed => gettext("These lines were changed since; nothing was done."),
        ConflictReason::Occupied => {
            gettext("Something else lies where the file would come back; nothing was done.")
        }
        ConflictReason::Refused(why) => {
            let words = gettext("The file could not be written; nothing was done: {why}");
            fill(&words, &[("why", &visible(why))])
        }
    }
}

/// A change is not there any more.
pub(super) fn gone() -> String {
    gettext("This change is another by now; nothing was done.")
}

/// What came of an answer to more than one change; none where it was all done.
pub(crate) fn answered(conflicts: usize) -> Option<String> {
    let number = u32::try_from(conflicts).unwrap_or(u32::MAX);
    let words = ngettext(
        "{count} file was left alone: see there",
        "{count} files were left alone: see there",
        number,
    );
    (conflicts > 0).then(|| fill(&words, &[("count", &conflicts.to_string())]))
}
