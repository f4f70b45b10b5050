//! Chats that are there before anything is measured.

use std::fs;
use std::ops::Range;
use std::sync::Arc;

use anyhow::Result;
use chat_core::message::{Fid, Message, MessageId, Role, SessionMeta};
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

/// Stores one chat of this many messages, the last of which has two branches of so many; gives the chat.
pub async fn branched_chat(desktop: &Desktop, messages: usize, branch: usize) -> Result<Fid> {
    let store = Store::open(&folders(desktop))?.store;
    let (fid, ids) = create_long(&store, messages).await?;
    let from = messages - branch;
    let (point, head) = (ids[from - 1], ids[messages - 1]);
    let other = following(Some(point), from..messages);
    store.append(&fid, other, head).await?;
    store.release(&fid).await?;
    store.flush().await?;
    Ok(fid)
}

async fn store_long(store: &Store, messages: usize) -> Result<Fid> {
    let (fid, _) = create_long(store, messages).await?;
    store.release(&fid).await?;
    Ok(fid)
}

/// The same, still claimed by this program; with the ids of the messages.
async fn create_long(store: &Store, messages: usize) -> Result<(Fid, Vec<MessageId>)> {
    let title = format!("A chat of {messages} messages");
    let first = exchange(0);
    let mut ids: Vec<_> = first.iter().map(|message| message.id).collect();
    let fid = store.create(session(&title), first).await?.meta.fid;
    let rest = following(ids.last().copied(), 2..messages);
    ids.extend(rest.iter().map(|message| message.id));
    for some in rest.chunks(TOGETHER) {
        if let Some(last) = some.last() {
            store.append(&fid, some.to_vec(), last.id).await?;
        }
    }
    Ok((fid, ids))
}

/// The messages of these numbers in a chat, after this one.
fn following(mut parent: Option<MessageId>, numbers: Range<usize>) -> Vec<Arc<Message>> {
    let next = |n: usize| {
        let message = match n % 2 {
            0 => Message::text(Role::User, parent, format!("Question {n}?")),
            _ => Message::text(Role::Assistant, parent, text::markdown(600, 1)),
        };
        parent = Some(message.id);
        Arc::new(message)
    };
    numbers.map(next).collect()
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
