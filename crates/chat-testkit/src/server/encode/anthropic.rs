//! Encodes the blocks of a reply on Anthropic's protocol.

use serde_json::{Value, json};

use super::Encoder;
use crate::server::script::{Script, Step};

/// The blocks of a reply on Anthropic's protocol.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub began: bool,
    pub next: usize,
    pub open: Option<Open>,
    pub input_tokens: u64,
    pub signature: Option<String>,
}

/// A block that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Text,
    Thinking,
}

impl Encoder {
    /// The events until a block of this kind is open.
    pub(super) fn open_block(&mut self, open: Open) -> String {
        if self.blocks.open == Some(open) {
            return String::new();
        }
        let mut events = self.close_block();
        let block = match open {
            Open::Text => json!({ "type": "text", "text": "" }),
            Open::Thinking => json!({ "type": "thinking", "thinking": "", "signature": "" }),
        };
        events += &block_start(self.blocks.next, &block);
        self.blocks.next += 1;
        self.blocks.open = Some(open);
        events
    }

    /// The events that begin the message where it has not begun, and end the block that is open.
    pub(super) fn close_block(&mut self) -> String {
        let mut events = String::new();
        if !std::mem::replace(&mut self.blocks.began, true) {
            let model: Value = serde_json::from_str(&self.model).expect("a JSON string");
            events = named(
                "message_start",
                &json!({ "message": {
                "id": "msg_1", "type": "message", "role": "assistant", "model": model,
                "content": [], "stop_reason": null, "stop_sequence": null,
                "usage": { "input_tokens": self.blocks.input_tokens, "output_tokens": 1 },
            } }),
            );
        }
        if let Some(open) = self.blocks.open.take() {
            let index = self.blocks.next - 1;
            if let Some(signature) =
                self.blocks.signature.as_ref().filter(|_| open == Open::Thinking)
            {
                let signed = json!({ "type": "signature_delta", "signature": signature });
                events += &block_delta(index, &signed.to_string());
            }
            events += &block_stop(index);
        }
        events
    }

    /// The same on Anthropic's protocol.
    pub(super) fn whole_message(&mut self, script: &Script) -> Value {
        let mut content: Vec<Value> = Vec::new();
        for step in &script.steps {
            let (text, thought) = match step {
                Step::Text(text) => (text.clone(), false),
                Step::Thinking(text) => (text.clone(), true),
                Step::Pieces { pieces, thinking, .. } => (pieces.concat(), *thinking),
                Step::ToolCall { id, name, arguments } => {
                    self.tool_calls += 1;
                    let mut block = json!({ "type": "tool_use", "name": name, "input": arguments });
                    if let Some(id) = id {
                        block["id"] = id.as_str().into();
                    }
                    content.push(block);
                    continue;
                }
                _ => continue,
            };
            let kind = if thought { "thinking" } else { "text" };
            if let Some(last) = content.last_mut().filter(|last| last["type"] == kind) {
                let joined = last[kind].as_str().unwrap_or_default().to_owned() + &text;
                last[kind] = joined.into();
                continue;
            }
            let mut block = json!({ "type": kind });
            block[kind] = text.into();
            if let Some(signature) = script.signature.as_ref().filter(|_| thought) {
                block["signature"] = signature.as_str().into();
            }
            content.push(block);
        }
        let (prompt, completion) = script.usage.unwrap_or((10, self.pieces));
        json!({
            "id": "msg_1", "type": "message", "role": "assistant",
            "model": serde_json::from_str::<Value>(&self.model).expect("a JSON string"),
            "content": content, "stop_reason": self.reason(script), "stop_sequence": null,
            "usage": { "input_tokens": prompt, "output_tokens": completion },
        })
    }
}

/// An event of Anthropic's protocol, whose data repeat its name.
pub(super) fn named(name: &str, data: &Value) -> String {
    let mut all = json!({ "type": name });
    if let (Value::Object(all), Value::Object(data)) = (&mut all, data) {
        all.extend(data.clone());
    }
    format!("event: {name}\ndata: {all}\n\n")
}

pub(super) fn block_start(index: usize, block: &Value) -> String {
    named("content_block_start", &json!({ "index": index, "content_block": block }))
}

pub(super) fn block_delta(index: usize, delta: &str) -> String {
    format!(
        "event: content_block_delta\n\
         data: {{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{delta}}}\n\n"
    )
}

pub(super) fn block_stop(index: usize) -> String {
    named("content_block_stop", &json!({ "index": index }))
}

/// An error as Anthropic's protocol has it; its type stands for the status.
pub(in crate::server) fn anthropic_error(message: &str, status: u16) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        _ => "api_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": message } })
}
