//! Reads a chat of `ChatGPT`'s export: a tree of nodes, some of which hold no message.

use std::collections::{BTreeMap, HashMap, HashSet};
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
    conversation_id: Option<String>,
    /// The same in exports that have both.
    id: Option<String>,
    title: Option<String>,
    create_time: Option<f64>,
    update_time: Option<f64>,
    default_model_slug: Option<String>,
    current_node: Option<String>,
    mapping: BTreeMap<String, Node>,
}

#[derive(Deserialize)]
struct Node {
    message: Option<Message>,
    parent: Option<String>,
    #[serde(default)]
    children: Vec<String>,
}

#[derive(Deserialize)]
struct Message {
    author: Author,
    create_time: Option<f64>,
    #[serde(default)]
    content: Value,
    #[serde(default)]
    metadata: Value,
    recipient: Option<String>,
}

#[derive(Deserialize)]
struct Author {
    role: String,
    name: Option<String>,
}

pub(crate) fn read(json: &[u8], files: &mut dyn Files) -> Result<ImportedChat, ChatFault> {
    let chat: Chat = serde_json::from_slice(json)?;
    let id = chat.conversation_id.or(chat.id);
    let order = order(&chat.mapping);
    let mut reader =
        Reader { messages: Vec::new(), ends: HashMap::new(), calls: HashMap::new(), files };
    let mut nodes = chat.mapping;
    for (id, parent, is_only_child) in order {
        if let Some(node) = nodes.remove(&id) {
            reader.node(id, node.message, parent, is_only_child);
        }
    }
    let Reader { messages, ends, .. } = reader;
    let messages = tree::order(messages);
    let last = messages.last().ok_or(ChatFault::Empty)?.id.clone();
    let head = chat.current_node.and_then(|node| ends.get(&node).cloned().flatten());
    let created = chat.create_time.and_then(time);
    Ok(ImportedChat {
        // Old exports name no id. The time of the beginning is the next best.
        source_id: id
            .or_else(|| created.map(|time| time.to_string()))
            .unwrap_or_else(|| last.clone()),
        title: chat.title.unwrap_or_default(),
        created,
        updated: chat.update_time.and_then(time),
        model: messages.iter().rev().find_map(|it| it.model.clone()).or(chat.default_model_slug),
        messages,
        head: Some(head.unwrap_or(last)),
    })
}

/// All nodes, each after its parent, with that and whether it is its only child.
fn order(nodes: &BTreeMap<String, Node>) -> Vec<(String, Option<String>, bool)> {
    let mut children: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut placed = HashSet::new();
    for (id, node) in nodes {
        for child in node.children.iter().filter(|child| nodes.contains_key(*child)) {
            if child != id && placed.insert(child.as_str()) {
                children.entry(id).or_default().push(child);
            }
        }
    }
    for (id, node) in nodes {
        if let Some(parent) = node.parent.as_deref().filter(|parent| nodes.contains_key(*parent))
            && parent != id
            && placed.insert(id)
        {
            children.entry(parent).or_default().push(id);
        }
    }
    let mut seen = HashSet::new();
    let mut out = Vec::with_capacity(nodes.len());
    let roots = nodes.keys().filter(|id| !placed.contains(id.as_str()));
    // Those that follow each other in a ring begin somewhere.
    for root in roots.chain(nodes.keys()) {
        let mut stack = vec![(root.as_str(), None, true)];
        while let Some((id, parent, is_only_child)) = stack.pop() {
            if !seen.insert(id) {
                continue;
            }
            out.push((id.to_owned(), parent, is_only_child));
            let below = children.get(id).map(Vec::as_slice).unwrap_or_default();
            let parent = Some(id.to_owned());
            stack
                .extend(below.iter().rev().map(|child| (*child, parent.clone(), below.len() == 1)));
        }
    }
    out
}

struct Reader<'a> {
    messages: Vec<ImportedMessage>,
    /// The message that each node has become a part of; none above the first.
    ends: HashMap<String, Option<String>>,
    /// The last call of a tool up to each message, with the tool.
    calls: HashMap<String, (String, String)>,
    files: &'a mut dyn Files,
}

impl Reader<'_> {
    fn node(&mut self, id: String, message: Option<Message>, parent: Option<String>, only: bool) {
        let above = parent.and_then(|parent| self.ends.get(&parent).cloned().flatten());
        let Some(message) = message else {
            self.ends.insert(id, above);
            return;
        };
        let role = match message.author.role.as_str() {
            "user" => ImportedRole::User,
            "assistant" => ImportedRole::Assistant,
            "tool" => ImportedRole::Tool,
            _ => ImportedRole::System,
        };
        let model = message.metadata["model_slug"].as_str().map(str::to_owned);
        let model = model.filter(|_| role == ImportedRole::Assistant);
        let call = above.as_ref().and_then(|above| self.calls.get(above)).cloned();
        let parts = self.parts(&id, role, &message, call.as_ref());
        if parts.is_empty() {
            self.ends.insert(id, above);
            return;
        }
        let called = parts.iter().find_map(|part| match part {
            ImportedPart::ToolCall { id, name, .. } => Some((id.clone(), name.clone())),
            _ => None,
        });
        let called = called.or(call);
        // The model's thoughts, text and calls stand in one message, as long as nothing branches off between them.
        let last = self.messages.iter_mut().rev().find(|it| Some(&it.id) == above.as_ref());
        if let Some(last) = last
            && only
            && role == ImportedRole::Assistant
            && last.role == role
            && !matches!(last.parts.last(), Some(ImportedPart::ToolCall { .. }))
        {
            add(&mut last.parts, parts);
            last.model = model.or(last.model.take());
            if let Some(called) = called {
                self.calls.insert(last.id.clone(), called);
            }
            self.ends.insert(id, above);
            return;
        }
        if let Some(called) = called {
            self.calls.insert(id.clone(), called);
        }
        self.ends.insert(id.clone(), Some(id.clone()));
        let mut own = Vec::new();
        add(&mut own, parts);
        let time = message.create_time.and_then(time);
        self.messages.push(ImportedMessage { id, parent: above, role, parts: own, time, model });
    }

    fn parts(
        &mut self,
        id: &str,
        role: ImportedRole,
        message: &Message,
        call: Option<&(String, String)>,
    ) -> Vec<ImportedPart> {
        let content = &message.content;
        let kind = content["content_type"].as_str().unwrap_or_default();
        let mut parts = Vec::new();
        let mut named = HashSet::new();
        match kind {
            "text" | "multimodal_text" => {
                for part in content["parts"].as_array().into_iter().flatten() {
                    parts.extend(self.part(part, &mut named));
                }
            }
            "code" => {
                let text = content["text"].as_str().unwrap_or_default();
                let tool = message.recipient.as_deref().filter(|it| !matches!(*it, "all" | ""));
                parts.extend(match tool {
                    Some(tool) if role == ImportedRole::Assistant => Some(ImportedPart::ToolCall {
                        id: id.to_owned(),
                        name: tool.to_owned(),
                        arguments: serde_json::from_str(text)
                            .ok()
                            .filter(Value::is_object)
                            .unwrap_or_else(|| serde_json::json!({ "code": text })),
                    }),
                    _ => said(&fenced(content["language"].as_str(), text)),
                });
            }
            "thoughts" => {
                let thoughts = content["thoughts"].as_array().into_iter().flatten();
                let texts: Vec<_> = thoughts
                    .map(|thought| {
                        let text = |name: &str| thought[name].as_str().unwrap_or_default();
                        [text("summary"), text("content")].join("\n\n").trim().to_owned()
                    })
                    .filter(|text| !text.is_empty())
                    .collect();
                if !texts.is_empty() {
                    parts.push(ImportedPart::Thinking { text: texts.join("\n\n"), took: None });
                }
            }
            "reasoning_recap" => {
                let took = message.metadata["finished_duration_sec"].as_f64();
                let took = took.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
                let text = content["content"].as_str().unwrap_or_default().to_owned();
                parts.push(ImportedPart::Thinking { text, took });
            }
            "user_editable_context" | "model_editable_context" => {
                let texts = ["user_profile", "user_instructions", "model_set_context"];
                let texts: Vec<_> =
                    texts.iter().filter_map(|name| content[*name].as_str()).collect();
                parts.extend(
                    Some(texts.join("\n\n"))
                        .filter(|text| !text.trim().is_empty())
                        .map(ImportedPart::Context),
                );
            }
            "execution_output" | "tether_quote" | "tether_browsing_display" | "system_error" => {
                let text = content["text"].as_str().or(content["result"].as_str());
                parts.extend(said(text.unwrap_or_default()));
            }
            _ if content.is_null() => {}
            _ => match content["text"].as_str().and_then(said) {
                Some(text) => parts.push(text),
                None => {
                    parts.push(ImportedPart::Missing(Missing::Content { kind: kind.to_owned() }));
                }
            },
        }
        for file in message.metadata["attachments"].as_array().into_iter().flatten() {
            let id = file["id"].as_str().unwrap_or_default();
            if named.insert(id.to_owned()) {
                let name = file["name"].as_str().unwrap_or(id);
                parts.push(media::part(name, self.files.find(id)));
            }
        }
        if role == ImportedRole::Tool { answer(parts, message, call, kind) } else { parts }
    }

    /// A part of a message that may have pictures.
    fn part(&mut self, part: &Value, named: &mut HashSet<String>) -> Option<ImportedPart> {
        if let Some(text) = part.as_str() {
            return said(text);
        }
        let kind = part["content_type"].as_str().unwrap_or_default();
        if let Some(pointer) = part["asset_pointer"].as_str() {
            let id = pointer.rsplit("://").next().unwrap_or(pointer);
            let id = id.split(['#', '?']).next().unwrap_or(id);
            named.insert(id.to_owned());
            return Some(media::part(id, self.files.find(id)));
        }
        // What was said aloud.
        part["text"]
            .as_str()
            .and_then(said)
            .or_else(|| Some(ImportedPart::Missing(Missing::Content { kind: kind.to_owned() })))
    }
}

/// What a tool answered: the texts as the result of the last call, and pictures as they are. Without a call the model
/// has said it.
fn answer(
    parts: Vec<ImportedPart>,
    message: &Message,
    call: Option<&(String, String)>,
    kind: &str,
) -> Vec<ImportedPart> {
    let Some((call, tool)) = call else { return parts };
    let (mut texts, mut rest) = (Vec::new(), Vec::new());
    for part in parts {
        match part {
            ImportedPart::Text(text) => texts.push(text),
            ImportedPart::Missing(missing) => texts.push(missing.to_string()),
            part => rest.push(part),
        }
    }
    if texts.is_empty() && rest.is_empty() {
        return rest;
    }
    let mut out = vec![ImportedPart::ToolResult {
        call: call.clone(),
        name: message.author.name.clone().unwrap_or_else(|| tool.clone()),
        text: texts.join("\n"),
        failed: kind == "system_error",
    }];
    out.append(&mut rest);
    out
}

/// Adds parts. How long the model thought is a part of its own there, and belongs to the thoughts.
fn add(parts: &mut Vec<ImportedPart>, more: Vec<ImportedPart>) {
    for part in more {
        match (parts.last_mut(), part) {
            (
                Some(ImportedPart::Thinking { took: known @ None, .. }),
                ImportedPart::Thinking { took: Some(took), .. },
            ) => *known = Some(took),
            (_, part) => parts.push(part),
        }
    }
}

fn said(text: &str) -> Option<ImportedPart> {
    (!text.is_empty()).then(|| ImportedPart::Text(text.to_owned()))
}

fn fenced(language: Option<&str>, text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let language = language.filter(|it| *it != "unknown").unwrap_or_default();
    format!("{fence}{language}\n{text}\n{fence}")
}

/// A time in seconds since 1970, exact to the microsecond.
fn time(seconds: f64) -> Option<Timestamp> {
    Timestamp::from_microsecond((seconds * 1e6).round() as i64).ok()
}
