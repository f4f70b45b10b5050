//! Both clients against the scripted server: what they send, and what they make of what comes.

use std::sync::Arc;
use std::time::Duration;

use chat_core::client::{Client, Delta, Finish, Request, Timeouts, ToolChoice, connect};
use chat_core::error::{Error, Kind};
use chat_core::message::{
    Message, Options, Part, Role, Thinking, ToolCall, ToolCallId, ToolResult, ToolSpec, Usage,
};
use chat_core::settings::{Connection, ConnectionKind, Key, KeySource};
use chat_testkit::server::{Answer, End, Gate, Model, Script, Server, Split};
use futures_util::StreamExt;
use rstest::rstest;
use serde_json::{Value, json};

pub const OLLAMA: ConnectionKind = ConnectionKind::Ollama;
pub const OPENAI: ConnectionKind = ConnectionKind::OpenAi;

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
    Connection { name, kind: None, url: url.to_owned(), key: KeySource::None }
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
    #[values(OLLAMA, OPENAI)] kind: ConnectionKind,
    #[values(true, false)] stream: bool,
) {
    let server = Server::start();
    server.push(
        Script::new().thinking("Hm, ").thinking("日本語…").text("Hel").text("lo 🦀").usage(7, 4),
    );
    let deltas = answer(&*client(&server, kind), Request { stream, ..hello() }).await;
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
    #[values(OLLAMA, OPENAI)] kind: ConnectionKind,
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
    #[values(OLLAMA, OPENAI)] kind: ConnectionKind,
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
#[case("content_filter", Finish::Other("content_filter".to_owned()))]
#[tokio::test]
async fn other_ends_are_told(#[case] reason: &str, #[case] finish: Finish) {
    let server = Server::start();
    for kind in [OLLAMA, OPENAI] {
        server.push(Script::new().text("x").finish(reason));
        let deltas = answer(&*client(&server, kind), hello()).await;
        assert_eq!(*deltas.last().unwrap(), Delta::Finish(finish.clone()));
    }
}

/// A conversation with everything in it.
fn conversation() -> Vec<Arc<Message>> {
    let parts = |role, parts| Arc::new(Message { parts, ..Message::text(role, None, "") });
    let call = |id: &str, arguments| {
        Part::ToolCall(ToolCall { id: ToolCallId::new(id), name: "look".to_owned(), arguments })
    };
    vec![
        Message::text(Role::System, None, "Be brief.").into(),
        parts(
            Role::User,
            vec![
                Part::Text("What is this?".to_owned()),
                Part::Image { mime: "image/png".to_owned(), data: [1, 2, 3].into() },
                Part::File { name: "a.txt".to_owned(), text: "alpha\n".to_owned() },
                Part::Context { text: "Open: a.txt".to_owned() },
            ],
        ),
        Message::text(Role::Ui, None, "A notice of the program.").into(),
        parts(
            Role::Assistant,
            vec![
                Part::Thinking { text: "I had better look.".to_owned(), took: None },
                Part::Text("I look.".to_owned()),
                call("call_1", json!({ "b": 1, "a": [] })),
                call("call_2", Value::String("{\"torn".to_owned())),
            ],
        ),
        parts(
            Role::Tool,
            ["call_1", "call_2"]
                .map(|id| {
                    Part::ToolResult(ToolResult {
                        call: ToolCallId::new(id),
                        name: "look".to_owned(),
                        text: format!("result of {id}"),
                        failed: false,
                    })
                })
                .into(),
        ),
    ]
}

#[tokio::test]
async fn ollama_is_sent_all_of_a_conversation() {
    let server = Server::start();
    let request = Request {
        messages: conversation(),
        thinking: Thinking::Off,
        options: Options {
            temperature: Some(0.5),
            top_p: Some(0.9),
            seed: Some(7),
            max_tokens: Some(100),
            context_window: Some(16_384),
        },
        ..hello()
    };
    answer(&*client(&server, OLLAMA), request).await;
    insta::assert_json_snapshot!("ollama_request", server.chats()[0].body);
}

#[tokio::test]
async fn openai_is_sent_all_of_a_conversation() {
    let server = Server::start();
    let request = Request {
        messages: conversation(),
        tools: vec![ToolSpec {
            name: "look".to_owned(),
            description: "Looks.".to_owned(),
            parameters: json!({ "type": "object", "properties": {} }),
        }],
        tool_choice: ToolChoice::Required,
        thinking: Thinking::Off,
        options: Options { temperature: Some(0.5), max_tokens: Some(100), ..Options::default() },
        ..hello()
    };
    answer(&*client(&server, OPENAI), request).await;
    insta::assert_json_snapshot!("openai_request", server.chats()[0].body);
}

#[rstest]
#[tokio::test]
async fn the_next_turn_begins_with_the_same_bytes(#[values(OLLAMA, OPENAI)] kind: ConnectionKind) {
    let server = Server::start();
    let client = client(&server, kind);
    let mut messages = conversation();
    answer(&*client, Request { messages: messages.clone(), ..hello() }).await;
    messages.push(user("And now?"));
    answer(&*client, Request { messages, ..hello() }).await;
    let chats = server.chats();
    let list = |at: usize| chats[at].body["messages"].as_array().unwrap();
    assert_eq!(list(1)[..list(0).len()], list(0)[..]);
    assert_eq!(chats[0].body["options"], chats[1].body["options"], "no reload of the model");
}

#[rstest]
#[case(Thinking::Habit, None, None)]
#[case(Thinking::Off, Some(json!(false)), None)]
#[case(Thinking::On, Some(json!(true)), None)]
#[case(Thinking::Low, Some(json!("low")), Some("low"))]
#[case(Thinking::Max, Some(json!("max")), Some("high"))]
#[tokio::test]
async fn thinking_is_mentioned_only_where_it_was_chosen(
    #[case] thinking: Thinking,
    #[case] think: Option<Value>,
    #[case] effort: Option<&str>,
) {
    let server = Server::start();
    answer(&*client(&server, OLLAMA), Request { thinking, ..hello() }).await;
    answer(&*client(&server, OPENAI), Request { thinking, ..hello() }).await;
    let chats = server.chats();
    assert_eq!(chats[0].body.get("think"), think.as_ref());
    assert_eq!(chats[1].body.get("reasoning_effort").and_then(Value::as_str), effort);
}

#[rstest]
#[case(None, 32_768, 8_192)]
#[case(None, 2_048, 2_048)]
#[case(Some(16_384), 32_768, 16_384)]
#[case(Some(65_536), 32_768, 32_768)]
#[tokio::test]
async fn ollamas_window_is_always_set_and_no_larger_than_the_model_s(
    #[case] chosen: Option<u32>,
    #[case] has: u32,
    #[case] sent: u32,
) {
    let server = Server::start().with_models([Model::new("scripted").context(has)]);
    let client = client(&server, OLLAMA);
    let options = Options { context_window: chosen, ..Options::default() };
    for _ in 0..2 {
        answer(&*client, Request { options: options.clone(), ..hello() }).await;
    }
    for chat in server.chats() {
        assert_eq!(chat.body["options"]["num_ctx"], sent);
        assert_eq!(chat.body["truncate"], false);
    }
    let shows = server.requests().iter().filter(|r| r.path == "/api/show").count();
    assert_eq!(shows, 1, "the model is asked about once");
}

#[tokio::test]
async fn a_model_that_cannot_be_shown_still_chats() {
    let server = Server::start().with_models([Model::new("scripted").show_fails()]);
    answer(&*client(&server, OLLAMA), hello()).await;
    assert_eq!(server.chats()[0].body["options"]["num_ctx"], 8_192);
}

#[rstest]
#[tokio::test]
async fn the_key_goes_as_a_bearer(#[values(OLLAMA, OPENAI)] kind: ConnectionKind) {
    let server = Server::start().with_key("s3cret-key");
    let key = Some(Key::new(" s3cret-key\n"));
    let client = connect(&connection(&server.url()), kind, key, timeouts()).unwrap();
    client.models().await.unwrap();
    answer(&*client, hello()).await;
    assert_eq!(server.chats()[0].headers["authorization"], "Bearer s3cret-key");
    assert!(!format!("{client:?}").contains("s3cret"));
}

#[rstest]
#[tokio::test]
async fn neither_key_nor_conversation_follows_a_redirect_elsewhere(
    #[values(OLLAMA, OPENAI)] kind: ConnectionKind,
    #[values(302, 307, 308)] status: u16,
) {
    let elsewhere = Server::start();
    let server = Server::start();
    for path in ["/api/chat", "/v1/chat/completions", "/api/tags", "/v1/models"] {
        let to = format!("{}{path}", elsewhere.url());
        server.answer(path, Answer::new(status, "").header("location", &to));
    }
    let key = Some(Key::new("s3cret-key"));
    let client = connect(&connection(&server.url()), kind, key, timeouts()).unwrap();
    assert_eq!(client.models().await.unwrap_err().kind, Kind::WrongUrl);
    assert_eq!(ask(&*client, hello()).await.1.unwrap().kind, Kind::WrongUrl);
    assert_eq!(elsewhere.requests().len(), 0);
}

#[rstest]
#[tokio::test]
async fn dropping_the_reply_ends_it_at_the_server(#[values(OLLAMA, OPENAI)] kind: ConnectionKind) {
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
async fn chunks_that_came_together_are_few_batches(#[values(OLLAMA, OPENAI)] kind: ConnectionKind) {
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

#[tokio::test]
async fn a_redirect_within_the_server_is_followed() {
    let server = Server::start();
    server.answer("/v1/models", Answer::new(307, "").header("location", "/elsewhere"));
    server.answer("/elsewhere", Answer::new(200, r#"{"data":[{"id":"m"}]}"#));
    let key = Some(Key::new("s3cret-key"));
    let client = connect(&connection(&server.url()), OPENAI, key, timeouts()).unwrap();
    assert_eq!(client.models().await.unwrap()[0].name, "m");
    let asked = server.requests();
    assert_eq!(asked[1].headers["authorization"], "Bearer s3cret-key");
}

#[test]
fn servers_of_this_machine_are_reached_past_a_proxy() {
    // The environment of this process stays as it is: another one has the proxy.
    let nowhere = "http://127.0.0.1:1";
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "wire::other_ends_are_told::case_1"])
        .envs([("http_proxy", nowhere), ("HTTP_PROXY", nowhere), ("ALL_PROXY", nowhere)])
        .env_remove("NO_PROXY")
        .env_remove("no_proxy")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&status.stdout);
    assert!(status.status.success() && said.contains("1 passed"), "{said}");
}

#[tokio::test]
async fn tools_are_offered_as_the_choice_says() {
    let server = Server::start();
    let look = ToolSpec {
        name: "look".to_owned(),
        description: "Looks.".to_owned(),
        parameters: json!({ "type": "object" }),
    };
    let choices = [ToolChoice::Auto, ToolChoice::None, ToolChoice::Required];
    for kind in [OLLAMA, OPENAI] {
        for tool_choice in choices {
            let request = Request { tools: vec![look.clone()], tool_choice, ..hello() };
            answer(&*client(&server, kind), request).await;
        }
    }
    let asked: Vec<_> = server
        .chats()
        .iter()
        .map(|chat| (chat.body["tools"].is_array(), chat.body["tool_choice"].clone()))
        .collect();
    let expected = [
        // Ollama has no word for the choice.
        (true, Value::Null),
        (false, Value::Null),
        (true, Value::Null),
        (true, Value::Null),
        (true, json!("none")),
        (true, json!("required")),
    ];
    assert_eq!(asked, expected);
}
