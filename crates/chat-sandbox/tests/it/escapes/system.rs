//! System calls that would lead round the bounds.

use chat_sandbox::Preference;

use super::{attempt, lawful};
use crate::support::{Scene, WAYS};
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
