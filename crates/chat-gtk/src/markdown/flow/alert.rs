//! Titles an alert with its symbol and its word.

use gettextrs::gettext;

use super::{Run, Style};
use crate::markdown::block::AlertKind;

/// The title of an alert.
pub fn title(kind: AlertKind) -> Run {
    let (symbol, word) = match kind {
        AlertKind::Note => ("ℹ", gettext("Note")),
        AlertKind::Tip => ("☼", gettext("Tip")),
        AlertKind::Important => ("❢", gettext("Important")),
        AlertKind::Warning => ("⚠", gettext("Warning")),
        AlertKind::Caution => ("⊘", gettext("Caution")),
    };
    let style = Style { strong: true, alert: Some(kind), ..Style::default() };
    Run { text: format!("{symbol} {word}"), style, link: None }
}
