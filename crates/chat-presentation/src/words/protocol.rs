//! Names the protocols.

use chat_core::settings::ConnectionKind;
use gettextrs::gettext;

/// A protocol to choose.
pub fn protocol(kind: ConnectionKind) -> String {
    match kind {
        ConnectionKind::Ollama => "Ollama".to_owned(),
        ConnectionKind::OpenAi => gettext("OpenAI-compatible"),
        ConnectionKind::Anthropic => gettext("Anthropic-compatible"),
    }
}

/// A server of which nothing but its protocol is known.
pub fn speaks(kind: ConnectionKind) -> String {
    match kind {
        ConnectionKind::Ollama => "Ollama".to_owned(),
        ConnectionKind::OpenAi => gettext("OpenAI-compatible"),
        ConnectionKind::Anthropic => gettext("Anthropic-compatible"),
    }
}
