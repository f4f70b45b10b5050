//! Finds where a repository really lies, and whether it is the project's own.
//!
//! A project may come with a `.git` that was made to show what lies in another repository, which would then go to a
//! model as its changes. So what leads elsewhere is believed only where it is named in turn from there.

use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::GitError;
use crate::read;

/// Bytes of a file that names a folder.
const LONGEST: u64 = 8 * 1024;

/// Where a repository lies.
#[derive(Clone, Debug)]
pub(super) struct RepositoryLocation {
    /// The folder that its files lie in.
    pub work_tree: PathBuf,
    /// What is this work tree's own: `HEAD`, index.
    pub own: PathBuf,
    /// What all work trees share: objects, references, settings.
    pub common: PathBuf,
}

/// Which folders a repository's data lies in, and when they were last changed or moved.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FolderStamps([Option<(u64, u64, i64, i64)>; 4]);

impl RepositoryLocation {
    /// The repository that a folder lies in.
    pub fn find(folder: &Path) -> Result<Option<Self>, GitError> {
        for work_tree in folder.ancestors() {
            let git = work_tree.join(".git");
            let Ok(found) = git.symlink_metadata() else { continue };
            let location = if found.is_dir() && git.join("HEAD").exists() {
                Self { work_tree: work_tree.to_owned(), own: git.clone(), common: git.clone() }
            } else if found.is_file() {
                linked(work_tree, &git).ok_or_else(|| GitError::Foreign(git.clone()))?
            } else if found.is_symlink() {
                return Err(GitError::Foreign(git));
            } else {
                continue;
            };
            return if location.is_whole() {
                Ok(Some(location))
            } else {
                Err(GitError::Foreign(git))
            };
        }
        Ok(None)
    }

    /// By which is told whether another repository's data took the place of this one's meanwhile, if only for a
    /// moment: each time something is moved, the kernel notes when.
    pub fn stamps(&self) -> Result<FolderStamps, GitError> {
        let mark = |name: &str| {
            let found = self.common.join(name).symlink_metadata().ok()?;
            Some((found.dev(), found.ino(), found.ctime(), found.ctime_nsec()))
        };
        let stamps = ["objects", "objects/info", "objects/pack", "refs"].map(mark);
        if self.is_whole() {
            Ok(FolderStamps(stamps))
        } else {
            Err(GitError::Foreign(self.common.clone()))
        }
    }

    /// Whether all of it lies where it says, and no objects of another repository are in it.
    fn is_whole(&self) -> bool {
        let is_own = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let is_no_link = |path: PathBuf| !path.is_symlink();
        let shares = self.own == self.common && is_shared(&self.common.join("commondir"));
        let objects = self.common.join("objects");
        !shares
            && is_own(&objects)
            && is_own(&self.common.join("refs"))
            && has_no_links(&objects)
            && has_no_links(&objects.join("pack"))
            && ["alternates", "http-alternates"]
                .iter()
                .all(|name| objects.join("info").join(name).symlink_metadata().is_err())
            && ["packed-refs", "info", "config", "shallow"]
                .iter()
                .all(|name| is_no_link(self.common.join(name)))
            && ["HEAD", "index"].iter().all(|name| is_no_link(self.own.join(name)))
    }
}

/// Whether this `commondir` leads to another folder. The sandbox keeps its place free with one that leads to
/// the folder that it is in.
fn is_shared(commondir: &Path) -> bool {
    commondir.symlink_metadata().is_ok() && short_file(commondir).as_deref() != Some("./.\n")
}

fn has_no_links(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return true };
    entries.flatten().all(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
}

/// The repository that a file `.git` leads to: one of several work trees, or a submodule.
fn linked(work_tree: &Path, git: &Path) -> Option<RepositoryLocation> {
    let own = fs::canonicalize(named(git, "gitdir:")?).ok()?;
    let common = match named(&own.join("commondir"), "") {
        Some(common) => fs::canonicalize(common).ok()?,
        None => own.clone(),
    };
    let location = RepositoryLocation { work_tree: work_tree.to_owned(), own, common };
    let names_it = if location.own == location.common {
        // A submodule's lies beneath that of the repository around it.
        let above = work_tree.ancestors().skip(1);
        above
            .filter_map(|above| fs::canonicalize(above.join(".git/modules")).ok())
            .any(|modules| location.own.starts_with(modules))
    } else {
        let back = named(&location.own.join("gitdir"), "")?;
        location.own.starts_with(&location.common)
            && fs::canonicalize(back).ok()? == fs::canonicalize(git).ok()?
    };
    names_it.then_some(location)
}

/// The path that a file of git's names, from that file's folder on.
fn named(file: &Path, before: &str) -> Option<PathBuf> {
    let text = short_file(file)?;
    Some(file.parent()?.join(text.strip_prefix(before)?.trim()))
}

/// A file of a line or two; none where it is no such thing.
pub(super) fn short_file(file: &Path) -> Option<String> {
    // A command that runs may put a pipe there, which would make the reading wait, or what never ends.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(file).ok()?;
    let (text, is_more) = if file.metadata().ok()?.is_file() {
        read::at_most(&file, LONGEST).ok()?
    } else {
        return None;
    };
    if is_more { None } else { String::from_utf8(text).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_file_is_no_link_no_pipe_and_not_endless() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(short_file(&at("HEAD")).unwrap(), "ref: refs/heads/main\n");
        std::os::unix::fs::symlink(at("HEAD"), at("link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", at("endless")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, at("pipe"), 0o600.into()).unwrap();
        std::fs::write(at("long"), vec![b'a'; 8 * 1024 + 1]).unwrap();
        for name in ["link", "endless", "pipe", "long", "none", "."] {
            assert_eq!(short_file(&at(name)), None, "{name}");
        }
    }
}
