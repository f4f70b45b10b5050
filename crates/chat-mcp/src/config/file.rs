//! Reads and changes the user's file of servers.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use chat_definitions::{Digest, Origin};

use super::{LARGEST_FILE, McpConfig, ProblemKind, Server, edit};

/// The user's file of servers. Several processes can use it: it is read whenever it is needed, and changed under a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    path: PathBuf,
}

/// The contents of a file at some time, to recognize them by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileVersion(Content);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// There is no file.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// The file has this hash.
    Read(Digest),
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Adds a server at the end.
    Add(Server),
    /// Changes a server, which may get another name, and keeps its place. What the file says of it besides stays.
    Replace {
        /// Its name until now.
        name: String,
        /// What it becomes.
        server: Server,
    },
    /// Switches a server on or off, also one with an error.
    SetDisabled {
        /// Its name.
        name: String,
        /// Whether it is switched off.
        disabled: bool,
    },
    /// Removes a server, also one with an error.
    Remove {
        /// Its name.
        name: String,
    },
}

/// Why a file could not be changed. It is as it was then.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// Somebody else changed the file since it was read. Read it again, and show the user what it says now.
    #[error("the file was changed meanwhile")]
    Changed,
    /// What the file says cannot be read, so that it would be lost.
    #[error("the file cannot be read")]
    Broken,
    /// Another server has this name.
    #[error("there is a server of this name")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// No server has this name.
    #[error("there is no server of this name")]
    NoServer {
        /// The name.
        name: String,
    },
    /// The name is not allowed.
    #[error("the name is not allowed")]
    InvalidName {
        /// The name.
        name: String,
    },
    /// The user is signed in to a server that would be removed or get another address, and the token cannot be removed:
    /// the keyring is locked, or does not answer.
    #[error("the user is still signed in")]
    StillSignedIn {
        /// The server's name.
        name: String,
    },
    /// There would be more servers, or more bytes, than are read.
    #[error("the file would be too large")]
    TooLarge,
    /// The system reported an error.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl ConfigFile {
    /// The file at this path, which need not exist. It and its folder are made when a server is added.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it says, and what it is recognized by when it is changed. A missing file has no servers. Blocks.
    pub fn read(&self) -> (McpConfig, FileVersion) {
        match read_limited(&self.path) {
            Ok(Some(bytes)) => {
                let version = FileVersion(Content::Read(hash(&bytes)));
                (McpConfig::parse(&bytes, Origin::User), version)
            }
            Ok(None) => (McpConfig::default(), FileVersion(Content::Missing)),
            Err(_) => {
                let config = McpConfig::broken(None, ProblemKind::Unreadable);
                (config, FileVersion(Content::Unreadable))
            }
        }
    }

    /// Changes the file if it is still what was read, and gives what it says now. Comments, the order, and keys that are
    /// not ours stay. The file is replaced as a whole; a new one is for its owner alone. Blocks.
    ///
    /// # Errors
    /// See [`WriteError`].
    pub fn change(
        &self,
        known: FileVersion,
        change: &Change,
    ) -> Result<(McpConfig, FileVersion), WriteError> {
        let folder = self.path.parent().ok_or(ErrorKind::InvalidInput).map_err(io::Error::from)?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        // A rename replaces the file itself, so that its lock would guard nothing.
        let mut lock = self.path.clone().into_os_string();
        lock.push(".lock");
        let lock =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock)?;
        lock.lock()?;
        let bytes = read_limited(&self.path).map_err(|_| WriteError::Broken)?;
        let content = bytes.as_deref().map_or(Content::Missing, |bytes| Content::Read(hash(bytes)));
        if FileVersion(content) != known {
            return Err(WriteError::Changed);
        }
        let bytes = bytes.unwrap_or_default();
        if bytes.len() > LARGEST_FILE {
            return Err(WriteError::Broken);
        }
        let old = std::str::from_utf8(&bytes).map_err(|_| WriteError::Broken)?;
        let new = edit::changed(old, change)?;
        if new.len() > LARGEST_FILE {
            return Err(WriteError::TooLarge);
        }
        if new != old {
            // Where the file is a link, as in a folder of dotfiles, what it leads to is replaced.
            let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
            replace(&target, new.as_bytes())?;
        }
        let version = FileVersion(Content::Read(hash(new.as_bytes())));
        Ok((McpConfig::parse(new.as_bytes(), Origin::User), version))
    }
}

fn hash(bytes: &[u8]) -> Digest {
    Digest::of([bytes])
}

/// The contents of a file, or one byte more than is allowed. None if there is none.
pub(crate) fn read_limited(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::metadata(path) {
        // Opening a pipe would wait for a writer.
        Ok(metadata) if !metadata.is_file() => return Err(ErrorKind::InvalidInput.into()),
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Replaces a file: after a crash there is the old one or the new one, whole.
fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    // A temporary file of this crate is readable by its owner alone.
    let mut file = tempfile::Builder::new().prefix(".natter-").tempfile_in(folder)?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.write_all(content)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests;
