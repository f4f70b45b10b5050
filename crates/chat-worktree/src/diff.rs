//! Compares the whole work in a worktree with its base.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use crate::git::private::{GitDir, With};
use crate::git::run_with;
use crate::raw::{self, RawChange};
use crate::record::Worktree;
use crate::work_index::WorkIndex;
use crate::worktrees::Worktrees;
use crate::{Error, status};

/// Untracked files above this size are named, but not compared, in bytes.
pub const LARGEST: u64 = 16 * 1024 * 1024;

/// How much a comparison contains at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiffLimits {
    /// The number of files.
    pub files: usize,
    /// The size of the text, in bytes.
    pub text: usize,
}

impl Default for DiffLimits {
    fn default() -> Self {
        Self { files: 5_000, text: 4 * 1024 * 1024 }
    }
}

/// How a file changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// It is new.
    Added,
    /// Its content, or whether it is executable, is another.
    Modified,
    /// It is gone.
    Deleted,
    /// It became a link, or was one; or the like.
    TypeChanged,
    /// It was renamed, and perhaps modified.
    Renamed {
        /// Its old path.
        from: PathBuf,
    },
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path in the worktree.
    pub path: PathBuf,
    /// How it changed.
    pub kind: ChangeKind,
    /// The number of added lines; none if it is no text.
    pub added: Option<u64>,
    /// The number of deleted lines; none if it is no text.
    pub deleted: Option<u64>,
}

/// What a worktree changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkDiff {
    /// The changed files, by path.
    pub files: Vec<ChangedFile>,
    /// How many more there are.
    pub more_files: usize,
    /// The changes in git's unified form. What is not UTF-8 is replaced.
    pub text: String,
    /// Whether the end of the text was cut off, at a line.
    pub is_cut: bool,
    /// Untracked files above 16 MiB, which are in neither.
    pub too_large: Vec<PathBuf>,
    /// Repositories inside the worktree, which are in neither.
    pub nested: Vec<PathBuf>,
}

impl Worktrees {
    /// Compares a worktree's files, including uncommitted and untracked ones, with the commit at which its
    /// work left the branch that it began with, or else with its base. Changes nothing. Takes as long as reading the changed files.
    ///
    /// # Errors
    /// The worktree or its repository is not as recorded; git fails; it was cancelled.
    pub fn diff(
        &self,
        worktree: &Worktree,
        limits: DiffLimits,
        cancel: &AtomicBool,
    ) -> Result<WorkDiff, Error> {
        let location = worktree.location()?;
        let git = GitDir::new(&location, cancel)?;
        let head = status::head_commit(&git, worktree, cancel)?;
        let objects = git.place("new-objects");
        std::fs::create_dir(&objects).map_err(Error::io(&objects))?;
        let stored = worktree.index();
        let work =
            WorkIndex::read(&git, &location, &stored, &head, Some(&objects), LARGEST, cancel)?;
        let with = With { index: Some(&work.path), objects: Some(&objects) };
        let start = status::start(&git, worktree, &head, cancel)?;
        let arguments = ["--cached", "-z", "-M", "--raw", "--numstat", &start];
        let mut files = changed(&git.output(with, "diff-index", arguments, cancel)?);
        let more_files = files.len().saturating_sub(limits.files);
        files.truncate(limits.files);

        let mut command = git.command(with);
        command.args(["diff-index", "--cached", "-p", "-M", "--no-ext-diff", "--no-textconv"]);
        command.args(["--no-color", &start]);
        let output = run_with(&mut command, &[], limits.text, cancel)?;
        let is_cut = output.is_cut;
        let mut text = output.success("diff-index")?;
        if is_cut {
            let end = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            text.truncate(end);
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let WorkIndex { too_large, nested, .. } = work;
        Ok(WorkDiff { files, more_files, text, is_cut, too_large, nested })
    }
}

/// Parses the output of `--raw --numstat -z`.
pub fn changed(output: &[u8]) -> Vec<ChangedFile> {
    let (changes, mut rest) = raw::parse(output);
    let mut counts = HashMap::new();
    while let Some((path, count, after)) = count(rest) {
        counts.insert(path, count);
        rest = after;
    }
    let file = |change: RawChange| {
        let kind = match (change.status, change.from) {
            (b'A', _) => ChangeKind::Added,
            (b'D', _) => ChangeKind::Deleted,
            (b'T', _) => ChangeKind::TypeChanged,
            (_, Some(from)) => ChangeKind::Renamed { from },
            _ => ChangeKind::Modified,
        };
        let (added, deleted) = counts.get(&change.path).copied().unwrap_or_default();
        ChangedFile { path: change.path, kind, added, deleted }
    };
    changes.into_iter().map(file).collect()
}

type Counts = (Option<u64>, Option<u64>);

/// One count of lines: `added\tdeleted\tpath`, or with an empty path and two more for a renamed
/// file.
fn count(rest: &[u8]) -> Option<(PathBuf, Counts, &[u8])> {
    let (head, rest) = raw::field(rest)?;
    let mut parts = head.splitn(3, |byte| *byte == b'\t');
    let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse().ok();
    let counts = (number(), number());
    let path = parts.next()?;
    if path.is_empty() {
        let (_, rest) = raw::path(rest)?;
        let (path, rest) = raw::path(rest)?;
        return Some((path, counts, rest));
    }
    let path = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path);
    Some((path.into(), counts, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_belong_to_their_files() {
        let output = b":100644 100644 a b M\0x\0:100644 100644 a a R090\0old\0new\0\
            :000000 100644 0 b A\0bin\x001\t2\tx\x003\t0\t\0old\0new\0-\t-\tbin\0";
        let files = changed(output);
        let counts: Vec<_> = files.iter().map(|file| (file.added, file.deleted)).collect();
        assert_eq!(counts, [(Some(1), Some(2)), (Some(3), Some(0)), (None, None)]);
        assert_eq!(files[1].kind, ChangeKind::Renamed { from: "old".into() });
    }
}
