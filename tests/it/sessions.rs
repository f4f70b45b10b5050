//! Tests several sessions that run at once.

use anyhow::Result;
use chat_testkit::server::{Gate, Script, text};
use chat_testkit::ui::{named, until};

use crate::stage::Stage;

/// How often another chat is opened while two stream.
const SWITCHES: usize = 10;

#[tokio::test]
async fn two_sessions_stream_while_a_third_is_shown_and_none_loses_a_byte() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    let stream = |blocks| {
        let pieces = text::pieces(&text::markdown(12_000, blocks), 1500);
        Script::new().gate_first(&gate).paced(pieces, 100.0)
    };
    stage.server.when("alpha", stream(3));
    stage.server.when("beta", stream(5));
    stage.server.when("gamma", Script::new().text("Answer gamma."));
    let window = stage.window().await?;
    for (index, name) in ["alpha", "beta", "gamma"].into_iter().enumerate() {
        if index > 0 {
            window.keys(&["ctrl+n"]).await?;
        }
        window.say(name).await?;
        stage.server.wait_for_chats(index + 1).await;
        window.find(named(name).under("Chats")).await?;
    }
    window.shows("Answer gamma.").await?;

    gate.open();
    for switch in 0..SWITCHES {
        let name = ["alpha", "gamma", "beta"][switch % 3];
        window.open(name).await?;
        if name == "gamma" {
            window.shows("Answer gamma.").await?;
        }
    }
    window.open("gamma").await?;
    window.shows("Answer gamma.").await?;

    for index in 0..3 {
        let sent = stage.server.wait_for_end(index).await;
        let name = sent.texts_of("user").remove(0);
        let text = sent.sent().text;
        assert!(!text.is_empty());
        until(&format!("all of {name} on disk"), || async {
            let chat = stage.stored().await?.remove(&name);
            Ok(chat.filter(|chat| chat.answers() == [text.clone()]).map(drop))
        })
        .await?;
    }
    window.close().await
}
