//! Builds the body of a chat request.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};

use crate::client::prose::{self, Arguments};
use crate::client::{Request, ToolChoice};
use crate::message::{
    KeepAlive, Message, OptionName, Part, ReplySchema, Role, Thinking, ToolResult, ToolSpec,
};

/// Whether a request can say this option.
pub(super) fn takes(option: OptionName) -> bool {
    // Thinking has levels alone.
    option != OptionName::ThinkingBudget
}

/// The request as the server wants it.
pub(super) fn body(request: &Request, window: u32) -> serde_json::Result<Vec<u8>> {
    let options = &request.options;
    let tools = match request.tool_choice {
        // The protocol has no word for it.
        ToolChoice::None => &[],
        ToolChoice::Auto | ToolChoice::Required => &request.tools[..],
    };
    serde_json::to_vec(&Body {
        model: &request.model,
        messages: request.messages.iter().flat_map(|message| messages(message)).collect(),
        stream: request.stream,
        tools: tools.iter().map(tool).collect(),
        think: think(request.thinking),
        // Nothing is to be dropped from a conversation without a word: what is too long is
        // refused, and a reply that fills the window ends there.
        truncate: false,
        shift: false,
        keep_alive: options.keep_alive.as_ref().map(KeepAlive::to_json),
        format: options.schema.as_ref().map(ReplySchema::to_json),
        options: WireOptions {
            num_ctx: window,
            temperature: options.temperature,
            top_p: options.top_p,
            top_k: options.top_k,
            min_p: options.min_p,
            repeat_penalty: options.repeat_penalty,
            presence_penalty: options.presence_penalty,
            frequency_penalty: options.frequency_penalty,
            seed: options.seed,
            stop: &options.stop,
            num_predict: options.max_tokens,
        },
    })
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    think: Option<Value>,
    truncate: bool,
    shift: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_alive: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Value>,
    options: WireOptions<'a>,
}

#[derive(Serialize)]
struct WireOptions<'a> {
    num_ctx: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
}

#[derive(Default, Serialize)]
struct WireMessage<'a> {
    role: &'static str,
    content: Cow<'a, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    thinking: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    index: usize,
    name: &'a str,
    arguments: Arguments<'a>,
}

/// A message as the server's messages: one, and one for each tool result in it.
fn messages(message: &Message) -> Vec<WireMessage<'_>> {
    let mut out = Vec::with_capacity(1);
    let role = match message.role {
        Role::System => Some("system"),
        Role::User => Some("user"),
        Role::Assistant => Some("assistant"),
        Role::Tool => None,
        Role::Ui => return out,
    };
    if let Some(role) = role {
        let calls = message.tool_calls().enumerate().map(|(index, call)| WireCall {
            id: call.id.as_str(),
            function: WireFunction { index, name: &call.name, arguments: Arguments(call) },
        });
        out.push(WireMessage {
            role,
            content: prose::text(message),
            thinking: prose::thinking(message),
            images: message.parts.iter().filter_map(image).collect(),
            tool_calls: calls.collect(),
            ..WireMessage::default()
        });
    }
    out.extend(message.parts.iter().filter_map(|part| match part {
        Part::ToolResult(answer) => Some(WireMessage {
            images: message.parts.iter().filter_map(image).collect(),
            ..result(answer)
        }),
        _ => None,
    }));
    out
}

fn result(result: &ToolResult) -> WireMessage<'_> {
    WireMessage {
        role: "tool",
        content: Cow::Borrowed(&result.text),
        tool_name: Some(&result.name),
        tool_call_id: Some(result.call.as_str()),
        ..WireMessage::default()
    }
}

fn image(part: &Part) -> Option<String> {
    match part {
        Part::Image { data, .. } => Some(STANDARD.encode(data)),
        _ => None,
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({ "type": "function", "function": spec })
}

fn think(thinking: Thinking) -> Option<Value> {
    match thinking {
        Thinking::Default => None,
        Thinking::Off => Some(false.into()),
        Thinking::On => Some(true.into()),
        Thinking::Low => Some("low".into()),
        Thinking::Medium => Some("medium".into()),
        Thinking::High => Some("high".into()),
        Thinking::Max => Some("max".into()),
    }
}
