//! What a killed program left in a project goes without another command.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use chat_sandbox::{Preference, clear_left_over};

use super::meanwhile::waiting;
use super::project::git;
use crate::support::{Scene, write};
use crate::unprivileged;

/// Makes an empty folder as commands find it in the place of what they must not create.
fn placeholder(path: &Path) {
    fs::create_dir_all(path).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o1755)).unwrap();
}

#[test]
fn only_empty_marked_folders_and_the_very_files_are_removed() {
    let project = tempfile::tempdir().unwrap();
    let at = |name: &str| project.path().join(name);
    for name in [".natter", ".mcp.json", ".git"] {
        placeholder(&at(name));
    }
    clear_left_over(project.path());
    assert_eq!(fs::read_dir(project.path()).unwrap().count(), 0);

    fs::create_dir_all(at(".git/worktrees")).unwrap();
    for name in [".natter", ".git/hooks", ".git/modules"] {
        placeholder(&at(name));
    }
    write(&at(".natter/mine"), "mine");
    fs::create_dir(at(".mcp.json")).unwrap();
    write(&at(".git/config"), "[core]\n");
    write(&at(".git/config.worktree"), "# Natter keeps this place free while a command runs.\n");
    write(&at(".git/commondir"), "./.\n");
    // A command of another program still needs it.
    let held = File::open(at(".git/modules")).unwrap();
    held.lock_shared().unwrap();
    clear_left_over(project.path());
    for mine in [".natter/mine", ".mcp.json", ".git/worktrees", ".git/config", ".git/modules"] {
        assert!(at(mine).exists(), "{mine}");
    }
    for left in [".git/hooks", ".git/config.worktree", ".git/commondir"] {
        assert!(!at(left).exists(), "{left}");
    }
    drop(held);
    clear_left_over(project.path());
    assert!(!at(".git/modules").exists());
}

#[test]
fn what_is_left_in_the_git_data_of_a_linked_work_tree_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let (main, tree) = (folder.path().join("main"), folder.path().join("tree"));
    fs::create_dir(&main).unwrap();
    git(&main, &["init", "-q"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "one"]);
    git(&main, &["worktree", "add", "-q", tree.to_str().unwrap()]);
    let common = main.join(".git");
    let own = common.join("worktrees/tree");
    let settings = "# Natter keeps this place free while a command runs.\n";
    let left = [own.join("config.worktree"), common.join("config.worktree")];
    for path in &left {
        write(path, settings);
    }
    let left_folders = [own.join("modules"), common.join("modules"), tree.join(".natter")];
    for path in &left_folders {
        placeholder(path);
    }
    // What another folder leads to is not looked at.
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::copy(tree.join(".git"), other.join(".git")).unwrap();
    clear_left_over(&other);
    assert!(left.iter().chain(&left_folders).all(|path| path.exists()));

    clear_left_over(&tree);
    for path in left.iter().chain(&left_folders) {
        assert!(!path.exists(), "{}", path.display());
    }
    for kept in
        [own.join("gitdir"), own.join("commondir"), common.join("config"), tree.join(".git")]
    {
        assert!(kept.exists(), "{}", kept.display());
    }
    git(&tree, &["status"]);
}

#[test]
fn a_command_that_runs_keeps_what_protects_the_project() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        let running = waiting(&scene, "true", "end", "echo evil > .mcp.json; true").await;
        clear_left_over(&scene.project(""));
        assert!(scene.project(".mcp.json").is_dir() && scene.project(".natter").is_dir());
        write(&scene.project("end"), "");
        let exit = running.wait().await;
        assert!(exit.quarantined.is_empty(), "{exit:?}");
        assert!(!scene.project(".mcp.json").exists());
    });
}
