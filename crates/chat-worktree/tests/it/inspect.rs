//! Listing, inspecting, comparing and committing.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use chat_worktree::{
    ChangeKind, CreateOptions, DiffLimits, Error, Head, Listed, Presence, Worktrees,
};

use crate::world::{NEVER, World, fallback, git, read, write};

use Presence::{FolderGone, RepositoryGone, Unlinked, Whole};

fn presences(world: &World) -> Vec<Presence> {
    let presence = |listed| match listed {
        Listed::Worktree { presence, .. } => presence,
        other => panic!("{other:?}"),
    };
    world.worktrees.list().unwrap().into_iter().map(presence).collect()
}

#[test]
fn worktrees_are_listed_by_what_is_left_of_them() {
    let world = World::new();
    let other = World::new();
    let worktrees = [world.create("a"), world.create("b"), world.create("c"), world.create("d")];
    let elsewhere = world.worktrees.create(&other.project(), &CreateOptions::default(), &NEVER);
    assert_eq!(elsewhere.unwrap().worktree.branch(), "natter/work");
    assert_eq!(world.worktrees.list().unwrap().len(), 5);
    assert_eq!(world.worktrees.list_of(&world.path("sub")).unwrap().len(), 4);
    assert_eq!(world.worktrees.list_of(&other.project()).unwrap().len(), 1);
    assert_eq!(world.worktrees.open(worktrees[0].folder()).unwrap(), worktrees[0]);

    fs::remove_dir_all(worktrees[0].folder()).unwrap();
    fs::write(worktrees[1].folder().join(".git"), "gitdir: /nowhere\n").unwrap();
    world.git(&["worktree", "remove", "--force", worktrees[2].folder().to_str().unwrap()]);
    fs::create_dir(worktrees[2].folder()).unwrap();
    fs::remove_dir_all(other.project()).unwrap();
    let mut found = presences(&world);
    found.sort_by_key(|presence| format!("{presence:?}"));
    assert_eq!(found, [FolderGone, RepositoryGone, RepositoryGone, Unlinked, Whole]);

    let gone = world.worktrees.status(&worktrees[0], &NEVER).unwrap_err();
    assert!(matches!(gone, Error::FolderGone(_)), "{gone}");
    world.worktrees.repair(&worktrees[1]).unwrap();
    world.status(&worktrees[1]);
    assert!(matches!(world.worktrees.forget(&worktrees[1]), Err(Error::PathInUse(_))));
    world.worktrees.forget(&worktrees[0]).unwrap();
    world.worktrees.forget(&worktrees[2]).unwrap();
    assert_eq!(world.git(&["branch", "--list", "natter/a"]).trim(), "natter/a");
    // The folder that was there again is nobody's.
    let listed = world.worktrees.list_of(&world.project()).unwrap();
    assert!(listed.contains(&Listed::Unrecorded(worktrees[2].folder().to_owned())), "{listed:?}");
}

#[test]
fn a_damaged_record_hides_no_folder() {
    let world = World::new();
    let worktree = world.create("a");
    let record = worktree.folder().with_extension("json");
    let text = fs::read_to_string(&record).unwrap();
    for damaged in [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        text[..text.len() / 2].to_owned(),
        text.replace("\"version\": 1", "\"version\": 2"),
        text.replace("natter/a", "../../x"),
        text.replace("natter/a", "--x"),
        text.replace("/worktrees/a", "/hooks/a"),
        text.replace(worktree.base(), "HEAD"),
    ] {
        assert_ne!(damaged, text);
        fs::write(&record, &damaged).unwrap();
        let listed = world.worktrees.list().unwrap();
        assert_eq!(listed, [Listed::Unrecorded(worktree.folder().to_owned())], "{damaged}");
        assert!(matches!(world.worktrees.open(worktree.folder()), Err(Error::NotAWorktree(_))));
    }
    // What a later version adds is no damage.
    fs::write(&record, text.replacen('{', "{\"later\": [1],", 1)).unwrap();
    assert_eq!(world.worktrees.open(worktree.folder()).unwrap(), worktree);
    for outside in
        [world.project(), world.beside("natter-worktrees"), worktree.folder().join("sub")]
    {
        assert!(matches!(world.worktrees.open(&outside), Err(Error::NotAWorktree(_))));
    }
}

#[test]
fn a_moved_folder_of_worktrees_can_be_linked_again() {
    let world = World::new();
    let worktree = world.create("a");
    write(worktree.folder(), "new", "new\n");
    fs::rename(world.beside("natter-worktrees"), world.beside("moved")).unwrap();
    let worktrees = Worktrees::new(world.beside("moved"), world.beside("state/worktrees"));
    let listed = worktrees.list().unwrap();
    let [Listed::Worktree { worktree, presence: Presence::Unlinked }] = &listed[..] else {
        panic!("{listed:?}")
    };
    worktrees.repair(worktree).unwrap();
    assert_eq!(worktrees.status(worktree, &NEVER).unwrap().untracked, 1);
    assert_eq!(git(worktree.folder(), &["status", "--porcelain"]), "?? new");
}

#[test]
fn the_status_counts_commits_and_files() {
    let world = World::new();
    let worktree = world.create("a");
    let folder = worktree.folder();
    let status = world.status(&worktree);
    assert_eq!((status.ahead, status.changed, status.untracked), (0, 0, 0));
    assert!(!status.is_dirty() && status.size > 0);
    write(folder, "a", "changed\n");
    fs::remove_file(folder.join("b")).unwrap();
    write(folder, "new/x", "");
    write(folder, "ignored.o", "");
    git(folder, &["add", "new/x"]);
    let status = world.status(&worktree);
    assert_eq!((status.ahead, status.changed, status.untracked), (0, 2, 1));
    assert_eq!(status.head, Head::Branch("natter/a".to_owned()));
    git(folder, &["commit", "-q", "-a", "-m", "work"]);
    let status = world.status(&worktree);
    assert_eq!((status.ahead, status.changed, status.untracked), (1, 0, 0));
    git(folder, &["checkout", "-q", "--detach", "HEAD~1"]);
    assert_eq!(world.status(&worktree).head, Head::Detached(worktree.base().to_owned()));
    let error = world.worktrees.commit(&worktree, "x", &fallback(), &NEVER).unwrap_err();
    assert!(matches!(error, Error::BranchSwitched));
}

#[test]
fn what_an_index_hides_is_found() {
    let world = World::new();
    let worktree = world.create("a");
    let folder = worktree.folder();
    git(folder, &["update-index", "--assume-unchanged", "a"]);
    git(folder, &["update-index", "--skip-worktree", "b"]);
    write(folder, "a", "hidden\n");
    fs::remove_file(folder.join("b")).unwrap();
    assert_eq!(git(folder, &["status", "--porcelain"]), "");
    assert_eq!(world.status(&worktree).changed, 2);
    world.commit_all(&worktree, "all");
    assert_eq!(git(folder, &["show", "HEAD:a"]), "hidden");
    assert_eq!(world.status(&worktree).changed, 0);
}

#[test]
fn the_whole_work_is_compared_with_the_base() {
    let world = World::new();
    world.write("long", &"line\n".repeat(20));
    world.write("type", "x");
    world.write("dir/x", "x\n");
    world.commit("second");
    let worktree = world.create("a");
    let folder = worktree.folder();
    write(folder, "a", "one\n2\nthree\n");
    git(folder, &["commit", "-q", "-a", "-m", "committed"]);
    fs::remove_file(folder.join("b")).unwrap();
    write(folder, "new ä", "untracked\n");
    fs::write(folder.join("binary"), b"\0\x01").unwrap();
    fs::rename(folder.join("long"), folder.join("longer")).unwrap();
    fs::remove_file(folder.join("type")).unwrap();
    symlink("/etc/passwd", folder.join("type")).unwrap();
    fs::remove_dir_all(folder.join("dir")).unwrap();
    symlink("sub", folder.join("dir")).unwrap();
    write(folder, "x.o", "ignored");
    git(folder, &["init", "-q", "nested"]);
    let objects = || walk(&world.path(".git/objects"));
    let before = (world.parent_state(), objects());
    let diff = world.worktrees.diff(&worktree, DiffLimits::default(), &NEVER).unwrap();
    assert_eq!((world.parent_state(), objects()), before);
    let mut found: Vec<_> = diff
        .files
        .iter()
        .map(|file| (file.path.to_str().unwrap(), file.kind.clone(), file.added, file.deleted))
        .collect();
    found.sort_by_key(|file| file.0);
    let renamed = ChangeKind::Renamed { from: "long".into() };
    assert_eq!(
        found,
        [
            ("a", ChangeKind::Modified, Some(1), Some(1)),
            ("b", ChangeKind::Deleted, Some(0), Some(1)),
            ("binary", ChangeKind::Added, None, None),
            ("dir", ChangeKind::Added, Some(1), Some(0)),
            ("dir/x", ChangeKind::Deleted, Some(0), Some(1)),
            ("longer", renamed, Some(0), Some(0)),
            ("new ä", ChangeKind::Added, Some(1), Some(0)),
            ("type", ChangeKind::TypeChanged, Some(1), Some(1)),
        ]
    );
    assert_eq!(diff.nested, [PathBuf::from("nested")]);
    assert!(
        diff.text.contains("-two\n+2\n") && diff.text.contains("+untracked\n"),
        "{}",
        diff.text
    );
    assert!(!diff.text.contains("root:") && !diff.is_cut);

    let limits = DiffLimits { files: 3, text: 100 };
    let diff = world.worktrees.diff(&worktree, limits, &NEVER).unwrap();
    assert_eq!((diff.files.len(), diff.more_files, diff.is_cut), (3, 5, true));
    assert!(diff.text.len() <= 100 && diff.text.ends_with('\n'));
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = crate::world::files(folder).into_keys().collect();
    found.sort();
    found
}

#[test]
fn everything_is_committed_in_the_users_name() {
    let world = World::new();
    let before = world.parent_state();
    let worktree = world.create("a");
    let folder = worktree.folder();
    let error = world.worktrees.commit(&worktree, "x", &fallback(), &NEVER).unwrap_err();
    assert!(matches!(error, Error::NothingToCommit));
    write(folder, "a", "changed\n");
    write(folder, "new/-x", "new\n");
    fs::remove_file(folder.join("b")).unwrap();
    git(folder, &["add", "a"]);
    let commit = world.commit_all(&worktree, "Subject\n\n# body\n");
    assert_eq!(git(folder, &["rev-parse", "natter/a"]), commit);
    assert_eq!(git(folder, &["status", "--porcelain"]), "");
    assert_eq!(
        git(folder, &["log", "-1", "--format=%an <%ae> %cn%n%B"]),
        "Ann <ann@example.org> Ann\nSubject\n\n# body"
    );
    assert_eq!(git(folder, &["show", "--name-status", "--format="]), "M\ta\nD\tb\nA\tnew/-x");
    assert_eq!(world.parent_state(), before);
    assert_eq!(world.status(&worktree).ahead, 1);
    assert_eq!(world.git(&["fsck"]), "");
    // Commits that the agent's own git makes go on from there.
    write(folder, "a", "again\n");
    git(folder, &["commit", "-q", "-a", "-m", "by hand"]);
    write(folder, "a", "once more\n");
    world.commit_all(&worktree, "once more");
    assert_eq!(world.status(&worktree).ahead, 3);
    assert_eq!(read(folder, "a"), "once more\n");
}

#[test]
fn a_repository_with_long_names_works_too() {
    let world = World::empty();
    fs::remove_dir_all(world.path(".git")).unwrap();
    world.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    world.git(&["config", "user.name", "Ann"]);
    world.git(&["config", "user.email", "ann@example.org"]);
    world.write("a", "a\n");
    world.commit("first");
    let worktree = world.create("x");
    assert_eq!(worktree.base().len(), 64);
    write(worktree.folder(), "a", "b\n");
    world.commit_all(&worktree, "work");
    world.merge(&worktree).unwrap();
    assert_eq!(read(&world.project(), "a"), "b\n");
    let snapshot = world.remove(&worktree).snapshot;
    let restored = world.worktrees.restore(&snapshot.id, &world.project(), &NEVER).unwrap();
    assert_eq!(read(restored.worktree.folder(), "a"), "b\n");
}

/// Git compares times by the second, and reads files again that are as young as the index. A copy of
/// an index that was written later would hide such a change.
#[test]
fn a_change_in_the_second_of_a_commit_is_seen_later() {
    let world = World::new();
    let worktree = world.create("a");
    let file = worktree.folder().join("a");
    let second = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let set = |path: &Path| {
        File::options().write(true).open(path).unwrap().set_modified(second).unwrap();
    };
    fs::write(&file, "one\n").unwrap();
    set(&file);
    world.worktrees.commit(&worktree, "one", &fallback(), &NEVER).unwrap();
    let (mut stored, own) = (worktree.folder().to_owned(), world.own(&worktree));
    stored.as_mut_os_string().push(".index");
    set(&stored);
    set(&own.join("index"));
    fs::write(&file, "two\n").unwrap();
    set(&file);

    assert_eq!(world.status(&worktree).changed, 1);
    world.worktrees.commit(&worktree, "two", &fallback(), &NEVER).unwrap();
    assert_eq!(git(worktree.folder(), &["show", "HEAD:a"]), "two");
}
