//! Verifies that a worktree's folder and its git folder name each other, before each operation.
//!
//! A command in the worktree can write its `.git` and parts of its git folder. So these are only
//! compared with the record, which no command can write; no path is ever taken from them.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use crate::location::{Location, named, short_file};
use crate::record::Worktree;
use crate::{Error, Head, location};

impl Worktree {
    /// Where it is, if all of it is as recorded.
    pub(crate) fn location(&self) -> Result<Location, Error> {
        let location = self.location_without_link()?;
        let git = self.folder.join(".git");
        let is_linked = short_file(&git) == Some(link_text(&location.own))
            && named(&location.own.join("gitdir"), "").is_some_and(|back| back == git)
            && named(&location.own.join("commondir"), "")
                .and_then(|common| fs::canonicalize(common).ok())
                .is_some_and(|common| common == location.common);
        if is_linked { Ok(location) } else { Err(Error::Foreign(git)) }
    }

    /// The same, whatever its `.git` says: for what does not use that.
    pub(crate) fn location_without_link(&self) -> Result<Location, Error> {
        let folder = &self.folder;
        if !is_folder(folder) {
            return Err(Error::FolderGone(folder.clone()));
        }
        if fs::canonicalize(folder).ok().as_ref() != Some(folder) {
            return Err(Error::Foreign(folder.clone()));
        }
        let (common, own) = (&self.record.common, &self.record.own);
        if !is_folder(common) {
            return Err(Error::RepositoryGone(common.clone()));
        }
        if fs::canonicalize(own).ok().as_ref() != Some(own) {
            return Err(Error::Foreign(own.clone()));
        }
        let (work_tree, own, common) = (folder.clone(), own.clone(), common.clone());
        Location { work_tree, own, common }.checked()
    }

    /// Where its branch is merged from, and whether its folder is there. Of one whose folder was deleted
    /// the branch is left: then it is the user's checkout.
    pub(crate) fn location_to_merge(&self) -> Result<(Location, bool), Error> {
        match self.location_on_branch() {
            Err(Error::FolderGone(folder)) => {
                let parent = Location::find(&self.record.checkout).ok();
                let parent = parent.filter(|parent| parent.common == self.record.common);
                Ok((parent.ok_or(Error::FolderGone(folder))?, false))
            }
            location => Ok((location?, true)),
        }
    }

    /// The same, if it is on its own branch.
    pub(crate) fn location_on_branch(&self) -> Result<Location, Error> {
        let location = self.location()?;
        if location.head() == Head::Branch(self.branch().to_owned()) {
            Ok(location)
        } else {
            Err(Error::BranchSwitched)
        }
    }
}

/// Writes the files by which a worktree's folder and its git folder find each other.
pub fn write(folder: &Path, own: &Path) -> Result<(), Error> {
    let mut back = folder.join(".git").into_os_string();
    back.push("\n");
    replace(&own.join("commondir"), b"../..\n")?;
    replace(&own.join("gitdir"), back.as_encoded_bytes())?;
    replace(&folder.join(".git"), link_text(own).as_bytes())
}

/// What `.git` in a worktree's folder says. Paths that are not UTF-8 are refused when it is made.
fn link_text(own: &Path) -> String {
    format!("gitdir: {}\n", own.to_string_lossy())
}

/// Replaces a file in one step. A link in its place is replaced, not followed.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    replace_as_of(path, bytes, None)
}

/// The same, with a time at which it was written.
pub fn replace_as_of(path: &Path, bytes: &[u8], written: Option<SystemTime>) -> Result<(), Error> {
    let io = Error::io(path);
    let mut new = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(path)).map_err(&io)?;
    new.write_all(bytes).map_err(&io)?;
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    new.as_file().set_permissions(permissions).map_err(&io)?;
    if let Some(written) = written {
        new.as_file().set_modified(written).map_err(&io)?;
    }
    new.persist(path).map_err(|error| io(error.error))?;
    Ok(())
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}

/// The path of the checkout that a git folder in `worktrees` belongs to.
pub fn checkout_of(own: &Path) -> Option<std::path::PathBuf> {
    location::named(&own.join("gitdir"), "")?.parent().map(Path::to_owned)
}
