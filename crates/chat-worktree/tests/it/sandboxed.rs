//! Commands that run in a worktree in the real sandbox.

use std::fs;
use std::path::Path;

use chat_sandbox::{Command, Enforcement, Exit, GitAccess, Keep, Preference, Sandbox, Spool};
use chat_worktree::{Worktree, WorktreeAccess};

use crate::world::{World, files, git};

const WAYS: [(Preference, Enforcement); 2] = [
    (Preference::Bubblewrap, Enforcement::Bubblewrap),
    (Preference::Landlock, Enforcement::Landlock),
];

/// Runs commands in a worktree, one after the other. None where this machine cannot and nobody
/// insists.
fn run(
    world: &World,
    worktree: &Worktree,
    (way, enforcement): (Preference, Enforcement),
    texts: &[String],
) -> Option<Vec<(Exit, String)>> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let sandbox = Sandbox::probe(way).await;
        if sandbox.enforcement() != enforcement {
            let insists = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!insists, "{way:?} does not work here: {:?}", sandbox.why_not());
            return None;
        }
        let home = world.beside("home");
        fs::create_dir_all(&home).unwrap();
        let mut exits = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let mut command = Command::new(text, worktree.folder());
            command.home = Some(home.clone());
            command.environment = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
            let WorktreeAccess { repository, writable, read_only, hidden } =
                world.worktrees.access(worktree).unwrap();
            command.git = Some(GitAccess { repository, writable, read_only, hidden });
            let path = world.beside(&format!("output-{way:?}-{number}"));
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
    let Some(exits) = run(&world, &worktree, WAYS[0], &[text.to_owned()]) else { return };
    assert!(exits[0].0.is_success(), "{exits:?}");
    let status = world.status(&worktree);
    assert_eq!((status.ahead, status.is_dirty()), (1, false));
    assert_eq!(world.parent_state(), before);
}

#[test]
fn a_sandboxed_command_changes_neither_links_nor_what_git_trusts() {
    let world = World::new();
    world.git(&["tag", "v1"]);
    let (worktree, other) = (world.create("x"), world.create("y"));
    let project = world.project();
    let (parent, folder) = (project.to_str().unwrap(), worktree.folder());
    let above = folder.parent().unwrap().to_str().unwrap();
    let [x, y] = [&worktree, &other].map(|it| world.own(it));
    let [x, y] = [x, y].map(|it| it.to_str().unwrap().to_owned());
    let [own, others] = [&worktree, &other].map(|it| it.folder().to_str().unwrap());
    let as_somebody = "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=A \
        GIT_COMMITTER_EMAIL=a";
    let texts = [
        format!("echo evil >> {parent}/a"),
        format!("git --git-dir {parent}/.git config core.fsmonitor evil"),
        format!("GIT_DIR={parent}/.git GIT_WORK_TREE=. git config core.hooksPath evil"),
        "git config core.fsmonitor evil".to_owned(),
        format!("echo evil > {parent}/.git/hooks/pre-commit"),
        format!("echo '* filter=x' > {parent}/.git/info/attributes"),
        format!("rm -r {y}"),
        format!("echo evil > {y}/HEAD"),
        format!("cat {y}/HEAD"),
        format!("mkdir {parent}/.git/worktrees/z"),
        format!("echo {parent}/.git > {x}/commondir"),
        format!("echo {parent}/.git > {x}/gitdir"),
        format!("echo evil > {x}/config.worktree"),
        format!("echo gitdir: {parent}/.git > .git"),
        "rm .git".to_owned(),
        "mv .git elsewhere".to_owned(),
        // The user's branches, tags, index and head.
        format!(
            "{as_somebody}; git update-ref refs/heads/main $(git commit-tree -m x HEAD^{{tree}})"
        ),
        format!(
            "{as_somebody}; git update-ref refs/heads/natter/y $(git commit-tree -m x HEAD^{{tree}})"
        ),
        "git update-ref -d refs/heads/main && echo .git".to_owned(),
        "git branch -D natter/y && echo .git".to_owned(),
        "git tag -d v1 && echo .git".to_owned(),
        "git tag v2 && echo .git".to_owned(),
        "git pack-refs --all && echo .git".to_owned(),
        format!("{as_somebody}; git -C {parent} commit --allow-empty -m x && echo .git"),
        format!("{as_somebody}; git --git-dir {parent}/.git commit --allow-empty -m x"),
        format!("GIT_DIR={parent}/.git git update-ref refs/heads/main HEAD"),
        format!("GIT_DIR={parent}/.git git symbolic-ref HEAD refs/heads/natter/x"),
        format!("GIT_INDEX_FILE={parent}/.git/index git read-tree --empty"),
        format!("git worktree add {parent}/.git/evil"),
        "git worktree prune && test ! -e .git".to_owned(),
        format!("echo /etc > {parent}/.git/objects/info/alternates"),
        format!("ln -s {parent}/.git/refs/heads/main {parent}/.git/refs/heads/evil"),
        format!("ln -s {parent} link1 && echo evil > link1/.git/HEAD"),
        format!("echo {{}} > {own}.json"),
        format!("cat {own}.json {others}/a"),
        format!("echo evil > {others}/a"),
        format!("ln -s {own}.json link && cat link"),
    ];
    let records = || {
        let mut found = files(Path::new(above));
        let inside = Path::new(folder.file_name().unwrap());
        let links = ["link", "link1"].map(|link| inside.join(link));
        found.retain(|path, _| !links.iter().any(|link| Path::new(path).starts_with(link)));
        found
    };
    let state = || {
        let mut all = files(&project);
        // Nothing of these leads to anything, and they are the command's.
        let own = [
            Path::new(".git/objects"),
            Path::new(&x).strip_prefix(&project).unwrap(),
            Path::new(".git/logs/refs/heads/natter"),
        ];
        all.retain(|path, _| !own.iter().any(|own| path.starts_with(own)));
        (all, records(), world.path(".git/objects/info/alternates").exists())
    };
    let before = state();
    for way in WAYS {
        let Some(exits) = run(&world, &worktree, way, &texts) else { continue };
        assert_eq!(exits.len(), texts.len());
        // In the sandbox's own folder for passing files, a command may write what it likes.
        for (text, (exit, said)) in texts.iter().zip(&exits) {
            let is_git = text.contains(".git") || text.contains("update-ref");
            assert!(!is_git || !exit.is_success(), "{way:?}: {text}: {said}");
            assert!(!said.contains("\"version\""), "{way:?}: {text}: {said}");
            assert!(exit.quarantined.is_empty(), "{way:?}: {text}: {exit:?}");
        }
        assert_eq!(state(), before, "{way:?}");
        assert!(world.status(&worktree).untracked <= 2);
        assert_eq!(git(&project, &["status", "--porcelain"]), "");
        for link in ["link", "link1"] {
            let _ = fs::remove_file(folder.join(link));
        }
    }
}

/// Settings and rebases of the user in their own checkout are none of the command's doing.
#[test]
fn what_the_user_does_in_their_checkout_meanwhile_is_let_be() {
    let world = World::new();
    let worktree = world.create("x");
    let (go, end) = (worktree.folder().join("go"), worktree.folder().join("end"));
    let user = std::thread::spawn({
        let (project, end) = (world.project(), end.clone());
        move || {
            while !go.exists() {
                std::thread::yield_now();
            }
            git(&project, &["config", "core.editor", "vim"]);
            git(&project, &["commit", "-q", "--allow-empty", "-m", "mine"]);
            fs::create_dir(project.join(".git/rebase-merge")).unwrap();
            fs::write(project.join(".git/rebase-merge/git-rebase-todo"), "exec make\n").unwrap();
            fs::write(end, "").unwrap();
        }
    });
    let text = "touch go; until test -e end; do sleep 0.01; done; echo done";
    let exits = run(&world, &worktree, WAYS[0], &[text.to_owned()]);
    if exits.is_none() {
        fs::write(worktree.folder().join("go"), "").unwrap();
    }
    user.join().unwrap();
    let Some(exits) = exits else { return };
    assert!(exits[0].0.is_success() && exits[0].0.quarantined.is_empty(), "{exits:?}");
    let todo = world.path(".git/rebase-merge/git-rebase-todo");
    assert_eq!(fs::read_to_string(todo).unwrap(), "exec make\n");
    assert!(world.git(&["config", "core.editor"]).contains("vim"));
}
