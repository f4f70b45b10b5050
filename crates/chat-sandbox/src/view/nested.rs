//! Finds repositories and settings in subfolders of the project, which are protected like those at
//! its top.
//!
//! The search is limited to some levels of folders and some thousand entries, so that it does not
//! slow a command down.

use std::collections::{HashMap, VecDeque};
use std::fs::{File, FileType};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};

use super::project;
use super::{Protection, View};
use crate::command::Secrets;

/// How many levels of folders are searched.
const DEPTH: usize = 6;

/// How many entries are read.
const ENTRIES: usize = 20_000;

/// In how many repositories a command may commit; in further ones it cannot change git's data. Each
/// costs some mounts.
const REPOSITORIES: usize = 32;

/// Large generated folders, which are searched last.
pub(crate) const LARGE: &[&str] = &["node_modules", "target", ".venv", "build", "dist"];

/// What was found in a project.
#[derive(Debug, Default)]
struct NestedPaths {
    /// Repositories and settings below the top.
    protected: Vec<PathBuf>,
    /// Files that may hold secrets, granted or not.
    secrets: Vec<PathBuf>,
}

/// What was found in a project where commands run, for those that start meanwhile.
#[derive(Debug)]
struct KnownNested {
    commands: usize,
    found: NestedPaths,
    /// Whether what was found can be protected: no command of another program could move it.
    is_still: bool,
    /// Shows other programs that the project is in use.
    _lock: Option<File>,
}

/// By project. Just before another command's folder is mounted, a running command can replace it by
/// a link, and so make anything visible. It cannot move what was found before it started. So the
/// search runs only while no command is running.
static KNOWN: Mutex<Option<HashMap<PathBuf, KnownNested>>> = Mutex::new(None);

/// Keeps what was found in a project as long as it lives.
#[derive(Debug)]
pub(crate) struct Keep(PathBuf);

impl Drop for Keep {
    fn drop(&mut self) {
        let mut known = known();
        let Some(known) = known.as_mut() else { return };
        if let Some(project) = known.get_mut(&self.0) {
            project.commands -= 1;
            if project.commands == 0 {
                known.remove(&self.0);
            }
        }
    }
}

fn known() -> MutexGuard<'static, Option<HashMap<PathBuf, KnownNested>>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is protected below the top of a project where a command starts.
fn of(project: &Path, secrets: Option<&Secrets>) -> (NestedPaths, bool, Keep) {
    let mut known = known();
    let known = known.get_or_insert_default();
    let is_first = !known.contains_key(project);
    let project_known = known.entry(project.to_owned()).or_insert_with(|| {
        let (lock, is_still) = lock(project);
        KnownNested { commands: 0, found: find(project, secrets), is_still, _lock: lock }
    });
    if !is_first && secrets.is_some() {
        // A running command or the user may have created or moved some meanwhile.
        for secret in find(project, secrets).secrets {
            if !project_known.found.secrets.contains(&secret) {
                project_known.found.secrets.push(secret);
            }
        }
    }
    project_known.commands += 1;
    let there = |path: &&PathBuf| path.symlink_metadata().is_ok_and(|it| !it.is_symlink());
    let still_there = |paths: &[PathBuf]| paths.iter().filter(there).cloned().collect();
    let found = NestedPaths {
        protected: still_there(&project_known.found.protected),
        secrets: still_there(&project_known.found.secrets),
    };
    (found, project_known.is_still, Keep(project.to_owned()))
}

/// Shows other programs that commands run in the project; returns whether none of theirs do.
fn lock(project: &Path) -> (Option<File>, bool) {
    let Ok(folder) = File::open(project) else { return (None, true) };
    let is_busy = flock(&folder, FlockOperation::NonBlockingLockExclusive)
        == Err(rustix::io::Errno::WOULDBLOCK);
    let _ = flock(&folder, FlockOperation::NonBlockingLockShared);
    (Some(folder), !is_busy)
}

/// Adds the protections below the top of a project or another writable folder, and the masked files.
pub(super) fn add(view: &mut View, project: &Path) {
    let mut repositories = 0;
    let (found, is_still, keep) = of(project, view.secrets.as_ref());
    let NestedPaths { protected: paths, secrets } = found;
    view.nested.push(keep);
    mask_all(view, project, secrets);
    if !is_still {
        // A mount could be something else by then. What is changed is sanitized later.
        view.unprotected.extend(paths);
        return;
    }
    for path in paths {
        // Otherwise a parent folder could be moved away and replaced.
        let above = path.ancestors().skip(1).take_while(|above| *above != project);
        for above in above.map(|above| Protection::Pinned(above.to_owned())).collect::<Vec<_>>() {
            if !view.protected.contains(&above) {
                view.protected.push(above);
            }
        }
        if path.ends_with(".git") && path.is_dir() && repositories < REPOSITORIES {
            repositories += 1;
            project::repository(view, path);
        } else {
            view.protected.push(Protection::ReadOnly(path));
        }
    }
}

/// Adds the masked files of a folder that cannot be written to.
pub(super) fn mask(view: &mut View, folder: &Path) {
    if view.secrets.is_some() {
        let secrets = find(folder, view.secrets.as_ref()).secrets;
        mask_all(view, folder, secrets);
    }
}

fn mask_all(view: &mut View, folder: &Path, secrets: Vec<PathBuf>) {
    let Some(Secrets { are_granted, .. }) = &view.secrets else { return };
    let is_granted =
        |path: &PathBuf| path.strip_prefix(folder).is_ok_and(|relative| are_granted(relative));
    for secret in secrets.into_iter().filter(|path| !is_granted(path)) {
        if !view.masked.contains(&secret) {
            view.masked.push(secret);
        }
    }
}

/// Finds what to protect below the top, the nearest first. A link is skipped: its target is
/// protected where it is.
fn find(project: &Path, secrets: Option<&Secrets>) -> NestedPaths {
    let mut found = NestedPaths::default();
    let mut folders = VecDeque::from([(project.to_owned(), 0)]);
    let mut large = VecDeque::new();
    let mut entries = 0;
    while let Some((folder, depth)) = folders.pop_front().or_else(|| large.pop_front()) {
        let Ok(inside) = folder.read_dir() else { continue };
        for entry in inside.flatten() {
            entries += 1;
            if entries > ENTRIES {
                return found;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            let protected = [".git", ".natter", ".mcp.json"].iter().any(|it| name == *it);
            if protected {
                if depth > 0 && !kind.is_symlink() {
                    found.protected.push(entry.path());
                }
            } else if !kind.is_dir() {
                if let Some(secrets) = secrets {
                    found.secrets.extend(secret(project, &entry.path(), kind, secrets));
                }
            } else if kind.is_dir() && depth < DEPTH {
                let queue = if LARGE.iter().any(|large| name == *large) {
                    &mut large
                } else {
                    &mut folders
                };
                queue.push_back((entry.path(), depth + 1));
            }
        }
    }
    found
}

/// The file itself, if its name is that of a secret; for a link, its target in the project.
fn secret(project: &Path, path: &Path, kind: FileType, secrets: &Secrets) -> Option<PathBuf> {
    if !(secrets.are_secret)(path.strip_prefix(project).ok()?) {
        return None;
    }
    if !kind.is_symlink() {
        return kind.is_file().then(|| path.to_owned());
    }
    let real = path.canonicalize().ok()?;
    (real.starts_with(project) && real.is_file()).then_some(real)
}
