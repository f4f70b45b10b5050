//! One request at work: made by an agent for a request, gone when it ends.

use std::sync::Arc;

use super::compactor::{Compactor, Fitter};
use super::runner::Runner;
use super::{Agent, ReplyEnd, Work};
use crate::chat::{Chat, Progress};
use crate::error::{Error, Kind};
use crate::event::{StopReason, TextKind};
use crate::message::{Ending, Message, Usage};

/// Makes the chat of a request, builds its messages, has its tools run, and reports to its session.
pub struct AgentHandler {
    agent: Arc<dyn Agent>,
    work: Work,
}

/// How a request ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why.
    pub reason: StopReason,
    /// What it cost, over all its rounds.
    pub usage: Usage,
    /// What went wrong, where something did.
    pub error: Option<Error>,
}

impl AgentHandler {
    /// A handler of this agent.
    pub fn new(agent: Arc<dyn Agent>, work: Work) -> Self {
        Self { agent, work }
    }

    /// Answers the history's last message. The first reply has begun in the sink; every reply is
    /// ended there, however it ends. Dropping the future drops the request; the token stops it and
    /// keeps what had arrived.
    pub async fn run(self, history: &[Arc<Message>]) -> Outcome {
        let Work { client, model, thinking, options, around, choice, sink, cancel } = self.work;
        let name = model.model.clone();
        let compactor = Compactor {
            agent: Arc::clone(&self.agent),
            around: around.clone(),
            client: Arc::clone(&client),
            model,
            thinking,
            options: options.clone(),
            cancel: cancel.clone(),
        };
        let fitter = Fitter { compactor, sink: Arc::clone(&sink) };
        let runner = Runner::new(Arc::clone(&self.agent), Arc::clone(&sink), cancel.clone());
        let runner = Arc::new(runner);
        let watched = Arc::clone(&sink);
        let mut chat = Chat::new(client, name)
            .thinking(thinking)
            .options(options)
            .tools(around.tools.specs(), choice)
            .fitting(Arc::new(fitter))
            .watched(move || watched.is_watched())
            .runner(Arc::clone(&runner) as _);
        let messages = self.agent.build_messages(history, &around);
        let progress_sink = Arc::clone(&sink);
        let mut progress = move |progress: Progress<'_>| match progress {
            Progress::Waiting => progress_sink.on_waiting(),
            Progress::Preparing(what) => progress_sink.on_preparing(what),
            Progress::RateLimited(until) => progress_sink.on_rate_limited(until),
            Progress::LooksLikeLoop(looks) => progress_sink.on_loop(looks),
            Progress::Text(text) => progress_sink.on_chunk(TextKind::Text, text),
            Progress::Thinking(text) => progress_sink.on_chunk(TextKind::Thinking, text),
            Progress::ToolCallRequested(_) => {}
        };
        let end = match chat.send(messages, &cancel, &mut progress).await {
            Ok(response) => {
                let calls = response.tool_calls();
                ReplyEnd { ended: response.ended, error: None, usage: response.usage, calls }
            }
            Err(error) => ReplyEnd {
                ended: match error.kind {
                    Kind::Cut | Kind::Stalled | Kind::Repetition { .. } => Ending::Interrupted,
                    _ => Ending::Failed,
                },
                error: Some(error),
                usage: Usage::default(),
                calls: Vec::new(),
            },
        };
        let reason = match (end.ended, &end.error) {
            (_, Some(Error { kind: Kind::RoundLimit { .. } | Kind::RepeatedCalls { .. }, .. }))
            | (Ending::Length, _) => StopReason::Limit,
            (Ending::Complete, _) => StopReason::Complete,
            (Ending::Stopped, _) => StopReason::Stopped,
            (Ending::Interrupted, _) => StopReason::Interrupted,
            (Ending::Failed, _) => StopReason::Error,
        };
        let usage = runner.spend(&end.usage);
        // The session knows more about an error than the exchange does.
        // It does not know of one that came between two replies.
        let told = end.error.clone();
        let error = sink.end_reply(end).await.error.clone().or(told);
        Outcome { reason, usage, error }
    }
}

#[cfg(test)]
mod tests;
