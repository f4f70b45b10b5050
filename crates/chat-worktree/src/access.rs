//! Says what of a repository's data a sandboxed command in a worktree may touch.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::Error;
use crate::git::private::{GitDir, With};
use crate::record::Worktree;
use crate::worktrees::Worktrees;

/// Listing branches takes no time to speak of.
static NEVER: AtomicBool = AtomicBool::new(false);

/// What a sandboxed command in a worktree may touch outside of the worktree's folder, so that git
/// works in it: paths in the user's repository.
///
/// Everything in [`WorktreeAccess::repository`] is readable, unless it is hidden. Where rules
/// overlap, the longer path counts. So nothing but objects, and the worktree's own branch and git
/// folder, can be changed by a command, whatever `git -C`, `--git-dir` or `GIT_DIR` it uses.
///
/// New references of other kinds, tags for example, cannot be created in a worktree, and references
/// cannot be packed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeAccess {
    /// The repository's shared git folder.
    pub repository: PathBuf,
    /// Paths that may be written: a folder with everything in it, or a file, which need not exist.
    pub writable: Vec<PathBuf>,
    /// Paths that must not be written, although they are below a writable one, and those that the
    /// user's own git trusts: settings, hooks, the index and head of the user's checkout, other
    /// branches. Some need not exist; they must not be created either.
    pub read_only: Vec<PathBuf>,
    /// Folders that must not be read, except for what is writable in them: that of the git folders of
    /// all worktrees.
    pub hidden: Vec<PathBuf>,
}

impl Worktrees {
    /// What a sandboxed command in a worktree may touch, as things are now. Creates the folders of
    /// its branch's reference and log, so that they can be mounted.
    ///
    /// # Errors
    /// The worktree or its repository is not as recorded, or a folder cannot be created.
    pub fn access(&self, worktree: &Worktree) -> Result<WorktreeAccess, Error> {
        let location = worktree.location()?;
        let (common, own) = (&location.common, &location.own);
        let reference = common.join("refs/heads").join(worktree.branch());
        let log = common.join("logs/refs/heads").join(worktree.branch());
        let mut writable = vec![own.clone(), common.join("objects")];
        let mut read_only: Vec<PathBuf> = [
            "HEAD",
            "ORIG_HEAD",
            "FETCH_HEAD",
            "MERGE_HEAD",
            "CHERRY_PICK_HEAD",
            "REVERT_HEAD",
            "COMMIT_EDITMSG",
            "index",
            "index.lock",
            "config",
            "config.lock",
            "config.worktree",
            "commondir",
            "hooks",
            "info",
            "modules",
            "worktrees",
            "packed-refs",
            "packed-refs.lock",
            "shallow",
            "refs",
            "logs",
            "rebase-merge",
            "rebase-apply",
            "sequencer",
            "objects/info",
        ]
        .iter()
        .map(|name| common.join(name))
        .collect();
        read_only.extend(
            ["commondir", "gitdir", "config.worktree", "modules"].iter().map(|name| own.join(name)),
        );
        let others = others(&GitDir::new(&location, &NEVER)?, worktree)?;
        // Git renames a new file into the place of a reference, so that the folder must be writable.
        // Branches next to it are not.
        for (path, is_log) in [(&reference, false), (&log, true)] {
            let Some(folder) = path.parent() else { continue };
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
            let top = if is_log { "logs/refs/heads" } else { "refs/heads" };
            if folder == common.join(top) {
                // All branches are next to it: then only the files themselves are writable.
                writable.extend([path.clone(), with_lock(path)]);
                continue;
            }
            writable.push(folder.to_owned());
            let top = common.join(top);
            read_only.extend(others.iter().map(|other| top.join(other)));
            for entry in fs::read_dir(folder).map_err(Error::io(folder))?.flatten() {
                let other = entry.path();
                if other != *path && other != with_lock(path) {
                    read_only.push(other);
                }
            }
        }
        read_only.sort();
        read_only.dedup();
        let hidden = vec![common.join("worktrees")];
        Ok(WorktreeAccess { repository: common.clone(), writable, read_only, hidden })
    }
}

/// Other branches in the same folder. They may be packed, and then have no file of their own.
fn others(git: &GitDir, worktree: &Worktree) -> Result<Vec<String>, Error> {
    let arguments = ["--format=%(refname)", "refs/heads/"];
    let listed = git.output(With::default(), "for-each-ref", arguments, &NEVER)?;
    let listed = String::from_utf8_lossy(&listed);
    let names = listed.lines().filter_map(|name| name.strip_prefix("refs/heads/"));
    Ok(names.filter(|name| *name != worktree.branch()).map(str::to_owned).collect())
}

impl WorktreeAccess {
    /// Whether a path may be written: for checks, and for sandboxes that decide path by path.
    pub fn may_write(&self, path: &Path) -> bool {
        let longest = |paths: &[PathBuf]| {
            let above = paths.iter().filter(|above| path.starts_with(above));
            above.map(|above| above.components().count()).max()
        };
        let allowed = longest(&self.writable);
        allowed.is_some() && allowed > longest(&self.read_only).max(longest(&self.hidden))
    }
}

fn with_lock(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}
