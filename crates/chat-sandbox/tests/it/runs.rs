//! Lawful commands: what they are given, what they say, and how they end, in each way alike.

use std::time::Duration;

use chat_sandbox::{Ended, Error, Stream};

use crate::support::{Scene, WAYS, write};

#[tokio::test]
async fn a_command_runs_in_the_project_and_its_two_streams_are_told_apart() {
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        let outcome = scene.run("pwd; sleep 0.1; echo wrong >&2").await;
        let project = scene.project("");
        let project = project.to_str().unwrap().trim_end_matches('/');
        assert_eq!(outcome.success(), format!("{project}\n[standard error]\nwrong"), "{way:?}");
    }
}

#[tokio::test]
async fn status_signal_and_time_limit_are_told() {
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        assert_eq!(scene.run("exit 3").await.exit.ended, Ended::Status(3), "{way:?}");
        assert_eq!(scene.run("kill -9 $$").await.exit.ended, Ended::Signal(9), "{way:?}");
        let mut slow = scene.command("echo begun; sleep 600");
        let limit = Duration::from_millis(300);
        slow.limit = Some(limit);
        let outcome = scene.run_command(slow).await;
        assert_eq!(outcome.exit.ended, Ended::TimedOut(limit), "{way:?}");
        assert_eq!(outcome.said, "begun\n", "{way:?}");
    }
}

#[tokio::test]
async fn what_it_writes_in_the_project_stays_and_nobody_waits_for_its_input() {
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        write(&scene.project("src/lib.txt"), "one\n");
        let outcome = scene.run("cat; echo two >> src/lib.txt; cat src/lib.txt").await;
        assert_eq!(outcome.success(), "one\ntwo", "{way:?}");
        assert_eq!(std::fs::read_to_string(scene.project("src/lib.txt")).unwrap(), "one\ntwo\n");
    }
}

#[tokio::test]
async fn a_command_has_a_place_for_passing_files() {
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        scene.run("f=$(mktemp) && echo x > $f && cat $f && rm $f").await.success();
    }
}

#[tokio::test]
async fn output_comes_while_the_command_runs() {
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        let fifo = scene.project("go");
        rustix::fs::mkfifoat(rustix::fs::CWD, &fifo, 0o600.into()).unwrap();
        let command = scene.command("echo first; read -r word < go; echo $word; sleep 600");
        let spawned = scene.sandbox().spawn_followed(command, scene.spool()).await;
        let (running, mut follow) = spawned.unwrap();
        assert_eq!(follow.next().await.unwrap().bytes, b"first\n", "{way:?}");
        // It opens only once the command reads.
        let go = move || std::fs::write(fifo, "on\n");
        tokio::task::spawn_blocking(go).await.unwrap().unwrap();
        let chunk = follow.next().await.unwrap();
        assert_eq!((chunk.stream, chunk.bytes.as_slice()), (Stream::Out, &b"on\n"[..]), "{way:?}");
        running.stop();
        assert_eq!(follow.next().await, None);
        assert_eq!(running.wait().await.ended, Ended::Stopped, "{way:?}");
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_is_refused_before_anything_runs() {
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        let spawn = |change: &dyn Fn(&mut chat_sandbox::Command)| {
            let mut command = scene.command("true");
            change(&mut command);
            let (sandbox, spool) = (scene.sandbox().clone(), scene.spool());
            async move { sandbox.spawn(command, spool).await.err() }
        };
        let outside = spawn(&|command| command.folder = scene.beside("")).await;
        assert!(matches!(outside, Some(Error::Outside(_))), "{outside:?}");
        let missing = spawn(&|command| command.project = scene.project("none")).await;
        assert!(matches!(missing, Some(Error::Folder { .. })), "{missing:?}");
        let nul = spawn(&|command| command.text = "a\0b".into()).await;
        assert!(matches!(nul, Some(Error::Nul)), "{nul:?}");
    }
}
