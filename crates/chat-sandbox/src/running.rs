//! Defines the handle of a running command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;

use crate::git::QuarantinedFile;
use crate::output::{Channel, Follow, Spool};
use crate::wake::Wake;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with this status: 0 is success.
    Status(i32),
    /// Its shell was ended by this signal. What the shell ran may have been too: that it tells by
    /// a status of 128 and the signal's number, as it can tell anything.
    Signal(i32),
    /// It took longer than it may; all of its processes were ended.
    TimedOut(Duration),
    /// It was stopped, with all of its processes.
    Stopped,
    /// It used more than it may; all of its processes were ended.
    Limit(Limit),
    /// Somebody outside replaced what was protected from it, as a person's git does with its
    /// settings, and with that took the protection away; so all of its processes were ended.
    Exposed,
}

/// What a command used too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Processes.
    Processes,
    /// Memory.
    Memory,
    /// The disk that the project lies on.
    Disk,
}

/// The end of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// How it ended.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
    /// How many processes it had left running, which were ended with it. In bubblewrap the kernel
    /// ends them, and nobody counts.
    pub left_running: u32,
    /// What it made that may not stay.
    pub quarantined: Vec<QuarantinedFile>,
    /// Whether the project is so large that not all of it was looked through for such.
    pub is_partly_unseen: bool,
}

impl Exit {
    /// Whether it did what it was to do.
    pub fn is_success(&self) -> bool {
        self.ended == Ended::Status(0)
    }
}

/// What the command's thread and the handle share.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) wake: Arc<Wake>,
    pub(crate) stop: AtomicBool,
    pub(crate) channel: Arc<Channel>,
}

impl Control {
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.wake.wake();
    }
}

/// A command that runs. Dropping it ends all of the command's processes.
#[derive(Debug)]
pub struct Running {
    pub(crate) id: u64,
    pub(crate) control: Arc<Control>,
    pub(crate) spool: Spool,
    pub(crate) exit: watch::Receiver<Option<Exit>>,
}

impl Running {
    /// Its number, which no other command of this program has.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Where its output is kept.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// The output as it comes, from now on. Who asks must read, or drop it: a command whose
    /// output is not read is held up. One at a time: what one reads another does not.
    pub fn follow(&self) -> Follow {
        self.control.channel.follow()
    }

    /// Begins to end all of its processes; [`wait`](Self::wait) tells when that is done.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Exit> {
        self.exit.borrow().clone()
    }

    /// Waits for its end: all processes are gone, all output is kept. Can be given up and asked
    /// again.
    pub async fn wait(&self) -> Exit {
        let mut exit = self.exit.clone();
        match exit.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(exit)) => exit.clone(),
            // Its thread has failed; it ended what it had started.
            _ => Exit {
                ended: Ended::Stopped,
                took: Duration::ZERO,
                left_running: 0,
                quarantined: Vec::new(),
                is_partly_unseen: true,
            },
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.control.stop();
    }
}
