//! Creating worktrees.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chat_permission::path::{PathEnvironment, Project};
use chat_worktree::{CreateOptions, DiffLimits, Error, Head, Listed, Presence, Worktrees};

use crate::world::{NEVER, World, contents, files, git, read, set_traps, trap, write};

fn named(name: &str) -> CreateOptions {
    CreateOptions { name: name.to_owned(), ..CreateOptions::default() }
}

#[test]
fn a_worktree_has_the_files_of_its_base_and_a_branch_of_its_own() {
    let world = World::new();
    let before = world.parent_state();
    let created = world.create_with(&named("Fix the parser"));
    let worktree = created.worktree;
    assert_eq!(worktree.branch(), "natter/fix-the-parser");
    assert_eq!(worktree.target(), Some("main"));
    assert_eq!(worktree.base(), world.git(&["rev-parse", "HEAD"]));
    assert_eq!(world.parent_state(), before);
    let mut of_parent = files(&world.project());
    of_parent.retain(|path, _| !path.starts_with(".git"));
    assert_eq!(contents(worktree.folder()), of_parent);
    // The user's own git takes it for a worktree like any other.
    assert_eq!(
        git(worktree.folder(), &["status", "--porcelain", "--branch"]),
        "## natter/fix-the-parser"
    );
    assert!(world.git(&["worktree", "list"]).contains(worktree.folder().to_str().unwrap()));
    assert_eq!(world.git(&["worktree", "prune", "--verbose", "--dry-run"]), "");
    assert_eq!(world.git(&["fsck"]), "");
    let again = world.create("Fix the parser");
    assert_eq!(again.branch(), "natter/fix-the-parser-2");
    assert_eq!((again.name(), &*again.short_name()), ("Fix the parser", "fix-the-parser"));
}

#[test]
fn a_folder_is_never_used_again() {
    let world = World::new();
    let first = world.create("fixer");
    world.remove(&first);
    let second = world.create("fixer");
    assert_eq!(second.branch(), "natter/fixer");
    assert_ne!(second.folder(), first.folder());
    assert!(world.worktrees.open(first.folder()).is_err());
    // A name in use keeps no branch of another name from having a worktree.
    let third = CreateOptions { branch: Some("fix".to_owned()), ..named("fixer") };
    let third = world.create_with(&third).worktree;
    assert_eq!((third.name(), third.branch()), ("fixer", "fix"));
    assert_ne!(third.folder(), second.folder());
}

#[test]
fn a_worktree_may_be_a_project_and_its_snapshots_may_not() {
    let world = World::new();
    let data = world.beside("share/natter");
    fs::create_dir_all(&data).unwrap();
    let root = Worktrees::default_root(&data);
    assert_eq!(root, world.beside("share/natter-worktrees"));
    let shadow = Worktrees::default_shadow(&data);
    let worktrees = Worktrees::new(root, &shadow);
    let worktree = worktrees.create(&world.project(), &named("x"), &NEVER).unwrap().worktree;
    let environment = PathEnvironment { home: None, own: vec![data] };
    let project = Project::open(worktree.folder(), &environment).unwrap();
    assert!(project.resolve("a").unwrap().is_inside());
    worktrees.snapshot(&worktree, &NEVER).unwrap();
    assert!(Project::open(&shadow, &environment).is_err());
}

#[test]
fn a_project_in_a_subfolder_is_one_there_too() {
    let world = World::new();
    let project = world.path("sub");
    let worktree = world.worktrees.create(&project, &named("x"), &NEVER).unwrap().worktree;
    assert_eq!(worktree.project(), worktree.folder().join("sub"));
    assert_eq!(worktree.parent_project(), project);
    assert_eq!(read(&worktree.project(), "c"), "c\n");
    // A worktree can be made from a worktree.
    let second = world.worktrees.create(&worktree.project(), &named("y"), &NEVER).unwrap().worktree;
    assert_eq!(second.target(), Some("natter/x"));
    assert_eq!(second.repository(), worktree.repository());
}

#[test]
fn uncommitted_changes_are_copied_and_stay() {
    let world = World::new();
    world.write("gone/x", "x");
    world.write("folder-to-file/x", "x");
    symlink("a", world.path("link-to-folder")).unwrap();
    world.commit("second");
    world.write("a", "changed\n");
    world.write("staged", "staged\n");
    world.git(&["add", "staged"]);
    world.write("staged", "staged, then changed\n");
    world.write("new/ä\n", "untracked\n");
    world.write("x.o", "ignored\n");
    world.git(&["rm", "-q", "b"]);
    fs::remove_dir_all(world.path("gone")).unwrap();
    fs::remove_dir_all(world.path("folder-to-file")).unwrap();
    world.write("folder-to-file", "a file\n");
    fs::remove_file(world.path("link-to-folder")).unwrap();
    world.write("link-to-folder/file", "in a folder\n");
    symlink("/etc/passwd", world.path("new/link")).unwrap();
    git(&world.project(), &["init", "-q", "nested"]);
    world.write("nested/file", "");
    fs::set_permissions(world.path("sub/c"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let before = files(&world.project());
    let status = world.git(&["status", "--porcelain"]);

    let created = world.create_with(&CreateOptions { with_changes: true, ..named("x") });
    let folder = created.worktree.folder();
    let mut expected = files(&world.project());
    expected.retain(|path, _| {
        !path.starts_with(".git") && !path.starts_with("nested") && path != Path::new("x.o")
    });
    assert_eq!(contents(folder), expected);
    assert_eq!(created.left_out, [PathBuf::from("nested")]);
    assert_eq!(world.git(&["status", "--porcelain"]), status);
    let mut after = files(&world.project());
    let mut before = before;
    for state in [&mut before, &mut after] {
        state.retain(|path, _| {
            !path.starts_with(".git/objects")
                && !path.starts_with(".git/worktrees")
                && !path.starts_with(".git/refs/heads/natter")
                && path != Path::new(".git/index")
        });
    }
    assert_eq!(after, before);
    assert_eq!(git(folder, &["diff", "--cached", "--name-only"]), "");
}

#[test]
fn the_base_may_be_a_branch_or_a_commit() {
    let world = World::new();
    let first = world.git(&["rev-parse", "HEAD"]);
    world.git(&["branch", "topic/old"]);
    world.write("a", "second\n");
    world.commit("second");
    let with = |base: &str| CreateOptions { base: Some(base.to_owned()), ..named("x") };
    let worktree = world.create_with(&with("topic/old")).worktree;
    assert_eq!((worktree.base(), worktree.target()), (&*first, Some("topic/old")));
    let worktree = world.create_with(&with("HEAD~1")).worktree;
    assert_eq!((worktree.base(), worktree.target()), (&*first, None));
    assert_eq!(read(worktree.folder(), "a"), "one\ntwo\nthree\n");
    world.git(&["checkout", "-q", "--detach"]);
    assert_eq!(world.create("detached").target(), None);
}

#[test]
fn what_cannot_be_made_is_refused_and_leaves_nothing() {
    let world = World::new();
    let create = |project: &Path, options: &CreateOptions| {
        world.worktrees.create(project, options, &NEVER).unwrap_err()
    };
    let branch = |name: &str| CreateOptions { branch: Some(name.to_owned()), ..named("x") };
    let base = |name: &str| CreateOptions { base: Some(name.to_owned()), ..named("x") };
    let plain = world.beside("plain");
    fs::create_dir(&plain).unwrap();
    assert!(matches!(create(&plain, &named("x")), Error::NotARepository(_)));
    git(&plain, &["init", "-q", "--bare", "bare"]);
    assert!(matches!(create(&plain.join("bare"), &named("x")), Error::Bare(_)));
    for wrong in ["nothing", "", "-x", "a..b", "--all", "HEAD:a"] {
        let error = create(&world.project(), &base(wrong));
        assert!(matches!(error, Error::UnknownBase(_)), "{wrong}: {error}");
    }
    for wrong in ["-x", "a..b", "", "a b", "../x", "a.lock", "HEAD"] {
        let error = create(&world.project(), &branch(wrong));
        assert!(matches!(error, Error::InvalidBranch(_)), "{wrong}: {error}");
    }
    for taken in ["main", "main/x"] {
        let error = create(&world.project(), &branch(taken));
        assert!(matches!(&error, Error::BranchExists(name) if name == "main"), "{error}");
    }
    world.git(&["branch", "natter"]);
    let error = create(&world.project(), &named("x"));
    assert!(matches!(&error, Error::BranchExists(name) if name == "natter"), "{error}");
    world.git(&["branch", "-D", "natter"]);
    world.write("a", "second\n");
    world.commit("second");
    let error = create(&world.project(), &CreateOptions { with_changes: true, ..base("HEAD~1") });
    assert!(matches!(error, Error::BaseIsNotHead));
    let error = world.worktrees.create(&world.project(), &named("x"), &AtomicBool::new(true));
    assert!(matches!(error, Err(Error::Cancelled)));
    let inside = Worktrees::new(world.path("worktrees"), world.beside("state"));
    let error = inside.create(&world.project(), &named("x"), &NEVER);
    assert!(matches!(error, Err(Error::Inside(_))));

    assert_eq!(world.worktrees.list().unwrap(), []);
    assert_eq!(world.git(&["branch", "--list", "natter/*"]), "");
    assert!(!world.path(".git/worktrees").exists());

    let empty = World::empty();
    let error = empty.worktrees.create(&empty.project(), &named("x"), &NEVER).unwrap_err();
    assert!(matches!(error, Error::NoCommits), "{error}");
}

#[test]
fn what_fails_half_way_is_undone() {
    let world = World::new();
    // Git does not check out a file with this name.
    let blob = world.git(&["hash-object", "-w", "a"]);
    let input = world.beside("tree");
    fs::write(&input, format!("100644 blob {blob}\t..\n")).unwrap();
    let script = format!("git mktree < {}", input.display());
    let tree = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(world.project())
        .output()
        .unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    let commit = world.git(&["commit-tree", "-m", "evil", tree.trim()]);
    let options = CreateOptions { base: Some(commit), ..named("x") };
    let error = world.worktrees.create(&world.project(), &options, &NEVER).unwrap_err();
    assert!(matches!(error, Error::Git { .. }), "{error}");
    assert_eq!(world.worktrees.list().unwrap(), []);
    assert_eq!(world.git(&["branch", "--list", "natter/*"]), "");
    assert_eq!(world.create("x").branch(), "natter/x");
}

#[test]
fn submodules_are_named_and_empty() {
    let world = World::new();
    let other = World::new();
    let source = other.project();
    world.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        source.to_str().unwrap(),
        "module",
    ]);
    world.commit("with a submodule");
    let created = world.create_with(&CreateOptions { with_changes: true, ..named("x") });
    assert_eq!(created.submodules, [PathBuf::from("module")]);
    let folder = created.worktree.folder().join("module");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    assert!(!world.status(&created.worktree).is_dirty());
    // A repository that is itself a submodule.
    let module = world.path("module");
    let inner = world.worktrees.create(&module, &named("inner"), &NEVER).unwrap().worktree;
    assert_eq!(read(inner.folder(), "b"), "b\n");
    assert_eq!(git(inner.folder(), &["status", "--porcelain"]), "");
}

#[test]
fn nothing_that_the_repository_names_is_run() {
    let world = World::new();
    world.write(".gitattributes", "* filter=trap diff=trap merge=trap\n");
    world.commit("attributes");
    world.git(&["pack-refs", "--all"]);
    let (program, ran) = trap(&world);
    set_traps(&world, &program);
    fs::write(world.path("a"), "uncommitted\n").unwrap();
    fs::write(world.path("new"), "uncommitted\n").unwrap();
    let created = world.create_with(&CreateOptions { with_changes: true, ..named("x") });
    let worktree = created.worktree;
    world.status(&worktree);
    let diff = world.worktrees.diff(&worktree, DiffLimits::default(), &NEVER).unwrap();
    assert_eq!(diff.files.len(), 2);
    world.commit_all(&worktree, "work");
    fs::remove_file(world.path("a")).unwrap();
    fs::remove_file(world.path("new")).unwrap();
    // The user has the old version again, without git, which would run the program.
    fs::write(world.path("a"), "one\ntwo\nthree\n").unwrap();
    let outcome = world.merge(&worktree).unwrap();
    assert!(matches!(outcome, chat_worktree::MergeOutcome::Merged { .. }), "{outcome:?}");
    assert_eq!(read(&world.project(), "new"), "uncommitted\n");
    write(worktree.folder(), "more", "more\n");
    world.worktrees.preview_removal(&worktree, &NEVER).unwrap();
    let removed = world.remove(&worktree);
    world.worktrees.restore(&removed.snapshot.id, &world.project(), &NEVER).unwrap();
    assert!(!ran.exists());
}

#[test]
fn line_endings_are_as_the_repository_says() {
    let world = World::new();
    world.git(&["config", "core.autocrlf", "true"]);
    let worktree = world.create("x");
    assert_eq!(read(worktree.folder(), "b"), "b\r\n");
    assert!(!world.status(&worktree).is_dirty());
    assert_eq!(world.status(&worktree).head, Head::Branch("natter/x".to_owned()));
    // A snapshot has every byte nevertheless.
    write(worktree.folder(), "mixed", "a\r\nb\nc\r\n");
    let before = contents(worktree.folder());
    let snapshot = world.remove(&worktree).snapshot;
    let restored = world.worktrees.restore(&snapshot.id, &world.project(), &NEVER).unwrap();
    assert_eq!(contents(restored.worktree.folder()), before);
    let listed = world.worktrees.list().unwrap();
    let Listed::Worktree { presence, .. } = &listed[0] else { panic!("{listed:?}") };
    assert_eq!(*presence, Presence::Whole);
}
