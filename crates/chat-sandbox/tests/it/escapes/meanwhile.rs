//! Tests what happens while a command runs: another command at the same time, the user's git, and
//! the program's own end.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use chat_sandbox::{Preference, Running};

use super::project::{furnish, names};
use super::repositories::wait_for_later;
use crate::support::{Scene, write};
use crate::unprivileged;

/// Starts a command that says when it has come to where it waits for this file in the project.
pub(super) async fn waiting(scene: &Scene, before: &str, file: &str, after: &str) -> Running {
    let wait = format!("until [ -e {file} ]; do sleep 0.02; done");
    let command = scene.command(format!("{before}\necho here; {wait}\n{after}"));
    let (running, mut follow) =
        scene.sandbox().spawn_followed(command, scene.spool()).await.unwrap();
    let mut said = Vec::new();
    while !String::from_utf8_lossy(&said).contains("here") {
        said.extend(follow.next().await.expect("it ended early").bytes);
    }
    running
}

#[test]
fn the_end_of_one_command_takes_nothing_from_the_protection_of_another() {
    unprivileged::run(async || {
        for with_git in [false, true] {
            let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
            let evil = if with_git {
                furnish(&scene);
                std::fs::remove_dir_all(scene.project(".git/hooks")).unwrap();
                "mkdir .git/hooks; echo evil > .git/hooks/pre-commit; echo evil > .git/commondir
                 echo evil > .git/config.worktree; mkdir .git/modules/x; ls .git/hooks/*"
            } else {
                "rmdir .mcp.json; echo evil > .mcp.json; mkdir .natter; echo evil > .natter/x
                 git init -q .; ls .git/* .natter/*; cat .mcp.json"
            };
            let evil = format!("{evil}; cat .git/commondir .git/config.worktree; true");
            let before = names(&scene.project(""));
            let one = waiting(&scene, "true", "one-may-end", "true").await;
            let other = waiting(&scene, "true", "other-may-go-on", &evil).await;
            write(&scene.project("one-may-end"), "");
            assert!(one.wait().await.is_success());
            write(&scene.project("other-may-go-on"), "");
            let exit = other.wait().await;
            let said = other.spool().excerpt().to_string();
            assert!(exit.quarantined.is_empty(), "{exit:?}");
            assert!(!said.lines().any(|line| line == "evil" || line.ends_with("/x")), "{said}");
            // Nothing came into being, and no placeholder stays.
            let mut left = names(&scene.project(""));
            left.retain(|name| !name.contains("-may-") && !before.contains(name));
            assert!(left.is_empty(), "{left:?}");
            for name in ["hooks", "commondir", "config.worktree", "modules"] {
                assert!(!scene.project(".git").join(name).exists(), "{name}: {said}");
            }
        }
    });
}

#[test]
fn a_persons_git_is_not_led_astray_while_a_command_runs() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        furnish(&scene);
        let ran = scene.beside("ran");
        let evil = format!("[core]\n\tfsmonitor = \"touch {}; false\"\n", ran.display());
        write(&scene.project("src/evil/config"), &evil);
        for name in ["objects", "refs"] {
            std::fs::create_dir(scene.project("src/evil").join(name)).unwrap();
        }
        wait_for_later(&scene, &scene.project("src/evil"));
        let before = "echo ../src/evil | tee .git/commondir; rm -f .git/commondir
            cp src/evil/config .git/config.worktree";
        let commit =
            "git add src && git -c user.name=Ann -c user.email=ann@example.org commit -qm x";
        let running = waiting(&scene, before, "end", commit).await;
        assert_eq!(git(&scene.project(""), &["config", "--get", "core.fsmonitor"]), None);
        let log = git(&scene.project(""), &["log", "--oneline"]);
        assert_eq!(log.map(|log| log.lines().count()), Some(1));
        let status = git(&scene.project(""), &["status", "--porcelain"]).unwrap();
        assert!(status.contains("src/evil"), "{status}");
        assert!(!ran.exists());
        write(&scene.project("end"), "");
        let exit = running.wait().await;
        assert!(exit.is_success(), "{exit:?}: {}", running.spool().excerpt());
        assert!(exit.quarantined.is_empty(), "{exit:?}");
        assert!(!scene.project(".git/commondir").exists());
        assert!(!scene.project(".git/config.worktree").exists());
    });
}

#[test]
fn what_a_killed_program_left_standing_is_taken_away_and_nothing_of_a_persons() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        furnish(&scene);
        // As a command finds them inside, so they are left.
        let running = waiting(&scene, "true", "end", "true").await;
        let texts = ["commondir", "config.worktree"].map(|name| {
            let path = scene.project(".git").join(name);
            let text = std::fs::read_to_string(&path).unwrap();
            (path, text)
        });
        let modules = scene.project(".git/modules");
        let mode = modules.metadata().unwrap().permissions();
        write(&scene.project("end"), "");
        assert!(running.wait().await.is_success());
        assert!(!modules.exists());

        for (path, text) in &texts {
            write(path, text);
        }
        std::fs::create_dir(&modules).unwrap();
        std::fs::set_permissions(&modules, mode).unwrap();
        let own = scene.project(".git/worktrees");
        std::fs::create_dir(&own).unwrap();
        scene.run("true").await.success();
        assert!(!modules.exists());
        assert!(texts.iter().all(|(path, _)| !path.exists()));
        assert!(own.is_dir());
        assert_eq!(own.metadata().unwrap().permissions().mode() & 0o1000, 0);
    });
}

/// The folder in which a program of its own is to start a command, and then to end.
const PART: &str = "NATTER_TEST_ENDS_IN";

#[test]
fn a_program_that_ends_takes_its_commands_and_what_stood_in_for_them_along() {
    unprivileged::run(async || {
        if let Ok(folder) = std::env::var(PART) {
            start_and_end(Path::new(&folder)).await;
        }
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        let name = std::any::type_name_of_val(&start_and_end).split_once("::").unwrap().1;
        let test = "a_program_that_ends_takes_its_commands_and_what_stood_in_for_them_along";
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name.replace("start_and_end", test), "--nocapture"])
            .env(PART, scene.project(""))
            // What it has no time to tidy up goes with the scene.
            .env("TMPDIR", scene.beside(""))
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(ENDED));
        assert!(names(&scene.project("")).is_empty(), "{:?}", names(&scene.project("")));
    });
}

/// The status of a program that has come so far.
const ENDED: i32 = 42;

async fn start_and_end(folder: &Path) {
    let scene = Scene::new(Preference::Bubblewrap).await.unwrap();
    let mut command = scene.command("echo here; sleep 600");
    (command.project, command.folder) = (folder.into(), folder.into());
    let (_running, mut follow) =
        scene.sandbox().spawn_followed(command, scene.spool()).await.unwrap();
    follow.next().await.expect("it says that it runs");
    assert!(!names(folder).is_empty());
    std::process::exit(ENDED);
}

/// What a person's git says, if it succeeds.
fn git(folder: &Path, words: &[&str]) -> Option<String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(words).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let output = git.output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}
