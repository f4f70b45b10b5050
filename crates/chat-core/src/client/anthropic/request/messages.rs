//! Writes the messages of a conversation as the protocol has them: user and assistant by turns, each a
//! list of blocks, the results of tools first in the user's.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::value::RawValue;

use super::CacheControl;
use crate::client::Recipient;
use crate::client::prose::{self, Arguments};
use crate::message::{Message, Part, Role, ToolCall};

/// What the user says where the conversation ends with the model's words, or begins with them, and
/// that is refused.
const GO_ON: &str = "Continue.";

#[derive(Serialize)]
pub(super) struct WireMessage<'a> {
    pub role: &'static str,
    pub content: Vec<Block<'a>>,
}

/// A block of a message.
pub(super) struct Block<'a> {
    content: Content<'a>,
    cache_control: Option<CacheControl>,
}

enum Content<'a> {
    Text(Cow<'a, str>),
    Image {
        mime: &'a str,
        data: &'a [u8],
    },
    /// Thoughts, byte for byte as they came.
    Thinking(&'a RawValue),
    Call {
        id: String,
        call: &'a ToolCall,
    },
    Result {
        id: String,
        text: &'a str,
        images: Vec<Block<'a>>,
        failed: bool,
    },
}

impl<'a> Block<'a> {
    fn new(content: Content<'a>) -> Self {
        Self { content, cache_control: None }
    }

    /// Marks it for the cache.
    pub fn mark(&mut self, cache_control: CacheControl) {
        // Thoughts are refused with a mark; they never end a user's message.
        self.cache_control = Some(cache_control);
    }

    fn is_result(&self) -> bool {
        matches!(self.content, Content::Result { .. })
    }
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: String,
}

impl Serialize for Block<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Content::Thinking(raw) = self.content {
            return raw.serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        match &self.content {
            Content::Text(text) => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
            }
            Content::Image { mime, data } => {
                let data = STANDARD.encode(data);
                map.serialize_entry("type", "image")?;
                map.serialize_entry(
                    "source",
                    &Source { r#type: "base64", media_type: mime, data },
                )?;
            }
            Content::Call { id, call } => {
                map.serialize_entry("type", "tool_use")?;
                map.serialize_entry("id", id)?;
                map.serialize_entry("name", &call.name)?;
                map.serialize_entry("input", &Arguments(call))?;
            }
            Content::Result { id, text, images, failed } => {
                map.serialize_entry("type", "tool_result")?;
                map.serialize_entry("tool_use_id", id)?;
                let says = !text.trim().is_empty();
                if !images.is_empty() {
                    let text = says.then(|| Block::new(Content::Text(Cow::Borrowed(text))));
                    let blocks: Vec<_> = text.iter().chain(images).collect();
                    map.serialize_entry("content", &blocks)?;
                } else if says {
                    map.serialize_entry("content", text)?;
                }
                if *failed {
                    map.serialize_entry("is_error", &true)?;
                }
            }
            Content::Thinking(_) => {}
        }
        if let Some(cache_control) = &self.cache_control {
            map.serialize_entry("cache_control", cache_control)?;
        }
        map.end()
    }
}

/// The ids of calls as the protocol accepts them: of letters, digits, `_` and `-`, and each once.
/// Other servers have others, and some count from the beginning in each reply.
#[derive(Default)]
struct Ids {
    times: HashMap<String, u32>,
    now: HashMap<String, String>,
}

impl Ids {
    fn of_call(&mut self, id: &str) -> String {
        let mut clean: String = id
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
            .collect();
        if clean.is_empty() {
            clean.push('_');
        }
        let times = self.times.entry(clean.clone()).or_default();
        *times += 1;
        if *times > 1 {
            clean = format!("{clean}__{times}");
        }
        self.now.insert(id.to_owned(), clean.clone());
        clean
    }

    /// The id of the latest call that had it.
    fn of_result(&mut self, id: &str) -> String {
        let known = self.now.get(id).cloned();
        known.unwrap_or_else(|| self.of_call(id))
    }
}

/// The system prompt, and all messages.
pub(super) fn all<'a>(
    messages: &'a [Arc<Message>],
    data_of: Option<&Recipient>,
    prefill: bool,
) -> (Option<String>, Vec<WireMessage<'a>>) {
    let leads = messages.iter().take_while(|message| message.role == Role::System).count();
    let (first, rest) = messages.split_at(leads);
    let system: Vec<_> = first.iter().map(|message| prose::text(message)).collect();
    let system = system.join("\n\n");
    let mut out: Vec<WireMessage<'a>> = Vec::new();
    let mut ids = Ids::default();
    for message in rest {
        let (role, blocks) = match message.role {
            Role::Ui => continue,
            Role::Assistant => ("assistant", of_assistant(message, data_of, &mut ids)),
            Role::Tool => ("user", of_tools(message, &mut ids)),
            Role::User | Role::System => ("user", of_user(message)),
        };
        if blocks.is_empty() {
            continue;
        }
        match out.last_mut() {
            Some(last) if last.role == role => last.content.extend(blocks),
            _ => out.push(WireMessage { role, content: blocks }),
        }
    }
    for message in out.iter_mut().filter(|message| message.role == "user") {
        // Results must come first; what stands between them keeps its order.
        message.content.sort_by_key(|block| !block.is_result());
    }
    let go_on =
        || WireMessage { role: "user", content: vec![Block::new(Content::Text(GO_ON.into()))] };
    if out.first().is_none_or(|first| first.role == "assistant") {
        out.insert(0, go_on());
    }
    if let Some(last) = out.last_mut().filter(|last| last.role == "assistant") {
        if prefill {
            trim(last);
        } else {
            out.push(go_on());
        }
    }
    (Some(system).filter(|system| !system.trim().is_empty()), out)
}

/// Without white space at the end, which is refused of the model's words at the end of a conversation.
fn trim(message: &mut WireMessage<'_>) {
    if let Some(Block { content: Content::Text(text), .. }) = message.content.last_mut() {
        *text = Cow::Owned(text.trim_end().to_owned());
    }
}

/// A text's block; none of a text without letters, which is refused.
fn text(text: Cow<'_, str>) -> Option<Block<'_>> {
    (!text.trim().is_empty()).then(|| Block::new(Content::Text(text)))
}

fn image(part: &Part) -> Option<Block<'_>> {
    match part {
        Part::Image { mime, data } => Some(Block::new(Content::Image { mime, data })),
        _ => None,
    }
}

fn of_user(message: &Message) -> Vec<Block<'_>> {
    let images = message.parts.iter().filter_map(image);
    images.chain(text(prose::text(message))).collect()
}

fn of_assistant<'a>(
    message: &'a Message,
    data_of: Option<&Recipient>,
    ids: &mut Ids,
) -> Vec<Block<'a>> {
    let blocks = message.parts.iter().filter_map(|part| match part {
        Part::Text(words) => text(Cow::Borrowed(words)),
        Part::Thinking { provider: Some(data), .. } => {
            let raw = serde_json::from_str(data_of?.json(data)?).ok()?;
            Some(Block::new(Content::Thinking(raw)))
        }
        Part::ToolCall(call) => {
            Some(Block::new(Content::Call { id: ids.of_call(call.id.as_str()), call }))
        }
        _ => None,
    });
    let mut blocks: Vec<_> = blocks.collect();
    // Thoughts alone are no message.
    if blocks.iter().all(|block| matches!(block.content, Content::Thinking(_))) {
        blocks.clear();
    }
    blocks
}

/// The results of tools, each with the pictures that follow it.
fn of_tools<'a>(message: &'a Message, ids: &mut Ids) -> Vec<Block<'a>> {
    let mut out: Vec<Block<'a>> = Vec::new();
    let mut before: Vec<Block<'a>> = Vec::new();
    for part in &message.parts {
        match part {
            Part::ToolResult(result) => out.push(Block::new(Content::Result {
                id: ids.of_result(result.call.as_str()),
                text: &result.text,
                images: std::mem::take(&mut before),
                failed: result.failed,
            })),
            part => {
                let Some(image) = image(part) else { continue };
                match out.last_mut() {
                    Some(Block { content: Content::Result { images, .. }, .. }) => {
                        images.push(image);
                    }
                    _ => before.push(image),
                }
            }
        }
    }
    out.extend(before);
    out
}
