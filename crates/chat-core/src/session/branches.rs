//! Changes which messages a session has and which branch it shows, without a request.

use std::sync::Arc;

use super::Session;
use crate::error::{Kind, Result};
use crate::message::{DeleteScope, DeletedMessages, MessageId};
use crate::store::SessionPatch;

impl Session {
    /// Shows the newest branch through this message. Whether another was shown before.
    ///
    /// # Errors
    /// `SessionAtWork`, `SessionInUse`, and the store's.
    pub(crate) async fn show_branch(self: &Arc<Self>, message: MessageId) -> Result<bool> {
        let _turn = self.admission.lock().await;
        let _gate = self.gate.lock().await;
        let Some(end) = self.services.store.end_of_branch(&self.fid, message).await? else {
            return Ok(false);
        };
        self.check_rests()?;
        self.services.store.claim(&self.fid).await?;
        let patch = SessionPatch { head: Some(Some(end)), ..SessionPatch::default() };
        let patched = self.patch_claimed(patch).await;
        self.release().await;
        patched?;
        self.show_stored();
        Ok(true)
    }

    /// Deletes a message, or all from it on.
    ///
    /// # Errors
    /// `SessionAtWork`, `SessionInUse`, `NothingToSend` where there is no such message, and the store's.
    pub(crate) async fn delete_messages(
        self: &Arc<Self>,
        message: MessageId,
        scope: DeleteScope,
    ) -> Result<DeletedMessages> {
        let _turn = self.admission.lock().await;
        let _gate = self.gate.lock().await;
        self.check_rests()?;
        let deleted = self.services.store.delete_messages(&self.fid, message, scope).await;
        self.take_stored(&deleted).await;
        deleted
    }

    /// Takes that back.
    ///
    /// # Errors
    /// `SessionAtWork`, `SessionInUse`, and the store's.
    pub(crate) async fn restore_messages(self: &Arc<Self>, deleted: DeletedMessages) -> Result<()> {
        let _turn = self.admission.lock().await;
        let _gate = self.gate.lock().await;
        self.check_rests()?;
        let restored = self.services.store.restore_messages(&self.fid, deleted).await;
        self.take_stored(&restored).await;
        restored
    }

    /// # Errors
    /// `SessionAtWork` where a request is at work, or the store lacks something of it.
    fn check_rests(&self) -> Result<()> {
        if self.is_busy() || !self.lock().transcript.is_stored() {
            return Err(Kind::SessionAtWork.into());
        }
        Ok(())
    }

    /// Reads what the store changed, and gives the session up.
    async fn take_stored<T>(&self, changed: &Result<T>) {
        self.release().await;
        if changed.is_err() {
            return;
        }
        match self.services.store.session(&self.fid).await {
            Ok(record) => self.lock().record = record,
            Err(error) => tracing::warn!(%error, "a session could not be read again"),
        }
        self.show_stored();
        self.tell_changed();
    }

    /// Has all who watch open the session again.
    fn show_stored(&self) {
        let mut state = self.lock();
        (state.trouble, state.ended) = (state.record.trouble, state.record.ended);
        state.transcript.unload();
        // Another message may be the last one that was asked.
        state.transcript.note_asked(None);
        state.tell_reset();
    }
}
