//! Tests repositories and settings in subfolders of the project.

use chat_sandbox::Preference;

use super::project::git;
use super::{attempt, lawful};
use crate::support::{Scene, write};
use crate::unprivileged;

/// A project with a repository two folders deep.
fn furnish(scene: &Scene) {
    write(&scene.project("vendor/lib/file"), "one\n");
    write(&scene.project("vendor/.mcp.json"), "{}");
    let lib = scene.project("vendor/lib");
    git(&lib, &["init", "-q", "-b", "main"]);
    git(&lib, &["add", "file"]);
    git(&lib, &["commit", "-q", "-m", "one"]);
    write(&scene.project("vendor/lib/.git/hooks/sample"), "");
}

#[test]
fn hooks_and_settings_of_a_nested_repository_are_not_changed() {
    unprivileged::run(async || {
        for text in [
            "echo evil > vendor/lib/.git/hooks/post-commit",
            "echo evil >> vendor/lib/.git/config",
            "mv vendor/lib/.git vendor/lib/git",
            "mv vendor/lib vendor/other",
            "mv vendor other",
            "echo evil > vendor/.mcp.json",
        ] {
            attempt(|scene| {
                furnish(scene);
                text.into()
            })
            .await;
        }
        lawful(|scene| {
            furnish(scene);
            "git -C vendor/lib log && echo two > vendor/lib/file".into()
        })
        .await;
    });
}

#[test]
fn commits_are_made_in_a_nested_repository() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        furnish(&scene);
        let commit = "cd vendor/lib && echo two > file && git add file && \
            git -c user.name=Ann -c user.email=ann@example.org commit -q -m two && git log --oneline";
        assert_eq!(scene.run(commit).await.success().lines().count(), 2);
        assert!(!scene.project("vendor/lib/.git/commondir").exists());
    });
}

/// A command that runs may put a link where the next one would have a folder bound.
#[test]
fn what_a_running_command_makes_is_not_bound_for_the_next() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        furnish(&scene);
        let running = scene.start(scene.command("sleep 600")).await;
        write(&scene.project("late/.git/config"), "");
        let outcome = scene.run("mv late moved && ! mv vendor other").await;
        assert!(outcome.exit.is_success(), "{outcome:?}");
        running.stop();
        running.wait().await;
        let outcome = scene.run("mv moved late").await;
        assert!(!outcome.exit.is_success(), "{outcome:?}");
    });
}
