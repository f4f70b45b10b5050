//! Tests servers of tools: that they are managed, called by models, and kept from doing harm.

mod bad;
mod changed;
mod kills;
mod managing;
mod others;

use std::fs;

use chat_testkit::server::{Script, Server};
use serde_json::{Value, json};

use crate::home::{Home, Run};

/// A home that knows this model server, and has these servers of tools.
fn home_with(model: &Server, servers: &Value) -> Home {
    let home = Home::new(model);
    set_servers(&home, servers);
    home
}

/// Replaces the servers of tools.
fn set_servers(home: &Home, servers: &Value) {
    let file = json!({ "mcpServers": servers }).to_string();
    fs::write(home.path("config/natter/mcp.json"), file).expect("a file");
}

/// The entry of a program. `natter` is what only Natter knows.
fn program(command: &[String], natter: &Value) -> Value {
    json!({ "command": command[0], "args": command[1..], "natter": natter })
}

/// The entry of the scripted server, outside of the sandbox.
fn scripted(arguments: &[&str]) -> Value {
    program(&chat_testkit::mcp::scripted(arguments), &json!({ "sandbox": false }))
}

/// What came of one call.
#[derive(Debug)]
struct Called {
    /// The event, as programs get it.
    event: Value,
    /// What the model is told.
    told: String,
}

impl Called {
    fn failed(&self) -> bool {
        self.event["failed"] == true
    }
}

/// What came of the calls of one reply.
struct Round {
    run: Run,
    events: Vec<Value>,
    calls: Vec<Called>,
    /// The request in which the model is told.
    request: String,
}

/// Has the model make these calls in one reply, in which what the rules name is allowed.
fn call(home: &Home, model: &Server, rules: &[&str], calls: &[(&str, Value)]) -> Round {
    let mut reply = Script::new();
    for (at, (tool, arguments)) in calls.iter().enumerate() {
        reply = reply.tool_call(&format!("c{at}"), tool, arguments.clone());
    }
    model.push(reply);
    model.push(Script::new().text("That is all."));
    let before = model.chats().len();
    let allowed = rules.iter().flat_map(|rule| ["--allow", rule]);
    let args = ["ask", "--json"].into_iter().chain(allowed).chain(["use them"]);
    let run = home.run(args.collect::<Vec<_>>()).ok();
    let events = run.events();
    assert_eq!(events.last().expect("events")["reason"], "complete", "{run:#?}");
    let request = model.chats()[before..].last().expect("a request").clone();
    let told = request.texts_of("tool");
    // Others may have been made before.
    let told = told[told.len() - calls.len()..].iter().cloned();
    let result = |at: usize| {
        let is_it =
            |event: &&Value| event["type"] == "tool_result" && event["id"] == format!("c{at}");
        events.iter().find(is_it).unwrap_or_else(|| panic!("no result of {at}: {run:#?}")).clone()
    };
    let calls = told.enumerate().map(|(at, told)| Called { event: result(at), told }).collect();
    Round { calls, request: request.body.to_string(), events, run }
}
