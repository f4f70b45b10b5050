//! Defines the servers that are known by name, from `presets.toml`.

use std::sync::LazyLock;

use reqwest::Url;
use serde::Deserialize;

use super::address;
use crate::settings::{Connection, ConnectionKind, KeySource};

/// A server that is known by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preset {
    /// How it is called on the command line.
    pub id: String,
    /// Its own name.
    pub name: String,
    /// Its protocol.
    pub kind: ConnectionKind,
    /// Its address.
    pub url: String,
    #[serde(default)]
    domains: Vec<String>,
    /// Where one gets a key; none where it wants none.
    #[serde(default, rename = "key")]
    pub key_url: Option<String>,
    /// Environment variables that usually hold the key.
    #[serde(default)]
    pub env: Vec<String>,
    /// Whether it usually runs on this machine.
    #[serde(default)]
    pub local: bool,
    #[serde(default = "yes")]
    offered: bool,
    #[serde(default)]
    quirks: Quirks,
}

/// In what a server's requests differ from others of its protocol.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Quirks {
    pub limit: LimitField,
    pub seed: SeedField,
    pub efforts: Vec<String>,
    pub switch: Option<Switch>,
    pub reasons_without_sampling: bool,
    pub fixed_sampling: Vec<String>,
    pub tool_choice: bool,
}

impl Default for Quirks {
    fn default() -> Self {
        Self {
            limit: LimitField::MaxTokens,
            seed: SeedField::Seed,
            efforts: ["none", "low", "medium", "high"].map(str::to_owned).into(),
            switch: None,
            reasons_without_sampling: false,
            fixed_sampling: Vec::new(),
            tool_choice: true,
        }
    }
}

/// The field for the longest reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LimitField {
    MaxTokens,
    MaxCompletionTokens,
}

/// The field for the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SeedField {
    Seed,
    RandomSeed,
}

/// How thinking is turned on and off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Switch {
    /// By an argument of the model's template.
    Template,
    /// By `thinking.type`.
    Type,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    servers: Vec<Preset>,
    own: Quirks,
}

fn yes() -> bool {
    true
}

static FILE: LazyLock<File> = LazyLock::new(|| {
    toml::from_str(include_str!("presets.toml")).expect("the presets that ship are tested")
});
static OTHER: LazyLock<Quirks> = LazyLock::new(Quirks::default);

impl Preset {
    /// A connection to it under its own name, without a key.
    pub fn connection(&self) -> Connection {
        Connection {
            name: self.name.clone(),
            kind: Some(self.kind),
            url: self.url.clone(),
            key: KeySource::None,
            ..Connection::default()
        }
    }

    /// The first of its environment variables that is set.
    pub fn key_variable(&self) -> Option<&str> {
        let is_set = |name: &&String| std::env::var(name).is_ok_and(|key| !key.trim().is_empty());
        self.env.iter().find(is_set).map(String::as_str)
    }

    fn is_at(&self, url: &Url) -> bool {
        self.domains.iter().any(|domain| address::is_within(url, domain))
    }
}

/// The servers that are offered, in their order.
pub fn presets() -> impl Iterator<Item = &'static Preset> {
    FILE.servers.iter().filter(|preset| preset.offered)
}

/// The server that is offered under this id, or under this name in any case.
pub fn preset(name: &str) -> Option<&'static Preset> {
    let name = name.trim();
    presets().find(|preset| {
        preset.id.eq_ignore_ascii_case(name) || preset.name.eq_ignore_ascii_case(name)
    })
}

/// The servers that usually run on this machine.
pub(super) fn local() -> impl Iterator<Item = &'static Preset> {
    FILE.servers.iter().filter(|preset| preset.local)
}

/// The known server at an address.
pub(super) fn at(url: &Url) -> Option<&'static Preset> {
    FILE.servers.iter().find(|preset| preset.is_at(url))
}

/// In what the server at an address differs.
pub(super) fn quirks(url: &Url) -> &'static Quirks {
    match at(url) {
        Some(preset) => &preset.quirks,
        None if address::is_private(url) => &FILE.own,
        None => &OTHER,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::client::{check_address, guess_kind};

    #[test]
    fn every_preset_is_whole() {
        assert!(presets().count() >= 14);
        let mut names = HashSet::new();
        for preset in &FILE.servers {
            assert!(names.insert(preset.id.to_ascii_lowercase()), "{}", preset.id);
            assert!(!preset.name.is_empty() && !preset.name.contains('/'), "{}", preset.id);
            assert_eq!(check_address(&preset.connection()), Ok(()), "{}", preset.id);
            assert_eq!(preset.env.is_empty(), preset.key_url.is_none(), "{}", preset.id);
            let url = address::parse(&preset.url).unwrap();
            assert_eq!(address::is_loopback(&url), preset.local, "{}", preset.id);
            if let Some(key_url) = &preset.key_url {
                assert_eq!(Url::parse(key_url).unwrap().scheme(), "https");
                assert_eq!(url.scheme(), "https", "a key goes over TLS alone: {}", preset.id);
                // What somebody types without a protocol is the same server.
                assert_eq!(at(&url), Some(preset));
                assert_eq!(guess_kind(&preset.url), Some(preset.kind), "{}", preset.id);
            }
            for variable in &preset.env {
                assert!(
                    variable.bytes().all(|b| b.is_ascii_uppercase() || b == b'_'),
                    "{variable}"
                );
            }
        }
    }

    #[test]
    fn a_preset_is_found_by_its_id_and_its_name() {
        for name in ["zai", "Z.ai", " z.AI "] {
            assert_eq!(preset(name).map(|preset| preset.id.as_str()), Some("zai"));
        }
        assert_eq!(preset("nobody"), None);
        assert_eq!(preset("azure"), None, "it has no address that everybody uses");
    }

    #[test]
    fn quirks_are_those_of_the_address() {
        let of = |url: &str| quirks(&address::parse(url).unwrap());
        assert_eq!(of("https://x.openai.azure.com/v1").limit, LimitField::MaxCompletionTokens);
        assert_eq!(of("https://api.mistral.ai/v1").seed, SeedField::RandomSeed);
        assert_eq!(of("http://192.168.1.7:8000").switch, Some(Switch::Template));
        assert_eq!(*of("https://llm.example.org/v1"), Quirks::default());
    }
}
