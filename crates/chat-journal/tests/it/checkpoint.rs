//! Tests checkpoints and scans: which files are read, and which changes are found.

use std::path::Path;

use chat_journal::{Change, ChangeSource, Error, Journal, LeftOutReason, Limits, Refusal};
use chat_permission::path::{PathEnvironment, Project};

use crate::world::{SESSION, World, origin};

#[test]
fn a_request_has_one_checkpoint() {
    let world = World::new();
    world.write("a", "a");
    let first = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "a", Some("b"));
    assert_eq!(world.journal.checkpoint(SESSION, "1").unwrap().seq, first.seq);
    let second = world.again().checkpoint(SESSION, "2").unwrap();
    let seqs = |session| -> Vec<_> {
        let all = world.journal.checkpoints(session).unwrap();
        all.into_iter().map(|checkpoint| (checkpoint.seq, checkpoint.message)).collect()
    };
    assert_eq!(seqs(SESSION), [(first.seq, "1".to_owned()), (second.seq, "2".to_owned())]);
    assert!(seqs("other").is_empty());
}

/// What git has of a checkpoint, as `mode path`.
fn tree(world: &World, seq: u64) -> Vec<String> {
    let log = std::fs::read_to_string(world.own("log")).unwrap();
    let line = log.lines().find(|line| line.contains(&format!("\"seq\":{seq},"))).unwrap();
    let tree = line.split("\"tree\":\"").nth(1).unwrap().split('"').next().unwrap();
    let git = std::process::Command::new("git")
        .arg("--git-dir")
        .arg(world.own("git"))
        .args(["ls-tree", "-r", tree])
        .output()
        .unwrap();
    assert!(git.status.success());
    let told = String::from_utf8(git.stdout).unwrap();
    told.lines()
        .map(|line| format!("{} {}", &line[..6], line.split('\t').nth(1).unwrap()))
        .collect()
}

#[test]
fn a_checkpoint_holds_the_tree_as_it_is() {
    let world = World::new();
    world.write("a/b", "b");
    world.write("a/c", "c");
    world.write("nested/.git/config", "x");
    world.write("nested/file", "x");
    world.write(".gitignore", "target\n");
    world.write("target/big", "x");
    let first = world.journal.checkpoint(SESSION, "1").unwrap();
    let all = ["100644 .gitignore", "100644 a/b", "100644 a/c", "100644 nested/file"];
    assert_eq!(tree(&world, first.seq), all);
    // A folder where a file was, and the other way round.
    world.remove("a/b");
    world.write("a/b/deep", "b");
    world.remove("a/c");
    world.remove("nested/file");
    world.make_executable("a/b/deep", 0o700);
    let second = world.again().checkpoint(SESSION, "2").unwrap();
    assert_eq!(tree(&world, second.seq), ["100644 .gitignore", "100755 a/b/deep"]);
    // In a journal whose memory is of the first one.
    let third = world.journal.checkpoint(SESSION, "3").unwrap();
    assert_eq!(tree(&world, third.seq), tree(&world, second.seq));
    for path in [".gitignore", "a/b/deep", "target/big"] {
        world.remove(path);
    }
    let none = world.journal.checkpoint(SESSION, "4").unwrap();
    assert!(tree(&world, none.seq).is_empty());
}

#[test]
fn a_command_is_found_out() {
    let world = World::new();
    for path in ["same", "changed", "gone", "old"] {
        world.write(path, format!("contents of {path}"));
    }
    let recorded = world.command(SESSION, |world| {
        // Of the same length and within the same tick.
        world.write("changed", "CONTENTS of changed");
        world.remove("gone");
        world.write("new", "new");
        std::fs::rename(world.path("old"), world.path("renamed")).unwrap();
    });
    assert_eq!(recorded, ["changed", "gone", "new", "renamed"]);
    assert!(world.command(SESSION, |_| ()).is_empty());
}

#[test]
fn what_took_a_files_place_hinders_nothing() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("a"), "of another").unwrap();
    for path in ["pipe", "other", "folder/a"] {
        world.write(path, format!("contents of {path}"));
    }
    let before = world.everything();
    let recorded = world.command(SESSION, |world| {
        for path in ["pipe", "folder/a"] {
            world.remove(path);
        }
        std::fs::remove_dir(world.path("folder")).unwrap();
        std::os::unix::fs::symlink(outside.path(), world.path("folder")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(world.path("pipe")).status().unwrap();
        assert!(made.success());
        world.write("other", "changed");
    });
    assert_eq!(recorded, ["folder", "folder/a", "other", "pipe"]);
    let answer = world.journal.reject_all(&[SESSION]).unwrap();
    // What is no file is nobody's to remove.
    assert_eq!(answer.conflicts.len(), 1);
    world.remove("pipe");
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(world.everything(), before);
    assert_eq!(std::fs::read(outside.path().join("a")).unwrap(), b"of another");
}

#[test]
fn names_that_other_systems_would_not_take_are_kept() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let names: [&[u8]; 6] =
        [b"git~1", b"a\\b", ".g\u{200c}it".as_bytes(), b"con", b"\xff\xfe", b" \n\"x"];
    for name in names {
        let path = world.folder.path().join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir_all(&path).unwrap();
        std::fs::write(path.join("file"), name).unwrap();
    }
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    assert_eq!(checkpoint.left_out, []);
    let before = world.everything();
    assert_eq!(before.len(), names.len());
    world.command(SESSION, |world| {
        for (path, _) in &before {
            std::fs::remove_file(world.folder.path().join(path)).unwrap();
        }
    });
    assert_eq!(world.changes().len(), names.len());
    world.again().restore(&[SESSION], checkpoint.seq).unwrap();
    assert_eq!(world.everything(), before);
}

#[test]
fn what_a_tool_did_while_a_command_ran_is_the_tools() {
    let world = World::new();
    world.write("a", "a");
    let scan = world.journal.scan().unwrap();
    world.edit(SESSION, "a", Some("b"));
    world.edit(SESSION, "made", Some("made"));
    world.write("of the command", "x");
    let (first, scan) = world.journal.record_since(&scan, &origin("background")).unwrap();
    assert_eq!(first.len(), 1);
    world.write("a", "c");
    world.remove("made");
    let (second, _) = world.journal.record_since(&scan, &origin("background")).unwrap();
    assert_eq!(second.iter().map(|change| change.deleted).collect::<Vec<_>>(), [false, true]);
}

#[test]
fn two_commands_at_once_do_not_both_have_done_it() {
    let world = World::new();
    let (one, other) = (world.journal.scan().unwrap(), world.journal.scan().unwrap());
    world.write("a", "a");
    assert_eq!(world.journal.record_since(&one, &origin("one")).unwrap().0.len(), 1);
    assert_eq!(world.journal.record_since(&other, &origin("other")).unwrap().0.len(), 0);
}

#[test]
fn what_is_ignored_by_now_is_not_gone() {
    let world = World::new();
    world.write("log", "log");
    let recorded = world.command(SESSION, |world| world.write(".gitignore", "log\n"));
    assert_eq!(recorded, [".gitignore"]);
    // A tool may write it all the same.
    world.edit(SESSION, "log", Some("more"));
    assert!(world.command(SESSION, |_| ()).is_empty());
    assert_eq!(world.changes().len(), 2);
}

/// Else a command could have a file ignored, change it, and have it ignored no longer.
#[test]
fn a_file_that_a_command_has_ignored_is_looked_after_all_the_same() {
    let cache = "Signature: 8a477f597d28d172789f06886806bc55\n";
    for (name, text) in [(".ignore", "*\n"), (".gitignore", "main.rs\n"), ("CACHEDIR.TAG", cache)] {
        let world = World::new();
        for path in ["src/main.rs", "src/gone.rs", "src/kept.rs", "src/at once.rs"] {
            world.write(path, path);
        }
        let ignoring = format!("src/{name}");
        let recorded = world.command(SESSION, |world| {
            world.write(&ignoring, text);
            world.write("src/at once.rs", "changed");
        });
        assert!(recorded.contains(&"src/at once.rs".to_owned()), "{name}: {recorded:?}");
        let recorded = world.command(SESSION, |world| {
            world.write("src/main.rs", "changed");
            world.remove("src/gone.rs");
        });
        assert_eq!(recorded, ["src/gone.rs", "src/main.rs"], "{name}");
        assert!(world.command(SESSION, |_| ()).is_empty(), "{name}");
        let recorded = world.command(SESSION, |world| world.remove(&ignoring));
        assert!(recorded.iter().all(|path| *path == ignoring), "{name}: {recorded:?}");
        let changed: Vec<_> = world.changes().into_iter().map(|change| change.path).collect();
        for path in ["src/main.rs", "src/gone.rs", "src/at once.rs"] {
            assert!(changed.iter().any(|it| it.to_str() == Some(path)), "{name}: {changed:?}");
        }
    }
}

#[test]
fn what_is_too_large_is_told_and_neither_new_nor_gone() {
    let limits = Limits { file_size: 10, project_size: 25, ..crate::world::all() };
    let world = World::with(limits);
    world.write("large", "more than ten bytes");
    world.write("a", "123456789");
    world.write("b", "123456789");
    world.write("c", "123456789");
    let told = world.journal.checkpoint(SESSION, "1").unwrap().left_out;
    let told: Vec<_> = told.into_iter().map(|out| (out.path, out.why)).collect();
    assert_eq!(
        told,
        [("c".into(), LeftOutReason::NoRoom), ("large".into(), LeftOutReason::TooLarge)]
    );
    let recorded = world.command(SESSION, |world| {
        world.write("large", "small");
        world.write("a", "by now more than ten bytes");
    });
    assert!(recorded.is_empty(), "{recorded:?}");
    assert_eq!(world.command(SESSION, |world| world.write("large", "x")), ["large"]);
}

#[test]
fn some_folders_get_no_journal() {
    let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let home = folder.path().join("home");
    std::fs::create_dir_all(home.join("project/state")).unwrap();
    let open = |path: &Path, state: &Path| {
        let project = Project::open(path, &PathEnvironment::default()).unwrap();
        match Journal::open(&project, Some(&home), state, Limits::default()) {
            Ok(_) => None,
            Err(Error::Refused(why)) => Some(why),
            Err(other) => panic!("{other}"),
        }
    };
    assert_eq!(open(&home, state.path()), Some(Refusal::Home));
    assert_eq!(open(folder.path(), state.path()), Some(Refusal::Home));
    assert_eq!(open(Path::new("/"), state.path()), Some(Refusal::Root));
    let project = home.join("project");
    assert_eq!(open(&project, &project.join("state")), Some(Refusal::OwnState));
    assert_eq!(open(&project.join("state"), &project), Some(Refusal::OwnState));
    assert_eq!(open(&project, state.path()), None);
}

#[test]
fn the_persons_git_has_no_say() {
    let world = World::new();
    world.write(".gitattributes", "* text eol=crlf filter=evil\n");
    world.write("a", "a\nb\n");
    let made = world.path("made by a hook");
    world.write(".git/config", format!("[filter \"evil\"]\nclean = touch '{}'\n", made.display()));
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    assert_eq!(tree(&world, checkpoint.seq), ["100644 .gitattributes", "100644 a"]);
    world.edit(SESSION, "a", Some("x\n"));
    world.again().restore(&[SESSION], checkpoint.seq).unwrap();
    assert_eq!(world.read("a").unwrap(), "a\nb\n");
    assert!(!made.exists());
}

#[test]
fn contents_come_back_from_git_and_not_from_memory() {
    let world = World::new();
    let bytes = b"\0\xff\r\nno end".as_slice();
    world.write("a", bytes);
    let before = world.journal.read(Path::new("a")).unwrap();
    world.remove("a");
    let change = Change { path: "a".into(), from: None, before, after: None };
    world.journal.record(&origin(SESSION), ChangeSource::Tool, &[change]).unwrap();
    let changes = world.again().changes(&[SESSION]).unwrap();
    assert_eq!(&*changes[0].before.as_ref().unwrap().bytes, bytes);
}
