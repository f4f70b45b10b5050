//! The shadow repository: snapshots of removed worktrees, complete in themselves.
//!
//! As in `chat-journal`, it is outside of every project, bare, and has settings of ours alone. A
//! snapshot is one commit without parents, under a private reference. Its tree contains everything
//! as trees and files: nothing of it depends on the user's repository, nor on another snapshot.
//!
//! | path | contents |
//! |---|---|
//! | `meta.json` | a [`Snapshot`] |
//! | `files` | the worktree's files, byte by byte; see [`names::stored`](crate::names::stored) |
//! | `staged` | what was staged, if it was neither committed nor the same as the commit |
//! | `commits/…` | the commits that the base does not have, as git stores them, parents first |
//! | `trees/…` | the tree of each of them; `trees/base` that of the base |

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::AtomicBool;

use crate::Error;
use crate::git::{Git, Output, pipe, run_with};
use crate::names::quoted;
use crate::worktrees::make_folder;

/// Where the references to snapshots are.
pub const REFS: &str = "refs/natter/worktrees/";

/// The reference to a snapshot; none if nothing can have this id.
pub fn reference(id: &str) -> Option<String> {
    let is_id = id.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    is_id.then(|| format!("{REFS}{id}"))
}

/// The names of the shadow repositories in their folder, and whether they have long object names.
const REPOSITORIES: [(&str, bool); 2] = [("sha1.git", false), ("sha256.git", true)];

/// The ids of all snapshots in `folder`. Only references are read, so the lock need not be held.
pub fn ids(folder: &Path, cancel: &AtomicBool) -> Result<Vec<String>, Error> {
    let mut ids = Vec::new();
    for (name, _) in REPOSITORIES {
        let place = folder.join(name);
        if !place.is_dir() {
            continue;
        }
        let mut command = Git::find(folder)?.command();
        command.arg("--git-dir").arg(&place);
        command.args(["for-each-ref", "--format=%(refname)", REFS]);
        let listed = run_with(&mut command, &[], usize::MAX, cancel)?.success("for-each-ref")?;
        let listed = String::from_utf8_lossy(&listed);
        ids.extend(listed.lines().filter_map(|name| name.strip_prefix(REFS)).map(str::to_owned));
    }
    Ok(ids)
}

/// A shadow repository for one kind of object names.
#[derive(Clone, Debug)]
pub struct Shadow {
    git: Git,
    pub folder: PathBuf,
    lock: PathBuf,
}

impl Shadow {
    /// Opens or creates it in `folder`.
    pub fn open(folder: &Path, is_sha256: bool, cancel: &AtomicBool) -> Result<Self, Error> {
        make_folder(folder)?;
        let (name, format) =
            if is_sha256 { ("sha256.git", "sha256") } else { ("sha1.git", "sha1") };
        let shadow =
            Self { git: Git::find(folder)?, folder: folder.join(name), lock: folder.join("lock") };
        let _lock = shadow.hold()?;
        if !shadow.folder.exists() {
            // Left behind by a crash.
            let new = shadow.folder.with_extension("new");
            if new.exists() {
                fs::remove_dir_all(&new).map_err(Error::io(&new))?;
            }
            let mut command = shadow.git.command();
            command.args(["init", "--quiet", "--bare", "--template="]);
            command.arg(format!("--object-format={format}")).arg(&new);
            run_with(&mut command, &[], 1 << 16, cancel)?.success("init")?;
            fs::rename(&new, &shadow.folder).map_err(Error::io(&new))?;
        }
        Ok(shadow)
    }

    /// Those that exist in `folder`.
    pub fn existing(folder: &Path, cancel: &AtomicBool) -> Result<Vec<Self>, Error> {
        REPOSITORIES
            .into_iter()
            .filter(|(name, _)| folder.join(name).is_dir())
            .map(|(_, is_sha256)| Self::open(folder, is_sha256, cancel))
            .collect()
    }

    /// Waits until no other process writes to it or prunes it.
    pub fn hold(&self) -> Result<File, Error> {
        let io = Error::io(&self.lock);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&self.lock).map_err(&io)?;
        file.lock().map_err(&io)?;
        Ok(file)
    }

    /// A call of git on it.
    pub fn command(&self) -> Command {
        let mut command = self.git.command();
        command.arg("--git-dir").arg(&self.folder);
        command.args(["-c", "fastimport.unpackLimit=0", "-c", "core.fsync=all"]);
        command.args(["-c", "pack.threads=1", "-c", "pack.writeReverseIndex=false"]);
        // Nothing is ever checked out, so names that are special on other systems are harmless.
        command.args(["-c", "core.protectNTFS=false", "-c", "core.protectHFS=false"]);
        command
    }

    /// The output of a call that must succeed.
    pub fn output(
        &self,
        what: &'static str,
        arguments: &[&str],
        input: &[u8],
        cancel: &AtomicBool,
    ) -> Result<Vec<u8>, Error> {
        let mut command = self.command();
        command.arg(what).args(arguments);
        run_with(&mut command, input, usize::MAX, cancel)?.success(what)
    }

    /// The name of an object; none if there is no such object.
    pub fn resolve(&self, name: &str, cancel: &AtomicBool) -> Result<Option<String>, Error> {
        let mut command = self.command();
        command.args(["rev-parse", "--quiet", "--verify", "--end-of-options", name]);
        let output = run_with(&mut command, &[], 1 << 16, cancel)?;
        let line = Output::line(&output.bytes);
        Ok((output.code == Some(0) && !line.is_empty()).then_some(line))
    }

    /// Deletes references, and everything that only they need. The lock must be held.
    pub fn delete(&self, references: &[String], cancel: &AtomicBool) -> Result<(), Error> {
        if references.is_empty() {
            return Ok(());
        }
        let text: String = references.iter().flat_map(|name| ["delete ", name, "\n"]).collect();
        self.output("update-ref", &["--stdin"], text.as_bytes(), cancel)?;
        self.output("repack", &["-a", "-d", "-q"], &[], cancel)?;
        self.output("prune", &["--expire=now"], &[], cancel)?;
        Ok(())
    }

    /// Starts to import a snapshot.
    pub fn import(&self) -> Result<Import, Error> {
        let mut command = self.command();
        command.args(["fast-import", "--quiet", "--done", "--force", "--date-format=raw"]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(Error::io(&self.folder))?;
        let input = child.stdin.take().map(|input| BufWriter::with_capacity(1 << 16, input));
        Ok(Import { child, input })
    }
}

/// Copies what is below these trees from one repository to another, as far as it is missing there.
/// `from` and `to` make calls of git on them.
pub fn copy_objects(
    from: &dyn Fn() -> Command,
    to: &dyn Fn() -> Command,
    trees: &[String],
    cancel: &AtomicBool,
) -> Result<(), Error> {
    let lines = |names: &[&str]| names.iter().flat_map(|name| [*name, "\n"]).collect::<String>();
    let trees: Vec<_> = trees.iter().map(String::as_str).collect();
    let mut list = from();
    list.args(["rev-list", "--objects", "--no-object-names", "--stdin"]);
    let listed = run_with(&mut list, lines(&trees).as_bytes(), usize::MAX, cancel)?;
    let listed = listed.success("rev-list")?;
    let mut check = to();
    check.args(["cat-file", "--batch-check=%(objectname)"]);
    let found = run_with(&mut check, &listed, usize::MAX, cancel)?.success("cat-file")?;
    let found = String::from_utf8_lossy(&found);
    let mut seen = HashSet::new();
    let missing: Vec<_> = found
        .lines()
        .filter_map(|line| line.strip_suffix(" missing"))
        .filter(|name| seen.insert(*name))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut pack = from();
    pack.args(["pack-objects", "--stdout", "-q", "--delta-base-offset"]);
    let mut store = to();
    store.args(["index-pack", "--stdin"]);
    pipe("index-pack", &mut pack, lines(&missing).as_bytes(), &mut store, cancel).map(drop)
}

/// A snapshot that is being imported. It does not exist before [`Import::finish`]; if this is
/// dropped before, nothing of it does.
#[derive(Debug)]
pub struct Import {
    child: Child,
    input: Option<BufWriter<ChildStdin>>,
}

impl Import {
    /// Begins the commit that `reference` will name. The time is in milliseconds since 1970.
    pub fn begin(&mut self, reference: &str, at: u64) {
        let text = format!(
            "commit {reference}\ncommitter natter <natter@localhost> {} +0000\ndata 0\n",
            at / 1000
        );
        self.write(|input| input.write_all(text.as_bytes()));
    }

    /// Adds a file or, with the mode `120000`, a link.
    pub fn bytes(&mut self, mode: &str, path: &Path, bytes: &[u8]) {
        self.write(|input| {
            write!(input, "M {mode} inline {}\ndata {}\n", quoted(path), bytes.len())?;
            input.write_all(bytes)?;
            input.write_all(b"\n")
        });
    }

    /// Adds a file of this length. Whether it had that length.
    pub fn file(
        &mut self,
        mode: &str,
        path: &Path,
        file: &mut File,
        length: u64,
    ) -> std::io::Result<bool> {
        let mut read = Ok(0);
        self.write(|input| {
            write!(input, "M {mode} inline {}\ndata {length}\n", quoted(path))?;
            read = std::io::copy(&mut file.take(length), input);
            input.write_all(b"\n")
        });
        read.map(|read| read == length)
    }

    /// Adds a tree that the repository has.
    pub fn tree(&mut self, path: &str, tree: &str) {
        self.write(|input| writeln!(input, "M 040000 {tree} {path}"));
    }

    fn write(&mut self, write: impl FnOnce(&mut BufWriter<ChildStdin>) -> std::io::Result<()>) {
        // A write error shows when the program ends.
        if self.input.as_mut().is_some_and(|input| write(input).is_err()) {
            self.input = None;
        }
    }

    /// Waits until everything is on disk, and the reference exists.
    pub fn finish(mut self) -> Result<(), Error> {
        self.write(|input| {
            input.write_all(b"done\n")?;
            input.flush()
        });
        let whole = self.input.take().is_some();
        let mut message = Vec::new();
        if let Some(errors) = self.child.stderr.take() {
            let _ = errors.take(4096).read_to_end(&mut message);
        }
        let ended = self.child.wait().map_err(Error::io(Path::new("git")))?;
        if whole && ended.success() { Ok(()) } else { Err(Error::git("fast-import", &message)) }
    }
}

impl Drop for Import {
    fn drop(&mut self) {
        // If it has ended by itself, this does nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
