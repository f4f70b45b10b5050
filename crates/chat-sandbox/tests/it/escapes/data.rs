//! Tests what a command can put into writable git data that the user's git trusts.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use chat_sandbox::Preference;

use super::meanwhile::waiting;
use super::project::git;
use super::repositories::{INIT, persons_git, prepare, wait_for_later};
use crate::support::{Scene, WAYS, write};
use crate::unprivileged;

/// What a person does, in words of git's.
const COMMIT: [&str; 9] = [
    "-c",
    "user.name=Ann",
    "-c",
    "user.email=ann@example.org",
    "commit",
    "-q",
    "--allow-empty",
    "-m",
    "evil",
];

/// Git opens what it writes by name, and follows links.
#[test]
fn no_link_in_gits_data_has_a_persons_git_write_elsewhere() {
    unprivileged::run(async || {
        for (place, words) in [
            ("COMMIT_EDITMSG", &COMMIT[..]),
            ("FETCH_HEAD", &["fetch", "-q", ".", "HEAD"]),
            ("logs/HEAD", &COMMIT),
        ] {
            for way in WAYS {
                let Some(scene) = Scene::new(way).await else { continue };
                prepare(&scene);
                let target = scene.beside("target");
                write(&target, "mine\n");
                let text = format!("ln -sf {} .git/{place}", target.display());
                let outcome = scene.run(format!("{text} || true")).await;
                persons_git(&scene.project(""), words);
                let left = std::fs::read_to_string(&target).unwrap();
                let is_bound = way != Preference::None;
                assert_eq!(left == "mine\n", is_bound, "{way:?}: {place}: {left}: {outcome:?}");
                let told = outcome.exit.quarantined.iter().any(|put| put.path.ends_with(place));
                assert_eq!(told, way == Preference::Bubblewrap, "{way:?}: {place}: {outcome:?}");
            }
        }
    });
}

#[test]
fn what_one_command_closes_and_the_next_one_opens_is_put_right() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let ran = prepare(&scene);
            let plant =
                "mkdir src/a && init && cat evil >> src/sub/.git/config && mv src/sub src/a/sub";
            let first = scene.run(format!("{INIT}\n{plant} && chmod 600 src/a")).await;
            assert!(first.exit.is_success(), "{way:?}: {first:?}");
            let second = scene.run("chmod 700 src/a").await;
            persons_git(&scene.project("src/a/sub"), &["status"]);
            assert_eq!(ran.exists(), way == Preference::None, "{way:?}: {first:?} {second:?}");
        }
    });
}

/// A repository that cannot be entered protects nothing, and stands in nobody's way.
#[test]
fn a_command_runs_beside_a_repository_that_cannot_be_entered() {
    unprivileged::run(async || {
        use std::os::unix::fs::PermissionsExt;
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        let ran = prepare(&scene);
        git(&scene.project(""), &["init", "-q", "src/lib"]);
        let data = scene.project("src/lib/.git");
        let close =
            |mode| std::fs::set_permissions(&data, PermissionsExt::from_mode(mode)).unwrap();
        close(0o600);
        let text = "chmod 700 src/lib/.git; cat evil >> src/lib/.git/config; true";
        let outcome = scene.run(text).await;
        assert!(outcome.exit.is_success(), "{outcome:?}");
        close(0o700);
        persons_git(&scene.project("src/lib"), &["status"]);
        assert!(!ran.exists(), "{outcome:?}");
    });
}

/// They lie in the work tree's own part of the data, beneath what all work trees share.
#[test]
fn submodules_of_a_linked_work_tree_are_protected() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(mut scene) = Scene::new(way).await else { continue };
            let ran = prepare(&scene);
            let (main, tree) = (scene.beside("main"), scene.beside("tree"));
            let lib = scene.beside("lib");
            for folder in [&main, &lib] {
                std::fs::create_dir_all(folder).unwrap();
                git(folder, &["init", "-q"]);
                git(folder, &["commit", "-q", "--allow-empty", "-m", "one"]);
            }
            let add = ["-c", "protocol.file.allow=always", "submodule", "add", "-q"];
            git(&main, &[&add[..], &[lib.to_str().unwrap(), "lib"]].concat());
            git(&main, &["commit", "-q", "-m", "two"]);
            git(&main, &["worktree", "add", "-q", tree.to_str().unwrap()]);
            let update =
                ["-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init"];
            git(&tree, &update);
            write(&tree.join("evil"), &std::fs::read_to_string(scene.project("evil")).unwrap());
            let data = main.join(".git/worktrees/tree/modules/lib");
            assert!(data.join("config").exists());
            scene.set_project("beside/tree");
            let text = format!("cat evil >> {}/config; mkdir -p {0}/hooks/x; true", data.display());
            let outcome = scene.run(text).await;
            persons_git(&tree.join("lib"), &["status"]);
            assert_eq!(ran.exists(), way == Preference::None, "{way:?}: {outcome:?}");
            git(&tree, &["status"]);
        }
    });
}

/// What lies beneath the data of all, and is not the work tree's own, is none of the command's.
#[test]
fn other_work_trees_are_left_alone_while_a_command_runs_in_one() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(mut scene) = Scene::new(way).await else { continue };
            prepare(&scene);
            let (tree, other) = (scene.beside("tree"), scene.beside("other"));
            for tree in [&tree, &other] {
                git(&scene.project(""), &["worktree", "add", "-q", tree.to_str().unwrap()]);
            }
            scene.set_project("beside/tree");
            let running = waiting(&scene, "true", "end", "true").await;
            git(&other, &["commit", "-q", "--allow-empty", "-m", "two"]);
            write(&tree.join("end"), "");
            let exit = running.wait().await;
            assert!(exit.quarantined.is_empty(), "{way:?}: {exit:?}");
            git(&other, &["status"]);
        }
    });
}

/// A bare repository may hold its work trees.
#[test]
fn a_work_tree_in_a_bare_repository_is_written_to_and_looked_at() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(mut scene) = Scene::new(way).await else { continue };
            let ran = prepare(&scene);
            let bare = scene.beside("bare");
            git(&scene.project(""), &["clone", "-q", "--bare", ".", bare.to_str().unwrap()]);
            let tree = bare.join("tree");
            git(&bare, &["worktree", "add", "-q", tree.to_str().unwrap()]);
            for name in ["evil", "hook"] {
                std::fs::copy(scene.project(name), tree.join(name)).unwrap();
            }
            wait_for_later(&scene, &tree.join("hook"));
            scene.set_project("beside/bare/tree");
            let outcome =
                scene.run(format!("{INIT}\ninit && cat evil >> src/sub/.git/config")).await;
            assert!(outcome.exit.is_success(), "{way:?}: {outcome:?}");
            persons_git(&tree.join("src/sub"), &["status"]);
            assert_eq!(ran.exists(), way == Preference::None, "{way:?}: {outcome:?}");
            let outcome = scene.run("echo evil >> ../config").await;
            assert_eq!(outcome.exit.is_success(), way == Preference::None, "{way:?}: {outcome:?}");
        }
    });
}

/// A link in git's data leads away under any name.
#[test]
fn of_a_link_that_was_put_aside_stays_where_it_led() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        prepare(&scene);
        let plant = format!("ln -s {} .git/FETCH_HEAD", scene.beside("x").display());
        let running = waiting(&scene, &plant, "end", "true").await;
        let kept = scene.project(".git/FETCH_HEAD.put-aside-1");
        while kept.symlink_metadata().is_err() {
            assert!(running.ended().is_none(), "{:?}", running.ended());
            tokio::task::yield_now().await;
        }
        write(&scene.project("end"), "");
        let exit = running.wait().await;
        assert_eq!(exit.quarantined.len(), 1, "{exit:?}");
        assert!(kept.symlink_metadata().unwrap().is_file());
        let said = std::fs::read_to_string(&kept).unwrap();
        assert_eq!(Path::new(&said), scene.beside("x"));
    });
}

#[test]
fn a_folder_that_nobody_may_write_to_stays_so() {
    unprivileged::run(async || {
        use std::os::unix::fs::PermissionsExt;
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        prepare(&scene);
        scene.run("mkdir src/closed && chmod 555 src/closed").await.success();
        let mode = scene.project("src/closed").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o555);
    });
}

/// Begins a rebase that stops for the person.
fn rebase(project: &Path) {
    let mut begin = Command::new("git");
    begin.arg("-C").arg(project).args(["rebase", "-q", "-i", "HEAD"]);
    let plan = "sh -c 'echo break > \"$1\"' plan";
    begin.env("GIT_SEQUENCE_EDITOR", plan).env("GIT_CONFIG_GLOBAL", "/dev/null");
    assert!(begin.output().unwrap().status.success());
}

#[test]
fn no_other_way_into_a_rebase_runs_a_program_for_a_person() {
    unprivileged::run(async || {
        let exec = "echo exec \"$PWD/hook\"";
        for (begun, texts) in [
            (
                true,
                &[
                    "mv .git/rebase-merge plan; ln -s ../plan .git/rebase-merge; EXEC >> plan/git-rebase-todo",
                ][..],
            ),
            // Its own times are older than the command that moves it there.
            (
                true,
                &[
                    "cp -r .git/rebase-merge .git/x; EXEC >> .git/x/git-rebase-todo",
                    "rm -r .git/rebase-merge; mv .git/x .git/rebase-merge",
                ],
            ),
        ] {
            for way in [Preference::Bubblewrap, Preference::None] {
                let Some(scene) = Scene::new(way).await else { continue };
                let ran = prepare(&scene);
                if begun {
                    rebase(&scene.project(""));
                }
                for text in texts {
                    let outcome = scene.run(text.replace("EXEC", exec)).await;
                    assert!(outcome.exit.is_success(), "{way:?}: {text}: {outcome:?}");
                }
                for _ in 0..2 {
                    persons_git(&scene.project(""), &["rebase", "--continue"]);
                }
                assert_eq!(ran.exists(), way == Preference::None, "{way:?}: {texts:?}");
            }
        }
    });
}

/// What one command writes does not stand there before for another one that begins meanwhile.
#[test]
fn what_another_command_wrote_meanwhile_did_not_stand_there_before() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        let ran = prepare(&scene);
        rebase(&scene.project(""));
        let todo = scene.project(".git/rebase-merge/git-rebase-todo");
        let plant = "echo exec \"$PWD/hook\" >> .git/rebase-merge/git-rebase-todo";
        let one = waiting(&scene, plant, "one", "true").await;
        let other = waiting(&scene, "true", "other", plant).await;
        for (file, running) in [("one", one), ("other", other)] {
            write(&scene.project(file), "");
            running.wait().await;
        }
        let left = std::fs::read_to_string(&todo).unwrap();
        assert!(!left.contains("exec"), "{left}");
        persons_git(&scene.project(""), &["rebase", "--continue"]);
        assert!(!ran.exists());
    });
}

/// A strategy is a program's name, and git's own prompt for shells has bash expand the counters.
#[test]
fn no_file_of_a_rebase_names_a_program_or_holds_one() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::None] {
            let Some(scene) = Scene::new(way).await else { continue };
            prepare(&scene);
            rebase(&scene.project(""));
            let evil = [
                ("rebase-merge/strategy", "x/evil\n"),
                ("rebase-merge/msgnum", "$(touch${IFS}x)\n"),
                ("rebase-merge/end", "$(touch${IFS}x)\n"),
                ("rebase-apply/next", "$(touch${IFS}x)\n"),
                ("rebase-apply/last", "`touch${IFS}x`\n"),
                ("sequencer/opts", "[options]\n\tstrategy = x/evil\n"),
            ];
            let mut text = "mkdir -p .git/rebase-apply .git/sequencer\n".to_owned();
            for (place, what) in evil {
                let _ = write!(text, "cat > .git/{place} <<'E'\n{what}E\n");
            }
            let outcome = scene.run(text).await;
            assert!(outcome.exit.is_success(), "{outcome:?}");
            for (place, _) in evil {
                let path = scene.project(".git").join(place);
                assert_eq!(path.exists(), way == Preference::None, "{way:?}: {place}: {outcome:?}");
            }
            // What git itself writes there stays.
            let lawful =
                "cd .git && printf 1 > rebase-merge/msgnum && echo 12 > rebase-merge/end &&
                echo recursive > rebase-merge/strategy && echo 3 > rebase-apply/next &&
                printf '[options]\\n\\tstrategy = ort\\n\\tsignoff = true\\n' > sequencer/opts";
            let outcome = scene.run(lawful).await;
            assert!(
                outcome.exit.is_success() && outcome.exit.quarantined.is_empty(),
                "{outcome:?}"
            );
            assert_eq!(
                std::fs::read_to_string(scene.project(".git/rebase-merge/msgnum")).unwrap(),
                "1"
            );
        }
    });
}
