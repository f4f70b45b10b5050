//! What changes from outside is told, be it watched or asked for.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use chat_project::tree::Kind;
use chat_project::{Event, WatchError};

use crate::world::World;

/// What was promised, and what a busy machine may add to it.
const SOON: Duration = Duration::from_secs(3);
const ALL: usize = 1000;
/// Fewer than there are folders, so that most are asked.
const FEW: usize = 2;

#[test]
fn files_that_come_change_and_go_are_told() {
    for most in [ALL, FEW, 0] {
        let world = World::new(&["a/b/c/old", "a/x"]);
        let opened = world.open(most);
        let tree = opened.files.tree();
        assert_eq!(tree.root().files(), 2);
        opened.files.opened(vec!["a/x".into()]);
        world.write("a/b/c/new", "");
        assert!(opened.changed("a/b/c/new") < SOON, "{most}");
        assert_eq!(opened.files.tree().kind(Path::new("a/b/c/new")), Some(Kind::File));
        // A snapshot stays what it was.
        assert_eq!(tree.kind(Path::new("a/b/c/new")), None);
        world.write("a/x", "changed");
        assert!(opened.changed("a/x") < SOON, "{most}");
        fs::rename(world.path("a/b"), world.path("a/d")).unwrap();
        assert!(opened.changed("a/d") < SOON, "{most}");
        let tree = opened.files.tree();
        assert_eq!(tree.kind(Path::new("a/d/c/old")), Some(Kind::File));
        assert!(tree.folder(Path::new("a/b")).is_none());
        // What lies in the folder that was moved is followed.
        world.write("a/d/c/newer", "");
        assert!(opened.changed("a/d/c/newer") < SOON, "{most}");
        fs::remove_dir_all(world.path("a")).unwrap();
        assert!(opened.changed("a") < SOON, "{most}");
        assert!(opened.files.tree().root().is_empty());
    }
}

#[test]
fn a_folder_that_comes_with_much_in_it_is_listed_whole() {
    let world = World::new(&["a"]);
    let opened = world.open(ALL);
    for number in 0..50 {
        world.write(format!("new/{number}/x/y"), "");
    }
    opened.wait(|_| opened.files.tree().root().files() == 51);
}

#[test]
fn what_is_ignored_says_nothing_until_it_is_not() {
    let world = World::new(&["target/x", "src/y"]);
    world.write(".gitignore", "target\n");
    let opened = world.open(ALL);
    world.write("target/z", "");
    world.write("src/new", "");
    opened.wait(|event| {
        let Event::Changed { paths } = event else { return false };
        assert!(paths.iter().all(|path| !path.starts_with("target")), "{paths:?}");
        paths.iter().any(|path| path == Path::new("src/new"))
    });
    world.write(".gitignore", "src\n");
    opened.wait(|_| opened.files.tree().kind(Path::new("target/z")) == Some(Kind::File));
    assert_eq!(opened.files.tree().kind(Path::new("src")), None);
}

#[test]
fn thousands_of_folders_are_noticed_without_watching_them() {
    let world = World::new(&[]);
    for number in 0..3000 {
        fs::create_dir_all(world.path(format!("{}/{}/{number}", number % 7, number % 50))).unwrap();
    }
    let opened = world.open(64);
    opened.files.show(vec!["1".into()]);
    world.write("6/49/new", "");
    assert!(opened.changed("6/49/new") < SOON);
    // All at once.
    for number in 0..3000 {
        world.write(format!("{}/{}/{number}/x", number % 7, number % 50), "");
    }
    opened.wait(|_| opened.files.tree().root().files() == 3001);
}

#[test]
fn git_is_told_to_have_changed() {
    for most in [ALL, 0] {
        let world = World::new(&["a"]);
        let git = |arguments: &[&str]| {
            let status = Command::new("git")
                .current_dir(world.folder.path())
                .args(["-c", "user.name=a", "-c", "user.email=a@b"])
                .args(arguments)
                .output();
            assert!(status.unwrap().status.success());
        };
        git(&["init", "-q"]);
        let opened = world.open(most);
        git(&["add", "a"]);
        assert!(opened.wait(|event| *event == Event::Git) < SOON, "{most}");
        while opened.events.recv_timeout(Duration::from_millis(500)).is_ok() {}
        git(&["commit", "-q", "-m", "x"]);
        opened.wait(|event| *event == Event::Git);
        while opened.events.recv_timeout(Duration::from_millis(500)).is_ok() {}
        git(&["checkout", "-q", "-b", "other"]);
        assert!(opened.wait(|event| *event == Event::Git) < SOON, "{most}");
    }
}

#[test]
fn a_rescan_finds_what_was_there_and_a_project_that_is_gone_says_so() {
    let world = World::new(&["a"]);
    let opened = world.open(ALL);
    opened.files.rescan();
    opened.wait(|event| *event == Event::Rescanned);
    let tree = opened.files.tree();
    assert_eq!(tree.root().files(), 1);
    fs::remove_dir_all(world.folder.path()).unwrap();
    opened.wait(|event| *event == Event::Error(WatchError::Gone));
}

#[test]
fn dropping_it_ends_it() {
    let world = World::new(&["a"]);
    let opened = world.open(ALL);
    drop(opened.files);
    // The thread has what tells: the channel closes when it ends.
    while opened.events.recv().is_ok() {}
}
