//! Tests what all clients send, and to which server.

use std::sync::Arc;

use chat_core::client::{Request, ToolChoice, connect};
use chat_core::error::Kind;
use chat_core::message::{
    Message, Options, Part, Role, Thinking, ToolCall, ToolCallId, ToolResult, ToolSpec,
};
use chat_core::settings::{ConnectionKind, Key};
use chat_testkit::server::{Answer, Model, Script, Server};
use rstest::rstest;
use serde_json::{Value, json};

use crate::wire::{
    ANTHROPIC, OLLAMA, OPENAI, answer, ask, client, connection, hello, timeouts, user,
};

/// A conversation with everything in it.
pub fn conversation() -> Vec<Arc<Message>> {
    let parts = |role, parts| Arc::new(Message { parts, ..Message::text(role, None, "") });
    let call =
        |id: &str, arguments| Part::ToolCall(ToolCall::new(ToolCallId::new(id), "look", arguments));
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
                Part::Thinking {
                    text: "I had better look.".to_owned(),
                    took: None,
                    provider: None,
                },
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
                        lasting: false,
                        view: None,
                        took: None,
                        verdict: None,
                        stopped: false,
                        needs: Vec::new(),
                        forms: Vec::new(),
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
            ..Options::default()
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

/// What the messages of the last request say that the model thought.
fn replayed(server: &Server, field: &str) -> Vec<Value> {
    let chats = server.chats();
    let messages = chats.last().unwrap().body["messages"].as_array().unwrap();
    let assistants = messages.iter().filter(|message| message["role"] == "assistant");
    assistants.map(|message| message[field].clone()).collect()
}

#[tokio::test]
async fn a_server_that_wants_reasoning_back_gets_it_from_then_on() {
    let server = Server::start();
    let client = client(&server, OPENAI);
    let missed = json!({ "error": { "type": "invalid_request_error", "message": "The \
        `reasoning_content` in the thinking mode must be passed back to the API." } });
    let mut messages = conversation();
    if let Part::Thinking { text, .. } = &mut Arc::make_mut(&mut messages[3]).parts[0] {
        text.clear();
    }
    server.push(Script::status(400, &missed.to_string()));
    answer(&*client, Request { messages, ..hello() }).await;
    assert_eq!(server.chats().len(), 2);
    assert_eq!(replayed(&server, "reasoning_content"), [json!(" ")], "something must stand there");
    let messages = conversation();
    answer(&*client, Request { messages, ..hello() }).await;
    assert_eq!(server.chats().len(), 3, "it need not be refused again");
    assert_eq!(replayed(&server, "reasoning_content"), [json!("I had better look.")]);
    assert_eq!(replayed(&server, "reasoning"), [Value::Null]);
}

#[tokio::test]
async fn a_server_that_refuses_reasoning_is_not_sent_it_again() {
    let server = Server::start();
    let client = client(&server, OPENAI);
    let unknown = json!({ "error": { "message": "'messages.3' : for 'role:assistant' the following \
        must be satisfied[('messages.3' : property 'reasoning_content' is unsupported)]" } });
    let unknown = unknown.to_string();
    server.push(Script::status(400, &unknown));
    for sent in [2, 3] {
        answer(&*client, Request { messages: conversation(), ..hello() }).await;
        assert_eq!(server.chats().len(), sent);
        assert_eq!(replayed(&server, "reasoning_content"), [Value::Null]);
        assert_eq!(replayed(&server, "reasoning"), [Value::Null]);
    }
}

#[tokio::test]
async fn a_request_without_reasoning_is_not_sent_again() {
    let server = Server::start();
    let unknown = json!({ "error": { "message": "Extra inputs are not permitted" } });
    server.push(Script::status(422, &unknown.to_string()));
    let client = client(&server, OPENAI);
    let (_, error) = ask(&*client, hello()).await;
    assert_eq!(error.unwrap().kind, Kind::BadRequest);
    assert_eq!(server.chats().len(), 1);
}

#[tokio::test]
async fn a_server_that_refuses_both_ways_is_asked_no_third_time() {
    let server = Server::start();
    for words in ["property 'reasoning_content' is unsupported", "reasoning_content is missing"] {
        server.push(Script::status(400, &json!({ "error": { "message": words } }).to_string()));
    }
    let client = client(&server, OPENAI);
    let (_, error) = ask(&*client, Request { messages: conversation(), ..hello() }).await;
    assert_eq!(error.unwrap().kind, Kind::BadRequest);
    assert_eq!(server.chats().len(), 2);
}

#[rstest]
#[case(Thinking::Default, None, None)]
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
async fn the_key_goes_in_its_header(#[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind) {
    let server = Server::start().with_key("s3cret-key");
    let key = Some(Key::new(" s3cret-key\n"));
    let client = connect(&connection(&server.url()), kind, key, timeouts()).unwrap();
    client.models().await.unwrap();
    answer(&*client, hello()).await;
    let headers = &server.chats()[0].headers;
    if kind == ANTHROPIC {
        assert_eq!(
            (&*headers["x-api-key"], &*headers["anthropic-version"]),
            ("s3cret-key", "2023-06-01")
        );
        assert!(!headers.contains_key("authorization"));
    } else {
        assert_eq!(headers["authorization"], "Bearer s3cret-key");
    }
    assert!(!format!("{client:?}").contains("s3cret"));
}

#[rstest]
#[tokio::test]
async fn neither_key_nor_conversation_follows_a_redirect_elsewhere(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
    #[values(302, 307, 308)] status: u16,
) {
    let elsewhere = Server::start();
    let server = Server::start();
    for path in ["/api/chat", "/v1/chat/completions", "/v1/messages", "/api/tags", "/v1/models"] {
        let to = format!("{}{path}", elsewhere.url());
        server.answer(path, Answer::new(status, "").header("location", &to));
    }
    let key = Some(Key::new("s3cret-key"));
    let client = connect(&connection(&server.url()), kind, key, timeouts()).unwrap();
    assert_eq!(client.models().await.unwrap_err().kind, Kind::WrongUrl);
    assert_eq!(ask(&*client, hello()).await.1.unwrap().kind, Kind::WrongUrl);
    assert_eq!(elsewhere.requests().len(), 0);
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
    for kind in [OLLAMA, OPENAI, ANTHROPIC] {
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
        (true, Value::Null),
        (true, json!({ "type": "none" })),
        (true, json!({ "type": "any" })),
    ];
    assert_eq!(asked, expected);
}
