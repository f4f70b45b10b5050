//! All clients against the scripted server: what they make of what comes.

use std::sync::Arc;
use std::time::Duration;

use chat_core::client::{Client, Delta, Finish, Request, Timeouts, connect};
use chat_core::error::Error;
use chat_core::message::{Message, Role, Usage};
use chat_core::settings::{Connection, ConnectionKind, KeySource};
use chat_testkit::server::{End, Gate, Script, Server, Split};
use futures_util::StreamExt;
use rstest::rstest;
use serde_json::json;

pub const OLLAMA: ConnectionKind = ConnectionKind::Ollama;
pub const OPENAI: ConnectionKind = ConnectionKind::OpenAi;
pub const ANTHROPIC: ConnectionKind = ConnectionKind::Anthropic;

/// Time-outs that no busy machine meets by chance.
pub fn timeouts() -> Timeouts {
    let long = Duration::from_secs(25);
    Timeouts { connect: long, silence: long, question: long }
}

/// The same, but for a silence that a test can wait for.
pub fn impatient() -> Timeouts {
    Timeouts { silence: Duration::from_secs(1), ..timeouts() }
}

pub fn connection(url: &str) -> Connection {
    let name = "here".to_owned();
    Connection {
        name,
        kind: None,
        url: url.to_owned(),
        key: KeySource::None,
        models: Vec::new(),
        requests: None,
        ..Connection::default()
    }
}

pub fn client(server: &Server, kind: ConnectionKind) -> Arc<dyn Client> {
    connect(&connection(&server.url()), kind, None, timeouts()).unwrap()
}

pub fn user(text: &str) -> Arc<Message> {
    Message::text(Role::User, None, text).into()
}

pub fn hello() -> Request {
    Request::new("scripted", vec![user("Hello!")])
}

/// Everything that a request brought, neighbouring pieces joined, and how it failed.
pub async fn ask(client: &dyn Client, request: Request) -> (Vec<Delta>, Option<Error>) {
    match client.chat(request).await {
        Ok(mut reply) => {
            let mut deltas = Vec::new();
            while let Some(batch) = reply.next().await {
                match batch {
                    Ok(batch) => deltas.extend(batch),
                    Err(error) => {
                        assert!(reply.next().await.is_none(), "an error is the last");
                        return (joined(deltas), Some(error));
                    }
                }
            }
            (joined(deltas), None)
        }
        Err(error) => (Vec::new(), Some(error)),
    }
}

/// The same, of a request that must succeed.
pub async fn answer(client: &dyn Client, request: Request) -> Vec<Delta> {
    let (deltas, error) = ask(client, request).await;
    assert_eq!(error, None, "after {deltas:?}");
    assert!(matches!(deltas.last(), Some(Delta::Finish(_))), "{deltas:?}");
    deltas
}

pub fn joined(deltas: Vec<Delta>) -> Vec<Delta> {
    let mut out: Vec<Delta> = Vec::new();
    for delta in deltas {
        match (out.last_mut(), delta) {
            (Some(Delta::Text(text)), Delta::Text(more))
            | (Some(Delta::Thinking(text)), Delta::Thinking(more)) => *text += &more,
            (
                Some(Delta::ToolCall { index, arguments, .. }),
                Delta::ToolCall { index: more, id: None, arguments: rest, .. },
            ) if *index == more => *arguments += &rest,
            (_, delta) => out.push(delta),
        }
    }
    out
}

pub fn text_of(deltas: &[Delta]) -> String {
    deltas
        .iter()
        .filter_map(|delta| match delta {
            Delta::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[rstest]
#[tokio::test]
async fn a_reply_has_thinking_text_usage_and_an_end(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
    #[values(true, false)] stream: bool,
) {
    let server = Server::start();
    server.push(
        Script::new().thinking("Hm, ").thinking("日本語…").text("Hel").text("lo 🦀").usage(7, 4),
    );
    let deltas = answer(&*client(&server, kind), Request { stream, ..hello() }).await;
    let is_said = |delta: &&Delta| !matches!(delta, Delta::Provider { .. });
    let deltas: Vec<_> = deltas.iter().filter(is_said).cloned().collect();
    let [thinking, text, Delta::Usage(usage), finish] = &deltas[..] else {
        panic!("four kinds of deltas: {deltas:?}")
    };
    assert_eq!(*thinking, Delta::Thinking("Hm, 日本語…".to_owned()));
    assert_eq!(*text, Delta::Text("Hello 🦀".to_owned()));
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(7), Some(4)));
    if kind == OLLAMA {
        let millis = (usage.load_ms, usage.prompt_ms, usage.completion_ms);
        assert_eq!(millis, (Some(100), Some(200), Some(600)));
    }
    assert_eq!(*finish, Delta::Finish(Finish::Stop));
}

#[rstest]
#[tokio::test]
async fn torn_bytes_give_the_same_reply(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
    #[values(Split::EveryByte, Split::At(vec![3, 120, 200]), Split::Random(1), Split::Random(2))]
    split: Split,
) {
    let server = Server::start();
    let script = Script::new()
        .thinking("naïve 🦀 ")
        .texts(["日", "本", "語 ", "\"quoted\"\n\u{2028}\t\\"])
        .tool_call("call_1", "look", json!({ "where": "über\"all\n", "deep": { "x": [1, 2] } }));
    server.push(script.clone());
    let whole = answer(&*client(&server, kind), hello()).await;
    server.push(script.split(split));
    assert_eq!(answer(&*client(&server, kind), hello()).await, whole);
    assert_eq!(text_of(&whole), "日本語 \"quoted\"\n\u{2028}\t\\");
}

#[rstest]
#[tokio::test]
async fn tool_calls_come_whole_with_ids(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
    #[values(true, false)] stream: bool,
) {
    let server = Server::start();
    let script = Script::new()
        .text("I look.")
        .tool_call("call_1", "look", json!({ "at": "a" }))
        .tool_call_without_id("wait", json!({}));
    server.push(script);
    let deltas = answer(&*client(&server, kind), Request { stream, ..hello() }).await;
    let calls: Vec<_> = deltas
        .iter()
        .filter_map(|delta| match delta {
            Delta::ToolCall { index, id, name, arguments } => {
                Some((*index, id.clone().unwrap(), name.clone().unwrap(), arguments.clone()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 2);
    assert_eq!((calls[0].0, &*calls[0].1, &*calls[0].2), (0, "call_1", "look"));
    assert_eq!(calls[0].3, r#"{"at":"a"}"#);
    assert_eq!((calls[1].0, &*calls[1].2, &*calls[1].3), (1, "wait", "{}"));
    assert!(calls[1].1.starts_with("call_"), "an id was made: {}", calls[1].1);
    assert_eq!(*deltas.last().unwrap(), Delta::Finish(Finish::ToolCalls));
}

#[rstest]
#[case("length", Finish::Length)]
#[case("content_filter", Finish::Filtered)]
#[case("bored", Finish::Other("bored".to_owned()))]
#[tokio::test]
async fn other_ends_are_told(#[case] reason: &str, #[case] finish: Finish) {
    let server = Server::start();
    for kind in [OLLAMA, OPENAI, ANTHROPIC] {
        server.push(Script::new().text("x").finish(reason));
        let deltas = answer(&*client(&server, kind), hello()).await;
        assert_eq!(*deltas.last().unwrap(), Delta::Finish(finish.clone()));
    }
}

#[rstest]
#[tokio::test]
async fn dropping_the_reply_ends_it_at_the_server(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("before").gate(&gate).text("after"));
    let mut reply = client(&server, kind).chat(hello()).await.unwrap();
    let first = reply.next().await.unwrap().unwrap();
    assert_eq!(first, [Delta::Text("before".to_owned())]);
    drop(reply);
    assert_eq!(server.wait_for_end(0).await.sent().end, End::ClientGone);
}

#[rstest]
#[tokio::test]
async fn chunks_that_came_together_are_few_batches(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    let server = Server::start();
    let pieces: Vec<String> = (0..1_000).map(|n| format!("w{n} ")).collect();
    server.push(Script::new().flat_out(pieces.clone()));
    let mut reply = client(&server, kind).chat(hello()).await.unwrap();
    // All of it lies in the socket before the first is read.
    server.wait_for_end(0).await;
    let (mut text, mut batches) = (String::new(), 0);
    while let Some(batch) = reply.next().await {
        batches += 1;
        text += &text_of(&batch.unwrap());
    }
    assert_eq!(text, pieces.concat());
    assert!(batches < 50, "{batches} batches for 1,000 chunks");
}

#[rstest]
#[case(": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n")]
#[case("event: message\nid: 1\nretry: 5\n")]
#[tokio::test]
async fn events_may_carry_more_than_data(#[case] before: &'static str) {
    let server = Server::start();
    server.push(Script::new().bytes(before).text("fine"));
    let deltas = answer(&*client(&server, OPENAI), hello()).await;
    assert_eq!(text_of(&deltas), "fine");
}

#[tokio::test]
async fn thinking_comes_under_either_name_once() {
    let server = Server::start();
    server.push(Script::new().reasoning_field("reasoning").thinking("hm").text("x"));
    let deltas = answer(&*client(&server, OPENAI), hello()).await;
    assert_eq!(deltas[0], Delta::Thinking("hm".to_owned()));
    let both = r#"data: {"choices":[{"delta":{"reasoning":"hm","reasoning_content":"hm"}}]}"#;
    server.push(Script::new().bytes(format!("{both}\n\n")).text("x"));
    let deltas = answer(&*client(&server, OPENAI), hello()).await;
    assert_eq!(deltas[0], Delta::Thinking("hm".to_owned()));
}

#[tokio::test]
async fn llama_cpps_timings_and_caches_are_counted() {
    let server = Server::start();
    server.push(Script::raw(
        "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n\
         data: {\"choices\":[],\"usage\":{\"prompt_tokens\":30,\"completion_tokens\":2,\
         \"prompt_tokens_details\":{\"cached_tokens\":20}},\"timings\":{\"cache_n\":20,\
         \"prompt_n\":10,\"prompt_ms\":12.6,\"predicted_n\":2,\"predicted_ms\":34.2}}\n\n\
         data: [DONE]\n\n",
    ));
    let deltas = answer(&*client(&server, OPENAI), hello()).await;
    let expected = Usage {
        prompt_tokens: Some(30),
        cached_tokens: Some(20),
        completion_tokens: Some(2),
        prompt_ms: Some(13),
        completion_ms: Some(34),
        ..Usage::default()
    };
    assert_eq!(deltas[1], Delta::Usage(expected));
}
