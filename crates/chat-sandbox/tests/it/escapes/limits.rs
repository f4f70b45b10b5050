//! Tests exceeding the limits (processes, memory, disk) and raising them.

use std::process::{Command, Stdio};

use chat_sandbox::{Ended, Limit, Limits, Preference};
use rustix::process::{Resource, getrlimit};

use crate::support::{Scene, WAYS};
use crate::unprivileged;

const SWARM: &str = "sh -c 'i=0; while [ $i -lt 400 ]; do sleep 600 & i=$((i+1)); done; echo all'";

/// Runs `text` with tight limits, and with the usual ones.
async fn tight(text: &str, way: Preference, limits: Limits) -> Option<(Ended, Ended)> {
    let scene = Scene::new(way).await?;
    let mut command = scene.command(text);
    command.limits = limits;
    let bounded = scene.run_command(command).await.exit.ended;
    Some((bounded, scene.run(text).await.exit.ended))
}

#[test]
fn a_swarm_of_processes_is_stopped() {
    unprivileged::run(async || {
        let limits = Limits { processes: 64, ..Limits::default() };
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let usual = scene.run(SWARM).await.exit.ended;
            // Where the kernel counts all that this user runs, its limit is a loose one: then
            // the swarm is ended where it stands.
            let mut command = scene.command(format!("{SWARM} && sleep 600"));
            command.limits = limits;
            let bounded = scene.run_command(command).await.exit.ended;
            assert!(!matches!(bounded, Ended::TimedOut(_)), "{way:?}");
            assert_ne!(bounded, Ended::Status(0), "{way:?}");
            assert_eq!(usual, Ended::Status(0), "{way:?}");
        }
    });
}

#[tokio::test]
async fn a_swarm_of_roots_processes_is_ended() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("Others are stopped by the kernel.");
        return;
    }
    let limits = Limits { processes: 64, ..Limits::default() };
    for way in WAYS {
        let swarm = format!("{SWARM}; sleep 600");
        let Some(scene) = Scene::new(way).await else { continue };
        let mut command = scene.command(swarm);
        command.limits = limits;
        let exit = scene.run_command(command).await.exit;
        assert_eq!(exit.ended, Ended::Limit(Limit::Processes), "{way:?}");
    }
}

#[test]
fn a_bomb_that_doubles_is_ended_and_leaves_nothing() {
    unprivileged::run(async || {
        let limits = Limits { processes: 100, ..Limits::default() };
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let mut command = scene.command("bomb() { bomb | bomb & }; bomb; sleep 600");
            command.limits = limits;
            command.limit = Some(std::time::Duration::from_secs(2));
            let exit = scene.run_command(command).await.exit;
            let ended = matches!(exit.ended, Ended::TimedOut(_) | Ended::Limit(Limit::Processes));
            assert!(ended, "{way:?}: {exit:?}");
            // Nothing holds its folder any more.
            let folder = scene.project("");
            let folder = folder.canonicalize().unwrap();
            let holds = |pid: &std::fs::DirEntry| {
                std::fs::read_link(pid.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
            };
            let left = std::fs::read_dir("/proc").unwrap().flatten().filter(holds).count();
            assert_eq!(left, 0, "{way:?}");
        }
    });
}

#[test]
fn memory_is_not_eaten_up() {
    unprivileged::run(async || {
        // `tail` keeps a line until it ends, and as long as nobody reads it: much longer than the
        // bounds take between two looks.
        let eat = "head -c 400000000 /dev/zero | tail | (sleep 3; wc -c)";
        let limits = Limits { memory: 100 << 20, ..Limits::default() };
        for way in WAYS {
            let Some((bounded, usual)) = tight(eat, way, limits).await else { continue };
            assert_eq!(bounded, Ended::Limit(Limit::Memory), "{way:?}");
            assert_eq!(usual, Ended::Status(0), "{way:?}");
        }
    });
}

/// Memory that programs share, mapped or in a file that no folder has: as much of it as of any other.
#[test]
fn memory_is_not_eaten_up_as_shared_memory_either() {
    unprivileged::run(async || {
        let fill = "[m.write(bytes(1 << 20)) for _ in range(SIZE)]; time.sleep(HELD)";
        let mapped = format!("import mmap, time; m = mmap.mmap(-1, SIZE << 20); {fill}");
        let in_file = format!(
            "import os, time; m = os.fdopen(os.memfd_create('m'), 'wb', buffering=0); {fill}"
        );
        for eat in [mapped, in_file] {
            for way in WAYS {
                let Some(scene) = Scene::new(way).await else { continue };
                let ended = async |size: &str, held: &str, limits| {
                    let eat = eat.replace("SIZE", size).replace("HELD", held);
                    let text = format!("python3 -c \"{eat}\"");
                    let mut command = scene.command(text);
                    command.limits = limits;
                    scene.run_command(command).await.exit.ended
                };
                let limits = Limits { memory: 100 << 20, ..Limits::default() };
                // Held until the bounds look, however busy the machine is: they end it.
                assert_eq!(
                    ended("250", "60", limits).await,
                    Ended::Limit(Limit::Memory),
                    "{way:?}: {eat}"
                );
                assert_eq!(ended("250", "0", Limits::default()).await, Ended::Status(0), "{way:?}");
                // What is within the bounds counts once, mapped and open. Held for longer than the
                // bounds take between two looks.
                assert_eq!(ended("60", "1", limits).await, Ended::Status(0), "{way:?}");
            }
        }
    });
}

#[test]
fn one_file_does_not_fill_the_disk() {
    unprivileged::run(async || {
        let limits = Limits { file: 1 << 20, ..Limits::default() };
        for way in WAYS {
            let fill = "head -c 4000000 /dev/zero > big";
            let Some((bounded, usual)) = tight(fill, way, limits).await else { continue };
            assert_ne!(bounded, Ended::Status(0), "{way:?}");
            assert_eq!(usual, Ended::Status(0), "{way:?}");
        }
    });
}

#[test]
fn folders_in_memory_do_not_fill_it() {
    unprivileged::run(async || {
        let limits = Limits { scratch: 1 << 20, ..Limits::default() };
        for place in ["/tmp", "/var/tmp", "/dev/shm", "$HOME"] {
            let fill = format!("head -c 4000000 /dev/zero > {place}/big");
            let way = Preference::Bubblewrap;
            let Some((bounded, usual)) = tight(&fill, way, limits).await else { return };
            assert_ne!(bounded, Ended::Status(0), "{place}");
            assert_eq!(usual, Ended::Status(0), "{place}");
        }
        // Nor is there another place in memory.
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        for place in ["/", "/dev", "/etc", "/var", "/run", "/home", "/sys"] {
            let outcome = scene.run(format!("echo x > {place}/big")).await;
            assert!(!outcome.exit.is_success(), "{place}: {outcome:?}");
        }
    });
}

/// The disk is a small one of its own, which only root can make.
#[tokio::test]
async fn many_files_do_not_fill_the_disk() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("Only root can make a small disk.");
        return;
    }
    for way in WAYS {
        let Some(scene) = Scene::new(way).await else { continue };
        let disk = Disk::new(scene.project("").to_str().unwrap());
        let fill = "i=0; while [ $i -lt 60 ]; do head -c 1000000 /dev/zero > $i; sleep 0.02; \
            i=$((i+1)); done; sleep 600";
        let outcome = scene.run(fill).await;
        assert_eq!(outcome.exit.ended, Ended::Limit(Limit::Disk), "{way:?}: {}", outcome.said);
        drop(disk);
    }
}

struct Disk(String);

impl Disk {
    fn new(place: &str) -> Self {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64m,mode=0777", "tmpfs", place]);
        assert!(mount.status().unwrap().success());
        Self(place.into())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l", &self.0]).status();
    }
}

#[test]
fn limits_are_not_raised() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            for text in ["ulimit -c 1", "ulimit -n 1000000", "ulimit -f unlimited"] {
                let outcome = scene.run(text).await;
                assert!(!outcome.exit.is_success(), "{way:?}: {text}: {outcome:?}");
            }
            scene.run("ulimit -n 100 && ulimit -f 100").await.success();
        }
        if getrlimit(Resource::Core).maximum != Some(0) {
            let mut shell = Command::new("bash");
            let status = shell.args(["-c", "ulimit -c 1"]).stderr(Stdio::null()).status();
            assert!(status.unwrap().success());
        }
    });
}
