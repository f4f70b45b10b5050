//! Tests that a chat keeps its scroll position when another one is shown, and when the program
//! ends.

use anyhow::Result;
use chat_testkit::ui::{Role, containing, named, until};

use crate::stage::{Stage, Window};

#[tokio::test]
async fn each_chat_keeps_its_place_when_another_is_shown_and_after_a_restart() -> Result<()> {
    let stage = Stage::new().await?;
    let filler = "and some more words that fill lines ".repeat(6);
    let texts = |name: &'static str| {
        let filler = filler.clone();
        (0..160).map(move |index| format!("{name} {index} {filler}"))
    };
    stage.store("About apples", texts("Apple")).await?;
    stage.store("About bread", texts("Bread")).await?;
    let window = stage.window().await?;
    let mut places = Vec::new();
    // One is left among the messages that are opened at once, the other far before them.
    for (title, text, before) in [("About apples", "Apple", 155), ("About bread", "Bread", 100)] {
        window.open(title).await?;
        window.shows(&format!("{text} 159")).await?;
        window.keys(&["ctrl+l"]).await?;
        window.writes().await?;
        until("a place far enough from the end", || async {
            window.keys(&["Prior", "Prior"]).await?;
            let Some((said, _)) = look(&window, text).await? else { return Ok(None) };
            let number: usize = said.split(' ').nth(1).unwrap_or_default().parse()?;
            Ok((number < before).then_some(()))
        })
        .await?;
        places.push((title, text, first_in_sight(&window, text).await?));
    }
    assert_ne!(places[0].2.0, places[1].2.0);
    for (title, text, place) in &places {
        window.open(title).await?;
        is_at(&window, text, place).await?;
    }
    window.close().await?;

    // The last one is shown again by itself.
    let window = stage.window().await?;
    for (title, text, place) in places.iter().rev() {
        window.open(title).await?;
        is_at(&window, text, place).await?;
    }
    // Who reads at the end finds the end.
    window.keys(&["ctrl+l"]).await?;
    window.find(named("Jump to End")).await?.click_with_mouse().await?;
    window.gone(named("Jump to End")).await?;
    window.open("About bread").await?;
    window.find(named("Jump to End")).await?;
    window.open("About apples").await?;
    window.shows("Apple 159").await?;
    window.gone(named("Jump to End")).await?;
    window.close().await
}

/// What the person said that stands first in sight, and how far below the top of the conversation, once
/// it stands still.
async fn first_in_sight(window: &Window, text: &str) -> Result<(String, i32)> {
    let last = std::cell::RefCell::default();
    until("the conversation to stand still", || async {
        let now = look(window, text).await?;
        let before = last.replace(Some(now.clone()));
        Ok(now.filter(|now| before.flatten().as_ref() == Some(now)))
    })
    .await
}

async fn is_at(window: &Window, text: &str, place: &(String, i32)) -> Result<()> {
    let what = format!("{place:?} in sight");
    let waited = until(&what, || async {
        let now = look(window, text).await?;
        Ok(now.is_some_and(|(said, y)| said == place.0 && (y - place.1).abs() <= 1).then_some(()))
    });
    window.explain(waited.await).await
}

async fn look(window: &Window, text: &str) -> Result<Option<(String, i32)>> {
    let Some(chat) = window.all(named("Conversation")).await.pop() else { return Ok(None) };
    let top = chat.place().await?.1;
    for said in window.all(containing(text).role(Role::Label).under("Conversation")).await {
        // A row may go while it is asked.
        let Ok((_, y, _, height)) = said.place().await else { continue };
        if height > 0 && y >= top {
            return Ok(Some((said.name().to_owned(), y - top)));
        }
    }
    Ok(None)
}
