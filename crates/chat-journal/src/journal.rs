//! Opens the journal of a project, and creates its checkpoints.

use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chat_permission::path::Project;
use sha2::{Digest, Sha256};

use crate::direct_edits::DirectEdits;
use crate::entry::{Entry, EntryKind, Seq};
use crate::lock::Lock;
use crate::manifest::LeftOut;
use crate::node::Id;
use crate::scan::Scan;
use crate::state::Inner;
use crate::{Error, Refusal};

/// What is stored, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum size of a file in a checkpoint, in bytes.
    pub file_size: u64,
    /// The maximum size of all files in a checkpoint, in bytes.
    pub project_size: u64,
    /// How long a checkpoint is kept.
    pub age: Duration,
    /// The size on disk, in bytes, above which the oldest checkpoints are removed.
    pub store_size: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_size: 16 << 20,
            project_size: 2 << 30,
            age: Duration::from_hours(30 * 24),
            store_size: 2 << 30,
        }
    }
}

/// The project's state before the first change of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Its number, for restoring it.
    pub seq: Seq,
    /// The session.
    pub session: String,
    /// The user's message; empty if a restore created it.
    pub message: String,
    /// When it was created: milliseconds since 1970.
    pub at: u64,
    /// Files that it does not contain. Set when it is created, and empty later.
    pub left_out: Vec<LeftOut>,
}

/// The journal of a project. Cheap to clone; all of its functions block.
#[derive(Clone, Debug)]
pub struct Journal {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    project: Project,
    /// Identifies that folder, by device and inode number.
    folder: Option<(u64, u64)>,
    lock: Lock,
    direct_edits: Arc<DirectEdits>,
    inner: Mutex<Inner>,
}

impl Journal {
    /// Opens or creates the journal of a project in `state/projects`. The home folder, its parent
    /// folders, and a project that contains `state` or is inside it are refused.
    ///
    /// # Errors
    ///
    /// The folder is refused, `git` is missing, or the disk cannot be read or written.
    pub fn open(
        project: &Project,
        home: Option<&Path>,
        state: &Path,
        limits: Limits,
    ) -> Result<Self, Error> {
        let root = project.root();
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if root.parent().is_none() {
            return Err(Error::Refused(Refusal::Root));
        }
        if home.is_some_and(|home| real(home).starts_with(root)) {
            return Err(Error::Refused(Refusal::Home));
        }
        make(state)?;
        let state = real(state);
        if state.starts_with(root) || root.starts_with(&state) {
            return Err(Error::Refused(Refusal::OwnState));
        }
        let folder = state.join("projects").join(name(root));
        make(&folder)?;
        let (inner, lock) = Inner::open(project.clone(), folder, limits)?;
        let (project, direct_edits) = (project.clone(), Arc::clone(&inner.direct_edits));
        let folder = identity(root);
        let shared = Shared { project, folder, lock, direct_edits, inner: Mutex::new(inner) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Whether the project's folder is still the one that was opened: another one may have replaced
    /// it.
    #[must_use]
    pub fn is_current(&self) -> bool {
        let now = identity(self.project().root());
        now.is_some() && now == self.shared.folder
    }

    pub(crate) fn project(&self) -> &Project {
        &self.shared.project
    }

    pub(crate) fn direct_edits(&self) -> &DirectEdits {
        &self.shared.direct_edits
    }

    /// Whether a project already has a journal in `state`.
    #[must_use]
    pub fn exists(project: &Project, state: &Path) -> bool {
        state.join("projects").join(name(project.root())).is_dir()
    }

    /// Runs an action on the current journal, with exclusive access.
    pub(crate) fn with<T>(
        &self,
        act: impl FnOnce(&mut Inner) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut inner = self.shared.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let _held = self.shared.lock.hold()?;
        inner.sync()?;
        if let Err(error) = inner.note() {
            tracing::error!(%error, "what was changed is not in the journal yet");
        }
        act(&mut inner)
    }

    /// Stores the project's state before the first change of a request. If it is called again for
    /// the same request, it returns the existing checkpoint.
    ///
    /// # Errors
    ///
    /// `git` fails, or the disk cannot be written.
    pub fn checkpoint(&self, session: &str, message: &str) -> Result<Checkpoint, Error> {
        self.with(|inner| {
            let made = inner.log.entries().iter().rev().filter_map(Checkpoint::of);
            let mut made = made.filter(|made| made.session == session && made.message == message);
            if let Some(made) = made.find(|made| !made.message.is_empty()) {
                return Ok(made);
            }
            inner.checkpoint(session, message, false)
        })
    }

    /// The checkpoints of a session, the oldest first.
    ///
    /// # Errors
    ///
    /// The disk cannot be read.
    pub fn checkpoints(&self, session: &str) -> Result<Vec<Checkpoint>, Error> {
        self.with(|inner| {
            let all = inner.log.entries().iter().filter_map(Checkpoint::of);
            Ok(all.filter(|checkpoint| checkpoint.session == session).collect())
        })
    }

    /// Scans the whole project: call it before a command, so that [`Journal::record_since`] finds
    /// the command's changes.
    ///
    /// # Errors
    ///
    /// `git` fails, or the disk cannot be written.
    pub fn scan(&self) -> Result<Scan, Error> {
        self.with(Inner::scan)
    }
}

impl Inner {
    pub fn checkpoint(
        &mut self,
        session: &str,
        message: &str,
        before_restore: bool,
    ) -> Result<Checkpoint, Error> {
        let scan = self.scan()?;
        let tree = self.tree(&scan)?;
        let seq = self.log.next();
        let (session, message) = (session.to_owned(), message.to_owned());
        self.append(vec![EntryKind::Checkpoint {
            session: session.clone(),
            message: message.clone(),
            tree,
            before_restore,
        }])?;
        let at = self.log.entries().last().map_or(0, |entry| entry.at);
        Ok(Checkpoint { seq, session, message, at, left_out: scan.left_out() })
    }
}

impl Checkpoint {
    fn of(entry: &Entry) -> Option<Self> {
        let EntryKind::Checkpoint { session, message, before_restore: false, .. } = &entry.kind
        else {
            return None;
        };
        let (session, message) = (session.clone(), message.clone());
        Some(Self { seq: entry.seq, session, message, at: entry.at, left_out: Vec::new() })
    }
}

fn identity(folder: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(folder).ok().map(|found| (found.dev(), found.ino()))
}

/// The name of a project's folder, from its real path.
fn name(root: &Path) -> PathBuf {
    /// How many digits identify a project.
    const DIGITS: usize = 32;
    let mut name = Id::from_bytes(Sha256::digest(root.as_os_str().as_bytes()).into()).to_string();
    name.truncate(DIGITS);
    name.into()
}

/// Creates a folder that only the user can access.
fn make(folder: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(Error::io(folder))
}
