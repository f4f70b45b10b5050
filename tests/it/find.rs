//! Tests finding words: in the open chat, and from the chat list to the matching message.

use anyhow::Result;
use chat_testkit::server::Script;
use chat_testkit::ui::{State, containing, named, role, until};

use crate::stage::Stage;

#[tokio::test]
async fn words_are_found_in_the_chat_by_keyboard_and_the_focus_comes_back() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.find_in_chat().await?;
    window.type_text("APPLES").await?;
    window.find(named("1 of 2")).await?;
    for (key, place) in [
        ("Return", "2 of 2"),
        ("Return", "1 of 2"),
        ("shift+Return", "2 of 2"),
        ("ctrl+g", "1 of 2"),
        ("ctrl+shift+g", "2 of 2"),
    ] {
        window.keys(&[key]).await?;
        window.find(named(place)).await?;
    }
    window.type_text(" and pears").await?;
    window.find(named("Not found")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Find in Chat")).await?;
    window.type_text("written").await?;
    let composer = window.find(named("Message")).await?;
    until("the words in the composer", || async {
        Ok((composer.text().await? == "written").then_some(()))
    })
    .await?;
    // What was looked for is there again, and another chat closes the bar.
    window.keys(&["ctrl+f"]).await?;
    window.find(named("Not found")).await?;
    window.keys(&["ctrl+n"]).await?;
    window.gone(named("Find in Chat")).await?;
    window.close().await
}

#[tokio::test]
async fn earlier_replies_are_turned_to_and_found_where_they_are() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.push(Script::new().text("Answer with a needle in it"));
    stage.server.push(Script::new().text("Answer of straw"));
    let window = stage.ready().await?;
    window.say("Where is it?").await?;
    window.shows("Answer with a needle").await?;
    window.click(named("Regenerate")).await?;
    window.shows("Answer of straw").await?;
    window.find(named("2/2").under("Conversation")).await?;

    // By mouse, and back by keyboard.
    window.click(named("Previous Reply")).await?;
    window.shows("Answer with a needle").await?;
    window.find(named("1/2").under("Conversation")).await?;
    let text = window.text_under("Conversation").await;
    assert!(!text.contains("straw"), "{text}");
    window.find(named("Message").state(State::Focused)).await?;
    let step = named("Next Reply").state(State::Focused);
    until("the keyboard on the step", || async {
        window.keys(&["shift+Tab"]).await?;
        Ok(window.has(step.clone()).await.then_some(()))
    })
    .await?;
    // Pressed by keyboard, it keeps that, at the end on the other one.
    window.keys(&["Return"]).await?;
    window.shows("Answer of straw").await?;
    window.find(named("2/2").under("Conversation")).await?;
    window.find(named("Previous Reply").state(State::Focused)).await?;
    window.keys(&["Return"]).await?;
    window.shows("Answer with a needle").await?;
    window.find(named("Next Reply").state(State::Focused)).await?;
    window.keys(&["Return"]).await?;
    window.shows("Answer of straw").await?;

    // A hit in the one that is not shown leads there.
    window.new_chat().await?;
    window.keys(&["ctrl+shift+f"]).await?;
    window.find(named("Search Chats")).await?;
    window.type_text("needle").await?;
    let row = window.find(containing("a needle in it").under("Chats")).await?;
    row.click_with_mouse().await?;
    window.find(named("1 of 1")).await?;
    window.shows("Answer with a needle").await?;
    window.find(named("1/2").under("Conversation")).await?;
    window.close().await
}

#[tokio::test]
async fn the_bar_that_a_hit_opened_is_closed_by_escape_in_the_message_and_by_its_button()
-> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread"]).await?;
    for key in [Some("Escape"), None] {
        window.keys(&["ctrl+shift+f"]).await?;
        window.find(named("Search Chats").state(State::Focused)).await?;
        window.type_text("said: Apples").await?;
        window.find(containing("You said: Apples").under("Chats")).await?;
        window.keys(&["Return"]).await?;
        window.find(named("1 of 1")).await?;
        window.writes().await?;
        match key {
            Some(key) => window.keys(&[key]).await?,
            None => window.find(named("Close Find Bar")).await?.click_with_mouse().await?,
        }
        window.gone(named("Find in Chat")).await?;
        window.writes().await?;
        // The search itself is still there, with what it found.
        assert!(!window.has(named("Bread").under("Chats")).await);
        window.keys(&["Escape"]).await?;
        window.find(named("Bread").under("Chats")).await?;
    }
    window.close().await
}

#[tokio::test]
async fn a_chat_that_a_search_found_opens_at_the_message() -> Result<()> {
    let stage = Stage::new().await?;
    let filler = "and some words that nobody looks for ".repeat(4);
    let text = |index| match index {
        20 => format!("{filler}the needle in it"),
        _ => format!("Number {index} {filler}"),
    };
    stage.store("A long chat", (0..160).map(text)).await?;

    let window = stage.window().await?;
    window.keys(&["ctrl+shift+f"]).await?;
    window.find(named("Search Chats")).await?;
    window.type_text("needle").await?;
    // The word is not cut away from the narrow row.
    let row = window.find(containing("the needle in it").under("Chats")).await?;
    assert!(row.name().starts_with('…'), "{}", row.name());
    row.click_with_mouse().await?;

    window.find(named("1 of 1")).await?;
    let bar = window.find(named("Find in Chat")).await?;
    assert_eq!(bar.text().await?, "needle");
    window.shows("the needle in it").await?;
    window.gone(containing("Number 159").under("Conversation")).await?;
    assert!(window.has(role(chat_testkit::ui::Role::Label).under("Conversation")).await);
    window.close().await
}

#[tokio::test]
async fn short_words_and_words_without_their_accents_find_a_chat() -> Result<()> {
    // Found by whatever the words begin with: once it is gone, all that was typed is looked for.
    const PARTS: &str = "Ca, g, 東";
    let stage = Stage::new().await?;
    stage.store("Travelling", ["Wo ist 東京?", "In Japan."].map(str::to_owned)).await?;
    stage.store("Breakfast", ["Where is the Café?", "Long ago."].map(str::to_owned)).await?;
    stage.store("Programming", ["Ready?", "Let’s use Go for it."].map(str::to_owned)).await?;
    stage.store(PARTS, ["A caftan?", "No."].map(str::to_owned)).await?;
    let window = stage.window().await?;
    for (query, title, line) in [
        ("東京", "Travelling", "Wo ist 東京?"),
        ("cafe", "Breakfast", "is the Café?"),
        ("go", "Programming", "use Go for it."),
    ] {
        window.keys(&["ctrl+shift+f"]).await?;
        let entry = window.find(named("Search Chats")).await?;
        window.keys(&["ctrl+a", "Delete"]).await?;
        let all = ["Travelling", "Breakfast", "Programming", PARTS];
        for each in all {
            window.find(named(each).under("Chats")).await?;
        }
        // The keyboard map changes for each rare letter: the next one waits until it has arrived.
        for (at, letter) in query.char_indices() {
            window.type_text(&letter.to_string()).await?;
            let typed = &query[..at + letter.len_utf8()];
            until("the letter", || async { Ok((entry.text().await? == typed).then_some(())) })
                .await?;
        }
        for other in all.iter().filter(|it| **it != title) {
            window.gone(named(other).under("Chats")).await?;
        }
        window.find(containing(line).under("Chats")).await?;
        window.keys(&["Return"]).await?;
        // It is open where the word is, and the word is marked.
        let bar = window.find(named("Find in Chat")).await?;
        window.find(named("1 of 1")).await?;
        assert_eq!(bar.text().await?, query);
    }
    window.close().await
}

#[tokio::test]
async fn a_search_for_one_letter_asks_for_more() -> Result<()> {
    let more = || named("Type at least two letters to find longer words.");
    let stage = Stage::new().await?;
    stage.store("Trees", ["On paper, where are the apples?".to_owned()]).await?;
    let window = stage.window().await?;
    window.keys(&["ctrl+shift+f"]).await?;
    window.find(named("Search Chats").state(State::Focused)).await?;
    window.type_text("a").await?;
    window.find(more()).await?;
    assert!(!window.has(named("No chats found")).await);
    window.type_text("p").await?;
    let row = window.find(containing("are the apples").under("Chats")).await?;
    window.gone(more()).await?;
    // It opens at the word that was begun, and not within the one before it.
    row.click_with_mouse().await?;
    window.find(named("2 of 2")).await?;
    window.close().await
}

#[tokio::test]
async fn a_search_says_that_older_messages_are_still_being_indexed() -> Result<()> {
    let note = || named("Older messages are still being indexed.");
    let stage = Stage::new().await?;
    stage.store("A chat", ["Where are the apples?".to_owned()]).await?;
    rusqlite::Connection::open(stage.folders().database())?.execute_batch(
        "INSERT INTO unindexed SELECT max(key) + 1 FROM messages;
         CREATE TRIGGER held BEFORE UPDATE ON unindexed BEGIN SELECT RAISE(ABORT, 'held'); END;",
    )?;
    let window = stage.window().await?;
    window.keys(&["ctrl+shift+f"]).await?;
    window.find(named("Search Chats").state(State::Focused)).await?;
    assert!(!window.has(note()).await);
    window.type_text("apples").await?;
    window.find(containing("are the apples").under("Chats")).await?;
    window.find(note()).await?;
    window.type_text(" and pears").await?;
    window.find(named("No chats found")).await?;
    window.find(note()).await?;
    window.keys(&["Escape"]).await?;
    window.gone(note()).await?;
    window.close().await
}
