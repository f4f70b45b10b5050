//! Tests reading and writing outside the project.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use chat_sandbox::Preference;

use super::{attempt, lawful};
use crate::support::{Scene, write};
use crate::unprivileged;

const SECRET: &str = "correct horse battery staple";

/// Tries to read a file in as many ways as there are words for it.
async fn nobody_reads(place: fn(&Scene) -> PathBuf) {
    type Word = fn(&Scene, &Path) -> String;
    let words: [Word; 5] = [
        |_, path| format!("cat '{}'", path.display()),
        // Up to the root and down again.
        |_, path| format!("cat ../../../../../../../../../..{}", path.display()),
        |scene, path| {
            symlink(path, scene.project("link")).unwrap();
            "cat link".into()
        },
        |_, path| format!("cat /proc/self/root{}", path.display()),
        |_, path| format!("ln '{}' copy && cat copy", path.display()),
    ];
    for word in words {
        let outcomes = attempt(|scene| {
            let path = place(scene);
            write(&path, SECRET);
            word(scene, &path)
        });
        for (way, _, outcome) in outcomes.await {
            assert_eq!(outcome.said.contains(SECRET), way == Preference::None, "{outcome:?}");
        }
    }
}

#[test]
fn the_keys_in_the_home_folder_are_not_read() {
    unprivileged::run(async || {
        nobody_reads(|scene| scene.home(".ssh/id_ed25519")).await;
        nobody_reads(|scene| scene.home(".cargo/credentials.toml")).await;
        lawful(|scene| {
            write(&scene.home(".local/bin/tool"), SECRET);
            "cat ~/.local/bin/tool".into()
        })
        .await;
    });
}

/// A person may keep a toolchain among the files that they work on, with a link to it.
#[test]
fn a_link_that_a_command_leaves_where_a_toolchain_was_leads_nowhere() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(mut scene) = Scene::new(way).await else { continue };
            let [key, tool] = [scene.home(".ssh/id_ed25519"), scene.project("local/bin/tool")];
            write(&key, SECRET);
            write(&tool, "#!/bin/sh\necho works\n");
            write(&scene.home("other/file"), "");
            let lets_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(&tool, lets_run).unwrap();
            std::fs::create_dir(scene.home(".local")).unwrap();
            symlink(scene.project("local/bin"), scene.home(".local/bin")).unwrap();
            // The lawful twin.
            assert_eq!(scene.run("~/.local/bin/tool").await.success(), "works", "{way:?}");
            let keys = scene.home(".ssh");
            let swap = format!("mv local/bin was && ln -s '{}' local/bin", keys.display());
            scene.run(swap).await.success();
            // It is what a shell outside would follow.
            assert!(std::fs::read_to_string(scene.home(".local/bin/id_ed25519")).is_ok());
            for project in ["project", "home/other"] {
                scene.set_project(project);
                let outcome = scene.run("cat ~/.local/bin/id_ed25519").await;
                assert!(!outcome.exit.is_success(), "{way:?} {project}: {outcome:?}");
                assert!(!outcome.said.contains(SECRET), "{way:?} {project}: {outcome:?}");
            }
        }
    });
}

#[test]
fn what_natter_keeps_is_not_read() {
    unprivileged::run(async || {
        nobody_reads(|scene| scene.home(".config/natter/config.toml")).await;
        nobody_reads(|scene| scene.home(".local/share/natter/natter.db")).await;
        nobody_reads(|scene| scene.home(".local/state/natter/drafts.json")).await;
    });
}

#[test]
fn what_lies_beside_the_project_is_neither_read_nor_listed() {
    unprivileged::run(async || {
        nobody_reads(|scene| scene.beside("file")).await;
        attempt(|scene| format!("ls '{}'", scene.beside("").display())).await;
        lawful(|scene| {
            write(&scene.project("inside"), SECRET);
            symlink("inside", scene.project("link")).unwrap();
            "cat link ./../project/inside && ln inside other && ls".into()
        })
        .await;
    });
}

#[test]
fn nothing_is_written_outside_the_project() {
    unprivileged::run(async || {
        let words: [fn(&Scene) -> String; 4] = [
            |scene| format!("echo changed > '{}'", scene.beside("file").display()),
            |_| "echo changed > ../beside/file".into(),
            |scene| {
                symlink(scene.beside(""), scene.project("out")).unwrap();
                "echo changed > out/file".into()
            },
            |scene| format!("mv '{}' moved", scene.beside("file").display()),
        ];
        for word in words {
            let outcomes = attempt(|scene| {
                write(&scene.beside("file"), "as it was");
                word(scene)
            });
            for (way, scene, _) in outcomes.await {
                let now = std::fs::read_to_string(scene.beside("file")).unwrap_or_default();
                assert_eq!(now == "as it was", way != Preference::None, "{way:?}: {now}");
            }
        }
        lawful(|_| "echo changed > file && mkdir folder && mv file folder/".into()).await;
    });
}

#[test]
fn a_file_outside_is_not_emptied() {
    unprivileged::run(async || {
        let words = ["truncate -s 0 '{}'", ": > '{}'", "rm '{}'"];
        for word in words {
            let outcomes = attempt(|scene| {
                let path = scene.beside("file");
                write(&path, SECRET);
                word.replace("{}", path.to_str().unwrap())
            });
            for (way, scene, _) in outcomes.await {
                let now = std::fs::read_to_string(scene.beside("file")).unwrap_or_default();
                assert_eq!(now == SECRET, way != Preference::None, "{way:?}");
            }
        }
        lawful(|scene| {
            write(&scene.project("file"), SECRET);
            "truncate -s 0 file && rm file".into()
        })
        .await;
    });
}

/// Root could do all this without a sandbox, so it is root who must not be able to inside.
#[tokio::test]
async fn the_system_is_neither_changed_nor_asked_for_passwords() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("Only root can try this.");
        return;
    }
    // Opened for writing, not written to.
    for text in [": >> /etc/passwd", ": >> /usr/bin/env", "cat /etc/shadow", "ls /root/.config"] {
        attempt(|_| text.into()).await;
    }
    lawful(|_| "cat /etc/passwd && ls /usr/bin".into()).await;
}
