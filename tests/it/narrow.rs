//! Tests a window as narrow as a phone.

use anyhow::{Result, bail, ensure};
use chat_testkit::server::Script;
use chat_testkit::ui::{By, Role, State, named, until};
use serde_json::json;

use crate::stage::{Stage, Window};
use crate::tools::{at_work, says};

const WIDTH: i32 = 400;
/// The narrowest that the window can be, in pixels.
const NARROWEST: i32 = 360;
/// The header bar is the top of the window, in pixels.
const HEADER: i32 = 50;
const TITLE: &str = "A question whose title is longer than a narrow window";

#[tokio::test]
async fn nothing_in_the_header_is_cut_away() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", TITLE]).await?;
    window.resize(WIDTH as u32, 700).await?;

    // From left to right, with what must be seen of each at least, in pixels.
    let parts = [
        (named("Back to Chats"), 24),
        (named(TITLE).role(Role::Label), 80),
        (named("Agent"), 60),
        (named("Main Menu"), 24),
    ];
    // The window folds step by step.
    let placed = until("the parts of the header beside each other", || async {
        let mut free_from = 0;
        for (part, least) in &parts {
            let (x, width) = in_header(&window, part).await?;
            ensure!(
                x >= free_from && width >= *least && x + width <= WIDTH,
                "{part} from {x}, {width} wide; what is before it ends at {free_from}"
            );
            free_from = x + width;
        }
        Ok(Some(()))
    });
    window.explain(placed.await).await?;
    // The list is a page of its own, from which one comes to another chat.
    window.click(named("Back to Chats")).await?;
    window.open("Apples").await?;
    window.shows("You said: Apples").await?;
    window.close().await
}

/// Where a part of the narrow window's header begins, and how wide it is.
async fn in_header(window: &Window, part: &By) -> Result<(i32, i32)> {
    for widget in window.all(part.clone()).await {
        let (x, y, width, _) = widget.place().await?;
        if y < HEADER {
            return Ok((x, width));
        }
    }
    bail!("there is no {part} in the header")
}

#[tokio::test]
async fn what_tools_ask_is_answered_by_keyboard_in_the_narrowest_window() -> Result<()> {
    let (stage, project) = at_work().await?;
    let write = |id: &str| {
        let content = "A line that is a good deal longer than the narrowest window\n".repeat(3);
        let write = json!({ "path": "src/a-file-of-a-rather-long-name.txt", "content": content });
        Script::new().tool_call(id, "write_file", write)
    };
    let ask = json!({ "question": "Which colour?", "choices": ["Red, as ever", "Green"] });
    stage.server.push(write("c1"));
    stage.server.push(write("c2"));
    stage.server.push(Script::new().tool_call("c3", "ask_user", ask));
    stage.server.push(Script::new().text("It is done."));
    let window = says(&stage, "write something").await?;
    // In two steps, as by hand: the list folds away on the way.
    window.resize(520, 700).await?;
    window.find(named("Back to Chats")).await?;
    window.resize(NARROWEST as u32, 700).await?;

    // Denied: back from Allow Once, and the field before that can be reached, too.
    in_window(&window, named("Allow Once")).await?;
    window.keys(&["ctrl+shift+y"]).await?;
    window.find(named("Allow Once").state(State::Focused)).await?;
    window.keys(&["shift+Tab"]).await?;
    window.find(named("Deny").state(State::Focused)).await?;
    in_window(&window, named("Deny")).await?;
    window.keys(&["shift+Tab"]).await?;
    window.find(named("Deny and tell the model…").state(State::Focused)).await?;
    window.keys(&["Tab", "Return"]).await?;
    window.shows("Denied by you").await?;
    assert!(!project.join("src").exists());

    window.find(named("Allow Once")).await?;
    window.keys(&["ctrl+shift+y"]).await?;
    window.find(named("Allow Once").state(State::Focused)).await?;
    in_window(&window, named("Allow Once")).await?;
    window.keys(&["Return"]).await?;

    window.shows("Which colour?").await?;
    window.keys(&["ctrl+shift+y"]).await?;
    window.find(named("Red, as ever").state(State::Focused)).await?;
    for part in ["Red, as ever", "Skip", "Send Answer"] {
        in_window(&window, named(part).role(Role::Button)).await?;
    }
    window.keys(&["Tab", "Return"]).await?;
    window.shows("It is done.").await?;
    assert!(project.join("src/a-file-of-a-rather-long-name.txt").exists());
    window.close().await
}

/// Waits until all of a widget is seen.
async fn in_window(window: &Window, part: By) -> Result<()> {
    until(&format!("all of {part} in the window"), || async {
        for widget in window.all(part.clone()).await {
            let (x, y, width, height) = widget.place().await?;
            if x >= 0 && y > HEADER && x + width <= NARROWEST && y + height < 700 {
                return Ok(Some(()));
            }
        }
        Ok(None)
    })
    .await
}
