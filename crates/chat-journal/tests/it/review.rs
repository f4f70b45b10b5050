//! Tests the list of open changes, accepting and rejecting.

use std::path::Path;

use chat_journal::{ChangeSource, ConflictReason, FileChange, FileKind, Mode, ReviewScope};

use crate::world::{SESSION, World, lines, origin};

#[test]
fn hunks_are_accepted_and_rejected_one_by_one_and_keep_their_names() {
    let world = World::new();
    world.write("a", lines("abcdefghijklm"));
    world.edit(SESSION, "a", Some(&lines("aBcdefGhijkLm")));
    let change = world.change();
    assert_eq!((change.added, change.removed, change.kind), (3, 3, FileKind::Modified));
    let ids: Vec<_> = change.hunks.iter().map(|hunk| hunk.id).collect();
    assert_eq!(change.hunks[1].line, 6);

    world.journal.accept(&[SESSION], Path::new("a"), &ReviewScope::Hunks(vec![ids[0]])).unwrap();
    let left: Vec<_> = world.change().hunks.iter().map(|hunk| hunk.id).collect();
    assert_eq!(left, ids[1..]);

    // Another edit meanwhile.
    world.edit(SESSION, "a", Some(&lines("xaBcdefGhijkLm")));
    let hunks = world.change().hunks;
    assert_eq!(hunks[1..].iter().map(|hunk| hunk.id).collect::<Vec<_>>(), ids[1..]);
    assert!(!ids.contains(&hunks[0].id));

    let answer = world
        .journal
        .reject(&[SESSION], Path::new("a"), &ReviewScope::Hunks(vec![ids[1]]))
        .unwrap();
    assert_eq!(answer.done, [Path::new("a")]);
    assert_eq!(world.read("a").unwrap(), lines("xaBcdefghijkLm"));
    let again = world
        .journal
        .reject(&[SESSION], Path::new("a"), &ReviewScope::Hunks(vec![ids[1]]))
        .unwrap();
    assert_eq!((again.gone, again.done.len()), (vec![ids[1]], 0));

    world.journal.accept_all(&[SESSION]).unwrap();
    assert!(world.changes().is_empty() && world.again().changes(&[SESSION]).unwrap().is_empty());
    assert_eq!(world.read("a").unwrap(), lines("xaBcdefghijkLm"));
}

#[test]
fn of_two_hunks_with_the_same_text_the_right_one_goes() {
    let world = World::new();
    world.write("a", lines("abcabcabc"));
    world.edit(SESSION, "a", Some(&lines("aXcaXcaXc")));
    let ids: Vec<_> = world.change().hunks.iter().map(|hunk| hunk.id).collect();
    world.journal.reject(&[SESSION], Path::new("a"), &ReviewScope::Hunks(vec![ids[0]])).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("abcaXcaXc"));
    let left: Vec<_> = world.change().hunks.iter().map(|hunk| hunk.id).collect();
    assert_eq!(left, ids[1..]);
    let hunks = world.again().changes(&[SESSION]).unwrap().remove(0).hunks;
    assert_eq!(hunks.iter().map(|hunk| hunk.id).collect::<Vec<_>>(), left);
}

#[test]
fn a_persons_edits_are_not_the_sessions_and_survive_a_rejection() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    world.write("a", lines("aBcdefPgh"));
    let change = world.change();
    assert!(change.changed_since && !change.hunks[0].touched);
    // The session goes on with what the person left.
    world.edit(SESSION, "a", Some(&lines("aBcdefPgH")));
    assert_eq!(world.change().hunks.len(), 2);
    world.write("a", lines("QaBcdefPgH"));
    assert_eq!(world.change().hunks.iter().map(|hunk| hunk.line).collect::<Vec<_>>(), [2, 9]);
    world.journal.reject(&[SESSION], Path::new("a"), &ReviewScope::File).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("QabcdefPgh"));
    assert!(world.changes().is_empty());
}

#[test]
fn where_the_person_rewrote_the_same_lines_nothing_is_changed() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.edit(SESSION, "a", Some(&lines("aBcdefGh")));
    world.write("a", lines("aPcdefGh"));
    let hunks = world.change().hunks;
    assert!(hunks[0].touched && !hunks[1].touched);
    let answer = world.journal.reject(&[SESSION], Path::new("a"), &ReviewScope::File).unwrap();
    assert_eq!(answer.conflicts[0].reason, ConflictReason::Changed);
    assert_eq!(answer.conflicts[0].hunks, [hunks[0].id]);
    assert_eq!(world.read("a").unwrap(), lines("aPcdefGh"));
    world
        .journal
        .reject(&[SESSION], Path::new("a"), &ReviewScope::Hunks(vec![hunks[1].id]))
        .unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aPcdefgh"));
    // What the person brought back is open no longer.
    world.edit(SESSION, "b", Some("b"));
    world.edit(SESSION, "c", Some("c"));
    world.remove("b");
    let paths: Vec<_> = world.changes().into_iter().map(|change| change.path).collect();
    assert_eq!(paths, [Path::new("c")]);
}

#[test]
fn a_file_that_the_session_made_goes_only_while_it_is_the_sessions() {
    let world = World::new();
    for (path, text) in [("new", "one\n"), ("mine", "one\n"), ("empty", "")] {
        world.edit(SESSION, path, Some(text));
    }
    world.write("mine", "one\nof the person\n");
    assert!(world.changes().iter().all(|change| change.kind == FileKind::Created));
    let answer = world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(answer.done.len(), 2);
    assert_eq!((answer.conflicts.len(), world.read("mine").unwrap().len()), (1, 18));
    assert!(world.read("new").is_none() && world.read("empty").is_none());
    // The session's next edit does not make it the session's again.
    world.edit(SESSION, "mine", Some("two\nof the person\n"));
    let answer = world.journal.reject(&[SESSION], Path::new("mine"), &ReviewScope::File).unwrap();
    assert_eq!(answer.conflicts.len(), 1);
    world.journal.accept(&[SESSION], Path::new("mine"), &ReviewScope::File).unwrap();
    assert!(world.changes().is_empty());
}

#[test]
fn a_file_that_the_session_deleted_comes_back() {
    let world = World::new();
    world.write("sub/a", "text\r\nno end");
    world.make_executable("sub/a", 0o755);
    world.edit(SESSION, "sub/a", None);
    std::fs::remove_dir(world.path("sub")).unwrap();
    assert_eq!(world.change().kind, FileKind::Deleted);
    assert_eq!(world.change().removed, 2);
    world.journal.reject(&[SESSION], Path::new("sub/a"), &world.hunk(0)).unwrap();
    let node = world.journal.read(Path::new("sub/a")).unwrap().unwrap();
    assert_eq!((&*node.bytes, node.mode), (&b"text\r\nno end"[..], Mode::Executable));
}

#[test]
fn a_moved_file_is_one_change() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    world.rename(SESSION, "a", "sub/b");
    world.edit(SESSION, "sub/b", Some(&lines("aBcdefgH")));
    let change = world.change();
    assert_eq!(change.kind, FileKind::Moved { from: "a".into() });
    assert_eq!(change.hunks.len(), 2);
    world.journal.reject(&[SESSION], Path::new("sub/b"), &world.hunk(0)).unwrap();
    assert_eq!(world.read("sub/b").unwrap(), lines("abcdefgH"));
    // Nothing is written over what came to lie there.
    world.write("a", "other");
    let answer = world.journal.reject(&[SESSION], Path::new("sub/b"), &ReviewScope::File).unwrap();
    assert_eq!(answer.conflicts[0].reason, ConflictReason::Occupied);
    world.remove("a");
    world.write("sub/b", lines("PabcdefgH"));
    world.journal.reject(&[SESSION], Path::new("sub/b"), &ReviewScope::File).unwrap();
    assert_eq!((world.read("a"), world.read("sub/b")), (Some(lines("Pabcdefgh")), None));
    assert!(world.changes().is_empty());
}

#[test]
fn what_is_no_text_is_answered_as_a_whole() {
    let world = World::new();
    world.write("a", b"\0one\n");
    world.edit(SESSION, "a", Some("\0two\n"));
    let change = world.change();
    assert!(change.binary && change.hunks.is_empty());
    world.write("a", b"\0three\n");
    let answer = world.journal.reject(&[SESSION], Path::new("a"), &ReviewScope::File).unwrap();
    assert_eq!(answer.conflicts.len(), 1);
    world.write("a", b"\0two\n");
    world.journal.reject(&[SESSION], Path::new("a"), &ReviewScope::File).unwrap();
    assert_eq!(world.read("a").unwrap(), "\0one\n");
    // Permissions alone are a change, too.
    world.command(SESSION, |world| world.make_executable("a", 0o755));
    assert_eq!(world.change().modes(), Some((Mode::File, Mode::Executable)));
    world.journal.reject(&[SESSION], Path::new("a"), &ReviewScope::File).unwrap();
    assert_eq!(world.journal.read(Path::new("a")).unwrap().unwrap().mode, Mode::File);
}

#[test]
fn two_sessions_do_not_review_each_others_work() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    world.edit("other", "a", Some(&lines("aBcdefGh")));
    world.edit(SESSION, "a", Some(&lines("aBcDefGh")));
    assert_eq!(world.change().hunks.len(), 2);
    assert_eq!(world.journal.changes(&["other"]).unwrap()[0].hunks.len(), 1);
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("abcdefGh"));
    world.journal.reject_all(&["other"]).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("abcdefgh"));
}

#[test]
fn several_sessions_are_reviewed_at_once_and_each_is_answered() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    world.edit("other", "a", Some(&lines("aXcdefGh")));
    world.edit("other", "new", Some("n\n"));
    let both = [SESSION, "other"];
    let listed = || {
        let changes = world.journal.changes(&both).unwrap();
        let line =
            |change: &FileChange| (change.path.display().to_string(), change.session.clone());
        changes.iter().map(line).collect::<Vec<_>>()
    };
    let line = |path: &str, session: &str| (path.to_owned(), session.to_owned());
    let all = [line("a", SESSION), line("a", "other"), line("new", "other")];
    assert_eq!(listed(), all);
    // What one of them wrote over the other’s lines goes first.
    let answer = world.journal.reject_all(&both).unwrap();
    assert_eq!((&answer.conflicts[..], &answer.gone[..]), (&[][..], &[][..]));
    assert_eq!((world.read("a"), world.read("new")), (Some(lines("abcdefgh")), None));
    assert_eq!(listed(), []);
    world.journal.undo(&both, answer.undo.unwrap()).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aXcdefGh"));
    assert_eq!(listed(), all);
    // A hunk belongs to one of them, and so does a file that is answered for one.
    let of_other = world.journal.changes(&["other"]).unwrap()[0].hunks[1].id;
    let part = ReviewScope::Hunks(vec![of_other]);
    world.journal.reject(&both, Path::new("a"), &part).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aXcdefgh"));
    assert_eq!(world.journal.reject(&both, Path::new("a"), &part).unwrap().gone, [of_other]);
    let part = ReviewScope::By("other".to_owned());
    world.journal.accept(&both, Path::new("a"), &part).unwrap();
    assert_eq!(listed(), [line("a", SESSION), line("new", "other")]);
}

#[test]
fn what_was_rejected_before_an_error_can_be_undone() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.write("b", lines("abcdefgh"));
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    world.edit("other", "b", Some(&lines("aXcdefgh")));
    // The journal does not know this content yet, and cannot store it.
    world.write("a", lines("aBcdefgH"));
    let (git, away) = (world.own("git"), world.own("away"));
    std::fs::rename(&git, &away).unwrap();
    let both = [SESSION, "other"];
    let answer = world.journal.reject_all(&both).unwrap();
    std::fs::rename(&away, &git).unwrap();
    assert_eq!(answer.done, [Path::new("b")]);
    let left: Vec<_> =
        answer.conflicts.iter().map(|one| (one.path.as_path(), &one.reason)).collect();
    assert!(
        matches!(left[..], [(path, ConflictReason::Refused(_))] if path == Path::new("a")),
        "{left:?}"
    );
    let read = |path| world.read(path).unwrap();
    assert_eq!((read("a"), read("b")), (lines("aBcdefgH"), lines("abcdefgh")));
    world.journal.undo(&both, answer.undo.unwrap()).unwrap();
    assert_eq!((read("a"), read("b")), (lines("aBcdefgH"), lines("aXcdefgh")));
    // Where nothing is done yet, it is an error.
    std::fs::rename(&git, &away).unwrap();
    assert!(world.journal.reject_all(&[SESSION]).is_err());
    std::fs::rename(&away, &git).unwrap();
    world.journal.reject_all(&both).unwrap();
    assert_eq!((read("a"), read("b")), (lines("abcdefgH"), lines("abcdefgh")));
}

/// The files in it are as old as they were: only the folder has another name.
#[test]
fn a_moved_folder_is_the_move_of_its_files_and_taken_back_whole() {
    let world = World::new();
    for path in ["src/a", "src/deep/b"] {
        world.write(path, path);
    }
    world.wait_until_old("src/a");
    let before = world.everything();
    let recorded = world.command(SESSION, |world| {
        std::fs::rename(world.path("src"), world.path("code")).unwrap();
    });
    assert_eq!(recorded, ["code/a", "code/deep/b"]);
    let moved: Vec<_> = world.changes().into_iter().map(|change| change.kind).collect();
    let from = |path: &str| FileKind::Moved { from: path.into() };
    assert_eq!(moved, [from("src/a"), from("src/deep/b")]);
    for change in world.changes() {
        world.journal.reject(&[SESSION], &change.path, &ReviewScope::File).unwrap();
    }
    assert_eq!(world.everything(), before);
}

#[test]
fn a_moved_file_that_another_session_deleted_is_rejected_once() {
    let world = World::new();
    world.write("a", lines("abc"));
    world.rename(SESSION, "a", "b");
    world.edit("other", "b", None);
    let answer = world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(answer.conflicts, []);
    // It is the other session's to bring back: nothing came of this one.
    assert_eq!((world.read("a"), world.read("b")), (None, None));
    assert_eq!(world.changes(), []);
    assert_eq!(world.rejections(SESSION, 0).0, []);
}

#[test]
fn the_model_is_told_what_was_rejected() {
    let world = World::new();
    world.write("a", lines("ab"));
    world.edit(SESSION, "a", Some(&lines("aB")));
    world.edit(SESSION, "new", Some("x"));
    world.journal.reject_all(&[SESSION]).unwrap();
    let (told, until) = world.rejections(SESSION, 0);
    let of = |path: &str| told.iter().find(|told| told.path == Path::new(path)).unwrap();
    assert_eq!(of("a").diff, "@@ -1,2 +1,2 @@\n a\n-b\n+B\n");
    assert_eq!(of("new").diff, "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
    assert_eq!((&of("new").kind, &of("a").kind), (&FileKind::Created, &FileKind::Modified));
    assert!(world.rejections(SESSION, until).0.is_empty());
}

#[test]
fn what_the_person_did_in_the_editor_is_no_commands() {
    let world = World::new();
    world.write("a", "a");
    let scan = world.journal.scan().unwrap();
    world.write("a", "of the person");
    let node = |path| world.journal.read(Path::new(path)).unwrap();
    let change = chat_journal::Change {
        path: "a".into(),
        from: None,
        before: Some(chat_journal::Node::file(*b"a")),
        after: node("a"),
    };
    world.journal.record(&origin(""), ChangeSource::Person, &[change]).unwrap();
    world.write("b", "of the command");
    let (recorded, _) = world.journal.record_since(&scan, &origin(SESSION)).unwrap();
    assert_eq!(recorded.len(), 1);
    assert_eq!(world.change().path, Path::new("b"));
    world.journal.forget(SESSION).unwrap();
    assert!(world.changes().is_empty());
}
