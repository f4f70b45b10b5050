//! One conversation: sending, streaming, stopping, closing, coming back.

use anyhow::{Result, ensure};
use chat_core::message::Ending;
use chat_testkit::server::{End, Gate, Script};
use chat_testkit::ui::{Role, containing, named, until};

use crate::stage::Stage;

/// Run a second time by `scripts/test network`, where there is no network but loopback.
#[tokio::test]
async fn loopback_alone_is_enough_for_a_conversation_in_the_window() -> Result<()> {
    if std::env::var_os("NATTER_TEST_LOOPBACK_ALONE").is_some() {
        let devices = std::fs::read_to_string("/proc/net/dev")?;
        let others = devices.lines().skip(2).filter(|line| !line.trim_start().starts_with("lo:"));
        ensure!(others.count() == 0, "there are other networks:\n{devices}");
    }
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.say("Is anybody here?").await?;
    window.shows("You said: Is anybody here?").await?;
    window.close().await
}

#[tokio::test]
async fn an_answer_appears_as_it_comes_and_goes_back_with_the_next_question() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage
        .server
        .when("first", Script::new().text("Answer one begins, ").gate(&gate).text("and ends."));
    stage.server.when("second", Script::new().text("Answer two."));
    let window = stage.window().await?;

    window.say("my first question").await?;
    // What has come is shown while the rest is still to come.
    window.shows("Answer one begins,").await?;
    gate.open();
    window.shows("Answer one begins, and ends.").await?;
    window.say("my second question").await?;
    window.shows("Answer two.").await?;

    let requests = stage.server.wait_for_chats(2).await;
    assert_eq!(requests[1].texts_of("assistant"), ["Answer one begins, and ends."]);
    assert_eq!(requests[1].texts_of("user"), ["my first question", "my second question"]);
    window.close().await?;
    let stored = stage.stored().await?;
    let (_, chat) = stored.first_key_value().expect("one chat");
    assert_eq!(chat.answers(), ["Answer one begins, and ends.", "Answer two."]);
    Ok(())
}

#[tokio::test]
async fn a_chat_is_there_again_after_a_restart() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.say("Remember the milk").await?;
    window.shows("You said: Remember the milk").await?;
    window.close().await?;

    let window = stage.window().await?;
    window.open("Remember the milk").await?;
    window.shows("You said: Remember the milk").await?;
    // And it can be gone on with.
    window.say("And the bread").await?;
    window.shows("You said: And the bread").await?;
    let requests = stage.server.wait_for_chats(2).await;
    assert_eq!(requests[1].texts_of("assistant"), ["You said: Remember the milk"]);
    window.close().await
}

#[tokio::test]
async fn stop_keeps_what_had_come_and_closes_the_stream() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("count", Script::new().text("Answer: one, two, ").gate(&gate).text("three"));
    let window = stage.window().await?;
    window.say("count for me").await?;
    window.shows("Answer: one, two,").await?;

    window.app.click(named("Stop")).await?;

    window.app.gone(named("Stop")).await?;
    assert_eq!(stage.server.wait_for_end(0).await.sent().end, End::ClientGone);
    let chat = stage
        .stored_when("count for me", "a stopped answer", |chat| {
            chat.last().is_ok_and(|last| last.ended == Some(Ending::Stopped))
        })
        .await?;
    assert_eq!(chat.answers(), ["Answer: one, two, "]);
    // The next turn works, and the model is told what it had said.
    window.say("go on").await?;
    window.shows("You said: go on").await?;
    assert_eq!(stage.server.chats()[1].texts_of("assistant"), ["Answer: one, two, "]);
    window.close().await
}

#[tokio::test]
async fn a_message_sent_while_the_model_is_busy_waits_and_goes_out_by_itself() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("first", Script::new().text("Answer one").gate(&gate));
    let window = stage.window().await?;
    window.say("first").await?;
    window.shows("Answer one").await?;
    window.say("afterwards").await?;
    window.shows("afterwards").await?;
    assert_eq!(stage.server.chats().len(), 1);
    gate.open();
    window.shows("You said: afterwards").await?;
    window.close().await
}

#[tokio::test]
async fn quitting_while_a_model_is_busy_asks_and_keeps_what_had_come() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("story", Script::new().text("Answer: once upon a time").gate(&gate));
    let window = stage.window().await?;
    window.say("a story").await?;
    window.shows("Answer: once upon a time").await?;

    window.app.keys(&["ctrl+q"]).await?;
    window.app.click(containing("top and Quit").role(Role::Button)).await?;

    window.app.ended().await?;
    let chat = stage.stored_when("a story", "an ended answer", |chat| {
        chat.last().is_ok_and(|last| last.ended.is_some())
    });
    assert_eq!(chat.await?.answers(), ["Answer: once upon a time"]);
    Ok(())
}

#[tokio::test]
async fn a_killed_program_shows_afterwards_what_had_come() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("story", Script::new().text("Answer: once upon a time").gate(&gate));
    let window = stage.window().await?;
    window.say("a story").await?;
    window.shows("Answer: once upon a time").await?;
    until("the answer's beginning on disk", || async {
        Ok(stage
            .stored()
            .await?
            .remove("a story")
            .filter(|chat| chat.answers() == ["Answer: once upon a time"]))
    })
    .await?;

    window.app.kill().await?;

    let window = stage.window().await?;
    window.app.find(named("the reply was interrupted").under("Chats")).await?;
    window.open("a story").await?;
    window.shows("Answer: once upon a time").await?;
    window.app.find(named("Continue")).await?;
    window.app.find(named("Retry")).await?;
    let chat = stage.stored().await?.remove("a story").expect("the chat");
    assert_eq!(chat.last()?.ended, Some(Ending::Interrupted));
    window.close().await
}

#[tokio::test]
async fn what_waits_when_one_stops_is_sent_only_when_one_says_so() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("first", Script::new().text("Answer one").gate(&gate));
    let window = stage.window().await?;
    window.say("first").await?;
    window.shows("Answer one").await?;
    window.say("afterwards").await?;
    window.shows("afterwards").await?;

    window.app.click(named("Stop")).await?;
    window.shows("Not sent").await?;
    assert_eq!(stage.server.chats().len(), 1, "stop means stop");
    window.app.click(named("Send Now")).await?;
    window.shows("You said: afterwards").await?;
    window.app.gone(named("Send Now")).await?;
    window.close().await
}
