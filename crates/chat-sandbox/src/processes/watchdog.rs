//! Ends the marked processes of a program when Natter is killed. A command may go on until the
//! next start, which ends it; but a program runs for days and may have keys.
//!
//! The watchdog is a shell that waits until a pipe is closed. Natter closes it by ending in any way,
//! and nobody else has it.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use crate::environment::USUAL_PATH;

/// A line means that nothing is left to do. Otherwise all processes with the mark are killed, until
/// there is none, or for some seconds: a zombie has the mark, too.
const SCRIPT: &str = "read -r _ && exit; tries=0; while [ $tries -lt 50 ]; do \
    found=$(grep -ls \"^Max resident set  *$1  *$1 \" /proc/[0-9]*/limits); [ -n \"$found\" ] || exit 0; \
    for limits in $found; do process=${limits#/proc/}; kill -KILL \"${process%/limits}\"; done; \
    tries=$((tries + 1)); sleep 0.1; done 2>/dev/null";

/// Watches over a program. Dropping it calls it off.
#[derive(Debug)]
pub(crate) struct Watchdog(Child);

impl Watchdog {
    /// Watches over the processes with this mark, from outside of the sandbox.
    pub(crate) fn new(mark: u64) -> io::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
        shell.args(["-c", SCRIPT, "natter-watchdog", &mark.to_string()]);
        shell.env_clear().env("PATH", path).current_dir("/");
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // Whoever interrupts Natter in a terminal must not end it.
        Ok(Self(shell.process_group(0).spawn()?))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.0.stdin.take() {
            let _ = pipe.write_all(b"\n");
        }
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};

    use super::*;
    use crate::processes::mark;

    fn sleeper(mark: u64) -> Child {
        let child = Command::new("sleep").arg("600").spawn().unwrap();
        let limit = Rlimit { current: Some(mark), maximum: Some(mark) };
        prlimit(Some(Pid::from_child(&child)), Resource::Rss, limit).unwrap();
        child
    }

    #[test]
    fn it_ends_what_is_marked_when_its_pipe_closes_and_nothing_else() {
        let (mark, other) = (mark(), mark());
        let (mut marked, mut unmarked) = (sleeper(mark), sleeper(other));
        drop(Watchdog::new(mark).unwrap());
        assert!(marked.try_wait().unwrap().is_none());
        let mut watchdog = Watchdog::new(mark).unwrap();
        drop(watchdog.0.stdin.take());
        assert!(!marked.wait().unwrap().success());
        assert!(watchdog.0.wait().unwrap().success());
        assert!(unmarked.try_wait().unwrap().is_none());
        unmarked.kill().unwrap();
        unmarked.wait().unwrap();
    }
}
