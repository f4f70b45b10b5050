//! Tests programs that are talked to over pipes, with each back end.

mod bounds;
mod ending;

use std::ffi::OsString;

use chat_sandbox::{
    Ended, FolderAccess, GrantedFolder, Pipes, Preference, Program, RunningProgram, StandardError,
};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

use crate::support::{Scene, WAYS};
use crate::unprivileged;

/// A program that runs this text of a shell.
fn program(scene: &Scene, text: &str) -> Program {
    let mut program = Program::new("test", "bash");
    program.arguments = ["-c", text].map(OsString::from).into();
    program.environment = vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())];
    program.home = Some(scene.home(""));
    program
}

fn granted(scene: &Scene, access: FolderAccess) -> GrantedFolder {
    GrantedFolder { path: scene.project("").components().collect(), access }
}

async fn start(scene: &Scene, program: Program) -> (RunningProgram, Pipes) {
    scene.sandbox().spawn_program(program).await.unwrap()
}

/// Runs a program to its end, and returns how it ended, and what it printed.
async fn run(scene: &Scene, program: Program) -> (Ended, String) {
    let (running, mut pipes) = start(scene, program).await;
    drop(pipes.stdin);
    let mut printed = String::new();
    pipes.stdout.read_to_string(&mut printed).await.unwrap();
    (running.wait().await.ended, printed)
}

/// A program that repeats each line.
const ECHO: &str = "echo begun >&2; cat; echo over >&2";

#[test]
fn much_goes_through_both_pipes_and_standard_error_is_apart() {
    unprivileged::run(async || {
        let lines: Vec<u8> =
            (0..1_100_000).flat_map(|line| format!("{line:08}\n").into_bytes()).collect();
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let echo = Program { standard_error: StandardError::Pipe, ..program(&scene, ECHO) };
            let (running, Pipes { mut stdin, mut stdout, stderr }) = start(&scene, echo).await;
            let to_write = lines.clone();
            let writer = tokio::spawn(async move {
                stdin.write_all(&to_write).await.unwrap();
                stdin.shutdown().await.unwrap();
            });
            let mut read = Vec::new();
            stdout.read_to_end(&mut read).await.unwrap();
            writer.await.unwrap();
            assert!(read == lines, "{way:?}: {} bytes", read.len());
            let mut said = String::new();
            stderr.unwrap().read_to_string(&mut said).await.unwrap();
            assert_eq!(said, "begun\nover\n", "{way:?}");
            let exit = running.wait().await;
            assert!(exit.is_success(), "{way:?}: {exit:?}");
            assert_eq!(running.ended(), Some(exit));
        }
    });
}

#[test]
fn each_line_is_answered_while_the_pipe_stays_open() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let (_running, Pipes { mut stdin, stdout, .. }) =
                start(&scene, program(&scene, ECHO)).await;
            let mut answers = BufReader::new(stdout).lines();
            for line in ["one", "", "-x $HOME", "end"] {
                stdin.write_all(format!("{line}\n").as_bytes()).await.unwrap();
                stdin.flush().await.unwrap();
                let answer = answers.next_line().await.unwrap();
                assert_eq!(answer.as_deref(), Some(line), "{way:?}");
            }
        }
    });
}

#[test]
fn what_it_says_on_standard_error_goes_into_a_log_that_stays() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let path = scene.beside("log");
            for _ in 0..2 {
                let mut echo = program(&scene, ECHO);
                echo.standard_error = StandardError::Log(path.clone());
                assert_eq!(run(&scene, echo).await, (Ended::Status(0), String::new()), "{way:?}");
            }
            let kept = std::fs::read_to_string(&path).unwrap();
            assert_eq!(kept, "begun\nover\nbegun\nover\n", "{way:?}");
            let mut much =
                program(&scene, "yes $(printf %0100d 1) | head -n 50000 >&2; echo last >&2");
            much.standard_error = StandardError::Log(path.clone());
            assert_eq!(run(&scene, much).await.0, Ended::Status(0), "{way:?}");
            let kept = std::fs::read_to_string(&path).unwrap();
            assert!((1 << 18..=1 << 20).contains(&kept.len()), "{way:?}: {}", kept.len());
            assert!(kept.starts_with("000") && kept.ends_with("1\nlast\n"), "{way:?}");
        }
    });
}

#[test]
fn arguments_are_no_text_of_a_shell() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let mut printf = program(&scene, "");
            let words = ["%s|", "$HOME", "a b", "`id`", "", "'", "-n", "*"];
            printf.program = "printf".into();
            printf.arguments = words.map(OsString::from).into();
            let (ended, printed) = run(&scene, printf).await;
            assert_eq!(ended, Ended::Status(0), "{way:?}");
            assert_eq!(printed, "$HOME|a b|`id`||'|-n|*|", "{way:?}");
        }
    });
}

#[test]
fn its_environment_is_what_is_always_passed_on_and_what_was_given() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let mut env = program(&scene, "env");
            env.environment.push(("GIVEN".into(), "a b".into()));
            let (_, printed) = run(&scene, env).await;
            assert!(printed.lines().any(|line| line == "GIVEN=a b"), "{way:?}: {printed}");
            // This process has it.
            assert!(std::env::var_os("NATTER_TEST_AGAIN").is_some());
            assert!(!printed.contains("NATTER_TEST_AGAIN"), "{way:?}: {printed}");
        }
    });
}

#[test]
fn its_files_and_caches_are_kept_and_no_other_program_sees_them() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            let keep = "caches=${XDG_CACHE_HOME:-$HOME/.cache}; mkdir -p $caches/uv $npm_config_cache; \
                cat kept $caches/uv/kept $npm_config_cache/kept; \
                echo files > kept; echo uv > $caches/uv/kept; echo npm > $npm_config_cache/kept";
            let all = "files\nuv\nnpm\n";
            assert_eq!(run(&scene, program(&scene, keep)).await, (Ended::Status(0), String::new()));
            assert_eq!(run(&scene, program(&scene, keep)).await.1, all, "{way:?}");
            let other = Program { name: "other".into(), ..program(&scene, keep) };
            assert_eq!(run(&scene, other).await.1, "", "{way:?}");
            let outcome = scene.run("ls ~/.cache/uv ~/.cache/npm").await;
            assert!(!outcome.said.contains("kept"), "{way:?}: {outcome:?}");

            chat_sandbox::remove_program_files("test", Some(&scene.home(""))).unwrap();
            assert_eq!(run(&scene, program(&scene, keep)).await.1, "", "{way:?}");
            let other = Program { name: "other".into(), ..program(&scene, keep) };
            assert_eq!(run(&scene, other).await.1, all, "{way:?}");
            chat_sandbox::remove_program_files("none", Some(&scene.home(""))).unwrap();
        }
    });
}
