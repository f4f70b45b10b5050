//! Tests a chat list that is much longer than the window is high.

use std::time::Duration;

use anyhow::Result;
use chat_core::message::{Fid, Message, Role as Said};
use chat_core::store::Store;
use chat_testkit::ui::{Role, State, Widget, named, state, until};

use crate::stage::{Stage, Window, chat, program};

/// More than come with the first frame.
const CHATS: usize = 100;

/// Stores many chats, and gives the ids of all, the oldest first.
async fn with_chats(stage: &Stage) -> Result<Vec<Fid>> {
    let store = Store::open(&stage.folders())?.store;
    let mut all = Vec::new();
    for index in 0..CHATS {
        let text = format!("What was said in {index}");
        let mut message = Message::text(Said::User, None, text);
        message.time -= Duration::from_secs(60 * (CHATS - index) as u64);
        all.push(store.create(chat(&title(index)), vec![message.into()]).await?.meta.fid);
    }
    Ok(all)
}

fn title(index: usize) -> String {
    format!("Chat number {index}")
}

/// Waits until the row of a chat can be seen, and gives it.
async fn seen(window: &Window, index: usize) -> Result<Widget> {
    let list = window.find(named("Chats").role(Role::List)).await?;
    let row = named(&title(index)).role(Role::Label).under("Chats");
    until(&format!("{row} in sight"), || async {
        let Some(row) = window.all(row.clone()).await.pop() else { return Ok(None) };
        let (_, top, _, height) = row.place().await?;
        let (_, from, _, space) = list.place().await?;
        Ok((top >= from && top + height <= from + space).then_some(row))
    })
    .await
}

#[tokio::test]
async fn the_chat_that_is_shown_at_the_start_is_in_sight_however_old() -> Result<()> {
    let stage = Stage::new().await?;
    let chats = with_chats(&stage).await?;
    let launch = program().arg("--session").arg(chats[0].as_str());
    let window = stage.launch(launch).await?;
    window.shows("What was said in 0").await?;
    seen(&window, 0).await?;
    window.close().await?;

    // And again as the one that was shown last.
    let window = stage.window().await?;
    window.shows("What was said in 0").await?;
    seen(&window, 0).await?;
    window.close().await
}

#[tokio::test]
async fn the_end_of_the_list_is_reached_searched_and_renamed_by_keyboard() -> Result<()> {
    let stage = Stage::new().await?;
    with_chats(&stage).await?;
    let window = stage.window().await?;
    let newest = seen(&window, CHATS - 1).await?;
    newest.click_with_mouse().await?;
    window.shows(&format!("What was said in {}", CHATS - 1)).await?;
    window.focus_list().await?;
    window.keys(&["End"]).await?;
    window.shows("What was said in 0").await?;
    seen(&window, 0).await?;

    window.keys(&["F2"]).await?;
    window.find(named("Title")).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("The very first").await?;
    window.keys(&["Return"]).await?;
    window.find(named("The very first").role(Role::Frame)).await?;
    // The keyboard is where it was.
    window.find(state(State::Focused).under("Chats")).await?;

    window.keys(&["ctrl+shift+f"]).await?;
    window.find(named("Search Chats")).await?;
    window.type_text("very fir").await?;
    window.gone(named(&title(CHATS - 1)).under("Chats")).await?;
    window.find(named("The very first").role(Role::Label).under("Chats")).await?;
    window.keys(&["Escape"]).await?;
    window.find(named(&title(1)).under("Chats")).await?;
    seen(&window, 1).await?;
    window.close().await
}
