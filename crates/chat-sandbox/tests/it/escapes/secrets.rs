//! Tests reading secrets in the project.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use chat_sandbox::{Command, Preference, Secrets};

use crate::support::{Outcome, Scene, write};
use crate::unprivileged;

const SECRET: &str = "correct horse battery staple";

/// Files of the name `.env` are secret, but for what is granted.
fn hiding(command: Command, granted: &'static str) -> Command {
    let secrets = Secrets {
        are_secret: Arc::new(|path| path.ends_with(".env")),
        are_granted: Arc::new(move |path| path == Path::new(granted)),
    };
    Command { secrets: Some(secrets), ..command }
}

async fn run(scene: &Scene, text: &str, granted: &'static str) -> Outcome {
    scene.run_command(hiding(scene.command(text), granted)).await
}

fn furnish(scene: &Scene) {
    write(&scene.project(".env"), SECRET);
    write(&scene.project("web/app/.env"), SECRET);
    write(&scene.project("web/app/code"), "code");
    write(&scene.project("plain"), "plain");
    write(&scene.project("config/real"), SECRET);
    std::fs::create_dir(scene.project("linked")).unwrap();
    symlink("../config/real", scene.project("linked/.env")).unwrap();
}

#[test]
fn a_secret_is_read_by_no_command_that_did_not_get_it() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            for text in [
                "cat .env",
                "cat web/app/.env",
                "cat linked/.env",
                "cat config/real",
                "cat < .env",
                "cp .env copy && cat copy",
                "mv .env copy && cat copy",
                "ln .env copy && cat copy",
                "mv web web2 && cat web2/app/.env",
                "cat /proc/self/root$PWD/.env",
                "chmod 777 .env; cat .env",
                "umount .env; cat .env",
            ] {
                let Some(scene) = Scene::new(way).await else { continue };
                furnish(&scene);
                let outcome = run(&scene, text, "").await;
                assert!(!outcome.exit.is_success(), "{way:?}: {text}: {outcome:?}");
                assert!(!outcome.said.contains(SECRET), "{way:?}: {text}: {outcome:?}");
                let kept = [".env", "web/app/.env", "web2/app/.env"].map(|it| scene.project(it));
                let kept = kept.iter().filter_map(|path| std::fs::read_to_string(path).ok());
                assert_eq!(kept.filter(|text| text == SECRET).count(), 2, "{way:?}: {text}");
            }
        }
    });
}

#[test]
fn a_secret_cannot_be_overwritten_and_the_rest_of_its_folder_can() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            furnish(&scene);
            assert!(!run(&scene, "echo x > .env", "").await.exit.is_success(), "{way:?}");
            assert_eq!(std::fs::read_to_string(scene.project(".env")).unwrap(), SECRET);
            let text =
                "ls -A && echo new > plain && echo new > web/app/code && cat plain web/app/code";
            let outcome = run(&scene, text, "").await;
            assert!(outcome.success().ends_with("new\nnew"), "{way:?}: {outcome:?}");
            assert!(outcome.said.contains(".env"), "{way:?}: {outcome:?}");
        }
    });
}

#[test]
fn what_is_granted_is_seen_and_nothing_else() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            furnish(&scene);
            let outcome = run(&scene, "cat .env", ".env").await;
            assert_eq!(outcome.success(), SECRET, "{way:?}");
            let outcome = run(&scene, "cat web/app/.env", ".env").await;
            assert!(!outcome.exit.is_success(), "{way:?}: {outcome:?}");
            // One that begins while another runs goes by its own.
            let granted = hiding(scene.command("sleep 5"), ".env");
            let running = scene.start(granted).await;
            let outcome = run(&scene, "cat .env", "").await;
            assert!(!outcome.exit.is_success(), "{way:?}: {outcome:?}");
            running.stop();
            running.wait().await;
        }
    });
}

/// An empty file in its place would be committed as if the person had emptied it.
#[test]
fn git_never_commits_a_secret_that_it_does_not_see() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        furnish(&scene);
        let git = "git -c user.name=a -c user.email=a@b";
        let made = format!("git init -q && git add -f .env plain && {git} commit -qm one");
        let made = std::process::Command::new("sh")
            .args(["-c", &made])
            .current_dir(scene.project(""))
            .status();
        assert!(made.unwrap().success());
        let text = format!(
            "echo new > plain; git add -A; {git} commit -qam two; {git} commit -qm three plain; true"
        );
        run(&scene, &text, "").await.success();
        let outcome = run(&scene, "git log --oneline | wc -l; git show HEAD:.env", ".env").await;
        assert!(outcome.success().ends_with(SECRET), "{outcome:?}");
        assert!(!outcome.said.starts_with('1'), "something else is committed: {outcome:?}");
    });
}
