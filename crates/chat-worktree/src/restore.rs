//! Makes a stored worktree a worktree again, on a new branch.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::changes::{write_file, write_link};
use crate::commit::{Identity, commit_tree};
use crate::create::{Made, Undo, free_branch, free_own, is_free, make, new_folder};
use crate::finished::folder_mark;
use crate::git::private::{GitDir, With};
use crate::git::{Output, run_with};
use crate::location::Location;
use crate::record::{Record, Worktree, now};
use crate::shadow::{Shadow, copy_objects, reference};
use crate::snapshot::Snapshot;
use crate::worktrees::{Listed, Presence, Worktrees, hold, make_folder};
use crate::{Error, names};

/// A restored worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// The worktree. What was staged is not staged again.
    pub worktree: Worktree,
    /// Whether its commits became a single one, since the repository does not have the commit any
    /// more that they began with.
    pub is_flattened: bool,
    /// The commit of its old branch, in hexadecimal, if it was not on that. No branch has it.
    pub other_tip: Option<String>,
}

impl Worktrees {
    /// Restores a snapshot as a new worktree of the repository that `project` is in, with all files
    /// as they were, uncommitted ones too. It can be restored again once that worktree's folder is
    /// gone. The branch is called as before, with a number if there is such a branch. The folder is
    /// the same as before, so that chats can go on there, unless another worktree has it: then it is
    /// a new one. The snapshot stays. If it fails or is cancelled, nothing is left of it.
    ///
    /// # Errors
    /// There is no such snapshot; [`Error::Restored`] if a worktree of it is there; the same as when a
    /// worktree is created; git or the disk fails.
    pub fn restore(
        &self,
        id: &str,
        project: &Path,
        cancel: &AtomicBool,
    ) -> Result<Restored, Error> {
        let project = std::fs::canonicalize(project).map_err(Error::io(project))?;
        let parent = Location::find(&project)?;
        self.check_places(&parent)?;
        let git = GitDir::new(&parent, cancel)?.without_head()?;
        let shadow = Shadow::open(&self.shadow, git.settings().is_sha256, cancel)?;
        let _stored = shadow.hold()?;
        let no_snapshot = || Error::NoSnapshot(id.to_owned());
        let reference = reference(id).ok_or_else(no_snapshot)?;
        if shadow.resolve(&reference, cancel)?.is_none() {
            return Err(no_snapshot());
        }
        // Nobody else restores it meanwhile: the snapshots are held.
        self.must_not_be_there(id)?;
        let meta =
            shadow.output("cat-file", &["blob", &format!("{reference}:meta.json")], &[], cancel)?;
        let snapshot: Snapshot = serde_json::from_slice(&meta).map_err(|_| no_snapshot())?;
        let snapshot = Snapshot { id: id.to_owned(), ..snapshot };

        let head = commits(&git, &shadow, &reference, &snapshot, cancel)?;
        let (head, is_flattened) = (head.commit, head.is_flattened);
        let resolved = git.resolve(&format!("{}^{{commit}}", snapshot.base), cancel)?;
        let base = resolved.filter(|_| !is_flattened).unwrap_or_else(|| head.clone());

        let folder = self.folder_of(&parent);
        make_folder(&folder)?;
        let _lock = hold(&folder)?;
        let name = names::folder_name(&snapshot.name);
        let (mut branch, name) = free_branch(&git, &name, None, cancel)?;
        // A branch of the user's own choice keeps its name, if it is free.
        if !snapshot.branch.starts_with("natter/")
            && let Ok((own, _)) = free_branch(&git, &name, Some(&snapshot.branch), cancel)
        {
            branch = own;
        }
        let folder = match old_folder(&folder, &snapshot) {
            Some(folder) => folder,
            None => new_folder(&folder, &name, &self.stored_marks(cancel), names::unique_mark)?,
        };
        let checkout = parent.work_tree.clone();
        let record = Record {
            version: Record::VERSION,
            name: snapshot.name.clone(),
            branch,
            base: head.clone(),
            target: snapshot.target.clone(),
            common: parent.common.clone(),
            own: free_own(&parent.common, &folder)?,
            checkout,
            project,
            created: now(),
            snapshot: Some(snapshot.id.clone()),
        };
        let worktree = Worktree { record: Arc::new(record), folder };
        let mut undo = Undo { worktree: &worktree, git: &git, made: Made::Nothing };
        make(&git, &worktree, &mut undo.made, false, cancel)?;
        files(&shadow, &reference, &worktree.folder, cancel)?;
        std::fs::create_dir_all(worktree.project()).map_err(Error::io(&worktree.folder))?;
        let record = Record { base, ..(*worktree.record).clone() };
        let restored = Worktree { record: Arc::new(record), folder: worktree.folder.clone() };
        restored.save()?;
        undo.made = Made::Nothing;
        drop(undo);
        let other_tip = snapshot.tip.filter(|tip| *tip != snapshot.head && !is_flattened);
        Ok(Restored { worktree: restored, is_flattened, other_tip })
    }

    /// Refuses a snapshot of which a worktree is there, of whatever repository.
    fn must_not_be_there(&self, id: &str) -> Result<(), Error> {
        let there = self.list()?.into_iter().find_map(|listed| match listed {
            Listed::Worktree { worktree, presence } => {
                let is_it = worktree.snapshot() == Some(id) && presence != Presence::FolderGone;
                is_it.then_some(worktree)
            }
            Listed::Unrecorded(_) | Listed::Removed(_) => None,
        });
        let restored =
            |it: Worktree| Error::Restored { name: it.short_name(), folder: it.folder.clone() };
        there.map_or(Ok(()), |worktree| Err(restored(worktree)))
    }
}

/// The folder that a stored worktree had, if it is here and free.
fn old_folder(folder: &Path, snapshot: &Snapshot) -> Option<PathBuf> {
    let name = &snapshot.folder;
    // The id has the mark of the whole path.
    let folder = folder.join(name);
    let is_it = names::is_folder_name(name)
        && snapshot.id.split_once('-').is_some_and(|(_, mark)| mark == folder_mark(&folder));
    (is_it && is_free(&folder)).then_some(folder)
}

struct RestoredHead {
    commit: String,
    is_flattened: bool,
}

/// Brings the commits of a snapshot into the user's repository.
fn commits(
    git: &GitDir,
    shadow: &Shadow,
    reference: &str,
    snapshot: &Snapshot,
    cancel: &AtomicBool,
) -> Result<RestoredHead, Error> {
    let arguments = ["-z", &format!("{reference}:trees")];
    let listed = shadow.output("ls-tree", &arguments, &[], cancel)?;
    let trees: Vec<_> = entries(&listed).map(|entry| entry.object).collect();
    copy_objects(&|| shadow.command(), &|| git.command(With::default()), &trees, cancel)?;

    let mut head_tree = shadow.resolve(&format!("{reference}:trees/base"), cancel)?;
    let mut is_whole = true;
    for number in 0..snapshot.commits {
        let name = format!("{reference}:commits/{number:06}");
        let text = shadow.output("cat-file", &["blob", &name], &[], cancel)?;
        for parent in parents(&text) {
            is_whole &= git.resolve(&format!("{parent}^{{commit}}"), cancel)?.is_some();
        }
        if !is_whole {
            break;
        }
        let mut store = git.command(With::default());
        store.args(["hash-object", "-t", "commit", "-w", "--stdin"]);
        is_whole = run_with(&mut store, &text, 1 << 16, cancel)?.code == Some(0);
    }
    if is_whole && git.resolve(&format!("{}^{{commit}}", snapshot.head), cancel)?.is_some() {
        return Ok(RestoredHead { commit: snapshot.head.clone(), is_flattened: false });
    }
    // The tree of the commit that it was on: its name is that of one of the stored ones.
    for number in 0..snapshot.commits {
        let name = format!("{reference}:commits/{number:06}");
        let text = shadow.output("cat-file", &["blob", &name], &[], cancel)?;
        let mut hash = shadow.command();
        hash.args(["hash-object", "-t", "commit", "--stdin"]);
        let found = run_with(&mut hash, &text, 1 << 16, cancel)?.bytes;
        if Output::line(&found) == snapshot.head {
            head_tree = shadow.resolve(&format!("{reference}:trees/{number:06}"), cancel)?;
        }
    }
    let tree = head_tree.ok_or_else(|| Error::NoSnapshot(snapshot.id.clone()))?;
    let author = Identity { name: "natter".to_owned(), email: "natter@localhost".to_owned() };
    let commit = commit_tree(git, With::default(), &tree, &[], &snapshot.name, &author, cancel)?;
    Ok(RestoredHead { commit, is_flattened: true })
}

/// The parents that a commit names.
fn parents(commit: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(commit);
    let head = text.split("\n\n").next().unwrap_or_default();
    head.lines().filter_map(|line| line.strip_prefix("parent ")).map(str::to_owned).collect()
}

/// An entry of a tree.
struct TreeEntry {
    mode: String,
    object: String,
    path: PathBuf,
}

/// The entries in the output of `ls-tree -z`.
fn entries(listed: &[u8]) -> impl Iterator<Item = TreeEntry> {
    listed.split(|byte| *byte == 0).filter_map(|entry| {
        let mut parts = entry.splitn(2, |byte| *byte == b'\t');
        let head = std::str::from_utf8(parts.next()?).ok()?;
        let path = PathBuf::from(OsStr::from_bytes(parts.next()?));
        let mut words = head.split(' ');
        let (mode, object) = (words.next()?.to_owned(), words.nth(1)?.to_owned());
        Some(TreeEntry { mode, object, path })
    })
}

/// Writes the files of a snapshot into a folder that has nothing but `.git`, and that only this
/// program uses.
fn files(
    shadow: &Shadow,
    reference: &str,
    folder: &Path,
    cancel: &AtomicBool,
) -> Result<(), Error> {
    let tree = format!("{reference}:files");
    if shadow.resolve(&tree, cancel)?.is_none() {
        return Ok(());
    }
    let listed = shadow.output("ls-tree", &["-r", "-z", &tree], &[], cancel)?;
    let mut contents = Contents::open(shadow)?;
    for entry in entries(&listed) {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let Some(path) = names::original(&entry.path) else { continue };
        // A repository that was in the place of the worktree's link to its own.
        let path = match path.strip_prefix(".git") {
            Ok(inside) => Path::new("dot-git").join(inside),
            Err(_) => path,
        };
        let target = folder.join(path);
        match &*entry.mode {
            "120000" => {
                let mut leads_to = Vec::new();
                contents.copy(&entry.object, &mut leads_to)?;
                write_link(&target, OsStr::from_bytes(&leads_to))?;
            }
            mode => write_file(&target, mode == "100755", |file| {
                contents.copy(&entry.object, file).map_err(std::io::Error::other)
            })?,
        }
    }
    Ok(())
}

/// Reads contents one after the other.
struct Contents {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Contents {
    fn open(shadow: &Shadow) -> Result<Self, Error> {
        let mut command = shadow.command();
        command.args(["cat-file", "--batch"]).stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(Error::io(&shadow.folder))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => {
                Ok(Self { child, input, output: BufReader::with_capacity(1 << 16, output) })
            }
            _ => Err(Error::git("cat-file", b"no pipes")),
        }
    }

    fn copy(&mut self, object: &str, to: &mut dyn Write) -> Result<(), Error> {
        let broken = Error::io(Path::new("git"));
        writeln!(self.input, "{object}").and_then(|()| self.input.flush()).map_err(&broken)?;
        let mut head = String::new();
        self.output.read_line(&mut head).map_err(&broken)?;
        let size = head.trim_end().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
        let size = size.ok_or_else(|| Error::git("cat-file", head.as_bytes()))?;
        let copied = std::io::copy(&mut self.output.by_ref().take(size), to).map_err(&broken)?;
        self.output.read_exact(&mut [0]).map_err(&broken)?;
        if copied == size { Ok(()) } else { Err(Error::git("cat-file", b"it ended early")) }
    }
}

impl Drop for Contents {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parents_are_those_before_the_message() {
        let commit = b"tree a\nparent b\nparent c\nauthor x\n\nparent d\n";
        assert_eq!(parents(commit), ["b", "c"]);
    }

    #[test]
    fn entries_have_modes_objects_and_paths() {
        let all: Vec<_> = entries(b"100644 blob abc\ta b\n\x00120000 blob def\tx\0").collect();
        assert_eq!(all.len(), 2);
        assert_eq!((&*all[0].mode, &*all[0].object), ("100644", "abc"));
        assert_eq!(all[0].path, Path::new("a b\n"));
    }
}
