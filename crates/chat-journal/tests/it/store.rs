//! Tests the stored journal: crashes, two processes at once, and pruning.

use std::time::Duration;

use chat_journal::{Error, Limits};

use crate::world::{SESSION, World, all, lines, moment_after};

#[test]
fn a_log_cut_off_anywhere_opens_and_goes_on() {
    let world = World::new();
    world.write("a", lines("abcdef"));
    world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "a", Some(&lines("aBcdef")));
    world.edit(SESSION, "a", Some(&lines("aBcdEf")));
    let log = world.own("log");
    let whole = std::fs::read(&log).unwrap();
    let mut hunks = Vec::new();
    for cut in (0..=whole.len()).step_by(7).chain([whole.len()]) {
        std::fs::write(&log, &whole[..cut]).unwrap();
        let journal = world.again();
        let changes = journal.changes(&[SESSION]).unwrap();
        hunks.push(changes.first().map_or(0, |change| change.hunks.len()));
        journal.checkpoint(SESSION, "2").unwrap();
        assert_eq!(world.again().changes(&[SESSION]).unwrap(), changes);
    }
    assert!(hunks.is_sorted());
    assert_eq!(hunks.last(), Some(&2));
}

#[test]
fn what_crashes_leave_behind_is_in_nobodys_way() {
    let world = World::new();
    world.edit(SESSION, "a", Some("a"));
    for name in ["log.new", "stat.new", "stat"] {
        std::fs::write(world.own(name), "half").unwrap();
    }
    std::fs::create_dir(world.own("git.new")).unwrap();
    let journal = world.again();
    journal.checkpoint(SESSION, "1").unwrap();
    assert_eq!(journal.changes(&[SESSION]).unwrap().len(), 1);
}

#[test]
fn lost_contents_are_told() {
    let world = World::new();
    world.write("a", "a");
    world.edit(SESSION, "a", Some("b"));
    let packs = world.own("git/objects/pack");
    for pack in std::fs::read_dir(packs).unwrap().flatten() {
        std::fs::remove_file(pack.path()).unwrap();
    }
    assert!(matches!(world.again().changes(&[SESSION]), Err(Error::Lost(_))));
}

#[test]
fn several_journals_at_once_lose_nothing() {
    let world = World::new();
    let journals: Vec<_> = (0..4).map(|_| world.again()).collect();
    std::thread::scope(|scope| {
        for (number, journal) in journals.iter().enumerate() {
            let world = &world;
            scope.spawn(move || {
                for turn in 0..5 {
                    let path = format!("{number}-{turn}");
                    std::fs::write(world.path(&path), &path).unwrap();
                    let change = chat_journal::Change {
                        after: journal.read(path.as_ref()).unwrap(),
                        path: path.into(),
                        from: None,
                        before: None,
                    };
                    let origin = crate::world::origin(SESSION);
                    journal.record(&origin, chat_journal::ChangeSource::Tool, &[change]).unwrap();
                    journal.checkpoint(&number.to_string(), &turn.to_string()).unwrap();
                }
            });
        }
    });
    assert_eq!(world.changes().len(), 20);
    assert_eq!(world.journal.checkpoints("3").unwrap().len(), 5);
}

#[test]
fn old_checkpoints_go_and_what_is_open_stays() {
    let world = World::new();
    world.write("a", lines("abc"));
    world.journal.checkpoint("old", "1").unwrap();
    world.edit("old", "a", Some(&lines("aXc")));
    world.journal.accept_all(&["old"]).unwrap();
    let kept = world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "b", Some("open"));
    let later = world.journal.checkpoint(SESSION, "2").unwrap();
    let journal = chat_journal::Journal::open(
        &world.project,
        None,
        world.state.path(),
        Limits { age: Duration::ZERO, ..all() },
    )
    .unwrap();
    moment_after();
    assert_eq!(journal.prune().unwrap().checkpoints, 1);
    let open = world.changes();
    assert_eq!(open.len(), 1);
    assert!(world.journal.checkpoints("old").unwrap().is_empty());
    assert_eq!(world.journal.checkpoints(SESSION).unwrap().len(), 2);
    // A journal that was open all the time goes on, with contents that are gone by now.
    world.write("a", lines("abc"));
    world.command(SESSION, |world| world.write("a", lines("abcd")));
    assert_eq!(world.again().changes(&[SESSION]).unwrap().len(), 2);
    world.journal.restore(&[SESSION], later.seq).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("abc"));
    world.again().restore(&[SESSION], kept.seq).unwrap();
    assert_eq!(world.read("b"), None);

    world.journal.reject_all(&[SESSION]).unwrap();
    world.journal.accept_all(&[SESSION]).unwrap();
    world.edit(SESSION, "c", Some("c"));
    world.journal.accept_all(&[SESSION]).unwrap();
    moment_after();
    assert!(journal.prune().unwrap().checkpoints > 0);
    assert!(world.journal.checkpoints(SESSION).unwrap().is_empty());
    assert!(world.journal.checkpoint(SESSION, "9").unwrap().seq > later.seq);
}

#[test]
fn the_oldest_go_where_there_is_no_room() {
    let world = World::with(Limits { store_size: 40_000, ..all() });
    let noise = |seed: u64| -> String {
        let next =
            |state: &u64| Some(state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        std::iter::successors(Some(seed), next)
            .take(1500)
            .flat_map(|n| [n.to_string(), "\n".to_owned()])
            .collect()
    };
    for turn in 0..8 {
        world.write("a", noise(turn));
        // What the person saves keeps nothing.
        world.journal.by_person("b".as_ref(), || world.write("b", turn.to_string()));
        world.journal.checkpoint(SESSION, &turn.to_string()).unwrap();
    }
    let pruned = world.journal.prune().unwrap();
    assert!(pruned.after <= 40_000 && pruned.before > 60_000, "{pruned:?}");
    let left = world.journal.checkpoints(SESSION).unwrap();
    assert!(!left.is_empty() && left.len() < 8);
    assert_eq!(left.last().unwrap().message, "7");
}

#[test]
fn what_nothing_is_open_of_any_more_keeps_nothing() {
    let world = World::with(Limits { age: Duration::ZERO, ..all() });
    world.write("a", lines("abc"));
    world.journal.checkpoint(SESSION, "1").unwrap();
    // Made and gone again, and nobody was asked about it; the person saved beside it.
    world.edit(SESSION, "b", Some("b"));
    world.edit(SESSION, "b", None);
    world.journal.by_person("a".as_ref(), || world.write("a", lines("abcd")));
    world.journal.checkpoint("later", "2").unwrap();
    moment_after();
    world.journal.prune().unwrap();
    assert!(world.journal.checkpoints(SESSION).unwrap().is_empty());
    assert!(world.journal.checkpoints("later").unwrap().is_empty());
    assert!(world.changes().is_empty() && world.again().changes(&[SESSION]).unwrap().is_empty());
}

#[test]
fn who_did_nothing_is_not_forgotten_in_writing() {
    let world = World::new();
    world.edit(SESSION, "a", Some("a"));
    world.journal.forget("nobody").unwrap();
    world.journal.forget(SESSION).unwrap();
    let log = std::fs::read(world.own("log")).unwrap();
    world.journal.forget(SESSION).unwrap();
    assert_eq!(std::fs::read(world.own("log")).unwrap(), log);
    assert_eq!(String::from_utf8(log).unwrap().lines().count(), 3);
}

#[test]
fn an_erased_session_leaves_no_trace_and_the_others_go_on() {
    let world = World::new();
    world.write("a", lines("abc"));
    world.journal.checkpoint(SESSION, "1").unwrap();
    world.edit(SESSION, "a", Some(&lines("aBc")));
    world.journal.checkpoint("temporary", "1").unwrap();
    world.edit("temporary", "secret", Some("between us"));
    world.edit("temporary", "a", Some(&lines("aBC")));
    let objects = || {
        let git = world.own("git");
        let all = ["cat-file", "--batch-all-objects", "--batch"];
        let output = std::process::Command::new("git").arg("--git-dir").arg(git).args(all).output();
        String::from_utf8_lossy(&output.unwrap().stdout).into_owned()
    };
    assert!(objects().contains("between us"));
    world.remove("secret");
    let open_all_the_time = world.again();

    world.journal.erase(&["temporary".to_owned(), "nobody".to_owned()]).unwrap();

    assert!(!std::fs::read_to_string(world.own("log")).unwrap().contains("temporary"));
    assert!(!objects().contains("between us"));
    for journal in [&world.journal, &open_all_the_time, &world.again()] {
        assert!(journal.changes(&["temporary"]).unwrap().is_empty());
        assert_eq!(journal.changes(&[SESSION]).unwrap()[0].hunks.len(), 1);
    }
    // What it did is the user's now.
    world.journal.reject_all(&[SESSION]).unwrap();
    assert_eq!(world.read("a").unwrap(), lines("abC"));
}
