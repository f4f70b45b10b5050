//! The project's part of the view: writable, but for what would start programs outside the
//! sandbox later (git's hooks and settings), and what tells Natter what to do.
//!
//! What does not exist yet may not come into being either. An empty folder is made in its place
//! for as long as the command runs: git takes no notice of one, and removing it again can take
//! nothing with it. Where a folder would disturb git, what has come into being is put aside at
//! the command's end.

use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::View;
use crate::error::Error;

/// How a path in the project is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Protection {
    /// It is there and may be changed inside, but neither moved nor replaced.
    Pinned(PathBuf),
    /// It is there and may not be changed.
    ReadOnly(PathBuf),
    /// It is not there and may not come into being: an empty folder takes its place.
    Absent(PathBuf),
    /// It is not there, and is put aside if it is there afterwards.
    PutAside(PathBuf),
}

impl Protection {
    /// The path of one that is there.
    pub(crate) fn stands(&self) -> Option<&Path> {
        match self {
            Self::Pinned(path) | Self::ReadOnly(path) => Some(path),
            Self::Absent(_) | Self::PutAside(_) => None,
        }
    }
}

/// Natter's own in a project, and the file that names programs to start.
const OWN: &[&str] = &[".natter", ".mcp.json"];

/// What in git's folder makes git start programs, or leads it elsewhere.
const GIT: &[&str] = &["config", "hooks", "config.worktree", "commondir", "modules", "worktrees"];

/// Of these an empty folder disturbs nobody.
const MAY_STAND_EMPTY: &[&str] = &["hooks", "modules", "worktrees"];

/// Adds the project's protections, and git's data where it lies outside.
pub(super) fn add(view: &mut View) -> Result<(), Error> {
    for name in OWN {
        let path = view.project.join(name);
        let protection = protect(path, true)?;
        view.protected.push(protection);
    }
    let git = view.project.join(".git");
    match git.symlink_metadata() {
        Err(_) => view.protected.push(Protection::Absent(git)),
        Ok(it) if it.is_symlink() => return Err(Error::ProtectedLink(git)),
        Ok(it) if it.is_dir() => {
            // Else it could be moved away with all that is protected in it.
            view.protected.push(Protection::Pinned(git.clone()));
            inside(view, &git);
        }
        Ok(_) => {
            if let Some((own, common)) = linked(&git) {
                view.git.push(common.clone());
                inside(view, &common);
                // Its own part is written to, under the others' that is not.
                view.protected.push(Protection::Pinned(own.clone()));
                for name in ["commondir", "gitdir", "config.worktree"] {
                    view.protected.push(protect(own.join(name), false)?);
                }
            }
            view.protected.push(Protection::ReadOnly(git));
        }
    }
    Ok(())
}

fn inside(view: &mut View, git: &Path) {
    let of = |name: &&str| protect(git.join(name), MAY_STAND_EMPTY.contains(name));
    match GIT.iter().map(of).collect::<Result<Vec<_>, _>>() {
        Ok(protections) => view.protected.extend(protections),
        // Hooks that lie elsewhere, say: then nothing of git's may be changed.
        Err(_) => view.protected.push(Protection::ReadOnly(git.to_owned())),
    }
}

fn protect(path: PathBuf, may_stand_empty: bool) -> Result<Protection, Error> {
    match path.symlink_metadata() {
        // A link could be replaced, whatever it leads to.
        Ok(it) if it.is_symlink() => Err(Error::ProtectedLink(path)),
        Ok(_) => Ok(Protection::ReadOnly(path)),
        Err(_) if may_stand_empty => Ok(Protection::Absent(path)),
        Err(_) => Ok(Protection::PutAside(path)),
    }
}

/// The folders of a linked work tree whose `.git` is this file: its own, and the one that all
/// share. Only where git's data names the work tree in turn: the file alone could be a lie, made
/// by an earlier command to have any folder shown.
fn linked(file: &Path) -> Option<(PathBuf, PathBuf)> {
    let base = file.parent()?;
    let text = std::fs::read_to_string(file).ok()?;
    let own = base.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let back = std::fs::read_to_string(own.join("gitdir")).ok()?;
    if own.join(back.trim()).canonicalize().ok()? != file.canonicalize().ok()? {
        return None;
    }
    let common = std::fs::read_to_string(own.join("commondir")).ok()?;
    let common = own.join(common.trim()).canonicalize().ok()?;
    (own.starts_with(&common) && common.join("objects").is_dir()).then_some((own, common))
}

/// Keeps what must not come into being from doing so, as long as it lives.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The empty folders, each with a shared lock: another command may need it still.
    placeholders: Vec<(PathBuf, File)>,
    put_aside: Vec<PathBuf>,
}

impl Guard {
    /// Makes the empty folders. One that cannot be made (a project that this user may not write
    /// to) could not be made by the command either.
    pub(crate) fn new(protected: &[Protection], placeholders: bool) -> Self {
        let mut guard = Self { placeholders: Vec::new(), put_aside: Vec::new() };
        for protection in protected {
            match protection {
                Protection::Absent(path) if placeholders => {
                    let _ = std::fs::create_dir(path);
                    if let Ok(folder) = File::open(path) {
                        let _ = flock(&folder, FlockOperation::NonBlockingLockShared);
                        guard.placeholders.push((path.clone(), folder));
                    }
                }
                Protection::Absent(path) | Protection::PutAside(path) => {
                    guard.put_aside.push(path.clone());
                }
                Protection::Pinned(_) | Protection::ReadOnly(_) => {}
            }
        }
        guard
    }

    /// Makes folders that may be written to, and takes them away again if they stay empty.
    pub(crate) fn make_writable(&mut self, folders: Vec<PathBuf>) {
        for path in folders {
            if std::fs::create_dir(&path).is_ok()
                && let Ok(folder) = File::open(&path)
            {
                let _ = flock(&folder, FlockOperation::NonBlockingLockShared);
                self.placeholders.push((path, folder));
            }
        }
    }

    /// The empty folders that stand.
    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &Path> {
        self.placeholders.iter().map(|(path, _)| path.as_path())
    }

    /// Puts aside what came into being against the bounds, and says what that was.
    pub(crate) fn put_aside(&mut self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for path in self.put_aside.drain(..) {
            if path.symlink_metadata().is_err() {
                continue;
            }
            let aside = aside(&path);
            if std::fs::rename(&path, &aside).is_ok() {
                found.push(path);
            }
        }
        found
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        for (path, folder) in &self.placeholders {
            if flock(folder, FlockOperation::NonBlockingLockExclusive).is_ok() {
                // Removes only what is empty.
                let _ = std::fs::remove_dir(path);
            }
        }
    }
}

/// A free name beside `path` that means nothing to anybody.
fn aside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (1..1000_u32)
        .map(|number| path.with_file_name(format!("{name}.put-aside-{number}")))
        .find(|aside| aside.symlink_metadata().is_err())
        .unwrap_or_else(|| path.with_file_name(format!("{name}.put-aside")))
}
