//! Commands that run in a worktree in the real sandbox.

use std::fs;
use std::path::Path;

use chat_sandbox::{Command, Enforcement, Exit, Keep, Preference, Sandbox, Spool};
use chat_worktree::Worktree;

use crate::world::{World, files, git};

/// Runs commands in a worktree, one after the other, in bubblewrap. None where this machine cannot
/// and nobody insists.
fn run(world: &World, worktree: &Worktree, texts: &[String]) -> Option<Vec<(Exit, String)>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sandbox = Sandbox::probe(Preference::Bubblewrap).await;
        if sandbox.enforcement() != Enforcement::Bubblewrap {
            let insists = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!insists, "bubblewrap does not work here: {:?}", sandbox.why_not());
            return None;
        }
        let home = world.beside("home");
        fs::create_dir_all(&home).unwrap();
        let mut exits = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let mut command = Command::new(text, worktree.folder());
            command.home = Some(home.clone());
            command.environment = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
            let path = world.beside(&format!("output-{number}"));
            let spool = Spool::create(&path, Keep::default()).unwrap();
            let running = sandbox.spawn(command, spool).await.unwrap();
            let exit = running.wait().await;
            exits.push((exit, running.spool().excerpt().to_string()));
        }
        Some(exits)
    })
}

#[test]
fn a_sandboxed_command_works_on_its_branch() {
    let world = World::new();
    let worktree = world.create("x");
    let before = world.parent_state();
    let text = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=A \
        GIT_COMMITTER_EMAIL=a; echo work > a && git add -A && git commit -q -m work && git status";
    let Some(exits) = run(&world, &worktree, &[text.to_owned()]) else { return };
    assert!(exits[0].0.is_success(), "{exits:?}");
    let status = world.status(&worktree);
    assert_eq!((status.ahead, status.is_dirty()), (1, false));
    assert_eq!(world.parent_state(), before);
}

#[test]
fn a_sandboxed_command_changes_neither_links_nor_what_git_trusts() {
    let world = World::new();
    let (worktree, other) = (world.create("x"), world.create("y"));
    let project = world.project();
    let (parent, folder) = (project.to_str().unwrap(), worktree.folder());
    let above = folder.parent().unwrap().to_str().unwrap();
    let texts = [
        format!("echo evil >> {parent}/a"),
        format!("git --git-dir {parent}/.git config core.fsmonitor evil"),
        format!("GIT_DIR={parent}/.git GIT_WORK_TREE=. git config core.hooksPath evil"),
        "git config core.fsmonitor evil".to_owned(),
        format!("echo evil > {parent}/.git/hooks/pre-commit"),
        format!("echo '* filter=x' > {parent}/.git/info/attributes"),
        format!("rm -r {parent}/.git/worktrees/y"),
        format!("echo evil > {parent}/.git/worktrees/y/HEAD"),
        format!("echo {parent}/.git > {parent}/.git/worktrees/x/commondir"),
        format!("echo {parent}/.git > {parent}/.git/worktrees/x/gitdir"),
        format!("echo gitdir: {parent}/.git > .git"),
        "rm .git".to_owned(),
        "mv .git elsewhere".to_owned(),
        format!("echo {{}} > {above}/x.json"),
        format!("cat {above}/x.json {above}/y/a"),
        format!("echo evil > {}/a", other.folder().display()),
        format!("ln -s {above}/x.json link && cat link"),
    ];
    let records = || {
        let mut found = files(Path::new(above));
        found.remove(Path::new("x/link"));
        found
    };
    let before = (world.parent_state(), records(), files(&world.path(".git/worktrees")));
    let Some(exits) = run(&world, &worktree, &texts) else { return };
    assert_eq!(exits.len(), texts.len());
    // In the sandbox's own folder for passing files, a command may write what it likes.
    for (text, (exit, said)) in texts.iter().zip(&exits) {
        let is_git = text.contains(".git");
        assert!(!is_git || !exit.is_success(), "{text}: {said}");
        assert!(!said.contains("\"version\""), "{text}: {said}");
    }
    let after = (world.parent_state(), records(), files(&world.path(".git/worktrees")));
    assert_eq!(after, before);
    assert_eq!(world.status(&worktree).untracked, 1);
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
}
