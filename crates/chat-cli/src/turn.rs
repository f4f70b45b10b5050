//! Runs one request from start to end: shows the session's events, and handles Ctrl+C and the
//! user's answers to tools. Does the same for what a chat does by itself.

mod approvals;
mod asks;
mod beginning;
mod bounds;
mod by_itself;
mod follower;
mod quiet;
mod rest;
mod stopping;
mod waiting;

use std::time::Duration;

use chat_core::error::{Error, Kind};
use chat_core::event::{Event, Failure, Snapshot, StopReason, Subscription};
use chat_core::message::{Fid, Usage};
use chat_presentation::diagnostics::Moment;
use tokio::time::{Instant, sleep, sleep_until};

use crate::engine::Program;
use crate::error::{CliError, Result};
use crate::output::{Done, Sink};
use crate::say;
use crate::servers;
use crate::signals::Signals;
use crate::terminal;

use approvals::Approvals;
use beginning::Begun;
use follower::Followed;
use rest::Rest;
use stopping::{Stop, Stopping};

pub use beginning::Beginning;
pub use follower::Follower;
pub use rest::{names, names_at_work, report_agents};

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
    /// Otherwise the chat is followed beyond the request.
    pub awaits_agents: bool,
    /// What was shown of the chat before the request, and is known of it then.
    pub follower: Option<Follower>,
    /// What was typed, but before anything was asked: it is no answer.
    pub typed: String,
    /// What was said of servers of tools.
    pub servers: servers::Reported,
}

/// Until when a chat is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    /// The end of the request.
    Finished,
    /// Nothing is at work in the chat itself, and no question waits.
    Quiet,
}

impl Turns<'_> {
    /// Begins a request and shows its answer. Returns its session, if it began, and how it ended.
    ///
    /// # Errors
    ///
    /// `Stopped` if the end could not be shown; `BrokenPipe` if the reader went away, after the
    /// request was stopped.
    pub async fn run(
        &mut self,
        beginning: Beginning,
        sink: &mut dyn Sink,
    ) -> Result<(Option<Fid>, Done)> {
        let name = beginning.session().map_or("new", |fid| fid.as_str()).to_owned();
        self.program.diagnostics.reply(&name, Moment::Request);
        let known = beginning.session().cloned();
        // The messages that came before are in the snapshot, but no notices and no ends.
        self.show_news(known.as_ref(), sink);
        let begun = {
            let mut beginning = Box::pin(begin(self.program, &self.subscription, beginning));
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
                    let sent = begun.map(|(begun, _)| begun.fid);
                    if let Some(fid) = sent.as_ref().or(known.as_ref()) {
                        self.program.manager.sessions().stop(fid);
                        self.program.manager.sessions().close(fid, &self.subscription);
                        self.follower = None;
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
        if self.follower.as_ref().is_some_and(|follower| *follower.fid() != sent.fid) {
            self.unwatch();
        }
        let tools = self.program.manager.tools();
        let mut follower =
            self.follower.take().unwrap_or_else(|| Follower::after(&sent, &snapshot, tools));
        follower.begin(sent.message());
        follower.open(&snapshot, sink);
        if follower.is_stuck() {
            self.reopen(&mut follower, sink).await?;
        }
        if known.is_some() {
            // Agents that work in the background since an earlier message.
            self.know_agents(&mut follower).await;
        }
        if follower.text_bytes > 0 {
            self.program.diagnostics.reply(&name, Moment::FirstByte);
            self.program.diagnostics.reply(&name, Moment::LastByte);
        }
        let project = snapshot.session.project.clone();
        let approvals = Approvals::new(self.program, &snapshot.session);
        let followed = self.follow(approvals, &mut follower, sink, &name, Until::Finished);
        let done = Box::pin(followed).await;
        let is_sent = !follower.is_back;
        if self.awaits_agents {
            self.program.manager.sessions().close(&sent.fid, &self.subscription);
        } else {
            self.follower = Some(follower);
        }
        let done = done?.ok_or(CliError::Stopped)?;
        self.servers.report_new(project.as_deref(), self.program).await;
        Ok((is_sent.then_some(sent.fid), done))
    }

    /// Takes the agents of a chat, and what they ask.
    async fn know_agents(&self, follower: &mut Follower) {
        let agents = self.program.manager.agents().list(Some(follower.fid())).await;
        for agent in agents.unwrap_or_default() {
            follower.asks.set_row(&agent);
        }
        follower.asks.set_all(self.program.manager.permissions().pending());
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
                self.reopen(follower, sink).await?;
            }
        }
        // Otherwise the end of the request tells it.
        if let Some(limit) = follower.limit.take_if(|_| !self.awaits_agents) {
            sink.notice(&limit);
        }
        Ok(())
    }

    /// Stops what the user chose.
    fn stop(&self, stop: Stop, fid: &Fid, deadline: &mut Option<Instant>) {
        match stop {
            Stop::Reply => {
                *deadline = Some(Instant::now() + PATIENCE);
                self.program.manager.sessions().stop(fid);
            }
            Stop::Agent(agent) => {
                self.program.manager.agents().interrupt(&agent.fid);
                let name = agent.name.as_deref().unwrap_or_default();
                let text = say::stopped_agent(name);
                terminal::say(&format!("{}\n", self.program.terminal.dim(&terminal::clean(&text))));
            }
            Stop::Nothing => {}
        }
    }

    /// Shows what happens in a chat, and gives how its last request ended; none where there was none.
    async fn follow(
        &mut self,
        mut approvals: Approvals<'_>,
        follower: &mut Follower,
        sink: &mut dyn Sink,
        name: &str,
        until: Until,
    ) -> Result<Option<Done>> {
        let fid = &approvals.fid().clone();
        let mut rest = Rest::new(self.program, fid);
        let mut stopping = Stopping::new(self.program, fid);
        let mut ended = None;
        let is_replying = |it: &Follower| until == Until::Finished || it.is_at_work;
        let mut writing = None;
        let mut broken = None;
        let mut deadline: Option<Instant> = None;
        let mut tick = Instant::now() + TICK;
        let mut ticking = true;
        loop {
            if writing.is_none() && stopping.is_wanted() {
                if stopping.is_a_choice().await {
                    approvals.interrupt(sink);
                    stopping.ask(is_replying(follower), sink, &mut self.typed);
                } else {
                    self.stop(Stop::reply_if(is_replying(follower)), fid, &mut deadline);
                }
            }
            if writing.is_none() && stopping.waits() {
                // Nothing else comes to the screen until it is answered.
                if !stopping.listens() {
                    writing = Some(self.program.output.write(sink.take()));
                }
            } else if writing.is_none() {
                approvals.update(&mut follower.asks, sink, deadline.is_none()).await;
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
                    if until == Until::Finished || broken.is_some() {
                        return broken.map_or(Ok(Some(done)), Err);
                    }
                    (ended, deadline) = (Some(done), None);
                    approvals.withdraw();
                    if !self.open_again(follower, sink).await? {
                        return Ok(ended);
                    }
                    continue;
                } else if until == Until::Quiet && !follower.is_at_work && !approvals.waits() {
                    return broken.map_or(Ok(ended), Err);
                }
            }
            tokio::select! {
                written = async { writing.as_mut().expect("looked at just before").await },
                    if writing.is_some() =>
                {
                    writing = None;
                    stopping.listen();
                    approvals.written(&mut self.typed);
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
                events = self.subscription.next(),
                    if writing.is_none() && follower.done.is_none() && !stopping.waits() =>
                {
                    let Some(events) = events else { return Err(CliError::Stopped) };
                    let had = follower.text_bytes;
                    self.hear(events, fid, follower, sink).await?;
                    if follower.text_bytes > had {
                        self.program.diagnostics.reply(name, Moment::FirstByte);
                        self.program.diagnostics.reply(name, Moment::LastByte);
                    }
                    ticking = true;
                }
                typed = approvals.typed(), if writing.is_none() && approvals.waits() => {
                    approvals.answer(typed, &mut follower.asks, sink, &mut self.typed).await;
                }
                typed = stopping.typed(), if writing.is_none() && stopping.waits() => {
                    let stop = stopping.answer(typed, is_replying(follower), sink);
                    self.stop(stop, fid, &mut deadline);
                }
                () = rest.reached(), if rest.is_awaited() && writing.is_none() => {
                    // All that was said until now is here.
                    let events = self.subscription.take();
                    self.hear(events, fid, follower, sink).await?;
                    if let Some(done) = rest.end_unless(follower.is_finished()) {
                        let done = match follower.limit.take() {
                            // The reports of agents were not answered.
                            Some(Failure { error, .. }) => {
                                Done { reason: StopReason::Limit, error: Some(error), ..done }
                            }
                            None => done,
                        };
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
                    if deadline.is_some() || (self.signals.ends_all() && !is_replying(follower)) {
                        return Err(CliError::Stopped);
                    }
                    if self.awaits_agents || self.signals.ends_all() || !stopping.begin() {
                        stopping.end();
                        self.stop(Stop::reply_if(is_replying(follower)), fid, &mut deadline);
                    }
                }
                () = sleep_until(deadline.unwrap_or(tick)), if deadline.is_some() => {
                    return Err(CliError::Stopped);
                }
                () = sleep_until(tick),
                    if ticking && follower.text_bytes == 0 && !stopping.waits() =>
                {
                    ticking = sink.tick();
                    tick = Instant::now() + TICK;
                }
            }
        }
    }
}

/// Begins the request, and opens its session.
async fn begin(
    program: &Program,
    subscription: &Subscription,
    beginning: Beginning,
) -> chat_core::error::Result<(Begun, Snapshot)> {
    let begun = beginning.begin(program).await?;
    let snapshot = program.manager.sessions().open(&begun.fid, MESSAGES, subscription).await?;
    Ok((begun, snapshot))
}
