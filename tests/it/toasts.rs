//! Tests toasts where the conversation is narrow.

use std::fs;

use anyhow::Result;
use chat_core::message::{Message, Role as Who, SessionMeta};
use chat_core::store::{NewSession, Store};
use chat_testkit::ui::{By, Role, named, until};
use serde_json::json;

use crate::stage::{Stage, Window, chat};

/// The width of the window and of the panel in it, in pixels: about 400 are left to the conversation.
const WIDTH: i32 = 1200;
const PANEL: i32 = 530;
/// Higher than one line of a toast, in pixels.
const TWO_LINES: i32 = 30;
/// The end of the toast behind its last button, in pixels.
const EDGE: i32 = 8;

const TITLE: &str = "Die Kündigungsfristen im Mietvertrag der Großeltern";

/// A place in the window: x, y, width, height.
type TextPosition = (i32, i32, i32, i32);

fn overlap(one: TextPosition, other: TextPosition) -> bool {
    one.0 < other.0 + other.2
        && other.0 < one.0 + one.2
        && one.1 < other.1 + other.3
        && other.1 < one.1 + one.3
}

/// The lowest widget of a kind.
async fn lowest(window: &Window, by: By) -> Result<Option<TextPosition>> {
    let mut all = Vec::new();
    for widget in window.all(by).await {
        all.push(widget.place().await?);
    }
    Ok(all.into_iter().filter(|place| place.2 > 0).max_by_key(|place| place.1))
}

#[tokio::test]
async fn a_toast_wraps_in_a_narrow_conversation_and_leaves_the_buttons_free() -> Result<()> {
    let stage = Stage::new().await?;
    let project = stage.project(&[("a.txt", "one\n")])?;
    let mut messages: Vec<std::sync::Arc<Message>> = Vec::new();
    for index in 0..20 {
        let who = if index % 2 == 0 { Who::User } else { Who::Assistant };
        let parent = messages.last().map(|message| message.id);
        messages.push(Message::text(who, parent, format!("Number {index}")).into());
    }
    let store = Store::open(&stage.folders())?.store;
    let new = chat("Work");
    let meta = SessionMeta { project: Some(project), ..new.meta };
    store.create(NewSession { meta, ..new }, messages).await?;
    drop(store);
    stage.store(TITLE, ["Apples".to_owned()]).await?;
    fs::create_dir_all(stage.folders().state)?;
    let state = json!({ "width": WIDTH, "height": 800, "panel_shown": true, "panel_width": PANEL });
    fs::write(stage.folders().state.join("window.json"), state.to_string())?;

    let window = stage.window().await?;
    window.open("Work").await?;
    window.shows("Number 19").await?;
    window.open(TITLE).await?;
    window.shows("Apples").await?;
    window.focus_list().await?;
    window.keys(&["Delete"]).await?;
    window.shows("Number 19").await?;
    let words = format!("“{TITLE}” deleted");
    let last = std::cell::RefCell::default();
    let placed = until("the toast in its place", || async {
        let text = window.find(named(&words)).await?.place().await?;
        let button = window.find(named("Undo")).await?.place().await?;
        let (x, _, width, _) = window.find(named("Conversation")).await?.place().await?;
        let message = window.find(named("Message").role(Role::Text)).await?.place().await?;
        let again = lowest(&window, named("Regenerate")).await?;
        let copy = lowest(&window, named("Copy Message")).await?;
        last.replace(format!(
            "words {text:?}, button {button:?}, conversation {x} + {width}, message {message:?}, again {again:?}"
        ));
        let (Some(again), Some(copy)) = (again, copy) else { return Ok(None) };
        let top = text.1.min(button.1) - EDGE;
        let bottom = (text.1 + text.3).max(button.1 + button.3) + EDGE;
        let toast = (text.0 - EDGE, top, button.0 + button.2 + EDGE - text.0, bottom - top);
        let is_inside = toast.0 >= x && toast.0 + toast.2 <= x + width;
        let wraps = text.3 >= TWO_LINES && text.0 + text.2 <= button.0;
        let is_free = [again, copy, message].into_iter().all(|other| !overlap(toast, other));
        Ok((is_inside && wraps && is_free).then_some(()))
    })
    .await
    .map_err(|error| error.context(last.take()));
    window.explain(placed).await?;
    window.close().await
}
