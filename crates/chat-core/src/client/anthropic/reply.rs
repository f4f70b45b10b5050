//! Decodes a reply: events that begin, continue and end its blocks, its end with the usage; or one
//! object with all of it (<https://platform.claude.com/docs/en/build-with-claude/streaming>).

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::blocks::Blocks;
use crate::client::batch::Batch;
use crate::client::json::{Text, count, value};
use crate::client::reasoning_parser::ReasoningParser;
use crate::client::refusal::{self, SentRequest};
use crate::client::stream::{Decoder, Progress, invalid};
use crate::client::{Delta, Finish};
use crate::error::Result;
use crate::message::{Origin, ProviderData, Usage};

/// Decodes a reply. What nobody knows is passed over, as the protocol asks.
#[derive(Debug)]
pub(in crate::client) struct AnthropicReply {
    origin: Origin,
    asked: SentRequest,
    blocks: Blocks,
    reasoning_parser: ReasoningParser,
    usage: Counts,
    stop: Option<String>,
    over: bool,
}

/// What has been counted so far: later events repeat what they know better.
#[derive(Debug, Default)]
struct Counts {
    input: Option<u64>,
    written: Option<u64>,
    read: Option<u64>,
    output: Option<u64>,
}

impl Counts {
    fn take(&mut self, counts: &Value) {
        let take = |field: &str, known: Option<u64>| count(&counts[field]).or(known);
        self.input = take("input_tokens", self.input);
        self.written = take("cache_creation_input_tokens", self.written);
        self.read = take("cache_read_input_tokens", self.read);
        self.output = take("output_tokens", self.output);
    }

    /// The protocol counts what it read without what came from the cache and what went into it.
    fn usage(&self) -> Option<Usage> {
        let cached = self.written.unwrap_or(0) + self.read.unwrap_or(0);
        let usage = Usage {
            prompt_tokens: self.input.map(|input| input + cached),
            cached_tokens: self.read,
            completion_tokens: self.output,
            ..Usage::default()
        };
        (usage != Usage::default()).then_some(usage)
    }
}

impl AnthropicReply {
    /// Decodes what comes from there.
    pub fn new(origin: Origin, asked: SentRequest) -> Self {
        Self {
            origin,
            asked,
            blocks: Blocks::default(),
            reasoning_parser: ReasoningParser::default(),
            usage: Counts::default(),
            stop: None,
            over: false,
        }
    }

    fn begin(&mut self, index: u64, block: &RawValue, out: &mut Batch) -> Result<()> {
        // Thoughts are over when something else begins, also where a server does not say so.
        for thoughts in self.blocks.open_thoughts() {
            self.end(thoughts, out);
        }
        let begun = self.blocks.begin(index, block, &mut self.reasoning_parser, out);
        if let Some(json) = begun.map_err(|error| invalid(&error))? {
            out.push(self.provider(json));
        }
        Ok(())
    }

    fn end(&mut self, index: u64, out: &mut Batch) {
        if let Some(json) = self.blocks.end(index, out) {
            self.reasoning_parser.flush(out);
            out.push(self.provider(json));
        }
    }

    fn end_all(&mut self, out: &mut Batch) {
        for index in self.blocks.open() {
            self.end(index, out);
        }
    }

    /// What the server wants back with the reasoning.
    fn provider(&self, json: String) -> Delta {
        Delta::Provider { call: None, data: ProviderData { origin: self.origin.clone(), json } }
    }

    fn counts(&mut self, counts: Option<&RawValue>) {
        if let Some(counts) = counts {
            self.usage.take(&value(counts.get().as_bytes()));
        }
    }

    fn stopped(&mut self, reason: Option<Text<'_>>) {
        let reason = reason.map(Text::alone).filter(|reason| !reason.is_empty());
        self.stop = reason.or(self.stop.take());
    }

    fn finish(&self) -> Finish {
        match self.stop.as_deref() {
            // The last one is a gateway's.
            Some("max_tokens" | "model_context_window_exceeded" | "length") => Finish::Length,
            Some("refusal") => Finish::Filtered,
            None | Some("tool_use" | "end_turn" | "stop_sequence" | "stop") => {
                if self.blocks.calls() > 0 { Finish::ToolCalls } else { Finish::Stop }
            }
            Some(other) => Finish::other(other),
        }
    }
}

impl Decoder for AnthropicReply {
    fn piece(&mut self, json: &[u8], out: &mut Batch) -> Result<()> {
        let json = json.trim_ascii();
        // Some gateways end as another protocol does.
        if json.is_empty() || json == b"[DONE]" {
            return Ok(());
        }
        let event: Event<'_> = serde_json::from_slice(json).map_err(|error| invalid(&error))?;
        let kind = event.r#type.map(Text::alone).unwrap_or_default();
        if kind == "error" || event.error.is_some() {
            return Err(refusal::of_named(&value(json), &self.asked));
        }
        let index = event.index.unwrap_or(0);
        match kind.as_str() {
            "message_start" => {
                if let Some(message) = event.message {
                    let message: Start<'_> =
                        serde_json::from_str(message.get()).map_err(|error| invalid(&error))?;
                    self.counts(message.usage);
                }
            }
            "content_block_start" => {
                if let Some(block) = event.content_block {
                    self.begin(index, block, out)?;
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    let parser = &mut self.reasoning_parser;
                    let taken = self.blocks.piece(index, delta, parser, out);
                    taken.map_err(|error| invalid(&error))?;
                }
            }
            "content_block_stop" => self.end(index, out),
            "message_delta" => {
                self.counts(event.usage);
                if let Some(delta) = event.delta {
                    let delta: Stop<'_> =
                        serde_json::from_str(delta.get()).map_err(|error| invalid(&error))?;
                    self.stopped(delta.stop_reason);
                }
            }
            "message_stop" => self.over = true,
            "message" => {
                for (index, block) in (0..).zip(event.content.unwrap_or_default()) {
                    self.begin(index, block, out)?;
                    self.end(index, out);
                }
                self.counts(event.usage);
                self.stopped(event.stop_reason);
                self.over = true;
            }
            _ => {}
        }
        Ok(())
    }

    fn progress(&self) -> Progress {
        Progress::of(self.over, self.stop.is_some())
    }

    fn has_begun(&self) -> bool {
        self.reasoning_parser.has_begun()
    }

    fn flush(&mut self, out: &mut Batch) {
        // Reasoning whose end has not come is not wanted back: what proves it stands there.
        self.reasoning_parser.flush(out);
    }

    fn close(&mut self, out: &mut Batch) {
        self.end_all(out);
        self.flush(out);
        if let Some(usage) = self.usage.usage() {
            out.push(Delta::Usage(usage));
        }
        out.push(Delta::Finish(self.finish()));
    }
}

/// An event, or a whole reply.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    r#type: Option<Text<'a>>,
    index: Option<u64>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    stop_reason: Option<Text<'a>>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Start<'a> {
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Stop<'a> {
    #[serde(borrow)]
    stop_reason: Option<Text<'a>>,
}
