//! Tests the scripted server as a program.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it with these options and gives its port.
fn start(options: &[&str]) -> (Running, u16) {
    let child = Command::new(env!("CARGO_BIN_EXE_scripted-llm"))
        .args(options)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut running = Running(child);
    let mut line = String::new();
    BufReader::new(running.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (running, line.trim().parse().unwrap())
}

fn chat(port: u16, model: &str) -> String {
    let mut socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let body = format!(r#"{{"model":"{model}","messages":[]}}"#);
    let length = body.len();
    write!(
        socket,
        "POST /api/chat HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn it_prints_its_port_and_says_what_its_options_say() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let log_option = log.to_str().unwrap();
    let (_running, port) = start(&[
        "--chunks",
        "50",
        "--bytes",
        "4000",
        "--code-blocks",
        "2",
        "--thinking",
        "3",
        "--model",
        "a",
        "--requests-log",
        log_option,
    ]);
    let answer = chat(port, "a");
    assert_eq!(answer.matches(r#""thinking":"#).count(), 3);
    assert!(answer.contains(r#""eval_count":53"#), "{answer}");
    assert!(chat(port, "b").contains("404"));
    let log = std::fs::read_to_string(log).unwrap();
    let ended: serde_json::Value = serde_json::from_str(log.lines().nth(1).unwrap()).unwrap();
    assert_eq!(ended["text"].as_str().unwrap().matches("```rust").count(), 2);
}

#[test]
fn faults_are_options_too() {
    let (_running, port) = start(&["--chunks", "2", "--fault", "error"]);
    assert!(chat(port, "scripted").contains(r#"{"error":"#));
    let (_running, port) = start(&["--fault", "rate-limited"]);
    assert!(chat(port, "scripted").contains("retry-after: 2"));
}
