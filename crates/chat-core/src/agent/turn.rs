//! Holds the state of a turn and runs its rounds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::compactor::Compactor;
use super::tool_loop_detection::Rounds;
use super::{
    Agent, AgentHandler, NextReply, Outcome, ReplyEnd, ReplySink, Surroundings, TurnContext,
    TurnProgress, outgoing,
};
use crate::chat::{Chat, Progress, ReplyTarget, Response};
use crate::client::{Client, Delta, refuses_order};
use crate::error::{Error, Kind, Result};
use crate::event::StopReason;
use crate::message::{
    Ending, Message, ModelRef, Options, Part, Thinking, ToolCall, ToolSpec, Usage,
};
use crate::tool::Registry;

/// What a turn is made from.
#[derive(Clone)]
pub struct TurnInput {
    /// The agent.
    pub agent: Arc<dyn Agent>,
    /// The client of the request's connection.
    pub client: Arc<dyn Client>,
    /// The model.
    pub model: ModelRef,
    /// How much to think.
    pub thinking: Thinking,
    /// Sampling and window.
    pub options: Options,
    /// What it is made in, with the tools of its first round.
    pub around: Surroundings,
    /// Fires when the person stops the request.
    pub cancel: CancellationToken,
}

/// A turn: the chat with the model, and what was learned over its rounds.
pub struct Turn {
    pub(super) sink: Arc<dyn ReplySink>,
    pub(super) cancel: CancellationToken,
    pub(super) compactor: Compactor,
    pub(super) chat: Chat,
    /// The tools that the model is offered in this round.
    pub(super) tools: Vec<ToolSpec>,
    /// What the last rounds were.
    rounds: Mutex<Rounds>,
    /// How many rounds of tools there were since the user was asked whether to continue.
    count: u32,
    /// How many there may be.
    limit: u32,
    /// Whether the user said something after the last results.
    steered: bool,
    /// What the rounds cost so far.
    spent: Usage,
}

#[async_trait]
impl AgentHandler for Turn {
    fn turn(&mut self) -> &mut Turn {
        self
    }
}

impl Turn {
    /// A turn that answers in this session.
    pub fn new(input: TurnInput, sink: Arc<dyn ReplySink>) -> Self {
        let TurnInput { agent, client, model, thinking, options, around, cancel } = input;
        let watched = Arc::clone(&sink);
        let chat = Chat::new(Arc::clone(&client), model.model.clone())
            .thinking(thinking)
            .options(options.clone())
            .watched(move || watched.is_watched())
            .assembled_in(InSink(Arc::clone(&sink)));
        let cancelled = cancel.clone();
        let compactor = Compactor {
            agent,
            around,
            client,
            model,
            thinking,
            options,
            cancel: cancelled,
            sink: Some(Arc::clone(&sink)),
        };
        Self {
            sink,
            cancel,
            compactor,
            chat,
            tools: Vec::new(),
            rounds: Mutex::default(),
            count: 0,
            limit: 0,
            steered: false,
            spent: Usage::default(),
        }
    }

    /// What the next round reads of its session.
    pub(super) fn context(&self) -> TurnContext {
        self.sink.context()
    }

    /// The tools that the agent chooses of those that there are.
    pub(super) fn offered(&self, context: &TurnContext) -> Registry {
        self.compactor.agent.configure_tools(&context.tools).0
    }

    /// Offers the tools that the agent chooses of those that there are now, in their fixed order.
    pub(super) fn rebuild_tools(&mut self, context: &TurnContext) {
        let (tools, choice) = self.compactor.agent.configure_tools(&context.tools);
        self.tools = tools.specs();
        self.chat.set_tools(self.tools.clone(), choice);
        self.limit = context.settings.rounds;
    }

    /// Sends exactly these messages.
    pub(super) async fn send(&mut self, messages: Vec<Arc<Message>>) -> Result<Response> {
        self.sink.admit_request()?;
        let mut progress = to_sink(&self.sink);
        self.chat.send(messages, &self.cancel, &mut progress).await
    }

    /// Sends these messages after those that were sent.
    pub(super) async fn send_append(&mut self, messages: Vec<Arc<Message>>) -> Result<Response> {
        self.sink.admit_request()?;
        let mut progress = to_sink(&self.sink);
        self.chat.send_append(messages, &self.cancel, &mut progress).await
    }

    /// Ends a reply that calls tools.
    pub(super) async fn end_reply(&mut self, response: &Response) {
        self.spent = self.spent.and(&response.usage);
        self.sink.end_reply(ReplyEnd { ended: response.ended, error: None }).await;
    }

    /// Stores the results and begins the next reply, unless the user stopped the turn. Returns what
    /// the user says to the model in between, as it goes out; nothing where the turn may end here.
    pub(super) async fn begin_next(
        &mut self,
        results: &[Arc<Message>],
        ends: bool,
    ) -> Result<Vec<Arc<Message>>> {
        let next = if self.cancel.is_cancelled() {
            NextReply::None
        } else if ends || self.count + 1 >= self.limit {
            NextReply::AfterResults
        } else {
            NextReply::Steerable
        };
        let steered = self.sink.begin_next(results, next).await?;
        self.steered = !steered.is_empty();
        Ok(outgoing(&steered))
    }

    /// The reply. Where the server refuses what the user says after the results, that is delivered
    /// later, and the rest is sent again.
    pub(super) async fn without_refused(&mut self, sent: Result<Response>) -> Result<Response> {
        let steered = std::mem::take(&mut self.steered);
        let is_refused = sent.as_ref().is_err_and(refuses_order);
        if !steered || !is_refused || !self.sink.take_steered_back().await {
            return sent;
        }
        let history = self.sink.context().history;
        let messages = self.compactor.agent.build_messages(&history, &self.compactor.around);
        self.send(messages).await
    }

    /// Fails where the model repeats the same calls with the same results.
    pub(super) fn check_loops(&self, calls: &[ToolCall]) -> Result<()> {
        let Some(times) = self.known_rounds().end_round() else { return Ok(()) };
        let tool = calls.last().map(|call| call.name.clone()).unwrap_or_default();
        Err(Kind::RepeatedCalls { tool, times }.into())
    }

    /// Whether there is another round: the user did not stop the turn, and where the limit of rounds
    /// is reached they say to continue, with as many again.
    pub(super) async fn goes_on(&mut self, calls: &[ToolCall]) -> Result<bool> {
        self.count += 1;
        if self.count >= self.limit && !self.cancel.is_cancelled() {
            let goes_on = match calls.last() {
                Some(call) => self.sink.ask_to_continue(call, self.count, &self.cancel).await,
                None => false,
            };
            if !goes_on && !self.cancel.is_cancelled() {
                return Err(Kind::RoundLimit { rounds: self.count }.into());
            }
            self.count = 0;
        }
        Ok(!self.cancel.is_cancelled())
    }

    /// Ends the turn's last reply.
    pub(super) async fn finish(&mut self, end: Result<Response>) -> Outcome {
        let (end, usage) = match end {
            Ok(response) => (ReplyEnd { ended: response.ended, error: None }, response.usage),
            Err(error) => {
                let ended = match error.kind {
                    Kind::Cut | Kind::Stalled | Kind::Repetition { .. } => Ending::Interrupted,
                    _ => Ending::Failed,
                };
                (ReplyEnd { ended, error: Some(error) }, Usage::default())
            }
        };
        let reason = match (end.ended, &end.error) {
            (
                _,
                Some(Error {
                    kind:
                        Kind::RoundLimit { .. } | Kind::RepeatedCalls { .. } | Kind::AgentBudget { .. },
                    ..
                }),
            )
            | (Ending::Length, _) => StopReason::Limit,
            (Ending::Complete, _) => StopReason::Complete,
            (Ending::Stopped, _) => StopReason::Stopped,
            (Ending::Interrupted, _) => StopReason::Interrupted,
            (Ending::Failed, _) => StopReason::Error,
        };
        let usage = self.spent.and(&usage);
        // The session knows more about an error than the exchange does, but nothing of one that came
        // between two replies.
        let known = end.error.clone();
        let error = self.sink.end_reply(end).await.error.clone().or(known);
        Outcome { reason, usage, error }
    }

    pub(super) fn known_rounds(&self) -> MutexGuard<'_, Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The reply is assembled where the session keeps it.
struct InSink(Arc<dyn ReplySink>);

impl ReplyTarget for InSink {
    // The session begins each reply itself, and a request is sent again only where nothing came.
    fn begin(&mut self) {}

    fn apply(&mut self, delta: &Delta) {
        self.0.apply(delta);
    }

    fn build(&mut self) -> (Vec<Part>, Usage) {
        self.0.reply()
    }
}

fn to_sink(sink: &Arc<dyn ReplySink>) -> impl FnMut(Progress<'_>) + Send + use<> {
    let sink = Arc::clone(sink);
    move |progress| match progress {
        Progress::Waiting => sink.progress(TurnProgress::Waiting),
        Progress::Preparing(what) => sink.progress(TurnProgress::Preparing(what)),
        Progress::RateLimited(until) => sink.progress(TurnProgress::RateLimited(until)),
        Progress::LooksLikeLoop(looks) => sink.progress(TurnProgress::LooksLikeLoop(looks)),
        // They are in the reply.
        Progress::Text(_) | Progress::Thinking(_) | Progress::ToolCallRequested(_) => {}
    }
}
