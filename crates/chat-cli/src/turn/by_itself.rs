//! Follows a chat between the user's messages: what its agents ask, and what it makes of their reports.

use chat_core::error::Kind;
use chat_core::message::Fid;

use crate::error::{CliError, Result};
use crate::output::{Pieces, Sink};

use super::approvals::Approvals;
use super::follower::{Followed, Follower};
use super::{MESSAGES, Turns, Until};

impl Turns<'_> {
    /// Begins to follow a chat, if it is not followed yet and no other program writes in it. What was
    /// said in it until now is not shown.
    pub async fn watch(&mut self, fid: &Fid) -> Result<()> {
        if self.follower.as_ref().is_some_and(|follower| follower.fid() == fid) {
            return Ok(());
        }
        self.unwatch();
        let sessions = self.program.manager.sessions();
        let snapshot = match sessions.open(fid, MESSAGES, &self.subscription).await {
            Ok(snapshot) if !snapshot.session.in_use => snapshot,
            Ok(_) => {
                sessions.close(fid, &self.subscription);
                return Ok(());
            }
            // It was deleted meanwhile.
            Err(error) if matches!(error.kind, Kind::SessionNotFound { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let mut follower = Follower::of_chat(&snapshot, self.program.manager.tools());
        follower.asks.set_own(snapshot.asks.clone());
        follower.is_at_work = snapshot.session.status.is_busy();
        self.know_agents(&mut follower).await;
        self.follower = Some(follower);
        Ok(())
    }

    /// Ends to follow a chat.
    pub fn unwatch(&mut self) {
        if let Some(follower) = self.follower.take() {
            self.program.manager.sessions().close(follower.fid(), &self.subscription);
        }
    }

    /// Waits until there is something to show of the followed chat, or to ask; forever if none is
    /// followed. Gives what is to be written. Cancel-safe.
    ///
    /// # Errors
    /// `Stopped` after a signal, or where the engine has ended.
    pub async fn news(&mut self, sink: &mut dyn Sink) -> Result<Pieces> {
        loop {
            let Some(follower) = &mut self.follower else {
                self.signals.next().await;
                return Err(CliError::Stopped);
            };
            if follower.is_news() {
                return Ok(sink.take());
            }
            let events = tokio::select! {
                events = self.subscription.next() => events.ok_or(CliError::Stopped)?,
                () = self.signals.next() => return Err(CliError::Stopped),
            };
            let fid = follower.fid().clone();
            for event in events {
                if follower.event(&fid, event, sink) == Followed::Lost {
                    // It is opened again.
                    follower.is_at_work = true;
                }
            }
            if let Some(limit) = follower.limit.take() {
                sink.notice(&limit);
            }
            let pieces = sink.take();
            if !pieces.is_empty() {
                return Ok(pieces);
            }
        }
    }

    /// Shows what has happened in the followed chat since the last news, before a message is sent there.
    pub(super) fn show_news(&mut self, known: Option<&Fid>, sink: &mut dyn Sink) {
        let events = self.subscription.take();
        let is_known = |follower: &&mut Follower| Some(follower.fid()) == known;
        let Some(follower) = self.follower.as_mut().filter(is_known) else { return };
        let fid = follower.fid().clone();
        for event in events {
            // Where some were lost, the snapshot after the message holds what they said.
            follower.event(&fid, event, sink);
        }
        if let Some(limit) = follower.limit.take() {
            sink.notice(&limit);
        }
        if let Some(done) = follower.finished() {
            follower.end(done, sink);
        }
    }

    /// Follows the chat until it does nothing by itself and its agents ask nothing.
    ///
    /// # Errors
    /// As [`run`](Self::run), and the store's.
    pub async fn go_on(&mut self, sink: &mut dyn Sink) -> Result<()> {
        let Some(mut follower) = self.follower.take() else { return Ok(()) };
        let fid = follower.fid().clone();
        let sessions = self.program.manager.sessions();
        let snapshot = match sessions.open(&fid, MESSAGES, &self.subscription).await {
            Ok(snapshot) => snapshot,
            Err(error) if matches!(error.kind, Kind::SessionNotFound { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        follower.open(&snapshot, sink);
        let approvals = Approvals::new(self.program, &snapshot.session);
        let name = fid.as_str();
        let followed = self.follow(approvals, &mut follower, sink, name, Until::Quiet);
        let followed = Box::pin(followed).await;
        self.follower = Some(follower);
        followed.map(|_| ())
    }

    /// Opens the chat again after a request, since another may have begun. False where it is gone.
    pub(super) async fn open_again(
        &self,
        follower: &mut Follower,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let sessions = self.program.manager.sessions();
        match sessions.open(follower.fid(), MESSAGES, &self.subscription).await {
            Ok(snapshot) => {
                follower.open(&snapshot, sink);
                Ok(true)
            }
            Err(error) if matches!(error.kind, Kind::SessionNotFound { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
