//! Changes are noticed, wherever they come from, and nothing else is.

use std::fs;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use crate::world::{World, names, prompt, skill};

#[test]
fn files_that_come_change_and_go_are_noticed() {
    let world = World::new(&[("config/agents/a.md", "One.")]);
    let opened = world.open();
    world.write("config/agents/b.md", "Two.");
    opened.wait(|snapshot| names(snapshot)[0] == ["a", "b"]);
    world.write("config/agents/a.md", "Three.");
    opened.wait(|snapshot| prompt(snapshot, "a") == Some("Three."));
    fs::rename(world.path("config/agents/b.md"), world.path("config/agents/c.md")).unwrap();
    opened.wait(|snapshot| names(snapshot)[0] == ["a", "c"]);
    fs::remove_file(world.path("config/agents/a.md")).unwrap();
    let last = opened.wait(|snapshot| names(snapshot)[0] == ["c"]);
    assert_eq!(opened.watcher.snapshot(), last);
}

#[test]
fn folders_that_do_not_exist_yet_are_awaited() {
    let world = World::new(&[]);
    let opened = world.open();
    world.write("config/commands/fix.md", "Fix.");
    opened.wait(|snapshot| names(snapshot)[1] == ["fix"]);
    world.write("config/agents/a.md", "One.");
    opened.wait(|snapshot| names(snapshot)[0] == ["a"]);
    world.write("home/.claude/skills/x/SKILL.md", &skill("x", "one"));
    opened.wait(|snapshot| names(snapshot)[2] == ["x"]);
    world.write("home/.claude/skills/x/SKILL.md", &skill("x", "two"));
    opened.wait(|snapshot| snapshot.skills[0].description == "two");
    world.write("project/.natter/agents/p.md", "Project.");
    opened.wait(|snapshot| !snapshot.project.as_ref().unwrap().is_trusted());
    world.trust();
    opened.wait(|snapshot| names(snapshot)[0] == ["a", "p"]);
}

#[test]
fn folders_that_go_and_come_back_are_noticed() {
    let world = World::new(&[
        ("config/agents/a.md", "One."),
        ("home/.agents/skills/x/SKILL.md", &skill("x", "one")),
        ("project/.natter/agents/p.md", "Project."),
    ]);
    let opened = world.open();
    for text in ["Two.", "Three."] {
        fs::remove_dir_all(world.path("config")).unwrap();
        opened.wait(|snapshot| names(snapshot)[0].is_empty());
        world.write("config/agents/a.md", text);
        opened.wait(|snapshot| prompt(snapshot, "a") == Some(text));
    }
    fs::rename(world.path("project/.natter"), world.path("project/.other")).unwrap();
    opened.wait(|snapshot| snapshot.project.as_ref().unwrap().items.is_empty());
    fs::rename(world.path("home/.agents/skills"), world.path("home/.agents/old")).unwrap();
    opened.wait(|snapshot| names(snapshot)[2].is_empty());
    fs::rename(world.path("home/.agents/old"), world.path("home/.agents/skills")).unwrap();
    opened.wait(|snapshot| names(snapshot)[2] == ["x"]);
}

#[test]
fn a_wrong_file_leaves_its_last_good_version_in_use() {
    let world = World::new(&[
        ("config/agents/a.md", "---\ntemperature: 1\n---\nOne."),
        ("config/skills/x/SKILL.md", &skill("x", "one")),
    ]);
    let opened = world.open();
    world.write("config/agents/a.md", "---\ntemperature: 9\n---\nTwo.");
    world.write("config/skills/x/SKILL.md", "---\nname: x\n---\n");
    let snapshot = opened.wait(|snapshot| snapshot.problems.len() == 2);
    assert_eq!(prompt(&snapshot, "a"), Some("One."));
    assert_eq!(snapshot.skills[0].description, "one");
    world.write("config/agents/a.md", "---\ntemperature: 2\n---\nThree.");
    world.write("config/skills/x/SKILL.md", &skill("x", "two"));
    let snapshot = opened.wait(|snapshot| snapshot.problems.is_empty());
    assert_eq!(prompt(&snapshot, "a"), Some("Three."));
    // What is removed while it is wrong does not come back.
    world.write("config/agents/a.md", "---\n");
    opened.wait(|snapshot| snapshot.problems.len() == 1);
    fs::remove_file(world.path("config/agents/a.md")).unwrap();
    opened.wait(|snapshot| names(snapshot)[0].is_empty());
}

#[test]
fn a_link_is_followed_to_the_users_own_files() {
    let world = World::new(&[("dotfiles/a.md", "One.")]);
    world.link("../../dotfiles/a.md", "config/agents/a.md");
    let opened = world.open();
    opened.wait(|snapshot| prompt(snapshot, "a") == Some("One."));
    world.write("dotfiles/a.md", "Two.");
    opened.wait(|snapshot| prompt(snapshot, "a") == Some("Two."));
}

#[test]
fn what_does_not_count_is_not_said() {
    let world = World::new(&[("config/agents/a.md", "One.")]);
    let opened = world.open();
    world.write("config/config.toml", "x");
    world.write("config/agents/notes.txt", "x");
    world.write("home/.profile", "x");
    // Whatever is said first is about the last of these.
    world.replace("config/agents/b.md", "Two.");
    let snapshot = opened.snapshots.recv().unwrap();
    assert!(names(&snapshot)[0].contains(&"b"));
}

#[test]
fn a_reload_says_nothing_if_all_is_as_before() {
    let world = World::new(&[("config/agents/a.md", "One.")]);
    let opened = world.open();
    opened.watcher.reload();
    opened.watcher.reload();
    world.replace("config/agents/a.md", "Two.");
    let snapshot = opened.snapshots.recv().unwrap();
    assert_eq!(prompt(&snapshot, "a"), Some("Two."));
}

#[test]
fn dropping_it_ends_the_watching() {
    let world = World::new(&[("config/agents/a.md", "One.")]);
    let opened = world.open();
    drop(opened.watcher);
    // The thread gives up its callback when it ends.
    let end = opened.snapshots.recv_timeout(Duration::from_secs(20));
    assert_eq!(end, Err(RecvTimeoutError::Disconnected));
}

#[test]
fn who_waits_for_changes_sleeps() {
    /// How often the threads of libraries have been woken up.
    fn wakes() -> Vec<(String, String)> {
        let tasks = fs::read_dir("/proc/self/task").unwrap();
        let status = |task: std::io::Result<fs::DirEntry>| {
            let text = fs::read_to_string(task.ok()?.path().join("status")).ok()?;
            let line = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
            let name = line("Name:\t")?;
            let is_ours = name == "definitions" || name.starts_with("notify-rs");
            is_ours.then_some((name.to_owned(), line("voluntary_ctxt_switches:\t")?.to_owned()))
        };
        let mut wakes: Vec<_> = tasks.filter_map(status).collect();
        wakes.sort();
        wakes
    }
    let world = World::new(&[("config/agents/a.md", "One.")]);
    let opened = world.open();
    world.write("config/agents/a.md", "Two.");
    opened.wait(|snapshot| prompt(snapshot, "a") == Some("Two."));
    // Whatever polls is woken up between two looks, however often they are repeated.
    let begun = Instant::now();
    loop {
        let before = wakes();
        assert!(before.len() >= 2, "{before:?}");
        std::thread::sleep(Duration::from_millis(700));
        if wakes() == before {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{before:?}");
    }
}
