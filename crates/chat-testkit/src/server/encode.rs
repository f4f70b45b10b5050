//! Encodes pieces of a reply in each protocol.

mod anthropic;

use serde_json::{Value, json};

pub(super) use self::anthropic::anthropic_error;
use self::anthropic::{Blocks, Open, block_delta, block_start, block_stop, named};
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
