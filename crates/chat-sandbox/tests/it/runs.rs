//! Tests ordinary commands: their input, their output, and how they end, with each back end.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

use chat_sandbox::{Ended, Error, Keep, Preference, Stream};

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
        for status in [137, 139, 150, 255] {
            let outcome = scene.run(format!("exit {status}")).await;
            assert_eq!(outcome.exit.ended, Ended::Status(status), "{way:?}");
        }
        // What the shell says of what it ran is the shell's own.
        let told = scene.run("sh -c 'kill -9 $$'; exit $?").await;
        assert_eq!(told.exit.ended, Ended::Status(137), "{way:?}");
        assert_eq!(scene.run("kill -SEGV $$").await.exit.ended, Ended::Signal(11), "{way:?}");
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

/// Folders of every size: bubblewrap copies the smallest.
#[tokio::test]
async fn programs_of_the_persons_home_run_and_are_not_changed() {
    for files in [1, 3, 4, 40] {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let tools = scene.home(".local/bin");
            for number in 0..files {
                let tool = tools.join(format!("tool{number}"));
                write(&tool, &format!("#!/bin/sh\necho number {number}\n"));
                std::fs::set_permissions(tool, PermissionsExt::from_mode(0o755)).unwrap();
            }
            let last = files - 1;
            let said = scene.run(format!("ls ~/.local/bin; ~/.local/bin/tool{last}")).await;
            assert!(said.success().ends_with(&format!("number {last}")), "{way:?}: {said:?}");
            assert_eq!(said.said.matches("tool").count(), files, "{way:?}");
            if way != Preference::None {
                let changes = [
                    format!("echo echo other > ~/.local/bin/tool{last}"),
                    format!("rm -f ~/.local/bin/tool{last}"),
                    "echo x > ~/.local/bin/new".to_owned(),
                ];
                for change in changes {
                    let outcome = scene.run(&change).await;
                    assert!(!outcome.exit.is_success(), "{way:?}: {change}: {outcome:?}");
                }
                let there = std::fs::read_to_string(tools.join(format!("tool{last}"))).unwrap();
                assert_eq!(there, format!("#!/bin/sh\necho number {last}\n"), "{way:?}");
                assert!(!tools.join("new").exists(), "{way:?}");
            }
        }
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
        // A link that came to lie where the project was judged to be.
        let link = scene.beside("link");
        std::os::unix::fs::symlink(scene.project(""), &link).unwrap();
        let linked = spawn(&|command| {
            command.project.clone_from(&link);
            command.folder.clone_from(&link);
        });
        let linked = linked.await;
        assert!(matches!(linked, Some(Error::Folder { .. })), "{linked:?}");
        let nul = spawn(&|command| command.text = "a\0b".into()).await;
        assert!(matches!(nul, Some(Error::Nul)), "{nul:?}");
    }
}

#[tokio::test]
async fn a_project_that_would_hide_nothing_is_refused() {
    for way in [Preference::Bubblewrap, Preference::Landlock] {
        let Some(scene) = Scene::new(way).await else { continue };
        write(&scene.home(".local/share/natter/natter.db"), "");
        let refused = async |project: PathBuf, hidden: Vec<PathBuf>| {
            let mut command = scene.command("true");
            (command.project, command.folder) = (project.clone(), project);
            command.hidden = hidden;
            scene.sandbox().spawn(command, scene.spool()).await.err()
        };
        let wide = refused(scene.home(""), Vec::new()).await;
        assert!(matches!(wide, Some(Error::TooWide(_))), "{wide:?}");
        let wide = refused("/".into(), Vec::new()).await;
        assert!(matches!(wide, Some(Error::TooWide(_))), "{wide:?}");
        let own = refused(scene.home(".local"), Vec::new()).await;
        assert!(matches!(own, Some(Error::OwnFolder(_))), "{own:?}");
        let named = refused(scene.project(""), vec![scene.project("keys")]).await;
        assert!(matches!(named, Some(Error::OwnFolder(_))), "{named:?}");
        std::os::unix::fs::symlink("elsewhere", scene.project(".mcp.json")).unwrap();
        let link = refused(scene.project(""), Vec::new()).await;
        assert!(matches!(link, Some(Error::ProtectedLink(_))), "{link:?}");
    }
}

/// bubblewrap has begun by then: ended at the wrong moment, what it starts would wait for it for ever.
#[tokio::test]
async fn a_start_that_is_refused_leaves_no_process() {
    let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
    std::os::unix::fs::symlink("elsewhere", scene.project(".git")).unwrap();
    let mark = format!("true {}", scene.project("").display());
    for _ in 0..100 {
        let refused = scene.sandbox().spawn(scene.command(&mark), scene.spool()).await;
        assert!(matches!(refused, Err(Error::ProtectedLink(_))));
    }
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        assert!(!line.contains(&mark), "{} is left: {line}", entry.path().display());
    }
}

#[tokio::test]
async fn a_project_may_lie_in_the_home_folder_or_where_files_pass() {
    for way in WAYS {
        let Some(mut scene) = Scene::new(way).await else { continue };
        write(&scene.home("letter"), "dear");
        write(&scene.home("code/file"), "here");
        scene.set_project("home/code");
        assert_eq!(scene.run("cat file && touch new").await.success(), "here", "{way:?}");
        let letter = scene.run("cat ../letter").await;
        assert_eq!(letter.exit.is_success(), way == Preference::None, "{way:?}: {letter:?}");

        let passing = tempfile::tempdir_in("/var/tmp").unwrap();
        write(&passing.path().join("file"), "there");
        let mut command = scene.command("cat file && touch new && pwd");
        (command.project, command.folder) = (passing.path().into(), passing.path().into());
        let said = scene.run_command(command).await;
        assert!(said.success().starts_with("there"), "{way:?}");
        assert!(passing.path().join("new").exists(), "{way:?}");
    }
}

#[tokio::test]
async fn any_text_is_the_shells_and_never_an_option() {
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        let outcome = scene.run("-x 2>/dev/null\ncat <<'END'\na 'b' \"c\" $d\nEND").await;
        assert_eq!(outcome.success(), "a 'b' \"c\" $d", "{way:?}");
    }
}

/// Bytes that are no text, and a NUL, which neither ends nor cuts anything.
#[tokio::test]
async fn what_is_no_text_is_kept_whole_on_disk_and_readable_in_short() {
    let Some(scene) = Scene::new(Preference::None).await else { return };
    let running = scene.start(scene.command("printf 'a\\0b\\377c\\n'")).await;
    assert!(running.wait().await.is_success());
    assert_eq!(running.spool().excerpt().to_string(), "a\u{2400}b\u{fffd}c\n");
    assert_eq!(std::fs::read(running.spool().path()).unwrap(), b"a\0b\xffc\n");
}

#[tokio::test]
async fn a_command_that_prints_much_costs_little_memory_and_a_bounded_disk() {
    const MUCH: u64 = 300_000_000;
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        let before = memory();
        let command = scene.command(format!("yes | head -c {MUCH}; echo end"));
        let spawned = scene.sandbox().spawn_followed(command, scene.spool()).await;
        let (running, mut follow) = spawned.unwrap();
        let mut seen = 0;
        while let Some(chunk) = follow.next().await {
            seen += chunk.bytes.len() as u64;
        }
        assert!(running.wait().await.is_success());
        assert_eq!(seen, MUCH + 4);
        let more = memory().saturating_sub(before);
        assert!(more <= 20 << 10, "{way:?}: {more} KiB");
        let kept = std::fs::metadata(running.spool().path()).unwrap().len();
        assert!(kept <= Keep::default().disk + 100, "{kept}");
        assert!(running.spool().excerpt().to_string().ends_with("y\nend\n"));
    }
}

/// The most memory that this process has had, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_ascii_whitespace().next().unwrap().parse().unwrap()
}
