//! Lists worktrees and opens them.

use std::fmt::Write;
use std::fs::{self, DirBuilder, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sha2::{Digest, Sha256};

use crate::location::Location;
use crate::record::Worktree;
use crate::{Error, names};

/// How many bytes of a hash identify a repository.
const IDENTIFYING: usize = 8;

/// All of a user's worktrees, and where snapshots of removed ones are stored. Cheap to clone.
///
/// `root` holds one folder for each repository, and in it the worktrees' folders, each with its
/// record and index next to it. It must be outside of the folders that
/// [`PathEnvironment`](chat_permission::path::PathEnvironment) declares as Natter's own, since no
/// project may be in these: use [`Worktrees::default_root`]. `shadow` must be inside of them, so
/// that no tool and no command can reach it: use [`Worktrees::default_shadow`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktrees {
    pub(crate) root: PathBuf,
    pub(crate) shadow: PathBuf,
}

/// What was found in the folder of all worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listed {
    /// A worktree with a readable record.
    Worktree {
        /// The worktree.
        worktree: Worktree,
        /// What is left of it.
        presence: Presence,
    },
    /// A folder whose record is missing or damaged. It may contain work.
    Unrecorded(PathBuf),
    /// The rest of a worktree that is stored in a snapshot, but was not deleted completely:
    /// [`Worktrees::clear_removed`] does that.
    Removed(PathBuf),
}

/// What is left of a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Everything.
    Whole,
    /// Its folder and repository do not name each other: [`Worktrees::repair`] links them again.
    Unlinked,
    /// Its folder is gone. Its branch may still exist.
    FolderGone,
    /// Its repository, or its git folder in there, is gone.
    RepositoryGone,
}

impl Worktrees {
    /// The worktrees below `root`, with snapshots in `shadow`. Neither need exist.
    pub fn new(root: impl Into<PathBuf>, shadow: impl Into<PathBuf>) -> Self {
        Self { root: resolved(&root.into()), shadow: resolved(&shadow.into()) }
    }

    /// Where worktrees should be, given Natter's data folder: `natter-worktrees` next to `natter`.
    pub fn default_root(data: &Path) -> PathBuf {
        let mut name = data.file_name().unwrap_or_default().to_owned();
        name.push("-worktrees");
        data.with_file_name(name)
    }

    /// Where snapshots should be, given Natter's state folder.
    pub fn default_shadow(state: &Path) -> PathBuf {
        state.join("worktrees")
    }

    /// Opens the worktree in this folder.
    ///
    /// # Errors
    /// It is no worktree of Natter's, or its record is damaged.
    pub fn open(&self, folder: &Path) -> Result<Worktree, Error> {
        let inside = folder.strip_prefix(&self.root).is_ok_and(|inside| {
            inside.components().count() == 2
                && inside.components().all(|part| matches!(part, std::path::Component::Normal(_)))
        });
        if !inside {
            return Err(Error::NotAWorktree(folder.to_owned()));
        }
        Worktree::load(folder)
    }

    /// The worktree that a path is in; none if it is not in the folder of all worktrees.
    ///
    /// # Errors
    /// It is in that folder, but in no worktree, or its record is damaged.
    pub fn containing(&self, path: &Path) -> Result<Option<Worktree>, Error> {
        let Ok(inside) = path.strip_prefix(&self.root) else { return Ok(None) };
        let folder: PathBuf = inside.components().take(2).collect();
        self.open(&self.root.join(folder)).map(Some)
    }

    /// The size of what was [listed](Self::list), in bytes on disk. What cannot be read counts
    /// nothing.
    ///
    /// # Errors
    /// It was cancelled.
    pub fn size(&self, path: &Path, cancel: &AtomicBool) -> Result<u64, Error> {
        crate::status::size(path, cancel)
    }

    /// Everything in the folder of all worktrees, by path. Runs no program; reads some small files
    /// for each worktree.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let mut listed = Vec::new();
        for folder in folders(&self.root)? {
            list_in(&folder, &mut listed)?;
        }
        Ok(listed)
    }

    /// The same for the repository that a project is in.
    ///
    /// # Errors
    /// The project is in no repository, or the folder cannot be read.
    pub fn list_of(&self, project: &Path) -> Result<Vec<Listed>, Error> {
        let folder = self.folder_of(&Location::find(project)?);
        let mut listed = Vec::new();
        if folder.is_dir() {
            list_in(&folder, &mut listed)?;
        }
        Ok(listed)
    }

    /// Links a worktree's folder and its repository again, after a command changed `.git`, or the
    /// folder of all worktrees was moved. What was in the place of `.git` is lost if it is a file
    /// or a link; a folder is refused.
    ///
    /// # Errors
    /// One of both is gone, or cannot be written.
    pub fn repair(&self, worktree: &Worktree) -> Result<(), Error> {
        let _lock = self.lock(worktree)?;
        let location = worktree.location_without_link()?;
        if location.work_tree.join(".git").symlink_metadata().is_ok_and(|it| it.is_dir()) {
            return Err(Error::Foreign(location.work_tree.join(".git")));
        }
        crate::link::write(&location.work_tree, &location.own)
    }

    /// Deletes what is left of worktrees that are stored in a snapshot: see [`Listed::Removed`].
    /// Call it at the start. Worktrees whose removal was interrupted before that are put back.
    ///
    /// # Errors
    /// Something cannot be deleted; the rest is.
    pub fn clear_removed(&self) -> Result<(), Error> {
        let mut failed = None;
        for folder in folders(&self.root)? {
            let Some(_lock) = try_lock(&folder)? else { continue };
            for path in entries(&folder)? {
                let back = path.with_extension("");
                if ends(&path, "removing") && back.symlink_metadata().is_err() {
                    fs::rename(&path, &back).map_err(Error::io(&path))?;
                } else if ends(&path, "removed") {
                    failed = failed.or(crate::remove::delete_folder(&path).err());
                }
            }
        }
        failed.map_or(Ok(()), Err)
    }

    /// The folder for a repository's worktrees.
    pub(crate) fn folder_of(&self, location: &Location) -> PathBuf {
        let of_checkout = if location.common.ends_with(".git") {
            location.common.parent().and_then(Path::file_name)
        } else {
            location.common.file_name()
        };
        let name = names::folder_name(&of_checkout.unwrap_or_default().to_string_lossy());
        let hash = Sha256::digest(location.common.as_os_str().as_bytes());
        let mut text = name + "-";
        for byte in hash.iter().take(IDENTIFYING) {
            // Writing to a text cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        self.root.join(text)
    }

    /// Waits until no other process changes worktrees of the same repository.
    pub(crate) fn lock(&self, worktree: &Worktree) -> Result<File, Error> {
        hold(worktree.folder.parent().unwrap_or(&self.root))
    }
}

/// Locks a repository's folder of worktrees until the file is dropped.
pub fn hold(folder: &Path) -> Result<File, Error> {
    let path = folder.join("lock");
    let file = lock_file(&path)?;
    file.lock().map_err(Error::io(&path))?;
    Ok(file)
}

fn try_lock(folder: &Path) -> Result<Option<File>, Error> {
    let file = lock_file(&folder.join("lock"))?;
    Ok(file.try_lock().is_ok().then_some(file))
}

fn lock_file(path: &Path) -> Result<File, Error> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).map_err(Error::io(path))
}

/// Creates a folder that only the user can access.
pub fn make_folder(folder: &Path) -> Result<(), Error> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(Error::io(folder))
}

fn list_in(folder: &Path, listed: &mut Vec<Listed>) -> Result<(), Error> {
    let paths = entries(folder)?;
    let mut named: Vec<PathBuf> = Vec::new();
    for path in &paths {
        if path.is_symlink() {
            continue;
        }
        if ends(path, "removed") {
            listed.push(Listed::Removed(path.clone()));
        } else if ends(path, "json") || ends(path, "removing") {
            named.push(path.with_extension(""));
        } else if path.is_dir() {
            named.push(path.clone());
        }
    }
    named.sort();
    named.dedup();
    for path in named {
        listed.push(match Worktree::load(&path) {
            Ok(worktree) => Listed::Worktree { presence: presence(&worktree), worktree },
            Err(_) => Listed::Unrecorded(path),
        });
    }
    Ok(())
}

fn presence(worktree: &Worktree) -> Presence {
    if worktree.folder.symlink_metadata().is_err() {
        return Presence::FolderGone;
    }
    if !worktree.record.own.join("HEAD").exists() {
        return Presence::RepositoryGone;
    }
    match worktree.location() {
        Ok(_) => Presence::Whole,
        Err(_) => Presence::Unlinked,
    }
}

fn ends(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|found| found == end)
}

/// The folders in a folder, by name; none if that does not exist.
fn folders(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut found = entries(folder)?;
    found.retain(|path| path.symlink_metadata().is_ok_and(|found| found.is_dir()));
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(folder)(error)),
    };
    let mut found: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

/// The path without links, as far as it exists.
pub fn resolved(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolved(parent).join(name),
        _ => path.to_owned(),
    }
}
