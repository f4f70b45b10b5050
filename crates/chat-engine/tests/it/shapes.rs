//! Answers of a given shape: forced calls, schemas, grammars, stop texts, and vectors.

use anyhow::{Context, Result};
use chat_core::client::Finish;
use chat_core::message::Role;
use serde_json::{Value, json};

use super::stage::{Stage, hear, must_call};

#[tokio::test]
async fn a_call_that_must_be_made_is_made_and_follows_the_schema() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let client = stage.client();
    let request = must_call(stage.request(&[(Role::User, "What is the weather in Rome?")]));
    let heard = hear(&client, request).await;
    assert_eq!(heard.error, None);
    assert_eq!(heard.finish, Some(Finish::ToolCalls), "{heard:?}");
    let [(name, arguments)] = &heard.calls[..] else { panic!("{heard:?}") };
    assert_eq!(name, "weather");
    let arguments: Value = serde_json::from_str(arguments)?;
    assert!(arguments["place"].is_string() && arguments["days"].is_i64(), "{arguments}");
    assert_eq!(heard.text, "");
    Ok(())
}

#[tokio::test]
async fn a_call_follows_a_schema_whose_parts_are_named() -> Result<()> {
    let Some(stage) = Stage::new()? else { return Ok(()) };
    let mut request = must_call(stage.request(&[(Role::User, "What is the weather in Rome?")]));
    request.tools[0].parameters = json!({
        "type": "object",
        "properties": { "place": { "$ref": "#/$defs/place" } },
        "required": ["place"],
        "additionalProperties": false,
        "$defs": { "place": { "enum": ["here", "there"] } },
    });
    let heard = hear(&stage.client(), request).await;
    assert_eq!(heard.error, None);
    let [(_, arguments)] = &heard.calls[..] else { panic!("{heard:?}") };
    let arguments: Value = serde_json::from_str(arguments)?;
    assert!(arguments["place"] == "here" || arguments["place"] == "there", "{arguments}");
    Ok(())
}

/// An engine that runs, to be asked without the client.
async fn running() -> Result<Option<(Stage, std::sync::Arc<chat_core::client::BuiltIn>)>> {
    let Some(stage) = Stage::new()? else { return Ok(None) };
    let client = stage.client();
    assert_eq!(hear(&client, stage.request(&[(Role::User, "Hi")])).await.error, None);
    Ok(Some((stage, client)))
}

#[tokio::test]
async fn an_answer_follows_a_schema() -> Result<()> {
    let Some((stage, _client)) = running().await? else { return Ok(()) };
    let mut body = stage.body("Name a city.");
    let schema = json!({
        "type": "object",
        "properties": { "city": { "type": "string", "maxLength": 12 }, "big": { "type": "boolean" } },
        "required": ["city", "big"],
        "additionalProperties": false,
    });
    let named = json!({ "name": "city", "schema": schema });
    body["response_format"] = json!({ "type": "json_schema", "json_schema": named });
    let (status, answer) = stage.post("/v1/chat/completions", body).await?;
    assert_eq!(status, 200, "{answer}");
    let text = answer["choices"][0]["message"]["content"].as_str().context("no text")?;
    let value: Value = serde_json::from_str(text)?;
    assert!(value["city"].is_string() && value["big"].is_boolean(), "{value}");
    Ok(())
}

#[tokio::test]
async fn an_answer_follows_a_grammar_and_ends_at_a_stop_text() -> Result<()> {
    let Some((stage, _client)) = running().await? else { return Ok(()) };
    let mut body = stage.body("Yes or no?");
    body["grammar"] = json!("root ::= \"yes and no and yes\"");
    let (_, answer) = stage.post("/v1/chat/completions", body.clone()).await?;
    let text = |answer: &Value| answer["choices"][0]["message"]["content"].clone();
    assert_eq!(text(&answer), "yes and no and yes");
    body["stop"] = json!([" and no"]);
    let (_, answer) = stage.post("/v1/chat/completions", body).await?;
    assert_eq!(
        (text(&answer), &answer["choices"][0]["finish_reason"]),
        (json!("yes"), &json!("stop"))
    );
    Ok(())
}

#[tokio::test]
async fn the_same_seed_gives_the_same_answer() -> Result<()> {
    let Some((stage, _client)) = running().await? else { return Ok(()) };
    let mut body = stage.body("Tell me a story.");
    (body["temperature"], body["seed"], body["top_k"]) = (json!(1.5), json!(7), json!(0));
    let (_, one) = stage.post("/v1/chat/completions", body.clone()).await?;
    // The second time the prompt is known.
    let (_, other) = stage.post("/v1/chat/completions", body.clone()).await?;
    let (_, third) = stage.post("/v1/chat/completions", body).await?;
    let text = |answer: &Value| answer["choices"][0]["message"]["content"].clone();
    assert_eq!(text(&other), text(&third));
    assert!(text(&one).as_str().is_some_and(|text| !text.is_empty()));
    Ok(())
}

#[tokio::test]
async fn what_cannot_be_followed_is_refused_with_words() -> Result<()> {
    let Some((stage, _client)) = running().await? else { return Ok(()) };
    let mut wrong = stage.body("Hi");
    wrong["grammar"] = json!("root ::= (");
    let mut schema = stage.body("Hi");
    schema["response_format"] = json!({ "type": "json_schema", "schema": { "$ref": "#/nowhere" } });
    let mut picture = stage.body("Hi");
    picture["messages"][0]["content"] =
        json!([{ "type": "image_url", "image_url": { "url": "data:" } }]);
    for body in [wrong, schema, picture, json!({ "model": 3 }), json!([])] {
        let (status, answer) = stage.post("/v1/chat/completions", body).await?;
        assert_eq!(status, 400, "{answer}");
        assert!(answer["error"]["message"].as_str().is_some_and(|words| !words.is_empty()));
    }
    // It lives, and answers.
    let (status, _) = stage.post("/v1/chat/completions", stage.body("Hi")).await?;
    assert_eq!(status, 200);
    Ok(())
}

#[tokio::test]
async fn texts_become_vectors_that_tell_them_apart() -> Result<()> {
    let Some((stage, _client)) = running().await? else { return Ok(()) };
    let body = json!({ "model": stage.path, "input": ["a cat", "a cat", "stock market"] });
    let (status, answer) = stage.post("/v1/embeddings", body).await?;
    assert_eq!(status, 200, "{answer}");
    let vector = |index: usize| -> Vec<f64> {
        let values = answer["data"][index]["embedding"].as_array().into_iter().flatten();
        values.filter_map(Value::as_f64).collect()
    };
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let (one, same, other) = (vector(0), vector(1), vector(2));
    assert!((near(&one, &one) - 1.0).abs() < 1e-3);
    assert!(near(&one, &same) > near(&one, &other) + 0.01);
    // None is left out, since each answer stands at its text's place.
    let body = json!({ "model": stage.path, "input": ["a cat", "", "stock market"] });
    let (status, answer) = stage.post("/v1/embeddings", body).await?;
    assert_eq!(status, 400, "{answer}");
    Ok(())
}
