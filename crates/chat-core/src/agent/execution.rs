//! Executes the tools that a reply calls.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use futures_util::future::join_all;

use super::{Turn, tool_loop_detection};
use crate::message::{Message, Part, ToolCall, ToolResult};
use crate::tool::{self, CallApproval, Registry, ToolContext, ToolFailure, ToolOutput};

/// How long a tool has, once the user stopped the turn, to give what it has.
const LAST_WORD: Duration = Duration::from_secs(1);

/// The model reads this as the result of a call that the user stopped.
const STOPPED: &str = "The user stopped this call.";

/// A result, and the pictures that go with it.
type Answered = (ToolResult, Vec<(String, Arc<[u8]>)>);

impl Turn {
    /// Executes calls and returns one message for each, in order. Neighbouring calls that only read run
    /// at once; any other waits for all before it and holds up all after it. Nothing ends the others.
    pub async fn execute_calls(&self, calls: &[ToolCall]) -> Vec<Arc<Message>> {
        // As they are now: the user may have switched one off since the request.
        let tools = &self.offered(&self.context());
        let reads_only = |call: &&ToolCall| {
            tools.get(&call.name).is_none_or(|tool| tool.only_reads(&call.arguments))
        };
        let open = AtomicUsize::new(calls.len());
        let mut results = Vec::with_capacity(calls.len());
        let mut rest = calls;
        while !rest.is_empty() {
            let reading = rest.iter().take_while(reads_only).count();
            let (now, later) = rest.split_at(reading.max(1));
            results.extend(join_all(now.iter().map(|call| self.execute(tools, call, &open))).await);
            rest = later;
        }
        results
    }

    /// Runs a call. Its result is told at once, and stored at once but for that of the last `open`
    /// one, which goes into the store together with what follows it.
    async fn execute(&self, tools: &Registry, call: &ToolCall, open: &AtomicUsize) -> Arc<Message> {
        let stopped = self.cancel.is_cancelled();
        let (result, pictures) = if stopped {
            (ToolResult { stopped, ..ToolResult::to(call, STOPPED, true) }, Vec::new())
        } else {
            let context = self.sink.tool_started(call, &self.cancel);
            self.attempt_and_note(tools, call, context).await
        };
        let pictures = pictures.into_iter().map(|(mime, data)| Part::Image { mime, data });
        let mut message = Message::tool_result(result);
        message.parts.extend(pictures);
        let message = Arc::new(message);
        // Those that never ran come together, and at once.
        let store = open.fetch_sub(1, Ordering::Relaxed) > 1 && !stopped;
        self.sink.tool_finished(call, &message, store).await;
        message
    }

    /// Makes a call, and warns the model where it repeats itself.
    async fn attempt_and_note(
        &self,
        tools: &Registry,
        call: &ToolCall,
        context: ToolContext,
    ) -> Answered {
        let (mut result, pictures) = self.attempt(tools, call, context).await;
        if self.known_rounds().add(call, &result) {
            result.text = tool_loop_detection::with_note(&result.text);
        }
        (result, pictures)
    }

    async fn attempt(&self, tools: &Registry, call: &ToolCall, context: ToolContext) -> Answered {
        let invalid = |why: String| {
            (ToolResult::to(call, format!("tool_call_invalid: {why}"), true), Vec::new())
        };
        let Some(tool) = tools.get(&call.name) else {
            let names: Vec<_> = tools.names().collect();
            let finder = tools.all().find(|tool| tool.finds_tools());
            let there = if names.is_empty() {
                "No tools are available.".to_owned()
            } else {
                format!("Available tools: {}.", names.join(", "))
            };
            let there = match finder {
                Some(finder) => format!("Find it with {} first. {there}", finder.info().name()),
                None => there,
            };
            return invalid(format!("there is no tool “{}”. {there}", call.name));
        };
        let info = tool.info();
        let checked = match tool::check(&call.arguments, &info.spec.parameters, info.aliases) {
            Ok(checked) => checked,
            Err(why) => return invalid(why),
        };
        let ignored = checked.note();
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
        let CallApproval { waited, verdict, needs, forms } = context.answered();
        let took = Some(began.elapsed().saturating_sub(waited));
        let (mut result, pictures) = match outcome {
            Ok(ToolOutput { text, view, lasting, pictures }) => {
                let result = ToolResult::to(call, text, false);
                (ToolResult { lasting, view, took, verdict, forms, ..result }, pictures)
            }
            Err(ToolFailure { text, view }) => {
                let text = format!("tool_call_fail: {text}");
                let stopped = self.cancel.is_cancelled();
                let result = ToolResult { stopped, ..ToolResult::to(call, text, true) };
                (ToolResult { view, took, verdict, needs, forms, ..result }, Vec::new())
            }
        };
        if let Some(ignored) = ignored {
            result.text = format!("{}\n{ignored}", result.text.trim_end_matches('\n'));
        }
        (result, pictures)
    }
}
