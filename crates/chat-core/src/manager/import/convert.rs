//! Makes sessions of the chats in exports. What these say is data: nothing is allowed by it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chat_import::{
    ChatFault, ImportedChat, ImportedMessage, ImportedPart, ImportedRole, Missing, NatterChat,
    Program,
};
use chat_permission::Mode;
use jiff::Timestamp;

use super::MissingParts;
use crate::agent::DEFAULT;
use crate::message::{
    Ending, Message, MessageId, ModelRef, Part, Role, SessionMeta, ToolCall, ToolCallId, ToolResult,
};
use crate::session::title_from_text;
use crate::store::{ImportSource, NewImport, SessionExport};

/// The version of Natter's export that has no head, because it has the shown branch alone.
const WITHOUT_HEAD: u32 = 1;

/// A session of a chat that Natter exported.
pub(super) fn of_natter(chat: &NatterChat) -> Result<NewImport, ChatFault> {
    let export: SessionExport = serde_json::from_slice(&chat.json)?;
    let mut known = HashSet::new();
    let messages = export.messages.iter().filter(|message| known.insert(message.id));
    let messages: Vec<_> = messages.collect();
    let ids: HashMap<_, _> = messages.iter().map(|it| (it.id, MessageId::new())).collect();
    let new_id = |id: MessageId| ids.get(&id).copied();
    let mut copies: Vec<_> = messages.iter().map(|it| it.copy_as(ids[&it.id], new_id)).collect();
    for message in &mut copies {
        // Nobody writes it any more.
        message.ended.get_or_insert(Ending::Interrupted);
    }
    break_rings(&mut copies);
    let last = copies.last().map(|message| message.id);
    let head = match export.head {
        Some(head) => new_id(head).or(last),
        None if export.natter_export == WITHOUT_HEAD => last,
        None => None,
    };
    // A file gives no tool leave to do anything.
    let mode = if export.mode == Mode::Plan { Mode::Plan } else { Mode::Ask };
    let own = Some((export.fid, export.created));
    Ok(NewImport {
        source: ImportSource { id: source_id(Program::Natter, &chat.source_id), own },
        meta: SessionMeta {
            title: export.title,
            agent: export.agent,
            model: export.model,
            thinking: export.thinking,
            options: export.options,
            instructions: export.instructions,
            project: export.project,
            mode,
            pinned: export.pinned,
            archived: export.archived,
            created: export.created,
            updated: export.updated,
            ..SessionMeta::default()
        },
        head,
        messages: copies,
    })
}

/// A session of another program's chat. It has no model: that is not there.
pub(super) fn of_program(program: Program, chat: ImportedChat) -> Result<NewImport, ChatFault> {
    let known_time = chat.messages.iter().find_map(|message| message.time);
    let created = chat.created.or(known_time).or(chat.updated).unwrap_or_else(Timestamp::now);
    let (messages, ids) = messages_of(program, chat.messages, created);
    let last = messages.last().ok_or(ChatFault::Empty)?;
    let newest = messages.iter().map(|message| message.time).max();
    let head = chat.head.and_then(|head| ids.get(&head).copied().flatten());
    Ok(NewImport {
        source: ImportSource { id: source_id(program, &chat.source_id), own: None },
        meta: SessionMeta {
            title: title(program, &chat.title, &messages),
            agent: DEFAULT.to_owned(),
            created,
            updated: chat.updated.or(newest).unwrap_or(created),
            ..SessionMeta::default()
        },
        head: head.or(Some(last.id)),
        messages,
    })
}

/// What is missing in the messages that are taken over.
pub(super) fn missing_parts(chat: &ImportedChat) -> MissingParts {
    let taken = chat.messages.iter().filter(|message| message.role != ImportedRole::System);
    let mut missing = MissingParts::default();
    for part in taken.flat_map(|message| &message.parts) {
        match part {
            ImportedPart::Missing(Missing::File { .. }) => missing.files += 1,
            ImportedPart::Missing(Missing::Content { .. }) => missing.contents += 1,
            _ => {}
        }
    }
    missing
}

fn source_id(program: Program, id: &str) -> String {
    format!("{}:{id}", program.name())
}

fn title(program: Program, title: &str, messages: &[Message]) -> String {
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    if !title.is_empty() {
        return title;
    }
    let said = messages.iter().filter(|message| message.role == Role::User);
    let mut said = said.map(|message| title_from_text(&message.plain_text()));
    said.find(|title| !title.is_empty()).unwrap_or_else(|| program.title().to_owned())
}

/// The messages, and which one each became. Instructions are the other program's to its model, and are left out: what
/// follows them follows what stood before.
fn messages_of(
    program: Program,
    imported: Vec<ImportedMessage>,
    begun: Timestamp,
) -> (Vec<Message>, HashMap<String, Option<MessageId>>) {
    let mut ids: HashMap<String, Option<MessageId>> = HashMap::new();
    let (mut messages, mut last) = (Vec::new(), begun);
    for message in imported {
        let parent = message.parent.and_then(|parent| ids.get(&parent).copied().flatten());
        let role = match message.role {
            ImportedRole::System => {
                ids.insert(message.id, parent);
                continue;
            }
            ImportedRole::User => Role::User,
            ImportedRole::Assistant => Role::Assistant,
            ImportedRole::Tool => Role::Tool,
        };
        let id = MessageId::new();
        ids.insert(message.id, Some(id));
        last = message.time.unwrap_or(last);
        messages.push(Message {
            id,
            parent,
            role,
            parts: parts_of(message.parts),
            time: last,
            ended: Some(Ending::Complete),
            error: None,
            model: message.model.map(|model| ModelRef::new(program.title(), model)),
            usage: None,
            continues: None,
        });
    }
    (messages, ids)
}

/// The parts. Texts beside each other become one, of several paragraphs: they are read and searched as one.
fn parts_of(imported: Vec<ImportedPart>) -> Vec<Part> {
    let mut parts = Vec::new();
    for part in imported {
        let part = match part {
            ImportedPart::Text(text) => Part::Text(text),
            ImportedPart::Missing(missing) => Part::Text(missing.to_string()),
            ImportedPart::Thinking { text, took } => Part::Thinking { text, took, provider: None },
            ImportedPart::Image { mime, data } => {
                Part::Image { mime: mime.to_owned(), data: Arc::from(data) }
            }
            ImportedPart::File { name, text } => Part::File { name, text },
            ImportedPart::Context(text) => Part::Context { text },
            ImportedPart::ToolCall { id, name, arguments } => {
                Part::ToolCall(ToolCall::new(ToolCallId::new(id), name, arguments))
            }
            ImportedPart::ToolResult { call, name, text, failed } => {
                let call = ToolCall::new(ToolCallId::new(call), name, serde_json::Value::Null);
                Part::ToolResult(ToolResult::to(&call, text, failed))
            }
        };
        match (parts.last_mut(), part) {
            (Some(Part::Text(before)), Part::Text(text)) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            (_, part) => parts.push(part),
        }
    }
    parts
}

/// Has messages begin a branch that follow themselves: no export has such, but a file can.
fn break_rings(messages: &mut [Message]) {
    let parents: HashMap<_, _> = messages.iter().map(|it| (it.id, it.parent)).collect();
    // From these there is a way to a beginning.
    let mut sound = HashSet::new();
    for message in messages {
        let (mut walked, mut at) = (HashSet::new(), Some(message.id));
        while let Some(id) = at.filter(|id| !sound.contains(id)) {
            if !walked.insert(id) {
                break;
            }
            at = parents.get(&id).copied().flatten();
        }
        match at.filter(|id| !sound.contains(id)) {
            // It follows a ring, of which a message is cut off when it comes to that.
            Some(id) if id != message.id => continue,
            Some(_) => message.parent = None,
            None => {}
        }
        sound.extend(walked);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_follows_itself() {
        let mut messages: Vec<_> = (0..5).map(|_| Message::text(Role::User, None, "x")).collect();
        let ids: Vec<_> = messages.iter().map(|message| message.id).collect();
        // The first follows a ring of three; the last is sound.
        for (at, parent) in [(0, 1), (1, 2), (2, 3), (3, 1)] {
            messages[at].parent = Some(ids[parent]);
        }
        break_rings(&mut messages);
        let parents: Vec<_> = messages.iter().map(|it| it.parent).collect();
        assert_eq!(parents, [Some(ids[1]), None, Some(ids[3]), Some(ids[1]), None]);
    }

    #[test]
    fn texts_beside_each_other_are_paragraphs_and_what_is_missing_is_one() {
        let missing = Missing::File { name: "a.pdf".to_owned() };
        let parts = parts_of(vec![
            ImportedPart::Text("See".to_owned()),
            ImportedPart::Missing(missing.clone()),
            ImportedPart::Context("c".to_owned()),
            ImportedPart::Text("end".to_owned()),
        ]);
        let context = Part::Context { text: "c".to_owned() };
        let text = |text: &str| Part::Text(text.to_owned());
        assert_eq!(parts, [text(&format!("See\n\n{missing}")), context, text("end")]);
    }
}
