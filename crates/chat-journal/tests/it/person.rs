//! Tests that what the user does in Natter while tools and commands are running counts as the
//! user's.

use std::convert::Infallible;
use std::path::Path;
use std::sync::mpsc;

use crate::world::{SESSION, World, lines, origin};

/// The person saves a file in Natter, which is there whole or not at all.
fn save(world: &World, path: &str, text: &str) {
    world.journal.by_person(Path::new(path), || {
        world.write(".natter-1-2", text);
        std::fs::rename(world.path(".natter-1-2"), world.path(path)).unwrap();
    });
}

#[test]
fn what_is_saved_while_a_command_runs_is_not_the_commands() {
    let world = World::new();
    world.write("both", lines("abcdefgh"));
    world.write("mine", lines("abc"));
    let recorded = world.command(SESSION, |world| {
        save(world, "mine", &lines("abcP"));
        save(world, "new", "P");
        world.write("both", lines("aCcdefgh"));
        save(world, "both", &lines("aCcdefPh"));
        world.write("built", "C");
    });
    assert_eq!(recorded, ["both", "built"]);
    let change = &world.changes()[0];
    assert_eq!((change.added, change.removed), (1, 1));
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(world.read("both").unwrap(), lines("abcdefPh"));
    assert_eq!(world.read("mine").unwrap(), lines("abcP"));
    assert_eq!(world.read("new").unwrap(), "P");
    assert_eq!(world.read("built"), None);
}

#[test]
fn what_a_command_does_after_the_person_is_the_commands() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.command(SESSION, |world| {
        save(world, "a", &lines("aPcdefgh"));
        world.write("a", lines("aPcdefCh"));
    });
    let change = world.change();
    assert_eq!((change.added, change.removed), (1, 1));
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aPcdefgh"));
    // Until here, and no further.
    let recorded = world.command(SESSION, |_| {});
    assert_eq!(recorded, [""; 0]);
}

#[test]
fn what_is_saved_while_the_project_is_looked_at_is_the_persons() {
    let world = World::new();
    for file in 0..200 {
        world.write(&format!("files/{file}"), "x");
    }
    let journal = &world.journal;
    for turn in 0..20 {
        let mut scan = journal.scan().unwrap();
        std::thread::scope(|scope| {
            let (begun, begins) = mpsc::channel();
            let saving = scope.spawn(|| {
                let begun = begun;
                for file in 0..20 {
                    if file == 1 {
                        begun.send(()).unwrap();
                    }
                    save(&world, &format!("files/{file}"), &format!("{turn}"));
                }
            });
            begins.recv().unwrap();
            while !saving.is_finished() {
                let (recorded, next) = journal.record_since(&scan, &origin(SESSION)).unwrap();
                assert_eq!(recorded, []);
                scan = next;
            }
        });
        assert_eq!(journal.record_since(&scan, &origin(SESSION)).unwrap().0, []);
    }
}

#[test]
fn nobody_saves_into_the_middle_of_a_tools_change() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    std::thread::scope(|scope| {
        let (asked, asks) = mpsc::channel();
        let journal = &world.journal;
        let act = || {
            let world = &world;
            scope.spawn(move || {
                asked.send(()).unwrap();
                journal.by_person(Path::new("a"), || {
                    let text = world.read("a").unwrap();
                    world.write("a", text.replace('g', "P"));
                });
            });
            asks.recv().unwrap();
            world.write("a", lines("aTcdefgh"));
            Ok::<_, Infallible>(())
        };
        let (_, is_another) = journal.by_tool(&origin(SESSION), None, Path::new("a"), act).unwrap();
        assert!(is_another);
    });
    world.journal.note().unwrap();
    assert_eq!(world.read("a").unwrap(), lines("aTcdefPh"));
    let change = world.change();
    assert_eq!((change.added, change.removed), (1, 1));
}

#[test]
fn nothing_hinders_the_person() {
    let world = World::new();
    let (done, is_followed) = world.journal.by_person(Path::new("../outside"), || 7);
    assert_eq!((done, is_followed), (7, false));
}

#[test]
fn what_the_person_overwrites_unseen_is_rejected_and_told() {
    let world = World::new();
    world.write("a", lines("abcdefgh"));
    world.edit(SESSION, "a", Some(&lines("aBcdefgh")));
    // The person reads it and types; meanwhile the model changes another line.
    let seen = lines("aBcdefgh");
    world.edit(SESSION, "a", Some(&lines("aBcdefGh")));
    let path = Path::new("a");
    let mine = lines("aBcdefPh");
    world.journal.overwritten_by_person(path, seen.as_bytes(), || world.write("a", &mine));
    world.journal.note().unwrap();
    let hunks = world.change().hunks;
    assert_eq!((hunks.len(), hunks[0].line), (1, 1), "what was seen is still to be reviewed");
    let told = world.rejections(SESSION, 0).0;
    let [only] = &told[..] else { panic!("{told:?}") };
    assert!(only.diff.contains("-g\n+G\n") && !only.diff.contains("+B"), "{only:?}");
    assert_eq!(world.read("a").unwrap(), mine);
    assert_eq!(world.again().changes(&[SESSION]).unwrap(), world.changes());
    // What nobody changed meanwhile is nobody's.
    world.journal.overwritten_by_person(path, mine.as_bytes(), || world.write("a", lines("x")));
    assert_eq!(world.rejections(SESSION, 0).0.len(), 1);
}

#[test]
fn a_file_that_a_session_made_stays_when_the_person_overwrites_it() {
    let world = World::new();
    world.edit(SESSION, "new", Some(&lines("abc")));
    world.edit(SESSION, "new", Some(&lines("aBc")));
    let path = Path::new("new");
    let seen = lines("abc");
    let write = || world.write("new", lines("aPc"));
    world.journal.overwritten_by_person(path, seen.as_bytes(), write);
    let told = world.rejections(SESSION, 0).0;
    let [only] = &told[..] else { panic!("{told:?}") };
    assert!(only.diff.contains("-b\n+B\n"), "{only:?}");
    assert_eq!(world.change().kind, chat_journal::FileKind::Created);
}
