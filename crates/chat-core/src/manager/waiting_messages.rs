//! Changes and sends the messages that wait in a session.

use super::{Fid, MessageId, Queued, Result, Sessions};
use crate::message::{Content, Context};
use crate::store::WaitingPlace;

impl Sessions {
    /// Sends the first message that waits, where none goes out by itself: after a stop, a failure
    /// or the end of the program. Does nothing while a request is at work. Why one cannot be sent
    /// comes as a notice; it waits on.
    pub async fn send_waiting(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                this.session(&fid).await?.send_waiting().await;
                Ok(())
            })
            .await
    }

    /// Takes a waiting message back, and gives it, so that it can be put into the composer.
    pub async fn unqueue(&self, fid: &Fid, id: MessageId) -> Result<Option<Queued>> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.unqueue(id).await }).await
    }

    /// Has a message wait again that [`unqueue`](Self::unqueue) gave, before another one or after
    /// all. Where the other one does not wait any more, it waits after all. It goes out as it would
    /// have; where nothing is at work, not before the user sends it.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's: it does not wait.
    pub async fn requeue(
        &self,
        fid: &Fid,
        queued: Queued,
        before: Option<MessageId>,
    ) -> Result<()> {
        let place = before.map_or(WaitingPlace::Last, WaitingPlace::Before);
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.requeue(queued, place).await }).await
    }

    /// Changes what a waiting message says and what goes with it. Returns whether it waited still: it
    /// may have gone out, or another process took it back.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's: it says what it said.
    pub async fn edit_waiting(
        &self,
        fid: &Fid,
        id: MessageId,
        mut content: Content,
        mut context: Context,
    ) -> Result<bool> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                let servers = this.server_content();
                servers.read_mentioned(session.project(), &mut content, &mut context).await?;
                session.edit_waiting(id, content, context).await
            })
            .await
    }

    /// Has a waiting message go out before another one, or after all. Where the other one does not
    /// wait any more, nothing moves. Returns whether the message waited still.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's: nothing moved.
    pub async fn move_waiting(
        &self,
        fid: &Fid,
        id: MessageId,
        before: Option<MessageId>,
    ) -> Result<bool> {
        let place = before.map_or(WaitingPlace::Last, WaitingPlace::Before);
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.move_waiting(id, place).await }).await
    }

    /// Sends a waiting message now: the request at work is stopped, and what arrived of it stays. Why
    /// it cannot be sent comes as a notice; it waits on, before all others. Returns whether it waited
    /// still.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's: nothing was stopped.
    pub async fn deliver_now(&self, fid: &Fid, id: MessageId) -> Result<bool> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.deliver_now(id).await }).await
    }
}
