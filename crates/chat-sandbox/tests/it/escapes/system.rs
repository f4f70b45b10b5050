//! Tests system calls that would lead around the limits.

use std::process::Command;

use chat_sandbox::Preference;
use futures_util::future::join_all;

use super::{attempt, lawful};
use crate::support::{Scene, WAYS, write};
use crate::unprivileged;

/// Makes a call and says its error's name.
fn call(number: libc::c_long, arguments: &str) -> String {
    format!(
        "python3 -c \"import ctypes, errno; libc = ctypes.CDLL(None, use_errno=True); \
         failed = libc.syscall({number}, {arguments}) < 0; \
         print(errno.errorcode[ctypes.get_errno()] if failed else 'done')\""
    )
}

/// Where nothing else hides them from a command: what the person's programs share by numbers.
#[test]
fn memory_that_programs_share_is_not_found() {
    unprivileged::run(async || {
        // A number that only this process uses.
        let key = 0x6e61_0000 + std::process::id() % 0x1_0000;
        let find = call(libc::SYS_shmget, &format!("{key}, 4096, 0o1600"));
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let said = scene.run(&find).await.success().to_owned();
            let expected = if way == Preference::Landlock { "EPERM" } else { "done" };
            assert_eq!(said, expected, "{way:?}");
        }
        // bubblewrap gave it a space of its own: only what nothing enforced stays, and goes now.
        let segments = std::fs::read_to_string("/proc/sysvipc/shm").unwrap();
        let ours = segments
            .lines()
            .filter(|line| line.trim_start().starts_with(&key.to_string()))
            .collect::<Vec<_>>();
        assert_eq!(ours.len(), 1, "{ours:?}");
        let id = ours[0].split_ascii_whitespace().nth(1).unwrap();
        let remove = std::process::Command::new("ipcrm").args(["-m", id]).status();
        assert!(remove.unwrap().success());
    });
}

/// It stays where no count of a command's memory finds it, so that there may be only so much of it.
#[test]
fn memory_that_is_found_by_a_number_comes_in_small_pieces() {
    unprivileged::run(async || {
        let Some(scene) = Scene::new(Preference::Bubblewrap).await else { return };
        let piece =
            |bytes: u64| call(libc::SYS_shmget, &format!("0, ctypes.c_ulong({bytes}), 0o1600"));
        assert_eq!(scene.run(piece(256 << 10)).await.success(), "done");
        for bytes in [(256 << 10) + 1, 1 << 30, 1 << 40] {
            assert_eq!(scene.run(piece(bytes)).await.success(), "EPERM", "{bytes}");
        }
    });
}

/// A program without a name on any disk is bound as any other.
#[test]
fn a_program_in_memory_is_bound_too() {
    unprivileged::run(async || {
        let run = |path: &std::path::Path| {
            crate::support::write(path, "secret");
            let program = "import os; m = os.memfd_create('cat'); \
                os.write(m, open('/bin/cat', 'rb').read()); \
                os.execve(m, ['cat', 'PATH'], {})";
            format!("python3 -c \"{}\"", program.replace("PATH", path.to_str().unwrap()))
        };
        attempt(|scene| run(&scene.beside("secret"))).await;
        lawful(|scene| run(&scene.project("open"))).await;
    });
}

/// What Natter has open is Natter's: the chats, the keys on their way to a server.
#[test]
fn what_the_program_outside_has_open_is_not_reached() {
    unprivileged::run(async || {
        use std::os::fd::AsRawFd;
        let open = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut &open, b"VICTIM_KEY").unwrap();
        let place = format!("/proc/{}/fd/{}", std::process::id(), open.as_raw_fd());
        for (way, _, outcome) in attempt(|_| format!("cat {place}")).await {
            assert_eq!(outcome.said.contains("VICTIM_KEY"), way == Preference::None, "{way:?}");
        }
        let memory = format!("/proc/{}/mem", std::process::id());
        attempt(|_| format!("exec 3< {memory}")).await;
        lawful(|_| {
            "exec 3< /proc/self/mem && echo x > f && exec 4< f && cat /proc/self/fd/4".into()
        })
        .await;
    });
}

/// The same by calls that need no name in `/proc`.
#[test]
fn nothing_is_fetched_out_of_the_program_outside() {
    unprivileged::run(async || {
        use std::os::fd::AsRawFd;
        let scope = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope");
        if scope.is_ok_and(|scope| scope.trim() != "0") {
            eprintln!("This is forbidden here without a sandbox already.");
            return;
        }
        let open = tempfile::tempfile().unwrap();
        let secret: Box<[u8; 10]> = Box::new(*b"VICTIM_KEY");
        let (pid, at) = (std::process::id(), secret.as_ptr() as usize);
        let python = |calls: String| {
            format!(
                "python3 -c \"import ctypes, os, sys; libc = ctypes.CDLL(None, use_errno=True)
def call(*arguments):
    done = libc.syscall(*arguments)
    if done < 0: sys.exit(os.strerror(ctypes.get_errno()))
    return done
{calls}\""
            )
        };
        let file = python(format!(
            "call({}, call({}, {pid}, 0), {}, 0)",
            libc::SYS_pidfd_getfd,
            libc::SYS_pidfd_open,
            open.as_raw_fd()
        ));
        attempt(|_| file.clone()).await;
        let memory = python(format!(
            "room = ctypes.create_string_buffer(10)
here = (ctypes.c_ulong * 2)(ctypes.addressof(room), 10)
there = (ctypes.c_ulong * 2)({at}, 10)
call({}, {pid}, here, ctypes.c_ulong(1), there, ctypes.c_ulong(1), ctypes.c_ulong(0))
print(room.value.decode())",
            libc::SYS_process_vm_readv
        ));
        for (way, _, outcome) in attempt(|_| memory.clone()).await {
            assert_eq!(outcome.said.contains("VICTIM_KEY"), way == Preference::None, "{way:?}");
        }
        // Its own it may have.
        let own = format!(
            "call({}, call({}, os.getpid(), 0), 1, 0)",
            libc::SYS_pidfd_getfd,
            libc::SYS_pidfd_open
        );
        lawful(|_| python(own.clone())).await;
    });
}

/// A program that fails leaves no picture of its memory, in the project or where the system gathers them.
#[test]
fn what_was_in_memory_is_not_left_on_the_disk() {
    let fails = "ulimit -H -c; ulimit -c $(ulimit -H -c); sh -c 'kill -SEGV $$'; ls";
    unprivileged::run(async || {
        // The control: without bounds it is left where the system says, which may be elsewhere.
        let pattern = std::fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap_or_default();
        let folder = tempfile::tempdir().expect("a folder");
        let free = Command::new("sh").args(["-c", fails]).current_dir(folder.path()).output();
        let free = String::from_utf8_lossy(&free.expect("a shell").stdout).into_owned();
        if pattern.starts_with("core") && !free.starts_with("0\n") {
            assert!(free.contains("core"), "{free:?}");
        }
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let said = scene.run(fails).await;
            assert_eq!(said.said.lines().next(), Some("0"), "{way:?}: {said:?}");
            assert!(!said.said.contains("core"), "{way:?}: {said:?}");
        }
    });
}

/// The filter alone stands between a command and these: a build without it turns this red.
#[test]
fn calls_that_lead_round_the_bounds_are_refused() {
    unprivileged::run(async || {
        let buffer = "ctypes.create_string_buffer(4096)";
        let calls: &[(&str, libc::c_long, &str, &str)] = &[
            ("a new namespace of users", libc::SYS_unshare, "0x10000000", "EPERM"),
            ("keys of the session", libc::SYS_keyctl, "0, -3, 0", "EPERM"),
            ("a new key", libc::SYS_add_key, "b'user', b'natter', b'x', 1, -3", "EPERM"),
            ("programs in the kernel", libc::SYS_bpf, "0, 0, 0", "EPERM"),
            ("counters", libc::SYS_perf_event_open, "0, 0, -1, -1, 0", "EPERM"),
            ("faults by hand", libc::SYS_userfaultfd, "-1", "EPERM"),
            ("files by handle", libc::SYS_open_by_handle_at, "-1, 0, 0", "EPERM"),
            ("a second ring of calls", libc::SYS_io_uring_setup, buffer, "ENOSYS"),
            ("clone with hidden flags", libc::SYS_clone3, "0, 0", "ENOSYS"),
            ("letters for a terminal", libc::SYS_ioctl, "1, 0x5412, b'x'", "EPERM"),
            ("the same in 64 bits", libc::SYS_ioctl, "1, 0xf00005412, b'x'", "EPERM"),
            ("audit's socket", libc::SYS_socket, "16, 3, 9", "EAFNOSUPPORT"),
            (
                "the mark of its processes",
                libc::SYS_prlimit64,
                "0, 5, (ctypes.c_ulong*2)(), 0",
                "EPERM",
            ),
        ];
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            for (what, number, arguments, error) in calls {
                let outcome = scene.run(call(*number, arguments)).await;
                let refused = outcome.success() == *error;
                assert_eq!(refused, way != Preference::None, "{way:?}: {what}: {outcome:?}");
            }
        }
    });
}

#[test]
fn programs_for_namespaces_and_mounts_say_that_they_may_not() {
    unprivileged::run(async || {
        attempt(|_| "unshare --user --map-root-user true".into()).await;
        attempt(|_| "unshare --user --map-root-user --mount sh -c 'mount -t tmpfs x /mnt'".into())
            .await;
        lawful(|_| {
            "python3 -c 'import threading, subprocess; \
            t = threading.Thread(target=subprocess.run, args=([\"true\"],)); t.start(); t.join()'"
                .into()
        })
        .await;
    });
}

#[test]
fn keys_in_the_environment_and_open_files_are_not_inherited() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            let outcome = scene.run("env; ls /proc/self/fd | wc -l").await;
            let said = outcome.success();
            for name in ["CARGO_MANIFEST_DIR", "NEXTEST", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS"] {
                assert!(!said.contains(name), "{way:?}: {said}");
            }
            // The three streams, and the folder that `ls` lists.
            assert_eq!(said.lines().last(), Some("4"), "{way:?}");
        }
    });
}

/// bubblewrap is handed files of the person's to copy: another command could write to them.
#[test]
fn what_another_command_is_handed_at_its_start_is_not_inherited() {
    unprivileged::run(async || {
        for way in WAYS {
            let Some(scene) = Scene::new(way).await else { continue };
            for name in [".cargo/env", ".cargo/bin/one", ".cargo/bin/two", ".rustup/settings.toml"]
            {
                write(&scene.home(name), "");
            }
            for _ in 0..4 {
                let starts = (0..12).map(|_| scene.run("ls -l /proc/self/fd"));
                for outcome in join_all(starts).await {
                    // A heading, the three streams, and the folder that `ls` lists.
                    assert_eq!(outcome.success().lines().count(), 5, "{way:?}: {outcome:?}");
                }
            }
        }
    });
}

#[test]
fn no_privilege_is_gained() {
    unprivileged::run(async || {
        for way in [Preference::Bubblewrap, Preference::Landlock] {
            let Some(scene) = Scene::new(way).await else { continue };
            let outcome =
                scene.run("grep -E '^(NoNewPrivs|CapEff|CapPrm|Seccomp):' /proc/self/status").await;
            let said = outcome.success().split_ascii_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(
                said, "CapPrm: 0000000000000000 CapEff: 0000000000000000 NoNewPrivs: 1 Seccomp: 2",
                "{way:?}"
            );
        }
    });
}
