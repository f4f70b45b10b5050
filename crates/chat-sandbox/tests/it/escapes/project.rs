//! Tests changing files in a project that start programs or hold Natter's instructions.

use std::path::Path;
use std::process::Command;

use chat_sandbox::Preference;

use super::{attempt, lawful};
use crate::support::{Scene, WAYS, write};
use crate::unprivileged;

/// A project with one commit, and Natter's files.
pub(super) fn furnish(scene: &Scene) {
    git(&scene.project(""), &["init", "-q", "-b", "main"]);
    write(&scene.project(".git/hooks/pre-push.sample"), "#!/bin/sh\n");
    write(&scene.project(".natter/rules.toml"), "");
    write(&scene.project(".mcp.json"), "{}");
    write(&scene.project("src/lib.txt"), "one\n");
    git(&scene.project(""), &["add", "src"]);
    git(&scene.project(""), &["commit", "-q", "-m", "one"]);
}

pub(super) fn git(folder: &Path, words: &[&str]) {
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(words)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn gits_hooks_and_settings_and_natters_files_are_not_changed() {
    unprivileged::run(async || {
        for text in [
            "echo evil > .git/hooks/pre-commit",
            "echo evil >> .git/config",
            "git config core.fsmonitor evil",
            "rm .git/config",
            "mv .git/hooks elsewhere",
            "mv .git elsewhere",
            "mv .git/config .git/config2",
            "echo evil > .mcp.json",
            "rm .mcp.json",
            "mv .natter elsewhere",
            "echo 'run:*' > .natter/rules.toml",
            "echo '* filter=x' > .git/info/attributes",
        ] {
            attempt(|scene| {
                furnish(scene);
                text.into()
            })
            .await;
        }
        lawful(|scene| {
            furnish(scene);
            "git status && git log && cat .mcp.json .git/config && echo two > src/lib.txt".into()
        })
        .await;
    });
}

#[test]
fn what_is_protected_does_not_come_into_being() {
    unprivileged::run(async || {
        for text in ["echo {} > .mcp.json", "mkdir .natter && touch .natter/x", "git init"] {
            for way in WAYS {
                let Some(scene) = Scene::new(way).await else { continue };
                let outcome = scene.run(text).await;
                let left: Vec<_> = names(&scene.project(""));
                let made = [".mcp.json", ".natter", ".git"].map(|name| left.contains(&name.into()));
                match way {
                    Preference::None => assert!(made.contains(&true), "{text}: {outcome:?}"),
                    Preference::Bubblewrap => {
                        assert!(!outcome.exit.is_success(), "{text}: {outcome:?}");
                        assert!(left.is_empty(), "{text}: {left:?}");
                    }
                    // It is created, quarantined, and reported.
                    _ => {
                        assert!(!made.contains(&true), "{text}: {left:?}");
                        assert_eq!(outcome.exit.quarantined.len(), 1, "{text}: {outcome:?}");
                        assert_eq!(left.len(), 1, "{text}: {left:?}");
                    }
                }
            }
        }
    });
}

#[test]
fn git_is_not_led_to_other_settings() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            furnish(&scene);
            let outcome = scene.run("mkdir -p src/evil && echo ../src/evil > .git/commondir").await;
            let there = scene.project(".git/commondir").exists();
            assert_eq!(there, way == Preference::None, "{way:?}: {outcome:?}");
            if way == Preference::Bubblewrap {
                assert!(!outcome.exit.is_success() && outcome.exit.quarantined.is_empty());
            }
        }
    });
}

#[test]
fn commits_are_made_inside_bubblewrap_also_in_a_linked_work_tree() {
    unprivileged::run(async || {
        let Some(mut scene) = Scene::new(Preference::Bubblewrap).await else { return };
        furnish(&scene);
        let commit = "echo two > src/lib.txt && git add src && \
            git -c user.name=Ann -c user.email=ann@example.org commit -q -m two && git log --oneline";
        assert_eq!(scene.run(commit).await.success().lines().count(), 2);

        git(&scene.project(""), &["worktree", "add", "-q", "../beside/tree", "-b", "side"]);
        scene.set_project("beside/tree");
        let commit = commit.replace("two", "three");
        assert_eq!(scene.run(commit).await.success().lines().count(), 3);
    });
}

#[test]
fn a_linked_work_tree_leads_nobody_elsewhere() {
    unprivileged::run(async || {
        for text in [
            "echo evil > $(git rev-parse --git-common-dir)/hooks/pre-commit",
            "echo evil >> $(git rev-parse --git-common-dir)/config",
            "echo evil > $(git rev-parse --git-dir)/commondir",
            "echo evil > $(git rev-parse --git-dir)/../other/commondir",
            "mv $(git rev-parse --git-dir) $(git rev-parse --git-dir)2",
            "echo gitdir: src > .git",
            "mv .git elsewhere",
        ] {
            for way in WAYS {
                let Some(mut scene) = Scene::new(way).await else { continue };
                furnish(&scene);
                for (tree, branch) in [("../beside/tree", "side"), ("../beside/other", "other")] {
                    git(&scene.project(""), &["worktree", "add", "-q", tree, "-b", branch]);
                }
                scene.set_project("beside/tree");
                let outcome = scene.run(text).await;
                let succeeds = way == Preference::None;
                assert_eq!(outcome.exit.is_success(), succeeds, "{way:?}: {text}: {outcome:?}");
                if !succeeds {
                    scene.run("git log && echo two > src/lib.txt").await.success();
                }
            }
        }
    });
}

#[test]
fn hooks_that_lie_elsewhere_are_not_replaced() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            furnish(&scene);
            std::fs::rename(scene.project(".git/hooks"), scene.project("hooks")).unwrap();
            std::os::unix::fs::symlink("../hooks", scene.project(".git/hooks")).unwrap();
            for text in ["rm .git/hooks", "mv .git elsewhere", "echo evil >> .git/config"] {
                let outcome = scene.run(text).await;
                assert!(!outcome.exit.is_success(), "{way:?}: {text}: {outcome:?}");
            }
            scene.run("git log && echo two > src/lib.txt").await.success();
        }
    });
}

#[test]
fn a_file_that_claims_to_be_a_work_tree_shows_nothing() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        write(&scene.home(".ssh/id"), "secret");
        write(&scene.home(".ssh/commondir"), ".");
        std::fs::create_dir(scene.home(".ssh/objects")).unwrap();
        write(&scene.project(".git"), &format!("gitdir: {}", scene.home(".ssh").display()));
        let outcome = scene.run("cat ~/.ssh/id").await;
        assert!(!outcome.exit.is_success(), "{outcome:?}");
    });
}

pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = folder.read_dir().unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
