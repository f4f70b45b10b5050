//! Reads a chat of Claude's export.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use crate::chat::{ImportedChat, ImportedMessage, ImportedPart, ImportedRole, Missing};
use crate::fault::ChatFault;
use crate::media;
use crate::source::Files;
use crate::tree;

#[derive(Deserialize)]
struct Chat {
    uuid: String,
    #[serde(default)]
    name: Option<String>,
    created_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    #[serde(default)]
    model: Option<String>,
    current_leaf_message_uuid: Option<String>,
    #[serde(rename = "chat_messages")]
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    uuid: String,
    parent_message_uuid: Option<String>,
    sender: String,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    content: Option<Vec<Value>>,
    created_at: Option<Timestamp>,
    #[serde(default)]
    attachments: Option<Vec<Attachment>>,
    #[serde(default)]
    files: Option<Vec<Attachment>>,
}

#[derive(Deserialize)]
struct Attachment {
    file_name: Option<String>,
    file_uuid: Option<String>,
    extracted_content: Option<String>,
}

pub(crate) fn read(json: &[u8], files: &mut dyn Files) -> Result<ImportedChat, ChatFault> {
    let chat: Chat = serde_json::from_slice(json)?;
    let has_tree = chat.messages.iter().any(|message| message.parent_message_uuid.is_some());
    let ids: HashSet<_> = chat.messages.iter().map(|message| message.uuid.clone()).collect();
    let mut messages = Vec::new();
    let mut previous: Option<String> = None;
    // The last piece of each message, which those after it follow.
    let mut ends = HashMap::new();
    for message in chat.messages {
        let parent = if has_tree {
            message.parent_message_uuid.clone().filter(|parent| ids.contains(parent))
        } else {
            previous.clone()
        };
        let id = message.uuid.clone();
        let pieces = pieces(message, parent, chat.model.as_deref(), files);
        if let Some(last) = pieces.last() {
            ends.insert(id.clone(), last.id.clone());
        }
        messages.extend(pieces);
        previous = Some(id);
    }
    // Pieces after the first follow each other already.
    for message in messages.iter_mut().filter(|message| ids.contains(&message.id)) {
        if let Some(end) = message.parent.as_ref().and_then(|parent| ends.get(parent)) {
            message.parent = Some(end.clone());
        }
    }
    let leaf = chat.current_leaf_message_uuid.or(previous);
    let head = leaf.and_then(|leaf| ends.get(&leaf).cloned());
    let messages = tree::order(messages);
    if messages.is_empty() {
        return Err(ChatFault::Empty);
    }
    Ok(ImportedChat {
        source_id: chat.uuid,
        title: chat.name.unwrap_or_default(),
        created: chat.created_at,
        updated: chat.updated_at,
        model: chat.model,
        messages,
        head,
    })
}

/// A message as those that it stands for: results of tools are messages of their own, and the model goes on in another.
fn pieces(
    message: Message,
    parent: Option<String>,
    model: Option<&str>,
    files: &mut dyn Files,
) -> Vec<ImportedMessage> {
    let role = if message.sender == "human" { ImportedRole::User } else { ImportedRole::Assistant };
    let mut parts = Vec::new();
    let mut named = HashSet::new();
    for file in message.attachments.into_iter().chain(message.files).flatten() {
        let name = file.file_name.or(file.file_uuid.clone()).unwrap_or_default();
        if !named.insert(name.clone()) {
            continue;
        }
        let text = file.extracted_content.filter(|text| !text.is_empty());
        if let Some(text) = text {
            parts.push(ImportedPart::File { name, text });
        } else {
            let data = file.file_uuid.and_then(|id| files.find(&id));
            parts.push(media::part(&name, data.or_else(|| files.find(&name))));
        }
    }
    let blocks = message.content.unwrap_or_default();
    if blocks.is_empty() {
        parts.extend(message.text.filter(|text| !text.is_empty()).map(ImportedPart::Text));
    }
    let mut call = String::new();
    for (at, block) in blocks.iter().enumerate() {
        parts.extend(part(block, &format!("{}-{at}", message.uuid), &mut call));
    }
    let mut out: Vec<ImportedMessage> = Vec::new();
    for part in parts {
        let speaks = match part {
            ImportedPart::ToolResult { .. } => ImportedRole::Tool,
            _ => role,
        };
        match out.last_mut() {
            Some(last) if last.role == speaks => last.parts.push(part),
            last => {
                let parent = last.map_or_else(|| parent.clone(), |last| Some(last.id.clone()));
                let id = match out.len() {
                    0 => message.uuid.clone(),
                    at => format!("{}#{at}", message.uuid),
                };
                let model = model.filter(|_| speaks == ImportedRole::Assistant).map(str::to_owned);
                let (time, parts) = (message.created_at, vec![part]);
                out.push(ImportedMessage { id, parent, role: speaks, parts, time, model });
            }
        }
    }
    if out.is_empty() {
        let (id, time) = (message.uuid, message.created_at);
        let model = model.filter(|_| role == ImportedRole::Assistant).map(str::to_owned);
        out.push(ImportedMessage { id, parent, role, parts: Vec::new(), time, model });
    }
    out
}

/// A block. `own_id` is what a call without an id gets; `call` is the last one.
fn part(block: &Value, own_id: &str, call: &mut String) -> Option<ImportedPart> {
    let text = |name: &str| block[name].as_str().map(str::to_owned);
    let kind = block["type"].as_str().unwrap_or_default();
    Some(match kind {
        "text" => ImportedPart::Text(text("text").filter(|text| !text.is_empty())?),
        "thinking" => {
            let time = |name: &str| block[name].as_str()?.parse::<Timestamp>().ok();
            let took = time("start_timestamp")
                .zip(time("stop_timestamp"))
                .and_then(|(from, to)| Duration::try_from(to.duration_since(from)).ok());
            ImportedPart::Thinking { text: text("thinking").unwrap_or_default(), took }
        }
        "tool_use" => {
            *call = text("id").unwrap_or_else(|| own_id.to_owned());
            ImportedPart::ToolCall {
                id: call.clone(),
                name: text("name").unwrap_or_default(),
                arguments: block["input"].clone(),
            }
        }
        "tool_result" => ImportedPart::ToolResult {
            call: text("tool_use_id").unwrap_or_else(|| call.clone()),
            name: text("name").unwrap_or_default(),
            text: result_text(&block["content"]),
            failed: block["is_error"].as_bool().unwrap_or_default(),
        },
        // Says how much the model may write, and is nobody's words.
        "token_budget" => return None,
        _ => ImportedPart::Missing(Missing::Content { kind: kind.to_owned() }),
    })
}

/// What a tool answered. What is no text is given as it stands.
fn result_text(content: &Value) -> String {
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().map(|block| match block["text"].as_str() {
                Some(text) => text.to_owned(),
                None => block.to_string(),
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        other => other.to_string(),
    }
}
