//! Defines a configured server.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A server that the person has configured, or that was found on this machine.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connection {
    /// Its name, unique, without a slash; shown, and used in `connection/model`.
    pub name: String,
    /// Its protocol; none is detected from the URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ConnectionKind>,
    /// Its address: the server's root (`http://127.0.0.1:11434`) or the API's
    /// (`https://openrouter.ai/api/v1`).
    pub url: String,
    /// Models that the server has and does not list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// How many requests it answers at the same time, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<u32>,
    /// Where its key comes from.
    #[serde(default, skip_serializing_if = "KeySource::is_none")]
    pub key: KeySource,
}

impl Connection {
    /// How many requests a connection answers at the same time if nobody chose a number.
    pub const REQUESTS: u32 = 4;

    /// The highest number that counts.
    pub const MOST_REQUESTS: u32 = 64;

    /// How many requests it answers at the same time, from 1 to 64. Others wait.
    pub fn requests_at_once(&self) -> u32 {
        self.requests.unwrap_or(Self::REQUESTS).clamp(1, Self::MOST_REQUESTS)
    }

    /// Whether this is the same server, asked in the same way: what is known of one is true of the
    /// other.
    pub(crate) fn is_same_server(&self, other: &Self) -> bool {
        *self == Self { requests: self.requests, ..other.clone() }
    }

    /// Its address to be shown: without the password, or the token in its place, that it may have.
    pub fn shown_url(&self) -> Cow<'_, str> {
        without_password(&self.url)
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("url", &self.shown_url())
            .field("models", &self.models)
            .field("requests", &self.requests)
            .field("key", &self.key)
            .finish()
    }
}

/// Replaces the password in an address with `***`; of `TOKEN@host` all before the `@`. The address need not be valid:
/// who mistypes one has a password in it all the same.
fn without_password(url: &str) -> Cow<'_, str> {
    let start = url.find("://").map_or(0, |at| at + 3);
    let rest = &url[start..];
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let at = rest[..end].rfind('@').or_else(|| {
        // A password with a slash in it: what stands behind the colon is no port.
        let (_, port) = rest[..end].rsplit_once(':')?;
        let is_port = rest.starts_with('[') || port.bytes().all(|byte| byte.is_ascii_digit());
        if is_port { None } else { rest.rfind('@') }
    });
    let Some(at) = at else { return Cow::Borrowed(url) };
    let user = rest[..at].split_once(':').map_or("", |(user, _)| user);
    let colon = if rest[..at].contains(':') { ":" } else { "" };
    Cow::Owned(format!("{}{user}{colon}***{}", &url[..start], &rest[at..]))
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

impl ConnectionKind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 2] = [Self::Ollama, Self::OpenAi];

    /// Its name in settings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
        }
    }
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
    /// A command that prints the key as its first line of output.
    Command(String),
}

impl KeySource {
    /// Whether the server wants no key.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_of_an_address_is_shown() {
        for (url, shown) in [
            ("http://localhost:8080/v1", "http://localhost:8080/v1"),
            ("http://[::1]:8080/v1?a@b", "http://[::1]:8080/v1?a@b"),
            ("https://example.org/@user", "https://example.org/@user"),
            ("http://user:secret@example.org:80/v1", "http://user:***@example.org:80/v1"),
            ("http://user:se@cret@example.org", "http://user:***@example.org"),
            ("http://:secret@example.org", "http://:***@example.org"),
            ("http://secret@example.org", "http://***@example.org"),
            ("user:secret@example.org", "user:***@example.org"),
            ("http://user:se/cr?et@example.org", "http://user:***@example.org"),
        ] {
            assert_eq!(without_password(url), shown);
        }
    }

    #[test]
    fn what_is_written_into_a_log_has_no_password() {
        let connection = Connection {
            name: "a".to_owned(),
            kind: None,
            url: "http://user:secret@example.org".to_owned(),
            models: Vec::new(),
            requests: None,
            key: KeySource::None,
        };
        assert!(!format!("{connection:?}").contains("secret"));
    }
}
