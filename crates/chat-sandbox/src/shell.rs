//! Starts a command's shell, with its limits set before it reads the first word.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::command::Limits;

/// Waits for a line, sets the limits from inside, then runs the shell. The limits are the file size
/// in blocks of 512 bytes, open files, and processes, for which shells have two different letters.
///
/// bubblewrap reports a signal and an exit status by the same number. So this shell stays and
/// reports a signal on its standard error, as shells do, which is connected to where the line came
/// from. bash does not report it in POSIX mode, so that is switched off. This shell is the first
/// process of its namespace: it reaps orphans, and they end with it.
pub(crate) const WITH_LIMITS: &str = "[ -z \"$BASH_VERSION\" ] || set +o posix; read -r _ || exit; ulimit -c 0; ulimit -f \"$1\"; ulimit -n \"$2\"; \
    ulimit -u \"$3\" 2>/dev/null || ulimit -p \"$3\" 2>/dev/null; shift 3; \
    exec 3>&2 2>&0; (exec \"$@\" </dev/null 2>&3 3>&-); exit \"$?\"";

/// Waits for a line, then becomes the shell: meanwhile the limits are set from outside.
pub(crate) const GATED: &str = "read -r _ || exit; exec \"$@\" </dev/null";

/// The same two for a program, which goes on reading its standard input where the line ended. Its
/// shell cannot tell a signal from a status.
pub(crate) const PROGRAM_WITH_LIMITS: &str = "read -r _ || exit; ulimit -c 0; ulimit -f \"$1\"; ulimit -n \"$2\"; \
    ulimit -u \"$3\" 2>/dev/null || ulimit -p \"$3\" 2>/dev/null; shift 3; (exec \"$@\"); exit \"$?\"";
pub(crate) const PROGRAM_GATED: &str = "read -r _ || exit; exec \"$@\"";

/// The shell's arguments before the command's text. It reads no settings of the user.
pub(crate) fn arguments(shell: &Path) -> &'static [&'static str] {
    if shell.file_name() == Some(OsStr::new("bash")) {
        &["--norc", "--noprofile", "-c", "--"]
    } else {
        &["-c", "--"]
    }
}

/// The arguments for [`WITH_LIMITS`].
pub(crate) fn limits(limits: &Limits) -> [String; 3] {
    let processes = if counts_by_namespace() {
        limits.processes.into()
    } else {
        threads() + u64::from(limits.processes)
    };
    [
        (within(Resource::Fsize, limits.file) / 512).to_string(),
        within(Resource::Nofile, limits.open_files.into()).to_string(),
        within(Resource::Nproc, processes).to_string(),
    ]
}

/// Sets the limits of a waiting command. `mark` identifies its processes.
pub(crate) fn set_limits(child: &Child, limits: &Limits, mark: u64) -> io::Result<()> {
    let pid = Pid::from_child(child);
    let set = |resource, value: u64| {
        let limit = Rlimit { current: Some(value), maximum: Some(value) };
        prlimit(Some(pid), resource, limit)
    };
    let files = limits.open_files.into();
    let processes = threads() + u64::from(limits.processes);
    set(Resource::Core, 0)?;
    set(Resource::Fsize, within(Resource::Fsize, limits.file))?;
    set(Resource::Nofile, within(Resource::Nofile, files))?;
    set(Resource::Nproc, within(Resource::Nproc, processes))?;
    set(Resource::Rss, mark)?;
    Ok(())
}

/// Where a command waits until it is released, and how it is released.
#[derive(Debug)]
pub(crate) enum Gate {
    /// Its standard input.
    Input,
    /// Its standard input is the other end of this, and signals are reported here.
    Socket(UnixStream),
    /// A program's standard input, which stays open. In bubblewrap a signal is reported as a status.
    Pipe { in_bubblewrap: bool },
}

impl Gate {
    /// Creates a gate that reports signals, and the command's end of it.
    pub(crate) fn socket() -> io::Result<(Self, Stdio)> {
        let (own, other) = UnixStream::pair()?;
        own.set_nonblocking(true)?;
        Ok((Self::Socket(own), OwnedFd::from(other).into()))
    }

    /// Releases a waiting command. If it has ended instead, its exit tells why.
    pub(crate) fn open(&mut self, child: &mut Child) {
        let _ = match self {
            Self::Input => child.stdin.take().map_or(Ok(()), |mut gate| gate.write_all(b"\n")),
            Self::Socket(gate) => gate.write_all(b"\n"),
            Self::Pipe { .. } => child.stdin.as_mut().map_or(Ok(()), |it| it.write_all(b"\n")),
        };
    }

    /// Whether the command that has ended was reported to have ended by a signal, if its status can
    /// be one.
    pub(crate) fn reports_signal(&mut self) -> bool {
        match self {
            Self::Input => false,
            Self::Pipe { in_bubblewrap } => *in_bubblewrap,
            Self::Socket(gate) => gate.read(&mut [0]).is_ok_and(|length| length > 0),
        }
    }
}

/// A limit that may be set: no more than this process has.
fn within(resource: Resource, wanted: u64) -> u64 {
    let most = getrlimit(resource).maximum;
    most.map_or(wanted, |most| wanted.min(most))
}

/// Whether the kernel counts processes for each user namespace, as since Linux 5.14; before, it
/// counts everything that the user runs.
fn counts_by_namespace() -> bool {
    let name = rustix::system::uname();
    let release = name.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (5, 14)
}

/// How many threads the machine runs. The kernel counts threads of a user like this, whoever
/// started them. `/proc/loadavg` has it in its fourth word, `RUNNING/ALL`.
fn threads() -> u64 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let all = load.split_ascii_whitespace().nth(3);
    let all = all.and_then(|word| word.split_once('/'));
    all.and_then(|(_, all)| all.parse().ok()).unwrap_or(4096)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::CommandExt;

    use super::*;

    /// How it ended, and whether a signal was reported, with any program as `sh`.
    fn ended(program: &str, text: &str) -> (Option<i32>, bool) {
        let (mut gate, stdin) = Gate::socket().unwrap();
        let mut shell = std::process::Command::new(program);
        shell.arg0("sh").args(["-c", WITH_LIMITS, "sh", "1000000", "256", "100000"]);
        shell.args(["/bin/sh", "-c", text]).env_clear().stdin(stdin);
        let mut child = shell.stdout(Stdio::null()).spawn().unwrap();
        drop(shell);
        gate.open(&mut child);
        let status = child.wait().unwrap();
        (status.code(), gate.reports_signal())
    }

    #[test]
    fn a_signal_is_told_from_a_status_by_every_shell() {
        for program in ["/bin/sh", "/bin/bash"] {
            assert_eq!(ended(program, "kill -9 $$"), (Some(137), true), "{program}");
            assert_eq!(ended(program, "kill -SEGV $$"), (Some(139), true), "{program}");
            for status in [0, 3, 137, 139] {
                let text = format!("exit {status}");
                assert_eq!(ended(program, &text), (Some(status), false), "{program}");
            }
        }
    }
}
