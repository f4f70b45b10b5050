//! Writes the messages of a conversation as the protocol has them.

use std::borrow::Cow;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::ser::Serializer;
use serde_json::value::RawValue;

use super::super::details;
use super::super::reasoning::Replay;
use crate::client::Recipient;
use crate::client::prose::Arguments;
use crate::message::{Message, Part, ProviderData, Role, ToolCall};

#[derive(Serialize)]
pub(super) struct WireMessage<'a> {
    role: &'static str,
    content: WireContent<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_details: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<WireCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
}

impl<'a> WireMessage<'a> {
    fn new(role: &'static str, content: WireContent<'a>) -> Self {
        Self {
            role,
            content,
            reasoning_content: None,
            reasoning: None,
            reasoning_details: None,
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum WireContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<WirePart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum WirePart<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireFunction<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extra_content: Option<&'a RawValue>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    arguments: TextArguments<'a>,
}

/// This protocol wants the arguments' JSON as a text.
struct TextArguments<'a>(&'a ToolCall);

impl Serialize for TextArguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = serde_json::to_string(&Arguments(self.0)).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }
}

/// What stands over the pictures that tools brought: the protocol has none in a tool's message.
const FROM_TOOLS: &str = "Images from the tools:";

/// What is sent with earlier replies in addition to their text.
#[derive(Clone, Copy)]
pub(super) struct Sent<'a> {
    pub(super) replay: Replay,
    /// Who gets back what it sent along; none where it does not.
    pub(super) data_of: Option<&'a Recipient>,
}

impl Sent<'_> {
    /// What is to go back with a part.
    fn own<'a>(&self, data: &'a ProviderData) -> Option<&'a RawValue> {
        serde_json::from_str(self.data_of?.json(data)?).ok()
    }
}

/// All messages. Pictures from tools follow the results of all calls of a reply, which must stand
/// together.
pub(super) fn all_messages<'a>(all: &'a [Arc<Message>], sent: Sent<'_>) -> Vec<WireMessage<'a>> {
    let mut out = Vec::with_capacity(all.len());
    let mut pictures = Vec::new();
    for message in all {
        if message.role != Role::Tool {
            out.extend(from_tools(&mut pictures));
        }
        out.extend(messages(message, sent));
        if message.role == Role::Tool {
            pictures.extend(images(message));
        }
    }
    out.extend(from_tools(&mut pictures));
    out
}

fn from_tools<'a>(pictures: &mut Vec<WirePart<'a>>) -> Option<WireMessage<'a>> {
    if pictures.is_empty() {
        return None;
    }
    let mut parts = vec![WirePart::Text { text: Cow::Borrowed(FROM_TOOLS) }];
    parts.append(pictures);
    Some(WireMessage::new("user", WireContent::Parts(parts)))
}

/// A message as the server's messages: one, and one for each tool result in it.
fn messages<'a>(message: &'a Message, sent: Sent<'_>) -> Vec<WireMessage<'a>> {
    let mut out = Vec::with_capacity(1);
    let role = match message.role {
        Role::System => Some("system"),
        Role::User => Some("user"),
        Role::Assistant => Some("assistant"),
        Role::Tool => None,
        Role::Ui => return out,
    };
    if let Some(role) = role {
        let calls = message.tool_calls().map(|call| WireCall {
            id: call.id.as_str(),
            r#type: "function",
            function: WireFunction { name: &call.name, arguments: TextArguments(call) },
            extra_content: call.provider.as_ref().and_then(|data| sent.own(data)),
        });
        let details = message.provider_data().filter_map(|data| sent.own(data));
        let reasoning_details = details::joined(details.map(RawValue::get));
        // They hold the reasoning, too.
        let (reasoning_content, reasoning) = match &reasoning_details {
            Some(_) => (None, None),
            None => sent.replay.fields(message),
        };
        out.push(WireMessage {
            reasoning_content,
            reasoning,
            reasoning_details,
            tool_calls: calls.collect(),
            ..WireMessage::new(role, content(message, sent.replay))
        });
    }
    out.extend(message.parts.iter().filter_map(|part| match part {
        Part::ToolResult(result) => Some(WireMessage {
            tool_call_id: Some(result.call.as_str()),
            ..WireMessage::new("tool", WireContent::Text(Cow::Borrowed(&result.text)))
        }),
        _ => None,
    }));
    out
}

fn content(message: &Message, replay: Replay) -> WireContent<'_> {
    let text = replay.text(message);
    let mut parts: Vec<WirePart<'_>> = images(message).collect();
    if parts.is_empty() {
        return WireContent::Text(text);
    }
    if !text.is_empty() {
        parts.insert(0, WirePart::Text { text });
    }
    WireContent::Parts(parts)
}

fn images(message: &Message) -> impl Iterator<Item = WirePart<'_>> {
    message.parts.iter().filter_map(|part| match part {
        Part::Image { mime, data } => {
            let url = format!("data:{mime};base64,{}", STANDARD.encode(data));
            Some(WirePart::ImageUrl { image_url: ImageUrl { url } })
        }
        _ => None,
    })
}
