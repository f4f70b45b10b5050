//! Tests pinning, archiving, the trash, doing something with several chats, the switcher and the size of texts.

use anyhow::Result;
use chat_testkit::ui::{Role, State, containing, named, until};

use crate::stage::{Stage, Window};

/// The names of the rows in the list, from top to bottom.
async fn order(window: &Window, names: [&str; 2]) -> Result<bool> {
    let mut heights = Vec::new();
    for name in names {
        heights.push(window.find(named(name).under("Chats")).await?.place().await?.1);
    }
    Ok(heights.is_sorted())
}

#[tokio::test]
async fn a_chat_is_pinned_by_keyboard_and_stays_on_top() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Pears"]).await?;
    window.open("Apples").await?;
    window.keys(&["ctrl+shift+d"]).await?;
    window.find(named("Pinned").role(Role::Label)).await?;
    until("the pinned chat on top", || async {
        Ok(order(&window, ["Apples", "Pears"]).await?.then_some(()))
    })
    .await?;
    window.keys(&["ctrl+shift+d"]).await?;
    window.gone(named("Pinned").role(Role::Label)).await?;
    window.close().await
}

#[tokio::test]
async fn an_archived_chat_is_found_and_comes_back_by_undo() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Pears"]).await?;
    window.keys(&["ctrl+e"]).await?;
    window.gone(named("Pears").under("Chats")).await?;
    window.click(named("Undo")).await?;
    window.find(named("Pears").under("Chats")).await?;
    window.keys(&["ctrl+e"]).await?;
    window.gone(named("Pears").under("Chats")).await?;
    window.click(named("Chat List Menu")).await?;
    window.click(containing("Archived Chats")).await?;
    window.find(containing("Pears").under("Chats")).await?;
    window.gone(named("Apples").under("Chats")).await?;
    window.keys(&["Escape"]).await?;
    window.find(named("Apples").under("Chats")).await?;
    assert!(!window.has(named("Pears").under("Chats")).await);
    window.close().await
}

#[tokio::test]
async fn several_chats_are_deleted_at_once_and_undone_at_once() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread", "Cheese"]).await?;
    window.focus_list().await?;
    window.keys(&["space", "shift+Down"]).await?;
    window.find(named("2 chats selected")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("2 chats selected")).await?;
    window.keys(&["ctrl+a"]).await?;
    window.find(named("3 chats selected")).await?;
    window.keys(&["Delete"]).await?;
    window.find(named("3 chats deleted")).await?;
    window.gone(named("Apples").under("Chats")).await?;
    window.click(named("Undo")).await?;
    for title in ["Apples", "Bread", "Cheese"] {
        window.find(named(title).under("Chats")).await?;
    }
    window.close().await
}

#[tokio::test]
async fn a_key_for_the_shown_chat_leaves_other_selected_chats_alone() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread", "Cheese"]).await?;
    window.focus_list().await?;
    window.keys(&["space", "shift+Down"]).await?;
    window.find(named("2 chats selected")).await?;
    window.shows("You said: Bread").await?;
    window.keys(&["ctrl+shift+d"]).await?;
    window.find(named("Pinned").role(Role::Label)).await?;
    window.find(named("1 chat selected")).await?;
    until("the shown chat alone on top", || async {
        Ok(order(&window, ["Bread", "Cheese"]).await?.then_some(()))
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn deleted_chats_come_back_with_the_one_that_was_shown() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread", "Cheese"]).await?;
    window.focus_list().await?;
    window.keys(&["space", "shift+Down", "Delete"]).await?;
    window.find(named("2 chats deleted")).await?;
    window.shows("You said: Apples").await?;
    window.click(named("Undo")).await?;
    window.find(named("Cheese").under("Chats")).await?;
    window.shows("You said: Bread").await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_comes_back_from_the_trash() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Pears"]).await?;
    window.focus_list().await?;
    window.keys(&["Delete"]).await?;
    window.gone(named("Pears").under("Chats")).await?;
    window.click(named("Chat List Menu")).await?;
    window.click(containing("Trash")).await?;
    window.find(named("Trash").role(Role::Frame)).await?;
    window.click(containing("Restore “Pears”")).await?;
    window.find(containing("The trash is empty")).await?;
    window.keys(&["Escape"]).await?;
    window.find(named("Pears").under("Chats")).await?;
    window.close().await
}

#[tokio::test]
async fn the_switcher_runs_a_command_and_leads_to_a_setting() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples"]).await?;
    window.keys(&["ctrl+k"]).await?;
    window.find(named("Go to a chat").role(Role::Frame)).await?;
    window.type_text("> pin or").await?;
    window.keys(&["Return"]).await?;
    window.find(named("Pinned").role(Role::Label)).await?;
    window.keys(&["ctrl+k"]).await?;
    window.find(named("Go to a chat").role(Role::Frame)).await?;
    window.type_text("#perm").await?;
    window.keys(&["Return"]).await?;
    window.find(named("Preferences").role(Role::Frame)).await?;
    window.keys(&["Escape"]).await?;
    window.close().await
}

#[tokio::test]
async fn keys_change_the_size_of_texts() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples"]).await?;
    window.shows("You said: Apples").await?;
    let message = || window.find(named("Message").role(Role::Text).state(State::Focused));
    let height = || async { Ok::<_, anyhow::Error>(message().await?.place().await?.3) };
    let usual = height().await?;
    window.keys(&["ctrl+plus", "ctrl+plus", "ctrl+plus", "ctrl+plus"]).await?;
    until("larger texts", || async { Ok((height().await? > usual).then_some(())) }).await?;
    let larger = height().await?;
    window.keys(&["ctrl+0"]).await?;
    until("usual texts", || async { Ok((height().await? < larger).then_some(())) }).await?;
    window.close().await
}
