//! Defines permission requests: what a tool wants to do, ready to be judged.

use crate::command::{self, Reads, Redirect, RedirectKind, Simple, Unparsable, Word};
use crate::path::{Project, ResolvedPath};
use crate::policy::Why;
use std::net::IpAddr;

/// What a tool wants to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Read a file, or list a folder and what is below it.
    Read {
        /// The path.
        path: ResolvedPath,
    },
    /// Create, change, move or delete a file or a folder. A move is two requests: for the old and
    /// the new name.
    Write {
        /// The path.
        path: ResolvedPath,
    },
    /// Run a command.
    Run(Run),
    /// Access a host from a tool.
    Network {
        /// A name or an address, without scheme or port.
        host: String,
        /// Whether it is, or resolved to, an address of this machine, of the local network, or of a
        /// cloud's metadata service. Such an address is allowed only if a rule names exactly this
        /// address, or this host as a local one. Not set for a service that the user set up there:
        /// on this machine that goes by the name `localhost`, too.
        private: bool,
        /// The known addresses of the host: a rule that denies one of them denies every name for
        /// it.
        leads_to: Vec<IpAddr>,
    },
    /// Use a tool of an MCP server. Nobody but the server knows what it does.
    Mcp {
        /// The server, as it is named in the configuration.
        server: String,
        /// The tool, as its server names it.
        tool: String,
        /// Whether the server says that it only reads. That alone allows nothing.
        read_only: bool,
        /// Whether it was allowed as the server describes it now.
        approval: ToolApproval,
    },
}

/// Whether the user allowed a server's tool before, as the server describes it now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolApproval {
    /// It was allowed as it is.
    Approved,
    /// Nothing is remembered of it: a rule that is older than this chat may be about another tool of its name.
    New,
    /// It was allowed, and the server describes it in another way now.
    Changed,
}

/// A parsed command, with its redirects resolved on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub(crate) command: String,
    pub(crate) folder: ResolvedPath,
    pub(crate) sandboxed: bool,
    pub(crate) network: bool,
    pub(crate) background: bool,
    /// What is done, if the command only stands for it: nothing runs.
    pub(crate) purpose: Option<Why>,
    pub(crate) parts: Result<Vec<Simple>, Unparsable>,
    pub(crate) redirected: Vec<Redirected>,
    /// What each part reads, if it is known to do nothing else.
    pub(crate) reads: Vec<Option<Reads>>,
}

/// A file that the shell opens for a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirected {
    /// Whether it is written.
    pub writes: bool,
    /// As it is written in the command.
    pub written: String,
    /// Where it leads.
    pub target: Target,
}

/// Where a redirect leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// To this path.
    Path(ResolvedPath),
    /// This is known only when the command runs.
    Unknown,
}

/// Files that store and reveal nothing, such as the command's own streams.
const NOBODYS: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/stdin", "/dev/stdout", "/dev/stderr"];

impl Run {
    /// Parses a command that is to run in `folder`. The caller must say truthfully whether it runs
    /// in a sandbox, and whether it has the network. Reads the disk for the redirects.
    pub fn new(
        project: &Project,
        command: &str,
        folder: ResolvedPath,
        sandboxed: bool,
        network: bool,
    ) -> Self {
        let parts = command::parse(command);
        let found = parts.as_deref().unwrap_or_default();
        let resolve = |from: Option<&ResolvedPath>, path: &str| match path {
            "" => project.resolve(".").ok(),
            path => project.resolve_in(from.unwrap_or(&folder), path).ok(),
        };
        // A variable such as CDPATH may change where `cd` leads.
        let is_plain = found.iter().all(|part| part.assignments.is_empty());
        let moves = found.iter().any(command::changes_folder);
        let folders = if is_plain || !moves { command::folders(found, &resolve) } else { None };
        let redirected = found
            .iter()
            .flat_map(|part| &part.redirects)
            .flat_map(|redirect| redirected(project, &folder, folders.as_deref(), redirect))
            .collect();
        let reads = command::reads(found, resolve);
        let command = command.to_owned();
        Self {
            command,
            folder,
            sandboxed,
            network,
            background: false,
            purpose: None,
            parts,
            redirected,
            reads,
        }
    }

    /// Says that the command only stands for what is done, and why that is asked: nothing runs outside
    /// a sandbox. No rule allows it in advance.
    #[must_use]
    pub fn standing_for(self, purpose: Why) -> Self {
        Self { purpose: Some(purpose), sandboxed: false, ..self }
    }

    /// The same command in the background, where it may outlast the reply, or in the foreground.
    #[must_use]
    pub fn in_background(self, background: bool) -> Self {
        Self { background, ..self }
    }

    /// The whole command.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Its working directory.
    pub fn folder(&self) -> &ResolvedPath {
        &self.folder
    }

    /// Whether it runs in a sandbox.
    pub fn is_sandboxed(&self) -> bool {
        self.sandboxed
    }

    /// Whether it runs in the background.
    pub fn is_in_background(&self) -> bool {
        self.background
    }

    /// Its simple commands.
    pub fn parts(&self) -> Result<&[Simple], &Unparsable> {
        self.parts.as_deref()
    }

    /// The files that the shell opens for it.
    pub fn redirected(&self) -> &[Redirected] {
        &self.redirected
    }
}

/// The file of a redirect, if it has one: one for each of the `folders` in which the shell may open it, since whether
/// a `cd` before it succeeds is known only when it runs. `folders` is none if they are unknown; in it, none is `folder`,
/// where the command starts.
fn redirected(
    project: &Project,
    folder: &ResolvedPath,
    folders: Option<&[Option<ResolvedPath>]>,
    redirect: &Redirect,
) -> Vec<Redirected> {
    if redirect.kind == RedirectKind::Text {
        return Vec::new();
    }
    let in_folder = |from: &ResolvedPath, path: &str| {
        // In quotes, the shell takes a tilde literally.
        let path = if path.starts_with('~') { format!("./{path}") } else { path.to_owned() };
        project.resolve_in(from, &path).map_or(Target::Unknown, Target::Path)
    };
    let targets = match (&redirect.target, folders) {
        (Word::Literal(path), _) if NOBODYS.contains(&path.as_str()) => Vec::new(),
        (Word::Literal(path), _) if path.starts_with('/') => vec![in_folder(folder, path)],
        (Word::Literal(path), Some(folders)) => {
            folders.iter().map(|from| in_folder(from.as_ref().unwrap_or(folder), path)).collect()
        }
        (Word::Literal(_), None) | (Word::Other(_), _) => vec![Target::Unknown],
    };
    let writes = redirect.kind == RedirectKind::Write;
    let written = redirect.target.as_written();
    let redirected = |target| Redirected { writes, written: written.to_owned(), target };
    targets.into_iter().map(redirected).collect()
}
