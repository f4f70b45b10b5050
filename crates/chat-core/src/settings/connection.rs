//! A configured server.

use serde::{Deserialize, Serialize};

/// A server that the person has configured, or that was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// Its name, unique, without a slash; shown, and used in `connection/model`.
    pub name: String,
    /// Its protocol; none is detected from the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ConnectionKind>,
    /// Its address: the server's root (`http://127.0.0.1:11434`) or the API's
    /// (`https://openrouter.ai/api/v1`).
    pub url: String,
    /// Where its key comes from.
    #[serde(default, skip_serializing_if = "KeySource::is_none")]
    pub key: KeySource,
}

/// Which protocol a server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ConnectionKind {
    /// Ollama's own `/api`.
    Ollama,
    /// OpenAI's `/v1/chat/completions`, as spoken by many.
    #[serde(rename = "openai")]
    OpenAi,
}

/// Where a connection's key comes from. The key itself is never part of the settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySource {
    /// The server wants none.
    #[default]
    None,
    /// The Secret Service (GNOME Keyring, KWallet), or for this run only where there is none.
    Keyring,
    /// An environment variable.
    #[serde(rename = "env")]
    Env(String),
    /// A command whose first line of output is the key.
    Command(String),
}

impl KeySource {
    /// Whether the server wants no key.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}
