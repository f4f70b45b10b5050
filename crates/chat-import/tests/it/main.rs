//! Reads exports of each program. All are written by hand, after the form that such exports have.

mod archives;
mod large;
mod programs;

use std::ops::ControlFlow;
use std::path::Path;

use chat_import::{ExportFault, Found, ImportedChat, ImportedPart, Item, Program};

/// All chats of a file or folder.
fn read(path: &Path) -> (Vec<Item>, Result<Found, ExportFault>) {
    let mut items = Vec::new();
    let found = chat_import::read(path, &mut |item, _| {
        items.push(item);
        ControlFlow::Continue(())
    });
    (items, found)
}

/// All chats of a file that holds this.
fn read_text(text: &str) -> (Vec<Item>, Result<Found, ExportFault>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("any name");
    std::fs::write(&path, text).unwrap();
    read(&path)
}

fn only(items: Vec<Item>, from: Program) -> ImportedChat {
    let [Item::Chat { program, chat, .. }] = <[Item; 1]>::try_from(items).unwrap() else {
        panic!("no chat of another program")
    };
    assert_eq!(program, from);
    *chat
}

/// Each message as `parent>id role: parts`.
fn outline(chat: &ImportedChat) -> Vec<String> {
    let part = |part: &ImportedPart| match part {
        ImportedPart::Text(text) => text.clone(),
        ImportedPart::Thinking { text, took } => {
            format!("({text} {})", took.map_or(0, |took| took.as_secs()))
        }
        ImportedPart::Image { mime, data } => format!("<{mime} {}>", data.len()),
        ImportedPart::File { name, text } => format!("<{name}: {text}>"),
        ImportedPart::Context(text) => format!("[{text}]"),
        ImportedPart::ToolCall { id, name, arguments } => format!("{id}={name}{arguments}"),
        ImportedPart::ToolResult { call, name, text, failed } => {
            format!("{call}={name}: {text}{}", if *failed { "!" } else { "" })
        }
        ImportedPart::Missing(missing) => missing.to_string(),
    };
    let line = |message: &chat_import::ImportedMessage| {
        let parts: Vec<_> = message.parts.iter().map(part).collect();
        let parent = message.parent.as_deref().unwrap_or_default();
        format!("{parent}>{} {:?}: {}", message.id, message.role, parts.join(" | "))
    };
    chat.messages.iter().map(line).collect()
}
