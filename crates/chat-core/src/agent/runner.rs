//! Runs the tools that a request's replies ask for.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures_util::FutureExt;
use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::stuck::{self, Rounds};
use super::{Agent, ReplyEnd, ReplySink};
use crate::chat::{Response, ToolRunner};
use crate::error::{Kind, Result};
use crate::message::{Message, Part, Role, ToolCall, ToolResult, ToolSpec, Usage};
use crate::tool::{self, AskedSoFar, Registry, ToolFailure, ToolOutput};

/// How long a tool has, once the person stopped the request, to give what it has.
const LAST_WORD: Duration = Duration::from_secs(1);

/// What a model is told about a call that the person stopped.
const STOPPED: &str = "The user stopped this call.";

/// Runs the tools of a request's replies.
pub(super) struct Runner {
    agent: Arc<dyn Agent>,
    sink: Arc<dyn ReplySink>,
    cancel: CancellationToken,
    /// What the rounds cost so far.
    spent: Mutex<Usage>,
    /// What the last rounds were.
    rounds: Mutex<Rounds>,
}

/// A result, and the pictures that go with it.
type Answered = (ToolResult, Vec<(String, Arc<[u8]>)>);

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
        // Who stopped it wants no further reply.
        let goes_on = !self.cancel.is_cancelled();
        self.sink.add_results(&results, goes_on).await?;
        if let Some(times) = self.rounds().end_round() {
            let tool = calls.last().map(|call| call.name.clone()).unwrap_or_default();
            return Err(Kind::RepeatedCalls { tool, times }.into());
        }
        Ok(std::iter::once(reply).chain(results).collect())
    }

    fn round_limit(&self) -> u32 {
        self.sink.tool_settings().rounds
    }

    async fn go_on(&self, response: &Response, rounds: u32) -> bool {
        match response.tool_calls().last() {
            Some(call) => self.sink.go_on(call, rounds, &self.cancel).await,
            None => false,
        }
    }

    fn tools(&self) -> Vec<ToolSpec> {
        self.offered().specs()
    }
}

impl Runner {
    pub(super) fn new(
        agent: Arc<dyn Agent>,
        sink: Arc<dyn ReplySink>,
        cancel: CancellationToken,
    ) -> Self {
        Self { agent, sink, cancel, spent: Mutex::default(), rounds: Mutex::default() }
    }

    /// The tools that the model gets now.
    fn offered(&self) -> Registry {
        self.agent.configure_tools(&self.sink.tools()).0
    }

    fn rounds(&self) -> MutexGuard<'_, Rounds> {
        self.rounds.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what a round cost, and gives the whole.
    pub(super) fn spend(&self, usage: &Usage) -> Usage {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        *spent = spent.and(usage);
        spent.clone()
    }

    /// One result for each call, in order. Neighbouring calls that only read run at once; any
    /// other waits for all before it and holds up all after it. Nothing ends the others.
    async fn execute_tools(&self, calls: &[ToolCall]) -> Vec<Arc<Message>> {
        let tools = self.offered();
        let reads_only = |call: &&ToolCall| {
            tools.get(&call.name).is_none_or(|tool| tool.only_reads(&call.arguments))
        };
        let open = AtomicUsize::new(calls.len());
        let mut results = Vec::with_capacity(calls.len());
        let mut rest = calls;
        while !rest.is_empty() {
            let reading = rest.iter().take_while(reads_only).count();
            let (now, later) = rest.split_at(reading.max(1));
            results
                .extend(join_all(now.iter().map(|call| self.execute(&tools, call, &open))).await);
            rest = later;
        }
        results
    }

    /// Runs a call. Its result is told and kept at once; that of the last `open` one goes into the
    /// store together with what follows it.
    async fn execute(&self, tools: &Registry, call: &ToolCall, open: &AtomicUsize) -> Arc<Message> {
        let stopped = self.cancel.is_cancelled();
        let (result, pictures) = if stopped {
            (ToolResult { stopped, ..ToolResult::to(call, STOPPED, true) }, Vec::new())
        } else {
            self.sink.on_tool(call, None);
            self.attempt_anew(tools, call).await
        };
        self.sink.on_tool(call, Some(&Arc::new(result.clone())));
        let pictures = pictures.into_iter().map(|(mime, data)| Part::Image { mime, data });
        let message = Arc::new(Message {
            parts: std::iter::once(Part::ToolResult(result)).chain(pictures).collect(),
            ..Message::text(Role::Tool, None, "")
        });
        // Those that never ran come together, and at once.
        if open.fetch_sub(1, Ordering::Relaxed) > 1 && !stopped {
            self.sink.keep_result(Arc::clone(&message)).await;
        }
        message
    }

    /// Makes a call, and tells the model where it repeats itself.
    async fn attempt_anew(&self, tools: &Registry, call: &ToolCall) -> Answered {
        let (mut result, pictures) = self.attempt(tools, call).await;
        if self.rounds().add(call, &result) {
            result.text = stuck::told(&result.text);
        }
        (result, pictures)
    }

    async fn attempt(&self, tools: &Registry, call: &ToolCall) -> Answered {
        let invalid = |why: String| {
            (ToolResult::to(call, format!("tool_call_invalid: {why}"), true), Vec::new())
        };
        let Some(tool) = tools.get(&call.name) else {
            let names: Vec<_> = tools.names().collect();
            let there = if names.is_empty() {
                "There are no tools.".to_owned()
            } else {
                format!("The tools are: {}.", names.join(", "))
            };
            return invalid(format!("there is no tool “{}”. {there}", call.name));
        };
        let schema = &tool.spec().parameters;
        let checked = match tool::check(&call.arguments, schema, tool.aliases()) {
            Ok(checked) => checked,
            Err(why) => return invalid(why),
        };
        let ignored = checked.note();
        let context = self.sink.tool_context(call, &self.cancel);
        let began = Instant::now();
        // A tool's bug is a call that failed, not a reply that did.
        let run = AssertUnwindSafe(tool.run(checked.value, context.clone())).catch_unwind();
        let last_word = async {
            self.cancel.cancelled().await;
            tokio::time::sleep(LAST_WORD).await;
        };
        let outcome = tokio::select! {
            biased;
            outcome = run => outcome
                .unwrap_or_else(|_| Err(ToolFailure::new("the tool itself failed"))),
            () = last_word => Err(ToolFailure::new(STOPPED)),
        };
        let AskedSoFar { waited, verdict, needs } = context.answered();
        let took = Some(began.elapsed().saturating_sub(waited));
        let (mut result, pictures) = match outcome {
            Ok(ToolOutput { text, view, pictures }) => {
                (ToolResult { view, took, verdict, ..ToolResult::to(call, text, false) }, pictures)
            }
            Err(ToolFailure { text, view }) => {
                let text = format!("tool_call_fail: {text}");
                let stopped = self.cancel.is_cancelled();
                let result = ToolResult { stopped, ..ToolResult::to(call, text, true) };
                (ToolResult { view, took, verdict, needs, ..result }, Vec::new())
            }
        };
        if let Some(ignored) = ignored {
            result.text = format!("{}\n{ignored}", result.text.trim_end_matches('\n'));
        }
        (result, pictures)
    }
}
