//! Commits everything in a worktree.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::Error;
use crate::git::private::{GitDir, With};
use crate::git::{Git, Output, run_with};
use crate::location::Location;
use crate::merge::MergePreview;
use crate::record::Worktree;
use crate::work_index::{WorkIndex, copy_index};
use crate::worktrees::Worktrees;

/// Who makes a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// Its name, in hexadecimal.
    pub commit: String,
    /// Repositories inside the worktree, which are not in it.
    pub nested: Vec<PathBuf>,
}

impl Worktrees {
    /// Commits all files of a worktree on its branch, except for ignored ones: changed, deleted and
    /// untracked ones, staged or not. The author is the user as git's settings say, of the
    /// repository or else of the user; what they do not say is taken from `fallback`. Hooks are not
    /// run, and the commit is not signed.
    ///
    /// # Errors
    /// There is nothing to commit; the worktree is on another branch; its branch changed meanwhile;
    /// the worktree or its repository is not as recorded; git fails; it was cancelled.
    pub fn commit(
        &self,
        worktree: &Worktree,
        message: &str,
        fallback: &Identity,
        cancel: &AtomicBool,
    ) -> Result<Committed, Error> {
        self.commit_files(worktree, None, message, fallback, cancel)
    }

    /// Commits all files of a worktree, as [`commit`](Self::commit) does, if they and its branch are
    /// still as in a preview of a merge.
    ///
    /// # Errors
    /// [`Error::Changed`] if they are not, and nothing is committed; the same as of `commit`.
    pub fn commit_previewed(
        &self,
        worktree: &Worktree,
        preview: &MergePreview,
        message: &str,
        fallback: &Identity,
        cancel: &AtomicBool,
    ) -> Result<Committed, Error> {
        self.commit_files(worktree, Some(preview), message, fallback, cancel)
    }

    fn commit_files(
        &self,
        worktree: &Worktree,
        preview: Option<&MergePreview>,
        message: &str,
        fallback: &Identity,
        cancel: &AtomicBool,
    ) -> Result<Committed, Error> {
        let _lock = self.lock(worktree)?;
        let location = worktree.location_on_branch()?;
        let git = GitDir::new(&location, cancel)?.without_head()?;
        let branch = worktree.branch();
        let head = git.branch(branch, cancel)?;
        let head = head.ok_or_else(|| Error::NoBranch(branch.to_owned()))?;
        let stored = worktree.index();
        let work = WorkIndex::read(&git, &location, &stored, &head, None, u64::MAX, cancel)?;
        let with = With { index: Some(&work.path), objects: None };
        let tree = Output::line(&git.output(with, "write-tree", None::<&str>, cancel)?);
        // The files are read once: this very tree is compared, and committed.
        if preview.is_some_and(|preview| (&preview.head, &preview.tree) != (&head, &tree)) {
            return Err(Error::Changed);
        }
        if git.resolve(&format!("{head}^{{tree}}"), cancel)?.as_ref() == Some(&tree) {
            return Err(Error::NothingToCommit);
        }
        let author = identity(&git, &location, fallback, cancel)?;
        let with = With::default();
        let commit = commit_tree(&git, with, &tree, &[&head], message, &author, cancel)?;
        git.set_branch(branch, &commit, Some(&head), cancel)?;
        // What was staged is committed now.
        copy_index(&work.path, &location.own.join("index"))?;
        work.store(&stored)?;
        Ok(Committed { commit, nested: work.nested })
    }
}

/// Stores a commit that no branch has yet.
pub fn commit_tree(
    git: &GitDir,
    with: With,
    tree: &str,
    parents: &[&str],
    message: &str,
    author: &Identity,
    cancel: &AtomicBool,
) -> Result<String, Error> {
    let mut command = git.command(with);
    named(&mut command, author);
    command.args(["commit-tree", "--no-gpg-sign", "-F", "-"]);
    for parent in parents {
        command.args(["-p", parent]);
    }
    command.arg(tree);
    let text = format!("{}\n", message.trim_end());
    let output = run_with(&mut command, text.as_bytes(), usize::MAX, cancel)?;
    Ok(Output::line(&output.success("commit-tree")?))
}

/// Has a call make commits by this author.
pub fn named(command: &mut Command, author: &Identity) {
    // Git refuses an empty name, and a name of these letters only.
    let plain = |text: &str, other: &str| {
        let text: String =
            text.chars().filter(|it| !it.is_control() && !matches!(it, '<' | '>')).collect();
        if text.chars().any(char::is_alphanumeric) { text } else { other.to_owned() }
    };
    let (name, email) = (plain(&author.name, "natter"), plain(&author.email, "natter@localhost"));
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), &name).env(format!("GIT_{role}_EMAIL"), &email);
    }
}

/// Who the user is, as git's settings say.
pub fn identity(
    git: &GitDir,
    location: &Location,
    fallback: &Identity,
    cancel: &AtomicBool,
) -> Result<Identity, Error> {
    let (mut name, mut email) = git.settings().user.clone();
    if name.is_none() || email.is_none() {
        let of_user = of_user(&Git::find(&location.work_tree)?, git, cancel);
        name = name.or(of_user.0);
        email = email.or(of_user.1);
    }
    Ok(Identity {
        name: name.unwrap_or_else(|| fallback.name.clone()),
        email: email.unwrap_or_else(|| fallback.email.clone()),
    })
}

/// The name and address in the user's own settings. Reading settings runs nothing.
fn of_user(program: &Git, git: &GitDir, cancel: &AtomicBool) -> (Option<String>, Option<String>) {
    let mut command = program.command();
    command.env_remove("GIT_CONFIG_GLOBAL").env("GIT_DIR", git.place(""));
    for name in ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.args(["config", "--global", "--includes", "--null", "--list"]);
    // Without such settings it fails.
    let listed = run_with(&mut command, &[], 1 << 20, cancel);
    listed.map_or((None, None), |listed| crate::git::user(&listed.bytes))
}
