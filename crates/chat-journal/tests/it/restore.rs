//! Tests restoring a checkpoint, and undoing that.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use chat_journal::{ConflictReason, Error};

use crate::world::{SESSION, World, lines};

/// A project with a bit of everything.
fn varied(world: &World) {
    world.write("src/a", lines("abcdefgh"));
    world.write("crlf", "a\r\nb\r\nno end");
    world.write("empty", "");
    world.write("program", "#!/bin/sh\n");
    world.make_executable("program", 0o755);
    world.write("binary", b"\0\xff\n\0");
    world.write("large", vec![b'x'; 3 << 20]);
    std::os::unix::fs::symlink("../nowhere", world.path("link")).unwrap();
    std::fs::write(world.folder.path().join(OsStr::from_bytes(b"n\xff\n\"~")), b"\xfe").unwrap();
}

/// A command that spares nothing.
fn havoc(world: &World) {
    for path in ["crlf", "empty", "link"] {
        world.remove(path);
    }
    world.write("src/a", lines("aXcdefgh"));
    world.write("empty/now/a/folder", "");
    world.make_executable("program", 0o644);
    world.write("binary", "text");
    world.write("large", "small");
    std::os::unix::fs::symlink("src", world.path("crlf")).unwrap();
    world.write("link", "a file");
    let name = world.folder.path().join(OsStr::from_bytes(b"n\xff\n\"~"));
    std::fs::rename(name, world.path("src/renamed")).unwrap();
    world.write("new", "new");
}

#[test]
fn all_comes_back_byte_for_byte_and_the_undoing_too() {
    let world = World::new();
    varied(&world);
    let start = world.everything();
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    let recorded = world.command(SESSION, havoc);
    assert_eq!(recorded.len(), 10, "{recorded:?}");
    world.edit(SESSION, "program", Some("#!/bin/bash\n"));
    world.rename(SESSION, "src/a", "moved");
    let end = world.everything();
    let open = world.changes();

    let restored = world.journal.restore(&[SESSION], checkpoint.seq).unwrap();
    assert_eq!(restored.conflicts, []);
    assert_eq!(world.everything(), start);
    assert_eq!(world.changes(), []);

    let undone = world.again().undo_restore(SESSION, restored.seq).unwrap();
    assert_eq!(undone.conflicts, []);
    assert_eq!(world.everything(), end);
    let names = |changes: &[chat_journal::FileChange]| -> Vec<_> {
        changes.iter().map(|change| (change.path.clone(), change.kind.clone())).collect()
    };
    assert_eq!(names(&world.changes()), names(&open));

    // And that can be taken back as well.
    world.journal.undo_restore(SESSION, undone.seq).unwrap();
    assert_eq!(world.everything(), start);
}

#[test]
fn the_persons_changes_stay() {
    let world = World::new();
    for path in ["merged", "contested"] {
        world.write(path, lines("abcdefgh"));
    }
    world.write("mine", "mine");
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "merged", Some(&lines("aXcdefgh")));
    world.edit(SESSION, "contested", Some(&lines("aXcdefgh")));
    world.write("merged", lines("aXcdefgP"));
    world.write("contested", lines("aPcdefgh"));
    world.write("mine", "mine, and more");
    world.write("of the person", "x");
    world.edit("another", "merged", Some(&lines("aXcdYfgP")));
    let restored = world.journal.restore(&[SESSION], checkpoint.seq).unwrap();
    // What another chat changed there stays, too.
    assert_eq!(world.read("merged").unwrap(), lines("abcdYfgP"));
    assert_eq!(world.read("contested").unwrap(), lines("aPcdefgh"));
    assert_eq!(world.read("mine").unwrap(), "mine, and more");
    assert_eq!(world.read("of the person").unwrap(), "x");
    assert_eq!(restored.conflicts.len(), 1);
    assert_eq!(restored.conflicts[0].path, Path::new("contested"));
    assert_eq!(restored.conflicts[0].reason, ConflictReason::Changed);
    // What comes after a restore survives its undoing.
    world.write("merged", lines("abcdYfgPQ"));
    world.journal.undo_restore(SESSION, restored.seq).unwrap();
    assert_eq!(world.read("merged").unwrap(), lines("aXcdYfgPQ"));
}

#[test]
fn what_was_open_is_open_again_when_a_restore_is_undone() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    let first = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "a", Some(&lines("aXcdefgh")));
    let second = world.journal.checkpoint(SESSION, "2").unwrap();
    world.edit(SESSION, "a", Some(&lines("aXcdefYh")));
    world.journal.restore(&[SESSION], second.seq).unwrap();
    assert_eq!(world.change().hunks.len(), 1);
    let restored = world.journal.restore(&[SESSION], first.seq).unwrap();
    assert_eq!(world.changes(), []);
    world.journal.undo_restore(SESSION, restored.seq).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aXcdefgh"));
    assert_eq!(world.change().hunks.len(), 1);
    // What was accepted is not reviewed when it goes.
    world.journal.accept_all(&[SESSION]).unwrap();
    world.journal.restore(&[SESSION], first.seq).unwrap();
    assert_eq!((world.read("a").unwrap(), world.changes().len()), (lines("abcdefgh"), 0));
}

#[test]
fn nothing_is_written_through_a_link() {
    let world = World::new();
    let outside = tempfile::tempdir().unwrap();
    world.write("sub/a", "a");
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "sub/a", Some("b"));
    std::fs::rename(world.path("sub"), world.path("elsewhere")).unwrap();
    std::fs::write(outside.path().join("a"), "b").unwrap();
    std::os::unix::fs::symlink(outside.path(), world.path("sub")).unwrap();
    let restored = world.journal.restore(&[SESSION], checkpoint.seq).unwrap();
    assert_eq!((restored.conflicts.len(), restored.changed.len()), (1, 0));
    assert_eq!(std::fs::read(outside.path().join("a")).unwrap(), b"b");
}

#[test]
fn what_is_no_checkpoint_is_none() {
    let world = World::new();
    world.edit(SESSION, "a", Some("b"));
    assert!(matches!(world.journal.restore(&[SESSION], 1), Err(Error::NoCheckpoint(1))));
    assert!(matches!(world.journal.undo_restore(SESSION, 1), Err(Error::NoRestore(1))));
    assert!(matches!(world.journal.restore(&[SESSION], 9), Err(Error::NoCheckpoint(9))));
}

#[test]
fn only_what_the_given_sessions_did_is_taken_back() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    world.edit("agent", "a", Some(&lines("aBcdEfgh")));
    world.edit("another", "a", Some(&lines("aBcdEfgH")));
    world.edit("another", "new", Some("n"));
    let restored = world.journal.restore(&[SESSION, "agent"], checkpoint.seq).unwrap();
    assert_eq!(restored.conflicts, []);
    assert_eq!(world.read("a").unwrap(), lines("abcdefgH"));
    assert_eq!(world.read("new").unwrap(), "n");
    world.journal.undo_restore(SESSION, restored.seq).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aBcdEfgH"));
    let nobody: [&str; 0] = [];
    assert!(matches!(world.journal.restore(&nobody, checkpoint.seq), Err(Error::NoCheckpoint(_))));
}

#[test]
fn what_was_taken_back_of_an_agent_is_never_to_be_reviewed_again() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit("agent", "a", Some(&lines("aBcdefgh")));
    world.journal.restore(&[SESSION, "agent"], checkpoint.seq).unwrap();
    let all = [SESSION, "agent", "another"];
    assert_eq!(world.journal.changes(&all).unwrap(), []);
    // The user's line is theirs, whoever changed it before.
    world.write("a", lines("aPcdefgh"));
    assert_eq!(world.journal.changes(&all).unwrap(), []);
    assert_eq!(world.again().changes(&all).unwrap(), []);
    world.journal.reject_all(&all).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aPcdefgh"));
    // So is that of another agent which does the same.
    world.edit("another", "a", Some(&lines("aBcdefgh")));
    let listed = world.journal.changes(&all).unwrap();
    assert_eq!((listed.len(), listed[0].session.as_str()), (1, "another"));
}

#[test]
fn the_users_line_below_several_changes_is_theirs_after_a_restore() {
    let world = World::new();
    world.write("a", lines("aPcdefgh"));
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    world.edit("agent", "a", Some(&lines("aXcdefgh")));
    let all = [SESSION, "agent"];
    world.journal.restore(&all, checkpoint.seq).unwrap();
    assert_eq!(world.journal.changes(&all).unwrap(), []);
    world.journal.reject_all(&all).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aPcdefgh"));
}

#[test]
fn what_the_user_took_back_by_hand_is_over_with_a_restore() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit("agent", "a", Some(&lines("aBcdefgh")));
    world.write("a", lines("abcdefgh"));
    let restored = world.journal.restore(&[SESSION, "agent"], checkpoint.seq).unwrap();
    assert_eq!((restored.changed, restored.conflicts), (Vec::new(), Vec::new()));
    world.write("a", lines("aPcdefgh"));
    assert_eq!(world.journal.changes(&[SESSION, "agent"]).unwrap(), []);
    assert_eq!(world.rejections(SESSION, 0).0, []);
}

#[test]
fn when_a_restore_is_undone_each_session_has_its_own_changes_again() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.edit(SESSION, "a", Some(&lines("Abcdefgh")));
    let checkpoint = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "a", Some(&lines("AbCdefgh")));
    world.edit("agent", "a", Some(&lines("AbCdefGh")));
    let hunks = |journal: &chat_journal::Journal| {
        let of = |session| {
            let changes = journal.changes(&[session]).unwrap();
            changes.iter().map(|change| change.hunks.len()).sum::<usize>()
        };
        (of(SESSION), of("agent"))
    };
    let restored = world.journal.restore(&[SESSION, "agent"], checkpoint.seq).unwrap();
    assert_eq!((world.read("a").unwrap(), hunks(&world.journal)), (lines("Abcdefgh"), (1, 0)));
    world.journal.undo_restore(SESSION, restored.seq).unwrap();
    assert_eq!((world.read("a").unwrap(), hunks(&world.journal)), (lines("AbCdefGh"), (2, 1)));
    assert_eq!(hunks(&world.again()), (2, 1));
}
