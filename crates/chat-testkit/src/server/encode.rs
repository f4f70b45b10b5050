//! Encodes pieces of a reply in each protocol.

use serde_json::{Value, json};

use super::script::{Script, Step};

/// Which protocol a request speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Ollama's `/api`: one JSON object a line.
    Ollama,
    /// OpenAI's `/v1`: server-sent events.
    OpenAi,
    /// Anthropic's `/v1/messages`: server-sent events, each of a block that begins and ends.
    Anthropic,
}

/// Encodes one reply.
#[derive(Debug)]
pub(super) struct Encoder {
    pub protocol: Protocol,
    model: String,
    reasoning: String,
    usage_wanted: bool,
    tool_calls: usize,
    pieces: u64,
    blocks: Blocks,
}

/// The blocks of a reply on Anthropic's protocol.
#[derive(Debug, Default)]
struct Blocks {
    began: bool,
    next: usize,
    open: Option<Open>,
    input_tokens: u64,
    signature: Option<String>,
}

/// A block that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    Text,
    Thinking,
}

const CREATED: &str = "2026-01-15T14:30:45.123456789Z";

impl Encoder {
    pub fn new(protocol: Protocol, request: &Value, script: &Script) -> Self {
        Self {
            protocol,
            model: Value::from(request["model"].as_str().unwrap_or_default()).to_string(),
            reasoning: script.reasoning.clone().unwrap_or_else(|| "reasoning_content".to_owned()),
            usage_wanted: request["stream_options"]["include_usage"] == true,
            tool_calls: 0,
            pieces: 0,
            blocks: Blocks {
                input_tokens: script.usage.map_or(10, |(prompt, _)| prompt),
                signature: script.signature.clone(),
                ..Blocks::default()
            },
        }
    }

    /// A piece of text or of thinking.
    pub fn piece(&mut self, text: &str, thinking: bool) -> String {
        self.pieces += 1;
        // Formatted by hand: a benchmark sends a hundred thousand of these, and must not measure
        // the server.
        let text = serde_json::to_string(text).expect("text is JSON");
        match (self.protocol, thinking) {
            (Protocol::Ollama, false) => self.line(&format!(r#""content":{text}"#)),
            (Protocol::Ollama, true) => self.line(&format!(r#""content":"","thinking":{text}"#)),
            (Protocol::OpenAi, false) => self.event(&format!(r#""content":{text}"#)),
            (Protocol::OpenAi, true) => {
                let field = format!(r#""{}":{text}"#, self.reasoning);
                self.event(&field)
            }
            (Protocol::Anthropic, thinking) => {
                let (open, kind, field) = if thinking {
                    (Open::Thinking, "thinking_delta", "thinking")
                } else {
                    (Open::Text, "text_delta", "text")
                };
                let before = self.open_block(open);
                let index = self.blocks.next - 1;
                let delta = format!(r#"{{"type":"{kind}","{field}":{text}}}"#);
                before + &block_delta(index, &delta)
            }
        }
    }

    /// The events until a block of this kind is open.
    fn open_block(&mut self, open: Open) -> String {
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
    fn close_block(&mut self) -> String {
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

    /// A tool call, as the frames in which it is sent.
    pub fn tool_call(&mut self, id: Option<&str>, name: &str, arguments: &Value) -> Vec<String> {
        self.pieces += 1;
        let index = self.tool_calls;
        self.tool_calls += 1;
        match self.protocol {
            Protocol::Ollama => {
                let mut call = json!({ "function": { "name": name, "arguments": arguments } });
                if let Some(id) = id {
                    call["id"] = id.into();
                    call["function"]["index"] = index.into();
                }
                vec![self.line(&format!(r#""content":"","tool_calls":[{call}]"#))]
            }
            Protocol::OpenAi => {
                let mut first = json!({
                    "index": index, "type": "function",
                    "function": { "name": name, "arguments": "" },
                });
                if let Some(id) = id {
                    first["id"] = id.into();
                }
                let text = arguments.to_string();
                let middle = text.floor_char_boundary(text.len() / 2);
                let mut frames = vec![self.event(&format!(r#""tool_calls":[{first}]"#))];
                for part in [&text[..middle], &text[middle..]] {
                    let part = json!([{ "index": index, "function": { "arguments": part } }]);
                    frames.push(self.event(&format!(r#""tool_calls":{part}"#)));
                }
                frames
            }
            Protocol::Anthropic => {
                let before = self.close_block();
                let index = self.blocks.next;
                self.blocks.next += 1;
                let mut block = json!({ "type": "tool_use", "name": name, "input": {} });
                if let Some(id) = id {
                    block["id"] = id.into();
                }
                let mut frames = vec![before + &block_start(index, &block)];
                let text = arguments.to_string();
                let middle = text.floor_char_boundary(text.len() / 2);
                for part in ["", &text[..middle], &text[middle..]] {
                    let delta = json!({ "type": "input_json_delta", "partial_json": part });
                    frames.push(block_delta(index, &delta.to_string()));
                }
                frames.push(block_stop(index));
                frames
            }
        }
    }

    /// An error object in mid-stream.
    pub fn error(&self, message: &str, code: u16) -> String {
        match self.protocol {
            Protocol::Ollama => format!("{}\n", json!({ "error": message })),
            Protocol::OpenAi => {
                let error = json!({ "message": message, "type": "server_error", "code": code });
                format!("data: {}\n\n", json!({ "error": error }))
            }
            Protocol::Anthropic => named("error", &anthropic_error(message, code)),
        }
    }

    /// The frames that end a complete reply.
    pub fn end(&mut self, script: &Script) -> Vec<String> {
        let reason = self.reason(script);
        match self.protocol {
            Protocol::Ollama => {
                let mut done = self.done(script, &reason);
                done["message"] = json!({ "role": "assistant", "content": "" });
                vec![format!("{done}\n")]
            }
            Protocol::OpenAi => {
                let model = &self.model;
                let reason = Value::from(reason);
                let mut frames = vec![format!(
                    "data: {{{OPENAI_HEAD},\"model\":{model},\"choices\":[{{\"index\":0,\
                     \"delta\":{{}},\"finish_reason\":{reason}}}]}}\n\n"
                )];
                if self.usage_wanted {
                    let usage = self.usage(script);
                    frames.push(format!(
                        "data: {{{OPENAI_HEAD},\"model\":{model},\"choices\":[],\
                         \"usage\":{usage}}}\n\n"
                    ));
                }
                frames.push("data: [DONE]\n\n".to_owned());
                frames
            }
            Protocol::Anthropic => {
                let (_, completion) = script.usage.unwrap_or((10, self.pieces));
                let delta = json!({
                    "delta": { "stop_reason": reason, "stop_sequence": null },
                    "usage": { "output_tokens": completion },
                });
                let last = self.close_block() + &named("message_delta", &delta);
                vec![last, named("message_stop", &json!({}))]
            }
        }
    }

    /// The reply as one JSON object, for a request that does not stream.
    pub fn whole(&mut self, script: &Script) -> Value {
        if self.protocol == Protocol::Anthropic {
            return self.whole_message(script);
        }
        let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
        for step in &script.steps {
            match step {
                Step::Text(piece) => text.push_str(piece),
                Step::Thinking(piece) => thinking.push_str(piece),
                Step::Pieces { pieces, thinking: thought, .. } => {
                    let to = if *thought { &mut thinking } else { &mut text };
                    to.extend(pieces.iter().map(String::as_str));
                }
                Step::ToolCall { id, name, arguments } => {
                    self.tool_calls += 1;
                    let arguments = match self.protocol {
                        Protocol::Ollama => arguments.clone(),
                        _ => arguments.to_string().into(),
                    };
                    let mut call = json!({ "type": "function", "function": { "name": name, "arguments": arguments } });
                    if let Some(id) = id {
                        call["id"] = id.as_str().into();
                    }
                    calls.push(call);
                }
                _ => {}
            }
        }
        let mut message = json!({ "role": "assistant", "content": text });
        if !thinking.is_empty() {
            let field = match self.protocol {
                Protocol::Ollama => "thinking",
                _ => &self.reasoning,
            };
            message[field] = thinking.into();
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let reason = self.reason(script);
        match self.protocol {
            Protocol::Ollama => {
                let mut done = self.done(script, &reason);
                done["message"] = message;
                done
            }
            _ => json!({
                "id": "chatcmpl-1", "object": "chat.completion", "created": 1_768_487_445,
                "model": serde_json::from_str::<Value>(&self.model).expect("a JSON string"),
                "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
                "usage": self.usage(script),
            }),
        }
    }

    /// The same on Anthropic's protocol.
    fn whole_message(&mut self, script: &Script) -> Value {
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
            match content.last_mut().filter(|last| last["type"] == kind) {
                Some(last) => {
                    let joined = last[kind].as_str().unwrap_or_default().to_owned() + &text;
                    last[kind] = joined.into();
                }
                None => {
                    let mut block = json!({ "type": kind });
                    block[kind] = text.into();
                    if let Some(signature) = script.signature.as_ref().filter(|_| thought) {
                        block["signature"] = signature.as_str().into();
                    }
                    content.push(block);
                }
            }
        }
        let (prompt, completion) = script.usage.unwrap_or((10, self.pieces));
        json!({
            "id": "msg_1", "type": "message", "role": "assistant",
            "model": serde_json::from_str::<Value>(&self.model).expect("a JSON string"),
            "content": content, "stop_reason": self.reason(script), "stop_sequence": null,
            "usage": { "input_tokens": prompt, "output_tokens": completion },
        })
    }

    fn reason(&self, script: &Script) -> String {
        let usual = match self.protocol {
            Protocol::OpenAi if self.tool_calls > 0 => "tool_calls",
            Protocol::Anthropic if self.tool_calls > 0 => "tool_use",
            Protocol::Anthropic => "end_turn",
            _ => "stop",
        };
        script.finish.clone().unwrap_or_else(|| usual.to_owned())
    }

    fn done(&self, script: &Script, reason: &str) -> Value {
        let (prompt, completion) = script.usage.unwrap_or((10, self.pieces));
        json!({
            "model": serde_json::from_str::<Value>(&self.model).expect("a JSON string"),
            "created_at": CREATED, "done": true, "done_reason": reason,
            "total_duration": 900_000_000, "load_duration": 100_000_000,
            "prompt_eval_count": prompt, "prompt_eval_duration": 200_000_000,
            "eval_count": completion, "eval_duration": 600_000_000,
        })
    }

    fn usage(&self, script: &Script) -> Value {
        let (prompt, completion) = script.usage.unwrap_or((10, self.pieces));
        json!({
            "prompt_tokens": prompt, "completion_tokens": completion,
            "total_tokens": prompt + completion,
        })
    }

    fn line(&self, message: &str) -> String {
        let model = &self.model;
        format!(
            "{{\"model\":{model},\"created_at\":\"{CREATED}\",\
             \"message\":{{\"role\":\"assistant\",{message}}},\"done\":false}}\n"
        )
    }

    fn event(&self, delta: &str) -> String {
        let model = &self.model;
        format!(
            "data: {{{OPENAI_HEAD},\"model\":{model},\"choices\":[{{\"index\":0,\
             \"delta\":{{{delta}}},\"finish_reason\":null}}]}}\n\n"
        )
    }
}

const OPENAI_HEAD: &str =
    r#""id":"chatcmpl-1","object":"chat.completion.chunk","created":1768487445"#;

/// An event of Anthropic's protocol, whose data repeat its name.
fn named(name: &str, data: &Value) -> String {
    let mut all = json!({ "type": name });
    if let (Value::Object(all), Value::Object(data)) = (&mut all, data) {
        all.extend(data.clone());
    }
    format!("event: {name}\ndata: {all}\n\n")
}

fn block_start(index: usize, block: &Value) -> String {
    named("content_block_start", &json!({ "index": index, "content_block": block }))
}

fn block_delta(index: usize, delta: &str) -> String {
    format!(
        "event: content_block_delta\n\
         data: {{\"type\":\"content_block_delta\",\"index\":{index},\"delta\":{delta}}}\n\n"
    )
}

fn block_stop(index: usize) -> String {
    named("content_block_stop", &json!({ "index": index }))
}

/// An error as Anthropic's protocol has it; its type stands for the status.
pub(super) fn anthropic_error(message: &str, status: u16) -> Value {
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
