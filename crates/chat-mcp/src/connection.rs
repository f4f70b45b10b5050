//! Keeps one server: starts it when it is needed and again after it died, knows its tools, and ends it.

mod account;
mod backoff;
mod launch;
mod state;
mod supervise;

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::client::{Client, Fault};

pub use self::account::PendingSignIn;
pub(crate) use self::account::sign_out;
pub use self::launch::Launcher;
pub use self::state::{Snapshot, StartFault, State};
use self::supervise::{Command, supervise};

/// How long the end of a server may take before it is ended with force.
const END: Duration = Duration::from_secs(8);

/// A server that is started when it is needed. Dropping this ends it.
#[derive(Debug)]
pub struct Connection {
    commands: mpsc::UnboundedSender<Command>,
    snapshots: watch::Receiver<Snapshot>,
    task: AbortHandle,
}

impl Connection {
    /// A connection that has not begun yet. `changed` is called whenever its snapshot changes, and must return at once.
    /// Nothing begins before `replaced` is done, for a while.
    pub fn new(
        launcher: Launcher,
        runtime: &Handle,
        changed: impl Fn() + Send + Sync + 'static,
        replaced: Option<impl Future<Output = ()> + Send + 'static>,
    ) -> Self {
        let (commands, received) = mpsc::unbounded_channel();
        let (sender, snapshots) = watch::channel(Snapshot::default());
        let publish = state::Publisher::new(sender, Arc::new(changed));
        let task = runtime.spawn(async move {
            if let Some(replaced) = replaced {
                let _ = timeout(END, replaced).await;
            }
            supervise(launcher, publish, received).await;
        });
        Self { commands, snapshots, task: task.abort_handle() }
    }

    /// Waits until this is dropped.
    pub fn gone(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut snapshots = self.snapshots.clone();
        async move { while snapshots.changed().await.is_ok() {} }
    }

    /// How it is now.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshots.borrow().clone()
    }

    /// Waits for the server, and starts it if it does not run. If it just died, waits for it to be back. A start that
    /// fails is not waited for again, though it may be tried again.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn ready(&self, limit: Duration) -> Result<Client, StartFault> {
        let mut snapshots = self.snapshots.clone();
        let failed_before = snapshots.borrow().failed_starts;
        let (asked, heard) = oneshot::channel();
        self.send(Command::Use(asked));
        let waiting = async {
            // What is known from before counts only once the server's task knows that it is needed.
            let _ = heard.await;
            let settled = |found: &Snapshot| match &found.state {
                State::Running => found.client.is_some(),
                State::Failed { is_retried, .. } => {
                    !is_retried || found.failed_starts > failed_before
                }
                State::Stopped => true,
                State::Starting => false,
            };
            match snapshots.wait_for(settled).await {
                Ok(found) => match (&found.state, &found.client) {
                    (State::Running, Some(client)) => Ok(client.clone()),
                    (State::Failed { why, .. }, _) => Err(why.clone()),
                    _ => Err(StartFault::Client(Fault::Stopped)),
                },
                Err(_) => Err(StartFault::Client(Fault::Stopped)),
            }
        };
        match timeout(limit, waiting).await {
            Ok(found) => found,
            Err(_) => match self.snapshot().state {
                State::Failed { why, .. } => Err(why),
                _ => Err(StartFault::Client(Fault::TimedOut)),
            },
        }
    }

    /// Ends it if it runs, and starts it.
    pub fn restart(&self) {
        self.send(Command::Restart);
    }

    /// Ends it, and waits until all its processes have ended. It starts again when it is needed.
    pub async fn stop(&self) {
        let (done, wait) = oneshot::channel();
        self.send(Command::Stop(done));
        let _ = timeout(END, wait).await;
    }

    fn send(&self, command: Command) {
        // The task ends only with this.
        let _ = self.commands.send(command);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.task.abort();
    }
}
