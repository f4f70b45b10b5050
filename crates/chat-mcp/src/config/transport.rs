//! Reads how a server is reached.

use std::collections::BTreeMap;

use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use url::Url;

use super::options::put;
use super::problem::quoted;
use super::{
    HttpServer, ProblemKind, Reader, ServerConfig, ServerOptions, StdioServer, Template, Transport,
};

/// The keys of a server.
pub(crate) mod keys {
    pub(crate) const TYPE: &str = "type";
    pub(crate) const COMMAND: &str = "command";
    pub(crate) const ARGS: &str = "args";
    pub(crate) const ENV: &str = "env";
    pub(crate) const CWD: &str = "cwd";
    pub(crate) const URL: &str = "url";
    pub(crate) const HEADERS: &str = "headers";
    pub(crate) const DISABLED: &str = "disabled";
    pub(crate) const NATTER: &str = "natter";
}

/// Keys of other programs that change what a server can do. Without them it may not work.
const UNSUPPORTED: [&str; 5] = ["envFile", "auth", "oauth", "headersHelper", "sandbox"];

/// Headers that the protocol or HTTP itself sets.
const RESERVED: [&str; 11] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// How the names of those begin that the protocol sets for the arguments of tools.
const RESERVED_PREFIX: &str = "mcp-param-";

/// Whether the protocol or HTTP itself sets a header, by its name in small letters.
pub(crate) fn is_reserved_header(name: &str) -> bool {
    RESERVED.contains(&name) || name.starts_with(RESERVED_PREFIX)
}

/// What a type says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Stdio,
    Http,
}

/// The kind that a type names, in the spellings of several programs.
pub(super) fn kind_of(word: &str) -> Result<Kind, ProblemKind> {
    let plain = word.to_ascii_lowercase().replace(['-', '_'], "");
    match plain.as_str() {
        "stdio" | "local" => Ok(Kind::Stdio),
        "http" | "streamablehttp" => Ok(Kind::Http),
        "sse" => Err(ProblemKind::OldTransport),
        _ => Err(ProblemKind::UnknownType { word: quoted(word) }),
    }
}

/// A server's values, as far as they could be read.
#[derive(Default)]
struct ServerFields {
    kind: Option<Kind>,
    command: Option<Template>,
    args: Vec<Template>,
    env: BTreeMap<String, Template>,
    cwd: Option<String>,
    url: Option<Template>,
    headers: BTreeMap<String, Template>,
    disabled: bool,
    options: ServerOptions,
}

impl Reader<'_> {
    /// A server. None if there is an error.
    pub(crate) fn server(&mut self, object: &Object<'_>) -> Option<ServerConfig> {
        let mut found = ServerFields::default();
        let mut is_whole = true;
        for (name, property) in self.keys(object) {
            is_whole &= self.value(name, property, &mut found);
        }
        // A key that occurs twice is an error without a value.
        let is_whole = is_whole && !self.has_error();
        let kind = match (found.kind, &found.command, &found.url) {
            (Some(kind), ..) => kind,
            (None, Some(_), None) => Kind::Stdio,
            (None, None, Some(_)) => Kind::Http,
            // Where there is one with an error, more is not known.
            (None, None, None) if !is_whole => return None,
            (None, None, None) => {
                self.complain(object.range, ProblemKind::NoTransport);
                return None;
            }
            (None, Some(_), Some(_)) => {
                self.complain(object.range, ProblemKind::TwoTransports);
                return None;
            }
        };
        if !is_whole {
            return None;
        }
        let ServerFields { command, args, env, cwd, url, headers, disabled, options, .. } = found;
        let missing = |reader: &mut Self, key| {
            reader.complain(object.range, ProblemKind::Missing { key });
        };
        let transport = match (kind, command, url) {
            (Kind::Stdio, Some(command), _) => {
                Transport::Stdio(StdioServer { command, args, env, cwd })
            }
            (Kind::Http, _, Some(url)) => Transport::Http(HttpServer { url, headers }),
            (Kind::Stdio, None, _) => {
                missing(self, keys::COMMAND);
                return None;
            }
            (Kind::Http, _, None) => {
                missing(self, keys::URL);
                return None;
            }
        };
        Some(ServerConfig { transport, disabled, options })
    }

    /// Reads the value of a key of a server. Whether it has no error.
    fn value(&mut self, name: &str, property: &ObjectProp<'_>, found: &mut ServerFields) -> bool {
        let value = &property.value;
        match name {
            keys::TYPE => put(&mut found.kind, self.kind(value).map(Some)),
            keys::COMMAND => {
                let command = self.template(keys::COMMAND, value);
                put(&mut found.command, self.not_empty(keys::COMMAND, command, value).map(Some))
            }
            keys::ARGS => put(
                &mut found.args,
                self.list(keys::ARGS, value, |reader, element| {
                    reader.template(keys::ARGS, element)
                }),
            ),
            keys::ENV => put(&mut found.env, self.map(keys::ENV, value, judge_variable)),
            keys::CWD => put(&mut found.cwd, self.folder(keys::CWD, value).map(Some)),
            keys::URL => put(&mut found.url, self.url(value).map(Some)),
            keys::HEADERS => {
                let mut seen = Vec::new();
                put(
                    &mut found.headers,
                    self.map(keys::HEADERS, value, |name| judge_header(name, &mut seen)),
                )
            }
            keys::DISABLED => put(&mut found.disabled, self.flag(keys::DISABLED, value)),
            keys::NATTER => {
                let Value::Object(object) = value else {
                    let kind = ProblemKind::NotAnObject { key: Some(keys::NATTER) };
                    self.complain(property.range, kind);
                    return false;
                };
                put(&mut found.options, self.options(object))
            }
            other => {
                let key = quoted(other);
                let kind = if UNSUPPORTED.contains(&other) {
                    ProblemKind::UnsupportedKey { key }
                } else {
                    ProblemKind::ForeignKey { key }
                };
                self.complain(property.range, kind);
                true
            }
        }
    }

    fn kind(&mut self, value: &Value<'_>) -> Option<Kind> {
        let word = self.text(keys::TYPE, value)?;
        kind_of(&word).map_err(|kind| self.complain(value.range(), kind)).ok()
    }

    fn not_empty(
        &mut self,
        key: &'static str,
        template: Option<Template>,
        value: &Value<'_>,
    ) -> Option<Template> {
        let template = template?;
        if template.source().trim().is_empty() {
            self.complain(value.range(), ProblemKind::Empty { key });
            return None;
        }
        Some(template)
    }

    fn url(&mut self, value: &Value<'_>) -> Option<Template> {
        let url = self.template(keys::URL, value);
        let url = self.not_empty(keys::URL, url, value)?;
        // With references the address is known only when the server starts.
        if let Some(Err(kind)) = url.as_plain().map(judge_url) {
            self.complain(value.range(), kind);
            return None;
        }
        Some(url)
    }
}

/// Says what is wrong with an address.
pub(super) fn judge_url(url: &str) -> Result<(), ProblemKind> {
    let url = Url::parse(url).map_err(|_| ProblemKind::InvalidUrl)?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(ProblemKind::InvalidUrl);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ProblemKind::CredentialsInUrl);
    }
    Ok(())
}

fn judge_variable(name: &str) -> Option<ProblemKind> {
    let is_bad =
        name.is_empty() || name.contains(['=', '\0']) || name.contains(chat_definitions::is_hidden);
    is_bad.then(|| ProblemKind::InvalidVariable { name: quoted(name) })
}

/// Says what is wrong with the name of a header, after those that were seen.
fn judge_header(name: &str, seen: &mut Vec<String>) -> Option<ProblemKind> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let lower = name.to_ascii_lowercase();
    if name.is_empty() || !name.bytes().all(is_allowed) {
        Some(ProblemKind::InvalidHeader { name: quoted(name) })
    } else if is_reserved_header(&lower) {
        Some(ProblemKind::ReservedHeader { name: quoted(name) })
    } else if seen.contains(&lower) {
        Some(ProblemKind::DuplicateKey { key: quoted(name) })
    } else {
        seen.push(lower);
        None
    }
}
