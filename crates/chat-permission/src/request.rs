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
        let moves = found.iter().any(command::changes_folder);
        let redirected = found
            .iter()
            .flat_map(|part| &part.redirects)
            .filter_map(|redirect| redirected(project, &folder, redirect, moves))
            .collect();
        let reads = command::reads(found, |from, path| match path {
            "" => project.resolve(".").ok(),
            path => project.resolve_in(from.unwrap_or(&folder), path).ok(),
        });
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

/// The file of a redirect, if it has one. `moves` says that the command may change its folder
/// before.
fn redirected(
    project: &Project,
    folder: &ResolvedPath,
    redirect: &Redirect,
    moves: bool,
) -> Option<Redirected> {
    if redirect.kind == RedirectKind::Text {
        return None;
    }
    let target = match &redirect.target {
        Word::Literal(path) if NOBODYS.contains(&path.as_str()) => return None,
        Word::Literal(path) if !moves || path.starts_with('/') => {
            // In quotes, the shell takes a tilde literally.
            let path = if path.starts_with('~') { format!("./{path}") } else { path.clone() };
            project.resolve_in(folder, &path).map_or(Target::Unknown, Target::Path)
        }
        Word::Literal(_) | Word::Other(_) => Target::Unknown,
    };
    let written = redirect.target.as_written().to_owned();
    Some(Redirected { writes: redirect.kind == RedirectKind::Write, written, target })
}
