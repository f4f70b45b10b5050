//! Defines the texts about a model's context window.

use gettextrs::gettext;

pub fn summing_up() -> String {
    gettext("Summarizing earlier messages…")
}

/// The outcome of `/compact`, or of undoing it.
pub fn compacted(done: bool, back: bool) -> String {
    match (done, back) {
        (true, false) => gettext(
            "From here on, the model reads a summary of the earlier messages. Undo this with: /compact undo",
        ),
        (false, false) => gettext("There is nothing to compact."),
        (true, true) => gettext("The model reads the earlier messages in full again."),
        (false, true) => gettext("No messages are compacted."),
    }
}

pub fn not_begun() -> String {
    gettext("This chat hasn’t started yet.")
}
