//! Knows all names of a file and the secrets to which its texts refer, also of servers that cannot be used.

use std::collections::{BTreeMap, BTreeSet};

use chat_definitions::Severity;
use jsonc_parser::ast::{Object, Value};

use super::json::key;
use super::problem::quoted;
use super::{McpConfig, Problem, Reference, Template, is_secret_name};

/// The names in an object of servers, with the secrets to which the texts below them refer.
pub(super) fn of(servers: &Object<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut entries: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for property in &servers.properties {
        let secrets = entries.entry(key(&property.name).to_owned()).or_default();
        collect(&property.value, secrets);
    }
    entries
}

fn collect(value: &Value<'_>, found: &mut BTreeSet<String>) {
    match value {
        Value::StringLit(text) => found.extend(secrets(&text.value)),
        Value::Object(object) => object.properties.iter().for_each(|it| collect(&it.value, found)),
        Value::Array(list) => list.elements.iter().for_each(|it| collect(it, found)),
        _ => {}
    }
}

/// The secrets to which a text refers. In one with an error, all that looks like a reference counts.
fn secrets(text: &str) -> BTreeSet<String> {
    if let Ok(template) = Template::parse(text) {
        let secret = |reference: &Reference| match reference {
            Reference::Secret { name } => Some(name.clone()),
            Reference::Variable { .. } => None,
        };
        return template.references().filter_map(secret).collect();
    }
    let names = text.split("${keyring:").skip(1).filter_map(|rest| rest.split('}').next());
    names.filter(|name| is_secret_name(name)).map(str::to_owned).collect()
}

impl McpConfig {
    /// All names in the file, also of servers with errors.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Whether the file has this name, also for a server with an error.
    pub fn has_name(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Whether all names of the file are known. If not, it may have servers that nobody sees.
    pub fn is_readable(&self) -> bool {
        let is_broken = |it: &Problem| it.server.is_none() && it.severity() == Severity::Error;
        !self.problems.iter().any(is_broken)
    }

    /// Whether a server refers to this secret, also one with an error.
    pub fn refers_to(&self, secret: &str) -> bool {
        self.entries.values().any(|secrets| secrets.contains(secret))
    }

    /// Whether it is known to which secrets the other servers refer: not while one of them has an error.
    pub fn knows_others(&self, name: &str) -> bool {
        let name = quoted(name);
        let is_others = |it: &&Problem| it.server.as_ref() != Some(&name);
        !self.problems.iter().filter(is_others).any(|it| it.severity() == Severity::Error)
    }

    /// The secrets of a server to which no other one refers, also of one with an error. None are its own while another
    /// one has an error: it may mean one of them.
    pub fn own_secrets(&self, name: &str) -> BTreeSet<String> {
        if !self.knows_others(name) {
            return BTreeSet::new();
        }
        let mut own = self.entries.get(name).cloned().unwrap_or_default();
        let others = self.entries.iter().filter(|(other, _)| *other != name);
        others.flat_map(|(_, secrets)| secrets).for_each(|secret| {
            own.remove(secret);
        });
        own
    }
}

#[cfg(test)]
mod tests {
    use chat_definitions::Origin;

    use super::*;

    fn file(servers: &str) -> McpConfig {
        let text = format!("{{\"mcpServers\": {{{servers}}}}}");
        McpConfig::parse(text.as_bytes(), Origin::User)
    }

    fn own(config: &McpConfig, name: &str) -> Vec<String> {
        config.own_secrets(name).into_iter().collect()
    }

    #[test]
    fn a_secret_of_two_servers_stays() {
        let config = file(
            r#""a": {"command": "x", "args": ["${keyring:both}", "${keyring:a/T}"]},
               "b": {"command": "x", "env": {"B": "x${keyring:both}"}}"#,
        );
        assert_eq!(own(&config, "a"), ["a/T"]);
        assert_eq!(own(&config, "c"), [""; 0]);
    }

    #[test]
    fn a_server_with_an_error_keeps_the_secrets_of_the_others_and_loses_its_own() {
        let config = file(
            r#""a": {"command": "x", "args": ["${keyring:both}", "${keyring:a/T}"]},
               "b": {"command": 1, "headers": {"B": "${keyrng:x} ${keyring:both} ${keyring:b/T}"}}"#,
        );
        assert!(config.server("b").is_none() && config.has_name("b"));
        assert!(!config.knows_others("a") && config.knows_others("b"));
        assert_eq!(own(&config, "a"), [""; 0], "the other one may mean it, too");
        assert_eq!(own(&config, "b"), ["b/T"]);
        assert!(config.refers_to("b/T") && config.refers_to("both") && !config.refers_to("x"));
    }

    #[test]
    fn all_names_are_known_unless_the_file_cannot_be_read() {
        let config = file(r#""a": {"command": "x"}, "b": 7, "a": {"command": "y"}, "c d": {}"#);
        assert_eq!(config.names().collect::<Vec<_>>(), ["a", "b", "c d"]);
        assert!(config.is_readable());
        for broken in [r#""a": {"#, r#"}, "mcpServers": {"b": {"command": "x"}"#] {
            assert!(!file(broken).is_readable(), "{broken}");
        }
        assert!(!McpConfig::parse(b"{\"mcpServers\": []}", Origin::User).is_readable());
        assert!(McpConfig::default().is_readable());
    }
}
