//! Defines what is recorded about a worktree, in a JSON file next to its folder.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::{Error, names};

/// The version of the format. Records of later versions are not read.
const VERSION: u32 = 1;
/// The maximum size of a record, in bytes.
const LONGEST: u64 = 64 * 1024;

/// What the file contains. The folder itself is not in it: it is next to the file, so the folder of
/// all worktrees can be moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    pub version: u32,
    pub name: String,
    pub branch: String,
    pub base: String,
    #[serde(default)]
    pub target: Option<String>,
    /// The repository's shared git folder.
    #[serde(with = "names::path")]
    pub common: PathBuf,
    /// The worktree's own git folder.
    #[serde(with = "names::path")]
    pub own: PathBuf,
    /// The user's checkout that it was made from.
    #[serde(with = "names::path")]
    pub checkout: PathBuf,
    /// The user's project: the checkout or a folder in it.
    #[serde(with = "names::path")]
    pub project: PathBuf,
    /// Milliseconds since 1970.
    pub created: u64,
    /// The snapshot that it was restored from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
}

/// A worktree of Natter's. Cheap to clone. Its folder and its repository may be gone by now: see
/// [`Worktrees::list`](crate::Worktrees::list).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    pub(crate) record: Arc<Record>,
    pub(crate) folder: PathBuf,
}

impl Worktree {
    /// Its name, as the caller gave it.
    pub fn name(&self) -> &str {
        &self.record.name
    }

    /// Its name as one word: letters, digits, `-` and `_`. Others may have the same.
    pub fn short_name(&self) -> String {
        names::folder_name(&self.record.name)
    }

    /// Its own branch, without `refs/heads/`.
    pub fn branch(&self) -> &str {
        &self.record.branch
    }

    /// The commit that it began with, in hexadecimal.
    pub fn base(&self) -> &str {
        &self.record.base
    }

    /// The branch that it began with, and is merged into; none if it began with a commit.
    pub fn target(&self) -> Option<&str> {
        self.record.target.as_deref()
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder in it that corresponds to the user's project.
    pub fn project(&self) -> PathBuf {
        let inside = self.record.project.strip_prefix(&self.record.checkout);
        self.folder.join(inside.unwrap_or(Path::new("")))
    }

    /// The user's project that it was made from.
    pub fn parent_project(&self) -> &Path {
        &self.record.project
    }

    /// The git folder of the user's repository.
    pub fn repository(&self) -> &Path {
        &self.record.common
    }

    /// When it was created: milliseconds since 1970.
    pub fn created(&self) -> u64 {
        self.record.created
    }

    /// The id of the snapshot that it was restored from, if it was.
    pub fn snapshot(&self) -> Option<&str> {
        self.record.snapshot.as_deref()
    }

    /// The file with its record.
    pub(crate) fn file(&self) -> PathBuf {
        beside(&self.folder, "json")
    }

    /// An index of its files that no command in it can write to.
    pub(crate) fn index(&self) -> PathBuf {
        beside(&self.folder, "index")
    }

    /// Where its folder is while it is checked once more before it is removed.
    pub(crate) fn removing(&self) -> PathBuf {
        beside(&self.folder, "removing")
    }

    /// Where its folder is while its contents, which are stored, are deleted.
    pub(crate) fn removed(&self) -> PathBuf {
        beside(&self.folder, "removed")
    }

    /// Writes the record, as a whole or not at all.
    pub(crate) fn save(&self) -> Result<(), Error> {
        let file = self.file();
        let io = Error::io(&file);
        let folder = file.parent().unwrap_or(&file);
        let mut new = tempfile::NamedTempFile::new_in(folder).map_err(&io)?;
        serde_json::to_writer_pretty(&mut new, &*self.record).map_err(|error| io(error.into()))?;
        new.write_all(b"\n").and_then(|()| new.as_file().sync_all()).map_err(&io)?;
        new.persist(&file).map_err(|error| io(error.error))?;
        Ok(())
    }

    /// Reads the record of the worktree in this folder.
    pub(crate) fn load(folder: &Path) -> Result<Self, Error> {
        let damaged = || Error::NotAWorktree(folder.to_owned());
        let file = beside(folder, "json");
        let found = file.symlink_metadata().map_err(|_| damaged())?;
        if !found.is_file() || found.len() > LONGEST {
            return Err(damaged());
        }
        let text = fs::read(&file).map_err(Error::io(&file))?;
        let record: Record = serde_json::from_slice(&text).map_err(|_| damaged())?;
        let absolute = [&record.common, &record.own, &record.checkout, &record.project];
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        // What it says is used in paths and as arguments.
        let is_sane = record.version == VERSION
            && absolute.iter().all(|path| path.is_absolute())
            && record.own.parent() == Some(&*record.common.join("worktrees"))
            && matches!(record.base.len(), 40 | 64)
            && is_hex(&record.base)
            && [Some(&record.branch), record.target.as_ref()].into_iter().flatten().all(|branch| {
                !branch.is_empty()
                    && !branch.starts_with(['-', '/'])
                    && branch.split('/').all(|part| part != ".." && part != ".")
            });
        if is_sane {
            Ok(Self { record: Arc::new(record), folder: folder.to_owned() })
        } else {
            Err(damaged())
        }
    }
}

impl Record {
    /// The version that is written.
    pub const VERSION: u32 = VERSION;
}

/// A path next to a worktree's folder: its name has a point, which no folder's has.
fn beside(folder: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(folder.file_name().unwrap_or_default());
    name.push(".");
    name.push(end);
    folder.with_file_name(name)
}

/// The time in milliseconds since 1970.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
