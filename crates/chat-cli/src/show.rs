//! Runs `natter-cli show` and `export`: a stored chat as text, Markdown or JSON.

mod entries;
mod markdown;
mod numbers;
mod plain;

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use chat_core::event::SessionPlaceholder;
use chat_core::message::{Fid, Message};
use chat_core::tool::Toolbox;
use serde::Serialize;

use crate::args;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output::json::MessageView;
use crate::output::{Calls, lines_of};
use crate::say;
use crate::sessions;
use crate::terminal;

pub use numbers::numbers;

/// A stored chat in memory.
struct Chat {
    session: SessionPlaceholder,
    messages: Vec<Arc<Message>>,
    /// The tools that it may have called.
    tools: Toolbox,
}

/// Prints a chat.
pub async fn show(args: args::Show, program: &Program) -> Result<Outcome> {
    let chat = read(&args.fid, program).await?;
    let terminal = program.terminal;
    let text = if args.json {
        json(&chat)
    } else if args.markdown {
        terminal.clean_output(&markdown::write(&chat)).into_owned()
    } else {
        plain::write(&chat, terminal)
    };
    program.output.print(text).await?;
    Ok(Outcome::Done)
}

/// Exports a chat with everything that is stored about it, or all chats to a folder.
pub async fn export(args: args::Export, program: &Program) -> Result<Outcome> {
    let Some(fid) = &args.fid else { return export_all(&args, program).await };
    let text = exported(fid, args.markdown, program).await?;
    match args.output {
        None => program.output.print(program.terminal.clean_output(&text).into_owned()).await?,
        Some(path) => write_out(&path, &text, args.force)?,
    }
    Ok(Outcome::Done)
}

/// Writes each chat to a file of its own in the output folder. What agents reported is in their chat.
async fn export_all(args: &args::Export, program: &Program) -> Result<Outcome> {
    let folder = args.output.as_deref().unwrap_or(Path::new("."));
    let ending = if args.markdown { "md" } else { "json" };
    let rows = program.manager.sessions().list().await?;
    let chats = rows.into_iter().filter(|row| row.parent.is_none());
    let chats: Vec<_> =
        chats.map(|row| (folder.join(format!("{}.{ending}", row.fid)), row.meta.fid)).collect();
    // Before anything is written.
    if let Some((there, _)) = chats.iter().find(|(path, _)| !args.force && path.exists()) {
        return Err(CliError::Said(say::file_exists(there)));
    }
    std::fs::create_dir_all(folder)
        .map_err(|error| CliError::Said(say::not_written(folder, &error.to_string())))?;
    for (path, fid) in &chats {
        write_out(path, &exported(fid.as_str(), args.markdown, program).await?, args.force)?;
    }
    terminal::say(&format!("{}\n", terminal::clean(&say::exported_chats(chats.len(), folder))));
    Ok(Outcome::Done)
}

/// A chat as Markdown, or as JSON with all that is stored of it.
async fn exported(fid: &str, as_markdown: bool, program: &Program) -> Result<String> {
    if as_markdown {
        return Ok(markdown::write(&read(fid, program).await?));
    }
    Ok(lines_of(&program.manager.sessions().export(&Fid::new(fid)).await?))
}

fn write_out(path: &Path, text: &str, over: bool) -> Result<()> {
    write(path, text, over).map_err(|error| {
        CliError::Said(match error.kind() {
            io::ErrorKind::AlreadyExists => say::file_exists(path),
            _ => say::not_written(path, &error.to_string()),
        })
    })
}

/// Writes a chat as Markdown, to a new file or to the output.
pub async fn export_markdown(fid: &str, path: Option<&Path>, program: &Program) -> Result<()> {
    let text = markdown::write(&read(fid, program).await?);
    let Some(path) = path else {
        return program.output.print(program.terminal.clean_output(&text).into_owned()).await;
    };
    write(path, &text, false).map_err(|error| {
        CliError::Said(match error.kind() {
            io::ErrorKind::AlreadyExists => say::export_exists(path),
            _ => say::not_written(path, &error.to_string()),
        })
    })
}

/// Writes a file completely or not at all; overwrites an existing one only if that is wanted.
fn write(path: &Path, text: &str, over: bool) -> io::Result<()> {
    match File::create_new(path) {
        Ok(mut file) => return file.write_all(text.as_bytes()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && over => {}
        Err(error) => return Err(error),
    }
    let path = path.canonicalize()?;
    let there = path.metadata()?;
    if !there.is_file() {
        // Devices and pipes cannot be replaced, only written to.
        return File::options().write(true).open(path)?.write_all(text.as_bytes());
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut file = tempfile::Builder::new().prefix(".natter-").tempfile_in(folder)?;
    file.as_file().set_permissions(there.permissions())?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

async fn read(fid: &str, program: &Program) -> Result<Chat> {
    let fid = Fid::new(fid);
    let subscription = program.manager.subscribe();
    let session = program.manager.sessions().open(&fid, 1, &subscription).await?.session;
    let messages = program.manager.sessions().transcript(&fid).await?;
    Ok(Chat { session, messages, tools: program.manager.tools() })
}

/// A chat as JSON: its entry in the list, with its messages.
#[derive(Serialize)]
struct View<'a> {
    #[serde(flatten)]
    session: sessions::View<'a>,
    messages: Vec<MessageView<'a>>,
}

fn json(chat: &Chat) -> String {
    let mut calls = Calls::new(chat.tools.clone());
    let messages = chat.messages.iter().map(|message| {
        calls.add_all(message);
        MessageView::new(message, &calls)
    });
    let messages = messages.collect();
    lines_of(&View { session: sessions::View::new(&chat.session), messages })
}
