//! Removing, storing and restoring worktrees.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use chat_worktree::{CreateOptions, Error, Listed, Worktree};

use crate::world::{NEVER, World, contents, files, git, write};

/// A worktree with a commit, and with files that are not committed.
fn worked(world: &World) -> Worktree {
    let worktree = world.create("Some work");
    let folder = worktree.folder();
    write(folder, "a", "committed\n");
    git(folder, &["commit", "-q", "-a", "-m", "Change a"]);
    write(folder, "a", "uncommitted\n");
    fs::remove_file(folder.join("b")).unwrap();
    write(folder, "new ä/x\n", "untracked\n");
    fs::write(folder.join("bytes"), b"\xff\0\r\n").unwrap();
    fs::set_permissions(folder.join("bytes"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("/nowhere", folder.join("link")).unwrap();
    write(folder, "x.o", "ignored\n");
    worktree
}

#[test]
fn a_removed_worktree_can_be_restored_even_if_its_commits_are_gone() {
    let world = World::new();
    let before = world.parent_state();
    let worktree = worked(&world);
    let tip = world.git(&["rev-parse", "natter/some-work"]);
    let mut expected = contents(worktree.folder());

    let preview = world.worktrees.preview_removal(&worktree, &NEVER).unwrap();
    assert_eq!((preview.commit_count, preview.commits.len()), (1, 1));
    assert_eq!((&*preview.commits[0].commit, &*preview.commits[0].subject), (&*tip, "Change a"));
    assert_eq!((preview.status.changed, preview.status.untracked), (2, 3));
    assert_eq!(preview.ignored, 1);
    assert!(preview.ignored_size > 0);

    let removed = world.remove(&worktree);
    assert!(removed.is_branch_deleted);
    assert!(!worktree.folder().exists());
    assert_eq!(world.worktrees.list().unwrap(), []);
    assert_eq!(world.parent_state(), before);
    assert_eq!(world.git(&["worktree", "list"]).lines().count(), 1);
    world.git(&["reflog", "expire", "--all", "--expire=now"]);
    world.git(&["gc", "-q", "--prune=now"]);
    assert!(
        std::process::Command::new("git")
            .args(["cat-file", "-e", &tip])
            .current_dir(world.project())
            .output()
            .is_ok_and(|output| !output.status.success())
    );

    let listed = world.worktrees.snapshots(&NEVER).unwrap();
    assert_eq!(listed, std::slice::from_ref(&removed.snapshot));
    let snapshot = &listed[0];
    assert_eq!((&*snapshot.name, &*snapshot.branch), ("Some work", "natter/some-work"));
    assert_eq!((snapshot.commits, snapshot.tip.as_ref()), (1, Some(&tip)));
    assert_eq!(snapshot.files, expected.len() as u64 - 1);
    let restored = world.worktrees.restore(&snapshot.id, &world.project(), &NEVER).unwrap();
    assert!(!restored.is_flattened && restored.other_tip.is_none());
    let worktree = restored.worktree;
    expected.remove(std::path::Path::new("x.o"));
    assert_eq!(contents(worktree.folder()), expected);
    assert_eq!((worktree.branch(), worktree.target()), ("natter/some-work", Some("main")));
    assert_eq!(world.git(&["rev-parse", "natter/some-work"]), tip);
    let status = world.status(&worktree);
    assert_eq!((status.ahead, status.changed, status.untracked), (1, 2, 3));
    assert_eq!(world.git(&["fsck"]), "");
    // It can be restored again once the first is gone.
    fs::remove_dir_all(worktree.folder()).unwrap();
    let again = world.worktrees.restore(&snapshot.id, &world.project(), &NEVER).unwrap().worktree;
    assert_eq!(again.branch(), "natter/some-work-2");
}

#[test]
fn a_worktree_that_is_gone_takes_no_other_with_it() {
    let world = World::new();
    let branch = CreateOptions {
        name: "fixer".to_owned(),
        branch: Some("fix".to_owned()),
        ..CreateOptions::default()
    };
    let gone = world.create_with(&branch).worktree;
    fs::remove_dir_all(gone.folder()).unwrap();
    world.git(&["worktree", "prune"]);
    let other = world.create("fixer");
    assert_ne!(world.own(&gone), world.own(&other));
    assert!(world.own(&other).is_dir());
    world.worktrees.forget(&gone).unwrap();
    let status = world.status(&other);
    assert_eq!((status.changed, status.untracked), (0, 0));

    // Nor where its record names the git folder of the other.
    let gone = world.create("gone");
    let record = gone.folder().with_extension("json");
    let name = |worktree: &Worktree| world.own(worktree).to_str().unwrap().to_owned();
    let text = fs::read_to_string(&record).unwrap().replace(&name(&gone), &name(&other));
    fs::write(&record, text).unwrap();
    fs::remove_dir_all(gone.folder()).unwrap();
    let gone = world.worktrees.open(gone.folder()).unwrap();
    world.worktrees.forget(&gone).unwrap();
    assert!(!record.exists());
    world.status(&other);
    git(other.folder(), &["status"]);
}

#[test]
fn a_worktree_is_restored_to_its_own_folder_unless_it_is_there() {
    let world = World::new();
    let first = world.create("fixer");
    let stored = world.remove(&first).snapshot;
    let other = world.create("fixer");
    let restore =
        |id: &str| world.worktrees.restore(id, &world.project(), &NEVER).unwrap().worktree;
    let restored = restore(&stored.id);
    assert_eq!((restored.folder(), restored.branch()), (first.folder(), "natter/fixer-2"));
    // Its folder is not free while its record is there.
    fs::remove_dir_all(restored.folder()).unwrap();
    let again = restore(&stored.id);
    assert!(![first.folder(), other.folder()].contains(&again.folder()));
    let stored = world.remove(&again).snapshot;
    assert_eq!(restore(&stored.id).folder(), again.folder());
}

#[test]
fn a_snapshot_is_restored_once_whoever_asks_at_the_same_moment() {
    let world = World::new();
    let stored = world.remove(&worked(&world)).snapshot;
    let results: Vec<_> = std::thread::scope(|scope| {
        let restore = || world.worktrees.restore(&stored.id, &world.project(), &NEVER);
        let threads = [scope.spawn(restore), scope.spawn(restore)];
        threads.map(|thread| thread.join().unwrap()).into_iter().collect()
    });
    let (restored, refused): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let restored = restored.into_iter().next().unwrap().unwrap().worktree;
    let Some(Err(Error::Restored { name, folder })) = refused.first() else {
        panic!("{refused:?}")
    };
    assert_eq!((&**name, &**folder), (&*restored.short_name(), restored.folder()));
    assert_eq!(world.worktrees.list().unwrap().len(), 1);
}

#[test]
fn snapshots_stand_alone() {
    let world = World::new();
    let worktree = worked(&world);
    let first = world.worktrees.snapshot(&worktree, &NEVER).unwrap();
    world.commit_all(&worktree, "more");
    let expected = contents(worktree.folder());
    let second = world.remove(&worktree).snapshot;
    assert_eq!(second.commits, 2);
    let shadow = world.beside("state/worktrees/sha1.git");
    // Nothing of it depends on the user's repository.
    let other = World::empty();
    fs::remove_dir_all(world.project()).unwrap();
    assert_eq!(git(&shadow, &["fsck", "--no-dangling"]), "");
    git(&shadow, &["gc", "-q", "--prune=now"]);
    let worktrees = world.worktrees.clone();
    other.write("other", "another history\n");
    other.commit("other");
    let restored = worktrees.restore(&second.id, &other.project(), &NEVER).unwrap();
    assert!(restored.is_flattened);
    let mut found = contents(restored.worktree.folder());
    let mut expected = expected;
    expected.remove(std::path::Path::new("x.o"));
    assert_eq!(found, expected);
    assert!(!worktrees.status(&restored.worktree, &NEVER).unwrap().is_dirty());
    assert_eq!(other.git(&["fsck", "--no-dangling"]), "");

    // The first goes without the second.
    assert_eq!(worktrees.prune_snapshots(Duration::from_hours(1), &NEVER).unwrap(), 0);
    let delete = format!("refs/natter/worktrees/{}", first.id);
    git(&shadow, &["update-ref", "-d", &delete]);
    git(&shadow, &["gc", "-q", "--prune=now"]);
    fs::remove_dir_all(restored.worktree.folder()).unwrap();
    let again = worktrees.restore(&second.id, &other.project(), &NEVER).unwrap();
    found = contents(again.worktree.folder());
    assert_eq!(found, expected);
    for missing in [&*first.id, "", "x/../y", "--all"] {
        let error = worktrees.restore(missing, &other.project(), &NEVER).unwrap_err();
        assert!(matches!(error, Error::NoSnapshot(_)), "{missing}: {error}");
    }
}

#[test]
fn old_snapshots_are_pruned() {
    let world = World::new();
    let worktree = worked(&world);
    world.worktrees.snapshot(&worktree, &NEVER).unwrap();
    let shadow = world.beside("state/worktrees/sha1.git");
    // One that is years old.
    let tree = git(&shadow, &["for-each-ref", "--format=%(objectname)"]);
    git(&shadow, &["update-ref", "refs/natter/worktrees/1000000000000-0", &tree]);
    assert_eq!(world.worktrees.snapshots(&NEVER).unwrap().len(), 2);
    let age = Duration::from_hours(24);
    assert_eq!(world.worktrees.prune_snapshots(age, &NEVER).unwrap(), 1);
    let left = world.worktrees.snapshots(&NEVER).unwrap();
    assert_eq!(left.len(), 1);
    assert_ne!(left[0].id, "1000000000000-0");
    world.worktrees.restore(&left[0].id, &world.project(), &NEVER).unwrap();
}

#[test]
fn a_deleted_snapshot_is_gone_with_its_files_and_the_others_stay() {
    let world = World::new();
    let worktree = worked(&world);
    let first = world.worktrees.snapshot(&worktree, &NEVER).unwrap();
    write(worktree.folder(), "only-second", "only in the second\n");
    let blob = world.git(&["hash-object", worktree.folder().join("only-second").to_str().unwrap()]);
    let second = world.remove(&worktree).snapshot;
    let shadow = world.beside("state/worktrees/sha1.git");
    let has = |name: &str| {
        let mut command = std::process::Command::new("git");
        let found = command.args(["cat-file", "-e", name]).current_dir(&shadow).output();
        found.unwrap().status.success()
    };
    assert!(has(&blob));
    world.worktrees.delete_snapshot(&second.id, &NEVER).unwrap();
    assert!(!has(&blob));
    assert_eq!(world.worktrees.snapshots(&NEVER).unwrap(), std::slice::from_ref(&first));
    assert_eq!(git(&shadow, &["fsck", "--no-dangling"]), "");
    for missing in [&*second.id, "", "x/../y", "--all"] {
        let error = world.worktrees.delete_snapshot(missing, &NEVER).unwrap_err();
        assert!(matches!(error, Error::NoSnapshot(_)), "{missing}: {error}");
    }
    world.worktrees.restore(&first.id, &world.project(), &NEVER).unwrap();
    world.worktrees.delete_snapshot(&first.id, &NEVER).unwrap();
    assert_eq!(world.worktrees.snapshots(&NEVER).unwrap(), []);
}

#[test]
fn a_repository_inside_is_stored_with_its_commits() {
    let world = World::new();
    let worktree = world.create("x");
    let nested = worktree.folder().join("nested");
    git(worktree.folder(), &["init", "-q", "-b", "main", "nested"]);
    write(&nested, "file", "content\n");
    git(&nested, &["add", "file"]);
    let user = ["-c", "user.name=a", "-c", "user.email=a@b"];
    git(&nested, &[&user[..], &["commit", "-q", "-m", "inside"]].concat());
    write(&nested, "file", "changed\n");
    let expected = files(&nested);
    assert!(world.status(&worktree).is_dirty());
    let snapshot = world.remove(&worktree).snapshot;
    let restored = world.worktrees.restore(&snapshot.id, &world.project(), &NEVER).unwrap();
    let nested = restored.worktree.folder().join("nested");
    assert_eq!(files(&nested), expected);
    fs::create_dir_all(nested.join(".git/refs/tags")).unwrap();
    assert_eq!(git(&nested, &["log", "--format=%s"]), "inside");
}

#[test]
fn commits_of_a_switched_branch_are_stored_too() {
    let world = World::new();
    let worktree = world.create("x");
    let folder = worktree.folder();
    write(folder, "a", "on the branch\n");
    let tip = world.commit_all(&worktree, "on the branch");
    git(folder, &["checkout", "-q", "--detach", worktree.base()]);
    write(folder, "a", "detached\n");
    git(folder, &["commit", "-q", "-a", "-m", "detached"]);
    write(folder, "forced.o", "staged, though ignored\n");
    git(folder, &["add", "-f", "forced.o"]);
    let head = git(folder, &["rev-parse", "HEAD"]);
    let expected = contents(folder);
    let removed = world.remove(&worktree);
    assert_eq!(removed.snapshot.commits, 2);
    world.git(&["gc", "-q", "--prune=now"]);
    let restored = world.worktrees.restore(&removed.snapshot.id, &world.project(), &NEVER).unwrap();
    assert_eq!(restored.other_tip.as_ref(), Some(&tip));
    assert_eq!(world.git(&["show", &format!("{tip}:a")]), "on the branch");
    assert_eq!(world.git(&["rev-parse", restored.worktree.branch()]), head);
    assert_eq!(contents(restored.worktree.folder()), expected);
}

#[test]
fn nothing_is_removed_that_cannot_be_stored() {
    let world = World::new();
    let worktree = worked(&world);
    // Snapshots cannot be written there.
    write(&world.beside("state"), "worktrees", "a file\n");
    let before = files(worktree.folder());
    assert!(world.worktrees.remove(&worktree, true, &NEVER).is_err());
    let cancelled = world.worktrees.remove(&worktree, true, &AtomicBool::new(true));
    assert!(matches!(cancelled, Err(Error::Cancelled)));
    assert_eq!(files(worktree.folder()), before);
    assert_eq!(world.git(&["branch", "--list", "natter/*"]).lines().count(), 1);
    fs::remove_file(world.beside("state/worktrees")).unwrap();
    world.remove(&worktree);
}

#[test]
fn a_branch_in_use_stays() {
    let world = World::new();
    let worktree = world.create("x");
    let second = world.create("y");
    git(second.folder(), &["checkout", "-q", "--ignore-other-worktrees", "natter/x"]);
    assert!(!world.remove(&worktree).is_branch_deleted);
    assert_eq!(
        world.git(&["branch", "--list", "natter/x"]).trim().trim_start_matches("+ "),
        "natter/x"
    );
    let third = world.create("z");
    let kept = world.worktrees.remove(&third, false, &NEVER).unwrap();
    assert!(!kept.is_branch_deleted);
    assert!(world.git(&["branch", "--list", "natter/z"]).contains("natter/z"));
}

#[test]
fn an_interrupted_removal_is_finished_or_taken_back() {
    let world = World::new();
    let (first, second) = (world.create("a"), world.create("b"));
    write(first.folder(), "x/y", "stored\n");
    fs::set_permissions(first.folder().join("x"), PermissionsExt::from_mode(0o555)).unwrap();
    let removed = first.folder().with_extension("removed");
    fs::rename(first.folder(), &removed).unwrap();
    fs::rename(second.folder(), second.folder().with_extension("removing")).unwrap();
    let listed = world.worktrees.list().unwrap();
    assert!(listed.contains(&Listed::Removed(removed.clone())), "{listed:?}");
    world.worktrees.clear_removed().unwrap();
    assert!(!removed.exists());
    assert!(!world.status(&second).is_dirty());
}

#[test]
fn read_only_folders_are_removed_too() {
    let world = World::new();
    let worktree = world.create("x");
    write(worktree.folder(), "cache/deep/file", "x\n");
    for folder in ["cache/deep", "cache"] {
        let read_only = PermissionsExt::from_mode(0o555);
        fs::set_permissions(worktree.folder().join(folder), read_only).unwrap();
    }
    world.remove(&worktree);
    let parent = worktree.folder().parent().unwrap();
    let left: Vec<_> = fs::read_dir(parent).unwrap().flatten().map(|it| it.file_name()).collect();
    assert_eq!(left, ["lock"]);
}
