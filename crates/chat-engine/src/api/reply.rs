//! Writes an answer on the wire: chunks of a stream, or one object.

use std::time::SystemTime;

use serde_json::{Value, json};

use crate::answer::Event;
use crate::inference::Timings;
use crate::output::Piece;

/// Writes the chunks of one answer.
#[derive(Clone, Debug)]
pub struct Writer {
    id: String,
    created: u64,
    model: String,
    /// Whether the role was said.
    begun: bool,
}

impl Writer {
    /// For an answer of this model.
    pub fn new(model: &str) -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let id = format!("chatcmpl-{:x}", now.as_nanos());
        Self { id, created: now.as_secs(), model: model.to_owned(), begun: false }
    }

    /// The events of a stream for what happened.
    pub fn write(&mut self, event: &Event) -> String {
        let mut out = String::new();
        if let Event::Failed(failure) = event {
            line(&mut out, &failure.body());
            return out;
        }
        let spoken = matches!(event, Event::Piece(_) | Event::End { .. });
        if spoken && !self.begun {
            self.begun = true;
            line(&mut out, &self.delta(&json!({ "role": "assistant", "content": null })));
        }
        match event {
            Event::Loading(part) => {
                let mut chunk = self.chunk(&json!([]));
                chunk["loading"] = json!(part);
                line(&mut out, &chunk);
            }
            Event::Queued => {
                let mut chunk = self.chunk(&json!([]));
                chunk["queued"] = json!(true);
                line(&mut out, &chunk);
            }
            Event::Reading { done, total, cached } => {
                let mut chunk = self.chunk(&json!([]));
                chunk["prompt_progress"] =
                    json!({ "total": total, "cache": cached, "processed": done });
                line(&mut out, &chunk);
            }
            Event::Piece(piece) => line(&mut out, &self.delta(&delta(piece))),
            Event::End { reason, timings } => {
                let choices = json!([{ "index": 0, "delta": {}, "finish_reason": reason }]);
                line(&mut out, &self.chunk(&choices));
                let mut last = self.chunk(&json!([]));
                last["usage"] = usage(timings);
                last["timings"] = json!(timings);
                line(&mut out, &last);
                out.push_str("data: [DONE]\n\n");
            }
            // A comment, which means nothing to those who read events.
            Event::Working => out.push_str(": at work\n\n"),
            Event::Failed(_) => {}
        }
        out
    }

    fn delta(&self, delta: &Value) -> Value {
        self.chunk(&json!([{ "index": 0, "delta": delta, "finish_reason": null }]))
    }

    fn chunk(&self, choices: &Value) -> Value {
        json!({
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": choices,
        })
    }

    /// The whole answer as one object.
    pub fn whole(&self, pieces: &[Piece], reason: &str, timings: &Timings) -> Value {
        let (mut text, mut reasoning, mut calls) = (String::new(), String::new(), Vec::new());
        for piece in pieces {
            match piece {
                Piece::Text(more) => text.push_str(more),
                Piece::Thinking(more) => reasoning.push_str(more),
                Piece::Call { index, name } => calls.push((*index, name.clone(), String::new())),
                Piece::Arguments { text: more, .. } => {
                    if let Some((_, _, arguments)) = calls.last_mut() {
                        arguments.push_str(more);
                    }
                }
            }
        }
        let mut message = json!({ "role": "assistant", "content": text });
        if !reasoning.is_empty() {
            message["reasoning_content"] = json!(reasoning);
        }
        if !calls.is_empty() {
            let calls = calls.into_iter().map(|(index, name, arguments)| {
                json!({
                    "id": call_id(index),
                    "type": "function",
                    "function": { "name": name, "arguments": arguments },
                })
            });
            message["tool_calls"] = calls.collect();
        }
        json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
            "usage": usage(timings),
            "timings": timings,
        })
    }
}

fn delta(piece: &Piece) -> Value {
    match piece {
        Piece::Text(text) => json!({ "content": text }),
        Piece::Thinking(text) => json!({ "reasoning_content": text }),
        Piece::Call { index, name } => json!({ "tool_calls": [{
            "index": index,
            "id": call_id(*index),
            "type": "function",
            "function": { "name": name, "arguments": "" },
        }] }),
        Piece::Arguments { index, text } => json!({ "tool_calls": [{
            "index": index,
            "function": { "arguments": text },
        }] }),
    }
}

/// Nine letters: some templates refuse others.
fn call_id(index: usize) -> String {
    format!("call{index:05}")
}

fn usage(timings: &Timings) -> Value {
    let prompt = timings.cache_n + timings.prompt_n;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": timings.predicted_n,
        "total_tokens": prompt + timings.predicted_n,
        "prompt_tokens_details": { "cached_tokens": timings.cache_n },
    })
}

fn line(out: &mut String, value: &Value) {
    out.push_str("data: ");
    out.push_str(&value.to_string());
    out.push_str("\n\n");
}
