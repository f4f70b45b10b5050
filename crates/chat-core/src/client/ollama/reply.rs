//! Decodes a reply: one JSON object a line, the last one with the counts.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::batch::Batch;
use crate::client::json::{Text, count, value, words};
use crate::client::reasoning_parser::ReasoningParser;
use crate::client::refusal::{self, SentRequest};
use crate::client::stream::{Decoder, Progress, invalid};
use crate::client::{Delta, Finish};
use crate::error::Result;
use crate::message::{ToolCallId, Usage};

/// Decodes a reply, streaming or whole: both are such objects.
#[derive(Debug)]
pub(in crate::client) struct OllamaReply {
    asked: SentRequest,
    calls: usize,
    reasoning_parser: ReasoningParser,
    over: bool,
}

impl OllamaReply {
    pub fn new(asked: SentRequest) -> Self {
        Self { asked, calls: 0, reasoning_parser: ReasoningParser::default(), over: false }
    }

    fn call(&mut self, call: &Value, out: &mut Batch) {
        let function = &call["function"];
        let index = self.calls;
        self.calls += 1;
        let id = words(&call["id"]).unwrap_or_else(|| ToolCallId::generate().as_str().to_owned());
        out.call(index, id, function["name"].as_str().unwrap_or_default().to_owned());
        match &function["arguments"] {
            Value::Null => out.arguments(index, "{}"),
            Value::String(text) => out.arguments(index, text),
            object => out.arguments(index, &object.to_string()),
        }
    }
}

impl Decoder for OllamaReply {
    fn piece(&mut self, json: &[u8], out: &mut Batch) -> Result<()> {
        let chunk: Chunk<'_> = serde_json::from_slice(json).map_err(|error| invalid(&error))?;
        if chunk.error.is_some() {
            return Err(refusal::of_object(&value(json), &self.asked));
        }
        if let Some(message) = chunk.message {
            if let Some(thinking) = message.thinking {
                self.reasoning_parser.take_thinking(thinking, out);
            }
            if let Some(content) = message.content {
                self.reasoning_parser.take_text(content, out);
            }
            // Some servers send an empty list with each piece of text.
            let calls = message.tool_calls.map(|calls| value(calls.get().as_bytes()));
            for call in calls.iter().filter_map(Value::as_array).flatten() {
                self.reasoning_parser.flush(out);
                self.call(call, out);
            }
        }
        if chunk.done == Some(true) {
            let done = value(json);
            self.reasoning_parser.flush(out);
            out.push(Delta::Usage(usage(&done)));
            out.push(Delta::Finish(finish(done["done_reason"].as_str(), self.calls > 0)));
            self.over = true;
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        if self.over { Progress::Over } else { Progress::Open }
    }

    fn has_begun(&self) -> bool {
        self.reasoning_parser.has_begun()
    }

    fn flush(&mut self, out: &mut Batch) {
        self.reasoning_parser.flush(out);
    }

    fn close(&mut self, _: &mut Batch) {
        // The line that says that it is done brings everything.
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    message: Option<Message<'a>>,
    done: Option<bool>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
}

fn finish(reason: Option<&str>, calls: bool) -> Finish {
    match reason {
        None | Some("" | "stop") if calls => Finish::ToolCalls,
        None | Some("" | "stop") => Finish::Stop,
        Some("length") => Finish::Length,
        Some(other) => Finish::other(other),
    }
}

fn usage(done: &Value) -> Usage {
    let millis = |field: &str| count(&done[field]).map(|nanos| nanos / 1_000_000);
    Usage {
        prompt_tokens: count(&done["prompt_eval_count"]),
        completion_tokens: count(&done["eval_count"]),
        load_ms: millis("load_duration"),
        prompt_ms: millis("prompt_eval_duration"),
        completion_ms: millis("eval_duration"),
        ..Usage::default()
    }
}
