//! Tests that the mouse wheel scrolls the conversation, whatever is under the pointer.

use anyhow::Result;
use chat_testkit::server::Script;
use chat_testkit::ui::{By, Role, Wheel, containing, named, until};
use serde_json::json;

use crate::stage::{Stage, Window};
use crate::tools::{at_work, says};

/// Where in the conversation nothing but the conversation is, from its corner.
const MARGIN: (i32, i32) = (6, 200);

fn prose(name: &str) -> String {
    (0..25).map(|at| format!("Paragraph {at} {name}.\n\n")).collect::<Vec<_>>().concat()
}

/// A reply with every kind of block that scrolls by itself.
fn reply() -> String {
    let wide = "wide_name(".repeat(60);
    let long = (0..150).map(|line| format!("line_{line} = {line}\n")).collect::<Vec<_>>().concat();
    let cells = "| a cell of a few words ".repeat(14);
    format!(
        "{}```rust\n{wide}\nshort\n```\n\n{}{cells}|\n{}|\n{cells}|\n\n{}```python\n{long}```\n\n{}",
        prose("above"),
        prose("between"),
        "|---".repeat(14),
        prose("before the long one"),
        prose("below"),
    )
}

/// Where something begins in the window.
async fn top(window: &Window, by: &By) -> Result<i32> {
    Ok(window.find(by.clone()).await?.place().await?.1)
}

/// Scrolls by the free margin until something begins in the upper half of the conversation.
async fn bring(window: &Window, by: &By) -> Result<()> {
    let all = window.find(named("Conversation")).await?;
    until(&format!("{by} in sight"), || async {
        let y = match window.all(by.clone()).await.first() {
            Some(found) => found.place().await?.1,
            None => -1,
        };
        if (120..400).contains(&y) {
            return Ok(Some(()));
        }
        let turn = if y < 120 { Wheel::Up } else { Wheel::Down };
        let notches = if (0..1_000).contains(&y) { 2 } else { 8 };
        all.wheel(turn, notches, MARGIN).await?;
        Ok(None)
    })
    .await
}

/// Turns the wheel over something until it moved in that direction.
async fn moves(window: &Window, by: &By, turn: Wheel, at: (i32, i32)) -> Result<()> {
    let before = top(window, by).await?;
    window.find(by.clone()).await?.wheel(turn, 1, at).await?;
    let what = format!("{by} to move by the wheel ({turn:?})");
    let moved = until(&what, || async {
        let now = top(window, by).await?;
        let moved = if turn == Wheel::Up { now > before } else { now < before };
        Ok(moved.then_some(()))
    });
    window.explain(moved.await).await
}

#[tokio::test]
async fn the_wheel_scrolls_the_conversation_over_code_and_tables() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.when("blocks", Script::new().text(&reply()));
    let window = stage.ready().await?;
    window.say("show me blocks").await?;
    window.shows("Paragraph 24 below").await?;

    let table = containing("a cell of a few words").under("Conversation");
    for block in [table.clone(), named("rust").role(Role::Text)] {
        bring(&window, &block).await?;
        for turn in [Wheel::Up, Wheel::Down, Wheel::Down, Wheel::Up] {
            moves(&window, &block, turn, (20, 12)).await?;
        }
    }
    // Sideways the block itself is scrolled, and the conversation stays.
    bring(&window, &table).await?;
    let cell = window.find(table).await?;
    let (x, y, ..) = cell.place().await?;
    cell.wheel(Wheel::Right, 2, (60, 12)).await?;
    until("the table to move sideways", || async { Ok((cell.place().await?.0 < x).then_some(())) })
        .await?;
    assert_eq!(cell.place().await?.1, y, "the conversation moved");
    window.close().await
}

#[tokio::test]
async fn what_scrolls_by_itself_hands_the_wheel_on_at_its_end() -> Result<()> {
    let (stage, _) = at_work().await?;
    let lines = (0..80).map(|line| format!("line {line}\n")).collect::<Vec<_>>().concat();
    let write = json!({ "path": "long.txt", "content": lines });
    let told = Script::new().text(&prose("above")).tool_call("c1", "write_file", write);
    stage.server.push(told);
    stage.server.push(Script::new().text(&prose("below")));
    let window = says(&stage, "write lines").await?;
    let preview = named("Changes").role(Role::Text).under("Conversation");
    let prompt = named("Allow Once");
    window.find(prompt.clone()).await?;

    // The preview is at its top: up goes to the conversation.
    moves(&window, &preview, Wheel::Up, (20, 20)).await?;
    // Down scrolls the preview, and the conversation once that is at its end.
    let (text, button) = (window.find(preview).await?, window.find(prompt.clone()).await?);
    let before = button.place().await?.1;
    let mut notches = 0;
    until("the conversation to go on", || {
        notches += 1;
        let (text, button) = (&text, &button);
        async move {
            text.wheel(Wheel::Down, 1, (20, 20)).await?;
            Ok((button.place().await?.1 < before).then_some(()))
        }
    })
    .await?;
    assert!(notches > 5, "the preview was scrolled by {notches} notches");

    // An opened card of a tool.
    window.click(prompt).await?;
    window.shows("Paragraph 24 below").await?;
    let card = containing("Created long.txt").role(Role::Button);
    bring(&window, &card).await?;
    window.click(card.clone()).await?;
    window.shows("+line 79").await?;
    moves(&window, &card, Wheel::Up, (40, 80)).await?;
    window.close().await
}
