//! Follows a message that waits until its chat is free. If it does not go out, it is taken back.

use chat_core::event::{Event, StopReason};
use chat_core::message::Usage;

use super::follower::Follower;
use super::{MESSAGES, Turns};
use crate::error::Result;
use crate::output::{Done, Sink};
use crate::say;
use crate::terminal;

impl Turns<'_> {
    /// Opens the chat again, after events of it were lost or a request ended while the message waits.
    /// Ends the waiting if nothing sends the message: what was at work before it failed or was
    /// stopped. Then the user gets it back.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn reopen(
        &mut self,
        follower: &mut Follower,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let sessions = self.program.manager.sessions();
        let snapshot = sessions.open(follower.fid(), MESSAGES, &self.subscription).await?;
        follower.open(&snapshot, sink);
        if !follower.is_stuck() {
            return Ok(());
        }
        if !self.take_back(follower).await? {
            // It may have gone out just then.
            let snapshot = sessions.open(follower.fid(), MESSAGES, &self.subscription).await?;
            follower.open(&snapshot, sink);
            if !follower.is_stuck() {
                return Ok(());
            }
        }
        self.end_waiting(follower, sink);
        Ok(())
    }

    /// Takes the message back that waits, so that it does not go out with a later one, and gives it to
    /// the user. False if it does not wait any more.
    async fn take_back(&mut self, follower: &Follower) -> Result<bool> {
        let Some(message) = follower.awaited() else { return Ok(false) };
        let sessions = self.program.manager.sessions();
        let Some(queued) = sessions.unqueue(follower.fid(), message).await? else {
            return Ok(false);
        };
        let text = queued.content.text;
        if self.program.terminal.input && !self.awaits_agents {
            let ahead = std::mem::take(&mut self.typed);
            self.typed = if ahead.is_empty() { text } else { format!("{text}\n{ahead}") };
        } else if !self.awaits_agents {
            let text = terminal::clean(&say::not_sent(&text)).into_owned();
            terminal::say(&format!("{}\n", self.program.terminal.dim(&text)));
        }
        Ok(true)
    }

    /// The request ends as the one did that the message waited for.
    fn end_waiting(&mut self, follower: &mut Follower, sink: &mut dyn Sink) {
        let fid = follower.fid().clone();
        // Why it was not sent.
        for event in self.subscription.take() {
            if matches!(event, Event::Notice(_) | Event::RequestFinished { .. }) {
                follower.event(&fid, event, sink);
            }
        }
        if let Some(limit) = follower.limit.take() {
            sink.notice(&limit);
        }
        let failed = Done { reason: StopReason::Error, usage: Usage::default(), error: None };
        let done = match follower.passed.take() {
            Some(done) if !matches!(done.reason, StopReason::Complete | StopReason::Limit) => done,
            _ => failed,
        };
        follower.give_up_waiting(done);
    }
}
