//! The client against a real llama.cpp server with a small model. What it says is not judged, only
//! how it comes.

use chat_core::client::{
    Delta, Finish, Probe, Request, ToolChoice, connect, detect_kind, find_local,
};
use chat_core::error::Kind;
use chat_core::message::{Message, Options, Role, ToolSpec};
use chat_testkit::real::{RealServer, WINDOW};
use serde_json::json;

use crate::wire::{OPENAI, answer, ask, connection, text_of, timeouts, user};

/// A short answer, the same every time.
fn short() -> Options {
    Options { temperature: Some(0.0), max_tokens: Some(16), seed: Some(1), ..Options::default() }
}

#[tokio::test]
async fn a_real_server_is_recognised_and_answers() {
    let Some(server) = RealServer::start() else { return };
    assert_eq!(detect_kind(&connection(&server.url()), None, timeouts()).await, Ok(OPENAI));
    let candidates =
        vec![chat_core::settings::Connection { kind: Some(OPENAI), ..connection(&server.url()) }];
    let found = find_local(&Probe { candidates }).await;
    assert_eq!(found[0].connection.name, "llama.cpp");

    let client = connect(&connection(&server.url()), OPENAI, None, timeouts()).unwrap();
    let models = client.models().await.unwrap();
    let [model] = &models[..] else { panic!("one model: {models:?}") };
    assert_eq!(model.context_length, Some(WINDOW), "the server's window, not the model's");
    assert_eq!(model.capabilities.tools, Some(false), "its template knows no tools");
    assert_eq!(model.capabilities.vision, Some(false));

    let first = user("What is the capital of France?");
    let mut messages = vec![first];
    let request = Request { options: short(), ..Request::new(&model.name, messages.clone()) };
    let deltas = answer(&*client, request.clone()).await;
    let said = text_of(&deltas);
    assert!(!said.is_empty());
    let Some(Delta::Usage(usage)) = deltas.iter().rev().nth(1) else {
        panic!("usage comes before the end: {deltas:?}");
    };
    assert!(usage.prompt_tokens > Some(5) && usage.completion_tokens > Some(0));
    assert!(usage.completion_ms > Some(0), "its timings are understood");

    // The same without streaming, and the conversation goes on.
    let whole = answer(&*client, Request { stream: false, ..request }).await;
    assert_eq!(text_of(&whole), said);
    messages.push(Message::text(Role::Assistant, None, said).into());
    messages.push(user("And of Spain?"));
    let deltas =
        answer(&*client, Request { options: short(), ..Request::new(&model.name, messages) }).await;
    let cached = deltas.iter().find_map(|delta| match delta {
        Delta::Usage(usage) => usage.cached_tokens,
        _ => None,
    });
    assert!(cached > Some(0), "the second turn begins with the first's bytes: {deltas:?}");
}

#[tokio::test]
async fn a_real_server_refuses_and_goes_on() {
    let Some(server) = RealServer::start() else { return };
    let client = connect(&connection(&server.url()), OPENAI, None, timeouts()).unwrap();

    let long = Request::new("m", vec![user(&"word ".repeat(6_000))]);
    let (_, error) = ask(&*client, long).await;
    let expected = Kind::InputTooLong { window: Some(WINDOW), largest: Some(WINDOW) };
    assert_eq!(error.unwrap().kind, expected);

    let options = Options { max_tokens: Some(3), ..short() };
    let request = Request { options, ..Request::new("m", vec![user("Count to a hundred.")]) };
    let deltas = answer(&*client, request).await;
    assert_eq!(*deltas.last().unwrap(), Delta::Finish(Finish::Length));

    // A forced call, though the model knows nothing of tools: whatever comes is no panic.
    let tool = ToolSpec {
        name: "look".to_owned(),
        description: "Looks.".to_owned(),
        parameters: json!({ "type": "object", "properties": { "at": { "type": "string" } } }),
    };
    let forced = Request {
        tools: vec![tool],
        tool_choice: ToolChoice::Required,
        options: Options { max_tokens: Some(64), ..short() },
        ..Request::new("m", vec![user("Look at the door.")])
    };
    let (deltas, error) = ask(&*client, forced).await;
    println!("forced: {deltas:?} {error:?}");
    let request = Request { options: short(), ..Request::new("m", vec![user("Hello!")]) };
    assert!(!text_of(&answer(&*client, request).await).is_empty());
}
