//! Defines a server as the file describes it.

use std::collections::BTreeMap;
use std::time::Duration;

use chat_definitions::{Origin, Severity};

use super::{Change, McpConfig, ProblemKind, Reference, Template, edit};

/// A server with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Its name, which is unique in its file; see [`is_name`](super::is_name).
    pub name: String,
    /// The rest.
    pub config: ServerConfig,
}

/// How a server is reached, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerConfig {
    /// How it is reached.
    pub transport: Transport,
    /// Whether the user switched it off.
    pub disabled: bool,
    /// What only Natter knows of it.
    pub options: ServerOptions,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A program that is started, over its standard input and output.
    Stdio(StdioServer),
    /// An address, over HTTP.
    Http(HttpServer),
}

/// A program that is a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StdioServer {
    /// The program: a name to find in `PATH`, or a path.
    pub command: Template,
    /// Its arguments.
    pub args: Vec<Template>,
    /// Variables of its environment.
    pub env: BTreeMap<String, Template>,
    /// The folder in which it starts: absolute, or with `~`, or relative to the project of the file.
    pub cwd: Option<String>,
}

/// Programs that download the one that they run, if they do not have it yet.
const DOWNLOADERS: [&str; 5] = ["npx", "pnpx", "bunx", "uvx", "pipx"];

impl StdioServer {
    /// Whether its program may have to download the server.
    pub(crate) fn downloads(&self) -> bool {
        let name = self.command.source().rsplit('/').next();
        name.is_some_and(|name| DOWNLOADERS.contains(&name))
    }
}

/// A server at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpServer {
    /// The address.
    pub url: Template,
    /// Headers of each request, by name.
    pub headers: BTreeMap<String, Template>,
}

/// What only Natter knows of a server: the key `natter` of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Whether a program runs in the sandbox.
    pub sandbox: bool,
    /// Whether a program in the sandbox has the network.
    pub network: bool,
    /// Folders that a program in the sandbox may change, as `cwd` is written.
    pub folders: Vec<String>,
    /// Folders that it may read.
    pub read_folders: Vec<String>,
    /// Tools of the server, as it names them, that are not offered to models.
    pub disabled_tools: Vec<String>,
    /// How long a call may take. None is the default of all servers.
    pub time_limit: Option<Duration>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            sandbox: true,
            network: false,
            folders: Vec::new(),
            read_folders: Vec::new(),
            disabled_tools: Vec::new(),
            time_limit: None,
        }
    }
}

impl Server {
    /// Whether the file could have this server.
    ///
    /// # Errors
    /// What would be wrong with it.
    pub fn check(&self) -> Result<(), ProblemKind> {
        let text = edit::changed("", &Change::Add(self.clone()));
        let text = text.map_err(|_| ProblemKind::InvalidName)?;
        let problems = McpConfig::parse(text.as_bytes(), Origin::User).problems;
        let error = problems.into_iter().find(|it| it.severity() == Severity::Error);
        error.map_or(Ok(()), |error| Err(error.kind))
    }
}

impl ServerConfig {
    /// A server that is switched on, with the default options.
    pub fn new(transport: Transport) -> Self {
        Self { transport, disabled: false, options: ServerOptions::default() }
    }

    /// The names of the secrets to which it refers.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        self.templates().flat_map(Template::references).filter_map(|reference| match reference {
            Reference::Secret { name } => Some(name.as_str()),
            Reference::Variable { .. } => None,
        })
    }

    /// All texts in which references may stand.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let (stdio, http) = match &self.transport {
            Transport::Stdio(server) => (Some(server), None),
            Transport::Http(server) => (None, Some(server)),
        };
        let program = stdio.into_iter().flat_map(|server| {
            std::iter::once(&server.command).chain(&server.args).chain(server.env.values())
        });
        let address = http
            .into_iter()
            .flat_map(|server| std::iter::once(&server.url).chain(server.headers.values()));
        program.chain(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str, url: &str) -> Result<(), ProblemKind> {
        let url = Template::parse(url).unwrap();
        let transport = Transport::Http(HttpServer { url, headers: BTreeMap::new() });
        Server { name: name.to_owned(), config: ServerConfig::new(transport) }.check()
    }

    #[test]
    fn a_server_is_judged_before_it_is_written() {
        assert_eq!(at("notes", "https://example.org/mcp"), Ok(()));
        assert_eq!(at("notes", "example.org"), Err(ProblemKind::InvalidUrl));
        assert_eq!(at("a b", "https://example.org/mcp"), Err(ProblemKind::InvalidName));
    }
}
