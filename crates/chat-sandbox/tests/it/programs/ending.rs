//! Tests how programs end: by themselves, with their handle, and with Natter.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use chat_sandbox::{Ended, FolderAccess, GrantedFolder, Limit, Pipes, Preference, RunningProgram};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use super::{granted, program, start};
use crate::support::{Scene, WAYS};
use crate::unprivileged;

/// Longer than any test runs.
const LONG: Duration = Duration::from_mins(10);

/// Enough for a signal to arrive, and no test fails if it does not.
const SHORT: Duration = Duration::from_millis(100);

/// Starts a program that says when it is ready.
async fn ready(scene: &Scene, text: &str) -> (RunningProgram, Pipes) {
    let (running, mut pipes) = start(scene, program(scene, text)).await;
    let mut word = [0; 6];
    pipes.stdout.read_exact(&mut word).await.unwrap();
    assert_eq!(&word, b"ready\n");
    (running, pipes)
}

#[test]
fn a_program_that_dies_in_the_middle_ends_its_pipes_and_says_how() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            for (text, ended) in [
                ("read -r line; echo $line; kill -9 $$", Ended::Signal(9)),
                ("read -r line; echo $line; kill -SEGV $$", Ended::Signal(11)),
                ("read -r line; echo $line; exit 3", Ended::Status(3)),
                ("read -r line; echo $line; exit 255", Ended::Status(255)),
            ] {
                let (running, Pipes { mut stdin, stdout, .. }) =
                    start(&scene, program(&scene, text)).await;
                stdin.write_all(b"half\n").await.unwrap();
                let mut answers = BufReader::new(stdout).lines();
                assert_eq!(answers.next_line().await.unwrap().as_deref(), Some("half"));
                assert_eq!(answers.next_line().await.unwrap(), None, "{way:?}");
                assert_eq!(running.wait().await.ended, ended, "{way:?}: {text}");
                let written = stdin.write_all(b"more\n").await;
                assert_eq!(written.unwrap_err().kind(), ErrorKind::BrokenPipe, "{way:?}");
            }
        }
    });
}

#[test]
fn it_is_ended_gently_first_and_firmly_at_last() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let (running, pipes) = ready(&scene, "echo ready; cat; exit 5").await;
            assert_eq!(running.end(LONG).await.ended, Ended::Status(5), "{way:?}");
            drop(pipes);

            // It waits for a process of its own, which must be asked, too.
            let waits = "trap : TERM; sleep 600 & echo ready; \
                while kill -0 $! 2>/dev/null; do wait $!; done; exit 7";
            let (running, pipes) = ready(&scene, waits).await;
            running.close_stdin();
            running.terminate();
            assert_eq!(running.wait().await.ended, Ended::Status(7), "{way:?}");
            drop(pipes);

            let (running, _pipes) = ready(&scene, "echo ready; exec sleep 600").await;
            running.terminate();
            assert_eq!(running.wait().await.ended, Ended::Signal(15), "{way:?}");

            // Nobody reads what this one prints.
            let stubborn = "trap '' TERM; echo ready; while :; do echo $RANDOM; done";
            let (running, _pipes) = ready(&scene, stubborn).await;
            assert_eq!(running.end(SHORT).await.ended, Ended::Stopped, "{way:?}");
        }
    });
}

#[test]
fn whoever_writes_is_not_left_waiting_when_it_is_ended() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let (running, mut pipes) = ready(&scene, "echo ready; exec sleep 600").await;
            let writer =
                tokio::spawn(async move { pipes.stdin.write_all(&vec![b'x'; 1 << 20]).await });
            // The pipe is full then, and it waits.
            tokio::task::yield_now().await;
            running.close_stdin();
            let error = writer.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe, "{way:?}");
            drop(running);
        }
    });
}

/// Leaves a process behind that has left everything, and holds a pipe by name open.
const LEAVE: &str =
    "exec 3> alive; setsid sh -c 'sleep 600 & sleep 600' & echo ready; cat; sleep 600";

fn alive(folder: &Path) {
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("alive"), 0o600.into()).unwrap();
}

#[test]
fn dropping_the_handle_ends_all_of_its_processes() {
    unprivileged::run(async || {
        for way in WAYS {
            for keeps_pipes in [false, true] {
                let Some(scene) = Scene::new(way).await else { continue };
                alive(&scene.project(""));
                let mut leave = program(&scene, LEAVE);
                leave.granted = vec![granted(&scene, FolderAccess::Write)];
                leave.folder = Some(scene.project(""));
                let (running, mut pipes) = start(&scene, leave).await;
                // Both open when the program does.
                let mut alive = File::open(scene.project("alive")).unwrap();
                pipes.stdout.read_exact(&mut [0; 6]).await.unwrap();
                let pipes = keeps_pipes.then_some(pipes);
                drop(running);
                assert_eq!(alive.read(&mut [0]).unwrap(), 0, "{way:?}");
                if let Some(mut pipes) = pipes {
                    assert_eq!(pipes.stdout.read(&mut [0]).await.unwrap(), 0, "{way:?}");
                }
            }
        }
    });
}

/// The folder in which a program of its own is to start a program, and then to be killed.
const PART: &str = "NATTER_TEST_PROGRAM_IN";

/// Nothing is started to clean up, unlike for commands.
#[test]
fn a_natter_that_is_killed_leaves_no_program() {
    unprivileged::run(async || {
        if let Ok(folder) = std::env::var(PART) {
            start_and_wait_to_be_killed(Path::new(&folder)).await;
        }
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            alive(&scene.project(""));
            let name = "programs::ending::a_natter_that_is_killed_leaves_no_program";
            let mut natter = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", name, "--nocapture"])
                .env(PART, scene.project(""))
                .env("NATTER_TEST_WAY", format!("{way:?}"))
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            let mut alive = File::open(scene.project("alive")).unwrap();
            natter.kill().unwrap();
            natter.wait().unwrap();
            // Ends when nobody holds it any more.
            assert_eq!(alive.read(&mut [0]).unwrap(), 0, "{way:?}");
        }
    });
}

async fn start_and_wait_to_be_killed(folder: &Path) {
    let way = match std::env::var("NATTER_TEST_WAY").unwrap().as_str() {
        "Bubblewrap" => Preference::Bubblewrap,
        "Landlock" => Preference::Landlock,
        _ => Preference::None,
    };
    let scene = Scene::new(way).await.unwrap();
    let mut leave = program(&scene, LEAVE);
    let folder: std::path::PathBuf = folder.components().collect();
    leave.folder = Some(folder.clone());
    leave.granted = vec![GrantedFolder { path: folder, access: FolderAccess::Write }];
    let (running, _pipes) = start(&scene, leave).await;
    let exit = running.wait().await;
    panic!("{way:?}: it ended by itself: {exit:?}");
}

#[test]
fn it_is_ended_over_a_limit() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let eat = "head -c 400000000 /dev/zero | tail | (sleep 600; cat)";
            let mut eat = program(&scene, eat);
            eat.limits.memory = 100 << 20;
            let (running, _pipes) = start(&scene, eat).await;
            assert_eq!(running.wait().await.ended, Ended::Limit(Limit::Memory), "{way:?}");
        }
    });
}
