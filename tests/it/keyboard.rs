//! Tests moving through the whole window with Tab, and what screen readers are told.

use anyhow::{Context, Result, bail};
use chat_testkit::ui::{Role, State, Widget, containing, named, state, until};

use crate::allowances;
use crate::stage::{Stage, Window};

/// More than the window has places for the keyboard, with one short chat.
const FAR: usize = 40;

#[tokio::test]
async fn tab_goes_through_all_parts_of_the_window_and_back_to_the_message() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.writes().await?;
    for key in ["Tab", "shift+Tab"] {
        let stations = round(&window, key).await?;
        for name in ["Model", "Thinking", "Agent", "Main Menu", "New Chat", "Search"] {
            assert!(stations.iter().any(|at| at.name() == name), "{key}, {name}: {stations:#?}");
        }
        assert!(stations.iter().any(|at| at.is_under("Conversation")), "{key}: {stations:#?}");
        // The row of the chat is what has the keyboard, and says which one it is.
        let row = stations.iter().find(|at| at.is_under("Chats"));
        assert_eq!(row.map(Widget::name), Some("Apples"), "{key}: {stations:#?}");
    }
    window.close().await
}

#[tokio::test]
async fn who_used_the_first_page_comes_into_the_conversation_all_the_same() -> Result<()> {
    let stage = Stage::bare().await?;
    let window = stage.window().await?;
    let row = window.find(named("Models for this computer").role(Role::Label)).await?;
    row.click_with_mouse().await?;
    window.find(named("On This Computer")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("On This Computer")).await?;
    // The page with the row that was pressed is made again.
    stage.configure(&stage.server.url())?;
    window.find(named("scripted")).await?;
    window.keys(&["ctrl+l"]).await?;
    window.type_text("Apples").await?;
    window.keys(&["Return"]).await?;
    window.shows("You said: Apples").await?;
    window.writes().await?;
    for key in ["shift+Tab", "Tab"] {
        let stations = round(&window, key).await?;
        assert!(stations.iter().any(|at| at.is_under("Conversation")), "{key}: {stations:#?}");
    }
    window.close().await
}

#[tokio::test]
async fn page_keys_in_an_empty_message_scroll_the_conversation() -> Result<()> {
    let stage = Stage::new().await?;
    // Several pages of what is loaded at a time.
    stage.store("A long chat", (0..180).map(|index| format!("Number {index}"))).await?;
    let window = stage.window().await?;
    window.open("A long chat").await?;
    window.shows("Number 179").await?;
    window.writes().await?;
    window.keys(&["Prior"]).await?;
    window.find(named("Jump to End")).await?;
    window.writes().await?;
    window.keys(&["Next"]).await?;
    window.gone(named("Jump to End")).await?;
    window.keys(&["ctrl+Home"]).await?;
    starts_in_sight(&window).await?;
    window.find(named("Jump to End")).await?;
    window.writes().await?;
    window.keys(&["ctrl+End"]).await?;
    window.gone(named("Jump to End")).await?;
    // Where there is text, the keys move in it.
    window.type_text("words").await?;
    window.holds("words").await?;
    window.keys(&["Prior"]).await?;
    window.type_text("first ").await?;
    window.holds("first words").await?;
    window.keys(&["ctrl+Home"]).await?;
    window.type_text("very ").await?;
    window.holds("very first words").await?;
    assert!(!window.has(named("Jump to End")).await);
    window.close().await
}

/// Waits until the first message is at the top of what is seen of the conversation.
async fn starts_in_sight(window: &Window) -> Result<()> {
    window.shows("Number 0").await?;
    let (_, top, _, _) = window.find(named("Conversation")).await?.place().await?;
    until("the first message at the top", || async {
        let first = window.find(containing("Number 0").under("Conversation")).await?;
        let (_, y, _, _) = first.place().await?;
        Ok((top..top + 80).contains(&y).then_some(()))
    })
    .await
}

/// Presses a key until the keyboard is in the message again, and gives all places between.
async fn round(window: &Window, key: &str) -> Result<Vec<Widget>> {
    let mut stations = Vec::new();
    let mut last = None;
    for _ in 0..FAR {
        window.keys(&[key]).await?;
        let at = until("the keyboard at another place", || async {
            let Some(at) = window.all(state(State::Focused)).await.pop() else { return Ok(None) };
            let place = (at.place().await?, at.name().to_owned());
            Ok((last.as_ref() != Some(&place)).then_some((at, place)))
        });
        let (at, place) = at.await.with_context(|| format!("{key}: {stations:#?}"))?;
        if at.name() == "Message" && at.role() == Role::Text {
            return Ok(stations);
        }
        last = Some(place);
        stations.push(at);
    }
    bail!("{key} does not come back to the message: {stations:#?}")
}

#[tokio::test]
async fn what_is_changed_in_the_preferences_is_named_once_for_screen_readers() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    allowances::page(&window, "Tools", containing("No servers yet")).await?;
    let all = window.widgets().await;
    let changed = all.iter().filter(|it| matches!(it.role(), Role::CheckBox | Role::SpinButton));
    let names: Vec<String> = changed.map(|it| it.name().to_owned()).collect();
    assert!(names.iter().any(|name| name == "Better titles"), "{names:?}");
    assert!(names.iter().any(|name| name == "Share of the context for tools"), "{names:?}");
    assert!(names.iter().all(|name| !name.is_empty()), "{names:?}");
    let is_twice = |name: &&String| {
        let words: Vec<&str> = name.split(' ').collect();
        let (first, second) = words.split_at(words.len() / 2);
        first == second
    };
    assert_eq!(names.iter().find(is_twice), None);
    window.close().await
}
