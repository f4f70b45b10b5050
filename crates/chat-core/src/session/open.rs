//! Showing a session: a snapshot and, without a gap, its events.

use std::sync::Arc;

use super::Session;
use crate::error::Result;
use crate::event::{Mailbox, Snapshot};
use crate::message::Message;

impl Session {
    /// The last messages, and the mailbox among those who watch from then on.
    pub(crate) async fn open(&self, limit: usize, mailbox: &Arc<Mailbox>) -> Result<Snapshot> {
        // Behind the gate nothing begins, so that what the store says stays true until the
        // mailbox is in.
        let _gate = self.gate.lock().await;
        if let Some(snapshot) = self.open_loaded(limit, mailbox) {
            self.shown_changed();
            return Ok(snapshot);
        }
        let page = self.services.store.page(&self.fid, None, limit).await?;
        let mut state = self.lock();
        state.watch(mailbox);
        Ok(state.snapshot(page.messages, page.more, self.commands()))
    }

    fn open_loaded(&self, limit: usize, mailbox: &Arc<Mailbox>) -> Option<Snapshot> {
        let mut state = self.lock();
        let mut branch = state.transcript.branch()?;
        let earlier = branch.len().saturating_sub(limit);
        let tail = branch.split_off(earlier);
        state.watch(mailbox);
        Some(state.snapshot(tail, earlier > 0, self.commands()))
    }

    pub(crate) fn close(&self, mailbox: &Arc<Mailbox>) {
        self.lock().unwatch(mailbox);
        self.shown_changed();
        // Where something begins, its end unloads.
        if let Ok(_gate) = self.gate.try_lock() {
            self.lock().unload();
        }
    }

    /// The whole shown branch. Loads it where it is not loaded; the gate must be held.
    pub(crate) async fn load(&self) -> Result<Vec<Arc<Message>>> {
        if let Some(branch) = self.lock().transcript.branch() {
            return Ok(branch);
        }
        let page = self.services.store.page(&self.fid, None, usize::MAX).await?;
        self.lock().transcript.load(&page.messages);
        Ok(page.messages)
    }

    /// The whole shown branch, for reading.
    pub(crate) async fn transcript(&self) -> Result<Vec<Arc<Message>>> {
        let _gate = self.gate.lock().await;
        if let Some(branch) = self.lock().transcript.branch() {
            return Ok(branch);
        }
        Ok(self.services.store.page(&self.fid, None, usize::MAX).await?.messages)
    }
}
