//! Copies uncommitted changes from the user's checkout into a new worktree. The checkout is only
//! read, not even its index is refreshed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use chat_permission::path::{Kind, PathEnvironment, Project};

use crate::git::private::{GitDir, With};
use crate::git::run;
use crate::location::Location;
use crate::work_index::{copy_index, untracked};
use crate::{Error, raw};

/// What is uncommitted in a checkout.
#[derive(Debug, Default)]
pub struct Uncommitted {
    /// Files that differ from the commit or are not in it.
    pub present: Vec<PathBuf>,
    /// Files of the commit that are gone.
    pub removed: Vec<PathBuf>,
    /// Repositories in the checkout.
    pub nested: Vec<PathBuf>,
}

impl Uncommitted {
    /// Compares a checkout with its commit.
    pub fn read(git: &GitDir, location: &Location, cancel: &AtomicBool) -> Result<Self, Error> {
        let index = checkout_index(git, location)?;
        let with = With { index: Some(&index), objects: None };
        // It fails if a file differs.
        let mut refresh = git.command(with);
        refresh.args(["update-index", "-q", "--ignore-submodules", "--refresh"]);
        run(&mut refresh, cancel)?;
        let arguments = ["-z", "--raw", "--no-renames", "--ignore-submodules=all", "HEAD"];
        let output = git.output(with, "diff-index", arguments, cancel)?;
        let mut all = Self::default();
        for change in raw::parse(&output).0 {
            if change.status == b'D' {
                all.removed.push(change.path);
            } else if !change.is_submodule() {
                all.present.push(change.path);
            }
        }
        let (files, nested) = untracked(git, with, cancel)?;
        all.present.extend(files);
        all.nested = nested;
        Ok(all)
    }

    /// Brings the same changes about in `to`, a checkout of the same commit that only this program
    /// uses. Returns what is neither a file nor a link, and was left out.
    pub fn copy(&self, from: &Path, to: &Path, cancel: &AtomicBool) -> Result<Vec<PathBuf>, Error> {
        let source = open(from)?;
        for path in &self.removed {
            remove_entry(to, path)?;
        }
        let mut left_out = self.nested.clone();
        for path in &self.present {
            if cancel.load(Ordering::Relaxed) {
                return Err(Error::Cancelled);
            }
            remove_entry(to, path)?;
            if !copy_entry(&source, path, to)? {
                left_out.push(path.clone());
            }
        }
        Ok(left_out)
    }
}

/// A copy of a checkout's index.
pub fn checkout_index(git: &GitDir, location: &Location) -> Result<PathBuf, Error> {
    let index = git.place("checkout-index");
    copy_index(&location.own.join("index"), &index)?;
    // The larger part of an index that was split.
    for entry in fs::read_dir(&location.own).map_err(Error::io(&location.own))?.flatten() {
        let name = entry.file_name();
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && name.to_string_lossy().starts_with("sharedindex.") {
            let _ = symlink(entry.path(), git.place(&name.to_string_lossy()));
        }
    }
    Ok(index)
}

/// A folder whose files are read without following links.
pub fn open(folder: &Path) -> Result<Project, Error> {
    Project::open(folder, &PathEnvironment::default()).map_err(|error| unreadable(folder, error))
}

/// Says that a file cannot be read.
pub fn unreadable(path: &Path, error: chat_permission::path::Error) -> Error {
    let source = match error {
        chat_permission::path::Error::Io { source, .. } => source,
        other => io::Error::other(other),
    };
    Error::Unreadable { path: path.to_owned(), source }
}

/// Removes a file or link in a folder that only this program uses, and the folders that it was
/// alone in.
fn remove_entry(folder: &Path, path: &Path) -> Result<(), Error> {
    let full = folder.join(path);
    match full.symlink_metadata() {
        Err(_) => return Ok(()),
        // Something else is needed there, in a folder.
        Ok(found) if found.is_dir() => return Ok(()),
        Ok(_) => fs::remove_file(&full).map_err(Error::io(&full))?,
    }
    let above = full.ancestors().skip(1).take_while(|above| *above != folder);
    for above in above {
        if fs::remove_dir(above).is_err() {
            break;
        }
    }
    Ok(())
}

/// Copies a file or link; whether it was one.
fn copy_entry(source: &Project, path: &Path, to: &Path) -> Result<bool, Error> {
    let failed = |error| unreadable(path, error);
    let entry = source.entry(path).map_err(failed)?;
    let target = to.join(path);
    match entry.kind() {
        Kind::File => {
            let mut file = source.open_file(&entry).map_err(failed)?;
            let mode = file.metadata().map_err(Error::io(path))?.mode();
            write_file(&target, mode & 0o100 != 0, |new| io::copy(&mut file, new).map(drop))?;
            Ok(true)
        }
        Kind::Link => {
            let leads_to = source.read_link(&entry).map_err(failed)?;
            write_link(&target, &leads_to)?;
            Ok(true)
        }
        Kind::Missing | Kind::Folder | Kind::Special => Ok(false),
    }
}

/// Creates a file with the folders above it, where nothing is.
pub fn write_file(
    path: &Path,
    is_executable: bool,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Error> {
    let io = Error::io(path);
    make_parent(path)?;
    let mut options = File::options();
    options.write(true).create_new(true).mode(if is_executable { 0o777 } else { 0o666 });
    let mut file = options.open(path).map_err(&io)?;
    write(&mut file).map_err(&io)
}

/// Creates a link with the folders above it, where nothing is.
pub fn write_link(path: &Path, leads_to: &OsStr) -> Result<(), Error> {
    make_parent(path)?;
    symlink(leads_to, path).map_err(Error::io(path))
}

fn make_parent(path: &Path) -> Result<(), Error> {
    let Some(parent) = path.parent() else { return Ok(()) };
    fs::create_dir_all(parent).map_err(Error::io(parent))
}
