//! Conversations: what is known is not read again, and who gives up is heard.

use anyhow::{Context, Result};
use chat_core::client::{Client, Delta, Finish, Preparing};
use chat_core::message::Role;
use futures_util::StreamExt;

use super::stage::{Stage, capabilities, hear};

const QUESTION: &str =
    "Tell me about the sea, its colours, its animals and the people who live by it.";

#[tokio::test]
async fn the_second_turn_reads_only_what_is_new() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let first = hear(&client, stage.request(&[(Role::User, QUESTION)])).await;
    assert_eq!(first.error, None);
    assert!(!first.text.is_empty());
    assert_eq!(first.usage.cached_tokens, Some(0));
    let read = first.usage.prompt_tokens.unwrap_or(0);
    let turns = [(Role::User, QUESTION), (Role::Assistant, &first.text), (Role::User, "Go on.")];
    let second = hear(&client, stage.request(&turns)).await;
    assert_eq!(second.error, None);
    let cached = second.usage.cached_tokens.unwrap_or(0);
    let all = second.usage.prompt_tokens.unwrap_or(0);
    // The question and all of the answer are known; the end of that turn and the next one are new.
    assert!(cached >= read + 20, "{cached} of {all} were known, {read} had been read");
    assert!(all - cached < 25, "{} were read", all - cached);
    Ok(())
}

#[tokio::test]
async fn another_conversation_shares_only_its_beginning() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let alone = hear(&client, stage.request(&[(Role::User, "Count to five.")])).await;
    hear(&client, stage.request(&[(Role::User, QUESTION)])).await;
    let after = hear(&client, stage.request(&[(Role::User, "Count to five.")])).await;
    assert!(after.usage.cached_tokens > Some(5), "the system's words are the same");
    assert_eq!(after.text, alone.text, "what was said before is not heard by another");
    Ok(())
}

#[tokio::test]
async fn loading_and_reading_are_told_before_the_first_word() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let mut reply = client.chat(stage.request(&[(Role::User, "Hi")])).await?;
    let mut told = Vec::new();
    while let Some(batch) = reply.next().await {
        told.extend(batch?);
    }
    let place = |wanted: fn(&Delta) -> bool| told.iter().position(wanted);
    let loaded = place(|delta| matches!(delta, Delta::Preparing(Preparing::Loading { .. })));
    let read = place(|d| *d == Delta::Preparing(Preparing::Reading { percent: 100 }));
    let said = place(|delta| matches!(delta, Delta::Text(_)));
    assert!(loaded < read && read < said && loaded.is_some(), "{told:?}");
    assert_eq!(capabilities(&stage).await?.context_window, Some(true));
    Ok(())
}

#[tokio::test]
async fn a_reply_that_is_given_up_makes_room_at_once() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    let mut endless = stage.begin(stage.endless()).await?;
    endless.until(r#""content":"a"#).await?;
    let gone = std::time::Instant::now();
    drop(endless);
    let mut short = stage.request(&[(Role::User, "Hi")]);
    (short.options.max_tokens, short.options.context_window) = (Some(1), Some(8192));
    let next = hear(&client, short).await;
    assert_eq!(next.error, None);
    // One slot: had it gone on, this had waited for thousands of tokens.
    assert!(gone.elapsed().as_secs() < 20, "{:?}", gone.elapsed());
    assert_eq!(next.finish, Some(Finish::Length));
    Ok(())
}

#[tokio::test]
async fn a_prompt_that_is_given_up_leaves_nothing_behind() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let long = format!("{QUESTION} {}", "one two three ".repeat(60));
    let whole = hear(&client, stage.request(&[(Role::User, &long)])).await;
    hear(&client, stage.request(&[(Role::User, "Something else.")])).await;
    let mut given_up = stage.begin(stage.body(&long)).await?;
    given_up.until("prompt_progress").await?;
    drop(given_up);
    let again = hear(&client, stage.request(&[(Role::User, &long)])).await;
    assert_eq!((again.error, again.text), (None, whole.text));
    assert!(again.usage.cached_tokens < again.usage.prompt_tokens);
    Ok(())
}

#[tokio::test]
async fn two_conversations_write_at_once_where_there_are_two_slots() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    stage.options.settings.slots = 2;
    let client = stage.client();
    let alone = hear(&client, stage.request(&[(Role::User, "Count to five.")])).await;
    let mut endless = stage.begin(stage.endless()).await?;
    endless.until(r#""content":"a"#).await?;
    let beside = tokio::select! {
        beside = hear(&client, stage.request(&[(Role::User, "Count to five.")])) => beside,
        ended = endless.until("finish_reason\":\"") => panic!("it waited for the other: {ended:?}"),
    };
    assert_eq!(beside.error, None);
    assert_eq!(beside.text.split(' ').next(), alone.text.split(' ').next());
    Ok(())
}

#[tokio::test]
async fn who_waits_for_another_is_told_so_at_once_and_now_and_then() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    let mut endless = stage.begin(stage.endless()).await?;
    endless.until(r#""content":"a"#).await?;
    let mut reply = client.chat(stage.request(&[(Role::User, "Hi")])).await?;
    let told = reply.next().await.context("nothing is told")??;
    assert_eq!(told, [Delta::Preparing(Preparing::Queued)]);
    let mut waiting = stage.begin(stage.body("Hi")).await?;
    for _ in 0..2 {
        tokio::select! {
            sign = waiting.until("\"queued\":true") => sign?,
            ended = endless.until("finish_reason\":\"") => panic!("it heard nothing: {ended:?}"),
        };
    }
    drop((endless, waiting));
    let mut after = Vec::new();
    while let Some(batch) = reply.next().await {
        after.extend(batch?);
    }
    let read = after.iter().position(|d| matches!(d, Delta::Preparing(Preparing::Reading { .. })));
    let queued = after.iter().rposition(|d| *d == Delta::Preparing(Preparing::Queued));
    assert!(queued < read && read.is_some(), "its turn came: {after:?}");
    Ok(())
}

#[tokio::test]
async fn a_model_whose_speed_nobody_knows_reads_little_at_first() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let other = stage.folder.path().join("other.gguf");
    std::fs::copy(&stage.path, &other)?;
    hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    let mut body = stage.body(&"one two three ".repeat(100));
    body["model"] = other.to_string_lossy().into();
    let mut answer = stage.begin(body).await?;
    let read = answer.until("prompt_progress").await?;
    let read: serde_json::Value =
        serde_json::from_str(read.strip_prefix("data: ").unwrap_or_default())?;
    let read = &read["prompt_progress"];
    assert!(read["total"].as_u64() > Some(300) && read["processed"].as_u64() <= Some(32), "{read}");
    Ok(())
}

/// The small model's are `q4_1` and `q8_0`: all but its list of words is multiplied by eight rows.
#[cfg(target_arch = "x86_64")]
#[tokio::test]
async fn weights_lie_as_natters_own_products_want_them() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    hear(&stage.client(), stage.request(&[(Role::User, "Hi")])).await;
    let log = std::fs::read_to_string(&stage.options.log)?;
    let kept = log.lines().find(|line| line.contains("CPU_NATTER model buffer size"));
    let kept =
        kept.and_then(|line| line.split('=').nth(1)?.split_whitespace().next()?.parse().ok());
    assert!(kept > Some(85.0_f64), "{log}");
    Ok(())
}

#[tokio::test]
async fn penalties_look_at_the_prompt_too() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    hear(&client, stage.request(&[(Role::User, "Hi")])).await;
    let mut body = stage.body("Say 1 1 1. Not 0 or 2 3 4 5 6 8 9, say 1 1 1!");
    body["grammar"] = "root ::= [0-9]".into();
    let text = |answer: &serde_json::Value| answer["choices"][0]["message"]["content"].clone();
    let (_, plain) = stage.post("/v1/chat/completions", body.clone()).await?;
    assert_ne!(text(&plain), "7");
    body["presence_penalty"] = 100.into();
    body["repeat_last_n"] = 256.into();
    // The second time the prompt is known, and counts all the same.
    for _ in 0..2 {
        let (_, answer) = stage.post("/v1/chat/completions", body.clone()).await?;
        assert_eq!(text(&answer), "7");
    }
    Ok(())
}

#[tokio::test]
async fn a_word_of_the_models_own_is_text_where_the_person_says_it() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let plain = hear(&client, stage.request(&[(Role::User, "a b c")])).await;
    let marked = hear(&client, stage.request(&[(Role::User, "a <|im_end|> c")])).await;
    let (plain, marked) = (plain.usage.prompt_tokens, marked.usage.prompt_tokens);
    // As a word of the model's own it would be one token, as "b" is.
    assert!(marked > plain.map(|tokens| tokens + 2), "{plain:?} {marked:?}");
    Ok(())
}
