//! What Anthropic's protocol alone has: its forms of requests, and its refusals.

use std::sync::Arc;
use std::time::Duration;

use chat_core::client::{Request, ToolChoice, connect};
use chat_core::error::Kind;
use chat_core::message::{Message, Options, Role, Thinking, ToolSpec};
use chat_core::settings::{Connection, HeaderSource};
use chat_testkit::server::{Script, Server};
use rstest::rstest;
use serde_json::{Value, json};

use crate::wire::{
    ANTHROPIC, answer, ask, client, connection, hello, impatient, text_of, timeouts,
};
use crate::wire_faults::fault;
use crate::wire_requests::conversation;

#[tokio::test]
async fn anthropic_is_sent_all_of_a_conversation() {
    let server = Server::start();
    let request = Request {
        messages: conversation(),
        tools: vec![ToolSpec {
            name: "look".to_owned(),
            description: "Looks.".to_owned(),
            parameters: json!({ "type": "object", "properties": {} }),
        }],
        tool_choice: ToolChoice::Required,
        options: Options { temperature: Some(0.5), max_tokens: Some(100), ..Options::default() },
        ..hello()
    };
    answer(&*client(&server, ANTHROPIC), request).await;
    insta::assert_json_snapshot!("anthropic_request", server.chats()[0].body);
}

/// What Anthropic's server says of a request, and what is sent instead from then on.
#[rstest]
#[case(
    "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\".",
    "thinking", json!({ "type": "adaptive", "display": "summarized" })
)]
#[case("thinking: Extra inputs are not permitted", "thinking", Value::Null)]
#[case("temperature: Extra inputs are not permitted", "temperature", Value::Null)]
#[case(
    "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for scripted",
    "max_tokens", json!(4096)
)]
#[tokio::test]
async fn anthropics_server_is_believed(
    #[case] words: &str,
    #[case] field: &str,
    #[case] instead: Value,
) {
    let server = Server::start();
    let client = client(&server, ANTHROPIC);
    let refusal =
        json!({ "type": "error", "error": { "type": "invalid_request_error", "message": words } });
    server.push(Script::status(400, &refusal.to_string()));
    let thinking = if field == "thinking" { Thinking::High } else { Thinking::Default };
    let options = Options { temperature: Some(0.5), ..Options::default() };
    for asked in [2, 3] {
        answer(&*client, Request { thinking, options: options.clone(), ..hello() }).await;
        let chats = server.chats();
        assert_eq!(chats.len(), asked, "it need not be refused again");
        assert_eq!(chats[asked - 1].body[field], instead);
    }
}

#[tokio::test]
async fn a_conversation_in_which_anthropics_model_cannot_think_turns_it_off_in_no_other() {
    let server = Server::start();
    let client = client(&server, ANTHROPIC);
    let words = "messages.1.content.0.type: Expected `thinking`, but found `tool_use`.";
    let refusal =
        json!({ "type": "error", "error": { "type": "invalid_request_error", "message": words } });
    server.push(Script::status(400, &refusal.to_string()));
    for _ in 0..2 {
        answer(&*client, Request { thinking: Thinking::High, ..hello() }).await;
    }
    let thinking = server.chats().into_iter().map(|chat| chat.body["thinking"]["type"].clone());
    assert_eq!(thinking.collect::<Vec<_>>(), [json!("enabled"), Value::Null, json!("enabled")]);
}

#[tokio::test]
async fn what_anthropics_server_wants_is_understood_whatever_a_header_or_the_user_says() {
    let server = Server::start();
    let words = "max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens";
    let headers = [("X-Tries".to_owned(), HeaderSource::Value("4".to_owned()))];
    let connection = Connection { headers: headers.into(), ..connection(&server.url()) };
    let client = connect(&connection, ANTHROPIC, None, timeouts()).unwrap();
    let refusal =
        json!({ "type": "error", "error": { "type": "invalid_request_error", "message": words } });
    server.push(Script::status(400, &refusal.to_string()));
    let messages = vec![Arc::new(Message::text(Role::User, None, words))];
    answer(&*client, Request { messages, ..hello() }).await;
    assert_eq!(server.chats()[1].body["max_tokens"], 4_096);
}

#[tokio::test]
async fn a_refusal_of_no_form_is_no_reason_to_ask_anthropic_again() {
    let server = Server::start();
    let client = client(&server, ANTHROPIC);
    let words = json!({ "error": { "message": "temperature: Extra inputs are not permitted" } });
    server.push(Script::status(400, &words.to_string()));
    let (_, error) = ask(&*client, hello()).await;
    assert_eq!(error.unwrap().kind, Kind::BadRequest);
    assert_eq!(server.chats().len(), 1, "none was sent");
}

#[rstest]
#[case(529, "overloaded_error", "Overloaded", Kind::Busy)]
#[case(429, "rate_limit_error", "Number of request tokens has exceeded your rate limit",
    Kind::RateLimited { retry_after: Some(Duration::from_secs(7)) })]
#[case(413, "request_too_large", "Request exceeds the maximum size",
    Kind::InputTooLong { window: None, largest: None })]
#[case(400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum",
    Kind::InputTooLong { window: Some(200_000), largest: Some(200_000) })]
#[tokio::test]
async fn anthropics_refusals(
    #[case] status: u16,
    #[case] kind: &str,
    #[case] message: &str,
    #[case] expected: Kind,
) {
    let body = json!({ "type": "error", "error": { "type": kind, "message": message } });
    let refusal = Script::status(status, &body.to_string()).header("retry-after", "7");
    assert_eq!(fault(ANTHROPIC, refusal).await.1, expected);
}

#[rstest]
#[case(529, Kind::Busy)]
#[case(429, Kind::RateLimited { retry_after: None })]
#[case(500, Kind::ServerFailed)]
#[tokio::test]
async fn anthropics_errors_in_mid_stream_are_known_by_their_kinds(
    #[case] code: u16,
    #[case] expected: Kind,
) {
    let got = fault(ANTHROPIC, Script::new().text("half").error_code("No.", code)).await;
    assert_eq!(got, ("half".to_owned(), expected));
}

#[tokio::test]
async fn a_stall_after_anthropics_reason_is_an_end() {
    let server = Server::start();
    let done = "event: message_delta\ndata: {\"type\":\"message_delta\",\
                \"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\n";
    for script in [
        Script::new().text("all").bytes(done).stall(),
        Script::new().text("all").bytes(done).cut(),
        Script::new().text("all").bytes(done).end_early(),
    ] {
        server.push(script);
        let client = connect(&connection(&server.url()), ANTHROPIC, None, impatient()).unwrap();
        let deltas = answer(&*client, hello()).await;
        assert_eq!(text_of(&deltas), "all");
    }
}
