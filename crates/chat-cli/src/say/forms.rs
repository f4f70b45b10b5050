//! Words what is asked while a form is filled in. The letter in brackets is what the user types as the answer: no two of a
//! language may be the same.

use chat_core::message::FieldKind;
use chat_presentation::words::fill;
use gettextrs::gettext;

/// How nothing is sent.
pub fn how_to_decline() -> String {
    gettext("Press Ctrl+D to send nothing.")
}

/// How a field is filled in that is not just written into.
pub fn how_to_fill(kind: &FieldKind) -> Option<String> {
    match kind {
        FieldKind::Switch { .. } => Some(gettext("Enter yes or no")),
        FieldKind::Choice { .. } => Some(gettext("Enter a number")),
        FieldKind::Choices { .. } => Some(gettext("Enter numbers with spaces between them")),
        FieldKind::Text { .. } | FieldKind::Integer(_) | FieldKind::Number(_) => None,
    }
}

/// The line before what is typed into a field; `now` is in it already.
pub fn field_line(title: &str, now: Option<&str>, can_be_empty: bool) -> String {
    match now {
        Some(now) if can_be_empty => fill(
            &gettext("{title} (Enter keeps “{text}”, - leaves it empty): "),
            &[("title", title), ("text", now)],
        ),
        Some(now) => {
            fill(&gettext("{title} (Enter keeps “{text}”): "), &[("title", title), ("text", now)])
        }
        None => format!("{title}: "),
    }
}

/// What a switch is set to.
pub fn yes_or_no(on: bool) -> String {
    if on { gettext("yes") } else { gettext("no") }
}

/// An answer at the end of a form.
pub fn send_form() -> String {
    gettext("[s]end")
}

/// An answer at the end of a form: its fields are asked for again.
pub fn change_form() -> String {
    gettext("[c]hange")
}

/// An answer at the end of a form.
pub fn decline_form() -> String {
    gettext("[d]on’t send")
}

/// Whether an answer at the end of a form is to change it, in the user's language or in English.
pub fn is_change(answer: &str) -> bool {
    let word = change_form().replace(['[', ']'], "");
    let letter = change_form();
    let letter = letter.split_once('[').and_then(|(_, rest)| rest.chars().next());
    let answer = answer.trim().to_lowercase();
    answer == "c"
        || answer == word.to_lowercase()
        || letter.is_some_and(|it| answer == it.to_lowercase().to_string())
}
