//! Reads a chat of `OLLMchat`'s history. It stores what was shown beside what was sent, so that most texts stand twice.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::Value;

use crate::chat::{ImportedChat, ImportedMessage, ImportedPart, ImportedRole};
use crate::fault::ChatFault;
use crate::media;
use crate::source::Files;

#[derive(Deserialize)]
struct Chat {
    #[serde(default)]
    fid: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    model: String,
    #[serde(default, alias = "updated-at-timestamp")]
    updated_at_timestamp: i64,
    messages: Vec<Message>,
}

#[derive(Deserialize)]
struct Message {
    role: String,
    #[serde(default)]
    content: String,
    #[serde(default)]
    thinking: String,
    #[serde(default)]
    images: Vec<String>,
    #[serde(default, alias = "tool-calls")]
    tool_calls: Vec<Value>,
    #[serde(default, alias = "tool-call-id")]
    tool_call_id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    timestamp: String,
}

/// How ids and times are written.
const FID: &str = "%Y-%m-%d-%H-%M-%S";
const TIME: &str = "%Y-%m-%d %H:%M:%S";

pub(crate) fn read(json: &[u8], files: &mut dyn Files) -> Result<ImportedChat, ChatFault> {
    let chat: Chat = serde_json::from_slice(json)?;
    let created = local(&chat.fid, FID);
    let shows_typed = chat.messages.iter().any(|message| message.role == "user-sent");
    let mut out = Out { messages: Vec::new(), model: &chat.model, last: created };
    let (mut shown, mut shown_at) = (Vec::new(), None);
    for message in chat.messages {
        let time = local(&message.timestamp, TIME);
        match message.role.as_str() {
            // Pieces of what the whole message says, if it came that far.
            "think-stream" => {
                let text = message.content;
                shown.push(ImportedPart::Thinking { text, took: None });
                shown_at = shown_at.or(time);
            }
            "content-stream" | "content-non-stream" => {
                shown.push(ImportedPart::Text(message.content));
                shown_at = shown_at.or(time);
            }
            "assistant" => {
                shown.clear();
                out.push(ImportedRole::Assistant, reply(message, files), time);
            }
            "tool" => {
                let Message { tool_call_id: call, name, content: text, .. } = message;
                let failed = text.starts_with("ERROR: ");
                let result = ImportedPart::ToolResult { call, name, text, failed };
                out.push(ImportedRole::Tool, vec![result], time);
            }
            "system" => out.push(ImportedRole::System, texts(message.content), time),
            "user" | "user-sent" => {
                out.push(ImportedRole::Assistant, std::mem::take(&mut shown), shown_at.take());
                let is_typed = message.role == "user-sent" || !shows_typed;
                let mut parts = if is_typed {
                    texts(message.content)
                } else {
                    // The same once more, with what the model was told besides.
                    Vec::from([ImportedPart::Context(message.content)])
                };
                parts.extend(pictures(&message.images, files));
                out.person(parts, time);
            }
            // Notices of that program about itself, and marks for its own use.
            _ => {}
        }
    }
    out.push(ImportedRole::Assistant, shown, shown_at);
    let messages = out.messages;
    let last = messages.last().ok_or(ChatFault::Empty)?;
    let (head, end) = (Some(last.id.clone()), last.time);
    let updated = Timestamp::from_second(chat.updated_at_timestamp).ok();
    let updated = updated.filter(|_| chat.updated_at_timestamp > 0);
    Ok(ImportedChat {
        source_id: chat.fid,
        title: chat.title,
        created,
        updated: updated.or(end),
        model: Some(chat.model).filter(|model| !model.is_empty()),
        messages,
        head,
    })
}

struct Out<'a> {
    messages: Vec<ImportedMessage>,
    model: &'a str,
    last: Option<Timestamp>,
}

impl Out<'_> {
    fn push(&mut self, role: ImportedRole, parts: Vec<ImportedPart>, time: Option<Timestamp>) {
        if parts.is_empty() {
            return;
        }
        self.last = time.or(self.last);
        let is_reply = role == ImportedRole::Assistant && !self.model.is_empty();
        self.messages.push(ImportedMessage {
            id: self.messages.len().to_string(),
            parent: self.messages.last().map(|message| message.id.clone()),
            role,
            parts,
            time: self.last,
            model: is_reply.then(|| self.model.to_owned()),
        });
    }

    /// What the person wrote, and what the model was sent of it, are one message.
    fn person(&mut self, parts: Vec<ImportedPart>, time: Option<Timestamp>) {
        let last = self.messages.iter_mut().rev().find(|it| it.role != ImportedRole::System);
        match last {
            Some(last) if last.role == ImportedRole::User => {
                let is_new = |part: &ImportedPart| match part {
                    ImportedPart::Context(text) => {
                        !last.parts.contains(&ImportedPart::Text(text.clone()))
                    }
                    part => !last.parts.contains(part),
                };
                let new: Vec<_> = parts.into_iter().filter(is_new).collect();
                last.parts.extend(new);
            }
            _ => self.push(ImportedRole::User, parts, time),
        }
    }
}

fn reply(message: Message, files: &mut dyn Files) -> Vec<ImportedPart> {
    let mut parts = Vec::new();
    if !message.thinking.is_empty() {
        parts.push(ImportedPart::Thinking { text: message.thinking, took: None });
    }
    parts.extend(texts(message.content));
    parts.extend(pictures(&message.images, files));
    for call in message.tool_calls {
        let function = &call["function"];
        let arguments = &function["arguments"];
        parts.push(ImportedPart::ToolCall {
            id: call["id"].as_str().unwrap_or_default().to_owned(),
            name: function["name"].as_str().unwrap_or_default().to_owned(),
            arguments: arguments
                .as_str()
                .and_then(|text| serde_json::from_str(text).ok())
                .unwrap_or_else(|| arguments.clone()),
        });
    }
    parts
}

/// Pictures are named by where they lie. Only those in the export are read.
fn pictures(paths: &[String], files: &mut dyn Files) -> Vec<ImportedPart> {
    let name = |path: &String| path.rsplit('/').next().unwrap_or_default().to_owned();
    paths.iter().map(name).map(|name| media::part(&name, files.find(&name))).collect()
}

fn texts(text: String) -> Vec<ImportedPart> {
    if text.is_empty() { Vec::new() } else { vec![ImportedPart::Text(text)] }
}

fn local(text: &str, form: &str) -> Option<Timestamp> {
    let time = DateTime::strptime(form, text).ok()?;
    Some(time.to_zoned(TimeZone::system()).ok()?.timestamp())
}
