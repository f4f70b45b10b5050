//! What a model changes in an open file that is not saved.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use chat_core::message::SessionMeta;
use chat_core::permission::Mode;
use chat_core::store::{NewSession, Store};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, containing, named};
use serde_json::json;

use crate::editor::{has, holds, open, with_panel};
use crate::stage::{Stage, Window, chat};

/// A chat that works in a folder with this file, which is open there; the model makes these edits of one line each
/// once it is asked.
async fn with_editing_model(edits: &[(&str, &str)]) -> Result<(Stage, PathBuf, Window)> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("count.txt", COUNT)])?;
    // Who has it open by this name is not told when it changes.
    std::os::unix::fs::symlink("count.txt", folder.join("linked.txt"))?;
    let store = Store::open(&stage.folders())?.store;
    let work = NewSession {
        meta: SessionMeta { project: Some(folder.clone()), mode: Mode::Edits, ..chat("Work").meta },
        ..chat("Work")
    };
    store.create(work, Vec::new()).await?;
    drop(store);
    for (number, (old, new)) in edits.iter().enumerate() {
        let edit = json!({ "path": "count.txt", "edits": [{ "old": old, "new": new }] });
        let id = format!("c{number}");
        stage.server.push(Script::new().tool_call(&id, "edit_file", edit));
    }
    stage.server.push(Script::new().text("It is done."));
    let window = stage.ready().await?;
    window.open("Work").await?;
    window.keys(&["F8"]).await?;
    open(&window, "count", "count.txt", "one\n").await?;
    Ok((stage, folder.join("count.txt"), window))
}

const COUNT: &str = "one\ntwo\nthree\nfour\nfive\nsix\n";

#[tokio::test]
async fn what_a_model_changes_is_merged_into_what_is_not_saved() -> Result<()> {
    let (_stage, file, window) = with_editing_model(&[("five\n", "fünf\n")]).await?;
    window.type_text("my ").await?;
    holds(&window, "count.txt", |text| text.starts_with("my one")).await?;
    window.keys(&["ctrl+l"]).await?;
    window.say("Say it in German").await?;
    window.shows("It is done.").await?;
    window.find(named("Changes from disk were merged with yours.")).await?;
    let both = COUNT.replace("five", "fünf").replace("one", "my one");
    holds(&window, "count.txt", |text| text == both).await?;
    has(&file, &COUNT.replace("five", "fünf")).await?;
    window.click(named("Close").under("Changes from disk were merged with yours.")).await?;
    window.find(named("count.txt").role(Role::Text).state(State::Focused)).await?;
    window.keys(&["ctrl+s"]).await?;
    has(&file, &both).await?;
    window.find(containing("1 file changed +1 −1")).await?;
    window.close().await
}

#[tokio::test]
async fn an_undone_merge_is_not_saved_over_the_file_unasked() -> Result<()> {
    let undone = || named("Changes from disk were undone here. Natter asks before saving.");
    let stage = Stage::new().await?;
    let folder = stage.project(&[("count.txt", COUNT), ("other.txt", "else\n")])?;
    let file = folder.join("count.txt");
    let window = with_panel(&stage, &folder).await?;
    open(&window, "count", "count.txt", "one\n").await?;
    window.type_text("my ").await?;
    holds(&window, "count.txt", |text| text.starts_with("my one")).await?;
    let theirs = COUNT.replace("five", "fünf");
    fs::write(&file, &theirs)?;
    let (mine, both) = (COUNT.replace("one", "my one"), theirs.replace("one", "my one"));
    holds(&window, "count.txt", |text| text == both).await?;
    window.keys(&["ctrl+z"]).await?;
    holds(&window, "count.txt", |text| text == mine).await?;
    window.find(undone()).await?;
    // Done again, there is nothing to say.
    window.keys(&["ctrl+shift+z"]).await?;
    holds(&window, "count.txt", |text| text == both).await?;
    window.gone(undone()).await?;
    window.keys(&["ctrl+z"]).await?;
    window.find(undone()).await?;
    // It is still said after a look at another file.
    open(&window, "other", "other.txt", "else\n").await?;
    window.find(named("other.txt").role(Role::Text).state(State::Focused)).await?;
    open(&window, "count", "count.txt", "my one").await?;
    window.find(named("count.txt").role(Role::Text).state(State::Focused)).await?;
    window.find(undone()).await?;
    window.keys(&["ctrl+s"]).await?;
    window.find(containing("was changed both on disk and here")).await?;
    assert_eq!(fs::read_to_string(&file)?, theirs);
    // Nor does closing the tab save over it.
    window.keys(&["ctrl+shift+z", "ctrl+z"]).await?;
    window.find(undone()).await?;
    window.keys(&["ctrl+shift+w"]).await?;
    window.find(containing("Save “count.txt”?")).await?;
    window.keys(&["Return"]).await?;
    window.find(containing("was changed both on disk and here")).await?;
    assert_eq!(fs::read_to_string(&file)?, theirs);
    window.click(named("count.txt").role(Role::Text)).await?;
    window.keys(&["ctrl+shift+z"]).await?;
    holds(&window, "count.txt", |text| text == both).await?;
    window.keys(&["ctrl+z"]).await?;
    window.click(named("Merge Again")).await?;
    holds(&window, "count.txt", |text| text == both).await?;
    window.find(named("Changes from disk were merged with yours.")).await?;
    window.keys(&["ctrl+s"]).await?;
    has(&file, &both).await?;
    window.close().await
}

#[tokio::test]
async fn what_saving_finds_changed_by_a_model_is_merged_and_saved_by_the_same_key() -> Result<()> {
    let (_stage, file, window) = with_editing_model(&[("five\n", "fünf\n")]).await?;
    open(&window, "linked", "linked.txt", "one\n").await?;
    window.type_text("my ").await?;
    holds(&window, "linked.txt", |text| text.starts_with("my one")).await?;
    window.keys(&["ctrl+l"]).await?;
    window.say("Say it in German").await?;
    window.shows("It is done.").await?;
    has(&file, &COUNT.replace("five", "fünf")).await?;
    open(&window, "linked", "linked.txt", "my one").await?;
    window.find(named("linked.txt").role(Role::Text).state(State::Focused)).await?;
    window.keys(&["ctrl+s"]).await?;
    let both = COUNT.replace("five", "fünf").replace("one", "my one");
    has(&file, &both).await?;
    window.find(named("Changes from disk were merged with yours, and saved.")).await?;
    holds(&window, "linked.txt", |text| text == both).await?;
    window.gone(containing("• linked.txt")).await?;
    assert!(file.with_file_name("linked.txt").is_symlink());
    // What the person wrote is not offered to be rejected, and what the model wrote still is.
    window.find(containing("1 file changed +1 −1")).await?;
    window.close().await
}

#[tokio::test]
async fn where_both_changed_the_same_both_are_kept_until_the_user_decides() -> Result<()> {
    let (stage, file, window) =
        with_editing_model(&[("one\n", "eins\n"), ("five\n", "fünf\n")]).await?;
    window.type_text("my ").await?;
    holds(&window, "count.txt", |text| text.starts_with("my one")).await?;
    window.keys(&["ctrl+l"]).await?;
    window.say("Say it in German").await?;
    window.shows("It is done.").await?;
    let theirs = COUNT.replace("five", "fünf").replace("one", "eins");
    has(&file, &theirs).await?;
    window.click(named("Keep Both")).await?;
    let both = "<<<<<<< Yours\nmy one\n=======\neins\n>>>>>>> On disk\n";
    let with_both = theirs.replace("eins\n", both);
    holds(&window, "count.txt", |text| text == with_both).await?;
    has(&file, &theirs).await?;
    window.find(containing("1 file changed +2 −2")).await?;
    window.close().await?;
    drop(stage);

    let (stage, file, window) =
        with_editing_model(&[("one\n", "eins\n"), ("five\n", "fünf\n")]).await?;
    window.type_text("my ").await?;
    holds(&window, "count.txt", |text| text.starts_with("my one")).await?;
    window.keys(&["ctrl+l"]).await?;
    window.say("Say it in German").await?;
    window.shows("It is done.").await?;
    window.click(named("Keep Mine")).await?;
    window.gone(containing("was changed both on disk and here")).await?;
    window.keys(&["ctrl+s"]).await?;
    has(&file, &COUNT.replace("one", "my one")).await?;
    // What was dropped needs no review any more, and the model hears of it as it made it.
    window.gone(containing("1 file changed")).await?;
    stage.server.push(Script::new().text("Understood."));
    window.keys(&["ctrl+l"]).await?;
    window.say("Go on").await?;
    window.shows("Understood.").await?;
    let sent = stage.server.chats().last().map(|one| one.body.to_string()).unwrap_or_default();
    assert!(sent.contains("<rejected>") && sent.contains(r"-one\n+eins\n"), "{sent}");
    assert!(sent.contains(r"-five\n+fünf\n"), "{sent}");
    window.close().await
}
