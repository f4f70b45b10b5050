//! Tests tools: a model works in a folder, and the user decides what it may do.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use chat_core::message::SessionMeta;
use chat_core::store::{NewSession, Store};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, Wheel, containing, named, until};
use serde_json::json;

use crate::stage::{Stage, Window, chat};

/// A desktop with a chat that works in a folder.
pub async fn at_work() -> Result<(Stage, PathBuf)> {
    let stage = Stage::new().await?;
    let project = stage.desktop.folder().join("project");
    fs::create_dir(&project)?;
    let project = project.canonicalize()?;
    let store = Store::open(&stage.folders())?.store;
    let at_work = NewSession {
        meta: SessionMeta { project: Some(project.clone()), ..chat("Work").meta },
        ..chat("Work")
    };
    store.create(at_work, Vec::new()).await?;
    Ok((stage, project))
}

/// The window with that chat, in which this was said.
pub async fn says(stage: &Stage, text: &str) -> Result<Window> {
    let window = stage.ready().await?;
    window.open("Work").await?;
    window.say(text).await?;
    Ok(window)
}

#[tokio::test]
async fn a_file_is_written_once_the_person_allows_it_by_keyboard() -> Result<()> {
    let (stage, project) = at_work().await?;
    let write = json!({ "path": "hello.txt", "content": "Good morning\n" });
    stage.server.push(Script::new().tool_call("c1", "write_file", write));
    stage.server.push(Script::new().text("It is written."));
    let window = says(&stage, "greet me").await?;
    window.shows("+Good morning").await?;
    window.find(named("Work, needs your answer").under("Chats")).await?;

    // Who writes goes on writing.
    window.writes().await?;
    window.type_text("meanwhile").await?;
    window.holds("meanwhile").await?;
    ensure!(!project.join("hello.txt").exists(), "it was written unasked");

    // It leads there from another chat, too.
    window.keys(&["ctrl+n"]).await?;
    window.holds("").await?;
    window.keys(&["ctrl+shift+y"]).await?;
    window.find(named("Allow Once").state(State::Focused)).await?;
    window.keys(&["Return"]).await?;
    window.shows("It is written.").await?;
    ensure!(fs::read_to_string(project.join("hello.txt"))? == "Good morning\n");
    window.writes().await?;
    window.holds("meanwhile").await?;

    // The card says what was done, who allowed it, and shows the change.
    window.shows("Allowed by you").await?;
    window.click(containing("Created hello.txt +1").role(Role::Button)).await?;
    window.shows("+Good morning").await?;
    window.close().await
}

#[tokio::test]
async fn a_denial_reaches_the_model_with_a_word_and_the_reply_goes_on() -> Result<()> {
    let (stage, project) = at_work().await?;
    let write = json!({ "path": "hello.txt", "content": "Good morning\n" });
    stage.server.push(Script::new().tool_call("c1", "write_file", write));
    stage.server.push(Script::new().text("Then I do not."));
    let window = says(&stage, "greet me").await?;
    window.shows("+Good morning").await?;

    // Back from the composer, to the field.
    let field = || named("Deny and tell the model…").state(State::Focused);
    window.move_to("shift+Tab", field()).await?;
    window.type_text("say it in French").await?;
    window.keys(&["Return"]).await?;
    window.shows("Then I do not.").await?;
    window.shows("Denied by you: say it in French").await?;
    window.writes().await?;
    ensure!(!project.join("hello.txt").exists(), "it was written though it was denied");
    let sent = stage.server.wait_for_end(1).await;
    ensure!(sent.texts_of("tool").iter().any(|text| text.contains("say it in French")));
    window.close().await
}

#[tokio::test]
async fn a_reply_that_is_stopped_while_it_asks_says_so_and_can_go_on() -> Result<()> {
    let (stage, project) = at_work().await?;
    let write = json!({ "path": "hello.txt", "content": "Good morning\n" });
    stage.server.push(Script::new().text("I write it.").tool_call("c1", "write_file", write));
    stage.server.push(Script::new().text("It is not written."));
    let window = says(&stage, "greet me").await?;
    window.find(named("Allow Once")).await?;
    window.click(named("Stop")).await?;
    window.shows("You stopped this reply").await?;
    window.find(named("Retry").under("Conversation")).await?;
    window.click(named("Continue").under("Conversation")).await?;
    window.shows("It is not written.").await?;
    window.gone(containing("You stopped this reply")).await?;
    ensure!(!project.join("hello.txt").exists(), "it was written though nobody allowed it");
    window.close().await
}

#[tokio::test]
async fn a_rule_that_does_not_cover_the_question_is_refused_at_its_card() -> Result<()> {
    let (stage, project) = at_work().await?;
    let write = json!({ "path": "hello.txt", "content": "Good morning\n" });
    stage.server.push(Script::new().tool_call("c1", "write_file", write));
    stage.server.push(Script::new().text("It is written."));
    let window = says(&stage, "greet me").await?;
    let more = || async {
        window.keys(&["ctrl+shift+y"]).await?;
        window.find(named("Allow Once").state(State::Focused)).await?;
        window.keys(&["Tab", "Return"]).await
    };
    let rule = || named("Rule").role(Role::Text);
    let answer = || named("Allow for This Chat").state(State::Focused);
    window.shows("+Good morning").await?;
    more().await?;
    window.move_to("Tab", rule().state(State::Focused)).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("network:example.org").await?;
    window.move_to("shift+Tab", answer()).await?;
    window.keys(&["Return"]).await?;
    let refused = || named("This rule doesn’t cover what was asked.");
    window.find(refused().under("Conversation")).await?;
    window.find(named("Allow Once")).await?;
    ensure!(!project.join("hello.txt").exists(), "it was written all the same");

    // What was chosen is still there, and can be changed.
    more().await?;
    let field = window.find(rule()).await?;
    ensure!(field.text().await? == "network:example.org", "{:?}", field.text().await?);
    window.move_to("Tab", rule().state(State::Focused)).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("write:*.txt").await?;
    window.move_to("shift+Tab", answer()).await?;
    window.keys(&["Return"]).await?;
    window.shows("It is written.").await?;
    window.gone(refused()).await?;
    ensure!(fs::read_to_string(project.join("hello.txt"))? == "Good morning\n");
    window.close().await
}

#[tokio::test]
async fn quitting_while_a_chat_waits_for_an_answer_says_so() -> Result<()> {
    let (stage, project) = at_work().await?;
    let write = json!({ "path": "hello.txt", "content": "Good morning\n" });
    stage.server.push(Script::new().tool_call("c1", "write_file", write));
    stage.server.push(Script::new().text("It is written."));
    let window = says(&stage, "greet me").await?;
    window.find(named("Allow Once")).await?;
    let waits = || named("A chat is waiting for your answer");
    window.keys(&["ctrl+q"]).await?;
    window.find(waits()).await?;
    ensure!(!window.has(named("A reply is still being written")).await, "nothing is written");
    window.keys(&["Escape"]).await?;
    window.gone(waits()).await?;
    window.click(named("Allow Once")).await?;
    window.shows("It is written.").await?;
    ensure!(project.join("hello.txt").exists());
    window.close().await
}

#[tokio::test]
async fn links_in_a_question_are_reached_by_keyboard() -> Result<()> {
    let (stage, project) = at_work().await?;
    fs::write(project.join("plan.md"), "The plan\n")?;
    let ask = json!({
        "question": "Look at [the plan](plan.md) first.\n\n```rust\nfn main() {}\n```\n\nShould I start?",
        "choices": ["Yes", "No"],
    });
    stage.server.push(Script::new().tool_call("c1", "ask_user", ask));
    stage.server.push(Script::new().text("Begun."));
    let window = says(&stage, "begin").await?;
    window.shows("Should I start?").await?;
    window.find(named("Look at the plan (plan.md) first. fn main() {} Should I start?")).await?;
    window.keys(&["ctrl+shift+y"]).await?;
    window.find(named("Yes").state(State::Focused)).await?;
    // Back over the code to the link, which says where it leads.
    let aimed = || containing("plan.md").role(Role::Label);
    window.move_to("shift+Tab", aimed()).await?;
    window.keys(&["Return"]).await?;
    window.find(named("plan.md").role(Role::Text)).await?;
    window.close().await
}

#[tokio::test]
async fn who_answers_a_card_sees_what_comes_of_it() -> Result<()> {
    let (stage, _) = at_work().await?;
    let ask = json!({ "question": "Which colour?", "choices": ["Red", "Green"] });
    let long = "A line of a long reply.\n\n".repeat(60);
    stage.server.push(Script::new().text(&long).tool_call("c1", "ask_user", ask));
    stage.server.push(Script::new().text(&long).text("It is green now."));
    let window = says(&stage, "paint it").await?;
    window.shows("Which colour?").await?;
    let jump = named("Jump to End");
    let conversation = window.find(named("Conversation")).await?;
    conversation.wheel(Wheel::Up, 1, (40, 40)).await?;
    window.find(jump.clone()).await?;
    window.click(named("Green").role(Role::Button)).await?;
    window.shows("It is green now.").await?;
    window.gone(jump).await?;
    window.close().await
}

#[tokio::test]
async fn a_question_of_the_model_is_answered_in_its_card() -> Result<()> {
    let (stage, _) = at_work().await?;
    let ask = json!({ "question": "Which colour?", "choices": ["Red", "Green"] });
    stage.server.push(Script::new().tool_call("c1", "ask_user", ask));
    stage.server.push(Script::new().text("It is green now."));
    let window = says(&stage, "paint it").await?;
    window.shows("Which colour?").await?;
    window.find(named("Green").role(Role::Button)).await?.click_with_mouse().await?;
    window.shows("It is green now.").await?;
    window.writes().await?;
    let sent = stage.server.wait_for_end(1).await;
    ensure!(sent.texts_of("tool").iter().any(|text| text.contains("Green")));
    window.close().await
}

#[tokio::test]
async fn the_plan_stands_above_the_composer() -> Result<()> {
    let (stage, _) = at_work().await?;
    let todos = json!({ "todos": [
        { "text": "Find the cause", "state": "done" },
        { "text": "Mend it", "state": "doing" },
        { "text": "Test it", "state": "open" },
    ] });
    stage.server.push(Script::new().tool_call("c1", "update_todos", todos));
    stage.server.push(Script::new().text("That is the plan."));
    let window = says(&stage, "make a plan").await?;
    window.shows("That is the plan.").await?;
    window.click(named("Plan 1 of 3 Mend it").role(Role::Button)).await?;
    window.find(named("Test it").role(Role::Label)).await?;
    window.new_chat().await?;
    window.gone(named("Plan 1 of 3 Mend it")).await?;
    window.close().await
}

/// The window, in whose chat a command runs in the background until it is ended.
async fn with_a_command() -> Result<(Stage, Window)> {
    let (stage, project) = at_work().await?;
    stage.configure_more(
        "[[permissions.rules]]\nrule = \"run+background:*\"\neffect = \"allow\"\n",
    )?;
    // It tells by a file that it runs.
    let run = json!({ "command": "touch begun; sleep 1000", "background": true });
    stage.server.push(Script::new().tool_call("c1", "run_command", run));
    stage.server.push(Script::new().text("It runs."));
    let window = says(&stage, "serve it").await?;
    window.shows("It runs.").await?;
    until("the command to run", || async { Ok(project.join("begun").exists().then_some(())) })
        .await?;
    Ok((stage, window))
}

#[tokio::test]
async fn a_command_in_the_background_is_ended_by_its_button() -> Result<()> {
    let (_stage, window) = with_a_command().await?;
    window.shows("Ran touch begun; sleep 1000 · in the background").await?;
    window.click(containing("1 command in the background").role(Role::Button)).await?;
    window.click(containing("Stop touch begun").role(Role::Button)).await?;
    window.gone(containing("1 command in the background").role(Role::Button)).await?;
    window.writes().await?;
    window.close().await
}

#[tokio::test]
async fn a_command_in_the_background_is_not_ended_with_the_window_unasked() -> Result<()> {
    let (stage, window) = with_a_command().await?;
    let question = || named("A command is still running in the background");
    window.keys(&["ctrl+q"]).await?;
    window.find(question()).await?;
    window.keys(&["Return"]).await?;
    window.gone(question()).await?;
    window.find(containing("1 command in the background").role(Role::Button)).await?;
    window.keys(&["ctrl+q"]).await?;
    window.find(question()).await?;
    window.keys(&["alt+t"]).await?;
    window.ended().await?;

    // What is said of it is true then, too.
    let window = stage.window().await?;
    window.shows("Ran touch begun; sleep 1000 · in the background").await?;
    window.close().await
}

#[tokio::test]
async fn at_the_limit_of_rounds_the_person_lets_it_go_on_or_ends_it() -> Result<()> {
    let (stage, _) = at_work().await?;
    stage.configure_more("[tools]\nrounds = 1\n")?;
    for id in ["c1", "c2", "c3"] {
        let read = json!({ "path": ".", "depth": 1 });
        stage.server.push(Script::new().tool_call(id, "list_files", read));
    }
    let window = says(&stage, "look around").await?;
    window.find(containing("The model has made 1 round of tool calls.")).await?;
    window.keys(&["ctrl+shift+y"]).await?;
    window.find(named("Continue").state(State::Focused)).await?;
    window.keys(&["Return"]).await?;
    stage.server.wait_for_chats(2).await;
    // The next limit is as many rounds further on.
    window.click(named("Stop Here").role(Role::Button)).await?;
    window.gone(named("Stop Here")).await?;
    window.writes().await?;
    ensure!(stage.server.chats().len() == 2, "it went on");
    window.close().await
}
