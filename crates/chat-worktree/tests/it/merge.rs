//! Merging a worktree's branch.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chat_worktree::{CreateOptions, DiffLimits, Error, MergeKind, MergeOutcome, Worktree};

use crate::world::{NEVER, World, fallback, files, git, read, write};

/// A worktree with a commit that changes `a` and adds `new/x`.
fn worked(world: &World) -> Worktree {
    let worktree = world.create("x");
    write(worktree.folder(), "a", "one\ntwo\n3\n");
    write(worktree.folder(), "new/x", "new\n");
    world.commit_all(&worktree, "work");
    worktree
}

/// Whether the repository stores an object.
fn has_object(world: &World, name: &str) -> bool {
    let mut git = Command::new("git");
    git.current_dir(world.project()).args(["cat-file", "-e", name]);
    git.output().unwrap().status.success()
}

/// What the user does, and the files that are in the way then.
type Case<'a> = (&'a dyn Fn(&World), &'a [&'a str]);

fn blocked(names: &[&str]) -> MergeOutcome {
    MergeOutcome::Blocked(names.iter().map(PathBuf::from).collect())
}

#[test]
fn a_target_without_other_commits_moves_forward() {
    let world = World::new();
    let worktree = worked(&world);
    let before = world.parent_state();
    let preview = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
    assert_eq!(world.parent_state(), before);
    assert_eq!((preview.kind, preview.is_dirty), (MergeKind::FastForward, false));
    assert_eq!(preview.files.len(), 2);
    assert_eq!(preview.checkout, Some(world.project()));
    assert_eq!((preview.conflicts.len(), preview.blocked.len()), (0, 0));
    let outcome = world.merge(&worktree).unwrap();
    let commit = preview.commit.clone();
    assert_eq!(
        outcome,
        MergeOutcome::Merged { commit: commit.clone(), kind: MergeKind::FastForward }
    );
    assert_eq!(world.git(&["rev-parse", "main"]), commit);
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert_eq!(read(&world.project(), "new/x"), "new\n");
    // The user can go back.
    assert_eq!(world.git(&["rev-parse", "HEAD@{1}"]), worktree.base());
    assert_eq!(world.git(&["rev-parse", "ORIG_HEAD"]), worktree.base());
    assert!(!world.path(".git/index.lock").exists());
    assert_eq!(world.merge(&worktree).unwrap(), MergeOutcome::UpToDate);
}

#[test]
fn other_commits_are_merged_and_uncommitted_files_stay() {
    let world = World::new();
    let worktree = worked(&world);
    world.write("a", "1\ntwo\nthree\n");
    world.commit("theirs");
    world.write("b", "uncommitted\n");
    world.write("sub/c", "staged\n");
    world.git(&["add", "sub/c"]);
    world.write("untracked", "untracked\n");
    world.write("x.o", "ignored\n");
    let status = world.git(&["status", "--porcelain"]);
    let MergeOutcome::Merged { commit, kind } = world.merge(&worktree).unwrap() else { panic!() };
    assert_eq!(kind, MergeKind::Merge);
    assert_eq!(read(&world.project(), "a"), "1\ntwo\n3\n");
    assert_eq!(world.git(&["status", "--porcelain"]), status);
    assert_eq!(world.git(&["show", "-s", "--format=%an%n%s", &commit]), "Ann\nMerge the work");
    assert_eq!(world.git(&["rev-parse", "main^2"]), world.git(&["rev-parse", "natter/x"]));
    assert_eq!(world.git(&["fsck"]), "");
}

#[test]
fn conflicts_are_named_and_nothing_is_changed() {
    let world = World::new();
    let worktree = worked(&world);
    world.write("a", "one\ntwo\nTHREE\n");
    world.commit("theirs");
    let before = (files(&world.project()), files(worktree.folder()));
    let preview = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
    assert_eq!(preview.conflicts, [PathBuf::from("a")]);
    assert_eq!(world.merge(&worktree).unwrap(), MergeOutcome::Conflicts(vec!["a".into()]));
    assert_eq!((files(&world.project()), files(worktree.folder())), before);
}

#[test]
fn uncommitted_files_in_the_way_are_named_and_stay() {
    let prepare: [Case; 7] = [
        (&|world| world.write("a", "mine\n"), &["a"]),
        (
            &|world| {
                world.write("a", "mine\n");
                world.git(&["add", "a"]);
            },
            &["a"],
        ),
        (&|world| fs::remove_file(world.path("a")).unwrap(), &["a"]),
        (&|world| world.write("new/x", "mine\n"), &["new/x"]),
        (&|world| world.write("new", "mine\n"), &["new"]),
        (&|world| world.write("new/x/deep/file.o", "ignored\n"), &["new/x/deep/file.o"]),
        (
            &|world| {
                world.write("a", "mine\n");
                world.write(".git/info/exclude", "new\n");
                world.write("new/x", "ignored\n");
            },
            &["a", "new/x"],
        ),
    ];
    for (prepare, names) in prepare {
        let world = World::new();
        let worktree = worked(&world);
        prepare(&world);
        let before = files(&world.project());
        let preview = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
        assert_eq!(MergeOutcome::Blocked(preview.blocked), blocked(names));
        assert_eq!(world.merge(&worktree).unwrap(), blocked(names));
        assert_eq!(files(&world.project()), before);
    }
}

#[test]
fn folders_and_files_replace_each_other() {
    let world = World::new();
    let worktree = world.create("x");
    fs::remove_dir_all(worktree.folder().join("sub")).unwrap();
    write(worktree.folder(), "sub", "a file\n");
    fs::remove_file(worktree.folder().join("b")).unwrap();
    write(worktree.folder(), "b/inside", "in a folder\n");
    world.commit_all(&worktree, "work");
    world.write("sub/mine", "untracked\n");
    assert_eq!(world.merge(&worktree).unwrap(), blocked(&["sub/mine"]));
    fs::remove_file(world.path("sub/mine")).unwrap();
    assert!(matches!(world.merge(&worktree).unwrap(), MergeOutcome::Merged { .. }));
    assert_eq!(read(&world.project(), "b/inside"), "in a folder\n");
    assert_eq!(world.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_hidden_change_of_the_user_is_not_overwritten() {
    let world = World::new();
    let worktree = worked(&world);
    world.git(&["update-index", "--assume-unchanged", "a"]);
    world.write("a", "mine\n");
    let before = files(&world.project());
    assert!(world.merge(&worktree).is_err());
    assert_eq!(files(&world.project()), before);
}

#[test]
fn a_target_that_is_not_checked_out_is_merged_alone() {
    let world = World::new();
    let worktree = worked(&world);
    world.git(&["checkout", "-q", "-b", "other"]);
    world.write("a", "uncommitted\n");
    let before = files(&world.project());
    let preview = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
    assert_eq!((preview.checkout, preview.blocked.len()), (None, 0));
    assert!(matches!(world.merge(&worktree).unwrap(), MergeOutcome::Merged { .. }));
    assert_eq!(world.git(&["show", "main:a"]), "one\ntwo\n3");
    let mut after = files(&world.project());
    let mut before = before;
    for state in [&mut before, &mut after] {
        state.retain(|path, _| {
            !path.starts_with(".git/objects")
                && !path.starts_with(".git/logs/refs/heads")
                && !path.ends_with(".git/refs/heads/main")
        });
    }
    assert_eq!(after, before);
}

#[test]
fn what_must_not_be_merged_is_refused() {
    let world = World::new();
    let worktree = worked(&world);
    let merge = |preview| world.worktrees.merge(&worktree, preview, "m", &fallback(), &NEVER);
    let preview = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
    write(worktree.folder(), "more", "more\n");
    let dirty = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
    // What is not committed is in the preview, and stored nowhere.
    assert!(dirty.is_dirty && dirty.files.iter().any(|file| file.path == Path::new("more")));
    assert!(![&dirty.commit, &dirty.tree].into_iter().any(|name| has_object(&world, name)));
    assert!(matches!(merge(&preview), Err(Error::Uncommitted)));
    assert!(matches!(merge(&dirty), Err(Error::Uncommitted)));
    world.commit_all(&worktree, "more");
    let committed = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
    assert_eq!((&committed.tree, committed.is_dirty), (&dirty.tree, false));
    assert_eq!(committed.files, dirty.files);
    // The user did not see this commit.
    assert!(matches!(merge(&preview), Err(Error::Changed)));
    let preview = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();

    world.write(".git/index.lock", "");
    assert!(matches!(merge(&preview), Err(Error::Locked(_))));
    fs::remove_file(world.path(".git/index.lock")).unwrap();
    world.write(".git/MERGE_HEAD", worktree.base());
    assert!(matches!(merge(&preview), Err(Error::OperationInProgress(_))));
    fs::remove_file(world.path(".git/MERGE_HEAD")).unwrap();
    world.write(".git/refs/heads/main.lock", "");
    assert!(merge(&preview).is_err());
    fs::remove_file(world.path(".git/refs/heads/main.lock")).unwrap();
    assert_eq!(world.git(&["rev-parse", "HEAD"]), worktree.base());
    assert_eq!(world.git(&["status", "--porcelain"]), "");

    // Commits of the user since the preview are merged too.
    world.write("b", "theirs\n");
    world.commit("theirs");
    assert!(matches!(
        merge(&preview).unwrap(),
        MergeOutcome::Merged { kind: MergeKind::Merge, .. }
    ));

    let preview = |target| world.worktrees.preview_merge(&worktree, Some(target), &NEVER);
    assert!(matches!(preview("nothing"), Err(Error::NoBranch(_))));
    assert!(matches!(preview("natter/x"), Err(Error::NoTarget)));
    let second = world.create("second");
    let error = preview("natter/second").unwrap_err();
    assert!(matches!(error, Error::CheckedOutElsewhere(path) if path == second.folder()));
    let base = Some(worktree.base().to_owned());
    let options = CreateOptions { name: "y".into(), base, ..CreateOptions::default() };
    let detached = world.create_with(&options).worktree;
    let error = world.worktrees.preview_merge(&detached, None, &NEVER).unwrap_err();
    assert!(matches!(error, Error::NoTarget));
}

#[test]
fn only_what_a_preview_showed_is_committed() {
    let world = World::new();
    let worktree = worked(&world);
    let preview = || world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
    let commit = |preview| {
        let by = fallback();
        world.worktrees.commit_previewed(&worktree, preview, "Shown", &by, &NEVER)
    };
    let head = || world.git(&["rev-parse", "natter/x"]);
    write(worktree.folder(), "more", "more\n");
    let (shown, before) = (preview(), head());
    assert_eq!(shown.head, before);
    // Somebody writes a file, another version of one, or a commit with the same files.
    write(worktree.folder(), "later", "later\n");
    assert!(matches!(commit(&shown), Err(Error::Changed)));
    fs::remove_file(worktree.folder().join("later")).unwrap();
    write(worktree.folder(), "more", "other\n");
    assert!(matches!(commit(&shown), Err(Error::Changed)));
    assert_eq!(head(), before);
    write(worktree.folder(), "more", "more\n");
    let status = git(worktree.folder(), &["status", "--porcelain"]);
    assert_eq!(status, "?? more", "nothing is staged");

    let committed = commit(&shown).unwrap().commit;
    assert_eq!(head(), committed);
    assert_eq!(world.git(&["rev-parse", "natter/x^{tree}"]), shown.tree);
    assert_eq!(world.git(&["rev-parse", "natter/x^"]), before);
    assert_eq!(git(worktree.folder(), &["status", "--porcelain"]), "");
    let now = preview();
    assert_eq!((now.files, now.commit), (shown.files.clone(), committed));
    // The branch has this commit by now, which nobody was shown.
    assert!(matches!(commit(&shown), Err(Error::Changed)));
}

#[test]
fn packed_references_and_split_indexes_work_too() {
    let world = World::new();
    world.git(&["update-index", "--split-index"]);
    let worktree = worked(&world);
    world.git(&["pack-refs", "--all"]);
    assert!(matches!(world.merge(&worktree).unwrap(), MergeOutcome::Merged { .. }));
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    assert!(world.remove(&worktree).is_branch_deleted);
    assert_eq!(world.git(&["branch", "--list", "natter/*"]), "");
    assert_eq!(git(&world.project(), &["fsck"]), "");
}

#[test]
fn what_became_of_a_removed_worktree_is_known() {
    let world = World::new();
    let worktree = worked(&world);
    let inside = worktree.folder().join("new");
    assert_eq!(world.worktrees.finished(&inside, &NEVER).unwrap(), None, "it is there");
    let snapshot = world.remove(&worktree).snapshot;
    let finished = world.worktrees.finished(&inside, &NEVER).unwrap().unwrap();
    assert_eq!((finished.snapshot, finished.merged_into), (snapshot, None));

    let worktree = worked(&world);
    let inside = worktree.folder().join("new");
    world.write("b", "theirs\n");
    world.commit("theirs");
    world.merge(&worktree).unwrap();
    let snapshot = world.remove(&worktree).snapshot;
    let finished = world.worktrees.finished(&inside, &NEVER).unwrap().unwrap();
    assert_eq!((finished.snapshot, finished.merged_into), (snapshot, Some("main".to_owned())));
    assert_eq!(world.worktrees.finished(&world.project(), &NEVER).unwrap(), None);
}

#[test]
fn what_is_committed_is_merged_also_where_the_folder_was_deleted() {
    let world = World::new();
    let worktree = worked(&world);
    fs::remove_dir_all(worktree.folder()).unwrap();
    world.write("mine", "mine\n");
    world.commit("mine");
    let preview = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
    assert_eq!((preview.kind, preview.is_dirty), (MergeKind::Merge, false));
    assert_eq!(preview.files.len(), 2, "{preview:?}");
    let merged = world.worktrees.merge(&worktree, &preview, "m", &fallback(), &NEVER).unwrap();
    assert!(matches!(merged, MergeOutcome::Merged { kind: MergeKind::Merge, .. }), "{merged:?}");
    assert_eq!(read(&world.project(), "a"), "one\ntwo\n3\n");
    world.worktrees.forget(&worktree).unwrap();
    assert_eq!(world.worktrees.list().unwrap(), []);
}

#[test]
fn what_was_merged_counts_no_more_after_a_restore() {
    let world = World::new();
    let worktree = worked(&world);
    let snapshot = world.worktrees.snapshot(&worktree, &NEVER).unwrap();
    let preview = world.worktrees.preview_merge(&worktree, None, &NEVER).unwrap();
    world.worktrees.merge(&worktree, &preview, "m", &fallback(), &NEVER).unwrap();
    world.remove(&worktree);
    let restored =
        world.worktrees.restore(&snapshot.id, &world.project(), &NEVER).unwrap().worktree;
    assert_eq!(restored.snapshot(), Some(&*snapshot.id));
    let removal = world.worktrees.preview_removal(&restored, &NEVER).unwrap();
    assert_eq!((world.status(&restored).ahead, removal.commit_count), (0, 0));
    let diff = world.worktrees.diff(&restored, DiffLimits::default(), &NEVER).unwrap();
    assert_eq!(diff.files, []);
    write(restored.folder(), "later", "later\n");
    world.commit_all(&restored, "later");
    let removal = world.worktrees.preview_removal(&restored, &NEVER).unwrap();
    assert_eq!((world.status(&restored).ahead, removal.commit_count), (1, 1));
    let diff = world.worktrees.diff(&restored, DiffLimits::default(), &NEVER).unwrap();
    assert_eq!(diff.files.len(), 1, "{diff:?}");
}
