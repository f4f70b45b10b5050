//! Tests a real model in the window: behind a real server, and with the built-in engine.

use anyhow::{Context, Result, anyhow};
use chat_core::message::{Ending, Role, Usage};
use chat_core::models::{CONNECTION, Library};
use chat_testkit::real::RealServer;
use chat_testkit::ui::{containing, named, until};

use crate::stage::{Stage, Window, real_model};

#[tokio::test]
async fn real_model_holds_a_conversation_of_two_turns_in_the_window() -> Result<()> {
    let Some(server) = RealServer::start() else { return Ok(()) };
    let stage = Stage::new().await?;
    stage.configure(&server.url())?;
    let window = stage.window().await?;
    hold_two_turns(&stage, window).await
}

#[tokio::test]
async fn real_model_answers_with_no_server_from_the_first_page_on() -> Result<()> {
    let Some(model) = real_model() else { return Ok(()) };
    let stage = Stage::bare().await?;
    stage.compute_with_one_thread()?;
    let library = Library::of(&stage.folders());
    let installed = library.add(&model).map_err(|error| anyhow!("{error}"))?;
    // A small model that is left to chance may talk until its window is full, or say nothing.
    stage.configure_more(&format!(
        "[models.\"{CONNECTION}/{}\"]\ntemperature = 0.0\nmax_tokens = 64\n",
        installed.name
    ))?;
    let window = stage.window().await?;
    window.find(containing("On this computer")).await?;
    window.find(named("Ready")).await?;
    hold_two_turns(&stage, window).await
}

/// What the small model says is often wrong: that it says something, and is told what it said, is
/// what counts.
async fn hold_two_turns(stage: &Stage, window: Window) -> Result<()> {
    for (turn, question) in ["Name a fruit.", "And another one?"].into_iter().enumerate() {
        window.say(question).await?;
        window.shows(question).await?;
        // The answer has ended when nothing can be stopped any more.
        until("a complete answer on disk", || async {
            let chat = stage.stored().await?.remove("Name a fruit.");
            Ok(chat.filter(|chat| {
                let answers = chat.answers();
                answers.len() == turn + 1
                    && answers.iter().all(|answer| !answer.trim().is_empty())
                    && chat.messages.iter().all(|message| {
                        matches!(message.ended, Some(Ending::Complete | Ending::Length))
                    })
            }))
        })
        .await?;
        window.gone(named("Stop")).await?;
    }
    window.close().await?;

    // Whoever answers counts what it was asked to read: the first answer is part of it.
    let chat = stage.stored().await?.remove("Name a fruit.").context("the chat")?;
    let usage = chat.of(Role::Assistant).into_iter().map(|answer| answer.usage.clone());
    let usage = usage.collect::<Option<Vec<Usage>>>().context("a count for each answer")?;
    let read = |turn: usize| usage[turn].prompt_tokens.context("a count of the prompt");
    let written = usage[0].completion_tokens.context("a count of the answer")?;
    assert!(read(1)? > read(0)? + written, "{usage:?}");
    Ok(())
}
