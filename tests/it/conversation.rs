//! Tests one conversation: sending, streaming, stopping, closing, coming back.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use chat_core::message::Ending;
use chat_testkit::server::{End, Gate, Script};
use chat_testkit::ui::{Role, containing, named, until};

use crate::stage::{Stage, Window};

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
async fn stop_keeps_what_had_come_and_closes_the_stream() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("count", Script::new().text("Answer: one, two, ").gate(&gate).text("three"));
    let window = stage.window().await?;
    window.say("count for me").await?;
    window.shows("Answer: one, two,").await?;

    window.click(named("Stop")).await?;

    window.gone(named("Stop")).await?;
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
async fn quitting_while_a_model_is_busy_asks_and_keeps_what_had_come() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("story", Script::new().text("Answer: once upon a time").gate(&gate));
    let window = stage.window().await?;
    window.say("a story").await?;
    window.shows("Answer: once upon a time").await?;

    window.keys(&["ctrl+q"]).await?;
    window.click(containing("top and Quit").role(Role::Button)).await?;

    window.ended().await?;
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

    window.kill().await?;

    let window = stage.window().await?;
    window.find(named("Reply interrupted").under("Chats")).await?;
    window.open("a story").await?;
    window.shows("Answer: once upon a time").await?;
    window.find(named("Continue")).await?;
    window.find(named("Retry")).await?;
    let chat = stage.stored().await?.remove("a story").expect("the chat");
    assert_eq!(chat.last()?.ended, Some(Ending::Interrupted));
    window.close().await
}

/// A chat whose first reply has begun, and in which another message waits.
async fn with_one_waiting() -> Result<(Stage, Gate, Window)> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.when("first", Script::new().text("Answer one").gate(&gate));
    let window = stage.window().await?;
    window.say("first").await?;
    window.shows("Answer one").await?;
    window.say("afterwards").await?;
    window.shows("afterwards").await?;
    Ok((stage, gate, window))
}

#[tokio::test]
async fn what_waits_when_one_stops_is_sent_only_when_one_says_so() -> Result<()> {
    let (stage, _gate, window) = with_one_waiting().await?;

    window.click(named("Stop")).await?;
    window.shows("Not sent").await?;
    assert_eq!(stage.server.chats().len(), 1, "stop means stop");
    window.click(named("Send Now")).await?;
    window.shows("You said: afterwards").await?;
    window.gone(named("Send Now")).await?;
    window.close().await
}

#[tokio::test]
async fn an_interrupted_reply_is_continued_though_a_message_was_not_sent() -> Result<()> {
    let (stage, _gate, window) = with_one_waiting().await?;
    stage
        .stored_when("first", "the beginning of the answer", |chat| {
            chat.answers() == ["Answer one"]
        })
        .await?;
    window.kill().await?;

    let window = stage.window().await?;
    window.open("first").await?;
    window.shows("Not sent").await?;
    window.find(named("Send Now")).await?;
    window.find(named("Retry")).await?;
    stage.server.push(Script::new().text("Answer two"));
    window.click(named("Continue")).await?;
    window.shows("Answer two").await?;
    // What waited goes out after a reply that went well.
    window.shows("You said: afterwards").await?;
    window.gone(named("Send Now")).await?;
    let last = stage.server.chats().pop().expect("a request");
    assert_eq!(last.texts_of("assistant"), ["Answer oneAnswer two"], "both are one reply");
    window.close().await
}

#[tokio::test]
async fn a_stopped_reply_is_asked_for_again_though_a_message_was_not_sent() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.push(Script::new().text("Answer one").gate(&gate));
    let window = stage.window().await?;
    window.say("first").await?;
    window.shows("Answer one").await?;
    window.say("afterwards").await?;
    window.shows("afterwards").await?;
    window.click(named("Stop")).await?;
    window.shows("Not sent").await?;
    window.find(named("Continue")).await?;
    window.click(named("Retry")).await?;
    window.shows("You said: first").await?;
    window.shows("You said: afterwards").await?;
    window.gone(named("Send Now")).await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_is_there_again_after_a_restart() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("How deep is the sea?").await?;
    window.shows("You said: How deep is the sea?").await?;
    window.find(containing("How deep is the sea?").under("Chats")).await?;
    window.close().await?;

    let window = stage.window().await?;
    window.shows("You said: How deep is the sea?").await?;
    window.say("And the sky?").await?;
    window.shows("You said: And the sky?").await?;
    let second = stage.server.chats().pop().expect("a second request");
    assert_eq!(second.texts_of("assistant"), ["You said: How deep is the sea?"]);
    window.close().await
}

#[tokio::test]
async fn a_draft_belongs_to_its_chat_and_survives() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("The first chat").await?;
    window.shows("You said: The first chat").await?;
    window.type_text("half a thought").await?;
    window.holds("half a thought").await?;
    window.keys(&["ctrl+n"]).await?;
    window.holds("").await?;
    window.type_text("something new").await?;
    window.holds("something new").await?;
    window.keys(&["alt+Down"]).await?;
    window.holds("half a thought").await?;
    window.close().await?;

    let window = stage.window().await?;
    window.holds("half a thought").await?;
    window.keys(&["ctrl+n"]).await?;
    window.holds("something new").await?;
    window.close().await
}

#[tokio::test]
async fn a_message_sent_while_busy_waits_visibly_and_goes_out_after() -> Result<()> {
    let stage = Stage::new().await?;
    let (begin, gate) = (Gate::new(), Gate::new());
    let slowly = Script::new().gate_first(&begin).text("Slowly ").gate(&gate).text("done.");
    stage.server.when("first", slowly);
    let window = stage.ready().await?;
    window.say("the first").await?;
    window.find(named("Stop")).await?;
    window.find(named("Waiting").under("Chats")).await?;
    begin.open();
    window.shows("Slowly").await?;
    window.find(named("Replying…").under("Chats")).await?;
    window.say("the second").await?;
    window.shows("the second").await?;
    assert_eq!(stage.server.chats().len(), 1);
    gate.open();
    window.shows("You said: the second").await?;
    window.gone(named("Stop")).await?;
    window.close().await
}

#[tokio::test]
async fn escape_stops_only_when_pressed_twice() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, _gate) = stage.telling().await?;
    window.keys(&["Escape"]).await?;
    window.find(containing("Press Esc again")).await?;
    assert!(window.has(named("Stop")).await);
    window.keys(&["Escape"]).await?;
    window.gone(named("Stop")).await?;
    window.shows("You stopped this reply").await?;
    window.close().await
}

#[tokio::test]
async fn another_escape_is_asked_for_only_in_the_chat_that_it_would_stop() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, _gate) = stage.telling().await?;
    until("the words to go with the chat that they are about", || async {
        window.open("a long story").await?;
        window.find(named("Message")).await?.click_with_mouse().await?;
        let began = Instant::now();
        window.keys(&["Escape"]).await?;
        window.find(containing("Press Esc again")).await?;
        window.keys(&["ctrl+n"]).await?;
        window.gone(containing("Press Esc again")).await?;
        // Later they would have gone by themselves.
        Ok((began.elapsed() < Duration::from_secs(3)).then_some(()))
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn a_reply_that_looks_like_a_loop_says_so_and_can_be_stopped_there() -> Result<()> {
    let stage = Stage::new().await?;
    let (seen, gate) = (Gate::new(), Gate::new());
    let line = "The king looked at the moon and went home again.\n";
    let script = Script::new().text("Once upon a time.\n").gate(&seen);
    let script = script.texts(vec![line; 400]).gate(&gate).text("Something else.");
    stage.server.when("story", script);
    let window = stage.ready().await?;
    window.say("Tell me a story").await?;
    // Before the window shows the chat nobody watches it.
    window.shows("Once upon a time.").await?;
    seen.open();
    window.find(named("Possibly stuck in a loop")).await?;
    window.click(named("Stop").role(Role::Button).under("Conversation")).await?;
    window.gone(named("Possibly stuck in a loop")).await?;
    window.find(containing("You stopped this reply")).await?;
    window.close().await
}
