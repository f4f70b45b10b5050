//! Tests damaged chats, and restoring a backup, in the window.

use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use chat_core::message::{Ending, Message, ModelRef, Part, Role as Speaker};
use chat_core::settings::Folders;
use chat_core::store::Store;
use chat_testkit::ui::{Role, containing, named, until};

use crate::stage::{Stage, chat};

/// Keeps a chat of a question and a long reply.
async fn keep(store: &Store, title: &str, answer: String) -> Result<()> {
    let asked = Message::text(Speaker::User, None, title);
    let model = ModelRef::new("local", "smol");
    let reply = Message {
        parts: vec![Part::Text(answer)],
        ended: Some(Ending::Complete),
        ..Message::reply(Some(asked.id), model)
    };
    let made = store.create(chat(title), vec![Arc::new(asked), Arc::new(reply)]).await?;
    Ok(store.release(&made.fid).await?)
}

/// Overwrites the page in the middle of the only place where this text stands.
fn overwrite(folders: &Folders, text: &str) -> Result<()> {
    let bytes = std::fs::read(folders.database())?;
    let part = &text.as_bytes()[text.len() / 2..][..40];
    let at = bytes.windows(part.len()).position(|window| window == part).context("not found")?;
    let file = std::fs::OpenOptions::new().write(true).open(folders.database())?;
    Ok(file.write_all_at(&[0xff; 4096], (at / 4096 * 4096) as u64)?)
}

/// Whether a damaged database was kept under another name.
fn put_aside(folders: &Folders) -> Result<bool> {
    let names = std::fs::read_dir(&folders.data)?.flatten().map(|entry| entry.file_name());
    Ok(names.into_iter().any(|name| name.to_string_lossy().contains("damaged")))
}

#[tokio::test]
async fn a_damaged_reply_costs_itself_and_is_named_once_the_window_was_closed() -> Result<()> {
    let stage = Stage::new().await?;
    let folders = stage.folders();
    let long = (0..4_000).map(|n| format!("number {n} ")).collect::<Vec<_>>().concat();
    let store = Store::open(&folders)?.store;
    keep(&store, "Numbers", long.clone()).await?;
    keep(&store, "Pears", "Pears are green.".to_owned()).await?;
    drop(store);
    overwrite(&folders, &long)?;

    let window = stage.window().await?;
    window.open("Numbers").await?;
    window.find(containing("A message is missing here")).await?;
    let other = stage.another_program().await?;
    assert_eq!(other.sessions().list().await?.len(), 2);
    other.shutdown().await;
    drop(other);
    assert!(!put_aside(&folders)?);
    window.open("Pears").await?;
    window.shows("Pears are green.").await?;
    window.close().await?;

    let window = stage.window().await?;
    window.find(containing("1 message is missing: “Numbers” (1)")).await?;
    assert!(put_aside(&folders)?);
    window.open("Numbers").await?;
    window.find(containing("A message is missing here")).await?;
    window.close().await?;
    // It was on the screen, and nobody said that they read it.
    let window = stage.window().await?;
    window.find(containing("1 message is missing: “Numbers” (1)")).await?;
    window.click(named("Close this notice")).await?;
    let note = folders.data.join("natter.db.repaired-notice");
    until("the notice to be forgotten", || async { Ok((!note.exists()).then_some(())) }).await?;
    window.close().await?;
    assert_eq!(Store::open(&folders)?.notice, None, "what was read is not said again");
    Ok(())
}

#[tokio::test]
async fn a_backup_is_restored_in_the_preferences() -> Result<()> {
    let stage = Stage::new().await?;
    let store = Store::open(&stage.folders())?.store;
    keep(&store, "Apples", "Apples are red.".to_owned()).await?;
    store.back_up(&|| Some(Duration::ZERO))?.context("no backup")?;
    let apples = store.sessions().await?.remove(0).meta.fid;
    store.delete(&apples).await?;
    keep(&store, "Pears", "Pears are green.".to_owned()).await?;
    drop(store);

    let window = stage.window().await?;
    window.open("Pears").await?;
    window.shows("Pears are green.").await?;
    window.keys(&["ctrl+comma"]).await?;
    window.find(named("Preferences").role(Role::Frame)).await?;
    window.find(containing("Restore the backup from").role(Role::Button)).await?.click().await?;
    window.find(containing("_Restore").role(Role::Button)).await?.click().await?;
    window.find(containing("The backup was restored")).await?;
    window.find(containing("Apples").under("Chats")).await?;
    window.gone(containing("Pears").under("Chats")).await?;
    window.close().await?;
    let window = stage.window().await?;
    window.open("Apples").await?;
    window.shows("Apples are red.").await?;
    window.close().await?;
    let store = Store::open(&stage.folders())?.store;
    assert_eq!(store.backups().len(), 2, "what there was before is kept");
    Ok(())
}

#[tokio::test]
async fn the_chat_that_was_shown_is_shown_again_after_a_kill() -> Result<()> {
    let stage = Stage::new().await?;
    let store = Store::open(&stage.folders())?.store;
    keep(&store, "Apples", "Apples are red.".to_owned()).await?;
    keep(&store, "Pears", "Pears are green.".to_owned()).await?;
    let apples = store.sessions().await?.into_iter().find(|session| session.title == "Apples");
    let apples = apples.context("no such chat")?.meta.fid;
    drop(store);
    let window = stage.window().await?;
    window.open("Apples").await?;
    window.shows("Apples are red.").await?;
    until("the window to remember the chat", || async {
        let state = std::fs::read_to_string(stage.folders().state.join("window.json"));
        Ok(state.is_ok_and(|state| state.contains(apples.as_str())).then_some(()))
    })
    .await?;
    window.kill().await?;
    let window = stage.window().await?;
    window.shows("Apples are red.").await?;
    window.close().await
}
