//! Tests a chat list that is much longer than the window is high.

use std::time::Duration;

use anyhow::{Context, Result};
use chat_core::manager::Manager;
use chat_core::message::{ChatRequest, Content, Fid, Message, ModelRef, Role as Said};
use chat_core::store::Store;
use chat_testkit::server::{Gate, Script};
use chat_testkit::ui::{Role, State, Widget, containing, named, state, until};

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

/// Where a widget is: x, y, width, height.
type Place = (i32, i32, i32, i32);

/// Where the heading of the first chats is.
async fn heading(window: &Window) -> Result<Place> {
    window.find(named("Today").under("Chats")).await?.place().await
}

/// Waits until a chat is the first one, and the heading above it where it was.
async fn is_first(window: &Window, title: &str, before: Place) -> Result<()> {
    let row = named(title).role(Role::Label).under("Chats");
    until(&format!("{row} below the heading at {before:?}"), || async {
        let heading = window.all(named("Today").under("Chats")).await.pop();
        let (Some(heading), Some(row)) = (heading, window.all(row.clone()).await.pop()) else {
            return Ok(None);
        };
        let (heading, row) = (heading.place().await?, row.place().await?);
        let follows = row.1 > before.1 && row.1 < before.1 + 60;
        Ok((heading == before && follows).then_some(()))
    })
    .await
}

/// Has another program send this, to a chat or as a new one, and waits for the reply.
async fn send(other: &Manager, session: Option<&Fid>, text: &str) -> Result<Fid> {
    let request = ChatRequest {
        session: session.cloned(),
        content: Content::text(text),
        model: Some(ModelRef::new("Test", "scripted")),
        ..ChatRequest::default()
    };
    let sent = other.send(request).await?;
    until("the reply", || async { Ok(other.sessions().busy().is_empty().then_some(())) }).await?;
    Ok(sent.fid)
}

#[tokio::test]
async fn the_list_stays_at_its_top_when_a_chat_moves_there() -> Result<()> {
    let stage = Stage::new().await?;
    with_chats(&stage).await?;
    stage.server.always(Script::new().text("Answer"));
    let window = stage.ready().await?;
    let newest = CHATS - 1;
    seen(&window, newest).await?.click_with_mouse().await?;
    window.shows(&format!("What was said in {newest}")).await?;
    let before = heading(&window).await?;
    let answered = async |title: &str| -> Result<()> {
        window.shows("Answer").await?;
        window.gone(named("Stop")).await?;
        is_first(&window, title, before).await
    };
    window.say("And more").await?;
    answered(&title(newest)).await?;
    window.new_chat().await?;
    window.say("Something new").await?;
    answered("Something new").await?;
    // One further down, which moves to the top.
    seen(&window, newest - 2).await?.click_with_mouse().await?;
    window.shows(&format!("What was said in {}", newest - 2)).await?;
    window.say("And more").await?;
    answered(&title(newest - 2)).await?;
    window.close().await
}

#[tokio::test]
async fn the_list_goes_with_the_current_chat_when_that_moves_to_the_top() -> Result<()> {
    let stage = Stage::new().await?;
    let chats = with_chats(&stage).await?;
    let launch = program().arg("--session").arg(chats[0].as_str());
    let window = stage.launch(launch).await?;
    window.shows("What was said in 0").await?;
    seen(&window, 0).await?;
    window.find(named("scripted")).await?;
    window.say("And more").await?;
    window.shows("You said").await?;
    // The heading is in sight again, and the chat is below it.
    let (_, top, ..) = window.find(named("Chats").role(Role::List)).await?.place().await?;
    until("the heading in sight", || async {
        Ok((heading(&window).await?.1 >= top).then_some(()))
    })
    .await?;
    is_first(&window, &title(0), heading(&window).await?).await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_that_another_program_begins_comes_to_the_top_in_sight() -> Result<()> {
    let stage = Stage::new().await?;
    with_chats(&stage).await?;
    let window = stage.ready().await?;
    let before = heading(&window).await?;
    let other = stage.another_program().await?;
    send(&other, None, "From elsewhere").await?;
    is_first(&window, "From elsewhere", before).await?;
    other.shutdown().await;
    window.close().await
}

#[tokio::test]
async fn the_keyboard_stays_on_a_chat_that_moves_to_the_top() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("again", Script::new().text("Answer").gate(&gate));
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread", "Cheese"]).await?;
    window.open("Bread").await?;
    window.say("again").await?;
    window.shows("Answer").await?;
    let other = stage.another_program().await?;
    let sessions = other.sessions().list().await?;
    let apples = sessions.iter().find(|session| session.title == "Apples").context("the chat")?;
    send(&other, Some(&apples.fid), "Pears").await?;
    let before = heading(&window).await?;
    is_first(&window, "Apples", before).await?;
    window.focus_list().await?;
    gate.open();
    is_first(&window, "Bread", before).await?;
    window.gone(named("Stop")).await?;
    window.find(containing("Bread").state(State::Focused).under("Chats")).await?;
    window.keys(&["Down"]).await?;
    window.shows("You said: Pears").await?;
    other.shutdown().await;
    window.close().await
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

#[tokio::test]
async fn the_switcher_shows_more_chats_when_asked_to() -> Result<()> {
    let stage = Stage::new().await?;
    with_chats(&stage).await?;
    let window = stage.ready().await?;
    window.keys(&["ctrl+k"]).await?;
    window.find(named("Go to a chat").role(Role::Frame)).await?;
    window.find(named(&format!("9 of {CHATS}")).role(Role::Label)).await?;
    window.keys(&["Down"; 9]).await?;
    window.keys(&["Return"]).await?;
    window.find(named(&format!("59 of {CHATS}")).role(Role::Label)).await?;
    // The first of those that came is selected, and the keyboard is where it was.
    window.keys(&["Return"]).await?;
    window.gone(named("Go to a chat").role(Role::Frame)).await?;
    window.shows(&format!("What was said in {}", CHATS - 10)).await?;
    window.close().await
}
