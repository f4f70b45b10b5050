//! Puts a reply together from its deltas.

use serde_json::Value;

use crate::client::{Delta, Finish, without_halves};
use crate::message::thoughts::sort_thoughts;
use crate::message::{Part, ToolCall, ToolCallId, Usage};

/// A reply as far as it has come.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    parts: Vec<Part>,
    calls: Vec<PartialCall>,
    pub usage: Usage,
    pub finish: Option<Finish>,
}

/// A tool call whose pieces are still coming.
#[derive(Debug, Default)]
struct PartialCall {
    index: usize,
    id: Option<String>,
    name: String,
    arguments: String,
}

impl Assembly {
    /// Adds a delta.
    pub(super) fn add(&mut self, delta: &Delta) {
        match delta {
            Delta::Text(more) => match self.parts.last_mut() {
                Some(Part::Text(text)) => text.push_str(more),
                _ if more.is_empty() => {}
                _ => self.parts.push(Part::Text(more.clone())),
            },
            Delta::Thinking(more) => match self.parts.last_mut() {
                Some(Part::Thinking { text, .. }) => text.push_str(more),
                _ if more.is_empty() => {}
                _ => self.parts.push(Part::Thinking { text: more.clone(), took: None }),
            },
            Delta::ToolCall { index, id, name, arguments } => {
                let at = self.calls.iter().position(|call| call.index == *index);
                let at = at.unwrap_or_else(|| {
                    self.calls.push(PartialCall { index: *index, ..PartialCall::default() });
                    self.calls.len() - 1
                });
                let call = &mut self.calls[at];
                if let Some(id) = id.as_ref().filter(|id| !id.is_empty()) {
                    call.id.get_or_insert_with(|| id.clone());
                }
                if let Some(name) = name
                    && call.name.is_empty()
                {
                    call.name.clone_from(name);
                }
                call.arguments.push_str(arguments);
            }
            Delta::Preparing(_) => {}
            Delta::Usage(usage) => self.usage = merge(&self.usage, usage),
            Delta::Finish(finish) => self.finish = Some(finish.clone()),
        }
    }

    /// The parts, tool calls last, and what it cost.
    pub(super) fn into_parts(mut self) -> (Vec<Part>, Usage) {
        sort_thoughts(&mut self.parts);
        for call in self.calls {
            self.parts.push(Part::ToolCall(ToolCall::new(
                call.id.map_or_else(ToolCallId::generate, ToolCallId::new),
                call.name,
                arguments(&call.arguments),
            )));
        }
        (self.parts, self.usage)
    }

    /// Whether anything has come that a person could see.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.calls.is_empty()
    }
}

/// What is not JSON stays text: the tool's check says so to the model. Nothing means no arguments.
fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(serde_json::Map::new());
    }
    serde_json::from_str(text)
        .or_else(|_| serde_json::from_str(&without_halves(text)))
        .unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// Servers tell their counts in several pieces; a later one wins where it says something.
fn merge(known: &Usage, new: &Usage) -> Usage {
    Usage {
        prompt_tokens: new.prompt_tokens.or(known.prompt_tokens),
        cached_tokens: new.cached_tokens.or(known.cached_tokens),
        completion_tokens: new.completion_tokens.or(known.completion_tokens),
        load_ms: new.load_ms.or(known.load_ms),
        prompt_ms: new.prompt_ms.or(known.prompt_ms),
        completion_ms: new.completion_ms.or(known.completion_ms),
        total_ms: new.total_ms.or(known.total_ms),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(index: usize, id: Option<&str>, name: Option<&str>, arguments: &str) -> Delta {
        Delta::ToolCall {
            index,
            id: id.map(Into::into),
            name: name.map(Into::into),
            arguments: arguments.into(),
        }
    }

    #[test]
    fn pieces_of_interleaved_calls_are_joined_by_their_index() {
        let mut assembly = Assembly::default();
        assembly.add(&Delta::Thinking("hm".into()));
        assembly.add(&Delta::Text("I look.".into()));
        for delta in [
            call(0, Some("a"), Some("read"), "{\"pa"),
            call(1, Some("b"), Some("list"), ""),
            call(0, None, None, "th\": 1}"),
        ] {
            assembly.add(&delta);
        }
        let (parts, _) = assembly.into_parts();
        let calls: Vec<_> = parts
            .iter()
            .filter_map(|part| match part {
                Part::ToolCall(call) => Some((call.id.as_str(), &*call.name, &call.arguments)),
                _ => None,
            })
            .collect();
        assert_eq!(calls, [("a", "read", &json!({"path": 1})), ("b", "list", &json!({}))]);
        assert_eq!(parts.len(), 4);
    }

    #[test]
    fn a_reply_whose_thoughts_the_template_opened_is_sorted_at_its_end() {
        let mut assembly = Assembly::default();
        for piece in ["hm\n</thi", "nk>\n\nYes."] {
            assembly.add(&Delta::Text(piece.into()));
        }
        assembly.add(&call(0, Some("a"), Some("read"), "{}"));
        let (parts, _) = assembly.into_parts();
        let expected =
            [Part::Thinking { text: "hm".into(), took: None }, Part::Text("Yes.".into())];
        assert_eq!(parts[..2], expected);
        assert_eq!(parts.len(), 3);
    }

    #[test]
    fn arguments_that_are_no_json_stay_text() {
        assert_eq!(arguments("{\"a\":"), json!("{\"a\":"));
    }

    #[test]
    fn half_a_character_does_not_cost_the_arguments() {
        let whole = json!({ "text": "a😀\u{fffd}" });
        assert_eq!(arguments(r#"{"text":"a\ud83d\ude00\ud83d"}"#), whole);
    }

    #[test]
    fn a_call_without_an_id_gets_one() {
        let mut assembly = Assembly::default();
        assembly.add(&call(0, None, Some("read"), "{}"));
        let (parts, _) = assembly.into_parts();
        assert!(matches!(&parts[0], Part::ToolCall(call) if call.id.as_str().starts_with("call_")));
    }
}
