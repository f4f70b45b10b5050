//! Finds the processes that a program started, directly or not, and waits for their end.

use std::fs;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use rustix::time::Timespec;

use crate::server::PATIENCE;

/// A process below one that a test started. It stays this one, even if its id is used again.
#[derive(Debug)]
pub struct Process {
    handle: OwnedFd,
    /// Its id.
    pub id: u32,
    /// Its program and arguments.
    pub command: Vec<String>,
}

/// The processes below the one with this id.
pub fn below(id: u32) -> Vec<Process> {
    let mut ids = children(id);
    let mut next = 0;
    while let Some(id) = ids.get(next) {
        let more = children(*id);
        ids.extend(more);
        next += 1;
    }
    ids.into_iter().filter_map(Process::open).collect()
}

impl Process {
    /// None if it is gone.
    fn open(id: u32) -> Option<Self> {
        let pid = Pid::from_raw(id.cast_signed())?;
        let handle = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        let command = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let words = command.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        let command = words.map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        Some(Self { handle, id, command })
    }

    /// Whether this is a word of its command, with or without a path before it.
    pub fn has_word(&self, word: &str) -> bool {
        self.command.iter().any(|it| it == word || it.rsplit('/').next() == Some(word))
    }

    /// Whether it runs a program of this name.
    pub fn runs(&self, program: &str) -> bool {
        self.command.first().and_then(|it| it.rsplit('/').next()) == Some(program)
    }

    /// Ends it with SIGKILL.
    pub fn kill(&self) {
        // It may be gone already.
        let _ = pidfd_send_signal(&self.handle, Signal::KILL);
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// After [`PATIENCE`].
    pub fn wait(&self) {
        let patience = Timespec::try_from(PATIENCE).expect("a short time");
        let ended = poll(&mut [PollFd::new(&self.handle, PollFlags::IN)], Some(&patience));
        assert!(matches!(ended, Ok(1)), "it still runs ({ended:?}): {:?}", self.command);
    }
}

fn children(id: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let ids = lists.flat_map(|list| {
        list.split_ascii_whitespace().filter_map(|id| id.parse().ok()).collect::<Vec<_>>()
    });
    ids.collect()
}
