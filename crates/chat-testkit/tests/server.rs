//! Tests that the scripted server follows its scripts, over a bare socket.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use chat_testkit::server::{Answer, End, Gate, PATIENCE, Protocol, Script, Server, Split, text};
use serde_json::{Value, json};

/// Asks and gives what came until the end, with what the end was.
fn ask(server: &Server, method: &str, path: &str, body: &Value) -> (String, Result<(), ErrorKind>) {
    let mut socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = body.to_string();
    let length = body.len();
    write!(
        socket,
        "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut bytes = Vec::new();
    let end = socket.read_to_end(&mut bytes).map(|_| ()).map_err(|error| error.kind());
    (String::from_utf8_lossy(&bytes).into_owned(), end)
}

fn chat(server: &Server, path: &str) -> (String, Result<(), ErrorKind>) {
    let messages = json!([{ "role": "user", "content": "Hello, you there!" }]);
    ask(server, "POST", path, &json!({ "model": "scripted", "messages": messages, "stream": true }))
}

#[test]
fn the_echo_speaks_both_protocols_and_is_recorded() {
    let server = Server::start();
    let (ollama, _) = chat(&server, "/api/chat");
    assert!(ollama.starts_with("HTTP/1.1 200"), "{ollama}");
    assert!(ollama.contains(r#""content":"there!""#) && ollama.contains(r#""done":true"#));
    let (openai, _) = chat(&server, "/v1/chat/completions");
    assert!(openai.contains(r#"{"content":"there!"}"#) && openai.contains("data: [DONE]"));
    let chats = server.chats();
    assert_eq!(chats.len(), 2);
    for chat in chats {
        assert_eq!(chat.sent().text, "You said: Hello, you there!");
        assert_eq!(chat.sent().end, End::Complete);
        assert_eq!(chat.texts_of("user"), ["Hello, you there!"]);
    }
}

#[test]
fn rules_come_before_the_queue_and_the_queue_before_the_echo() {
    let server = Server::start();
    server.push(Script::new().text("queued"));
    server.when("you there", Script::new().text("ruled"));
    assert!(chat(&server, "/api/chat").0.contains("ruled"));
    let other = json!({ "model": "scripted", "messages": [{ "role": "user", "content": "x" }] });
    assert!(ask(&server, "POST", "/api/chat", &other).0.contains("queued"));
    assert!(ask(&server, "POST", "/api/chat", &other).0.contains("You said: "));
}

#[test]
fn a_cut_and_a_reset_break_the_body_and_are_told_apart() {
    let server = Server::start();
    server.push(Script::new().text("half").cut());
    let (text, end) = chat(&server, "/api/chat");
    assert!(text.contains("half") && !text.ends_with("0\r\n\r\n"), "{text}");
    assert_eq!(end, Ok(()), "an orderly close of the connection");
    server.push(Script::new().text("half").reset());
    let (_, end) = chat(&server, "/api/chat");
    assert_eq!(end, Err(ErrorKind::ConnectionReset));
    assert_eq!(server.chats()[1].sent().text, "half");
    assert_eq!(server.chats()[1].sent().end, End::Cut);
}

#[test]
fn every_split_sends_the_same_bytes() {
    let server = Server::start();
    let script = Script::new().thinking("Hm… ").text("日本語 🦀\n").tool_call(
        "call_1",
        "look",
        json!({ "at": "ü" }),
    );
    let mut bodies = Vec::new();
    for split in [Split::Pieces, Split::EveryByte, Split::At(vec![1, 130, 131]), Split::Random(7)] {
        server.push(script.clone().split(split));
        chat(&server, "/v1/chat/completions").1.unwrap();
        bodies.push(server.chats().pop().unwrap().sent().bytes);
    }
    assert!(bodies.iter().all(|body| *body == bodies[0]));
    assert!(bodies[0].ends_with(b"data: [DONE]\n\n"));
}

#[tokio::test]
async fn a_gate_holds_the_answer_and_a_client_that_leaves_is_noticed() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("before").gate(&gate).text("after"));
    let mut socket = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    let body = r#"{"model":"scripted","messages":[]}"#;
    let length = body.len();
    write!(socket, "POST /api/chat HTTP/1.1\r\nhost: x\r\ncontent-length: {length}\r\n\r\n{body}")
        .unwrap();
    gate.reached().await;
    assert_eq!(server.chats()[0].sent().text, "before");
    drop(socket);
    assert_eq!(server.wait_for_end(0).await.sent().end, End::ClientGone);
    assert_eq!(server.chats()[0].sent().text, "before", "nothing went out past the gate");
}

#[test]
fn keys_unknown_models_and_fixed_answers() {
    let server = Server::start().with_key("secret");
    assert!(chat(&server, "/v1/chat/completions").0.starts_with("HTTP/1.1 401"));
    let server = Server::start().only(Protocol::Ollama);
    assert!(chat(&server, "/v1/chat/completions").0.starts_with("HTTP/1.1 404"));
    let unknown = json!({ "model": "gone", "messages": [] });
    assert!(ask(&server, "POST", "/api/chat", &unknown).0.contains("model 'gone' not found"));
    server.answer("/api/tags", Answer::new(200, "<html>").header("content-type", "text/html"));
    assert!(ask(&server, "GET", "/api/tags", &Value::Null).0.ends_with("<html>"));
    server.unanswer("/api/tags");
    assert!(ask(&server, "GET", "/api/tags", &Value::Null).0.contains("scripted"));
}

#[test]
fn pieces_come_flat_out_or_paced_and_a_log_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("requests");
    let server = Server::start().with_log(&log);
    let pieces = text::pieces(&text::markdown(20_000, 2), 1_000);
    server.push(Script::new().flat_out(pieces.clone()));
    chat(&server, "/api/chat").1.unwrap();
    assert_eq!(server.chats()[0].sent().text, pieces.concat());

    let before = std::time::Instant::now();
    server.push(Script::new().paced(&pieces.as_slice()[..11], 100.0));
    chat(&server, "/api/chat").1.unwrap();
    assert!(before.elapsed() >= Duration::from_millis(100), "ten gaps of 10 ms");

    let lines: Vec<Value> = std::fs::read_to_string(&log)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[1]["text"], pieces.concat());
    assert_eq!(lines[3]["end"], "Complete");
}
