//! Tests that errors are shown in a plain sentence, and that the user can try again.

use anyhow::Result;
use chat_core::message::Ending;
use chat_testkit::server::{Script, unused_port};
use chat_testkit::ui::{containing, named};

use crate::stage::Stage;

#[tokio::test]
async fn an_error_is_a_card_that_can_be_tried_again() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.push(Script::status(500, r#"{"error":{"message":"the GPU fell off the bus"}}"#));
    stage.server.push(Script::new().text("Answer after all."));
    let window = stage.window().await?;
    window.say("try it").await?;
    window.find(named("Retry")).await?.click_with_mouse().await?;
    window.shows("Answer after all.").await?;
    // The button is gone, and the keyboard is where one goes on.
    window.writes().await?;
    let requests = stage.server.wait_for_chats(2).await;
    assert_eq!(requests[1].texts_of("user"), ["try it"]);
    window.close().await?;
    let chat = stage.stored().await?.remove("try it").expect("the chat");
    assert_eq!(chat.last()?.ended, Some(Ending::Complete));
    assert_eq!(chat.last()?.plain_text(), "Answer after all.");
    Ok(())
}

#[tokio::test]
async fn a_stream_that_is_cut_can_be_tried_again_or_gone_on_with() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.push(Script::new().text("Answer: the first half").cut());
    stage.server.push(Script::new().text(" and the second half"));
    let window = stage.window().await?;
    window.say("a long one").await?;
    window.shows("Answer: the first half").await?;
    window.find(named("Retry")).await?;
    window.find(named("Continue")).await?.click_with_mouse().await?;
    window.shows("and the second half").await?;
    window.writes().await?;
    let requests = stage.server.wait_for_chats(2).await;
    assert_eq!(
        requests[1].texts_of("assistant").first().map(String::as_str),
        Some("Answer: the first half")
    );
    window.close().await
}

#[tokio::test]
async fn a_server_that_is_not_running_is_named() -> Result<()> {
    let stage = Stage::bare().await?;
    stage.configure(&format!("http://127.0.0.1:{}", unused_port()))?;
    let window = stage.window_as_it_comes().await?;
    window.find(containing("Couldn’t connect to “Test”")).await?;
    window.close().await
}
