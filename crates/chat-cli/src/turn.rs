//! Runs one request from start to end: shows the session's events, and handles Ctrl+C and the
//! user's answers to tools.

mod approvals;
mod asks;
mod bounds;
mod follower;
mod rest;

use std::time::Duration;

use chat_core::error::{Error, Kind};
use chat_core::event::{Event, Snapshot, StopReason, Subscription};
use chat_core::manager::Sent;
use chat_core::message::{ChatRequest, Fid, Usage};
use chat_presentation::diagnostics::Moment;
use tokio::time::{Instant, sleep, sleep_until};

use crate::engine::Program;
use crate::error::{CliError, Result};
use crate::output::{Done, Sink};
use crate::say;
use crate::signals::Signals;

use approvals::Approvals;
use follower::{Followed, Follower};
use rest::Rest;

pub use rest::report_agents;

/// How many messages to read when a session is opened: more than one request creates.
const MESSAGES: usize = 200;

/// How long a stopped request, or a reader that takes nothing, may delay the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often the message about a silent server is updated.
const TICK: Duration = Duration::from_secs(1);

/// What a request needs from the program.
pub struct Turns<'a> {
    pub program: &'a Program,
    /// Created before the request is sent, so that it hears of its end in any case.
    pub subscription: Subscription,
    pub signals: &'a mut Signals,
    /// Whether to go on until agents in the background are done, and the chat has answered their reports.
    pub awaits_agents: bool,
}

impl Turns<'_> {
    /// Sends a request and shows its answer. Returns the session, if there is one, and how it
    /// ended.
    ///
    /// # Errors
    ///
    /// `Stopped` if the end could not be shown; `BrokenPipe` if the reader went away, after the
    /// request was stopped.
    pub async fn run(
        &mut self,
        request: ChatRequest,
        sink: &mut dyn Sink,
    ) -> Result<(Option<Fid>, Done)> {
        let name = request.session.as_ref().map_or("new", |fid| fid.as_str()).to_owned();
        self.program.diagnostics.reply(&name, Moment::Request);
        let known = request.session.clone();
        let begun = {
            let mut beginning = Box::pin(begin(self.program, &self.subscription, request));
            tokio::select! {
                begun = &mut beginning => begun,
                () = self.signals.next() => {
                    // The request may be sent anyway; pressing Ctrl+C again skips the wait.
                    let ends_all = self.signals.ends_all();
                    let begun = tokio::select! {
                        begun = beginning, if !ends_all => begun.ok(),
                        () = self.signals.next(), if !ends_all => None,
                        () = sleep(PATIENCE), if !ends_all => None,
                        else => None,
                    };
                    let sent = begun.map(|(sent, _)| sent.fid);
                    if let Some(fid) = sent.as_ref().or(known.as_ref()) {
                        self.program.manager.sessions().stop(fid);
                        self.program.manager.sessions().close(fid, &self.subscription);
                    }
                    return Ok((sent, self.end_early(None, sink).await));
                }
            }
        };
        let (sent, snapshot) = match begun {
            Ok(begun) => begun,
            Err(error) => return Ok((None, self.end_early(Some(error), sink).await)),
        };
        sink.session(&snapshot.session);
        let mut follower = Follower::new(&sent, self.program.manager.tools());
        follower.open(&snapshot, sink);
        if known.is_some() {
            // Agents that work in the background since an earlier message.
            let agents = self.program.manager.agents().list(Some(&sent.fid)).await;
            for agent in agents.unwrap_or_default() {
                follower.asks.set_row(&agent);
            }
            follower.asks.set_all(self.program.manager.permissions().pending());
        }
        if follower.text_bytes > 0 {
            self.program.diagnostics.reply(&name, Moment::FirstByte);
            self.program.diagnostics.reply(&name, Moment::LastByte);
        }
        let approvals = Approvals::new(self.program, &snapshot.session);
        let done = self.follow(approvals, follower, sink, &name).await;
        self.program.manager.sessions().close(&sent.fid, &self.subscription);
        done.map(|done| (Some(sent.fid), done))
    }

    /// Shows the end of a request that was never sent: it failed, or the user stopped it.
    pub async fn end_early(&self, error: Option<Error>, sink: &mut dyn Sink) -> Done {
        let reason = if error.is_some() { StopReason::Error } else { StopReason::Stopped };
        let done = Done { reason, usage: Usage::default(), error };
        sink.done(&done);
        // An output error is not worth reporting after another error.
        let _ = self.program.output.write(sink.take()).await;
        done
    }

    /// The outcome of a request that may have to wait for free disk space. A reply that is still
    /// not stored by then will look interrupted to later readers of the chat.
    async fn as_stored(&mut self, fid: &Fid, done: Done) -> Done {
        let sessions = self.program.manager.sessions();
        let stored = tokio::select! {
            stored = sessions.stored(fid) => stored,
            () = self.signals.next() => Err(Kind::DiskFull.into()),
        };
        match stored {
            Err(error) if done.reason == StopReason::Complete => {
                let error = Some(error.with_detail(say::reply_not_stored()));
                Done { reason: StopReason::Interrupted, error, ..done }
            }
            _ => done,
        }
    }

    /// Shows events.
    async fn hear(
        &mut self,
        events: Vec<Event>,
        fid: &Fid,
        follower: &mut Follower,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        for event in events {
            if follower.event(fid, event, sink) == Followed::Lost {
                let sessions = self.program.manager.sessions();
                let snapshot = sessions.open(fid, MESSAGES, &self.subscription).await?;
                follower.open(&snapshot, sink);
            }
        }
        Ok(())
    }

    async fn follow(
        &mut self,
        mut approvals: Approvals<'_>,
        mut follower: Follower,
        sink: &mut dyn Sink,
        name: &str,
    ) -> Result<Done> {
        let fid = approvals.fid().clone();
        let fid = &fid;
        let mut rest = Rest::new(self.program, fid);
        let mut writing = None;
        let mut broken = None;
        let mut deadline: Option<Instant> = None;
        let mut tick = Instant::now() + TICK;
        let mut ticking = true;
        loop {
            if writing.is_none() {
                approvals.update(&mut follower.asks, sink).await;
                if follower.ended_without_calls()
                    && let Some(failure) = approvals.tools_in_vain().await
                {
                    sink.notice(&failure);
                }
                if follower.runs_commands {
                    bounds::warn_once(self.program).await;
                }
                if let Some(done) = follower.finished() {
                    // An output error is reported by the next write.
                    let _ = self.program.output.write(sink.take()).await;
                    let done = rest.with_earlier(self.as_stored(fid, done).await);
                    if self.awaits_agents && done.reason == StopReason::Complete {
                        follower.show_last(sink);
                        rest.begin(done, sink).await;
                    } else {
                        follower.end(done, sink);
                    }
                }
                let pieces = sink.take();
                if !pieces.is_empty() && broken.is_none() {
                    writing = Some(self.program.output.write(pieces));
                } else if let Some(done) = follower.done.take() {
                    return broken.map_or(Ok(done), Err);
                }
            }
            tokio::select! {
                written = async { writing.as_mut().expect("looked at just before").await },
                    if writing.is_some() =>
                {
                    writing = None;
                    approvals.listen_to_current(&mut follower.asks, sink).await;
                    if follower.text_bytes > 0 {
                        self.program.diagnostics.reply(name, Moment::FirstPaint);
                        self.program.diagnostics.reply(name, Moment::LastPaint);
                    }
                    if let Ok(Err(trouble)) = written {
                        // Nobody reads any more, so the rest is of no use.
                        self.program.manager.sessions().stop(fid);
                        broken = Some(trouble);
                        if let Some(done) = rest.give_up() {
                            follower.end(done, sink);
                        }
                    }
                }
                events = self.subscription.next(), if writing.is_none() && follower.done.is_none() => {
                    let Some(events) = events else { return Err(CliError::Stopped) };
                    let had = follower.text_bytes;
                    self.hear(events, fid, &mut follower, sink).await?;
                    if follower.text_bytes > had {
                        self.program.diagnostics.reply(name, Moment::FirstByte);
                        self.program.diagnostics.reply(name, Moment::LastByte);
                    }
                    ticking = true;
                }
                typed = approvals.typed(), if writing.is_none() && approvals.waits() => {
                    approvals.answer(typed, &mut follower.asks, sink).await;
                }
                () = rest.reached(), if rest.is_awaited() && writing.is_none() => {
                    // All that was said until now is here.
                    let events = self.subscription.take();
                    self.hear(events, fid, &mut follower, sink).await?;
                    if let Some(done) = rest.end_unless(follower.is_finished()) {
                        follower.end(done, sink);
                    }
                }
                () = self.signals.next() => {
                    if !follower.is_at_work
                        && let Some(done) = rest.give_up()
                    {
                        // The agents end with the program.
                        report_agents(fid, self.program).await;
                        follower.end(Done { reason: StopReason::Stopped, ..done }, sink);
                        continue;
                    }
                    if deadline.is_some() {
                        return Err(CliError::Stopped);
                    }
                    deadline = Some(Instant::now() + PATIENCE);
                    self.program.manager.sessions().stop(fid);
                }
                () = sleep_until(deadline.unwrap_or(tick)), if deadline.is_some() => {
                    return Err(CliError::Stopped);
                }
                () = sleep_until(tick), if ticking && follower.text_bytes == 0 => {
                    ticking = sink.tick();
                    tick = Instant::now() + TICK;
                }
            }
        }
    }
}

/// Sends the request, and opens its session.
async fn begin(
    program: &Program,
    subscription: &Subscription,
    request: ChatRequest,
) -> chat_core::error::Result<(Sent, Snapshot)> {
    let sent = send(program, request).await?;
    let snapshot = program.manager.sessions().open(&sent.fid, MESSAGES, subscription).await?;
    Ok((sent, snapshot))
}

/// Sends the request. If its server is unknown, discovers servers first and tries again.
async fn send(program: &Program, request: ChatRequest) -> chat_core::error::Result<Sent> {
    match program.manager.send(request.clone()).await {
        Err(error) if matches!(error.kind, Kind::NoModel | Kind::ConnectionMissing { .. }) => {
            program.discover();
            program.manager.send(request).await
        }
        sent => sent,
    }
}
