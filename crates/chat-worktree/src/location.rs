//! Finds where a repository really is, and whether it is the project's own.
//!
//! What leads elsewhere is believed only where it is named in turn from there: the `.git` of a
//! project may have been made to show, or change, what is in another repository.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::Error;

/// The maximum size of a file that names a folder or a reference, in bytes.
const LONGEST: u64 = 8 * 1024;

/// Where a checkout and its repository are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The folder with its files.
    pub work_tree: PathBuf,
    /// What is this checkout's own: `HEAD`, the index.
    pub own: PathBuf,
    /// What all checkouts share: objects, references, settings.
    pub common: PathBuf,
}

/// What a checkout is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch.
    Branch(String),
    /// A commit.
    Detached(String),
    /// Something that cannot be read.
    Unknown,
}

impl Location {
    /// The repository that a folder is in.
    pub fn find(folder: &Path) -> Result<Self, Error> {
        let folder = fs::canonicalize(folder).map_err(Error::io(folder))?;
        for work_tree in folder.ancestors() {
            let git = work_tree.join(".git");
            let Ok(found) = git.symlink_metadata() else {
                let has = |name: &str| work_tree.join(name);
                if has("HEAD").is_file() && has("objects").is_dir() && has("refs").is_dir() {
                    return Err(Error::Bare(work_tree.to_owned()));
                }
                continue;
            };
            let location = if found.is_dir() && git.join("HEAD").exists() {
                Self { work_tree: work_tree.to_owned(), own: git.clone(), common: git.clone() }
            } else if found.is_file() {
                linked(work_tree, &git).ok_or_else(|| Error::Foreign(git.clone()))?
            } else if found.is_symlink() {
                return Err(Error::Foreign(git));
            } else {
                continue;
            };
            return location.checked();
        }
        Err(Error::NotARepository(folder))
    }

    /// The same, if all of it is where it says and has no objects of another repository.
    pub fn checked(self) -> Result<Self, Error> {
        if self.is_whole() { Ok(self) } else { Err(Error::Foreign(self.common)) }
    }

    /// What the checkout is on.
    pub fn head(&self) -> Head {
        head(&self.own)
    }

    fn is_whole(&self) -> bool {
        let is_own = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_dir());
        let is_no_link = |path: PathBuf| !path.is_symlink();
        let shares = self.own == self.common && is_shared(&self.common.join("commondir"));
        let objects = self.common.join("objects");
        !shares
            && is_own(&self.own)
            && is_own(&objects)
            && is_own(&self.common.join("refs"))
            && is_own(&self.common.join("refs/heads"))
            && has_no_links(&objects)
            && has_no_links(&objects.join("pack"))
            && ["alternates", "http-alternates"]
                .iter()
                .all(|name| objects.join("info").join(name).symlink_metadata().is_err())
            && ["packed-refs", "info", "config", "shallow", "worktrees", "logs"]
                .iter()
                .all(|name| is_no_link(self.common.join(name)))
            && ["HEAD", "index"].iter().all(|name| is_no_link(self.own.join(name)))
    }
}

/// What a checkout with this folder of its own is on.
pub fn head(own: &Path) -> Head {
    let Some(text) = short_file(&own.join("HEAD")) else { return Head::Unknown };
    let text = text.trim();
    if let Some(branch) = text.strip_prefix("ref: refs/heads/") {
        return Head::Branch(branch.to_owned());
    }
    let is_commit =
        matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_commit { Head::Detached(text.to_owned()) } else { Head::Unknown }
}

/// Whether this `commondir` leads to another folder. The sandbox keeps its place free with one that
/// leads to the folder that it is in.
fn is_shared(commondir: &Path) -> bool {
    commondir.symlink_metadata().is_ok() && short_file(commondir).as_deref() != Some("./.\n")
}

fn has_no_links(folder: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return true };
    entries.flatten().all(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
}

/// The repository that a file `.git` leads to: one of several checkouts, or a submodule.
fn linked(work_tree: &Path, git: &Path) -> Option<Location> {
    let own = fs::canonicalize(named(git, "gitdir:")?).ok()?;
    let common = match named(&own.join("commondir"), "") {
        Some(common) => fs::canonicalize(common).ok()?,
        None => own.clone(),
    };
    let location = Location { work_tree: work_tree.to_owned(), own, common };
    let names_it = if location.own == location.common {
        // A submodule's is below that of the repository around it.
        let above = work_tree.ancestors().skip(1);
        above
            .filter_map(|above| fs::canonicalize(above.join(".git/modules")).ok())
            .any(|modules| location.own.starts_with(modules))
    } else {
        let back = named(&location.own.join("gitdir"), "")?;
        location.own.parent() == Some(&*location.common.join("worktrees"))
            && fs::canonicalize(back).ok()? == fs::canonicalize(git).ok()?
    };
    names_it.then_some(location)
}

/// The path that a file of git's names, from that file's folder on.
pub fn named(file: &Path, before: &str) -> Option<PathBuf> {
    let text = short_file(file)?;
    Some(file.parent()?.join(text.strip_prefix(before)?.trim()))
}

/// The text of a file of a line or two; none where it is no such thing.
pub fn short_file(file: &Path) -> Option<String> {
    // A command may put a pipe there, which would make reading wait, or what never ends.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file = File::options().read(true).custom_flags(flags).open(file).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 > LONGEST { None } else { String::from_utf8(bytes).ok() }
}
