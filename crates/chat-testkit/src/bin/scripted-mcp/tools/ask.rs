//! Asks the user by a form, in the way of either revision.

use serde_json::{Value, json};

use super::{failure, text};
use crate::output::refusal;
use crate::server::{Call, News};

/// What the server wants to have again with the answers.
const STATE: &str = "asked once";

/// Asks, and tells what the user answered.
pub fn ask(call: &Call<'_>) -> Option<Result<Value, Value>> {
    if !call.can_ask() {
        return Some(Ok(failure("This client cannot ask.")));
    }
    if call.request.is_new() {
        Some(ask_in_result(&call.request.params))
    } else {
        ask_in_call(call)
    }
}

/// The result says what is asked. The client calls once more, with the answers.
fn ask_in_result(params: &Value) -> Result<Value, Value> {
    let responses = &params["inputResponses"];
    if responses.is_null() {
        let question = json!({ "method": "elicitation/create", "params": form() });
        return Ok(json!({
            "resultType": "input_required",
            "inputRequests": { "who": question },
            "requestState": STATE,
        }));
    }
    if params["requestState"] != STATE {
        return Err(refusal(-32602, "The state did not come back as it was."));
    }
    Ok(told(&responses["who"]))
}

/// The server asks while the call runs.
fn ask_in_call(call: &Call<'_>) -> Option<Result<Value, Value>> {
    let id = call.question_id();
    let question = json!({
        "jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": form(),
    });
    call.server.output.say(&question);
    match call.news.recv() {
        Ok(News::Answer(answer)) if answer["error"].is_null() => Some(Ok(told(&answer["result"]))),
        Ok(News::Answer(answer)) => Some(Ok(failure(&format!("refused: {}", answer["error"])))),
        Ok(News::Cancelled) => {
            let about = json!({ "requestId": id, "reason": "the call was cancelled" });
            call.server.output.notify("notifications/cancelled", &about);
            eprintln!("cancelled");
            None
        }
        // The input ended.
        Err(_) => None,
    }
}

/// What the user did, and what they filled in.
fn told(answer: &Value) -> Value {
    let action = answer["action"].as_str().unwrap_or("nothing");
    match &answer["content"] {
        Value::Null => text(action),
        content => text(&format!("{action} {content}")),
    }
}

fn form() -> Value {
    json!({
        "mode": "form",
        "message": "Who are you?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": { "type": "string", "title": "Name", "default": "Ann", "maxLength": 40 },
                "age": {
                    "type": "integer", "title": "Age", "description": "In years.", "minimum": 0, "maximum": 150,
                },
                "subscribe": { "type": "boolean", "title": "Subscribe", "default": false },
                "color": { "type": "string", "title": "Color", "enum": ["red", "green", "blue"] },
                "email": { "type": "string", "title": "Email Address", "format": "email" },
            },
            "required": ["name", "age", "color"],
        },
    })
}
