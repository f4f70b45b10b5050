//! Everything that can go wrong at a server, as all clients tell it; and that the next request
//! works all the same.

use std::time::Duration;

use chat_core::client::{Client, Delta, Request, Timeouts, connect};
use chat_core::error::{Feature, Kind};
use chat_core::settings::{ConnectionKind, Key};
use chat_testkit::server::{Answer, End, Gate, Script, Server, unused_port};
use futures_util::StreamExt;
use rstest::rstest;

use crate::wire::{
    ANTHROPIC, OLLAMA, OPENAI, answer, ask, client, connection, hello, impatient, text_of, timeouts,
};

/// Asks once with this script, gives the text and the kind, and asks again, in good order.
pub async fn fault(kind: ConnectionKind, script: Script) -> (String, Kind) {
    fault_within(kind, script, timeouts()).await
}

async fn fault_within(kind: ConnectionKind, script: Script, timeouts: Timeouts) -> (String, Kind) {
    let server = Server::start();
    let client = connect(&connection(&server.url()), kind, None, timeouts).unwrap();
    server.push(script);
    let (deltas, error) = ask(&*client, hello()).await;
    let error = error.expect("an error");
    assert_eq!(error.connection.as_deref(), Some("here"), "it says where");
    assert!(!deltas.iter().any(|delta| matches!(delta, Delta::Finish(_))), "{deltas:?}");
    works(&*client).await;
    (text_of(&deltas), error.kind)
}

/// A good request works.
async fn works(client: &dyn Client) {
    let deltas = answer(client, hello()).await;
    assert_eq!(text_of(&deltas), "You said: Hello!");
}

#[rstest]
#[tokio::test]
async fn nobody_listens(#[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind) {
    let port = unused_port();
    let url = format!("http://127.0.0.1:{port}");
    let client = connect(&connection(&url), kind, None, timeouts()).unwrap();
    let (_, error) = ask(&*client, hello()).await;
    assert_eq!(error.unwrap().kind, Kind::Unreachable);
    assert_eq!(client.models().await.unwrap_err().kind, Kind::Unreachable);
    let _server = Server::start_on(port);
    works(&*client).await;
}

#[tokio::test]
async fn a_name_that_nobody_has() {
    let host = "no-such-host.invalid".to_owned();
    let url = format!("http://{host}:11434");
    let client = connect(&connection(&url), OLLAMA, None, timeouts()).unwrap();
    assert_eq!(client.models().await.unwrap_err().kind, Kind::UnknownHost { host });
}

#[tokio::test]
async fn an_address_that_is_none() {
    for kind in [OLLAMA, OPENAI, ANTHROPIC] {
        let error = connect(&connection("ftp://x"), kind, None, timeouts()).unwrap_err();
        assert_eq!(error.kind, Kind::InvalidUrl);
        assert_eq!(error.connection.as_deref(), Some("here"));
    }
}

#[tokio::test]
async fn encryption_where_there_is_none() {
    let server = Server::start();
    let url = server.url().replace("http:", "https:");
    let client = connect(&connection(&url), OPENAI, None, timeouts()).unwrap();
    assert_eq!(client.models().await.unwrap_err().kind, Kind::Tls);
}

#[rstest]
#[tokio::test]
async fn a_website_instead_of_a_server(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
    #[values(200, 404, 405)] status: u16,
) {
    let server = Server::start();
    let paths = ["/api/chat", "/v1/chat/completions", "/v1/messages", "/api/tags", "/v1/models"];
    for path in paths {
        let page = Answer::new(status, "<!doctype html><title>A shop</title>");
        server.answer(path, page.header("content-type", "text/html; charset=utf-8"));
    }
    let client = client(&server, kind);
    assert_eq!(client.models().await.unwrap_err().kind, Kind::WrongUrl);
    assert_eq!(ask(&*client, hello()).await.1.unwrap().kind, Kind::WrongUrl);
    for path in paths {
        server.unanswer(path);
    }
    works(&*client).await;
}

#[rstest]
#[tokio::test]
async fn another_program_that_speaks_json(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    let server = Server::start();
    for path in ["/api/tags", "/v1/models"] {
        server.answer(path, Answer::new(200, r#"{"status":"ok"}"#));
    }
    assert_eq!(client(&server, kind).models().await.unwrap_err().kind, Kind::WrongUrl);
}

#[rstest]
#[tokio::test]
async fn a_wrong_key(#[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind) {
    let server = Server::start().with_key("right");
    for key in [None, Some(Key::new("wrong"))] {
        let keyless = key.is_none();
        let client = connect(&connection(&server.url()), kind, key, timeouts()).unwrap();
        let expected = Kind::Unauthorized { signin_url: None, keyless };
        assert_eq!(client.models().await.unwrap_err().kind, expected);
        assert_eq!(ask(&*client, hello()).await.1.unwrap().kind, expected);
    }
    let key = Some(Key::new("right"));
    works(&*connect(&connection(&server.url()), kind, key, timeouts()).unwrap()).await;
}

#[rstest]
#[tokio::test]
async fn a_key_that_cannot_be_sent(#[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind) {
    let server = Server::start();
    let key = Some(Key::new("a\nb"));
    let client = connect(&connection(&server.url()), kind, key, timeouts()).unwrap();
    assert_eq!(client.models().await.unwrap_err().kind, Kind::KeyUnavailable);
}

#[rstest]
#[tokio::test]
async fn an_unknown_model(#[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind) {
    let server = Server::start();
    let client = client(&server, kind);
    let request = Request { model: "gone".to_owned(), ..hello() };
    let (_, error) = ask(&*client, request).await;
    assert_eq!(error.unwrap().kind, Kind::ModelNotFound { model: "gone".to_owned() });
    works(&*client).await;
}

#[tokio::test]
async fn too_long_an_input() {
    let refusal = r#"{"error":"the input length exceeds the context length"}"#;
    let (_, kind) = fault(OLLAMA, Script::status(400, refusal)).await;
    assert_eq!(kind, Kind::InputTooLong { window: Some(8_192), largest: Some(32_768) });
    let refusal = r#"{"error":{"code":400,"message":"the request exceeds the available context
        size, try increasing it","type":"exceed_context_size_error","n_ctx":4096}}"#;
    let refusal = refusal.replace('\n', " ");
    let (_, kind) = fault(OPENAI, Script::status(400, &refusal)).await;
    assert_eq!(kind, Kind::InputTooLong { window: Some(4_096), largest: Some(4_096) });
}

#[rstest]
#[case(
    503,
    r#"{"error":"server busy, please try again. maximum pending requests exceeded"}"#,
    Kind::Busy
)]
#[case(500, r#"{"error":"out of memory"}"#, Kind::ServerFailed)]
#[case(502, "<html>Bad Gateway</html>", Kind::ServerFailed)]
#[case(402, r#"{"error":{"message":"Insufficient credits","code":402}}"#, Kind::NoCredit)]
#[case(403, r#"{"error":"not allowed"}"#, Kind::Forbidden)]
#[case(400, r#"{"error":"bad"}"#, Kind::BadRequest)]
#[case(400, r#"{"error":"\"scripted\" does not support tools"}"#, Kind::Unsupported { feature: Feature::Tools })]
#[tokio::test]
async fn refusals(#[case] status: u16, #[case] body: &str, #[case] expected: Kind) {
    for kind in [OLLAMA, OPENAI, ANTHROPIC] {
        assert_eq!(fault(kind, Script::status(status, body)).await.1, expected);
    }
}

#[rstest]
#[tokio::test]
async fn too_many_requests(#[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind) {
    let refusal = Script::status(429, r#"{"error":"slow down"}"#);
    let (_, got) = fault(kind, refusal.clone().header("retry-after", "7")).await;
    assert_eq!(got, Kind::RateLimited { retry_after: Some(Duration::from_secs(7)) });
    let (_, got) =
        fault(kind, refusal.header("retry-after", "Mon, 01 Jan 2120 00:00:00 GMT")).await;
    let Kind::RateLimited { retry_after: Some(wait) } = got else { panic!("{got:?}") };
    assert!(wait > Duration::from_hours(24));
}

#[rstest]
#[tokio::test]
async fn silence_before_the_first_chunk_is_waited_out(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
    #[values(true, false)] headers_first: bool,
) {
    let server = Server::start();
    let client = connect(&connection(&server.url()), kind, None, impatient()).unwrap();
    let gate = Gate::new();
    server.push(if headers_first {
        Script::new().bytes("\n\n").gate(&gate).text("at last")
    } else {
        Script::new().gate_first(&gate).text("at last")
    });
    let asking = tokio::spawn(async move { answer(&*client, hello()).await });
    gate.reached().await;
    // Far longer than the silence that is borne in mid-stream.
    tokio::time::sleep(2 * impatient().silence).await;
    assert!(!asking.is_finished());
    gate.open();
    assert_eq!(text_of(&asking.await.unwrap()), "at last");
}

#[rstest]
#[tokio::test]
async fn silence_in_mid_stream_is_a_stall(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    let script = Script::new().text("half").stall();
    let (text, kind) = fault_within(kind, script, impatient()).await;
    assert_eq!((text.as_str(), kind), ("half", Kind::Stalled));
}

#[rstest]
#[tokio::test]
async fn silence_after_the_tag_that_opens_thoughts_is_a_stall(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
    #[values("<think>", "<thi")] held: &str,
) {
    let script = Script::new().text(held).stall();
    let (_, kind) = fault_within(kind, script, impatient()).await;
    assert_eq!(kind, Kind::Stalled);
}

#[rstest]
#[tokio::test]
async fn a_slow_stream_is_no_stall(#[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind) {
    let server = Server::start();
    let client = connect(&connection(&server.url()), kind, None, impatient()).unwrap();
    let pieces: Vec<String> = (0..8).map(|n| n.to_string()).collect();
    // Longer in all than the silence that is borne, but never silent for so long.
    server.push(Script::new().paced(pieces, 5.0));
    let deltas = answer(&*client, hello()).await;
    assert_eq!(text_of(&deltas), "01234567");
}

#[tokio::test]
async fn a_stall_after_the_reason_is_an_end() {
    let server = Server::start();
    let done = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    for script in [
        Script::new().text("all").bytes(format!("{done}\n\n")).stall(),
        Script::new().text("all").bytes(format!("{done}\n\n")).cut(),
        Script::new().text("all").bytes(format!("{done}\n\ndata: [DO")).end_early(),
        Script::new().text("all").bytes(format!("{done}\n\n")).end_early(),
        Script::new().text("all").bytes("data: [DONE]").end_early(),
    ] {
        server.push(script);
        let client = connect(&connection(&server.url()), OPENAI, None, impatient()).unwrap();
        let deltas = answer(&*client, hello()).await;
        assert_eq!(text_of(&deltas), "all");
    }
}

#[rstest]
#[case(Script::new().text("half").cut())]
#[case(Script::new().text("half").reset())]
#[case(Script::new().text("half").end_early())]
#[case(Script::new().text("half").bytes("data: {\"choices\":[{\"delta\":{\"content\":\"x").end_early())]
#[case(Script::new().text("half").bytes("{\"message\":{\"content\":\"\u{65e5}").cut())]
#[tokio::test]
async fn a_torn_stream_is_cut(
    #[case] script: Script,
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    let foreign =
        format!("{script:?}").contains(if kind == OLLAMA { "data: " } else { "{\\\"message" });
    if foreign {
        return;
    }
    assert_eq!(fault(kind, script).await, ("half".to_owned(), Kind::Cut));
}

#[rstest]
#[tokio::test]
async fn a_connection_closed_before_any_answer(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    for script in [Script::new().cut(), Script::new().reset(), Script::new().end_early()] {
        assert_eq!(fault(kind, script).await, (String::new(), Kind::Cut));
    }
}

#[rstest]
#[case("an error was encountered while running the model", Kind::ServerFailed)]
#[case("server busy, please try again", Kind::Busy)]
#[tokio::test]
async fn an_error_in_mid_stream(
    #[case] words: &str,
    #[case] expected: Kind,
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    let code = if expected == Kind::Busy { 503 } else { 500 };
    let got = fault(kind, Script::new().text("half").error_code(words, code)).await;
    assert_eq!(got, ("half".to_owned(), expected));
}

#[rstest]
#[tokio::test]
async fn an_error_under_200_before_any_text(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
    #[values(true, false)] stream: bool,
) {
    let server = Server::start();
    let refusal = Script::raw(r#"{"error":{"message":"the model has crashed"}}"#);
    server.push(refusal.header("content-type", "application/json"));
    let client = client(&server, kind);
    let (_, error) = ask(&*client, Request { stream, ..hello() }).await;
    let error = error.unwrap();
    assert_eq!(error.kind, Kind::ServerFailed);
    assert_eq!(error.detail.as_deref(), Some("the model has crashed"));
    works(&*client).await;
}

#[rstest]
#[case(b"{not json}\n\n")]
#[case(b"data: {not json}\n\n")]
#[case(b"{\"message\":{\"content\":\"\xff\xfe\"}}\n\n")]
#[case(b"data: {\"choices\":[{\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n")]
#[case(b"{\"message\":7}\n\n")]
#[case(b"data: {\"choices\":\"none\"}\n\n")]
#[case(b"event: x\ndata: {not json}\n\n")]
#[case(b"event: x\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\xff\xfe\"}}\n\n")]
#[case(b"event: x\ndata: {\"type\":\"message\",\"content\":\"none\"}\n\n")]
#[tokio::test]
async fn what_is_no_json_or_no_utf8(#[case] bytes: &'static [u8]) {
    let kind = match bytes[0] {
        b'd' => OPENAI,
        b'e' => ANTHROPIC,
        _ => OLLAMA,
    };
    let got = fault(kind, Script::new().text("half").bytes(bytes).text("more")).await;
    assert_eq!(got, ("half".to_owned(), Kind::InvalidResponse));
}

#[rstest]
#[tokio::test]
async fn a_line_of_100_mb(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
    #[values(true, false)] in_event: bool,
) {
    let server = Server::start();
    let client = client(&server, kind);
    let start = if in_event { "data: " } else { "{\"x\":\"" };
    server.push(Script::new().text("half").bytes(start).long_line(100 << 20));
    let (deltas, error) = ask(&*client, hello()).await;
    assert_eq!(error.unwrap().kind, Kind::LineTooLong);
    assert_eq!(text_of(&deltas), "half");
    let sent = server.wait_for_end(0).await.sent();
    assert_eq!(sent.end, End::ClientGone, "the rest was not waited for");
    assert!(sent.length < 40 << 20, "{} bytes were taken", sent.length);
    works(&*client).await;
}

#[rstest]
#[tokio::test]
async fn an_empty_reply_is_not_the_clients_business(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    let server = Server::start();
    server.push(Script::new());
    assert_eq!(text_of(&answer(&*client(&server, kind), hello()).await), "");
}

#[rstest]
#[tokio::test]
async fn text_before_an_error_comes_first_and_the_error_once(
    #[values(OLLAMA, OPENAI, ANTHROPIC)] kind: ConnectionKind,
) {
    let server = Server::start();
    server.push(Script::new().texts(["a", "b", "c"]).error("gone"));
    let mut reply = client(&server, kind).chat(hello()).await.unwrap();
    let mut text = String::new();
    let error = loop {
        match reply.next().await.unwrap() {
            Ok(batch) => text += &text_of(&batch),
            Err(error) => break error,
        }
    };
    assert_eq!((text.as_str(), error.kind), ("abc", Kind::ServerFailed));
    assert!(reply.next().await.is_none());
    assert!(reply.next().await.is_none(), "also when it is asked again");
}
