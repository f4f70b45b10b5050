//! Starts bubblewrap from one thread that stays: `--die-with-parent` ends the sandbox when the
//! thread that started it ends, not only the program.
//!
//! The thread binds itself first, where the kernel can: what it starts cannot signal anything
//! outside, nor reach abstract sockets (a screen's, say) where it has the network. Such a bound
//! does not keep bubblewrap from mounting.

use std::io;
use std::process::{Child, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

use tokio::sync::oneshot;

use crate::landlock;
use crate::processes::Space;

type Job = (Command, oneshot::Sender<io::Result<(Child, Space)>>);

/// Starts bubblewrap from the thread that stays. Its command must wait for its standard input, so
/// that its space is known before anything can end.
pub(crate) async fn spawn(command: Command) -> io::Result<(Child, Space)> {
    static THREAD: OnceLock<Sender<Job>> = OnceLock::new();
    let (reply, child) = oneshot::channel();
    let gone = || io::Error::other("the thread that starts commands has ended");
    THREAD.get_or_init(start).send((command, reply)).map_err(|_| gone())?;
    child.await.map_err(|_| gone())?
}

fn start() -> Sender<Job> {
    let (jobs, received) = channel::<Job>();
    // Where no thread can be made, the sender's other end is gone, and every job says so.
    let _ = std::thread::Builder::new().name("sandbox-spawner".into()).spawn(move || {
        // Older kernels cannot; the namespaces hold without it.
        let _ = landlock::scope_this_thread();
        while let Ok((mut command, reply)) = received.recv() {
            let started = command.spawn().map(|child| {
                let space = Space::of(&child);
                (child, space)
            });
            if let Err(Ok((mut child, _))) = reply.send(started) {
                // Nobody waits any more.
                let _ = child.kill();
                let _ = child.wait();
            }
        }
    });
    jobs
}
