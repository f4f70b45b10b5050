//! Drafts from what was said before: they change how fast an answer comes, and nothing else.

use anyhow::{Context, Result};
use chat_core::message::Role;
use serde_json::{Value, json};

use super::stage::{Stage, hear};

const CODE: &str = "fn area(width: u32, height: u32) -> u32 {\n    let area = width * height;\n    \
    println!(\"the area is {area}\");\n    area\n}\n\nfn edge(width: u32, height: u32) -> u32 {\n    \
    let edge = 2 * (width + height);\n    println!(\"the edge is {edge}\");\n    edge\n}\n";

/// What came of a request.
#[derive(Debug, PartialEq)]
struct DraftedReply {
    text: String,
    finish: Value,
    written: Value,
}

/// Asks with drafts of so many tokens wherever anything was found, and tells beside what was said how many
/// tokens of them were tried and how many were right.
async fn say(stage: &Stage, mut body: Value, most: u32) -> Result<(DraftedReply, [u64; 2])> {
    (body["speculative.n_min"], body["speculative.n_max"]) = (json!(most), json!(most));
    let (status, answer) = stage.post("/v1/chat/completions", body).await?;
    anyhow::ensure!(status == 200, "{answer}");
    let choice = &answer["choices"][0];
    let timings = &answer["timings"];
    let count = |name: &str| timings[name].as_u64().context("no count");
    let said = DraftedReply {
        text: choice["message"]["content"].as_str().context("no text")?.to_owned(),
        finish: choice["finish_reason"].clone(),
        written: timings["predicted_n"].clone(),
    };
    Ok((said, [count("draft_n")?, count("draft_n_accepted")?]))
}

/// Asks with and without, and gives what was said and how many drafted tokens were right.
async fn compare(stage: &Stage, body: &Value) -> Result<(DraftedReply, u64)> {
    let (without, none) = say(stage, body.clone(), 0).await?;
    assert_eq!(none, [0, 0]);
    let (with, [tried, right]) = say(stage, body.clone(), 8).await?;
    assert!(right <= tried, "{right} of {tried}");
    assert_eq!(with, without, "{body}");
    Ok((with, right))
}

/// With an engine that runs.
async fn running() -> Result<Option<(Stage, std::sync::Arc<chat_core::client::BuiltIn>)>> {
    let Some(stage) = Stage::new()? else { return Ok(None) };
    let client = stage.client();
    assert_eq!(hear(&client, stage.request(&[(Role::User, "Hi")])).await.error, None);
    Ok(Some((stage, client)))
}

fn with(mut body: Value, more: &Value) -> Value {
    let more = more.as_object().into_iter().flatten();
    more.for_each(|(key, value)| body[key] = value.clone());
    body
}

#[tokio::test]
async fn the_same_is_said_with_drafts_and_without() -> Result<()> {
    let Some((stage, _client)) = running().await? else { return Ok(()) };
    let again = format!("Repeat this code, but call the first function `size`:\n{CODE}");
    let list = "Go on with this list: river stone cloud river stone cloud river stone cloud";
    let person = json!({ "type": "object", "properties": { "first name": { "type": "string" },
        "last name": { "type": "string" } }, "required": ["first name", "last name"] });
    let people = json!({ "type": "json_object", "schema": {
        "type": "array", "items": person, "minItems": 4, "maxItems": 4 } });
    let mut accepted = 0;
    for (text, more) in [
        (&*again, json!({ "max_tokens": 160 })),
        (&*again, json!({ "max_tokens": 160, "temperature": 0.7, "seed": 3 })),
        (&*again, json!({ "temperature": 0.4, "seed": 5, "repeat_penalty": 1.1 })),
        (list, json!({ "max_tokens": 100 })),
        (list, json!({ "max_tokens": 100, "temperature": 0.6, "seed": 7 })),
        (list, json!({ "dry_multiplier": 0.8, "frequency_penalty": 0.2 })),
        (list, json!({ "temperature": 0.9, "mirostat": 2, "seed": 1 })),
        ("Name four people.", json!({ "response_format": people, "max_tokens": 160 })),
        ("What is the sea like?", json!({ "max_tokens": 60, "temperature": 0.8, "seed": 11 })),
    ] {
        accepted += compare(&stage, &with(stage.body(text), &more)).await?.1;
    }
    assert!(accepted > 100, "{accepted} tokens were written without an evaluation of their own");
    Ok(())
}

#[tokio::test]
async fn an_answer_ends_in_the_middle_of_a_draft() -> Result<()> {
    let Some((stage, _client)) = running().await? else { return Ok(()) };
    let repeats = json!({ "grammar": "root ::= \"one two three four five six \" root" });
    let body = with(stage.body("Count again and again."), &repeats);
    for tokens in 90..100 {
        let body = with(body.clone(), &json!({ "max_tokens": tokens }));
        let (said, accepted) = compare(&stage, &body).await?;
        assert_eq!((said.finish, said.written), (json!("length"), json!(tokens)));
        assert!(accepted > 20, "{accepted}");
    }
    let (said, _) = compare(&stage, &with(body.clone(), &json!({ "max_tokens": 95 }))).await?;
    // Texts at which it ends only after it was repeated several times.
    let stops = "one two three four five six ".repeat(8);
    for at in 3..7 {
        let words: Vec<_> = stops.split_inclusive(' ').skip(at).take(42 - at).collect();
        let stop = words.concat();
        assert!(said.text.contains(&stop), "{}", said.text);
        let (said, _) =
            compare(&stage, &with(body.clone(), &json!({ "stop": stop, "max_tokens": 95 })))
                .await?;
        assert_eq!(said.finish, "stop");
    }
    Ok(())
}

#[tokio::test]
async fn a_window_is_filled_to_the_same_token() -> Result<()> {
    let Some(mut stage) = Stage::new()? else { return Ok(()) };
    // They divide the window, and what drafts would reach beyond is not there.
    stage.options.settings.slots = 2;
    let client = stage.client();
    let mut first = stage.request(&[(Role::User, "Hi")]);
    first.options.context_window = Some(512);
    assert_eq!(hear(&client, first).await.error, None);
    for word in ["one", "two and", "three or four"] {
        let mut body = stage.body(&format!("Say {word}"));
        (body["max_tokens"], body["context_window"]) = (Value::Null, json!(512));
        body["grammar"] = json!(format!("root ::= \"{word} \" root"));
        let (said, accepted) = compare(&stage, &body).await?;
        assert_eq!(said.finish, "length");
        assert!(accepted > 100, "{accepted}");
    }
    Ok(())
}

#[tokio::test]
async fn what_drafts_left_in_memory_changes_no_later_turn() -> Result<()> {
    let Some((stage, client)) = running().await? else { return Ok(()) };
    let repeats = json!({ "grammar": "root ::= \"one two three four \" root", "max_tokens": 60 });
    let first = with(stage.body("Count."), &repeats);
    let mut told = Vec::new();
    for most in [0, 8] {
        let (said, [_, right]) = say(&stage, first.clone(), most).await?;
        assert_eq!(right > 0, most > 0, "{right}");
        let turns = [(Role::User, "Count."), (Role::Assistant, &said.text), (Role::User, "Go on.")]
            .map(|(role, text)| json!({ "role": role, "content": text }));
        let second = with(stage.body(""), &json!({ "messages": turns }));
        told.push((said, say(&stage, second, 0).await?.0));
        // Everything is forgotten between the two.
        hear(&client, stage.request(&[(Role::User, "Something else.")])).await;
    }
    assert_eq!(told[0], told[1]);
    Ok(())
}
