//! Updates the user's checkout to a new commit, without overwriting anything that is not committed.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::atomic::AtomicBool;

use crate::Error;
use crate::changes::checkout_index;
use crate::git::private::{GitDir, With};
use crate::git::run;
use crate::location::Location;
use crate::raw::{self, RawChange};

/// What git has in its folder while an operation is not finished.
const OPERATIONS: [&str; 6] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer"];

/// How many entries of a folder are looked at that is where a file should be.
const MOST_ENTRIES: usize = 10_000;

/// A checkout's branch, which moves from one commit to another with the files.
#[derive(Debug)]
pub struct Update<'a> {
    pub target: &'a str,
    pub old: &'a str,
    pub new: &'a str,
    /// For git's log.
    pub reason: String,
}

impl Update<'_> {
    /// Moves the branch and updates index and files. Returns uncommitted or untracked files that are
    /// in the way: then nothing was changed. [`Error::Changed`] if the branch is at another commit.
    pub fn apply(
        &self,
        git: &GitDir,
        checkout: &Location,
        cancel: &AtomicBool,
    ) -> Result<Vec<PathBuf>, Error> {
        check_operations(checkout)?;
        // As long as it is held, the user's git changes neither index nor files.
        let lock = IndexLock::hold(&checkout.own)?;
        let mut transaction = Transaction::prepare(git, self)?;
        let blocked = blocked(git, With::default(), checkout, self.old, self.new, cancel)?;
        if !blocked.0.is_empty() {
            return Ok(blocked.0);
        }
        let index = blocked.1;
        let with = With { index: Some(&index), objects: None };
        // It checks everything once more before it writes the first file, and refuses as a whole.
        // From here on it is not cancelled, which would leave half of the files.
        let never = AtomicBool::new(false);
        git.output(with, "read-tree", ["-m", "-u", self.old, self.new], &never)?;
        lock.replace(&index)?;
        transaction.commit()?;
        Ok(Vec::new())
    }
}

fn check_operations(checkout: &Location) -> Result<(), Error> {
    let is_there = |name: &str| checkout.own.join(name).symlink_metadata().is_ok();
    if OPERATIONS.iter().any(|name| is_there(name)) {
        return Err(Error::OperationInProgress(checkout.work_tree.clone()));
    }
    Ok(())
}

/// Files of a checkout that would be overwritten or deleted by an update, though they are not
/// committed; and a copy of its index that knows its files.
pub fn blocked(
    git: &GitDir,
    with: With,
    checkout: &Location,
    old: &str,
    new: &str,
    cancel: &AtomicBool,
) -> Result<(Vec<PathBuf>, PathBuf), Error> {
    let (old, new) = (format!("{old}^{{tree}}"), format!("{new}^{{tree}}"));
    let arguments = ["-r", "-z", "--raw", "--no-renames", &old, &new];
    let changes = raw::parse(&git.output(with, "diff-tree", arguments, cancel)?).0;

    let index = checkout_index(git, checkout)?;
    let of_index = With { index: Some(&index), ..with };
    // It fails if a file differs.
    let mut refresh = git.command(of_index);
    refresh.args(["update-index", "-q", "--ignore-submodules", "--refresh"]);
    run(&mut refresh, cancel)?;
    let mut dirty = HashSet::new();
    let raw = ["-z", "--raw", "--no-renames", "--ignore-submodules=all"];
    let staged = ["--cached", &old];
    for (command, more) in [("diff-index", &staged[..]), ("diff-files", &[])] {
        let output = git.output(of_index, command, raw.iter().chain(more), cancel)?;
        for change in raw::parse(&output).0 {
            if change.status == b'U' {
                return Err(Error::OperationInProgress(checkout.work_tree.clone()));
            }
            dirty.insert(change.path);
        }
    }

    let gone: HashSet<&Path> =
        changes.iter().filter(|it| it.status == b'D').map(|it| &*it.path).collect();
    let mut blocked: Vec<PathBuf> = Vec::new();
    for change in &changes {
        if dirty.contains(&change.path) {
            blocked.push(change.path.clone());
        } else if change.status == b'A' {
            blocked.extend(in_the_way(&checkout.work_tree, change, &gone));
        }
    }
    blocked.sort();
    blocked.dedup();
    Ok((blocked, index))
}

/// What is at the path of a new file, or instead of a folder above it, and does not go by itself.
fn in_the_way(work_tree: &Path, change: &RawChange, gone: &HashSet<&Path>) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for name in &change.path {
        path.push(name);
        let found = work_tree.join(&path).symlink_metadata().ok()?;
        if !found.is_dir() {
            return (!gone.contains(&*path)).then_some(path);
        }
    }
    // A folder. What it has must all go; a submodule's may be empty.
    let mut folders = vec![path];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(work_tree.join(&folder)).ok()?.flatten() {
            seen += 1;
            let path = folder.join(entry.file_name());
            if seen > MOST_ENTRIES {
                return Some(path);
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if !gone.contains(&*path) {
                return Some(path);
            }
        }
    }
    None
}

/// The lock of an index, as git's own: `index.lock`. It is released when this is dropped.
#[derive(Debug)]
struct IndexLock {
    path: PathBuf,
    file: File,
    is_done: bool,
}

impl IndexLock {
    fn hold(own: &Path) -> Result<Self, Error> {
        let path = own.join("index.lock");
        match File::options().write(true).create_new(true).open(&path) {
            Ok(file) => Ok(Self { path, file, is_done: false }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Err(Error::Locked(path))
            }
            Err(error) => Err(Error::io(&path)(error)),
        }
    }

    /// Makes this index that of the checkout, and releases the lock. It keeps its time, as any copy.
    fn replace(mut self, index: &Path) -> Result<(), Error> {
        let io = Error::io(&self.path);
        let bytes = fs::read(index).map_err(&io)?;
        let written = index.metadata().and_then(|found| found.modified()).map_err(&io)?;
        let file = &mut self.file;
        file.write_all(&bytes).and_then(|()| file.set_modified(written)).map_err(&io)?;
        file.sync_all().map_err(&io)?;
        fs::rename(&self.path, self.path.with_extension("")).map_err(&io)?;
        self.is_done = true;
        Ok(())
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// An update of a branch that is checked and locked, and happens only with [`Transaction::commit`].
#[derive(Debug)]
struct Transaction {
    child: Child,
    input: Option<ChildStdin>,
    answers: Option<BufReader<std::process::ChildStdout>>,
}

impl Transaction {
    fn prepare(git: &GitDir, update: &Update) -> Result<Self, Error> {
        let Update { target, old, new, reason } = update;
        let mut command = git.command(With::default());
        command.args(["update-ref", "-m", reason, "--stdin"]);
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(Error::io(Path::new("git")))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let mut made = Self { child, input, answers: output.map(BufReader::new) };
        let text =
            format!("start\noption no-deref\nupdate refs/heads/{target} {new} {old}\nprepare\n");
        if made.ask(&text, "start: ok") && made.ask("", "prepare: ok") {
            Ok(made)
        } else {
            Err(Error::Changed)
        }
    }

    fn commit(&mut self) -> Result<(), Error> {
        if self.ask("commit\n", "commit: ok") {
            self.input = None;
            let _ = self.child.wait();
            Ok(())
        } else {
            Err(Error::git("update-ref", b"the update was not committed"))
        }
    }

    fn ask(&mut self, text: &str, expected: &str) -> bool {
        let written = self.input.as_mut().is_some_and(|input| {
            input.write_all(text.as_bytes()).and_then(|()| input.flush()).is_ok()
        });
        let mut line = String::new();
        written
            && self.answers.as_mut().is_some_and(|answers| answers.read_line(&mut line).is_ok())
            && line.trim() == expected
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // Without a commit, git releases its locks when the input ends. It must not be killed.
        self.input = None;
        let _ = self.child.wait();
    }
}
