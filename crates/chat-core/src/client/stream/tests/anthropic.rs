//! Writes replies as servers of Anthropic's protocol do.

use serde_json::{Value, json};

use super::ReplyPiece;
use crate::client::Delta;
use crate::client::anthropic::AnthropicReply;
use crate::client::batch::Batch;
use crate::client::refusal::SentRequest;
use crate::message::Origin;

/// A decoder of what comes from a server of Anthropic's protocol.
pub(super) fn anthropic_reply() -> AnthropicReply {
    let origin = Origin {
        protocol: "anthropic".to_owned(),
        connection: "test".to_owned(),
        server: None,
        model: "m".to_owned(),
    };
    AnthropicReply::new(origin, SentRequest::default())
}

/// A reply on Anthropic's protocol: each piece is a block.
pub(super) fn anthropic(said: &[ReplyPiece], line_end: &str) -> String {
    let mut calls = 0;
    let mut events = vec![json!({ "type": "message_start", "message": { "content": [] } })];
    for (index, said) in said.iter().enumerate() {
        let (block, deltas) = match said {
            ReplyPiece::Text(text) => {
                let delta = json!({ "type": "text_delta", "text": text });
                (json!({ "type": "text", "text": "" }), vec![delta])
            }
            ReplyPiece::Thinking(text) => {
                let delta = json!({ "type": "thinking_delta", "thinking": text });
                (json!({ "type": "thinking", "thinking": "" }), vec![delta])
            }
            ReplyPiece::Call { name, arguments } => {
                let id = format!("id{calls}");
                calls += 1;
                let arguments = arguments.to_string();
                let pieces = arguments.split_inclusive(':');
                let delta = |json| json!({ "type": "input_json_delta", "partial_json": json });
                let block = json!({ "type": "tool_use", "id": id, "name": name, "input": {} });
                (block, pieces.map(delta).collect())
            }
        };
        events
            .push(json!({ "type": "content_block_start", "index": index, "content_block": block }));
        events.extend(
            deltas.into_iter().map(
                |delta| json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            ),
        );
        events.push(json!({ "type": "content_block_stop", "index": index }));
    }
    events.push(json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" },
        "usage": { "output_tokens": 3 } }));
    events.push(json!({ "type": "message_stop" }));
    let event = |event: &Value| {
        let name = event["type"].as_str().unwrap();
        format!("event: {name}{line_end}data: {event}{line_end}{line_end}")
    };
    events.iter().map(event).collect()
}

/// Without what goes back to the server, with neighbouring pieces joined.
pub(super) fn without_provider_data(deltas: Vec<Delta>) -> Vec<Delta> {
    let mut out = Batch::default();
    for delta in deltas {
        match delta {
            Delta::Provider { .. } => {}
            Delta::Text(text) => out.text(&text),
            Delta::Thinking(text) => out.thinking(&text),
            other => out.push(other),
        }
    }
    out.into_deltas()
}
