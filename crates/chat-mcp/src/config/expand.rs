//! Replaces the references of a server when it starts.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;

use super::transport::{judge_url, keys};
use super::{Reference, ServerConfig, Template, Transport};

/// A text that may contain a secret. Its `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// Takes a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the program or the request that needs it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretText(…)")
    }
}

/// Finds what references stand for.
pub trait Resolver: Sync {
    /// The variable or secret. What is taken in place of a variable that is not set is no matter of the resolver.
    fn resolve(
        &self,
        reference: &Reference,
    ) -> impl Future<Output = Result<SecretText, Unresolved>> + Send;
}

/// Why a reference stands for nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// There is no such variable or secret.
    Missing,
    /// The keyring is locked or does not answer.
    Unavailable,
}

/// Why a server cannot start with what its references stand for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// A variable of the environment is not set.
    #[error("the variable {name} is not set")]
    NoVariable {
        /// Its name.
        name: String,
    },
    /// The keyring has no such secret.
    #[error("the keyring has no {name}")]
    NoSecret {
        /// Its name.
        name: String,
    },
    /// The keyring is locked or does not answer.
    #[error("the keyring is not available")]
    NoKeyring {
        /// The name of the secret.
        name: String,
    },
    /// The address is none with what was put in.
    #[error("the address is not valid")]
    InvalidUrl,
    /// What was put in has characters that no program or header can take.
    #[error("the value of {field} has characters that are not allowed")]
    ForbiddenCharacters {
        /// The key of the file, or the name of the variable or the header.
        field: String,
    },
}

/// What a server starts with. It holds secrets, and lives only as long as the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResolvedServer {
    /// A program.
    Program(ResolvedProgram),
    /// An address.
    Endpoint(ResolvedEndpoint),
}

/// A program with everything that it starts with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedProgram {
    /// The program.
    pub command: SecretText,
    /// Its arguments.
    pub args: Vec<SecretText>,
    /// Variables of its environment.
    pub env: BTreeMap<String, SecretText>,
}

/// An address with everything that requests need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedEndpoint {
    /// The address.
    pub url: SecretText,
    /// Headers.
    pub headers: BTreeMap<String, SecretText>,
}

impl ServerConfig {
    /// Replaces all references, each asked for once.
    ///
    /// # Errors
    /// Something is not there, or does not fit where it is put in.
    pub async fn expand(&self, resolver: &impl Resolver) -> Result<ResolvedServer, ExpandError> {
        let mut values = Values::default();
        for reference in self.templates().flat_map(Template::references) {
            if !values.0.contains_key(reference) {
                let value = value(resolver, reference).await?;
                values.0.insert(reference.clone(), value);
            }
        }
        match &self.transport {
            Transport::Stdio(server) => {
                let no_nul = |field: &str, template: &Template| {
                    values.fill(field, template, |text| !text.contains('\0'))
                };
                let args = server.args.iter().map(|arg| no_nul(keys::ARGS, arg));
                let env = server
                    .env
                    .iter()
                    .map(|(name, it)| Ok::<_, ExpandError>((name.clone(), no_nul(name, it)?)));
                Ok(ResolvedServer::Program(ResolvedProgram {
                    command: no_nul(keys::COMMAND, &server.command)?,
                    args: args.collect::<Result<_, _>>()?,
                    env: env.collect::<Result<_, _>>()?,
                }))
            }
            Transport::Http(server) => {
                let url = values.fill(keys::URL, &server.url, |_| true)?;
                judge_url(url.expose()).map_err(|_| ExpandError::InvalidUrl)?;
                let headers = server.headers.iter().map(|(name, it)| {
                    Ok::<_, ExpandError>((name.clone(), values.fill(name, it, is_header_value)?))
                });
                let headers = headers.collect::<Result<_, _>>()?;
                Ok(ResolvedServer::Endpoint(ResolvedEndpoint { url, headers }))
            }
        }
    }
}

/// What references stand for.
#[derive(Default)]
struct Values(BTreeMap<Reference, SecretText>);

impl Values {
    fn fill(
        &self,
        field: &str,
        template: &Template,
        is_allowed: impl Fn(&str) -> bool,
    ) -> Result<SecretText, ExpandError> {
        let forbidden = || ExpandError::ForbiddenCharacters { field: field.to_owned() };
        let value = |reference: &Reference| {
            let value = self.0.get(reference).ok_or_else(forbidden)?;
            Ok::<_, ExpandError>(Cow::Borrowed(value.expose()))
        };
        let text = template.fill(value)?;
        if is_allowed(&text) { Ok(SecretText(text)) } else { Err(forbidden()) }
    }
}

/// What a reference stands for.
async fn value(resolver: &impl Resolver, reference: &Reference) -> Result<SecretText, ExpandError> {
    let unresolved = match resolver.resolve(reference).await {
        Ok(text) => return Ok(text),
        Err(unresolved) => unresolved,
    };
    Err(match (reference, unresolved) {
        (Reference::Variable { default: Some(default), .. }, Unresolved::Missing) => {
            return Ok(SecretText::new(default));
        }
        (Reference::Variable { name, .. }, _) => ExpandError::NoVariable { name: name.clone() },
        (Reference::Secret { name }, Unresolved::Missing) => {
            ExpandError::NoSecret { name: name.clone() }
        }
        (Reference::Secret { name }, Unresolved::Unavailable) => {
            ExpandError::NoKeyring { name: name.clone() }
        }
    })
}

/// Whether HTTP can carry a value: a line break would begin another header.
fn is_header_value(text: &str) -> bool {
    text.chars().all(|c| c == '\t' || !c.is_control())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::config::{HttpServer, StdioServer};

    /// Knows these, by their references, and notes what it is asked for.
    struct Known(Vec<(&'static str, &'static str)>, Mutex<Vec<String>>);

    fn known(values: &[(&'static str, &'static str)]) -> Known {
        Known(values.to_vec(), Mutex::default())
    }

    impl Resolver for Known {
        async fn resolve(&self, reference: &Reference) -> Result<SecretText, Unresolved> {
            let asked = reference.to_string();
            self.1.lock().unwrap().push(asked.clone());
            if asked.contains("locked") {
                return Err(Unresolved::Unavailable);
            }
            let found = self.0.iter().find(|(name, _)| *name == asked);
            found.map(|(_, value)| SecretText::new(*value)).ok_or(Unresolved::Missing)
        }
    }

    fn template(source: &str) -> Template {
        Template::parse(source).unwrap()
    }

    fn program(arg: &str, token: &str) -> ServerConfig {
        ServerConfig::new(Transport::Stdio(StdioServer {
            command: template("${HOME}/bin/server"),
            args: vec![template("--home"), template(arg)],
            env: BTreeMap::from([("TOKEN".to_owned(), template(token))]),
            cwd: None,
        }))
    }

    fn address(url: &str, header: &str) -> ServerConfig {
        let headers = BTreeMap::from([("Authorization".to_owned(), template(header))]);
        ServerConfig::new(Transport::Http(HttpServer { url: template(url), headers }))
    }

    #[tokio::test]
    async fn a_program_gets_what_its_references_stand_for_each_asked_once() {
        let resolver = known(&[("${env:HOME}", "/home/ada"), ("${keyring:token}", "${env:HOME}")]);
        let start =
            program("${env:HOME}:${NONE:-x}", "${keyring:token}").expand(&resolver).await.unwrap();
        let ResolvedServer::Program(program) = &start else { panic!("{start:?}") };
        assert_eq!(program.command.expose(), "/home/ada/bin/server");
        assert_eq!(program.args[1].expose(), "/home/ada:x");
        assert_eq!(program.env["TOKEN"].expose(), "${env:HOME}", "values are not looked at again");
        assert_eq!(resolver.1.lock().unwrap().iter().filter(|it| *it == "${env:HOME}").count(), 1);
        assert!(!format!("{start:?}").contains("ada"), "{start:?}");
    }

    #[tokio::test]
    async fn what_is_missing_is_named() {
        let resolver = known(&[("${env:HOME}", "/h")]);
        for (arg, expected) in [
            ("${NONE}", ExpandError::NoVariable { name: "NONE".to_owned() }),
            ("${keyring:none}", ExpandError::NoSecret { name: "none".to_owned() }),
            ("${keyring:locked}", ExpandError::NoKeyring { name: "locked".to_owned() }),
        ] {
            assert_eq!(program(arg, "").expand(&resolver).await, Err(expected));
        }
    }

    #[tokio::test]
    async fn values_cannot_break_out_of_where_they_are_put() {
        let resolver = known(&[
            ("${env:HOME}", "/h"),
            ("${env:NUL}", "a\0b"),
            ("${env:BREAK}", "a\r\nX-Evil: b"),
            ("${env:HOST}", "example.org"),
            ("${env:LOGIN}", "ada:pw@example.org"),
        ]);
        let forbidden = |field: &str| ExpandError::ForbiddenCharacters { field: field.to_owned() };
        assert_eq!(program("", "${NUL}").expand(&resolver).await, Err(forbidden("TOKEN")));
        assert_eq!(program("${NUL}", "").expand(&resolver).await, Err(forbidden("args")));
        let url = "https://${HOST}/mcp";
        assert_eq!(
            address(url, "${BREAK}").expand(&resolver).await,
            Err(forbidden("Authorization"))
        );
        assert!(address(url, "Bearer x").expand(&resolver).await.is_ok());
        for url in ["https://${LOGIN}/mcp", "${HOST}", "file://${HOST}/x"] {
            assert_eq!(
                address(url, "").expand(&resolver).await,
                Err(ExpandError::InvalidUrl),
                "{url}"
            );
        }
    }
}
