//! Finds and ends the processes in bubblewrap's namespace.

use std::collections::HashSet;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};
use rustix::time::Timespec;

use super::{GONE, children, descendants, ends_within};

/// bubblewrap's PID namespace.
#[derive(Debug)]
pub(crate) struct Space {
    bubblewrap: Pid,
    /// Its first process: when that has ended, the kernel has ended all others. None if bubblewrap
    /// failed before creating it.
    first: Option<OwnedFd>,
}

impl Space {
    /// The namespace of a bubblewrap that was just started and has no process yet.
    pub(crate) fn of(bubblewrap: &Child) -> Self {
        Self { bubblewrap: Pid::from_child(bubblewrap), first: None }
    }

    /// The same, as soon as it has a process. The command must still be waiting.
    pub(crate) fn with_first(bubblewrap: &Child) -> Self {
        let mut space = Self::of(bubblewrap);
        let pid = space.bubblewrap;
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else {
            return space;
        };
        let deadline = Instant::now() + GONE;
        let moment = Timespec { tv_sec: 0, tv_nsec: 200_000 };
        while space.first.is_none() && Instant::now() < deadline {
            let child = children(pid).first().copied();
            let first = child.and_then(|child| pidfd_open(child, PidfdFlags::empty()).ok());
            // bubblewrap may have reaped it meanwhile: then the id may belong to another process.
            space.first = first.filter(|_| children(pid).first().copied() == child);
            let ended = poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&moment));
            if ended.is_ok_and(|ended| ended > 0) {
                break;
            }
        }
        space
    }

    /// All existing processes.
    pub(super) fn members(&self) -> Vec<Pid> {
        descendants(self.bubblewrap)
    }

    /// Its first process, if there is one.
    pub(super) fn first(&self) -> Option<&OwnedFd> {
        self.first.as_ref()
    }

    /// Waits until the kernel has ended all processes.
    pub(super) fn wait(&self) {
        if let Some(first) = &self.first {
            ends_within(first, GONE);
        }
    }

    /// The first process ignores it, as the first one of any namespace.
    pub(super) fn terminate(&self) {
        let open = |pid| Some((pid, pidfd_open(pid, PidfdFlags::empty()).ok()?));
        let open: Vec<_> = self.members().into_iter().filter_map(open).collect();
        // An id may belong to another process by now, unless it is still here.
        let still: HashSet<Pid> = self.members().into_iter().collect();
        for (_, process) in open.iter().filter(|(pid, _)| still.contains(pid)) {
            let _ = pidfd_send_signal(process, Signal::TERM);
        }
    }

    pub(super) fn end(&self) {
        if let Some(first) = &self.first {
            let _ = pidfd_send_signal(first, Signal::KILL);
        }
        // Without its namespace it would end by itself; it may still be starting.
        let _ = kill_process(self.bubblewrap, Signal::KILL);
        self.wait();
    }
}
