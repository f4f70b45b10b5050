//! Tests the panel next to the conversation: how wide it opens, and how narrow the conversation may
//! be.

use std::cell::{Cell, RefCell};
use std::fs;

use anyhow::{Context, Result};
use chat_core::message::{Message, Role as Who, SessionMeta};
use chat_core::store::{NewSession, Store};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, containing, named, until};
use serde_json::{Value, json};

use crate::projects::window_in;
use crate::stage::{Stage, Window, chat};

/// The width of the window, which is that of the screen, in pixels.
const WIDTH: i32 = 1280;
/// So much of the window is no frame of it, in pixels. Places are told as seen from there.
const INSIDE: i32 = WIDTH - 2 * FRAME;
/// The frame of a window where nothing composes windows, in pixels.
const FRAME: i32 = 5;
/// Where the list of chats ends, which stands at the left, in pixels.
const LIST: i32 = 260;
/// The narrowest that a chat is promised to be of use, in pixels.
const NARROWEST: i32 = 360;
/// Less than this the panel never leaves to the chat, in pixels.
const LEAST: i32 = 340;
/// The handle stands over the border between chat and panel, in pixels.
const HANDLE: i32 = 8;
/// A panel has this width where there is room, in pixels: a line of code.
const OPENS: i32 = 560;

const REPLY: &str = "A paragraph with anextraordinarilylongwordthatnobodywouldeverwriteinanylanguage in it.\n\n\
| Name of the thing | What it is good for | How much it costs |\n|---|---|---|\n\
| A rather long name | Everything that one can think of | a lot of money |\n\n\
```rust\nfn main() { println!(\"a line that is a good deal longer than any narrow window is wide\"); }\n```\n";

/// Where the border between chat and panel is.
async fn border(window: &Window) -> Result<i32> {
    let (x, _, width, _) = window.find(named("Panel Width")).await?.place().await?;
    assert_eq!(width, HANDLE);
    Ok(x + HANDLE / 2)
}

/// Waits until the border is there.
async fn border_at(window: &Window, x: i32) -> Result<()> {
    let last = Cell::default();
    let waited = until(&format!("the border between chat and panel at {x}"), || async {
        last.set(border(window).await?);
        Ok((last.get() == x).then_some(()))
    })
    .await
    .with_context(|| format!("it was at {} at last", last.get()));
    window.explain(waited).await
}

/// What the window remembers.
fn remember(stage: &Stage, state: &Value) -> Result<()> {
    fs::create_dir_all(stage.folders().state)?;
    Ok(fs::write(stage.folders().state.join("window.json"), state.to_string())?)
}

fn remembered(stage: &Stage) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(stage.folders().state.join("window.json"))?)?)
}

#[tokio::test]
async fn the_panel_opens_as_wide_as_code_is_and_stays_as_wide_as_it_was_made() -> Result<()> {
    let stage = Stage::new().await?;
    remember(&stage, &json!({ "width": WIDTH, "height": 800 }))?;
    let window = stage.ready().await?;
    window.keys(&["F8"]).await?;
    border_at(&window, INSIDE - OPENS).await?;
    window.close().await?;
    // Nobody has chosen a width: another one may become usual.
    assert_eq!(remembered(&stage)?["panel_width"], Value::Null);

    let chosen = OPENS + 40;
    remember(
        &stage,
        &json!({ "width": WIDTH, "height": 800, "panel_shown": true, "panel_width": chosen }),
    )?;
    let window = stage.window().await?;
    border_at(&window, INSIDE - chosen).await?;
    // A window that has no room for it takes it back once it has.
    window.resize(1100, 800).await?;
    border_at(&window, LIST + LEAST).await?;
    window.resize(WIDTH as u32, 800).await?;
    border_at(&window, INSIDE - chosen).await?;
    window.close().await?;
    assert_eq!(remembered(&stage)?["panel_width"], chosen);
    Ok(())
}

/// Whether the panel is next to the chat, which then ends in the middle of a window of the usual
/// width.
async fn has_panel(window: &Window) -> Result<bool> {
    let (x, _, width, _) = window.find(named("Message").role(Role::Text)).await?.place().await?;
    Ok(x + width < 800)
}

/// Waits until the panel is next to the chat, or is closed.
async fn panel_is(window: &Window, open: bool) -> Result<()> {
    let what = if open { "the panel open" } else { "the panel closed" };
    let waited = until(what, || async { Ok((has_panel(window).await? == open).then_some(())) });
    window.explain(waited.await).await
}

#[tokio::test]
async fn each_chat_has_the_panel_as_it_was_left_there() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = stage.project(&[("apples.txt", "red\n")])?;
    let window = window_in(&stage, &garden).await?;
    window.say("What grows here?").await?;
    window.shows("You said: What grows here?").await?;
    if !has_panel(&window).await? {
        window.keys(&["F8"]).await?;
    }
    panel_is(&window, true).await?;
    window.find(named("apples.txt").under("Files")).await?;
    // A chat without a folder has nothing to show there.
    window.new_chat().await?;
    window.keys(&["ctrl+o"]).await?;
    window.click(named("No Folder")).await?;
    panel_is(&window, false).await?;
    window.say("Talk").await?;
    window.shows("You said: Talk").await?;
    window.open("What grows here?").await?;
    panel_is(&window, true).await?;
    window.open("Talk").await?;
    panel_is(&window, false).await?;
    // Unless it is asked for.
    window.keys(&["F8"]).await?;
    panel_is(&window, true).await?;
    window.find(named("Choose a Folder…")).await?;
    window.open("What grows here?").await?;
    window.find(named("apples.txt").under("Files")).await?;
    window.open("Talk").await?;
    window.find(named("Choose a Folder…")).await?;
    panel_is(&window, true).await?;
    window.keys(&["F8"]).await?;
    panel_is(&window, false).await?;
    window.close().await?;

    let window = stage.window().await?;
    window.shows("You said: Talk").await?;
    panel_is(&window, false).await?;
    window.open("What grows here?").await?;
    panel_is(&window, true).await?;
    window.close().await
}

#[tokio::test]
async fn a_new_chat_keeps_its_panel_when_it_is_stored() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.keys(&["F8"]).await?;
    window.find(named("Choose a Folder…")).await?;
    panel_is(&window, true).await?;
    window.say("Talk").await?;
    window.shows("You said: Talk").await?;
    panel_is(&window, true).await?;
    window.close().await
}

#[tokio::test]
async fn nothing_is_cut_in_a_chat_of_360_pixels() -> Result<()> {
    let stage = Stage::new().await?;
    let project = stage.desktop.folder().canonicalize()?.join("project");
    fs::create_dir(&project)?;
    let said =
        Message::text(Who::User, None, "A question that is as long as questions are. ".repeat(6));
    let reply = Message::text(Who::Assistant, Some(said.id), REPLY);
    let store = Store::open(&stage.folders())?.store;
    let work = NewSession {
        meta: SessionMeta { project: Some(project), ..chat("Work").meta },
        ..chat("Work")
    };
    store.create(work, vec![said.into(), reply.into()]).await?;
    drop(store);
    let panel = INSIDE - LIST - NARROWEST;
    remember(
        &stage,
        &json!({ "width": WIDTH, "height": 800, "panel_shown": true, "panel_width": panel }),
    )?;
    let write = json!({
        "path": "src/a-file-of-a-rather-long-name.txt",
        "content": "A line that is a good deal longer than the narrowest window\n",
    });
    let ask =
        json!({ "question": REPLY, "choices": ["Red, as it ever was and ever will be", "Green"] });
    stage.server.push(Script::new().tool_call("c1", "write_file", write));
    stage.server.push(Script::new().tool_call("c2", "ask_user", ask));
    stage.server.push(Script::new().text("It is done."));

    let window = stage.ready().await?;
    let right = LIST + NARROWEST;
    border_at(&window, right).await?;
    window.keys(&["ctrl+n"]).await?;
    window.holds("").await?;
    nothing_is_cut(&window, "a new chat", (LIST, right)).await?;
    window.open("Work").await?;
    window.shows("A paragraph with").await?;
    nothing_is_cut(&window, "a table and code", (LIST, right)).await?;
    window.keys(&["ctrl+f"]).await?;
    window.find(named("Find in Chat")).await?;
    nothing_is_cut(&window, "the find bar", (LIST, right)).await?;
    window.keys(&["Escape"]).await?;
    window.say("write something").await?;
    window.find(named("Allow Once")).await?;
    nothing_is_cut(&window, "a question of leave", (LIST, right)).await?;
    window.keys(&["ctrl+shift+y"]).await?;
    window.find(named("Allow Once").state(State::Focused)).await?;
    window.keys(&["Return"]).await?;
    window.find(named("Green").role(Role::Button)).await?;
    nothing_is_cut(&window, "a question of the model", (LIST, right)).await?;
    // The same in a window that shows the chat alone; in two steps, as by hand.
    window.resize(520, 800).await?;
    window.find(named("Back to Chats")).await?;
    window.resize(NARROWEST as u32, 800).await?;
    nothing_is_cut(&window, "a question in a narrow window", (0, NARROWEST - 2 * FRAME)).await?;
    window.keys(&["ctrl+shift+y"]).await?;
    window.find(containing("Red, as it ever was").state(State::Focused)).await?;
    window.keys(&["Return"]).await?;
    window.shows("It is done.").await?;
    window.find(containing("1 file changed")).await?;
    nothing_is_cut(&window, "what was changed", (0, NARROWEST - 2 * FRAME)).await?;
    window.resize(WIDTH as u32, 800).await?;
    border_at(&window, right).await?;
    nothing_is_cut(&window, "what was changed, beside the panel", (LIST, right)).await?;
    window.close().await
}

/// Waits until all that is read or pressed in the chat lies between its edges. What a table or code has beyond them
/// is scrolled to.
async fn nothing_is_cut(window: &Window, what: &str, (left, right): (i32, i32)) -> Result<()> {
    let cut = RefCell::default();
    let waited = until(&format!("{what}: nothing is cut"), || async {
        let mut over = Vec::new();
        for widget in window.widgets().await {
            let is_read = matches!(
                widget.role(),
                Role::Label
                    | Role::Button
                    | Role::PushButtonMenu
                    | Role::ToggleButton
                    | Role::ComboBox
                    | Role::Entry
            );
            if !is_read || widget.is_under("Table") {
                continue;
            }
            // A widget may go while it is asked.
            let Ok((x, _, width, height)) = widget.place().await else { continue };
            let is_seen = width > 0 && height > 0 && x + width > left && x < right;
            if is_seen && (x < left || x + width > right) {
                over.push(format!("{widget:?} from {x} to {}", x + width));
            }
        }
        let fits = over.is_empty();
        cut.replace(over);
        Ok(fits.then_some(()))
    })
    .await
    .with_context(|| format!("{:#?}", cut.borrow()));
    window.explain(waited).await
}
