//! One request at work: made by an agent for a request, gone when it ends.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{Agent, ReplyEnd, ReplySink, Work};
use crate::chat::{Chat, Progress, Response, ToolRunner};
use crate::error::{Error, Kind, Result};
use crate::event::{StopReason, TextKind};
use crate::message::{Ending, Message, Part, Role, ToolCall, ToolResult, ToolSpec, Usage};
use crate::tool::{Registry, ToolContext};

/// Makes the chat of a request, builds its messages, runs its tools, and reports to its session.
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
        let Work { client, model, thinking, options, tools, sink, cancel } = self.work;
        let (tools, choice) = self.agent.configure_tools(&tools);
        let runner = Arc::new(Runner {
            tools,
            sink: Arc::clone(&sink),
            cancel: cancel.clone(),
            spent: Mutex::default(),
        });
        let mut chat = Chat::new(client, model)
            .thinking(thinking)
            .options(options)
            .tools(runner.tools(), choice)
            .runner(Arc::clone(&runner) as _);
        let messages = self.agent.build_messages(history);
        let progress_sink = Arc::clone(&sink);
        let mut progress = move |progress: Progress<'_>| match progress {
            Progress::Waiting => progress_sink.on_waiting(),
            Progress::Preparing(what) => progress_sink.on_preparing(what),
            Progress::RateLimited(until) => progress_sink.on_rate_limited(until),
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
                    Kind::Cut | Kind::Stalled => Ending::Interrupted,
                    _ => Ending::Failed,
                },
                error: Some(error),
                usage: Usage::default(),
                calls: Vec::new(),
            },
        };
        let reason = match (end.ended, &end.error) {
            (_, Some(Error { kind: Kind::RoundLimit { .. }, .. })) | (Ending::Length, _) => {
                StopReason::Limit
            }
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

/// Runs the tools of a request's replies.
struct Runner {
    tools: Registry,
    sink: Arc<dyn ReplySink>,
    cancel: CancellationToken,
    /// What the rounds cost so far.
    spent: Mutex<Usage>,
}

#[async_trait]
impl ToolRunner for Runner {
    async fn run_tools(&self, response: &Response) -> Result<Vec<Arc<Message>>> {
        let calls = response.tool_calls();
        let end = ReplyEnd {
            ended: response.ended,
            error: None,
            usage: response.usage.clone(),
            calls: calls.clone(),
        };
        self.spend(&response.usage);
        let reply = self.sink.end_reply(end).await;
        let results = self.execute_tools(&calls).await;
        let messages = results.into_iter().map(|result| Message {
            parts: vec![Part::ToolResult(result)],
            ..Message::text(Role::Tool, None, "")
        });
        let mut out = vec![reply];
        // Who stopped it wants no further reply.
        let goes_on = !self.cancel.is_cancelled();
        out.extend(self.sink.add_results(messages.collect(), goes_on).await?);
        Ok(out)
    }

    fn tools(&self) -> Vec<ToolSpec> {
        self.tools.specs()
    }
}

impl Runner {
    /// Adds what a round cost, and gives the whole.
    fn spend(&self, usage: &Usage) -> Usage {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = spent.and(usage);
        spent.clone()
    }

    /// One result for each call, in order. Neighbouring calls that only read run at once; any
    /// other waits for all before it and holds up all after it. Nothing ends the others.
    async fn execute_tools(&self, calls: &[ToolCall]) -> Vec<ToolResult> {
        let mut results = Vec::with_capacity(calls.len());
        let mut rest = calls;
        while !rest.is_empty() {
            let reading = rest.iter().take_while(|call| self.reads_only(call)).count();
            let (now, later) = rest.split_at(reading.max(1));
            results.extend(join_all(now.iter().map(|call| self.execute(call))).await);
            rest = later;
        }
        results
    }

    fn reads_only(&self, call: &ToolCall) -> bool {
        self.tools.get(&call.name).is_none_or(|tool| tool.reads_only())
    }

    async fn execute(&self, call: &ToolCall) -> ToolResult {
        self.sink.on_tool(call, true);
        let outcome = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err("The person stopped this call.".to_owned()),
            outcome = self.attempt(call) => outcome,
        };
        self.sink.on_tool(call, false);
        let failed = outcome.is_err();
        let (Ok(text) | Err(text)) = outcome;
        ToolResult { call: call.id.clone(), name: call.name.clone(), text, failed }
    }

    async fn attempt(&self, call: &ToolCall) -> Result<String, String> {
        let Some(tool) = self.tools.get(&call.name) else {
            let names: Vec<_> = self.tools.names().collect();
            let there = if names.is_empty() {
                "There are no tools.".to_owned()
            } else {
                format!("The tools are: {}.", names.join(", "))
            };
            return Err(format!("tool_call_invalid: there is no tool “{}”. {there}", call.name));
        };
        let Value::Object(_) = &call.arguments else {
            return Err("tool_call_invalid: the arguments are no JSON object.".to_owned());
        };
        let context = ToolContext { cancel: self.cancel.clone() };
        let outcome = tool.run(call.arguments.clone(), context).await;
        outcome.map_err(|error| format!("tool_call_fail: {error}"))
    }
}

#[cfg(test)]
mod tests;
