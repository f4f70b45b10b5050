//! Decodes a reply: events with pieces of the first choice, the usage near the end, `[DONE]`; or one
//! object with all of it.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::calls::{Calls, Piece};
use super::content::{Content, ContentPart};
use super::details::Details;
use crate::client::batch::Batch;
use crate::client::json::{Text, count, value};
use crate::client::reasoning_parser::ReasoningParser;
use crate::client::refusal::{self, SentRequest};
use crate::client::stream::{Decoder, Progress, invalid};
use crate::client::{Delta, Finish, Preparing};
use crate::error::{Kind, Result};
use crate::message::{Origin, ProviderData, Usage};

/// Decodes a reply. The finish is kept back until the last word, since usage follows its reason.
#[derive(Debug)]
pub(in crate::client) struct OpenAiReply {
    origin: Origin,
    asked: SentRequest,
    details: Details,
    calls: Calls,
    reasoning_parser: ReasoningParser,
    usage: Option<Usage>,
    finish: Option<Finish>,
    over: bool,
}

impl OpenAiReply {
    /// Decodes what comes from there.
    pub fn new(origin: Origin, asked: SentRequest) -> Self {
        Self {
            origin,
            asked,
            details: Details::default(),
            calls: Calls::default(),
            reasoning_parser: ReasoningParser::default(),
            usage: None,
            finish: None,
            over: false,
        }
    }

    fn choice(&mut self, choice: Choice<'_>, out: &mut Batch) -> Result<()> {
        if let Some(said) = choice.delta.or(choice.message) {
            // Some servers send the same thoughts under both names.
            let reasoning = said.reasoning_content.filter(|text| !text.is_empty());
            if let Some(reasoning) = reasoning.or(said.reasoning) {
                self.reasoning_parser.take_thinking(reasoning, out);
            }
            said.reasoning_details.unwrap_or_default().iter().for_each(|it| self.details.take(it));
            if let Some(content) = said.content {
                content.each(|part| match part {
                    ContentPart::Text(text) => {
                        if !text.is_empty() {
                            self.end_reasoning(out);
                        }
                        self.reasoning_parser.take_text(text, out);
                    }
                    ContentPart::Thinking(text) => self.reasoning_parser.take_thinking(text, out),
                });
            }
            // What a model says instead of answering is an answer too.
            if let Some(refusal) = said.refusal {
                self.reasoning_parser.take_text(refusal, out);
            }
            // Some servers send an empty list with each piece of text.
            for piece in said.tool_calls.unwrap_or_default() {
                self.reasoning_parser.flush(out);
                self.end_reasoning(out);
                if let Some((call, json)) = self.calls.piece(piece, out) {
                    out.push(self.provider(Some(call), json.get().to_owned()));
                }
            }
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(match &*reason.text {
                "error" => return Err(Kind::ServerFailed.into()),
                // DeepSeek's.
                "insufficient_system_resource" => return Err(Kind::Busy.into()),
                "stop" | "eos" | "end_turn" if self.calls.is_empty() => Finish::Stop,
                "stop" | "eos" | "end_turn" | "tool_calls" | "function_call" => Finish::ToolCalls,
                "length" | "max_tokens" => Finish::Length,
                other => Finish::other(other),
            });
        }
        Ok(())
    }

    /// Something else follows the reasoning: what is to go back with it is whole.
    fn end_reasoning(&mut self, out: &mut Batch) {
        if let Some(json) = self.details.finish() {
            out.push(self.provider(None, json));
        }
    }

    /// What the server wants back with a call, or with the reasoning.
    fn provider(&self, call: Option<usize>, json: String) -> Delta {
        Delta::Provider { call, data: ProviderData { origin: self.origin.clone(), json } }
    }
}

impl Decoder for OpenAiReply {
    fn piece(&mut self, json: &[u8], out: &mut Batch) -> Result<()> {
        let json = json.trim_ascii();
        if json.is_empty() {
            return Ok(());
        }
        if json == b"[DONE]" {
            self.over = true;
            return Ok(());
        }
        let chunk: Chunk<'_> = serde_json::from_slice(json).map_err(|error| invalid(&error))?;
        let is_error = chunk.object.is_some_and(|object| object.text == "error");
        if is_error || chunk.error.is_some() {
            return Err(refusal::of_object(&value(json), &self.asked));
        }
        if chunk.queued == Some(true) {
            out.push(Delta::Preparing(Preparing::Queued));
        }
        if let Some(part) = chunk.loading {
            let percent = (part.clamp(0.0, 1.0) * 100.0) as u8;
            out.push(Delta::Preparing(Preparing::Loading { percent }));
        }
        if let Some(Read { total, processed }) = chunk.prompt_progress {
            let percent = (processed.min(total) * 100).checked_div(total).unwrap_or(100) as u8;
            out.push(Delta::Preparing(Preparing::Reading { percent }));
        }
        for choice in chunk.choices.unwrap_or_default() {
            // Nobody asks for several.
            if choice.index.unwrap_or(0) == 0 {
                self.choice(choice, out)?;
            }
        }
        for (counts, take) in
            [(chunk.usage, take_usage as fn(&Value, &mut Usage)), (chunk.timings, take_timings)]
        {
            if let Some(counts) = counts {
                let counts = serde_json::from_str(counts.get()).map_err(|error| invalid(&error))?;
                take(&counts, self.usage.get_or_insert_default());
            }
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        Progress::of(self.over, self.finish.is_some())
    }

    fn has_begun(&self) -> bool {
        self.reasoning_parser.has_begun()
    }

    fn flush(&mut self, out: &mut Batch) {
        // Reasoning whose end has not come is not wanted back: what proves it stands there.
        self.reasoning_parser.flush(out);
        self.calls.flush(out);
    }

    fn close(&mut self, out: &mut Batch) {
        self.flush(out);
        self.end_reasoning(out);
        if let Some(usage) = self.usage.take().filter(|usage| *usage != Usage::default()) {
            out.push(Delta::Usage(usage));
        }
        let usual = if self.calls.is_empty() { Finish::Stop } else { Finish::ToolCalls };
        out.push(Delta::Finish(self.finish.take().unwrap_or(usual)));
    }
}

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    object: Option<Text<'a>>,
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    timings: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    /// Our own engine's: how much of the model is loaded, of 1.
    loading: Option<f32>,
    /// Our own engine's: others are answered first.
    queued: Option<bool>,
    /// llama.cpp's (`return_progress`), and our own engine's.
    prompt_progress: Option<Read>,
}

/// How much of a prompt is read, in tokens.
#[derive(Deserialize)]
struct Read {
    total: u64,
    processed: u64,
}

#[derive(Deserialize)]
struct Choice<'a> {
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Message<'a>>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Text<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    reasoning: Option<Text<'a>>,
    #[serde(borrow)]
    reasoning_content: Option<Text<'a>>,
    #[serde(borrow)]
    reasoning_details: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    refusal: Option<Text<'a>>,
    #[serde(borrow)]
    tool_calls: Option<Vec<Piece<'a>>>,
}

fn take_usage(counts: &Value, usage: &mut Usage) {
    usage.prompt_tokens = count(&counts["prompt_tokens"]).or(usage.prompt_tokens);
    usage.completion_tokens = count(&counts["completion_tokens"]).or(usage.completion_tokens);
    let cached = &counts["prompt_tokens_details"]["cached_tokens"];
    usage.cached_tokens = count(cached).or(usage.cached_tokens);
}

/// llama.cpp's measurements. It counts the prompt's tokens without those from its cache.
fn take_timings(counts: &Value, usage: &mut Usage) {
    let cached = count(&counts["cache_n"]);
    usage.prompt_ms = count(&counts["prompt_ms"]).or(usage.prompt_ms);
    usage.completion_ms = count(&counts["predicted_ms"]).or(usage.completion_ms);
    usage.completion_tokens = usage.completion_tokens.or(count(&counts["predicted_n"]));
    usage.cached_tokens = usage.cached_tokens.or(cached);
    let prompt = count(&counts["prompt_n"]).map(|read| read + cached.unwrap_or(0));
    usage.prompt_tokens = usage.prompt_tokens.or(prompt);
}
