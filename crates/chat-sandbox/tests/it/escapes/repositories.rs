//! Tests repositories that a command creates, or that lose their protection: what the user's git
//! does in them later runs outside.

use std::fs::File;
use std::path::Path;
use std::process::Command;

use chat_sandbox::{Ended, Preference, QuarantineReason, QuarantinedFile};
use rustix::fs::{FlockOperation, flock};

use super::meanwhile::waiting;
use super::project::{furnish, git};
use crate::support::{Scene, WAYS, write};
use crate::unprivileged;

/// Settings that have git touch a file.
fn evil(ran: &Path) -> String {
    format!("[core]\n\tfsmonitor = \"touch {}; false\"\n", ran.display())
}

/// Makes a repository with a commit.
pub(super) const INIT: &str =
    "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a
    init() { git init -q src/sub && git -C src/sub commit -q --allow-empty -m one; }";

/// Ways to have git run something in `src/sub`. `evil` is a file of such settings, `hook` a
/// program, and `old` data of git's that was there before.
const PLANTED: &[&str] = &[
    "init && cat evil >> src/sub/.git/config",
    "git init -q --bare src/other && git -C src/other config core.bare false &&
        cat evil >> src/other/config && mkdir src/sub && mv src/other src/sub/.git",
    "init && mkdir -p src/a/b/c/d/e/f/g/h/i && cat evil >> src/sub/.git/config &&
        mv src/sub/.git src/a/b/c/d/e/f/g/h/i/data &&
        echo gitdir: ../a/b/c/d/e/f/g/h/i/data > src/sub/.git",
    "init && mv src/sub/.git src/data && cat evil >> src/data/config &&
        ln -s ../data src/sub/.git",
    "init && git -C src/sub config include.path ../../../evil",
    "init && git -C src/sub config includeIf.gitdir:/.path ../../../evil",
    "init && cp hook src/sub/.git/hooks/post-checkout",
    "init && rm -r src/sub/.git/hooks && mkdir src/h && cp hook src/h/post-checkout &&
        ln -s ../../h src/sub/.git/hooks",
    "init && git -C src/sub config core.hooksPath ../h && mkdir src/h &&
        cp hook src/h/post-checkout",
    "git init -q --bare src/sub && git -C src/sub config core.bare false &&
        git -C src/sub config core.worktree .. && cat evil >> src/sub/config",
    "init && git init -q --bare src/common && cat evil >> src/common/config &&
        git -C src/common config core.bare false && echo ../../common > src/sub/.git/commondir",
    "init && git -C src/sub config extensions.worktreeConfig true &&
        cp evil src/sub/.git/config.worktree",
    "init && cat evil >> src/sub/.git/config && chmod 311 src/sub",
    "init && cat evil >> src/sub/.git/config && chmod 555 src/sub/.git",
    "mkdir src/sub && echo gitdir: ../../old > src/sub/.git",
    "mkdir src/sub && ln -s ../../old src/sub/.git",
    "init && (ln evil src/sub/.git/c || cp evil src/sub/.git/c) && mv src/sub/.git/c src/sub/.git/config",
];

#[test]
fn what_a_new_repository_would_run_is_put_aside() {
    unprivileged::run(async || {
        for text in PLANTED {
            for way in WAYS {
                let Some(scene) = Scene::new(way).await else { continue };
                let ran = prepare(&scene);
                // Where git's data cannot be written to, nothing leads there from the top.
                let outcome =
                    scene.run(format!("{INIT}\n{text} && (git add src/sub || true)")).await;
                assert!(outcome.exit.is_success(), "{way:?}: {text}: {outcome:?}");
                for folder in ["", "src/sub"] {
                    persons_git(&scene.project(folder), &["status"]);
                }
                persons_git(&scene.project("src/sub"), &["checkout", "-q", "-b", "other"]);
                assert_eq!(ran.exists(), way == Preference::None, "{way:?}: {text}: {outcome:?}");
                let put = &outcome.exit.quarantined;
                assert_eq!(put.is_empty(), way == Preference::None, "{way:?}: {text}");
                assert!(!outcome.exit.is_partly_unseen);
                for QuarantinedFile { path, moved_to: kept, why } in put {
                    assert!(kept.symlink_metadata().is_ok(), "{way:?}: {text}: {}", kept.display());
                    assert_eq!(
                        (*why, path.parent()),
                        (QuarantineReason::RunsPrograms, kept.parent())
                    );
                }
            }
        }
    });
}

/// A project that is surely older than what comes next; says what must not come to be.
pub(super) fn prepare(scene: &Scene) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    furnish(scene);
    let ran = scene.beside("ran");
    write(&scene.project("evil"), &evil(&ran));
    let hook = scene.project("hook");
    write(&hook, &format!("#!/bin/sh\ntouch {}\n", ran.display()));
    std::fs::set_permissions(&hook, PermissionsExt::from_mode(0o755)).unwrap();
    git(&scene.project(""), &["init", "-q", "--bare", "old"]);
    let config = format!("{}\tbare = false\n\trepositoryformatversion = 0\n", evil(&ran));
    write(&scene.project("old/config"), &config);
    wait_for_later(scene, &scene.project("old/config"));
    ran
}

/// Waits until what is changed is surely later than this was.
pub(super) fn wait_for_later(scene: &Scene, than: &Path) {
    use std::os::unix::fs::MetadataExt;
    let changed = |path: &Path| {
        let found = path.metadata().unwrap();
        (found.ctime(), found.ctime_nsec())
    };
    let now = scene.beside("now");
    while {
        write(&now, "");
        changed(&now)
    } <= changed(than)
    {}
}

/// What a person's git does, whether or not it succeeds.
pub(super) fn persons_git(folder: &Path, words: &[&str]) {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(words).env("GIT_CONFIG_GLOBAL", "/dev/null");
    git.output().unwrap();
}

#[test]
fn a_lawful_new_repository_stays_as_it_is() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            furnish(&scene);
            let text = "git init -q src/sub && cd src/sub && git config user.name Ann &&
                git config user.email ann@example.org && git remote add origin https://example.org/a.git &&
                git commit -q --allow-empty -m one && cd .. && git clone -q sub copy && git -C copy log";
            let outcome = scene.run(text).await;
            assert!(outcome.exit.is_success(), "{way:?}: {outcome:?}");
            assert!(outcome.exit.quarantined.is_empty(), "{way:?}: {outcome:?}");
            let text = std::fs::read_to_string(scene.project("src/sub/.git/config")).unwrap();
            assert!(text.contains("name = Ann") && text.contains("example.org/a.git"), "{text}");
            scene.run("git -C src/copy log && git -C src/sub status").await.success();
        }
    });
}

#[test]
fn a_new_repository_is_put_right_while_the_command_runs() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            let ran = prepare(&scene);
            let running =
                waiting(&scene, &format!("{INIT}\n{}", PLANTED[0]), "src/end", "true").await;
            let kept = scene.project("src/sub/.git/config.put-aside-1");
            while !kept.exists() {
                assert!(running.ended().is_none(), "{way:?}: {:?}", running.ended());
                tokio::task::yield_now().await;
            }
            persons_git(&scene.project("src/sub"), &["status"]);
            assert!(!ran.exists(), "{way:?}");
            write(&scene.project("src/end"), "");
            let put = running.wait().await.quarantined;
            assert_eq!(put.len(), 1, "{way:?}: {put:?}");
        }
    });
}

/// A person's git renames new settings into place, and the mount goes with the old ones.
#[test]
fn settings_that_a_person_writes_meanwhile_give_the_command_no_way() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        let ran = prepare(&scene);
        git(&scene.project(""), &["config", "core.editor", "vim"]);
        let write =
            "until cat evil >> .git/config; do :; done 2> /dev/null; echo written; sleep 600";
        let running = waiting(&scene, "true", "go", write).await;
        std::fs::write(scene.project("go"), "").unwrap();
        git(&scene.project(""), &["remote", "add", "origin", "https://example.org/a.git"]);
        let exit = running.wait().await;
        assert_eq!(exit.ended, Ended::Exposed);
        persons_git(&scene.project(""), &["status"]);
        assert!(!ran.exists(), "{exit:?}: {}", running.spool().excerpt());
        let config = std::fs::read_to_string(scene.project(".git/config")).unwrap();
        assert!(config.contains("example.org/a.git") && config.contains("vim"), "{config}");
    });
}

/// While another program's commands run nothing nested can be protected.
#[test]
fn a_nested_repository_beside_another_programs_command_is_put_right() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        let ran = prepare(&scene);
        git(&scene.project(""), &["init", "-q", "src/lib"]);
        git(&scene.project("src/lib"), &["config", "core.editor", "vim"]);
        let other = File::open(scene.project("")).unwrap();
        flock(&other, FlockOperation::LockShared).unwrap();
        let text = "cat evil >> src/lib/.git/config; cp hook src/lib/.git/hooks/post-checkout";
        let outcome = scene.run(text).await;
        assert_eq!(outcome.exit.quarantined.len(), 2, "{outcome:?}");
        persons_git(&scene.project("src/lib"), &["status"]);
        persons_git(&scene.project("src/lib"), &["checkout", "-q", "-b", "other"]);
        assert!(!ran.exists(), "{outcome:?}");
        let config = std::fs::read_to_string(scene.project("src/lib/.git/config")).unwrap();
        assert!(config.contains("vim"), "{config}");
    });
}

/// In bubblewrap a command may rebase; in Landlock it changes nothing in git's data.
#[test]
fn a_rebase_that_a_person_goes_on_with_runs_nothing_that_a_command_put_there() {
    unprivileged::run(async || {
        // The second leaves a folder that git can use and nobody can list.
        let ends = ["", " && chmod 311 .git/rebase-merge"];
        let ways = [Preference::Bubblewrap, Preference::None];
        for (way, end) in ways.into_iter().flat_map(|way| ends.map(|end| (way, end))) {
            let Some(scene) = Scene::new(way).await else { continue };
            let ran = prepare(&scene);
            let project = scene.project("");
            let todo = project.join(".git/rebase-merge/git-rebase-todo");
            // It stops for the person, who has something run by it too.
            let plan = "sh -c 'printf \"break\\nexec true\\nbreak\\n\" > \"$1\"' plan";
            let mut begin = Command::new("git");
            begin.arg("-C").arg(&project).args(["rebase", "-q", "-i", "HEAD"]);
            begin.env("GIT_SEQUENCE_EDITOR", plan).env("GIT_CONFIG_GLOBAL", "/dev/null");
            assert!(begin.output().unwrap().status.success());
            assert_eq!(std::fs::read_to_string(&todo).unwrap(), "exec true\nbreak\n");
            let hook = scene.project("hook");
            let text = format!("echo exec {} >> {}{end}", hook.display(), todo.display());
            let outcome = scene.run(text).await;
            assert!(outcome.exit.is_success(), "{way:?}: {outcome:?}");
            let left = std::fs::read_to_string(&todo).unwrap();
            assert_eq!(left.contains("hook"), way == Preference::None, "{way:?}: {left}");
            assert!(left.starts_with("exec true\nbreak\n"), "{way:?}: {left}");
            let put: Vec<_> = outcome.exit.quarantined.iter().map(|put| put.path.clone()).collect();
            assert_eq!(put, if way == Preference::None { vec![] } else { vec![todo] });
            persons_git(&project, &["rebase", "--continue"]);
            persons_git(&project, &["rebase", "--continue"]);
            assert_eq!(ran.exists(), way == Preference::None, "{way:?}");
        }
    });
}
