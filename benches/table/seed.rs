//! Chats that are there before anything is measured.

use std::fs;
use std::sync::Arc;

use anyhow::Result;
use chat_core::message::{Fid, Message, Role, SessionMeta};
use chat_core::settings::Folders;
use chat_core::store::{NewSession, Store};
use chat_testkit::server::text;
use chat_testkit::ui::Desktop;
use futures_util::future::try_join_all;

/// How many writes are under way at once: the store commits them in groups.
const TOGETHER: usize = 250;

/// Where the programs on this desktop keep everything.
pub fn folders(desktop: &Desktop) -> Folders {
    Folders {
        config: desktop.config().join("natter"),
        data: desktop.data().join("natter"),
        state: desktop.state().join("natter"),
        runtime: desktop.folder().join("runtime/natter"),
    }
}

/// Configures the scripted server and nothing else: no servers are looked for, no titles asked.
pub fn configure(desktop: &Desktop, url: &str) -> Result<()> {
    let folder = folders(desktop).config;
    fs::create_dir_all(&folder)?;
    let config = format!(
        r#"[chat]
better_titles = false
find_local_servers = false

[[connections]]
name = "bench"
kind = "openai"
url = "{url}"
"#
    );
    fs::write(folder.join("config.toml"), config)?;
    Ok(())
}

/// Has the configured server answer so many requests at once.
pub fn answer_at_once(desktop: &Desktop, requests: usize) -> Result<()> {
    let config = folders(desktop).config.join("config.toml");
    let told = fs::read_to_string(&config)?;
    // Its connection stands at the end.
    fs::write(&config, format!("{told}requests = {requests}\n"))?;
    Ok(())
}

/// Has commands run in the sandbox with nobody asked.
pub fn unattended(desktop: &Desktop) -> Result<()> {
    let config = folders(desktop).config.join("config.toml");
    let told = fs::read_to_string(&config)?;
    fs::write(&config, format!("{told}\n[permissions]\nmode = \"unattended\"\n"))?;
    Ok(())
}

/// Stores this many chats of two messages each.
pub async fn chats(desktop: &Desktop, count: usize) -> Result<()> {
    let store = Store::open(&folders(desktop))?.store;
    for from in (0..count).step_by(TOGETHER) {
        let some = (from..count.min(from + TOGETHER)).map(|n| {
            let (store, messages) = (store.clone(), exchange(n));
            async move {
                let made = store.create(session(&format!("Chat number {n}")), messages).await?;
                store.release(&made.fid).await
            }
        });
        try_join_all(some).await?;
    }
    store.flush().await?;
    Ok(())
}

/// Stores one chat of this many messages.
pub async fn long_chat(desktop: &Desktop, messages: usize) -> Result<Fid> {
    let store = Store::open(&folders(desktop))?.store;
    let fid = store_long(&store, messages).await?;
    store.flush().await?;
    Ok(fid)
}

/// Stores so many chats of this many messages.
pub async fn long_chats(desktop: &Desktop, count: usize, messages: usize) -> Result<()> {
    let store = Store::open(&folders(desktop))?.store;
    for from in (0..count).step_by(TOGETHER) {
        let some = from..count.min(from + TOGETHER);
        try_join_all(some.map(|_| store_long(&store, messages))).await?;
    }
    store.flush().await?;
    Ok(())
}

async fn store_long(store: &Store, messages: usize) -> Result<Fid> {
    let title = format!("A chat of {messages} messages");
    let first = exchange(0);
    let mut parent = first.last().map(|message| message.id);
    let made = store.create(session(&title), first).await?;
    let mut rest = Vec::new();
    for n in 2..messages {
        let message = match n % 2 {
            0 => Message::text(Role::User, parent, format!("Question {n}?")),
            _ => Message::text(Role::Assistant, parent, text::markdown(600, 1)),
        };
        parent = Some(message.id);
        rest.push(Arc::new(message));
    }
    for some in rest.chunks(TOGETHER) {
        if let Some(last) = some.last() {
            store.append(&made.fid, some.to_vec(), last.id).await?;
        }
    }
    store.release(&made.fid).await?;
    Ok(made.meta.fid)
}

fn session(title: &str) -> NewSession {
    let (title, agent) = (title.to_owned(), "just-ask".to_owned());
    let meta = SessionMeta { title, agent, ..SessionMeta::default() };
    NewSession { meta, ..NewSession::default() }
}

fn exchange(n: usize) -> Vec<Arc<Message>> {
    let question = Message::text(Role::User, None, format!("What is the meaning of {n}?"));
    let answer = text::markdown(600, 1);
    let answer = Message::text(Role::Assistant, Some(question.id), answer);
    vec![Arc::new(question), Arc::new(answer)]
}
