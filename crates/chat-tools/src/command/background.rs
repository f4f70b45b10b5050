//! Runs commands in the background: they continue after their call, and end with the session, with
//! their request if that is stopped, with the user's next stop, or when the model stops them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use chat_core::message::BackgroundCommand;
use chat_core::tool::{self, ChangeRecorder, Memory, ToolContext, ToolFailure};
use chat_sandbox::{Exit, Part, Running, Spool};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::time::sleep;
use tokio_util::sync::{CancellationToken, DropGuard};

/// The maximum number of commands that run in the background of a session at once.
const AT_ONCE: usize = 16;

/// How many ended commands a session remembers.
const ENDED: usize = 32;

/// The time between two checks of how much a command wrote: people only see that it writes.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The background commands of a session.
#[derive(Debug, Default)]
pub struct Commands(Mutex<BTreeMap<String, Arc<Background>>>);

/// A command in the background. Dropping it ends all of its processes.
#[derive(Debug)]
pub struct Background {
    id: String,
    /// The whole command.
    pub text: String,
    since: Timestamp,
    /// Whether it runs in the sandbox.
    pub is_sandboxed: bool,
    spool: Spool,
    /// How far its output was read.
    read: Mutex<u64>,
    exit: watch::Receiver<Option<Exit>>,
    stop: CancellationToken,
    _guard: DropGuard,
}

impl Background {
    /// Lets a command continue in the background.
    pub fn new(
        context: &ToolContext,
        id: &str,
        text: String,
        is_sandboxed: bool,
        running: Running,
        looked: ChangeRecorder,
    ) -> Self {
        let spool = running.spool().clone();
        let stop = context.cancel.child_token();
        let (ended, exit) = watch::channel(None);
        let (busy, stopped) = (context.memory.keep(), stop.clone());
        // The user's next stop ends it, whichever request it is for.
        let session = context.memory.stopped();
        // When the session's memory is dropped, the command ends.
        let memory = Arc::downgrade(&context.memory);
        let watched = spool.clone();
        tokio::spawn(async move {
            let exit = tokio::select! {
                exit = running.wait() => exit,
                never = report_growth(&watched, &memory) => match never {},
                () = async { tokio::select! {
                    () = stopped.cancelled() => {}
                    () = session.cancelled() => {}
                } } => {
                    running.stop();
                    running.wait().await
                }
            };
            // Its changes to files are recorded before its end is reported.
            let _ = tokio::task::spawn_blocking(move || drop(looked)).await;
            drop(busy);
            ended.send_replace(Some(exit));
            if let Some(memory) = memory.upgrade() {
                memory.changed();
            }
        });
        let guard = stop.clone().drop_guard();
        Self {
            id: id.to_owned(),
            text,
            since: Timestamp::now(),
            is_sandboxed,
            spool,
            read: Mutex::new(0),
            exit,
            stop,
            _guard: guard,
        }
    }

    /// Its output since the last call, as much as one call returns.
    ///
    /// # Errors
    ///
    /// The disk cannot be read.
    pub fn more(&self, most: usize) -> std::io::Result<Part> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let part = self.spool.part(*read, most)?;
        *read = part.next;
        Ok(part)
    }

    /// How many bytes of its output were not read yet.
    pub fn unread(&self) -> u64 {
        let read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        self.spool.bytes().saturating_sub(*read)
    }

    /// How it ended, if it has.
    pub fn ended(&self) -> Option<Exit> {
        self.exit.borrow().clone()
    }

    /// Ends it with all of its processes, and waits until they are gone. None if the outcome is
    /// unknown.
    pub async fn stop(&self) -> Option<Exit> {
        self.stop.cancel();
        let mut exit = self.exit.clone();
        exit.wait_for(Option::is_some).await.ok()?.clone()
    }
}

#[async_trait]
impl tool::Background for Background {
    fn running(&self) -> Option<BackgroundCommand> {
        self.ended().is_none().then(|| BackgroundCommand {
            id: self.id.clone(),
            command: self.text.clone(),
            since: self.since,
            bytes: self.spool.bytes(),
        })
    }

    async fn end(&self) {
        self.stop().await;
    }
}

/// Reports when a command has written more, as long as the session exists. Never ends.
async fn report_growth(spool: &Spool, memory: &Weak<Memory>) -> Infallible {
    let mut told = 0;
    loop {
        sleep(CHECK_INTERVAL).await;
        let bytes = spool.bytes();
        if bytes != told {
            told = bytes;
            let Some(memory) = memory.upgrade() else { return std::future::pending().await };
            memory.changed();
        }
    }
}

impl Commands {
    /// Whether one more may run.
    ///
    /// # Errors
    ///
    /// Too many are running.
    pub fn has_room(&self) -> Result<(), ToolFailure> {
        let running = self.lock().values().filter(|command| command.ended().is_none()).count();
        if running < AT_ONCE {
            return Ok(());
        }
        Err(ToolFailure::new(format!(
            "{running} commands are running in the background. Stop one first."
        )))
    }

    /// Stores a command by its name. If many have ended, the oldest of them are forgotten.
    pub fn put(&self, command: Arc<Background>) {
        let mut commands = self.lock();
        let ended = commands.values().filter(|command| command.ended().is_some());
        let oldest = ended.clone().min_by_key(|command| command.since);
        let oldest = oldest.map(|command| command.id.clone()).filter(|_| ended.count() >= ENDED);
        if let Some(id) = oldest {
            commands.remove(&id);
        }
        commands.insert(command.id.clone(), command);
    }

    /// A command by its name.
    ///
    /// # Errors
    ///
    /// There is none; the error lists the existing ones.
    pub fn get(&self, id: &str) -> Result<Arc<Background>, ToolFailure> {
        let commands = self.lock();
        if let Some(command) = commands.get(id) {
            return Ok(Arc::clone(command));
        }
        let names: Vec<&str> = commands.keys().map(String::as_str).collect();
        let known = match names.as_slice() {
            [] => "None was started.".to_owned(),
            [name] => format!("The only one is {name}."),
            names => format!("Available: {}.", names.join(", ")),
        };
        Err(ToolFailure::new(format!("There is no background command “{id}”. {known}")))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Arc<Background>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
