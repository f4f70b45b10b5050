//! One request from its sending to its end: follows what the session tells, shows it, and listens
//! for Ctrl+C.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use chat_core::error::{Error, Kind};
use chat_core::event::{Event, Snapshot, StopReason, Subscription, TextKind};
use chat_core::manager::Sent;
use chat_core::message::{ChatRequest, Fid, Message, MessageId, Part, Role, ToolCallId, Usage};
use chat_edge::diagnostics::Moment;
use tokio::time::{Instant, sleep_until};

use crate::engine::Program;
use crate::output::{Done, Sink};
use crate::signals::Signals;
use crate::trouble::{Result, Trouble};

/// How many messages are read of a session when it is opened: more than one request makes.
const MESSAGES: usize = 200;

/// How long a stopped request and a reader that takes nothing may hold up the end.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often what is said about a silent server is renewed.
const TICK: Duration = Duration::from_secs(1);

/// What a request needs of the program.
pub struct Turns<'a> {
    pub program: &'a Program,
    /// Made before the request is sent, so that it hears of its end whatever happens.
    pub subscription: Subscription,
    pub signals: &'a mut Signals,
}

impl Turns<'_> {
    /// Sends a request and shows its answer. Gives the session, where there is one, and how it
    /// ended.
    ///
    /// # Errors
    /// `Stopped` where the end could not be shown; `BrokenPipe` where the reader went away, after
    /// the request was stopped.
    pub async fn run(
        &mut self,
        request: ChatRequest,
        sink: &mut dyn Sink,
    ) -> Result<(Option<Fid>, Done)> {
        let name = request.session.as_ref().map_or("new", |fid| fid.as_str()).to_owned();
        self.program.diagnostics.reply(&name, Moment::Request);
        let begun = tokio::select! {
            begun = begin(self.program, &self.subscription, request) => begun,
            () = self.signals.next() => return Ok((None, self.end_early(None, sink).await)),
        };
        let (sent, snapshot) = match begun {
            Ok(begun) => begun,
            Err(error) => return Ok((None, self.end_early(Some(error), sink).await)),
        };
        sink.session(&snapshot.session);
        let mut follower = Follower::new(&sent);
        follower.open(&snapshot, sink);
        if follower.text_bytes > 0 {
            self.program.diagnostics.reply(&name, Moment::FirstByte);
            self.program.diagnostics.reply(&name, Moment::LastByte);
        }
        let done = self.follow(&sent.fid, follower, sink, &name).await;
        self.program.manager.close(&sent.fid, &self.subscription);
        done.map(|done| (Some(sent.fid), done))
    }

    /// Shows the end of a request that was never sent: it failed, or the person stopped it.
    pub async fn end_early(&self, error: Option<Error>, sink: &mut dyn Sink) -> Done {
        let reason = if error.is_some() { StopReason::Error } else { StopReason::Stopped };
        let done = Done { reason, usage: Usage::default(), error };
        sink.done(&done);
        // What is wrong with the output is no news when something else is wrong already.
        let _ = self.program.output.write(sink.take()).await;
        done
    }

    async fn follow(
        &mut self,
        fid: &Fid,
        mut follower: Follower,
        sink: &mut dyn Sink,
        name: &str,
    ) -> Result<Done> {
        let mut writing = None;
        let mut broken = None;
        let mut deadline: Option<Instant> = None;
        let mut tick = Instant::now() + TICK;
        let mut ticking = true;
        loop {
            if writing.is_none() {
                if let Some(done) = follower.finished(sink) {
                    follower.done = Some(done);
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
                    if follower.text_bytes > 0 {
                        self.program.diagnostics.reply(name, Moment::FirstPaint);
                        self.program.diagnostics.reply(name, Moment::LastPaint);
                    }
                    if let Ok(Err(trouble)) = written {
                        // Nobody reads on: there is no use in the rest.
                        self.program.manager.stop(fid);
                        broken = Some(trouble);
                    }
                }
                events = self.subscription.next(), if writing.is_none() && follower.done.is_none() => {
                    let Some(events) = events else { return Err(Trouble::Stopped) };
                    let had = follower.text_bytes;
                    for event in events {
                        if follower.event(fid, event, sink) == Followed::Lost {
                            let snapshot =
                                self.program.manager.open(fid, MESSAGES, &self.subscription).await?;
                            follower.open(&snapshot, sink);
                        }
                    }
                    if follower.text_bytes > had {
                        self.program.diagnostics.reply(name, Moment::FirstByte);
                        self.program.diagnostics.reply(name, Moment::LastByte);
                    }
                    ticking = true;
                }
                () = self.signals.next() => {
                    if deadline.is_some() {
                        return Err(Trouble::Stopped);
                    }
                    deadline = Some(Instant::now() + PATIENCE);
                    self.program.manager.stop(fid);
                }
                () = sleep_until(deadline.unwrap_or(tick)), if deadline.is_some() => {
                    return Err(Trouble::Stopped);
                }
                () = sleep_until(tick), if ticking && follower.text_bytes == 0 => {
                    ticking = sink.tick();
                    tick = Instant::now() + TICK;
                }
            }
        }
    }
}

/// Sends, and opens the session that it went to.
async fn begin(
    program: &Program,
    subscription: &Subscription,
    request: ChatRequest,
) -> chat_core::error::Result<(Sent, Snapshot)> {
    let sent = send(program, request).await?;
    let snapshot = program.manager.open(&sent.fid, MESSAGES, subscription).await?;
    Ok((sent, snapshot))
}

/// Sends. Where it fails for a server that is not known, servers are looked for first.
async fn send(program: &Program, request: ChatRequest) -> chat_core::error::Result<Sent> {
    match program.manager.send(request.clone()).await {
        Err(error) if matches!(error.kind, Kind::NoModel | Kind::ConnectionMissing { .. }) => {
            program.discover();
            program.manager.send(request).await
        }
        sent => sent,
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Followed {
    Well,
    /// The session must be opened again.
    Lost,
}

/// Knows what was shown already, so that each byte and each event is shown once.
#[derive(Debug)]
struct Follower {
    after: MessageId,
    /// How much of each part was shown.
    shown: HashMap<(MessageId, usize), usize>,
    calls: HashSet<ToolCallId>,
    ended: HashSet<MessageId>,
    /// How much was shown in all.
    text_bytes: usize,
    done: Option<Done>,
    finished: Option<Done>,
}

impl Follower {
    fn new(sent: &Sent) -> Self {
        Self {
            after: sent.message,
            shown: HashMap::new(),
            calls: HashSet::new(),
            ended: HashSet::new(),
            text_bytes: 0,
            done: None,
            finished: None,
        }
    }

    /// Shows what the session has after the message of the person.
    fn open(&mut self, snapshot: &Snapshot, sink: &mut dyn Sink) {
        let from = snapshot.messages.iter().rposition(|message| message.id == self.after);
        for message in &snapshot.messages[from.map_or(0, |at| at + 1)..] {
            self.message(message, sink);
        }
        sink.stage(&snapshot.stage);
    }

    fn event(&mut self, fid: &Fid, event: Event, sink: &mut dyn Sink) -> Followed {
        match event {
            Event::MessageAdded { fid: of, message, .. }
            | Event::MessageChanged { fid: of, message, .. }
                if of == *fid && message.id != self.after =>
            {
                self.message(&message, sink);
            }
            Event::TextAdded { fid: of, message, part, kind, range, text, .. } if of == *fid => {
                let shown = self.shown.entry((message, part)).or_default();
                let Some(new) = shown.checked_sub(range.start).and_then(|at| text.get(at..)) else {
                    return if *shown < range.start { Followed::Lost } else { Followed::Well };
                };
                *shown = range.end.max(*shown);
                self.text_bytes += new.len();
                sink.text(kind, new);
            }
            Event::SessionReset { fid: of } if of == *fid => return Followed::Lost,
            Event::StageChanged { fid: of, stage, .. } if of == *fid => sink.stage(&stage),
            Event::RequestFinished { fid: of, reason, usage, error } if of == *fid => {
                self.finished = Some(Done { reason, usage, error });
            }
            Event::SessionRemoved { fid: of } if of == *fid => {
                self.finished = Some(Done {
                    reason: StopReason::Stopped,
                    usage: Usage::default(),
                    error: None,
                });
            }
            Event::Notice(failure) if failure.session.as_ref().is_none_or(|of| of == fid) => {
                sink.notice(&failure);
            }
            _ => {}
        }
        Followed::Well
    }

    /// Shows what is new in a message.
    fn message(&mut self, message: &Message, sink: &mut dyn Sink) {
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                // What was shown as text turned out to be thoughts: it is not shown again.
                Part::Text(_) | Part::Thinking { .. } if self.was_sorted(message) => {}
                Part::Text(text) if message.role == Role::Assistant => {
                    self.part(message.id, index, TextKind::Text, text, sink);
                }
                Part::Thinking { text, .. } => {
                    self.part(message.id, index, TextKind::Thinking, text, sink);
                }
                Part::ToolCall(call) if self.calls.insert(call.id.clone()) => sink.tool_call(call),
                Part::ToolResult(result) if !self.ended.contains(&message.id) => {
                    sink.tool_result(result);
                }
                _ => {}
            }
        }
        if message.ended.is_none() {
            return;
        }
        if self.ended.insert(message.id) && message.role == Role::Assistant {
            sink.message(message);
        }
    }

    /// Whether its texts are other parts than they came as.
    fn was_sorted(&self, message: &Message) -> bool {
        let shown = self.shown.get(&(message.id, 0)).copied().unwrap_or_default();
        let first = message.parts.first();
        matches!(first, Some(Part::Thinking { text, .. }) if shown > text.len())
    }

    fn part(
        &mut self,
        message: MessageId,
        part: usize,
        kind: TextKind,
        text: &str,
        sink: &mut dyn Sink,
    ) {
        let shown = self.shown.entry((message, part)).or_default();
        if let Some(new) = text.get(*shown..).filter(|new| !new.is_empty()) {
            *shown = text.len();
            self.text_bytes += new.len();
            sink.text(kind, new);
        }
    }

    /// Whether the request is over; says so to the sink, once.
    fn finished(&mut self, sink: &mut dyn Sink) -> Option<Done> {
        let done = self.finished.take()?;
        sink.done(&done);
        Some(done)
    }
}
