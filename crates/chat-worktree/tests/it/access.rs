//! What a sandboxed command in a worktree may write in the user's repository.

use std::path::{Path, PathBuf};

use chat_worktree::CreateOptions;

use crate::world::{World, files, git, write};

#[test]
fn a_command_reaches_only_what_its_git_needs() {
    let world = World::new();
    let (worktree, other) = (world.create("x"), world.create("y"));
    let access = world.worktrees.access(&worktree).unwrap();
    let at = |name: &str| world.path(".git").join(name);
    let (own, others) = (world.own(&worktree), world.own(&other));
    for allowed in [
        own.join("index"),
        own.join("HEAD.lock"),
        own.join("logs/HEAD"),
        at("objects/ab/cdef"),
        at("objects/pack/pack-1.pack"),
        at("refs/heads/natter/x"),
        at("refs/heads/natter/x.lock"),
        at("logs/refs/heads/natter/x"),
    ] {
        assert!(access.may_write(&allowed), "{}", allowed.display());
    }
    for name in [
        "HEAD",
        "index",
        "index.lock",
        "config",
        "config.lock",
        "config.worktree",
        "hooks",
        "hooks/pre-commit",
        "info/attributes",
        "packed-refs",
        "shallow",
        "logs/HEAD",
        "refs/heads/main",
        "refs/heads/main.lock",
        "refs/heads/natter/y",
        "refs/tags/v1",
        "refs/stash",
        "logs/refs/heads/main",
        "logs/refs/heads/natter/y",
        "ORIG_HEAD",
        "MERGE_HEAD",
        "modules",
        "worktrees",
        "worktrees/z",
        "objects/info/alternates",
        "description",
        "commondir",
        "rebase-merge",
    ] {
        assert!(!access.may_write(&at(name)), "{name}");
    }
    for name in ["gitdir", "commondir", "config.worktree"] {
        assert!(!access.may_write(&own.join(name)), "{name}");
    }
    assert!(!access.may_write(&others.join("HEAD")));
    assert!(!access.may_write(&world.path("a")) && !access.may_write(other.folder()));
    assert_eq!(access.hidden, [at("worktrees")]);
}

/// Whatever a usual git command in a worktree changes in the repository is allowed.
#[test]
fn usual_commands_need_nothing_else() {
    let own_branch = |branch: &str| CreateOptions {
        name: "x".into(),
        branch: Some(branch.into()),
        ..CreateOptions::default()
    };
    for options in
        [CreateOptions { name: "x".into(), ..CreateOptions::default() }, own_branch("mine")]
    {
        let world = World::new();
        let worktree = world.create_with(&options).worktree;
        let access = world.worktrees.access(&worktree).unwrap();
        let git_folder = world.path(".git");
        let before = files(&git_folder);
        let folder = worktree.folder();
        write(folder, "a", "changed\n");
        git(folder, &["add", "-A"]);
        git(folder, &["commit", "-q", "-m", "one"]);
        write(folder, "b", "changed\n");
        git(folder, &["commit", "-q", "-a", "--amend", "-m", "two"]);
        git(folder, &["reset", "-q", "--hard", "HEAD~1"]);
        git(folder, &["checkout", "-q", "--detach"]);
        git(folder, &["checkout", "-q", worktree.branch()]);
        git(folder, &["status"]);
        let after = files(&git_folder);
        let changed: Vec<PathBuf> = after
            .iter()
            .filter(|(path, text)| before.get(*path) != Some(*text))
            .map(|(path, _)| git_folder.join(path))
            .chain(
                before
                    .keys()
                    .filter(|path| !after.contains_key(*path))
                    .map(|it| git_folder.join(it)),
            )
            .collect();
        assert!(changed.iter().any(|path| path.starts_with(git_folder.join("objects"))));
        for path in changed {
            assert!(access.may_write(&path), "{}: {}", worktree.branch(), path.display());
        }
        assert!(!access.may_write(Path::new("/etc/passwd")));
    }
}
