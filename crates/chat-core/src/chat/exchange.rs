//! Runs one exchange: sends, listens, and waits where the server asks for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::loop_detection::LoopDetection;
use super::reply_builder::ReplyBuilder;
use crate::client::{Client, Delta, Finish, Preparing, Request, ToolChoice};
use crate::error::{Error, Kind, Result};
use crate::message::{
    Ending, Message, Options, Part, Role, Sampling, Thinking, ToolCall, ToolSpec, Usage,
};

/// How often a request that the server refused as one too many is sent again.
const RATE_LIMIT_TRIES: u32 = 5;

/// How long to wait where a server refuses one request too many and does not say how long; doubled
/// each time.
const RATE_LIMIT_WAIT: Duration = Duration::from_secs(2);

/// One exchange with a model: keeps what was sent, so that it can go on.
///
/// Dropping the future of [`send`](Self::send) cancels the request; so does the token, which keeps
/// what had arrived.
pub struct Chat {
    client: Arc<dyn Client>,
    model: String,
    thinking: Thinking,
    options: Options,
    tools: Vec<ToolSpec>,
    tool_choice: ToolChoice,
    stream: bool,
    /// Whether somebody sees the reply come.
    watched: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
    /// How many tokens the messages have, where that was measured.
    tokens: Option<u64>,
    messages: Vec<Arc<Message>>,
    reply: Box<dyn ReplyTarget>,
}

/// Where the reply of a [`Chat`] is assembled: a [`ReplyBuilder`] of its own, or the one of a session.
pub trait ReplyTarget: Send + Sync {
    /// A reply begins: nothing of it has come.
    fn begin(&mut self);

    /// Adds what arrived.
    fn apply(&mut self, delta: &Delta);

    /// The parts of the reply, tool calls last, and what it cost. Nothing more comes.
    fn build(&mut self) -> (Vec<Part>, Usage);
}

impl ReplyTarget for ReplyBuilder {
    fn begin(&mut self) {
        *self = Self::default();
    }

    fn apply(&mut self, delta: &Delta) {
        Self::apply(self, delta);
    }

    fn build(&mut self) -> (Vec<Part>, Usage) {
        Self::build(self)
    }
}

/// What happens during an exchange.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// The request is sent; nothing has come yet.
    Waiting,
    /// The server asked us to wait until then; the request will be sent again.
    RateLimited(Timestamp),
    /// The model is being made ready.
    Preparing(Preparing),
    /// From now on the reply looks like a loop, or does no more.
    LooksLikeLoop(bool),
    /// More of the answer.
    Text(&'a str),
    /// More of what the model thinks.
    Thinking(&'a str),
    /// The reply has ended and calls this tool. Whoever drives the chat runs it and sends the result
    /// with [`Chat::send_append`].
    ToolCallRequested(&'a ToolCall),
}

/// A reply that ended, by itself or by the person.
#[derive(Clone, Debug)]
pub struct Response {
    /// Its parts: thinking, text, tool calls.
    pub parts: Vec<Part>,
    /// How it ended.
    pub ended: Ending,
    /// What it cost.
    pub usage: Usage,
}

impl Response {
    /// The answer's text.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The tool calls that it asks for.
    pub fn tool_calls(&self) -> Vec<ToolCall> {
        let calls = self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.clone()),
            _ => None,
        });
        calls.collect()
    }

    /// The end of a turn that the user stopped between two replies.
    pub(crate) fn stopped() -> Self {
        Self { parts: Vec::new(), ended: Ending::Stopped, usage: Usage::default() }
    }

    /// The reply as a message.
    pub fn to_message(&self) -> Message {
        Message {
            parts: self.parts.clone(),
            ended: Some(self.ended),
            usage: Some(self.usage.clone()),
            ..Message::text(Role::Assistant, None, "")
        }
    }
}

impl Chat {
    /// A streaming chat without tools.
    pub fn new(client: Arc<dyn Client>, model: impl Into<String>) -> Self {
        Self {
            client,
            model: model.into(),
            thinking: Thinking::Default,
            options: Options::default(),
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            stream: true,
            watched: None,
            tokens: None,
            messages: Vec::new(),
            reply: Box::new(ReplyBuilder::default()),
        }
    }

    /// Sets how much to think.
    #[must_use]
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = thinking;
        self
    }

    /// Sets sampling and window.
    #[must_use]
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// Offers tools; their calls come as [`Progress::ToolCallRequested`] and with the reply.
    #[must_use]
    pub fn tools(mut self, tools: Vec<ToolSpec>, choice: ToolChoice) -> Self {
        self.tools = tools;
        self.tool_choice = choice;
        self
    }

    /// Says whether somebody watches the reply: then a loop is reported first, and stopped much later.
    #[must_use]
    pub fn watched(mut self, watched: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.watched = Some(Arc::new(watched));
        self
    }

    /// Has the reply come whole.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.stream = false;
        self
    }

    /// Has the reply assembled elsewhere.
    #[must_use]
    pub(crate) fn assembled_in(mut self, target: impl ReplyTarget + 'static) -> Self {
        self.reply = Box::new(target);
        self
    }

    /// Offers other tools from the next request on.
    pub fn set_tools(&mut self, tools: Vec<ToolSpec>, choice: ToolChoice) {
        self.tools = tools;
        self.tool_choice = choice;
    }

    /// Says how many tokens the next request has, where that was measured.
    pub(crate) fn set_tokens(&mut self, tokens: Option<u64>) {
        self.tokens = tokens;
    }

    /// What was sent, and what came back.
    pub fn messages(&self) -> &[Arc<Message>] {
        &self.messages
    }

    /// Sends exactly these messages, and nothing of what was sent before.
    ///
    /// A reply that the token cancelled is no error: it ended as stopped, with what had arrived.
    ///
    /// # Errors
    /// `NothingToSend` for an empty list; what the client says; `EmptyReply`; `Repetition`. What had
    /// arrived before an error was told as progress.
    pub async fn send(
        &mut self,
        messages: Vec<Arc<Message>>,
        cancel: &CancellationToken,
        progress: &mut (dyn FnMut(Progress<'_>) + Send),
    ) -> Result<Response> {
        self.messages.clear();
        self.send_append(messages, cancel, progress).await
    }

    /// Goes on with more messages after those that were sent.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn send_append(
        &mut self,
        messages: Vec<Arc<Message>>,
        cancel: &CancellationToken,
        progress: &mut (dyn FnMut(Progress<'_>) + Send),
    ) -> Result<Response> {
        if messages.is_empty() {
            return Err(Kind::NothingToSend.into());
        }
        self.messages.extend(messages);
        let response = self.exchange(cancel, progress).await?;
        self.messages.push(Arc::new(response.to_message()));
        if response.ended == Ending::Complete {
            for call in &response.tool_calls() {
                progress(Progress::ToolCallRequested(call));
            }
        }
        Ok(response)
    }

    /// Sends once, again where the server asks us to wait, and listens to the end.
    async fn exchange(
        &mut self,
        cancel: &CancellationToken,
        progress: &mut (dyn FnMut(Progress<'_>) + Send),
    ) -> Result<Response> {
        let began = Instant::now();
        let mut wait = RATE_LIMIT_WAIT;
        for attempt in 1.. {
            progress(Progress::Waiting);
            self.reply.begin();
            let mut anything = false;
            let heard = tokio::select! {
                biased;
                () = cancel.cancelled() => Ok(Ending::Stopped),
                heard = self.listen(&mut anything, cancel, progress) => heard,
            };
            match heard {
                Ok(ended) => return respond(&mut *self.reply, ended, began),
                Err(Error { kind: Kind::RateLimited { retry_after }, .. })
                    if attempt < RATE_LIMIT_TRIES && !anything =>
                {
                    let pause = retry_after.unwrap_or(wait);
                    wait *= 2;
                    progress(Progress::RateLimited(until(pause)));
                    tokio::select! {
                        biased;
                        () = cancel.cancelled() => {
                            return respond(&mut *self.reply, Ending::Stopped, began);
                        }
                        () = tokio::time::sleep(pause) => {}
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(Kind::Internal.into())
    }

    /// Listens to the end, and says how it ended. Notes whether anything came.
    async fn listen(
        &mut self,
        anything: &mut bool,
        cancel: &CancellationToken,
        progress: &mut (dyn FnMut(Progress<'_>) + Send),
    ) -> Result<Ending> {
        let mut batches = self.client.chat(self.request()).await?;
        let mut loops = LoopDetection::default();
        let mut finish = None;
        loop {
            let batch = tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(Ending::Stopped),
                batch = batches.next() => batch,
            };
            let Some(batch) = batch else { break };
            for delta in batch? {
                self.reply.apply(&delta);
                match &delta {
                    Delta::Preparing(what) => progress(Progress::Preparing(*what)),
                    Delta::Sent => progress(Progress::Waiting),
                    Delta::Text(text) if !text.is_empty() => progress(Progress::Text(text)),
                    Delta::Thinking(text) if !text.is_empty() => progress(Progress::Thinking(text)),
                    Delta::Finish(how) => finish = Some(how.clone()),
                    _ => {}
                }
                *anything |= matches!(
                    &delta,
                    Delta::Text(text) | Delta::Thinking(text) if !text.is_empty()
                ) || matches!(delta, Delta::ToolCall { .. } | Delta::Provider { .. });
                if self.stream && finish.is_none() {
                    let watched = self.watched.as_ref().is_some_and(|watched| watched());
                    if let Some(looks) = loops.read(&delta, watched)? {
                        progress(Progress::LooksLikeLoop(looks));
                    }
                }
            }
        }
        match finish {
            None => Err(Kind::Cut.into()),
            Some(Finish::Filtered) => Err(Kind::ContentFiltered.into()),
            Some(Finish::Length) => Ok(Ending::Length),
            Some(_) => Ok(Ending::Complete),
        }
    }

    fn request(&self) -> Request {
        Request {
            model: self.model.clone(),
            messages: self.messages.clone(),
            tools: self.tools.clone(),
            tool_choice: self.tool_choice,
            thinking: self.thinking,
            options: self.options.clone(),
            sampling: Sampling::default(),
            stream: self.stream,
            tokens: self.tokens,
        }
    }
}

fn respond(reply: &mut dyn ReplyTarget, ended: Ending, began: Instant) -> Result<Response> {
    let total_ms = Some(began.elapsed().as_millis() as u64);
    reply.apply(&Delta::Usage(Usage { total_ms, ..Usage::default() }));
    let (parts, usage) = reply.build();
    // All of it may have been the tags around the reasoning, or reasoning that is not shown.
    let says_nothing = |part: &Part| match part {
        Part::Text(text) | Part::Thinking { text, .. } => text.is_empty(),
        _ => false,
    };
    if parts.iter().all(says_nothing) && ended == Ending::Complete {
        return Err(Kind::EmptyReply.into());
    }
    Ok(Response { parts, ended, usage })
}

fn until(pause: Duration) -> Timestamp {
    let now = Timestamp::now();
    now.checked_add(pause).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_of_nothing_but_a_closing_tag_is_empty() {
        let answered = |text: &str| {
            let mut reply = ReplyBuilder::default();
            reply.apply(&Delta::Text(text.into()));
            respond(&mut reply, Ending::Complete, Instant::now()).map(|response| response.parts)
        };
        assert_eq!(answered("</think>\n").unwrap_err().kind, Kind::EmptyReply);
        assert_eq!(answered("</think>\nYes.").unwrap(), [Part::Text("Yes.".into())]);
    }
}
