//! Records requests to a model server, each by what is new in it.

use std::fmt::Write;

use serde_json::Value;

use super::json::{self, indented};
use crate::server::Recorded;

/// A chat request that later ones are compared with.
struct Known<'a> {
    number: usize,
    messages: Vec<&'a str>,
    tools: Option<&'a str>,
}

/// The requests in order: method, path, and the body with its keys in their original order.
/// Messages and tools that are byte for byte the same as in an earlier request are only counted.
pub fn requests(requests: &[Recorded]) -> String {
    let mut out = String::new();
    let mut known: Vec<Known<'_>> = Vec::new();
    for (at, request) in requests.iter().enumerate() {
        let number = at + 1;
        let Recorded { method, path, .. } = request;
        let _ = writeln!(out, "--- request {number}: {method} {path}");
        let body = std::str::from_utf8(request.raw_body()).expect("a body of text");
        let fields = json::fields(body);
        if !request.is_chat() || fields.is_empty() {
            if !body.is_empty() {
                out.push_str(&indented(body));
                out.push('\n');
            }
            continue;
        }
        let field = |name: &str| fields.iter().find(|(key, _)| *key == name).map(|(_, raw)| *raw);
        let messages = field("messages").map(json::items).unwrap_or_default();
        let tools = field("tools");
        let parts = fields.iter().map(|(key, raw)| match *key {
            "messages" => format!("\"messages\":{}", new_messages(&messages, &known)),
            "tools" => format!("\"tools\":{}", new_tools(raw, &known)),
            key => format!("\"{key}\":{raw}"),
        });
        let parts: Vec<_> = parts.collect();
        out.push_str(&indented(&format!("{{{}}}", parts.join(","))));
        out.push('\n');
        known.push(Known { number, messages, tools });
    }
    out
}

/// The messages after those that are shared with the most similar earlier request.
fn new_messages(messages: &[&str], known: &[Known<'_>]) -> String {
    let same = |known: &Known<'_>| {
        let pairs = messages.iter().zip(&known.messages);
        pairs.take_while(|(new, old)| new == old).count()
    };
    let most = known.iter().map(|known| (same(known), known.number)).max();
    let mut parts = Vec::new();
    let from = match most {
        Some((count, number)) if count > 0 => {
            let told = format!("… the first {count} are those of request {number} …");
            parts.push(Value::from(told).to_string());
            count
        }
        _ => 0,
    };
    parts.extend(messages[from..].iter().map(|message| (*message).to_owned()));
    format!("[{}]", parts.join(","))
}

fn new_tools(tools: &str, known: &[Known<'_>]) -> String {
    let same = known.iter().find(|known| known.tools == Some(tools));
    same.map_or_else(
        || tools.to_owned(),
        |known| Value::from(format!("… those of request {} …", known.number)).to_string(),
    )
}
