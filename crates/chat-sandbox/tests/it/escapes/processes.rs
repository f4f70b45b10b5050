//! Tests outliving the call, and reaching processes outside.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use chat_sandbox::{Ended, Preference};

use super::{attempt, lawful};
use crate::support::{Scene, WAYS};
use crate::unprivileged;

/// Ways to leave a process behind that holds `alive` open for as long as it lives, and says so
/// before the command ends.
const LEAVE: &[&str] = &[
    "sh -c 'echo on > told; exec sleep 600' 3> alive &",
    "setsid sh -c 'echo on > told; exec sleep 600' 3> alive &",
    "nohup sh -c 'echo on > told; exec sleep 600' 3> alive > /dev/null 2>&1 &",
    "(setsid sh -c 'sh -c \"echo on > told; exec sleep 600\" &' 3> alive &) ",
    "python3 -c \"
import os, time
held = os.open('alive', os.O_WRONLY)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in range(3): os.close(number)
        open('told', 'w').write('on')
        time.sleep(600)
    os._exit(0)
\"",
    // One that is never the same: whoever looks for it finds its child.
    "python3 -c \"
import os
held = os.open('alive', os.O_WRONLY)
if os.fork() == 0:
    os.setsid()
    for number in range(3): os.close(number)
    open('told', 'w').write('on')
    while os.path.exists('told'):
        if os.fork(): os._exit(0)
\"",
];

/// A pipe by name in the project, from whose reading end it shows whether anybody holds it.
struct Alive(File);

impl Alive {
    fn new(folder: &Path) -> Self {
        for name in ["alive", "told"] {
            rustix::fs::mkfifoat(rustix::fs::CWD, folder.join(name), 0o600.into()).unwrap();
        }
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        Self(File::options().read(true).custom_flags(flags).open(folder.join("alive")).unwrap())
    }

    fn is_held(&mut self) -> bool {
        match self.0.read(&mut [0]) {
            Ok(0) => false,
            Err(error) if error.kind() == ErrorKind::WouldBlock => true,
            other => panic!("{other:?}"),
        }
    }
}

/// Else they would fill the number of processes that the command may have.
#[tokio::test]
async fn what_loses_its_parent_in_bubblewrap_is_waited_for_inside() {
    let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
    let text = "for i in $(seq 200); do (sleep 0 &); done\n\
        while grep -qs '^State:.*zombie' /proc/[0-9]*/status; do sleep 0.01; done; echo none left";
    let mut command = scene.command(text);
    command.limit = Some(Duration::from_secs(30));
    command.limits.processes = 100;
    assert_eq!(scene.run_command(command).await.success(), "none left");
}

#[test]
fn what_a_command_leaves_behind_ends_with_it() {
    unprivileged::run(async || {
        for leave in LEAVE {
            let text = format!("{leave}\nread -r word < told; echo $word");
            for way in WAYS {
                let Some(scene) = Scene::new(way).await else { continue };
                let mut alive = Alive::new(&scene.project(""));
                let outcome = scene.run(&text).await;
                assert_eq!(outcome.success(), "on", "{way:?}: {leave}");
                assert!(!alive.is_held(), "{way:?}: {leave}");
                if way != Preference::Bubblewrap {
                    assert!(outcome.exit.left_running > 0, "{way:?}: {leave}");
                }
            }
            // The control: where nobody looks after it, it lives on.
            let folder = tempfile::tempdir().unwrap();
            let mut alive = Alive::new(folder.path());
            let mut shell = Command::new("bash");
            shell.args(["-c", &text]).current_dir(folder.path()).stdout(Stdio::null());
            assert!(shell.status().unwrap().success());
            assert!(alive.is_held(), "{leave}");
            end_whoever_is_in(folder.path());
        }
    });
}

#[test]
fn stopping_and_dropping_end_what_was_left_behind_too() {
    unprivileged::run(async || {
        for drop_it in [false, true] {
            for way in WAYS {
                let Some(scene) = Scene::new(way).await else { continue };
                let mut alive = Alive::new(&scene.project(""));
                let text = format!("{}\nread -r word < told; echo $word; sleep 600", LEAVE[4]);
                let running = scene.start(scene.command(text)).await;
                let mut follow = running.follow();
                let word = match running.spool().bytes() {
                    0 => follow.next().await.unwrap().bytes,
                    _ => b"on\n".to_vec(),
                };
                assert_eq!(word, b"on\n", "{way:?}");
                assert!(alive.is_held());
                if drop_it {
                    drop(running);
                    // The output ends when all is over.
                    while follow.next().await.is_some() {}
                } else {
                    running.stop();
                    drop(follow);
                    assert_eq!(running.wait().await.ended, Ended::Stopped, "{way:?}");
                }
                assert!(!alive.is_held(), "{way:?}, dropped: {drop_it}");
            }
        }
    });
}

#[test]
fn a_command_that_leaves_nothing_behind_is_told_to_leave_nothing() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let outcome = scene.run("sh -c true; true").await;
            assert_eq!(outcome.exit.left_running, 0, "{way:?}: {outcome:?}");
        }
    });
}

/// The folder in which a program of its own is to start a command, and then to be killed.
const PART: &str = "NATTER_TEST_KILLED_IN";

#[test]
fn a_program_that_is_killed_leaves_nothing_for_long() {
    unprivileged::run(async || {
        if let Ok(folder) = std::env::var(PART) {
            start_and_wait_to_be_killed(Path::new(&folder)).await;
        }
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            for name in ["alive", "told"] {
                let fifo = scene.project(name);
                rustix::fs::mkfifoat(rustix::fs::CWD, fifo, 0o600.into()).unwrap();
            }
            let name = std::any::type_name_of_val(&start_and_wait_to_be_killed);
            let name = name.split_once("::").unwrap().1;
            let name = name.replace(
                "start_and_wait_to_be_killed",
                "a_program_that_is_killed_leaves_nothing_for_long",
            );
            let mut program = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", &name, "--nocapture"])
                .env(PART, scene.project(""))
                .env("NATTER_TEST_WAY", format!("{way:?}"))
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            // Both open when the command does.
            let mut alive = File::open(scene.project("alive")).unwrap();
            assert_eq!(std::fs::read_to_string(scene.project("told")).unwrap(), "on\n");
            program.kill().unwrap();
            program.wait().unwrap();
            if way != Preference::Bubblewrap {
                assert!(chat_sandbox::end_orphans() > 0, "{way:?}");
            }
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
    let mut command = scene.command("exec 3> alive; setsid sleep 600 & echo on > told; sleep 600");
    (command.project, command.folder) = (folder.into(), folder.into());
    let running = scene.start(command).await;
    running.wait().await;
    panic!("{way:?}: it ended by itself: {}", running.spool().excerpt());
}

/// A program of this person's outside the sandbox.
struct Victim(Child);

impl Victim {
    fn new() -> Self {
        let mut sleep = Command::new("sleep");
        Self(sleep.arg("600").env("VICTIM_KEY", "secret").spawn().unwrap())
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn programs_outside_are_not_ended() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            if scene.sandbox().gaps().contains(&chat_sandbox::Gap::Signals) {
                eprintln!("{way:?} on this kernel cannot keep signals in, and says so.");
                continue;
            }
            let mut victim = Victim::new();
            let outcome = scene.run(format!("kill -9 {}", victim.0.id())).await;
            let ended = way == Preference::None;
            assert_eq!(outcome.exit.is_success(), ended, "{way:?}: {outcome:?}");
            assert_eq!(victim.0.try_wait().unwrap().is_some() || ended, ended, "{way:?}");
        }
        lawful(|_| "sleep 600 & kill $!".into()).await;
    });
}

#[test]
fn programs_outside_are_neither_read_nor_traced() {
    unprivileged::run(async || {
        let victim = Victim::new();
        let pid = victim.0.id();
        for (way, _, outcome) in attempt(|_| format!("cat /proc/{pid}/environ")).await {
            assert_eq!(outcome.said.contains("VICTIM_KEY"), way == Preference::None);
        }
        attempt(|_| format!("ls /proc/{pid}/root/ /proc/{pid}/cwd/")).await;
        let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
        if scope.is_ok_and(|scope| scope.trim() != "0") {
            eprintln!("Tracing is forbidden here without a sandbox already.");
            return;
        }
        attempt(|_| trace(&pid.to_string())).await;
        lawful(|_| format!("sleep 600 & {}", trace("$!"))).await;
    });
}

/// Attaches to a process and lets go of it.
fn trace(pid: &str) -> String {
    let call = if cfg!(target_arch = "x86_64") { 101 } else { 117 };
    format!(
        "python3 -c \"import ctypes, os, sys; libc = ctypes.CDLL(None, use_errno=True); \
         failed = libc.syscall({call}, 16, int(sys.argv[1]), 0, 0); \
         sys.exit(os.strerror(ctypes.get_errno()) if failed else 0)\" {pid}"
    )
}

/// Ends the processes whose folder this is: the control's.
fn end_whoever_is_in(folder: &Path) {
    let folder = folder.canonicalize().unwrap();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        if std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder) {
            let pid = entry.file_name().to_str().unwrap().parse().unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}
