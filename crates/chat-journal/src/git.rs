//! The shadow repository: contents and trees, kept by the program `git` without any of its settings.
//!
//! Contents are passed as bytes and named by SHA-256, so that git's filters, attributes and line
//! ending settings cannot affect them, and their names are known before git has them.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;

use crate::Error;
use crate::names::quoted;
use crate::node::{Id, Mode};

/// The branch on which trees are created. Its target does not matter.
const BRANCH: &str = "refs/natter/next";

/// A shadow repository.
#[derive(Debug, Clone)]
pub struct Git {
    folder: PathBuf,
    program: PathBuf,
}

/// How a tree differs from another.
#[derive(Debug)]
pub struct TreeChange<'a> {
    /// The old tree; none means the empty one.
    pub from: Option<Id>,
    /// The removed entries.
    pub removed: Vec<&'a std::ffi::OsStr>,
    /// The added or changed entries.
    pub set: Vec<(&'a std::ffi::OsStr, Mode, Id)>,
}

impl Git {
    /// Opens or creates the repository of `project`. The lock must be held.
    pub fn open(folder: &Path, project: &Path) -> Result<Self, Error> {
        let program = chat_project::program("git", project).ok_or(Error::NoGit)?;
        let git = Self { folder: folder.to_owned(), program };
        if !folder.exists() {
            let beside = Self { folder: folder.with_extension("new"), ..git.clone() };
            // Left behind by a crash.
            if beside.folder.exists() {
                std::fs::remove_dir_all(&beside.folder).map_err(Error::io(&beside.folder))?;
            }
            let args = ["init", "--quiet", "--bare", "--template=", "--object-format=sha256"];
            beside.run("init", Command::args(&mut git.plain(), args).arg(&beside.folder))?;
            std::fs::rename(&beside.folder, folder).map_err(Error::io(folder))?;
        }
        Ok(git)
    }

    /// `git` with no settings but those of the repository itself, which are ours.
    fn plain(&self) -> Command {
        let mut command = Command::new(&self.program);
        // git finds its own programs by itself.
        command.env_clear().env("PATH", "/nonexistent").env("LC_ALL", "C");
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
        command.env("GIT_ATTR_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
        command.env("HOME", "/nonexistent").current_dir("/");
        command
    }

    fn command(&self) -> Command {
        let mut command = self.plain();
        command.arg("--git-dir").arg(&self.folder);
        // Packs are few and complete; automatic cleanup is off.
        command.args(["-c", "fastimport.unpackLimit=0", "-c", "gc.auto=0"]);
        command.args(["-c", "core.fsync=all", "-c", "pack.threads=1"]);
        // Nothing is ever checked out, so names that are special on other systems are harmless
        // here.
        command.args(["-c", "core.protectNTFS=false", "-c", "core.protectHFS=false"]);
        command
    }

    fn run(&self, what: &'static str, command: &mut Command) -> Result<Vec<u8>, Error> {
        let output = command.stdin(Stdio::null()).output().map_err(|error| self.missing(error))?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(Error::Git { what, message })
    }

    fn missing(&self, error: std::io::Error) -> Error {
        match error.kind() {
            std::io::ErrorKind::NotFound => Error::NoGit,
            _ => Error::io(&self.folder)(error),
        }
    }

    /// Starts to import contents.
    pub fn import(&self) -> Result<Import, Error> {
        let mut child = self
            .command()
            .args(["fast-import", "--quiet", "--done", "--force", "--date-format=raw"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| self.missing(error))?;
        let input = child.stdin.take().map(|input| BufWriter::with_capacity(1 << 16, input));
        Ok(Import { child, input })
    }

    /// The contents with these ids. Missing ones are not included.
    pub fn read(&self, ids: &[Id]) -> Result<HashMap<Id, Arc<[u8]>>, Error> {
        let mut child = self
            .command()
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| self.missing(error))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let found = std::thread::scope(|scope| {
            // Written on another thread, since git answers before it has read everything.
            let writer = scope.spawn(move || {
                let mut input = BufWriter::new(input?);
                ids.iter().try_for_each(|id| writeln!(input, "{id}")).ok()?;
                input.flush().ok()
            });
            let found = output.map_or_else(|| Ok(HashMap::new()), |output| answers(output, ids));
            // Missing input shows in the answers.
            let _ = writer.join();
            found
        });
        let ended = child.wait().map_err(Error::io(&self.folder))?;
        let found = found.map_err(Error::io(&self.folder))?;
        if ended.success() {
            Ok(found)
        } else {
            Err(Error::Git { what: "cat-file", message: ended.to_string() })
        }
    }

    /// Creates a ref for a tree, so that it is kept.
    pub fn name(&self, names: &[(String, Id)]) -> Result<(), Error> {
        let known = self.run(
            "for-each-ref",
            self.command().args(["for-each-ref", "--format=%(refname)", "refs/natter/"]),
        )?;
        let mut text = String::new();
        for known in String::from_utf8_lossy(&known).lines() {
            if !names.iter().any(|(name, _)| name == known) {
                text.extend(["delete ", known, "\n"]);
            }
        }
        for (name, tree) in names {
            text.extend(["update ", name, " ", &tree.to_string(), "\n"]);
        }
        let mut child = self
            .command()
            .args(["update-ref", "--stdin"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| self.missing(error))?;
        if let Some(mut input) = child.stdin.take() {
            // Missing input shows in the exit status.
            let _ = input.write_all(text.as_bytes());
        }
        ended("update-ref", child)
    }

    /// Removes what no ref needs, and repacks the rest.
    pub fn prune(&self) -> Result<(), Error> {
        self.run("repack", self.command().args(["repack", "-a", "-d", "-q"]))?;
        self.run("prune", self.command().args(["prune", "--expire=now"])).map(drop)
    }

    /// Joins many small packs into one, and rarely touches large ones.
    pub fn gather(&self) -> Result<(), Error> {
        self.run("repack", self.command().args(["repack", "-d", "-q", "--geometric=2"])).map(drop)
    }

    /// The number of packs.
    pub fn packs(&self) -> usize {
        let entries = std::fs::read_dir(self.folder.join("objects/pack"));
        entries.map_or(0, |entries| {
            let packs = entries.flatten().map(|entry| entry.path());
            packs.filter(|path| path.extension().is_some_and(|end| end == "pack")).count()
        })
    }

    /// The size on disk, in bytes.
    pub fn size(&self) -> u64 {
        let entries = std::fs::read_dir(self.folder.join("objects/pack"));
        entries.map_or(0, |entries| {
            let sizes = entries.flatten().filter_map(|entry| entry.metadata().ok());
            sizes.map(|found| found.len()).sum()
        })
    }
}

fn ended(what: &'static str, child: Child) -> Result<(), Error> {
    let output = child.wait_with_output().map_err(Error::io(Path::new("git")))?;
    if output.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::Git { what, message })
}

fn answers(output: impl Read, ids: &[Id]) -> std::io::Result<HashMap<Id, Arc<[u8]>>> {
    let mut output = BufReader::with_capacity(1 << 16, output);
    let mut found = HashMap::with_capacity(ids.len());
    for &id in ids {
        let mut head = String::new();
        if output.read_line(&mut head)? == 0 {
            break;
        }
        let Some(size) = head.trim_end().rsplit(' ').next().and_then(|size| size.parse().ok())
        else {
            // `ID missing`.
            continue;
        };
        let mut bytes = vec![0; size];
        output.read_exact(&mut bytes)?;
        output.read_exact(&mut [0])?;
        found.insert(id, bytes.into());
    }
    Ok(found)
}

/// Contents that are being imported. None of them exists before [`Import::finish`]; if it is
/// dropped before, it leaves nothing.
#[derive(Debug)]
pub struct Import {
    child: Child,
    input: Option<BufWriter<ChildStdin>>,
}

impl Import {
    fn write(&mut self, write: impl FnOnce(&mut BufWriter<ChildStdin>) -> std::io::Result<()>) {
        // A write error shows when the program ends.
        if self.input.as_mut().is_some_and(|input| write(input).is_err()) {
            self.input = None;
        }
    }

    /// Imports a content.
    pub fn blob(&mut self, bytes: &[u8]) {
        self.write(|input| {
            write!(input, "blob\ndata {}\n", bytes.len())?;
            input.write_all(bytes)?;
            input.write_all(b"\n")
        });
    }

    /// Waits until everything is on disk. Returns the changed tree's id.
    pub fn finish(mut self, tree: Option<&TreeChange<'_>>) -> Result<Option<Id>, Error> {
        self.write(|input| {
            if let Some(TreeChange { from, removed, set }) = tree {
                write!(input, "commit {BRANCH}\ncommitter n <n> 0 +0000\ndata 0\n")?;
                if let Some(from) = from {
                    writeln!(input, "M 040000 {from} \"\"")?;
                }
                for path in removed {
                    writeln!(input, "D {}", quoted(path))?;
                }
                for (path, mode, id) in set {
                    writeln!(input, "M {} {id} {}", mode.for_git(), quoted(path))?;
                }
                writeln!(input, "ls \"\"")?;
            }
            input.write_all(b"done\n")?;
            input.flush()
        });
        self.input = None;
        let broken = Error::io(Path::new("git"));
        let (mut message, mut answer) = (String::new(), String::new());
        let read = || -> std::io::Result<bool> {
            if let Some(output) = self.child.stdout.as_mut() {
                output.read_to_string(&mut answer)?;
            }
            if let Some(errors) = self.child.stderr.as_mut() {
                errors.read_to_string(&mut message)?;
            }
            Ok(self.child.wait()?.success())
        };
        let mut read = read;
        if !read().map_err(broken)? {
            return Err(Error::Git { what: "fast-import", message: message.trim().to_owned() });
        }
        if tree.is_none() {
            return Ok(None);
        }
        // `040000 tree ID`.
        let id = answer.split_whitespace().nth(2).and_then(|id| id.parse().ok());
        id.map(Some).ok_or(Error::Git { what: "fast-import", message: answer })
    }
}

impl Drop for Import {
    fn drop(&mut self) {
        // If it has ended by itself, this does nothing.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
