//! Tests reviewing a model's changes, one by one, while everything else continues.

use std::fs;

use anyhow::{Result, ensure};
use chat_core::message::SessionMeta;
use chat_core::permission::Mode;
use chat_core::store::{NewSession, Store};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, containing, named, until};
use serde_json::json;

use crate::projects::stored;
use crate::stage::{Stage, Window, chat};

/// Lines of one word each.
const LINES: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\ntwelve\n";

/// A chat that works in a folder with this file, and may edit there; it edits two places.
async fn edited() -> Result<(Stage, std::path::PathBuf, Window)> {
    let stage = Stage::new().await?;
    let project = stage.desktop.folder().canonicalize()?.join("project");
    fs::create_dir(&project)?;
    let file = project.join("count.txt");
    fs::write(&file, LINES)?;
    let store = Store::open(&stage.folders())?.store;
    let work = NewSession {
        meta: SessionMeta { project: Some(project), mode: Mode::Edits, ..chat("Work").meta },
        ..chat("Work")
    };
    store.create(work, Vec::new()).await?;
    drop(store);
    for (id, old, new) in [("c1", "two\n", "zwei\n"), ("c2", "eleven\n", "elf\n")] {
        let edit = json!({ "path": "count.txt", "edits": [{ "old": old, "new": new }] });
        stage.server.push(Script::new().tool_call(id, "edit_file", edit));
    }
    stage.server.push(Script::new().text("It is German now."));
    let window = stage.ready().await?;
    window.open("Work").await?;
    window.say("Say it in German").await?;
    window.shows("It is German now.").await?;
    Ok((stage, file, window))
}

async fn has(file: &std::path::Path, text: &str) -> Result<()> {
    until(&format!("the file to be {text:?}"), || async {
        Ok((fs::read_to_string(file)? == text).then_some(()))
    })
    .await
}

#[tokio::test]
async fn one_change_is_rejected_and_another_accepted_by_keyboard() -> Result<()> {
    let (_stage, file, window) = edited().await?;
    window.find(containing("1 file changed +2 −2").role(Role::Button)).await?;
    window.keys(&["ctrl+shift+r"]).await?;
    window.find(named("count.txt, line 2").state(State::Focused)).await?;
    // Somebody else changes the file meanwhile: that stays.
    let both = fs::read_to_string(&file)?;
    fs::write(&file, both.replace("six\n", "sechs\n"))?;
    window.keys(&["j"]).await?;
    window.find(named("count.txt, line 11").state(State::Focused)).await?;
    window.keys(&["r"]).await?;
    has(&file, &LINES.replace("two", "zwei").replace("six", "sechs")).await?;
    window.gone(named("count.txt, line 11")).await?;
    window.find(containing("1 file changed +1 −1").role(Role::Button)).await?;
    // The keyboard is at what is left.
    window.find(named("count.txt, line 2").state(State::Focused)).await?;
    window.keys(&["a"]).await?;
    window.find(named("Nothing to Review")).await?;
    window.gone(containing("file changed +")).await?;
    ensure!(fs::read_to_string(&file)?.contains("zwei"), "what was accepted stays");
    window.close().await
}

#[tokio::test]
async fn what_was_changed_since_is_left_alone_and_that_is_said() -> Result<()> {
    let (_stage, file, window) = edited().await?;
    window.click(containing("1 file changed +2 −2").role(Role::Button)).await?;
    window.find(named("count.txt, line 11")).await?;
    let mine = fs::read_to_string(&file)?.replace("elf\n", "onze\n");
    fs::write(&file, &mine)?;
    window.find(named("Reject count.txt, line 11")).await?.click_with_mouse().await?;
    window.find(containing("have changed since, so nothing was done")).await?;
    ensure!(fs::read_to_string(&file)? == mine, "it was changed all the same");
    window.close().await
}

#[tokio::test]
async fn what_was_rejected_comes_back_by_mouse_and_by_keyboard() -> Result<()> {
    let (_stage, file, window) = edited().await?;
    let german = fs::read_to_string(&file)?;
    window.click(containing("1 file changed +2 −2").role(Role::Button)).await?;
    window.find(named("count.txt, line 11")).await?;
    window.click(named("Reject All")).await?;
    has(&file, LINES).await?;
    window.find(named("1 file rejected")).await?;
    window.click(named("Undo")).await?;
    has(&file, &german).await?;
    window.gone(named("1 file rejected")).await?;
    window.find(named("count.txt, line 2")).await?;
    // One after the other, the last one first.
    window.keys(&["ctrl+shift+r"]).await?;
    window.find(named("count.txt, line 2").state(State::Focused)).await?;
    window.keys(&["a"]).await?;
    window.find(named("count.txt, line 11").state(State::Focused)).await?;
    window.keys(&["r"]).await?;
    has(&file, &german.replace("elf", "eleven")).await?;
    window.find(named("Undo the Last Decision").state(State::Focused)).await?;
    window.keys(&["ctrl+z"]).await?;
    has(&file, &german).await?;
    window.find(named("count.txt, line 11").state(State::Focused)).await?;
    window.keys(&["ctrl+z"]).await?;
    window.find(named("count.txt, line 2")).await?;
    window.close().await
}

#[tokio::test]
async fn an_earlier_rejection_can_still_be_undone_after_all_was_rejected_and_undone() -> Result<()>
{
    let (_stage, file, window) = edited().await?;
    let german = fs::read_to_string(&file)?;
    window.click(containing("1 file changed +2 −2").role(Role::Button)).await?;
    window.find(named("Reject count.txt, line 11")).await?.click_with_mouse().await?;
    let half = german.replace("elf", "eleven");
    has(&file, &half).await?;
    let earlier = || named("Change in “count.txt” rejected");
    window.find(earlier()).await?;
    window.click(named("Reject All")).await?;
    has(&file, LINES).await?;
    window.find(named("1 file rejected")).await?;
    window.gone(earlier()).await?;
    window.click(named("Undo")).await?;
    has(&file, &half).await?;
    window.gone(named("1 file rejected")).await?;
    window.find(named("count.txt, line 2")).await?;
    window.click(named("Undo the Last Decision")).await?;
    has(&file, &german).await?;
    window.find(named("count.txt, line 11")).await?;
    window.gone(named("Undo the Last Decision")).await?;
    window.close().await
}

#[tokio::test]
async fn what_is_saved_while_a_command_runs_is_not_to_be_reviewed() -> Result<()> {
    let stage = Stage::new().await?;
    let project = stage.desktop.folder().canonicalize()?.join("project");
    fs::create_dir(&project)?;
    let (notes, built) = (project.join("notes.txt"), project.join("built.txt"));
    fs::write(&notes, "mine\n")?;
    let store = Store::open(&stage.folders())?.store;
    let work = NewSession {
        meta: SessionMeta { project: Some(project), mode: Mode::Edits, ..chat("Work").meta },
        ..chat("Work")
    };
    store.create(work, Vec::new()).await?;
    drop(store);
    let command = "echo built > built.txt; until grep -q saved notes.txt; do sleep 0.05; done";
    let run = json!({ "command": command });
    stage.server.push(Script::new().tool_call("c1", "run_command", run));
    stage.server.push(Script::new().text("It is built."));
    let window = stage.ready().await?;
    window.open("Work").await?;
    window.say("Build it").await?;
    window.click(named("Allow Once")).await?;
    until("the command to run", || async { Ok(built.exists().then_some(())) }).await?;
    window.keys(&["ctrl+p"]).await?;
    window.find(named("Find a File").state(State::Focused)).await?;
    window.type_text("notes").await?;
    window.keys(&["Return"]).await?;
    window.find(named("notes.txt").role(Role::Text).state(State::Focused)).await?;
    window.type_text("saved and ").await?;
    window.find(containing("• notes.txt")).await?;
    window.keys(&["ctrl+s"]).await?;
    window.shows("It is built.").await?;
    window.click(containing("1 file changed +1 −0").role(Role::Button)).await?;
    window.click(named("Reject All")).await?;
    window.find(named("1 file rejected")).await?;
    ensure!(!built.exists(), "what the command made is still there");
    ensure!(fs::read_to_string(&notes)? == "saved and mine\n", "what was saved is gone");
    window.close().await
}

#[tokio::test]
async fn files_and_conversation_go_back_to_a_message_and_the_files_forth_again() -> Result<()> {
    let (_stage, file, window) = edited().await?;
    let german = fs::read_to_string(&file)?;
    window.writes().await?;
    window.type_text("a draft").await?;
    window.holds("a draft").await?;
    window.click(named("Restore Files to This Point…").role(Role::Button)).await?;
    window.find(named("Restore to This Point?")).await?;
    window.click(containing("Files and Chat").role(Role::Button)).await?;
    // What was said is in the composer again, before what was being written.
    window.holds("Say it in German\na draft").await?;
    window.gone(containing("It is German now.")).await?;
    window.find(named("Restored 1 file")).await?;
    has(&file, LINES).await?;
    window.click(named("Undo")).await?;
    has(&file, &german).await?;
    window.close().await
}

#[tokio::test]
async fn a_plan_is_started_with_one_click_in_the_mode_that_asks() -> Result<()> {
    let stage = Stage::new().await?;
    let project = stage.desktop.folder().canonicalize()?.join("project");
    fs::create_dir(&project)?;
    let store = Store::open(&stage.folders())?.store;
    let work = NewSession {
        meta: SessionMeta { project: Some(project), mode: Mode::Plan, ..chat("Work").meta },
        ..chat("Work")
    };
    store.create(work, Vec::new()).await?;
    drop(store);
    stage.server.push(Script::new().text("1. First this.\n2. Then that."));
    stage.server.push(Script::new().text("All is done."));
    let window = stage.ready().await?;
    window.open("Work").await?;
    window.say("How would you do it?").await?;
    window.shows("First this.").await?;
    window.find(named("The plan is ready")).await?;
    window.click(named("Start").role(Role::Button)).await?;
    window.shows("All is done.").await?;
    window.find(named("Ask")).await?;
    window.gone(named("The plan is ready")).await?;
    let sent = stage.server.wait_for_end(1).await;
    ensure!(sent.texts_of("user").iter().any(|text| text.contains("Implement the plan.")));
    window.close().await
}

#[tokio::test]
async fn a_reply_from_before_the_plan_mode_is_not_offered_as_a_plan() -> Result<()> {
    let stage = Stage::new().await?;
    let project = stage.desktop.folder().canonicalize()?.join("project");
    fs::create_dir(&project)?;
    let store = Store::open(&stage.folders())?.store;
    let work = NewSession {
        meta: SessionMeta { project: Some(project), mode: Mode::Ask, ..chat("Work").meta },
        ..chat("Work")
    };
    store.create(work, Vec::new()).await?;
    drop(store);
    for reply in ["1. Apples\n2. Pears", "Which fruit?", "1. Plant them."] {
        stage.server.push(Script::new().text(reply));
    }
    let window = stage.ready().await?;
    window.open("Work").await?;
    window.say("What grows here?").await?;
    window.shows("Pears").await?;
    window.writes().await?;
    window.type_text("/plan").await?;
    window.keys(&["Return"]).await?;
    window.find(named("Plan").role(Role::Label).under("Permissions")).await?;
    until("the mode to be stored", || async {
        Ok((stored(&stage, "Work").await?.mode == Mode::Plan).then_some(()))
    })
    .await?;
    ensure!(!window.has(named("The plan is ready")).await);
    // A question is no plan either.
    window.say("Plant something").await?;
    window.shows("Which fruit?").await?;
    window.writes().await?;
    ensure!(!window.has(named("The plan is ready")).await);
    window.say("Pears").await?;
    window.shows("Plant them.").await?;
    window.find(named("The plan is ready")).await?;
    window.close().await
}

#[tokio::test]
async fn nothing_slides_under_the_pointer_that_rejected_something() -> Result<()> {
    let stage = Stage::new().await?;
    let project = stage.desktop.folder().canonicalize()?.join("project");
    fs::create_dir(&project)?;
    let store = Store::open(&stage.folders())?.store;
    let work = NewSession {
        meta: SessionMeta {
            project: Some(project.clone()),
            mode: Mode::Edits,
            ..chat("Work").meta
        },
        ..chat("Work")
    };
    store.create(work, Vec::new()).await?;
    drop(store);
    for (id, name) in [("c1", "a.txt"), ("c2", "b.txt")] {
        fs::write(project.join(name), LINES)?;
        let edit = json!({ "path": name, "edits": [{ "old": "two\n", "new": "zwei\n" }] });
        stage.server.push(Script::new().tool_call(id, "edit_file", edit));
    }
    stage.server.push(Script::new().text("It is German now."));
    let window = stage.ready().await?;
    window.open("Work").await?;
    window.say("Say it in German").await?;
    window.shows("It is German now.").await?;
    window.click(containing("2 files changed +2 −2").role(Role::Button)).await?;
    window.find(named("a.txt, line 2")).await?;
    let other = || async { window.find(named("Reject b.txt")).await?.place().await };
    let before = other().await?;
    window.find(named("Reject a.txt, line 2")).await?.click_with_mouse().await?;
    has(&project.join("a.txt"), LINES).await?;
    window.find(named("Rejected")).await?;
    window.gone(named("a.txt, line 2")).await?;
    ensure!(other().await? == before, "{:?} was at {before:?}", other().await?);
    // Elsewhere the pointer can hit nothing that moves.
    window.find(named("Message")).await?.click_with_mouse().await?;
    window.gone(named("Rejected")).await?;
    until("the other file to move up", || async {
        Ok((other().await?.1 < before.1).then_some(()))
    })
    .await?;
    ensure!(fs::read_to_string(project.join("b.txt"))?.contains("zwei"), "b.txt stays");
    window.close().await
}
