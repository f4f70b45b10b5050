//! Provides a repository of a user, and worktrees of it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;

use chat_worktree::{
    CreateOptions, Created, Identity, MergeOutcome, Removed, Status, Worktree, Worktrees,
};

pub static NEVER: AtomicBool = AtomicBool::new(false);

pub struct World {
    folder: tempfile::TempDir,
    pub worktrees: Worktrees,
}

impl World {
    /// A repository with one commit on `main`.
    pub fn new() -> Self {
        let world = Self::empty();
        for (name, text) in [("a", "one\ntwo\nthree\n"), ("b", "b\n"), ("sub/c", "c\n")] {
            world.write(name, text);
        }
        world.write(".gitignore", "*.o\n");
        world.commit("first");
        world
    }

    /// A repository without a commit.
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("project")).unwrap();
        let worktrees = Worktrees::new(root.join("natter-worktrees"), root.join("state/worktrees"));
        let world = Self { folder, worktrees };
        world.git(&["init", "-q", "-b", "main"]);
        world.git(&["config", "user.name", "Ann"]);
        world.git(&["config", "user.email", "ann@example.org"]);
        world
    }

    /// A path next to the project.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn project(&self) -> PathBuf {
        self.beside("project")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.project().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        write(&self.project(), name, text);
    }

    /// Runs git in the project, as the user would.
    pub fn git(&self, arguments: &[&str]) -> String {
        git(&self.project(), arguments)
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", message]);
    }

    pub fn create(&self, name: &str) -> Worktree {
        self.create_with(&CreateOptions { name: name.to_owned(), ..CreateOptions::default() })
            .worktree
    }

    pub fn create_with(&self, options: &CreateOptions) -> Created {
        self.worktrees.create(&self.project(), options, &NEVER).unwrap()
    }

    pub fn status(&self, worktree: &Worktree) -> Status {
        self.worktrees.status(worktree, &NEVER).unwrap()
    }

    pub fn commit_all(&self, worktree: &Worktree, message: &str) -> String {
        self.worktrees.commit(worktree, message, &fallback(), &NEVER).unwrap().commit
    }

    pub fn merge(&self, worktree: &Worktree) -> Result<MergeOutcome, chat_worktree::Error> {
        let preview = self.worktrees.preview_merge(worktree, None, &NEVER)?;
        self.worktrees.merge(worktree, &preview, "Merge the work", &fallback(), &NEVER)
    }

    pub fn remove(&self, worktree: &Worktree) -> Removed {
        self.worktrees.remove(worktree, true, &NEVER).unwrap()
    }

    /// The git folder of a worktree in the repository.
    pub fn own(&self, worktree: &Worktree) -> PathBuf {
        self.path(".git/worktrees").join(worktree.folder().file_name().unwrap())
    }

    /// What must not change by an operation on a worktree: the user's files, and git's data except
    /// for objects and what is the worktrees' own.
    pub fn parent_state(&self) -> BTreeMap<PathBuf, String> {
        let mut state = files(&self.project());
        state.retain(|path, _| {
            let below = |folder: &str| path.starts_with(folder);
            !below(".git/objects")
                && !below(".git/worktrees")
                && !below(".git/refs/heads/natter")
                && !below(".git/logs/refs/heads/natter")
        });
        state
    }
}

pub fn fallback() -> Identity {
    Identity { name: "Natter".to_owned(), email: "natter@localhost".to_owned() }
}

pub fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

pub fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// Runs git without anybody's settings.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{arguments:?}: {said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said.trim_end().to_owned()
}

/// All files below a folder, with their contents; of links, where they lead.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(at) = folders.pop() {
        for entry in fs::read_dir(&at).unwrap().flatten() {
            let path = entry.path();
            let kind = entry.file_type().unwrap();
            let inside = path.strip_prefix(folder).unwrap().to_owned();
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_symlink() {
                found.insert(inside, format!("-> {}", fs::read_link(&path).unwrap().display()));
            } else if kind.is_file() {
                let bits = path.metadata().unwrap().permissions().mode() & 0o100;
                let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
                found.insert(inside, format!("{bits:o} {text}"));
            }
        }
    }
    found
}

/// A worktree's files without git's.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut files = files(folder);
    files.remove(Path::new(".git"));
    files
}

/// A program that creates a file if it is run, and that file.
pub fn trap(world: &World) -> (PathBuf, PathBuf) {
    let (program, ran) = (world.beside("trap"), world.beside("ran"));
    fs::write(&program, format!("#!/bin/sh\ntouch {}\ncat\n", ran.display())).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    (program, ran)
}

/// Has a repository run a program wherever git can.
pub fn set_traps(world: &World, program: &Path) {
    let program = program.to_str().unwrap();
    for hook in [
        "pre-commit",
        "post-commit",
        "post-checkout",
        "post-merge",
        "pre-merge-commit",
        "reference-transaction",
        "commit-msg",
        "prepare-commit-msg",
        "post-index-change",
        "post-rewrite",
        "pre-auto-gc",
    ] {
        fs::copy(program, world.path(&format!(".git/hooks/{hook}"))).unwrap();
    }
    for (key, value) in [
        ("core.fsmonitor", program),
        ("filter.trap.clean", program),
        ("filter.trap.smudge", program),
        ("filter.trap.process", program),
        ("filter.trap.required", "true"),
        ("diff.trap.textconv", program),
        ("diff.trap.command", program),
        ("diff.external", program),
        ("merge.trap.driver", program),
        ("gpg.program", program),
        ("commit.gpgSign", "true"),
        ("core.pager", program),
        ("core.editor", program),
        ("core.sshCommand", program),
    ] {
        world.git(&["config", key, value]);
    }
}
