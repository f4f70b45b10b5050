//! Tests undoing answers: everything is as it was before, and what changed in between stays.

use std::path::Path;

use chat_journal::{ConflictReason, Error, FileKind, Rejection, ReviewOutcome, ReviewScope};

use crate::world::{SESSION, World, lines};

/// Takes an answer back.
fn undo(world: &World, answer: &ReviewOutcome) -> ReviewOutcome {
    world.journal.undo(&[SESSION], answer.undo.unwrap()).unwrap()
}

/// A project in which a session did everything that there is.
fn changed() -> World {
    let world = World::new();
    for (path, text) in [("a", lines("abcdefgh")), ("gone", lines("xyz")), ("old", lines("mno"))] {
        world.write(path, text);
    }
    world.write("run", "#!/bin/sh\n");
    world.edit(SESSION, "a", Some(&lines("aBcdefGh")));
    world.edit(SESSION, "new/file", Some("n"));
    world.edit(SESSION, "gone", None);
    world.rename(SESSION, "old", "moved");
    world.edit(SESSION, "moved", Some(&lines("mNo")));
    world.command(SESSION, |world| world.make_executable("run", 0o755));
    world
}

/// What of the review stays when it comes back: hunks have other names then.
fn seen(world: &World) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let changes = world.journal.changes(&[SESSION]).unwrap();
    let again = world.again().changes(&[SESSION]).unwrap();
    assert_eq!(again, changes, "what is on disk is what is in memory");
    let seen = |change: chat_journal::FileChange| {
        let places: Vec<_> = change.hunks.iter().map(|hunk| (hunk.old, hunk.new)).collect();
        (change.path, change.kind, change.before, change.after, places)
    };
    changes.into_iter().map(seen).collect()
}

#[test]
fn all_that_was_rejected_comes_back_exactly() {
    let world = changed();
    let (files, review) = (world.everything(), seen(&world));
    let answer = world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!((answer.done.len(), answer.conflicts.len()), (5, 0));
    assert!(world.changes().is_empty() && world.read("new/file").is_none());
    let undone = undo(&world, &answer);
    assert_eq!((undone.done.len(), undone.conflicts), (5, Vec::new()));
    assert_eq!((world.everything(), seen(&world)), (files.clone(), review));
    // Once more does nothing.
    undo(&world, &answer);
    assert_eq!(world.everything(), files);
    // It can be rejected as before.
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(world.read("old").unwrap(), lines("mno"));
    assert_eq!(world.read("gone").unwrap(), lines("xyz"));
}

#[test]
fn a_file_that_took_anothers_place_makes_room() {
    let world = World::new();
    world.write("a", lines("abc"));
    world.rename(SESSION, "a", "b");
    world.edit(SESSION, "a", Some("new"));
    let files = world.everything();
    let answer = world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(answer.conflicts, []);
    assert_eq!((world.read("a").unwrap(), world.read("b")), (lines("abc"), None));
    assert!(world.changes().is_empty() && world.again().changes(&[SESSION]).unwrap().is_empty());
    assert_eq!(undo(&world, &answer).conflicts, []);
    assert_eq!(world.everything(), files);
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!((world.read("a").unwrap(), world.read("b")), (lines("abc"), None));
}

#[test]
fn all_that_was_accepted_is_to_be_reviewed_again() {
    let world = changed();
    let (files, review) = (world.everything(), seen(&world));
    let answer = world.journal.accept_all(&[SESSION]).unwrap();
    assert!(world.changes().is_empty());
    undo(&world, &answer);
    assert_eq!((world.everything(), seen(&world)), (files, review));
    assert!(undo(&world, &answer).conflicts.is_empty());
    assert_eq!(world.changes().len(), 5);
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("abcdefgh"));
}

#[test]
fn a_hunk_comes_back_beside_what_came_since() {
    let world = World::new();
    world.write("a", lines("abcdefghijklm"));
    world.edit(SESSION, "a", Some(&lines("aBcdefGhijkLm")));
    let accepted = world.journal.accept(&[SESSION], Path::new("a"), &world.hunk(0)).unwrap();
    let rejected = world.journal.reject(&[SESSION], Path::new("a"), &world.hunk(0)).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aBcdefghijkLm"));
    world.write("a", lines("aBcPefghijkLm"));
    world.edit(SESSION, "a", Some(&lines("aBcPefghijkLmN")));
    undo(&world, &rejected);
    assert_eq!(world.read("a").unwrap(), lines("aBcPefGhijkLmN"));
    assert_eq!(world.change().hunks.len(), 3);
    undo(&world, &accepted);
    let change = world.change();
    assert_eq!((change.hunks.len(), change.added, change.removed), (4, 4, 3));
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("abcPefghijklm"));
}

#[test]
fn where_the_person_changed_the_same_nothing_comes_back() {
    let world = World::new();
    for path in ["a", "b", "c"] {
        world.write(path, lines("abc"));
    }
    world.edit(SESSION, "a", Some(&lines("aXc")));
    world.edit(SESSION, "b", Some(&lines("aXc")));
    world.edit(SESSION, "c", None);
    world.edit(SESSION, "new", Some("n"));
    let answer = world.journal.reject_all(&[SESSION]).unwrap();
    world.write("a", lines("aPc"));
    world.write("c", lines("mine"));
    world.write("new", "mine");
    let undone = undo(&world, &answer);
    assert_eq!(undone.done, [Path::new("b")]);
    let left: Vec<_> =
        undone.conflicts.iter().map(|one| (one.path.to_str().unwrap(), &one.reason)).collect();
    let why = &ConflictReason::Changed;
    assert_eq!(left, [("a", why), ("c", why), ("new", why)]);
    assert_eq!(world.read("a").unwrap(), lines("aPc"));
    assert_eq!(world.read("c").unwrap(), lines("mine"));
    assert_eq!(world.read("new").unwrap(), "mine");
    assert_eq!(world.read("b").unwrap(), lines("aXc"));
    assert_eq!(world.change().path, Path::new("b"));
}

#[test]
fn what_was_accepted_and_is_gone_is_not_to_be_reviewed_again() {
    let world = World::new();
    world.write("a", lines("abc"));
    world.edit(SESSION, "a", Some(&lines("aXc")));
    let answer = world.journal.accept(&[SESSION], Path::new("a"), &ReviewScope::File).unwrap();
    world.remove("a");
    let undone = undo(&world, &answer);
    assert_eq!((undone.done.len(), undone.conflicts.len()), (0, 1));
    assert!(world.changes().is_empty());
}

#[test]
fn only_answers_of_the_session_are_taken_back() {
    let world = World::new();
    world.edit(SESSION, "a", Some("a"));
    assert!(matches!(world.journal.undo(&[SESSION], 1), Err(Error::NoAnswer(1))));
    let answer = world.journal.reject_all(&[SESSION]).unwrap().undo.unwrap();
    assert!(matches!(world.journal.undo(&["another"], answer), Err(Error::NoAnswer(_))));
    assert_eq!(world.journal.reject_all(&[SESSION]).unwrap().undo, None);
    assert_eq!(world.journal.accept_all(&[SESSION]).unwrap().undo, None);
    world.journal.undo(&[SESSION], answer).unwrap();
    assert_eq!(world.change().kind, FileKind::Created);
}

#[test]
fn the_model_hears_of_what_is_true_in_the_end() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.edit(SESSION, "a", Some(&lines("aBcdefGh")));
    let first = world.journal.reject(&[SESSION], Path::new("a"), &world.hunk(0)).unwrap();
    let second = world.journal.reject(&[SESSION], Path::new("a"), &world.hunk(0)).unwrap();
    undo(&world, &second);
    let told = world.rejections(SESSION, 0).0;
    let [only] = &told[..] else { panic!("{told:?}") };
    assert!(only.diff.contains("+B") && !only.diff.contains("+G") && !only.undone, "{only:?}");
    // What it was told already is taken back for it, too.
    let (_, later) = world.rejections(SESSION, 0);
    undo(&world, &first);
    let told = world.rejections(SESSION, later).0;
    let [only] = &told[..] else { panic!("{told:?}") };
    assert!(only.diff.contains("+B") && only.undone, "{only:?}");
    assert_eq!(world.rejections(SESSION, 0).0, []);
}

/// What is told, as `path: -old +new`, with an `again` before what the user wants after all.
fn told(world: &World, since: u64) -> Vec<String> {
    let line = |one: &Rejection| {
        let lines = one.diff.lines().filter(|line| line.starts_with(['-', '+']));
        let lines = lines.collect::<Vec<_>>().join(" ");
        format!("{}{}: {lines}", if one.undone { "again " } else { "" }, one.path.display())
    };
    let mut told: Vec<_> = world.rejections(SESSION, since).0.iter().map(line).collect();
    told.sort();
    told
}

/// A moment after all that happened.
fn later(world: &World) -> u64 {
    world.rejections(SESSION, 0).1
}

#[test]
fn a_change_is_told_as_the_model_made_it() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.write("gone", lines("xy"));
    world.write("old", lines("mn"));
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    world.edit(SESSION, "gone", None);
    world.edit(SESSION, "new", Some("n\n"));
    world.rename(SESSION, "old", "moved");
    world.edit(SESSION, "moved", Some(&lines("mN")));
    // Accepted, to be reviewed again, and then rejected.
    let accepted = world.journal.accept_all(&[SESSION]).unwrap();
    undo(&world, &accepted);
    let rejected = world.journal.reject_all(&[SESSION]).unwrap();
    let all = ["a: -b +B", "gone: -x -y", "moved: -n +N", "new: +n"];
    assert_eq!(told(&world, 0), all);
    let moved =
        world.rejections(SESSION, 0).0.into_iter().find(|one| one.path == Path::new("moved"));
    assert_eq!(moved.unwrap().kind, FileKind::Moved { from: "old".into() });
    let told_until = later(&world);
    assert!(told(&world, told_until).is_empty());
    let answer = undo(&world, &rejected);
    assert!(answer.conflicts.is_empty());
    assert_eq!(told(&world, told_until), all.map(|one| format!("again {one}")));
    // Rejected once more it is just what the model knows.
    world.journal.reject_all(&[SESSION]).unwrap();
    assert!(told(&world, told_until).is_empty());
    assert_eq!(told(&world, 0), all);
}

#[test]
fn a_change_over_an_accepted_one_is_told_alone() {
    let world = World::new();
    world.write("a", lines("abc"));
    world.edit(SESSION, "a", Some(&lines("aXc")));
    world.journal.accept_all(&[SESSION]).unwrap();
    world.edit(SESSION, "a", Some(&lines("aYc")));
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(told(&world, 0), ["a: -X +Y"]);
    assert_eq!(world.read("a").unwrap(), lines("aXc"));
}

#[test]
fn what_a_restore_took_back_is_told_too() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    let begin = world.journal.checkpoint(SESSION, "1").unwrap().seq;
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    let between = world.journal.checkpoint(SESSION, "2").unwrap().seq;
    world.edit(SESSION, "a", Some(&lines("aBcdefGh")));
    world.edit("other", "b", Some("of another session\n"));
    world.journal.reject(&[SESSION], Path::new("a"), &world.hunk(0)).unwrap();
    assert_eq!(told(&world, 0), ["a: -b +B"]);
    let before = later(&world);
    // Going back brings the rejected change back, and takes the other one away.
    let restored = world.journal.restore(&[SESSION], between).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aBcdefgh"));
    assert_eq!(told(&world, before), ["a: -g +G", "again a: -b +B"]);
    assert_eq!(told(&world, 0), ["a: -g +G"]);
    world.journal.undo_restore(SESSION, restored.seq).unwrap();
    assert!(told(&world, before).is_empty(), "{:?}", told(&world, before));
    assert_eq!(told(&world, 0), ["a: -b +B"]);
    let restored = world.journal.restore(&[SESSION], begin).unwrap();
    assert_eq!(told(&world, 0), ["a: -b +B", "a: -g +G"]);
    // Where the conversation went back as well the changes were never made in it.
    let (nothing, _) = world.journal.rejections(&[SESSION], before, |said| said != "1").unwrap();
    assert_eq!(nothing, []);
    let since = later(&world);
    world.journal.undo_restore(SESSION, restored.seq).unwrap();
    assert_eq!(told(&world, since), ["again a: -g +G"]);
}
