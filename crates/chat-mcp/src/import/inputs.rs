//! Gives the secrets of inputs other names.

use crate::config::{ServerConfig, Transport, is_secret_name};

/// Makes a server refer to a secret by another name, and says whether it referred to it at all. Nothing changes if the
/// name is not allowed.
pub(crate) fn rename_secret(config: &mut ServerConfig, from: &str, to: &str) -> bool {
    if !is_secret_name(to) || !config.secrets().any(|secret| secret == from) {
        return false;
    }
    let templates: Vec<_> = match &mut config.transport {
        Transport::Stdio(server) => {
            let texts = std::iter::once(&mut server.command).chain(&mut server.args);
            texts.chain(server.env.values_mut()).collect()
        }
        Transport::Http(server) => {
            std::iter::once(&mut server.url).chain(server.headers.values_mut()).collect()
        }
    };
    for template in templates {
        *template = template.with_secret_renamed(from, to);
    }
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::{StdioServer, Template};

    fn program(text: &str) -> ServerConfig {
        let template = |text: &str| Template::parse(text).unwrap();
        ServerConfig::new(Transport::Stdio(StdioServer {
            command: template(text),
            args: vec![template(text)],
            env: BTreeMap::from([("A".to_owned(), template(text))]),
            cwd: None,
        }))
    }

    #[test]
    fn every_reference_to_it_has_the_new_name() {
        let mut config = program("$${x} ${keyring:a} ${env:B}${C:-d}${keyring:b}");
        assert!(rename_secret(&mut config, "a", "a-2"));
        assert_eq!(config, program("$${x} ${keyring:a-2} ${env:B}${C:-d}${keyring:b}"));
        for (from, to) in [("a", "a-3"), ("b", "not a name")] {
            let before = config.clone();
            assert!(!rename_secret(&mut config, from, to));
            assert_eq!(config, before);
        }
    }
}
