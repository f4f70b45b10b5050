//! What the server has besides tools: resources, prompts, and completions of their arguments.

use serde_json::{Value, json};

use super::output::refusal;
use super::server::Request;

/// The answer to what asks for them; none to anything else.
pub fn answer(request: &Request) -> Option<Result<Value, Value>> {
    Some(match request.method.as_str() {
        "resources/list" => Ok(json!({ "resources": [{
            "uri": "note://one",
            "name": "one",
            "title": "The First Note",
            "description": "What is to be done today.",
            "mimeType": "text/plain",
            "size": note("one").len(),
        }] })),
        "resources/templates/list" => Ok(json!({ "resourceTemplates": [{
            "uriTemplate": "note://{name}",
            "name": "note",
            "title": "A Note",
            "description": "Any note, by its name.",
            "mimeType": "text/plain",
        }] })),
        "resources/read" => read(request),
        "prompts/list" => Ok(json!({ "prompts": [{
            "name": "review",
            "title": "Review Code",
            "description": "Looks for bugs in a piece of code.",
            "arguments": [
                { "name": "code", "description": "The code.", "required": true },
                { "name": "language", "description": "Its programming language." },
            ],
        }] })),
        "prompts/get" => prompt(&request.params),
        "completion/complete" => Ok(completion(&request.params["argument"])),
        _ => return None,
    })
}

/// A note as a resource's contents.
pub fn contents(name: &str) -> Value {
    json!({ "uri": format!("note://{name}"), "mimeType": "text/plain", "text": note(name) })
}

fn note(name: &str) -> String {
    format!("This is note {name}.")
}

fn read(request: &Request) -> Result<Value, Value> {
    let name = request.params["uri"].as_str().and_then(|uri| uri.strip_prefix("note://"));
    match name {
        Some(name) if !name.is_empty() => Ok(json!({ "contents": [contents(name)] })),
        // The new revision has no code of its own for it.
        _ if request.is_new() => Err(refusal(-32602, "There is no such note.")),
        _ => Err(refusal(-32002, "There is no such note.")),
    }
}

fn prompt(params: &Value) -> Result<Value, Value> {
    if params["name"] != "review" {
        return Err(refusal(-32602, "There is no such prompt."));
    }
    let arguments = &params["arguments"];
    let Some(code) = arguments["code"].as_str() else {
        return Err(refusal(-32602, "The argument code is missing."));
    };
    let language = arguments["language"].as_str().unwrap_or("code");
    let says =
        |role, text: String| json!({ "role": role, "content": { "type": "text", "text": text } });
    Ok(json!({ "description": "Looks for bugs.", "messages": [
        says("user", format!("Review this {language}:\n{code}")),
        says("assistant", "I will begin with what is wrong.".to_owned()),
        says("user", "Then say what could be simpler.".to_owned()),
    ] }))
}

fn completion(argument: &Value) -> Value {
    let typed = argument["value"].as_str().unwrap_or_default();
    let all: &[&str] =
        if argument["name"] == "language" { &["Python", "Rust", "Ruby"] } else { &[] };
    let values: Vec<_> = all.iter().filter(|value| value.starts_with(typed)).collect();
    json!({ "completion": { "values": values, "total": values.len(), "hasMore": false } })
}
