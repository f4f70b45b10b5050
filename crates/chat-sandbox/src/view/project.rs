//! Builds the project's part of the view: writable, except for files that would start programs
//! outside the sandbox later (git's hooks and settings), and files with Natter's instructions.
//!
//! Such files must not be created either, not even while the command runs: the user's own git would
//! trust them at once. A placeholder takes their place. It means nothing to git, and can be told
//! from any file of the user's (see [`Placeholder`]).

use std::path::{Path, PathBuf};

use super::placeholder::Placeholder;
use super::{View, nested};
use crate::command::GitAccess;
use crate::error::Error;

/// How a path in the project is protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Protection {
    /// It exists; its content may be changed, but it must not be moved or replaced.
    Pinned(PathBuf),
    /// It exists and must not be changed.
    ReadOnly(PathBuf),
    /// It exists and must not be changed by the command, but others may replace it meanwhile.
    Shared(PathBuf),
    /// It exists but may be another command's placeholder, which that command removes when it ends.
    Held(PathBuf, Placeholder),
    /// It does not exist and must not be created: a placeholder takes its place.
    Absent(PathBuf, Placeholder),
}

impl Protection {
    /// The path, whether or not it exists.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Pinned(path)
            | Self::ReadOnly(path)
            | Self::Shared(path)
            | Self::Held(path, _)
            | Self::Absent(path, _) => path,
        }
    }

    /// The path, if it exists.
    pub(crate) fn stands(&self) -> Option<&Path> {
        match self {
            Self::Pinned(path)
            | Self::ReadOnly(path)
            | Self::Shared(path)
            | Self::Held(path, _) => Some(path),
            Self::Absent(..) => None,
        }
    }

    /// The path, if it exists, is not a placeholder, and nobody may replace it.
    pub(crate) fn mounted(&self) -> Option<&Path> {
        match self {
            Self::Pinned(path) | Self::ReadOnly(path) => Some(path),
            Self::Shared(_) | Self::Held(..) | Self::Absent(..) => None,
        }
    }

    /// The path, if its content may be changed.
    pub(crate) fn pinned(&self) -> Option<&Path> {
        match self {
            Self::Pinned(path) => Some(path),
            Self::ReadOnly(_) | Self::Shared(_) | Self::Held(..) | Self::Absent(..) => None,
        }
    }

    /// The path, if it exists and must not be changed.
    pub(crate) fn unchangeable(&self) -> Option<&Path> {
        match self {
            Self::ReadOnly(path) | Self::Shared(path) | Self::Held(path, _) => Some(path),
            Self::Pinned(_) | Self::Absent(..) => None,
        }
    }
}

/// Natter's own files in a project, and the file that names programs to start.
const OWN: &[&str] = &[".natter", ".mcp.json"];

/// What in git's folder makes git start programs, or leads it elsewhere.
const GIT: &[(&str, Placeholder)] = &[
    ("config", Placeholder::Settings),
    ("hooks", Placeholder::Folder),
    ("config.worktree", Placeholder::Settings),
    ("commondir", Placeholder::SameFolder),
    ("modules", Placeholder::Folder),
    ("worktrees", Placeholder::Folder),
    ("info", Placeholder::Folder),
];

/// The same in the part of git's data that is a linked work tree's own. Submodules belong to a work
/// tree, with settings and hooks.
const GIT_OWN: &[(&str, Placeholder)] = &[
    ("commondir", Placeholder::Settings),
    ("gitdir", Placeholder::Settings),
    ("config.worktree", Placeholder::Settings),
    ("modules", Placeholder::Folder),
];

/// The maximum size of git's settings that are read, in bytes.
const LONGEST: u64 = 1 << 20;

/// Where placeholders may be in a project whose commands were killed with their program.
pub(super) fn placeholders(project: &Path) -> impl Iterator<Item = (PathBuf, Placeholder)> {
    let own = OWN.iter().map(|name| (project.join(name), Placeholder::Folder));
    let git = project.join(".git");
    let of_git: Vec<_> = match git.symlink_metadata() {
        Ok(found) if found.is_dir() => below(&git, GIT).collect(),
        Ok(found) if found.is_file() => linked(&git).map_or_else(Vec::new, |(own, common)| {
            // A command that may write objects must not borrow those of another repository.
            let info = (common.join("objects/info"), Placeholder::Folder);
            below(&own, GIT_OWN).chain(below(&common, GIT)).chain([info]).collect()
        }),
        // A link leads elsewhere.
        _ => Vec::new(),
    };
    own.chain(of_git).chain([(git, Placeholder::Folder)])
}

/// The paths in a folder that are protected there.
fn below(
    folder: &Path,
    names: &'static [(&'static str, Placeholder)],
) -> impl Iterator<Item = (PathBuf, Placeholder)> {
    names.iter().map(move |(name, placeholder)| (folder.join(name), *placeholder))
}

/// Adds the protections of a project or another writable folder, and git's data if it is outside.
pub(super) fn add(view: &mut View, project: &Path) -> Result<(), Error> {
    for name in OWN {
        let path = project.join(name);
        let protection = protect(path, Placeholder::Folder)?;
        view.protected.push(protection);
    }
    let git = project.join(".git");
    match git.symlink_metadata() {
        Err(_) => view.protected.push(Protection::Absent(git, Placeholder::Folder)),
        Ok(it) if it.is_symlink() => return Err(Error::ProtectedLink(git)),
        Ok(it) if it.is_dir() => repository(view, git),
        Ok(_) => {
            let linked = linked(&git);
            if let Some(access) = view.access.clone() {
                if linked.is_some_and(|(_, common)| common == access.repository) {
                    limited(view, access)?;
                }
            } else if let Some((own, common)) = linked {
                view.git.push(common.clone());
                inside(view, &common);
                if project.starts_with(&common) {
                    // For example, a bare repository that contains its work trees.
                    view.protected.push(Protection::Pinned(project.to_owned()));
                }
                // Its own part is writable, inside the shared data that is not.
                view.protected.push(Protection::Pinned(own.clone()));
                for (path, placeholder) in below(&own, GIT_OWN) {
                    view.protected.push(protect(path, placeholder)?);
                }
            }
            view.protected.push(Protection::ReadOnly(git));
        }
    }
    nested::add(view, project);
    Ok(())
}

/// Adds the repository of a linked work tree, of which the command may touch only this.
fn limited(view: &mut View, access: GitAccess) -> Result<(), Error> {
    let GitAccess { repository, writable, read_only, hidden } = access;
    let is_folder = |path: &PathBuf| path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let writable: Vec<_> = writable.into_iter().filter(is_folder).collect();
    // Elsewhere, nothing can be written anyway.
    let is_exposed = |path: &PathBuf| writable.iter().any(|folder| path.starts_with(folder));
    for path in read_only.into_iter().filter(is_exposed) {
        let is_reference = ["refs", "logs"].map(|name| repository.join(name));
        if is_reference.iter().any(|folder| path.starts_with(folder)) {
            // Whoever works on another branch replaces its file.
            let is_there = path.symlink_metadata().is_ok_and(|found| !found.is_symlink());
            view.protected.extend(is_there.then_some(Protection::Shared(path)));
        } else {
            let is_folder = ["modules", "info"].iter().any(|name| path.ends_with(name));
            let placeholder = if is_folder { Placeholder::Folder } else { Placeholder::Settings };
            view.protected.push(protect(path, placeholder)?);
        }
    }
    view.protected.extend(writable.into_iter().map(Protection::Pinned));
    view.protected.push(Protection::ReadOnly(repository.clone()));
    view.emptied = hidden.into_iter().filter(is_folder).collect();
    view.git.push(repository);
    Ok(())
}

/// Protects git's folder if it is not a link.
pub(super) fn repository(view: &mut View, git: PathBuf) {
    if Placeholder::Folder.is_at(&git) {
        view.protected.push(Protection::Held(git, Placeholder::Folder));
        return;
    }
    inside(view, &git);
    // Otherwise it could be moved away with everything that is protected in it.
    if !view.protected.contains(&Protection::ReadOnly(git.clone())) {
        view.protected.push(Protection::Pinned(git));
    }
}

fn inside(view: &mut View, git: &Path) {
    let protections = below(git, GIT).map(|(path, placeholder)| protect(path, placeholder));
    match protections.collect::<Result<Vec<_>, _>>() {
        Ok(protections) if bears_placeholders(git) => view.protected.extend(protections),
        // For example, hooks in another place: then nothing of git's may be changed.
        _ => view.protected.push(Protection::ReadOnly(git.to_owned())),
    }
}

/// Whether a placeholder for `commondir` has no effect here. Where git finds that file, it ignores
/// `core.worktree` and `core.bare`.
fn bears_placeholders(git: &Path) -> bool {
    if git.join("commondir").exists() && !Placeholder::SameFolder.is_at(&git.join("commondir")) {
        return true;
    }
    let config = git.join("config");
    let settings = match config.symlink_metadata() {
        Err(_) => Vec::new(),
        // Reading a pipe would block.
        Ok(it) if it.is_file() && it.len() <= LONGEST => std::fs::read(config).unwrap_or_default(),
        Ok(_) => return false,
    };
    let settings = String::from_utf8_lossy(&settings).to_lowercase();
    let elsewhere = settings.split("worktree").skip(1).any(|rest| !rest.starts_with("config"));
    let bare = settings.split("bare").skip(1).any(|rest| {
        let value = rest.trim_start().strip_prefix('=').map_or("", str::trim_start);
        !["false", "no", "off", "0"].iter().any(|no| value.starts_with(no))
    });
    !elsewhere && !bare
}

fn protect(path: PathBuf, placeholder: Placeholder) -> Result<Protection, Error> {
    match path.symlink_metadata() {
        // A link could be replaced, whatever it leads to.
        Ok(it) if it.is_symlink() => Err(Error::ProtectedLink(path)),
        Ok(_) if placeholder.is_at(&path) => Ok(Protection::Held(path, placeholder)),
        Ok(_) => Ok(Protection::ReadOnly(path)),
        // It is in an inaccessible folder, which the command could open.
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            Err(Error::Folder { path, error })
        }
        Err(_) => Ok(Protection::Absent(path, placeholder)),
    }
}

/// The folders of a linked work tree whose `.git` is this file: its own, and the shared one. Only
/// if git's data names the work tree in return: the file alone could have been forged by an earlier
/// command to make any folder visible.
fn linked(file: &Path) -> Option<(PathBuf, PathBuf)> {
    let base = file.parent()?;
    let text = short(file)?;
    let own = base.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let back = short(&own.join("gitdir"))?;
    if own.join(back.trim()).canonicalize().ok()? != file.canonicalize().ok()? {
        return None;
    }
    let common = short(&own.join("commondir"))?;
    let common = own.join(common.trim()).canonicalize().ok()?;
    (own.starts_with(&common) && common.join("objects").is_dir()).then_some((own, common))
}

/// The text of a small file. Reading a pipe would block.
fn short(file: &Path) -> Option<String> {
    let found = file.metadata().ok()?;
    let is_short = found.is_file() && found.len() <= LONGEST;
    if is_short { std::fs::read_to_string(file).ok() } else { None }
}
