//! Keeps what arrived of a reply on disk while it is being written.

use std::sync::Arc;
use std::time::Duration;

use super::Session;
use super::turn::RunningTurn;
use crate::error::{Error, Kind, Result};
use crate::message::Message;

/// The pause between two writes of the journal. With the write itself, what arrived is on disk
/// within half a second.
const PAUSE: Duration = Duration::from_millis(400);

/// How long to wait before a reply that the store refused is given to it again; doubled each time
/// up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// The longest such wait.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// How long a program that wants to end waits for the store to take what was said: a few of these
/// tries.
const STORE_PATIENCE: Duration = Duration::from_secs(10);

impl RunningTurn {
    /// Writes the journal as text comes. Never ends: it is dropped with the request.
    pub(super) async fn keep_journal(&self) {
        let mut told = false;
        loop {
            self.session.unwritten.notified().await;
            if let Err(error) = self.write_journal().await {
                // It is kept in memory and tried again; the person hears of it once.
                if !told {
                    self.session.notice(error);
                    told = true;
                }
                self.session.unwritten.notify_one();
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn write_journal(&self) -> Result<()> {
        let _journal = self.session.writing.lock().await;
        let segments = self.session.lock().transcript.unjournaled();
        if segments.is_empty() {
            return Ok(());
        }
        let (store, written) = (&self.session.services.store, segments.clone());
        // A temporary reply ends with the program: there is nothing that a crash would leave of it.
        if !self.session.fid.is_temporary() {
            store.journal(segments).await?;
        }
        self.session.lock().transcript.journaled(&written);
        Ok(())
    }

    /// Stores a reply in its final form. Where the store refuses it, the person hears of it, and
    /// it is tried again for as long as the program runs.
    pub(super) async fn fold(&self, message: Arc<Message>) {
        let first = self.session.services.store.fold(&self.session.fid, Arc::clone(&message)).await;
        let Err(error) = first else { return };
        let hopeless = is_hopeless(&error);
        self.session.notice(error.clone());
        if hopeless {
            return;
        }
        self.session.lock().transcript.refuse_reply(error);
        let session = Arc::clone(&self.session);
        self.session.services.spawn(async move {
            let mut wait = FIRST_WAIT;
            loop {
                tokio::time::sleep(wait).await;
                match session.services.store.fold(&session.fid, Arc::clone(&message)).await {
                    Err(error) if !is_hopeless(&error) => wait = (wait * 2).min(LONGEST_WAIT),
                    _ => break,
                }
            }
            let _gate = session.gate.lock().await;
            session.lock().transcript.settle_reply();
            session.taken.notify_waiters();
            session.rest().await;
        });
    }

    /// Keeps results of tools that the store refused, and gives them to it again until it takes
    /// them. What begins meanwhile takes them along.
    pub(super) fn save_later(&self) {
        let session = Arc::clone(&self.session);
        self.session.services.spawn(async move {
            let mut wait = FIRST_WAIT;
            loop {
                tokio::time::sleep(wait).await;
                let _gate = session.gate.lock().await;
                let _one = session.writing.lock().await;
                let unsaved = session.lock().transcript.with_unsaved([]);
                let Some(head) = unsaved.last().map(|message| message.id) else { return };
                match session.services.store.append(&session.fid, unsaved.clone(), head).await {
                    Err(error) if !is_hopeless(&error) => wait = (wait * 2).min(LONGEST_WAIT),
                    _ => {
                        session.lock().transcript.saved(&unsaved);
                        session.taken.notify_waiters();
                        return session.rest().await;
                    }
                }
            }
        });
    }
}

impl Session {
    /// Waits until the store has taken all that was said. Why it has not, where that takes too long.
    pub(crate) async fn stored(&self) -> Result<()> {
        let all = async {
            loop {
                let taken = self.taken.notified();
                if self.lock().transcript.is_stored() {
                    return;
                }
                taken.await;
            }
        };
        match tokio::time::timeout(STORE_PATIENCE, all).await {
            Ok(()) => Ok(()),
            Err(_) => Err(self
                .lock()
                .transcript
                .refused()
                .cloned()
                .unwrap_or_else(|| Kind::Storage.into())),
        }
    }

    /// Gives the session up and drops what only the store need have, where nothing is at work.
    async fn rest(&self) {
        if !self.is_busy() {
            self.release().await;
            self.lock().unload();
        }
    }
}

/// Whether the store will never take it: the session is gone for good, or we have a bug.
fn is_hopeless(error: &Error) -> bool {
    matches!(error.kind, Kind::SessionNotFound { .. } | Kind::Internal)
}
