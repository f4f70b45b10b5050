//! A repository, and an engine, for tests of the dialogs.

use std::path::{Path, PathBuf};
use std::process::Command;

use chat_core::manager::{Manager, NewWorktree, StartOptions};
use chat_core::settings::Folders;
use chat_core::worktree::Worktree;
use tokio::runtime::Runtime;

/// A repository with one commit, and an engine. Both end with it.
pub(super) struct TestProject {
    pub(super) runtime: Runtime,
    pub(super) manager: Manager,
    folder: tempfile::TempDir,
}

impl TestProject {
    pub(super) fn new() -> Self {
        crate::init();
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("garden");
        std::fs::create_dir(&project).unwrap();
        git(&project, &["init", "-q", "-b", "main"]);
        git(&project, &["commit", "-q", "--allow-empty", "-m", "first"]);
        let runtime = Runtime::new().unwrap();
        let options = StartOptions::new(Folders::below(folder.path().join("natter")));
        let manager = runtime.block_on(Manager::start(options)).unwrap();
        Self { runtime, manager, folder }
    }

    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join("garden")
    }

    /// Where snapshots of worktrees are stored.
    pub(super) fn snapshots(&self) -> PathBuf {
        Folders::below(self.folder.path().join("natter")).state.join("worktrees")
    }

    pub(super) fn worktree(&self, name: &str) -> Worktree {
        let (worktrees, path) = (self.manager.worktrees(), self.path());
        let create = worktrees.create(&path, name, NewWorktree::default());
        self.runtime.block_on(create).unwrap().worktree
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}
