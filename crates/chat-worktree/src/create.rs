//! Creates a worktree: its branch, its folder, and its git folder in the user's repository.
//!
//! `git worktree add` is not used, since it must run in the repository's own folder, with its hooks
//! and settings. The files that it would write are few, and their format is documented in
//! gitrepository-layout(5).

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::changes::Uncommitted;
use crate::finished::folder_mark;
use crate::git::private::{GitDir, With};
use crate::git::run;
use crate::location::{Head, Location};
use crate::record::{Record, Worktree, now};
use crate::work_index::copy_index;
use crate::worktrees::{Worktrees, hold, make_folder};
use crate::{Error, link, names, raw};

/// How many names are tried until one is free.
const MOST_NAMES: u32 = 1000;

/// How to create a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CreateOptions {
    /// Its name, for people. Its branch is named after it, and so is its folder, with a mark that keeps
    /// it apart from others of that name.
    pub name: String,
    /// Its branch; by default `natter/` and the name, with a number if there is such a branch.
    pub branch: Option<String>,
    /// The commit or branch to begin with; by default what the project's checkout is on.
    pub base: Option<String>,
    /// Whether to copy uncommitted changes of the checkout: staged, unstaged, and untracked files
    /// that are not ignored. They are uncommitted in the worktree too; none of them is staged.
    pub with_changes: bool,
}

/// A new worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Created {
    /// The worktree.
    pub worktree: Worktree,
    /// Submodules, whose folders are empty.
    pub submodules: Vec<PathBuf>,
    /// What was not copied with the uncommitted changes: repositories inside the checkout, and
    /// what is neither a file nor a link.
    pub left_out: Vec<PathBuf>,
}

impl Worktrees {
    /// Creates a worktree for a project, a folder in a git repository. Takes as long as a checkout.
    /// Filters are not run: files of Git LFS, for example, are pointers in it. If it fails or is
    /// cancelled, nothing is left of it.
    ///
    /// # Errors
    /// No repository, a bare one, or one without a commit; an unknown base; a branch that exists or
    /// is not allowed; a path in use; uncommitted changes on another base; git or the disk fails.
    pub fn create(
        &self,
        project: &Path,
        options: &CreateOptions,
        cancel: &AtomicBool,
    ) -> Result<Created, Error> {
        let project = fs::canonicalize(project).map_err(Error::io(project))?;
        let parent = Location::find(&project)?;
        self.check_places(&parent)?;
        let git = GitDir::new(&parent, cancel)?;
        if git.settings().is_bare && parent.own == parent.common {
            return Err(Error::Bare(parent.common));
        }
        let head = git.resolve("HEAD^{commit}", cancel)?;
        let (base, target) = base(&git, &parent, options, head.as_deref(), cancel)?;
        if options.with_changes && head.as_ref() != Some(&base) {
            return Err(Error::BaseIsNotHead);
        }

        let folder = self.folder_of(&parent);
        make_folder(&folder)?;
        let _lock = hold(&folder)?;
        let name = names::folder_name(&options.name);
        let (branch, name) = free_branch(&git, &name, options.branch.as_deref(), cancel)?;
        let folder = new_folder(&folder, &name, &self.stored_marks(cancel), names::unique_mark)?;
        let own = free_own(&parent.common, &folder)?;
        let record = Record {
            version: Record::VERSION,
            name: options.name.clone(),
            branch,
            base,
            target,
            common: parent.common.clone(),
            own,
            checkout: parent.work_tree.clone(),
            project,
            created: now(),
            snapshot: None,
        };
        let worktree = Worktree { record: Arc::new(record), folder };
        let mut undo = Undo { worktree: &worktree, git: &git, made: Made::Nothing };
        make(&git, &worktree, &mut undo.made, true, cancel)?;
        let mut left_out = Vec::new();
        if options.with_changes {
            let uncommitted = Uncommitted::read(&git, &parent, cancel)?;
            left_out = uncommitted.copy(&parent.work_tree, &worktree.folder, cancel)?;
        }
        fs::create_dir_all(worktree.project()).map_err(Error::io(&worktree.folder))?;
        let submodules = submodules(&git, &worktree.index(), cancel)?;
        undo.made = Made::Nothing;
        drop(undo);
        Ok(Created { worktree, submodules, left_out })
    }

    /// Checks that neither worktrees nor snapshots are in a repository, nor the other way round.
    pub(crate) fn check_places(&self, parent: &Location) -> Result<(), Error> {
        // A project may itself be a worktree of Natter's.
        let is_ours = self.open(&parent.work_tree).is_ok();
        for folder in [&self.root, &self.shadow] {
            for place in [&parent.work_tree, &parent.common] {
                if folder.starts_with(place) || !is_ours && place.starts_with(folder) {
                    return Err(Error::Inside(folder.clone()));
                }
            }
        }
        Ok(())
    }
}

/// The commit to begin with, and the branch that it is of.
fn base(
    git: &GitDir,
    parent: &Location,
    options: &CreateOptions,
    head: Option<&str>,
    cancel: &AtomicBool,
) -> Result<(String, Option<String>), Error> {
    let Some(name) = &options.base else {
        let target = match parent.head() {
            Head::Branch(branch) => Some(branch),
            Head::Detached(_) | Head::Unknown => None,
        };
        return Ok((head.ok_or(Error::NoCommits)?.to_owned(), target));
    };
    let unknown = || Error::UnknownBase(name.clone());
    if head.is_none()
        && git.output(With::default(), "for-each-ref", ["--count=1"], cancel)?.is_empty()
    {
        return Err(Error::NoCommits);
    }
    if name.is_empty() || name.contains(char::is_control) {
        return Err(unknown());
    }
    if is_branch_name(git, name, cancel)?
        && let Some(commit) = git.branch(name, cancel)?
    {
        return Ok((commit, Some(name.clone())));
    }
    let commit = git.resolve(&format!("{name}^{{commit}}"), cancel)?.ok_or_else(unknown)?;
    Ok((commit, None))
}

/// A branch that there is not yet, and the name that goes with it.
pub fn free_branch(
    git: &GitDir,
    name: &str,
    branch: Option<&str>,
    cancel: &AtomicBool,
) -> Result<(String, String), Error> {
    if let Some(branch) = branch {
        if !is_branch_name(git, branch, cancel)? {
            return Err(Error::InvalidBranch(branch.to_owned()));
        }
        return match in_the_way(git, branch, cancel)? {
            Some(other) => Err(Error::BranchExists(other)),
            None => Ok((branch.to_owned(), name.to_owned())),
        };
    }
    for number in 1..MOST_NAMES {
        let name = if number == 1 { name.to_owned() } else { format!("{name}-{number}") };
        let branch = format!("natter/{name}");
        match in_the_way(git, &branch, cancel)? {
            None => return Ok((branch, name)),
            Some(other) if other == "natter" => return Err(Error::BranchExists(other)),
            Some(_) => {}
        }
    }
    Err(Error::BranchExists(format!("natter/{name}")))
}

/// A folder that no worktree has and no snapshot names, marked by `mark` until one is found. Chats
/// know theirs by its folder, also when it is gone without a snapshot: that none of them names the new
/// one is only very likely.
pub fn new_folder(
    folder: &Path,
    name: &str,
    stored: &HashSet<String>,
    mut mark: impl FnMut() -> String,
) -> Result<PathBuf, Error> {
    for _ in 1..MOST_NAMES {
        let new = folder.join(format!("{name}-{}", mark()));
        if is_free(&new) && !stored.contains(&folder_mark(&new)) {
            return Ok(new);
        }
    }
    Err(Error::PathInUse(folder.join(name)))
}

/// Whether nothing is left of a worktree with this folder.
pub fn is_free(folder: &Path) -> bool {
    let is_missing = |path: &Path| path.symlink_metadata().is_err();
    is_missing(folder)
        && ["json", "index", "removing", "removed"]
            .iter()
            .all(|end| is_missing(&folder.with_extension(end)))
}

pub fn is_branch_name(git: &GitDir, branch: &str, cancel: &AtomicBool) -> Result<bool, Error> {
    if branch.is_empty() || branch.starts_with('-') || branch.contains(char::is_control) {
        return Ok(false);
    }
    let mut command = git.command(With::default());
    command.args(["check-ref-format", &format!("refs/heads/{branch}")]);
    Ok(run(&mut command, cancel)?.code == Some(0) && branch != "HEAD")
}

/// The branch that keeps this one from being created: itself, one above it, or one below it.
fn in_the_way(git: &GitDir, branch: &str, cancel: &AtomicBool) -> Result<Option<String>, Error> {
    let arguments = ["--format=%(refname)", "refs/heads/"];
    let listed = git.output(With::default(), "for-each-ref", arguments, cancel)?;
    let listed = String::from_utf8_lossy(&listed);
    let below = |one: &str, other: &str| {
        one.strip_prefix(other).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let mut names = listed.lines().filter_map(|name| name.strip_prefix("refs/heads/"));
    Ok(names.find(|name| below(name, branch) || below(branch, name)).map(str::to_owned))
}

/// A git folder that nothing has yet, named after the worktree's folder: no other record names it,
/// also when it is gone.
pub fn free_own(common: &Path, folder: &Path) -> Result<PathBuf, Error> {
    if folder.to_str().is_none() || common.to_str().is_none() {
        // Git's files would have to be compared as bytes; no such home is known.
        return Err(Error::Unsupported);
    }
    let worktrees = common.join("worktrees");
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    for number in 1..MOST_NAMES {
        let own =
            worktrees.join(if number == 1 { name.to_string() } else { format!("{name}{number}") });
        if own.symlink_metadata().is_err() {
            return Ok(own);
        }
    }
    Err(Error::PathInUse(worktrees))
}

/// How far a worktree was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Made {
    Nothing,
    Record,
    Folder,
    OwnFolder,
    Branch,
}

/// Removes what was made of a worktree that failed.
pub struct Undo<'a> {
    pub worktree: &'a Worktree,
    pub git: &'a GitDir,
    pub made: Made,
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        let Record { own, branch, base, .. } = &*self.worktree.record;
        if self.made >= Made::Branch
            && let Err(error) = self.git.delete_branch(branch, base, &AtomicBool::new(false))
        {
            tracing::warn!(%error, "the branch of a worktree that failed stays");
        }
        if self.made >= Made::OwnFolder {
            let _ = fs::remove_dir_all(own);
        }
        if self.made >= Made::Folder {
            let _ = fs::remove_dir_all(&self.worktree.folder);
        }
        if self.made >= Made::Record {
            for file in [self.worktree.index(), self.worktree.file()] {
                let _ = fs::remove_file(file);
            }
        }
    }
}

/// Makes a worktree at its base, with its files or with an empty folder.
pub fn make(
    git: &GitDir,
    worktree: &Worktree,
    made: &mut Made,
    with_files: bool,
    cancel: &AtomicBool,
) -> Result<(), Error> {
    let Record { own, branch, base, .. } = &*worktree.record;
    worktree.save()?;
    *made = Made::Record;
    fs::create_dir(&worktree.folder).map_err(Error::io(&worktree.folder))?;
    *made = Made::Folder;
    let worktrees = own.parent().unwrap_or(own);
    fs::create_dir_all(worktrees).map_err(Error::io(worktrees))?;
    fs::create_dir(own).map_err(Error::io(own))?;
    *made = Made::OwnFolder;
    link::replace(&own.join("HEAD"), format!("ref: refs/heads/{branch}\n").as_bytes())?;
    link::write(&worktree.folder, own)?;
    git.set_branch(branch, base, None, cancel)?;
    *made = Made::Branch;
    let index = worktree.index();
    let with = With { index: Some(&index), objects: None };
    let mut checkout = git.command(with);
    checkout.env("GIT_WORK_TREE", &worktree.folder).current_dir(&worktree.folder);
    checkout.args(["read-tree", "--reset"]).args(with_files.then_some("-u")).arg(base);
    run(&mut checkout, cancel)?.success("read-tree")?;
    copy_index(&index, &own.join("index"))
}

fn submodules(git: &GitDir, index: &Path, cancel: &AtomicBool) -> Result<Vec<PathBuf>, Error> {
    let with = With { index: Some(index), objects: None };
    let listed = git.output(with, "ls-files", ["-z", "--stage"], cancel)?;
    Ok(raw::staged(&listed).filter_map(|(is_one, path)| is_one.then_some(path)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shadow::{REFS, Shadow};

    #[test]
    fn a_folder_that_a_snapshot_names_is_not_used_again() {
        let never = AtomicBool::new(false);
        let folder = tempfile::tempdir().unwrap();
        let (root, state) = (folder.path().join("worktrees"), folder.path().join("state"));
        let worktrees = Worktrees::new(&root, &state);
        assert_eq!(worktrees.stored_marks(&never), HashSet::new());
        let shadow = Shadow::open(&state, false, &never).unwrap();
        let mut import = shadow.import().unwrap();
        let mark = folder_mark(&root.join("fixer-aaaaaa"));
        import.begin(&format!("{REFS}1000000000000-{mark}"), 1);
        import.bytes("100644", Path::new("meta.json"), b"{}");
        import.finish().unwrap();

        // It is also asked while another operation holds the snapshots.
        let _held = shadow.hold().unwrap();
        let stored = worktrees.stored_marks(&never);
        let mut marks = ["aaaaaa", "bbbbbb"].into_iter().map(str::to_owned);
        let new = new_folder(&root, "fixer", &stored, || marks.next().unwrap()).unwrap();
        assert_eq!(new, root.join("fixer-bbbbbb"));
    }
}
