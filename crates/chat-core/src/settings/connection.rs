//! Defines a configured server.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A server that the person has configured, or that was found on this machine.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Headers that each request has in addition, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, HeaderSource>,
    /// The proxy over which it is reached: an address with http, https, socks5 or socks5h, or `none` for
    /// no proxy at all. Without one the system's counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// A PEM file with certificates that are trusted for this server, in addition to the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
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

    /// Its proxy to be shown, without the password.
    pub fn shown_proxy(&self) -> Option<Cow<'_, str>> {
        self.proxy.as_deref().map(without_password)
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
            .field("headers", &self.headers)
            .field("proxy", &self.shown_proxy())
            .field("ca", &self.ca)
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
    /// Anthropic's `/v1/messages`, as spoken by some.
    Anthropic,
}

impl ConnectionKind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Ollama, Self::OpenAi, Self::Anthropic];

    /// Its name in settings and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
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

/// Where the value of a header comes from. Shown nowhere: a header may hold a key.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "a header is text in quotes, { env = \"NAME\" }, { command = \"…\" } or { keyring = true }"
)]
pub enum HeaderSource {
    /// The value itself.
    Value(String),
    /// An environment variable.
    Env {
        /// Its name.
        env: String,
    },
    /// A command that prints the value as its first line of output.
    Command {
        /// The command.
        command: String,
    },
    /// The Secret Service.
    Keyring(InKeyring),
}

/// Says in the settings that a value is in the Secret Service: `{ keyring = true }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InKeyring {
    keyring: bool,
}

impl HeaderSource {
    /// A value in the Secret Service.
    pub const KEYRING: Self = Self::Keyring(InKeyring { keyring: true });
}

impl fmt::Debug for HeaderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(_) => f.write_str("Value(…)"),
            Self::Env { env } => write!(f, "Env({env:?})"),
            Self::Command { .. } => f.write_str("Command(…)"),
            Self::Keyring(_) => f.write_str("Keyring"),
        }
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
            headers: BTreeMap::from([
                ("x-team".to_owned(), HeaderSource::Value("secret".to_owned())),
                ("x-key".to_owned(), HeaderSource::Command { command: "pass secret".to_owned() }),
            ]),
            proxy: Some("socks5://me:secret@proxy:1080".to_owned()),
            ..Connection::default()
        };
        let written = format!("{connection:?}");
        assert!(!written.contains("secret"), "{written}");
        assert!(written.contains("x-team") && written.contains("proxy:1080"), "{written}");
    }

    #[test]
    fn headers_are_written_as_a_person_would() {
        let text = "name = \"a\"\nurl = \"http://a\"\nproxy = \"none\"\nca = \"/etc/ca.pem\"\n\n[headers]\n\
                    X-Keyring = { keyring = true }\nX-Run = { command = \"pass x\" }\n\
                    X-Team = \"blue\"\nX-Token = { env = \"TOKEN\" }\n";
        let connection: Connection = toml::from_str(text).unwrap();
        let headers = &connection.headers;
        assert_eq!(headers["X-Team"], HeaderSource::Value("blue".to_owned()));
        assert_eq!(headers["X-Token"], HeaderSource::Env { env: "TOKEN".to_owned() });
        assert_eq!(headers["X-Run"], HeaderSource::Command { command: "pass x".to_owned() });
        assert_eq!(headers["X-Keyring"], HeaderSource::KEYRING);
        let again: Connection = toml::from_str(&toml::to_string(&connection).unwrap()).unwrap();
        assert_eq!(again, connection);
    }
}
