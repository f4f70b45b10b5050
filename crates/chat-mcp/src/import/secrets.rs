//! Finds secrets that are written out in variables and headers, so that they can move into the keyring.

use std::collections::BTreeMap;

use crate::config::{SecretText, ServerConfig, Template, Transport, is_secret_name};

use super::variables::secret_name;

/// A secret that is written out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainSecret {
    /// Where it stands.
    pub place: SecretPlace,
    /// A name for it in the keyring. Another secret there may have it.
    pub name: String,
}

impl PlainSecret {
    /// The secret at a place of a server of this name. None if it cannot have a name.
    pub(crate) fn of(server: Option<&str>, place: SecretPlace) -> Option<Self> {
        let (SecretPlace::Variable(name) | SecretPlace::Header(name)) = &place;
        let full = server.map_or_else(|| name.clone(), |server| format!("{server}/{name}"));
        Some(Self { name: secret_name(&full)?, place })
    }
}

type PlaceOf = fn(String) -> SecretPlace;

/// Where a secret stands in a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SecretPlace {
    /// In a variable of this name.
    Variable(String),
    /// In a header of this name.
    Header(String),
}

/// Parts of names that mean a secret.
const WORDS: [&str; 11] = [
    "apikey",
    "auth",
    "bearer",
    "cookie",
    "credential",
    "passwd",
    "password",
    "passphrase",
    "pat",
    "secret",
    "token",
];

/// Beginnings of keys that services give out.
const PREFIXES: [&str; 13] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "AKIA",
    "AIza",
];

/// How much of a name stands in front of its number.
const LONGEST_START: usize = 100;

/// Schemes in front of a header's secret.
const SCHEMES: [&str; 4] = ["Bearer ", "Basic ", "Token ", "ApiKey "];

/// The secrets that are written out in a server of this name, as far as names and values tell.
pub fn plain_secrets(server: Option<&str>, config: &ServerConfig) -> Vec<PlainSecret> {
    let (map, place) = texts(config);
    let is_secret = |(name, template): &(&String, &Template)| {
        template.as_plain().is_some_and(|value| looks_secret(name, value))
    };
    let secret = |(name, _): (&String, &Template)| PlainSecret::of(server, place(name.clone()));
    map.iter().filter(is_secret).filter_map(secret).collect()
}

/// The name of a secret, and the same with a number, counted up.
pub(crate) fn numbered(name: &str) -> impl Iterator<Item = String> {
    // A name of any length must stay one with a number, too.
    let start = &name[..name.floor_char_boundary(LONGEST_START)];
    std::iter::once(name.to_owned()).chain((2..).map(move |number| format!("{start}-{number}")))
}

/// Puts a reference to a secret of this name where the secret is written out, and gives the secret, to be stored first.
/// A scheme such as `Bearer` in front of it stays. None, and no change, if nothing plain is there or the name is not
/// allowed.
pub fn move_secret(
    config: &mut ServerConfig,
    place: &SecretPlace,
    name: &str,
) -> Option<SecretText> {
    if !is_secret_name(name) {
        return None;
    }
    let template = match (&mut config.transport, place) {
        (Transport::Stdio(server), SecretPlace::Variable(variable)) => {
            server.env.get_mut(variable)?
        }
        (Transport::Http(server), SecretPlace::Header(header)) => server.headers.get_mut(header)?,
        _ => return None,
    };
    let text = template.as_plain()?;
    let scheme = match place {
        SecretPlace::Header(_) => scheme(text),
        SecretPlace::Variable(_) => "",
    };
    let secret = text[scheme.len()..].to_owned();
    if secret.is_empty() {
        return None;
    }
    *template = Template::secret(scheme, name);
    Some(SecretText::new(secret))
}

/// The texts in which secrets are looked for, and what their places are.
fn texts(config: &ServerConfig) -> (&BTreeMap<String, Template>, PlaceOf) {
    match &config.transport {
        Transport::Stdio(server) => (&server.env, SecretPlace::Variable),
        Transport::Http(server) => (&server.headers, SecretPlace::Header),
    }
}

/// The scheme in front of a header's secret, with its space.
pub(crate) fn scheme(text: &str) -> &str {
    let is_scheme = |scheme: &str| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.into_iter().find(|scheme| is_scheme(scheme)).map_or("", |scheme| &text[..scheme.len()])
}

/// Whether the value of a variable or header of this name is a secret, as far as both tell.
pub fn looks_secret(name: &str, value: &str) -> bool {
    let bare = value[scheme(value).len()..].trim();
    if bare.len() < 4 {
        return false;
    }
    has_password(bare)
        || PREFIXES.iter().any(|prefix| bare.starts_with(prefix) && bare.len() > prefix.len() + 8)
        || (names_secret(name) && !is_plain_word(bare))
}

/// Whether a name has a word that means a secret: `GITHUB_TOKEN`, `X-Api-Key`, `dbPassword`, but not `PATH` or `KEYBOARD`.
pub fn names_secret(name: &str) -> bool {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    let is_key = |word: &String| word == "key" || word == "pwd" || word.ends_with("apikey");
    let means = |word: &String| {
        is_key(word)
            || word == "authorization"
            || WORDS.contains(&word.as_str())
            || word.strip_suffix('s').is_some_and(|word| WORDS.contains(&word))
    };
    words.iter().any(means)
}

/// Whether a value says what a secret would not: a switch, a number, a path, an address.
fn is_plain_word(value: &str) -> bool {
    let is_flag =
        ["true", "false", "none", "null"].iter().any(|word| value.eq_ignore_ascii_case(word));
    is_flag
        || (value.bytes().all(|byte| byte.is_ascii_digit()) && value.len() < 8)
        || value.starts_with(['/', '~'])
        || value.contains("://")
}

/// Whether a value is an address with a password, as those of databases.
fn has_password(value: &str) -> bool {
    url::Url::parse(value).is_ok_and(|url| url.password().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{HttpServer, StdioServer};

    fn program(env: &[(&str, &str)]) -> ServerConfig {
        let template = |text: &str| Template::parse(text).unwrap();
        let env = env.iter().map(|(name, value)| ((*name).to_owned(), template(value))).collect();
        let command = template("x");
        ServerConfig::new(Transport::Stdio(StdioServer {
            command,
            args: Vec::new(),
            env,
            cwd: None,
        }))
    }

    fn address(header: &str, value: &str) -> ServerConfig {
        let headers = BTreeMap::from([(header.to_owned(), Template::parse(value).unwrap())]);
        let url = Template::parse("https://example.org/mcp").unwrap();
        ServerConfig::new(Transport::Http(HttpServer { url, headers }))
    }

    #[test]
    fn secrets_are_known_by_name_or_value() {
        for (name, value, expected) in [
            ("GITHUB_TOKEN", "abcdefgh", true),
            ("OPENAI_API_KEY", "YOUR_API_KEY", true),
            ("OPENAI_APIKEY", "hunter22", true),
            ("dbPassword", "hunter2", true),
            ("GITHUB_PAT", "x123456", true),
            ("DATABASE_URL", "postgres://ada:pw@localhost/db", true),
            ("ANYTHING", "ghp_0123456789abcdef", true),
            ("GITHUB_TOKEN", "${keyring:github}", false),
            ("GITHUB_TOKEN", "Bearer ${env:A}", false),
            ("GITHUB_TOKEN", "", false),
            ("AUTH", "true", false),
            ("TOKEN_FILE", "/run/token", false),
            ("MAX_TOKENS", "4096", false),
            ("TOKEN_URL", "https://example.org/token", false),
            ("PATH", "bin", false),
            ("KEYBOARD", "german", false),
            ("LOG_LEVEL", "debug", false),
        ] {
            let found = plain_secrets(Some("s"), &program(&[(name, value)]));
            assert_eq!(!found.is_empty(), expected, "{name}={value}");
        }
    }

    #[test]
    fn a_variable_moves_into_the_keyring() {
        let mut config = program(&[("A", "b"), ("API_KEY", "sk-0123")]);
        let found = plain_secrets(Some("my.server"), &config);
        let place = SecretPlace::Variable("API_KEY".to_owned());
        assert_eq!(
            found,
            [PlainSecret { place: place.clone(), name: "my.server/API_KEY".to_owned() }]
        );
        let secret = move_secret(&mut config, &place, &found[0].name).unwrap();
        assert_eq!(secret.expose(), "sk-0123");
        assert_eq!(config, program(&[("A", "b"), ("API_KEY", "${keyring:my.server/API_KEY}")]));
        assert_eq!(move_secret(&mut config, &place, "again"), None);
    }

    #[test]
    fn a_scheme_stays_in_front_of_a_header() {
        for (value, secret, left) in [
            ("Bearer abcdef", "abcdef", "Bearer ${keyring:s/Authorization}"),
            ("token abcdef", "abcdef", "token ${keyring:s/Authorization}"),
            ("abcdef", "abcdef", "${keyring:s/Authorization}"),
        ] {
            let mut config = address("Authorization", value);
            let found = plain_secrets(Some("s"), &config);
            let moved = move_secret(&mut config, &found[0].place, &found[0].name).unwrap();
            assert_eq!(moved.expose(), secret);
            assert_eq!(config, address("Authorization", left));
        }
        let mut config = address("Authorization", "abcdef");
        let place = SecretPlace::Header("Authorization".to_owned());
        assert_eq!(move_secret(&mut config, &place, "not a name"), None);
        assert_eq!(config, address("Authorization", "abcdef"));
    }

    #[test]
    fn what_is_found_says_nothing_of_the_secret() {
        let config = program(&[("API_KEY", "sk-0123")]);
        let found = plain_secrets(None, &config);
        assert_eq!(found[0].name, "API_KEY");
        assert!(!format!("{found:?} {config:?}").contains("sk-"));
    }
}
