//! A model whose memory is a state that cannot be taken back.

use std::sync::Arc;

use anyhow::{Context, Result};
use chat_core::client::BuiltIn;
use chat_core::message::Role;
use serde_json::json;

use super::mamba::mamba;
use super::stage::{Heard, Stage, hear};

const QUESTION: &str = "one two three";

fn stage() -> Result<Stage> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("mamba.gguf");
    let bytes = mamba().bytes();
    assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    std::fs::write(&path, bytes)?;
    Stage::of(path, folder)
}

async fn say(stage: &Stage, client: &Arc<BuiltIn>, turns: &[(Role, &str)]) -> Heard {
    let heard = hear(client, stage.request(turns)).await;
    assert_eq!(heard.error, None);
    assert!(!heard.text.is_empty());
    heard
}

/// What an engine says that was asked nothing before.
async fn fresh(turns: &[(Role, &str)]) -> Result<String> {
    let stage = stage()?;
    Ok(say(&stage, &stage.client(), turns).await.text)
}

#[tokio::test]
async fn a_conversation_that_goes_on_is_known_and_one_that_changed_is_read_whole() -> Result<()> {
    let stage = stage()?;
    let client = stage.client();
    let first = say(&stage, &client, &[(Role::User, QUESTION)]).await;
    assert_eq!(first.usage.cached_tokens, Some(0));
    let asked = first.usage.prompt_tokens.context("no count")?;

    let turns = [(Role::User, QUESTION), (Role::Assistant, &*first.text), (Role::User, "four")];
    let second = say(&stage, &client, &turns).await;
    assert!(second.usage.cached_tokens >= Some(asked), "{:?}", second.usage);
    assert_eq!(second.text, fresh(&turns).await?);

    // What was said is not what the memory holds: nothing of that can be used.
    let changed = [(Role::User, QUESTION), (Role::Assistant, "seven"), (Role::User, "four")];
    let third = say(&stage, &client, &changed).await;
    assert_eq!(third.usage.cached_tokens, Some(0), "{:?}", third.usage);
    assert!(third.usage.prompt_tokens > Some(asked));
    assert_eq!(third.text, fresh(&changed).await?);
    assert_ne!(third.text, second.text, "what was said before makes no difference");
    Ok(())
}

#[tokio::test]
async fn an_answer_that_is_given_up_leaves_nothing_behind() -> Result<()> {
    let stage = stage()?;
    let client = stage.client();
    let alone = say(&stage, &client, &[(Role::User, QUESTION)]).await;
    for (wait, text) in [("content\":\"", QUESTION), ("prompt_progress", &"one two ".repeat(300))] {
        let mut body = stage.body(text);
        (body["max_tokens"], body["context_window"]) = (json!(null), json!(4096));
        let mut given_up = stage.begin(body).await?;
        given_up.until(wait).await?;
        drop(given_up);
        let after = say(&stage, &client, &[(Role::User, QUESTION)]).await;
        assert_eq!(after.text, alone.text);
    }
    Ok(())
}

#[tokio::test]
async fn nothing_is_drafted_where_it_could_not_be_taken_back() -> Result<()> {
    let stage = stage()?;
    let client = stage.client();
    say(&stage, &client, &[(Role::User, "Hi")]).await;
    // It would be easy to guess.
    let mut body = stage.body("abcabcabc");
    (body["grammar"], body["max_tokens"]) = (json!("root ::= \"abc\" root"), json!(300));
    let (status, answer) = stage.post("/v1/chat/completions", body).await?;
    assert_eq!(status, 200, "{answer}");
    let timings = &answer["timings"];
    assert_eq!(
        (timings["predicted_n"].as_u64(), timings["draft_n"].as_u64()),
        (Some(300), Some(0))
    );
    Ok(())
}
