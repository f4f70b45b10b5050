//! Words the context window of a model.

use gettextrs::gettext;

pub fn summing_up() -> String {
    gettext("Summing up the earlier conversation…")
}

/// What became of `/compact`, or of taking it back.
pub fn compacted(done: bool, back: bool) -> String {
    match (done, back) {
        (true, false) => gettext(
            "The model reads a summary of the earlier messages from here on. Take it back with: /compact undo",
        ),
        (false, false) => gettext("There is nothing to sum up."),
        (true, true) => gettext("The model reads all messages again."),
        (false, true) => gettext("Nothing is sent in short."),
    }
}

pub fn not_begun() -> String {
    gettext("This chat has not begun.")
}
