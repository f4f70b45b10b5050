//! Runs the threads that start commands.
//!
//! bubblewrap is started from a thread that lives on: `--die-with-parent` ends the sandbox when the
//! thread that started it ends, not only when the program does. That thread restricts itself first,
//! where the kernel can: whatever it starts can neither signal anything outside nor reach abstract
//! sockets (a screen's, say) where it has the network. This restriction does not keep bubblewrap
//! from mounting.
//!
//! Landlock restricts a thread for good, so each command under Landlock is started from a new one.

use std::io;
use std::process::Child;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, Sender, channel};

use tokio::sync::oneshot;

use crate::error::Error;
use crate::landlock;

type Job = Box<dyn FnOnce() + Send>;

/// A program that is being started on the permanent thread. Dropping it ends the program.
#[derive(Debug)]
pub(crate) struct Starting(Option<Receiver<io::Result<Child>>>);

impl Starting {
    /// Waits until it has started.
    pub(crate) fn child(mut self) -> Result<Child, Error> {
        let started = self.0.take().and_then(|started| started.recv().ok());
        started.ok_or_else(gone)?.map_err(Error::Start)
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(Ok(Ok(mut child))) = self.0.take().map(|started| started.recv()) {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts a program on the permanent thread, one after the other. The kernel lets that thread
/// continue only when the program has begun, often much later, so other work for a start is done on
/// other threads.
pub(crate) fn stay(
    start: impl FnOnce() -> io::Result<Child> + Send + 'static,
) -> Result<Starting, Error> {
    static THREAD: OnceLock<Sender<Job>> = OnceLock::new();
    let (reply, started) = channel();
    let job = Box::new(move || drop(reply.send(start())));
    THREAD.get_or_init(begin).send(job).map_err(|_| gone())?;
    Ok(Starting(Some(started)))
}

/// Runs `work`, which may take a moment, on some thread.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await.map_err(|_| gone())?
}

/// Runs `work` on a thread of its own.
pub(crate) async fn once<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let (reply, done) = oneshot::channel();
    std::thread::Builder::new()
        .name("sandbox-start".into())
        .spawn(move || drop(reply.send(work())))
        .map_err(Error::Start)?;
    done.await.map_err(|_| gone())?
}

fn begin() -> Sender<Job> {
    let (jobs, received) = channel::<Job>();
    // If no thread can be created, the receiver is gone, and every job reports that.
    let _ = std::thread::Builder::new().name("sandbox-spawner".into()).spawn(move || {
        // Older kernels cannot do this; the namespaces work without it.
        let _ = landlock::scope_this_thread();
        while let Ok(job) = received.recv() {
            job();
        }
    });
    jobs
}

fn gone() -> Error {
    Error::Start(io::Error::other("the thread that starts commands has ended"))
}
