//! The request at work, from its beginning to its end.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::environment::ServerTools;
use super::parts::tool_calls::ToolCalls;
use super::resolved_request::ResolvedRequest;
use super::sink::Sink;
use super::spending::Spending;
use super::turn::RunningTurn;
use crate::agent::{Outcome, ReplyEnd, TurnInput};
use crate::client::Priority;
use crate::error::{Error, Kind};
use crate::event::{Event, SessionEvent, Stage, StopReason};
use crate::message::{Ending, Message, ModelRef, ReplyFailure, Role, Usage};
use crate::store::SessionPatch;

impl RunningTurn {
    /// Runs a request to its end, whatever happens.
    pub(super) async fn work(self, resolved: ResolvedRequest, cancel: CancellationToken) {
        let model = resolved.model.clone();
        let outcome = {
            let request = AssertUnwindSafe(self.reply(resolved, &cancel)).catch_unwind();
            // Without its journal it goes on all the same: it is stored whole at its end.
            let failed = || self.session.notice(Kind::Internal.into());
            run_alongside(request, self.keep_journal(), failed).await
        };
        let outcome = match outcome {
            Ok(outcome) => outcome,
            // A bug of ours: the reply must not stay open for that.
            Err(_) => self.fail(Kind::Internal.into()).await,
        };
        self.finish(outcome, &model, &cancel).await;
    }

    async fn reply(&self, resolved: ResolvedRequest, cancel: &CancellationToken) -> Outcome {
        self.on_waiting();
        let requester = self.session.requester(Priority::Reply);
        let client = tokio::select! {
            biased;
            () = cancel.cancelled() => return self.stopped().await,
            client = self.session.services.clients.client(&resolved.model, requester) => client,
        };
        let client = match client {
            Ok(client) => client,
            Err(error) => return self.fail(error).await,
        };
        let scope = self.session.scope();
        let waits_for = |servers| self.set_stage(Stage::StartingServers { servers });
        let tools = ServerTools::Found(&waits_for);
        let gathering = self.session.gather_environment(&resolved.model, scope, tools);
        let environment = tokio::select! {
            biased;
            () = cancel.cancelled() => return self.stopped().await,
            environment = gathering => environment,
        };
        self.on_waiting();
        let environment = match environment {
            Ok(environment) => environment,
            Err(error) => return self.fail(error).await,
        };
        self.session.learn_asked_above().await;
        let branch = self.session.lock().transcript.branch().unwrap_or_default();
        let sink = Arc::new(Sink {
            turn: self.clone(),
            model: resolved.model.clone(),
            agent: resolved.agent.name().to_owned(),
            project: environment.project.clone(),
            capabilities: environment.capabilities,
            spending: Spending::new(&self.session, &branch),
        });
        let offered = sink.tools(&self.session.services.clients.settings().tools);
        let (tools, _) = resolved.agent.configure_tools(&offered);
        let surroundings = environment.surroundings(tools);
        self.session.lock().last_usage.set_surroundings(surroundings.clone());
        let input = TurnInput {
            agent: Arc::clone(&resolved.agent),
            client,
            model: resolved.model.clone(),
            thinking: resolved.thinking,
            options: resolved.options,
            around: surroundings,
            cancel: cancel.clone(),
        };
        resolved.agent.create_handler(input, sink).run().await
    }

    async fn fail(&self, error: Error) -> Outcome {
        self.end_reply(ReplyEnd { ended: Ending::Failed, error: Some(error.clone()) }).await;
        Outcome { reason: StopReason::Error, usage: Usage::default(), error: Some(error) }
    }

    async fn stopped(&self) -> Outcome {
        self.end_reply(ReplyEnd { ended: Ending::Stopped, error: None }).await;
        Outcome { reason: StopReason::Stopped, usage: Usage::default(), error: None }
    }

    pub(super) fn on_waiting(&self) {
        // It began to wait when it asked for its client.
        let waits = matches!(self.session.lock().turns.stage(), Stage::Waiting { .. });
        if !waits {
            self.set_stage(Stage::Waiting { since: Timestamp::now() });
        }
    }

    /// Ends the open reply.
    pub(super) async fn end_reply(&self, end: ReplyEnd) -> Arc<Message> {
        let _journal = self.session.writing.lock().await;
        if let Some(results) = self.withdraw_reply(&end).await {
            return results;
        }
        let message = {
            let mut state = self.session.lock();
            let is_open = state.turns.is_active(self.id);
            let known = self.session.services.known_tools();
            let stored_title =
                |tool: &str| known.get(tool)?.info().stored_title().map(str::to_owned);
            if is_open {
                state.flush_reply();
            }
            let ended = is_open.then(|| state.transcript.end_reply(end, stored_title)).flatten();
            let Some(message) = ended else {
                // It had ended before: what is reported twice is stored once.
                let head = state.transcript.head().and_then(|head| state.transcript.get(head));
                return head
                    .cloned()
                    .unwrap_or_else(|| Arc::new(Message::text(Role::Ui, None, "")));
            };
            state.trouble = message.ended.and_then(Ending::trouble);
            state.tool_calls = ToolCalls::of(&message);
            let told = Arc::clone(&message);
            state.tell(SessionEvent::MessageChanged { message: told });
            message
        };
        self.fold(Arc::clone(&message)).await;
        self.session.context_usage().tell();
        message
    }

    /// A reply that was stopped before the model said anything about the results of tools leaves no
    /// trace: the results are the last thing again, and are given back.
    async fn withdraw_reply(&self, end: &ReplyEnd) -> Option<Arc<Message>> {
        if end.ended != Ending::Stopped {
            return None;
        }
        let (reply, results) = {
            let state = self.lock()?;
            let reply = state.transcript.untouched_reply()?;
            let results = state.transcript.get(reply.parent?)?;
            (results.role == Role::Tool).then(|| (Arc::clone(reply), Arc::clone(results)))?
        };
        if let Err(error) = self.session.services.store.withdraw(&self.session.fid, &reply).await {
            // Then it is stored as one that says nothing.
            tracing::warn!(%error, "a reply that was stopped could not be withdrawn");
            return None;
        }
        let mut state = self.session.lock();
        state.transcript.withdraw_reply();
        state.record.head = Some(results.id);
        state.tell_reset();
        Some(results)
    }

    /// The request has ended: notifies watchers, and continues with the queue.
    async fn finish(&self, outcome: Outcome, model: &ModelRef, cancel: &CancellationToken) {
        // What waits goes out next, unless the person stopped this, or it would fail in the same
        // way: then it waits until it is sent. What this was stopped for goes out in any case.
        let went_well = matches!(outcome.reason, StopReason::Complete | StopReason::Limit);
        if went_well && let Some(next) = self.session.first_waiting() {
            cancel.run_until_cancelled(self.session.wait_until_known(&next)).await;
        }
        let gate = self.session.gate.lock().await;
        let (unread, goes_on, next) = {
            let mut state = self.session.lock();
            // Until here a stop was one of this request, also while it waited for the gate.
            let stopped = cancel.is_cancelled() || outcome.reason == StopReason::Stopped;
            if !went_well && !stopped {
                state.trouble.get_or_insert(ReplyFailure::Failed);
            }
            state.note_ending();
            let troubled = state.trouble.is_some();
            let goes_on = state.turns.is_interrupted() || (went_well && !stopped && !troubled);
            state.end_turn();
            state.stopped = stopped && !goes_on;
            let unread = !state.is_watched() && !state.record.unread && !state.is_halted();
            state.record.unread |= unread;
            state.record.updated = Timestamp::now();
            // A stop from now on is one of what waits.
            let next = state.turns.starting();
            // Who waits until nothing is at work, to end the program, waits for this, too.
            state.begins_next = goes_on && !state.queue.is_empty();
            (unread, goes_on, next)
        };
        if unread {
            let patch = SessionPatch { unread: Some(true), ..SessionPatch::default() };
            if let Err(error) = self.session.services.store.patch(&self.session.fid, patch).await {
                self.session.notice(error);
            }
        }
        let event = Event::RequestFinished {
            fid: self.session.fid.clone(),
            reason: outcome.reason,
            usage: outcome.usage,
            error: outcome.error,
        };
        // Whoever hears that the request has ended may claim the session.
        let goes_on = {
            let mut state = self.session.lock();
            let goes_on =
                goes_on && !next.is_cancelled() && !state.is_halted() && !state.queue.is_empty();
            state.begins_next = goes_on;
            goes_on
        };
        if !goes_on {
            self.session.release().await;
        }
        self.session.services.hub.tell(&event);
        let has_begun = goes_on && self.session.begin_next(next).await;
        self.session.lock().begins_next = false;
        if has_begun {
            self.session.ended.notify_waiters();
            return;
        }
        if goes_on {
            self.session.release().await;
        }
        self.session.tell_changed();
        if outcome.reason == StopReason::Complete {
            self.ask_for_title(model);
        }
        self.session.lock().unload();
        // Nobody waits for anything now.
        drop(self.session.services.journals.tidy());
        self.session.ended.notify_waiters();
        drop(gate);
    }
}

/// Runs the work to its end together with something that is dropped with it. A panic of the other is reported and
/// does not end the work.
async fn run_alongside<T>(
    work: impl Future<Output = T>,
    other: impl Future<Output = ()>,
    panicked: impl FnOnce(),
) -> T {
    let other = async {
        if AssertUnwindSafe(other).catch_unwind().await.is_err() {
            panicked();
        }
        std::future::pending::<Infallible>().await
    };
    tokio::select! {
        done = work => done,
        never = other => match never {},
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_beside_the_work_is_told_and_ends_it_not() {
        let (told, mut heard) = tokio::sync::oneshot::channel();
        let work = async {
            // Only the telling lets it end.
            (&mut heard).await.unwrap();
            "whole"
        };
        let journal = async { panic!("a bug in the journal") };
        assert_eq!(run_alongside(work, journal, || told.send(()).unwrap()).await, "whole");
    }

    #[tokio::test]
    async fn what_stands_beside_the_work_may_end_before_it() {
        let work = async {
            tokio::task::yield_now().await;
            1
        };
        assert_eq!(run_alongside(work, async {}, || panic!("nothing panicked")).await, 1);
    }
}
