//! The threads that start commands.
//!
//! bubblewrap is started from one that stays: `--die-with-parent` ends the sandbox when the thread
//! that started it ends, not only the program. That thread binds itself first, where the kernel
//! can: what it starts cannot signal anything outside, nor reach abstract sockets (a screen's, say)
//! where it has the network. Such a bound does not keep bubblewrap from mounting.
//!
//! Landlock binds a thread for good, so each command that it bounds is started from a fresh one.

use std::io;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;

use crate::error::Error;
use crate::landlock;

type Job = Box<dyn FnOnce() + Send>;

/// Does `work` on the thread that stays. What nobody waits for any more is dropped.
pub(crate) async fn stay<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    static THREAD: OnceLock<Sender<Job>> = OnceLock::new();
    let (reply, done) = oneshot::channel();
    let job = Box::new(move || drop(reply.send(work())));
    THREAD.get_or_init(start).send(job).map_err(|_| gone())?;
    done.await.map_err(|_| gone())?
}

/// Does `work` on a thread of its own.
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

fn start() -> Sender<Job> {
    let (jobs, received) = channel::<Job>();
    // Where no thread can be made, the sender's other end is gone, and every job says so.
    let _ = std::thread::Builder::new().name("sandbox-spawner".into()).spawn(move || {
        // Older kernels cannot; the namespaces hold without it.
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
