//! Tests the scripted MCP server as a program.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

struct Running {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_scripted-mcp"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Asks in the old revision.
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
        self.next()
    }

    /// Asks in the new revision.
    fn ask_new(&mut self, method: &str, mut params: Value) -> Value {
        params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
            json!({ "elicitation": { "form": {} } });
        self.ask(method, &params)
    }

    fn initialize(&mut self) -> Value {
        let capabilities = json!({ "elicitation": { "form": {} } });
        self.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities }),
        )
    }

    /// Ends its input, and gives what it wrote to standard error.
    fn end(mut self) -> String {
        drop(self.input.take());
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(self.child.wait().unwrap().success());
        log
    }
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

#[test]
fn it_speaks_both_revisions_or_one() {
    let mut both = Running::start(&["--log", "hello"]);
    let found = both.ask_new("server/discover", json!({}));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(found["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "scripted");
    assert_eq!(both.initialize()["result"]["protocolVersion"], "2025-11-25");
    let echo = call("echo", &json!({ "message": "hi" }));
    assert_eq!(both.ask("tools/call", &echo)["result"]["resultType"], Value::Null);
    let answer = both.ask_new("tools/call", echo);
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(answer["result"]["content"][0]["text"], "hi");
    assert_eq!(both.end(), "hello\n");

    let mut old = Running::start(&["good", "--era", "old"]);
    assert_eq!(old.ask_new("server/discover", json!({}))["error"]["code"], -32601);
    let mut new = Running::start(&["good", "--era", "new"]);
    assert_eq!(new.initialize()["error"]["data"]["supported"][0], "2026-07-28");
}

#[test]
fn tools_come_in_pages() {
    let mut server = Running::start(&["--tools", "150"]);
    let first = server.ask("tools/list", &json!({}))["result"].take();
    assert_eq!(first["tools"].as_array().unwrap().len(), 100);
    let second =
        server.ask("tools/list", &json!({ "cursor": first["nextCursor"] }))["result"].take();
    assert_eq!(second["tools"].as_array().unwrap().len(), 60);
    assert_eq!(second["nextCursor"], Value::Null);
}

#[test]
fn it_asks_in_the_way_of_either_revision() {
    let mut server = Running::start(&[]);
    let filled_in = json!({ "action": "accept", "content": { "name": "Bo" } });
    let told = r#"accept {"name":"Bo"}"#;

    server.initialize();
    let question = server.ask("tools/call", &call("ask", &json!({})));
    assert_eq!(question["method"], "elicitation/create");
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": filled_in }));
    assert_eq!(server.next()["result"]["content"][0]["text"], told);

    let required = server.ask_new("tools/call", call("ask", &json!({})))["result"].take();
    assert_eq!(required["resultType"], "input_required");
    let mut again = call("ask", &json!({}));
    again["inputResponses"] = json!({ "who": filled_in });
    again["requestState"] = required["requestState"].clone();
    let answer = server.ask_new("tools/call", again);
    assert_eq!(answer["result"]["content"][0]["text"], told);
}

#[test]
fn a_slow_call_tells_how_far_it_is_and_can_be_cancelled() {
    let mut server = Running::start(&[]);
    let mut slow = call("slow", &json!({ "seconds": 100 }));
    slow["_meta"] = json!({ "progressToken": "t" });
    assert_eq!(server.ask("tools/call", &slow)["params"]["progressToken"], "t");
    server.send(&json!({ "method": "notifications/cancelled", "params": { "requestId": 1 } }));
    let mut line = String::new();
    BufReader::new(server.child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "cancelled\n");
}

#[test]
fn a_changing_server_says_so_after_its_first_call() {
    let mut server = Running::start(&["changing"]);
    let description = |server: &mut Running| {
        server.ask("tools/list", &json!({}))["result"]["tools"][0]["description"].take()
    };
    server.initialize();
    let before = description(&mut server);
    server.ask("tools/call", &call("fail", &json!({})));
    assert_eq!(server.next()["method"], "notifications/tools/list_changed");
    assert_ne!(description(&mut server), before);
}

#[test]
fn a_server_that_was_updated_describes_a_tool_otherwise() {
    let update = tempfile::NamedTempFile::new().unwrap();
    let path = update.path().to_str().unwrap().to_owned();
    let description = || {
        let mut server = Running::start(&["--changed-if", &path]);
        server.ask("tools/list", &json!({}))["result"]["tools"][0]["description"].take()
    };
    let updated = description();
    drop(update);
    assert_ne!(description(), updated);
}

#[test]
fn bad_servers_are_bad() {
    let status = |arguments| {
        let mut server = Running::start(arguments);
        server.initialize();
        server.send(&json!({ "id": 2, "method": "tools/list" }));
        server.child.wait().unwrap().code()
    };
    assert_eq!(status(&["dies-while-listing"]), Some(4));
    let mut older = Running::start(&["dies-at-discovery"]);
    older.initialize();
    older.send(&json!({ "id": 2, "method": "server/discover" }));
    assert_eq!(older.child.wait().unwrap().code(), Some(5));
    let mut huge = Running::start(&["huge-line"]);
    huge.send(&json!({ "id": 2, "method": "tools/list" }));
    let mut line = Vec::new();
    huge.output.read_until(b'\n', &mut line).unwrap();
    assert!(line.len() > 100 << 20);
    let mut wrong = Running::start(&["wrong-ids"]);
    assert_eq!(wrong.ask("tools/list", &json!({}))["id"], "nobody's");
    let mut mute = Running::start(&["mute"]);
    mute.send(&json!({ "id": 2, "method": "tools/call", "params": { "name": "fail" } }));
    assert_eq!(mute.ask("tools/list", &json!({}))["id"], 1, "the call is not answered");
    for mode in ["flood", "pings", "asks"] {
        let mut server = Running::start(&[mode]);
        server.ask("tools/list", &json!({}));
        assert!((0..10_000).all(|_| server.next()["method"].is_string()), "{mode}");
    }
}
