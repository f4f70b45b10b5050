//! Both clients against the scripted server: what they send, and what they make of what comes.

use std::sync::Arc;
use std::time::Duration;

use chat_core::client::{
    Capabilities, Client, Delta, Finish, Probe, Request, Timeouts, ToolChoice, connect,
    detect_kind, find_local, guess_kind,
};
use chat_core::error::{Error, Kind, Result};
use chat_core::message::{
    Message, Options, Part, Role, Thinking, ToolCall, ToolCallId, ToolResult, ToolSpec, Usage,
};
use chat_core::settings::{Connection, ConnectionKind, Key, KeySource};
use chat_testkit::server::{Answer, End, Gate, Model, Protocol, Script, Server, Split};
use futures_util::StreamExt;
use rstest::rstest;
use serde_json::{Value, json};

pub const OLLAMA: ConnectionKind = ConnectionKind::Ollama;
pub const OPENAI: ConnectionKind = ConnectionKind::OpenAi;

/// Time-outs that a test can wait for, long enough for a busy machine.
pub fn timeouts() -> Timeouts {
    Timeouts {
        connect: Duration::from_secs(10),
        silence: Duration::from_millis(300),
        question: Duration::from_secs(20),
    }
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

#[tokio::test]
async fn ollama_lists_models_old_and_new() {
    let server = Server::start().with_models([
        Model::new("new").capabilities(&["completion", "tools"]),
        Model::new("old").capabilities(&["completion", "vision"]).capabilities_unlisted(),
        Model::new("broken").capabilities_unlisted().show_fails(),
        Model::new("embedder").capabilities(&["embedding"]),
    ]);
    let client = client(&server, OLLAMA);
    let models = client.models().await.unwrap();
    let names: Vec<&str> = models.iter().map(|model| model.name.as_str()).collect();
    assert_eq!(names, ["new", "old", "broken", "embedder"]);
    let can = |chat, tools, vision, thinking| Capabilities {
        chat: Some(chat),
        tools: Some(tools),
        vision: Some(vision),
        thinking: Some(thinking),
    };
    assert_eq!(models[0].capabilities, can(true, true, false, false));
    assert_eq!(models[1].capabilities, can(true, false, true, false));
    assert_eq!(models[1].context_length, Some(32_768));
    assert_eq!(models[2].capabilities, Capabilities::default());
    assert_eq!(models[3].capabilities.chat, Some(false));
    assert_eq!(models[0].size, Some(98_362_432));
    assert_eq!(models[0].quantization.as_deref(), Some("Q4_1"));

    assert_eq!(client.model("old").await.unwrap(), models[1]);
    assert_eq!(client.model("broken").await.unwrap(), models[2]);
    let gone = client.model("gone").await.unwrap_err();
    assert_eq!(gone.kind, Kind::ModelNotFound { model: "gone".to_owned() });
}

#[tokio::test]
async fn openai_lists_models_wherever_the_address_points() {
    let server = Server::start().only(Protocol::OpenAi);
    for path in ["", "/", "/v1", "/v1/", "/v1/chat/completions", "/v1/models"] {
        let connection = connection(&format!("{}{path}", server.url()));
        let client = connect(&connection, OPENAI, None, timeouts()).unwrap();
        let models = client.models().await.unwrap();
        assert_eq!(models[0].name, "scripted");
        assert_eq!(models[0].context_length, Some(32_768));
        answer(&*client, hello()).await;
    }
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
async fn many_quick_chunks_come_in_few_batches(#[values(OLLAMA, OPENAI)] kind: ConnectionKind) {
    let server = Server::start();
    let pieces: Vec<String> = (0..20_000).map(|n| format!("w{n} ")).collect();
    server.push(Script::new().flat_out(pieces.clone()));
    let mut reply = client(&server, kind).chat(hello()).await.unwrap();
    let (mut text, mut batches) = (String::new(), 0);
    while let Some(batch) = reply.next().await {
        batches += 1;
        text += &text_of(&batch.unwrap());
    }
    assert_eq!(text, pieces.concat());
    assert!(batches < 5_000, "{batches} batches for 20,000 chunks");
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

#[rstest]
#[case("http://127.0.0.1:11434", Some(OLLAMA))]
#[case("http://box:11434/v1", Some(OLLAMA))]
#[case("https://ollama.com", Some(OLLAMA))]
#[case("http://box:9000/api", Some(OLLAMA))]
#[case("https://openrouter.ai/api/v1", Some(OPENAI))]
#[case("https://openrouter.ai/api", Some(OPENAI))]
#[case("api.openai.com", Some(OPENAI))]
#[case("https://api.groq.com/openai/v1", Some(OPENAI))]
#[case("http://127.0.0.1:8080/v1/", Some(OPENAI))]
#[case("http://127.0.0.1:8080", None)]
#[case("https://notopenai.com", None)]
#[case("not a url", None)]
fn the_address_may_tell_the_kind(#[case] url: &str, #[case] kind: Option<ConnectionKind>) {
    assert_eq!(guess_kind(url), kind);
}

#[tokio::test]
async fn a_server_is_asked_what_it_speaks() {
    async fn detected(server: &Server) -> Result<ConnectionKind> {
        detect_kind(&server.url(), None, timeouts()).await
    }
    assert_eq!(detected(&Server::start()).await, Ok(OLLAMA));
    assert_eq!(detected(&Server::start().only(Protocol::Ollama)).await, Ok(OLLAMA));
    assert_eq!(detected(&Server::start().only(Protocol::OpenAi)).await, Ok(OPENAI));
    let locked = Server::start().only(Protocol::OpenAi).with_key("k");
    assert_eq!(detected(&locked).await, Ok(OPENAI));

    let page = || Answer::new(200, "<html>").header("content-type", "text/html");
    let website = Server::start();
    for path in ["/", "/api/version", "/v1/models"] {
        website.answer(path, page());
    }
    assert_eq!(detected(&website).await.unwrap_err().kind, Kind::WrongUrl);
    let port = chat_testkit::server::unused_port();
    let nobody = detect_kind(&format!("localhost:{port}"), None, timeouts()).await;
    assert_eq!(nobody.unwrap_err().kind, Kind::Unreachable);
}

#[tokio::test]
async fn local_servers_are_found_and_nothing_else() {
    let ollama = Server::start().only(Protocol::Ollama);
    let openai = Server::start().only(Protocol::OpenAi);
    let llama = Server::start().only(Protocol::OpenAi);
    llama.answer(
        "/v1/models",
        Answer::new(200, r#"{"object":"list","data":[{"id":"m","owned_by":"llamacpp"}]}"#),
    );
    let json = Server::start();
    json.answer("/v1/models", Answer::new(200, r#"{"data":[{"name":"a shop's models"}]}"#));
    let website = Server::start();
    website.answer("/v1/models", Answer::new(200, "<html>"));
    let silent = Server::start();
    silent.answer("/v1/models", Answer::new(200, "{}").gate(&Gate::new()));

    let candidate = |name: &str, kind, url: String| Connection {
        kind: Some(kind),
        name: name.to_owned(),
        ..connection(&url)
    };
    let nobody = format!("http://127.0.0.1:{}", chat_testkit::server::unused_port());
    let candidates = vec![
        candidate("nobody", OLLAMA, nobody),
        candidate("Ollama", OLLAMA, ollama.url()),
        candidate("not Ollama", OLLAMA, openai.url()),
        candidate("some", OPENAI, openai.url()),
        candidate("the same", OPENAI, openai.url()),
        candidate("vLLM", OPENAI, llama.url()),
        candidate("shop", OPENAI, json.url()),
        candidate("website", OPENAI, website.url()),
        candidate("silent", OPENAI, silent.url()),
    ];
    let found = find_local(&Probe { candidates }).await;
    let names: Vec<&str> = found.iter().map(|found| found.connection.name.as_str()).collect();
    assert_eq!(names, ["Ollama", "some", "llama.cpp"]);
}

#[rstest]
#[case(None, "http://127.0.0.1:11434")]
#[case(Some(""), "http://127.0.0.1:11434")]
#[case(Some("0.0.0.0"), "http://127.0.0.1:11434")]
#[case(Some("0.0.0.0:8765"), "http://127.0.0.1:8765")]
#[case(Some(":8765"), "http://127.0.0.1:8765")]
#[case(Some("[::]:8765"), "http://[::1]:8765")]
#[case(Some("box"), "http://box:11434")]
#[case(Some("box:80"), "http://box")]
#[case(Some("https://box.example"), "https://box.example")]
#[case(Some("\"http://box:1/\""), "http://box:1")]
fn ollama_host_is_read_as_ollama_reads_it(#[case] host: Option<&str>, #[case] url: &str) {
    assert_eq!(Probe::usual(host).candidates[0].url, url);
}
