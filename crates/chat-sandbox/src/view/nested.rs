//! Finds repositories and settings in folders of the project, which are protected like those at its
//! top.
//!
//! Looked for as far as that costs a command little: some folders deep, some thousand entries.

use std::collections::{HashMap, VecDeque};
use std::fs::{File, FileType};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::fs::{FlockOperation, flock};

use super::project;
use super::{Protection, View};
use crate::command::Secrets;

/// How many folders deep is looked.
const DEPTH: usize = 6;

/// How many entries are looked at.
const ENTRIES: usize = 20_000;

/// In how many repositories a command may commit; in more it changes nothing of git's. Each costs
/// some mounts.
const REPOSITORIES: usize = 32;

/// Folders with much in them that no person made, looked at last.
pub(crate) const LARGE: &[&str] = &["node_modules", "target", ".venv", "build", "dist"];

/// What was come across in a project.
#[derive(Debug, Default)]
struct NestedPaths {
    /// Repositories and settings beneath the top.
    protected: Vec<PathBuf>,
    /// Files that may hold secrets, granted or not.
    secrets: Vec<PathBuf>,
}

/// What was found in a project where commands run, for those that begin meanwhile.
#[derive(Debug)]
struct KnownNested {
    commands: usize,
    found: NestedPaths,
    /// Whether what was found can be protected: no command of another program could move it.
    is_still: bool,
    /// Tells other programs that the project is in use.
    _lock: Option<File>,
}

/// By project. A command that runs can put a link where a folder was, just before another command
/// has the folder bound, and so have anything shown. What was found before it began it cannot
/// move. So it is looked only while no command runs.
static KNOWN: Mutex<Option<HashMap<PathBuf, KnownNested>>> = Mutex::new(None);

/// Keeps what was found in a project, as long as it lives.
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

/// What is protected beneath the top of a project where a command begins.
fn of(project: &Path, secrets: Option<&Secrets>) -> (NestedPaths, bool, Keep) {
    let mut known = known();
    let known = known.get_or_insert_default();
    let is_first = !known.contains_key(project);
    let project_known = known.entry(project.to_owned()).or_insert_with(|| {
        let (lock, is_still) = lock(project);
        KnownNested { commands: 0, found: find(project, secrets), is_still, _lock: lock }
    });
    if !is_first && secrets.is_some() {
        // A command that still runs, or the user, may have made or moved some meanwhile.
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

/// Tells other programs that commands run in the project; says whether none of theirs do.
fn lock(project: &Path) -> (Option<File>, bool) {
    let Ok(folder) = File::open(project) else { return (None, true) };
    let is_busy = flock(&folder, FlockOperation::NonBlockingLockExclusive)
        == Err(rustix::io::Errno::WOULDBLOCK);
    let _ = flock(&folder, FlockOperation::NonBlockingLockShared);
    (Some(folder), !is_busy)
}

/// Adds the protections of what lies beneath the project's top, and what is masked.
pub(super) fn add(view: &mut View) {
    let mut repositories = 0;
    let (found, is_still, keep) = of(&view.project, view.secrets.as_ref());
    let NestedPaths { protected: paths, secrets } = found;
    view.nested = Some(keep);
    if let Some(Secrets { are_granted, .. }) = &view.secrets {
        let is_granted = |path: &PathBuf| {
            path.strip_prefix(&view.project).is_ok_and(|relative| are_granted(relative))
        };
        view.masked = secrets.into_iter().filter(|path| !is_granted(path)).collect();
    }
    if !is_still {
        // What is bound could be something else by then. What is changed is put right later.
        view.unprotected = paths;
        return;
    }
    for path in paths {
        // Else a folder above could be moved away, and another be put in its place.
        let above = path.ancestors().skip(1).take_while(|above| *above != view.project);
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

/// What is protected beneath the top, the nearest first. A link is left as it is: what it leads to
/// is protected where it lies.
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

/// The file itself, where its name is that of a secret; of a link, the file of the project that it leads to.
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
