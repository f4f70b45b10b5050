//! Resolves paths in a project: where a path really leads, and what is there.
//!
//! A path is resolved once, link by link, and judged by the components of the real path, never by
//! its text. Later access goes through [`Project::open_file`] and similar functions, which follow
//! no link below the project's own folder, and check that it is still the same file.

mod attributes;
mod guarded;
mod links;
mod open;
mod resolve;
mod write;

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::SecretFiles;

pub use guarded::Guard;

/// What resolving paths needs to know about the user's machine.
#[derive(Clone, Debug, Default)]
pub struct PathEnvironment {
    /// The home folder, for `~`.
    pub home: Option<PathBuf>,
    /// Natter's own folders: settings, data, state, sockets, cache. They need not exist.
    pub own: Vec<PathBuf>,
}

/// The folder that a session works in. Cheap to clone. It stays the same folder even if another one
/// takes its name.
#[derive(Clone, Debug)]
pub struct Project {
    root: PathBuf,
    home: Option<PathBuf>,
    own: Vec<PathBuf>,
    secrets: SecretFiles,
    folders: Arc<Folders>,
}

#[derive(Debug)]
struct Folders {
    root: OwnedFd,
    /// `/`, for paths outside.
    system: OwnedFd,
}

/// A real path. It is made only by [`Project::resolve`], so it was right on disk at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedPath {
    real: PathBuf,
    relative: Option<PathBuf>,
    beneath_home: Option<PathBuf>,
    kind: Kind,
    several_links: bool,
    secret: bool,
    guard: Guard,
    /// Device and inode of what is there.
    identity: Option<(u64, u64)>,
}

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Missing,
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, if links are not followed.
    Link,
    /// A pipe, a socket or a device.
    Special,
}

impl ResolvedPath {
    /// The absolute path, without links.
    pub fn real(&self) -> &Path {
        &self.real
    }

    /// The path relative to the project's root, if it is in the project: empty for the root itself.
    pub fn relative(&self) -> Option<&Path> {
        self.relative.as_deref()
    }

    /// Whether it is in the project.
    pub fn is_inside(&self) -> bool {
        self.relative.is_some()
    }

    /// The path relative to the home folder, if it is there.
    pub fn beneath_home(&self) -> Option<&Path> {
        self.beneath_home.as_deref()
    }

    /// What was there.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether it is a file with several hard links, one of which may be anywhere.
    pub fn has_several_links(&self) -> bool {
        self.several_links
    }

    /// Whether it may hold secrets, by its name or by that of a link to it.
    pub fn is_secret(&self) -> bool {
        self.secret
    }

    /// Whether it is guarded against tools.
    pub fn guard(&self) -> Guard {
        self.guard
    }

    /// The path to show: relative in the project, absolute elsewhere.
    pub fn display_path(&self) -> &Path {
        match self.relative() {
            Some(relative) if relative.as_os_str().is_empty() => Path::new("."),
            Some(relative) => relative,
            None => self.real(),
        }
    }
}

/// Why a path does not resolve, or why an operation on it failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path is empty.
    #[error("the path is empty")]
    Empty,
    /// It has a NUL byte.
    #[error("the path contains a NUL byte")]
    Nul,
    /// It, or a part of it, is longer than the system allows.
    #[error("the path is too long")]
    TooLong,
    /// There is no home folder for `~`.
    #[error("no home folder is known")]
    NoHome,
    /// It does not exist.
    #[error("{} does not exist", .0.display())]
    NotFound(PathBuf),
    /// Something exists already.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// Something on the way, or the end, is not a folder.
    #[error("{} is not a folder", .0.display())]
    NotAFolder(PathBuf),
    /// It is not a file.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// Links lead in a circle.
    #[error("{} leads through too many links", .0.display())]
    Loop(PathBuf),
    /// A link of the kernel's, such as `/proc/self/root`, that bypasses every check.
    #[error("{} is a link into a process and is not followed", .0.display())]
    MagicLink(PathBuf),
    /// The project contains Natter's own data, or is in it.
    #[error("{} contains Natter's own data", .0.display())]
    Own(PathBuf),
    /// Something else is there than when it was judged.
    #[error("{} changed after it was checked", .0.display())]
    Changed(PathBuf),
    /// The system reported an error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

impl Error {
    fn of(path: &Path, error: impl Into<io::Error>) -> Self {
        let path = path.to_owned();
        let source = error.into();
        match source.kind() {
            io::ErrorKind::NotFound => Self::NotFound(path),
            io::ErrorKind::NotADirectory => Self::NotAFolder(path),
            io::ErrorKind::InvalidFilename => Self::TooLong,
            _ => Self::Io { path, source },
        }
    }
}

#[cfg(test)]
mod tests;
