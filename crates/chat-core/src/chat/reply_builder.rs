//! Assembles a reply from its deltas.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::continuation::Continuation;
use super::live_text::LiveText;
use crate::client::{Delta, without_halves};
use crate::message::reasoning::split_reasoning;
use crate::message::{Part, ProviderData, ToolCall, ToolCallId, Usage};

/// Which kind of text grew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TextKind {
    /// The answer.
    Text,
    /// What the model thinks.
    Thinking,
}

/// A reply as far as it has come: the only place that turns deltas into parts.
#[derive(Debug, Default)]
pub struct ReplyBuilder {
    /// The reply that this one goes on with, where it does.
    continuation: Option<Continuation>,
    texts: Vec<GrowingText>,
    calls: Vec<PartialCall>,
    usage: Usage,
}

/// A text that is still arriving.
#[derive(Debug)]
struct GrowingText {
    kind: TextKind,
    text: Arc<LiveText>,
    began: Instant,
    /// How long it took, once another text follows or the reply has ended.
    took: Option<Duration>,
    provider: Option<ProviderData>,
}

/// A tool call that is still arriving.
#[derive(Debug, Default)]
struct PartialCall {
    index: usize,
    id: Option<String>,
    name: String,
    arguments: String,
    provider: Option<ProviderData>,
}

/// Where a piece of text went.
#[derive(Debug)]
pub(crate) struct Grown {
    /// Which part grew.
    pub part: usize,
    pub kind: TextKind,
    /// The byte from which it is new.
    pub from: usize,
    /// The byte up to which it is new.
    pub to: usize,
    pub text: Arc<LiveText>,
}

impl ReplyBuilder {
    /// Of a reply that goes on with this text.
    pub(crate) fn continuing(text: &str) -> Self {
        Self { continuation: Some(Continuation::of(text)), ..Self::default() }
    }

    /// What came may be held back until it is known that it repeats nothing: there is no more of it. Says
    /// where text went.
    pub(crate) fn flush(&mut self) -> Option<Grown> {
        let rest = self.continuation.take()?.finish();
        self.push(TextKind::Text, &rest)
    }

    /// Adds a delta. Says where text went.
    pub(crate) fn apply(&mut self, delta: &Delta) -> Option<Grown> {
        match delta {
            Delta::Text(more) => {
                return match &mut self.continuation {
                    Some(continuation) => {
                        let more = continuation.push(more);
                        self.push(TextKind::Text, &more)
                    }
                    None => self.push(TextKind::Text, more),
                };
            }
            Delta::Thinking(more) => return self.push(TextKind::Thinking, more),
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
            Delta::Provider { call: None, data } => return self.attach(data),
            Delta::Provider { call: Some(index), data } => {
                if let Some(call) = self.calls.iter_mut().find(|call| call.index == *index) {
                    call.provider = Some(data.clone());
                }
            }
            Delta::Usage(usage) => self.usage = merge(&self.usage, usage),
            Delta::Finish(_) => return self.flush(),
            Delta::Preparing(_) | Delta::Sent => {}
        }
        None
    }

    /// Appends to the last text, or begins one where the kind changes.
    fn push(&mut self, kind: TextKind, more: &str) -> Option<Grown> {
        if more.is_empty() {
            return None;
        }
        // What its server signed is whole.
        if self.texts.last().is_none_or(|text| text.kind != kind || text.provider.is_some()) {
            self.begin(kind);
        }
        let part = self.texts.len() - 1;
        let text = Arc::clone(&self.texts[part].text);
        let from = text.push(more);
        Some(Grown { part, kind, from, to: from + more.len(), text })
    }

    fn begin(&mut self, kind: TextKind) {
        if let Some(last) = self.texts.last_mut() {
            last.took.get_or_insert(last.began.elapsed());
        }
        let (text, began) = (Arc::default(), Instant::now());
        self.texts.push(GrowingText { kind, text, began, took: None, provider: None });
    }

    /// Attaches what the server wants back to the thinking that it follows. Where it follows none, an
    /// empty part carries it.
    fn attach(&mut self, data: &ProviderData) -> Option<Grown> {
        let is_open =
            |text: &GrowingText| text.kind == TextKind::Thinking && text.provider.is_none();
        let begins = !self.texts.last().is_some_and(is_open);
        if begins {
            self.begin(TextKind::Thinking);
        }
        let part = self.texts.len() - 1;
        let last = &mut self.texts[part];
        last.provider = Some(data.clone());
        let text = Arc::clone(&last.text);
        begins.then_some(Grown { part, kind: TextKind::Thinking, from: 0, to: 0, text })
    }

    /// Whether nothing has come that a person could see.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.calls.is_empty()
    }

    /// The texts as they come, in order.
    pub(crate) fn texts(
        &self,
    ) -> impl Iterator<Item = (TextKind, &LiveText, Option<&ProviderData>)> {
        self.texts.iter().map(|text| (text.kind, &*text.text, text.provider.as_ref()))
    }

    /// The texts as parts, as far as they have come.
    pub(crate) fn text_parts(&self) -> Vec<Part> {
        let parts = self.texts.iter().map(|text| match text.kind {
            TextKind::Text => Part::Text(text.text.whole()),
            TextKind::Thinking => Part::Thinking {
                text: text.text.whole(),
                took: text.took,
                provider: text.provider.clone(),
            },
        });
        parts.collect()
    }

    /// The parts of a reply that has ended, tool calls last, and what it cost.
    pub fn build(&mut self) -> (Vec<Part>, Usage) {
        if let Some(last) = self.texts.last_mut() {
            last.took.get_or_insert(last.began.elapsed());
        }
        let mut parts = self.text_parts();
        split_reasoning(&mut parts);
        for call in &mut self.calls {
            // It keeps this id however often it is built.
            let id = call.id.get_or_insert_with(|| ToolCallId::generate().as_str().to_owned());
            let (id, arguments) = (ToolCallId::new(id.clone()), arguments(&call.arguments));
            let whole = ToolCall::new(id, call.name.clone(), arguments);
            parts.push(Part::ToolCall(ToolCall { provider: call.provider.clone(), ..whole }));
        }
        (parts, self.usage.clone())
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

/// Servers report their counts in several pieces; a later one wins where it has a value.
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
        let mut reply = ReplyBuilder::default();
        reply.apply(&Delta::Thinking("hm".into()));
        reply.apply(&Delta::Text("I look.".into()));
        for delta in [
            call(0, Some("a"), Some("read"), "{\"pa"),
            call(1, Some("b"), Some("list"), ""),
            call(0, None, None, "th\": 1}"),
        ] {
            reply.apply(&delta);
        }
        let (parts, _) = reply.build();
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
        let mut reply = ReplyBuilder::default();
        for piece in ["hm\n</thi", "nk>\n\nYes."] {
            reply.apply(&Delta::Text(piece.into()));
        }
        reply.apply(&call(0, Some("a"), Some("read"), "{}"));
        let (parts, _) = reply.build();
        let expected = [
            Part::Thinking { text: "hm".into(), took: None, provider: None },
            Part::Text("Yes.".into()),
        ];
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
        let mut reply = ReplyBuilder::default();
        reply.apply(&call(0, None, Some("read"), "{}"));
        let (parts, _) = reply.build();
        assert!(matches!(&parts[0], Part::ToolCall(call) if call.id.as_str().starts_with("call_")));
    }
}
