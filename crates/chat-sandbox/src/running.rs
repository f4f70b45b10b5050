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
    /// Its shell was ended by this signal; or the program was. If a program in a command's shell
    /// was, the shell returns 128 plus the signal's number, but it may return that for any reason.
    Signal(i32),
    /// It exceeded its time limit; all of its processes were ended.
    TimedOut(Duration),
    /// It was stopped, with all of its processes.
    Stopped,
    /// It exceeded a resource limit; all of its processes were ended.
    Limit(Limit),
    /// Somebody outside replaced a protected file, as the user's git does with its settings, which
    /// removed the protection; so all of its processes were ended.
    Exposed,
}

/// The limit that a command exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Processes.
    Processes,
    /// Memory.
    Memory,
    /// The free space on the project's disk.
    Disk,
}

/// The end of a command or a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// How it ended.
    pub ended: Ended,
    /// How long it took.
    pub took: Duration,
    /// How many processes it left running, which were then ended. In bubblewrap the kernel ends
    /// them, and they are not counted.
    pub left_running: u32,
    /// The files that it created but that were quarantined.
    pub quarantined: Vec<QuarantinedFile>,
    /// Whether the project is too large to search all of it for such files.
    pub is_partly_unseen: bool,
}

impl Exit {
    /// Whether it succeeded.
    pub fn is_success(&self) -> bool {
        self.ended == Ended::Status(0)
    }
}

/// What the command's thread and the handle share.
#[derive(Debug)]
pub(crate) struct Control {
    pub(crate) wake: Arc<Wake>,
    pub(crate) stop: AtomicBool,
    terminate: AtomicBool,
    pub(crate) channel: Arc<Channel>,
}

impl Control {
    pub(crate) fn new() -> std::io::Result<Arc<Self>> {
        let wake = Arc::new(Wake::new()?);
        Ok(Arc::new(Self {
            channel: Channel::new(wake.clone()),
            wake,
            stop: AtomicBool::new(false),
            terminate: AtomicBool::new(false),
        }))
    }

    /// Asks the processes to end.
    pub(crate) fn terminate(&self) {
        self.terminate.store(true, Ordering::Release);
        self.wake.wake();
    }

    /// Whether they are to be asked now. Reported once.
    pub(crate) fn is_to_terminate(&self) -> bool {
        self.terminate.swap(false, Ordering::AcqRel)
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.wake.wake();
    }
}

/// A running command. Dropping it ends all of the command's processes.
#[derive(Debug)]
pub struct Running {
    pub(crate) id: u64,
    pub(crate) control: Arc<Control>,
    pub(crate) spool: Spool,
    pub(crate) exit: watch::Receiver<Option<Exit>>,
}

impl Running {
    /// Its id, which is unique in this program.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Its stored output.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// The output as it arrives from now on. The caller must read or drop it, since unread output
    /// blocks the command. There should be one reader at a time: what one reads, another does not
    /// get.
    pub fn follow(&self) -> Follow {
        self.control.channel.follow()
    }

    /// Starts to end all of its processes; [`wait`](Self::wait) returns when that is done.
    pub fn stop(&self) {
        self.control.stop();
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Exit> {
        self.exit.borrow().clone()
    }

    /// Waits for its end: all processes are gone, all output is stored. Cancel-safe.
    pub async fn wait(&self) -> Exit {
        exit_of(&self.exit).await
    }
}

/// Waits for the end that a thread reports.
pub(crate) async fn exit_of(exit: &watch::Receiver<Option<Exit>>) -> Exit {
    let mut exit = exit.clone();
    match exit.wait_for(Option::is_some).await.as_deref() {
        Ok(Some(exit)) => exit.clone(),
        // Its thread has panicked, which ended what it had started.
        _ => Exit {
            ended: Ended::Stopped,
            took: Duration::ZERO,
            left_running: 0,
            quarantined: Vec::new(),
            is_partly_unseen: true,
        },
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.control.stop();
    }
}
