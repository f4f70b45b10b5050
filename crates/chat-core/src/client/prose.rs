//! Renders a message's parts as the text that a model reads: the same parts always give the same
//! bytes, so that a server need not read the history again.

use std::borrow::Cow;
use std::fmt::Write;

use serde::Serialize;
use serde::ser::Serializer;
use serde_json::Value;

use crate::message::{Message, Part, ToolCall};

/// All that is text in a message: its texts, its files and its context, but not its thinking.
pub(crate) fn text(message: &Message) -> Cow<'_, str> {
    if let [Part::Text(text)] = &message.parts[..] {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut before_is_text = false;
    for part in &message.parts {
        match part {
            // Pieces of one text, torn apart by a picture or a call.
            Part::Text(text) => {
                if !text.is_empty() && !before_is_text {
                    paragraph(&mut out);
                }
                out.push_str(text);
                before_is_text |= !text.is_empty();
                continue;
            }
            Part::File { name, text } => {
                paragraph(&mut out);
                let end = if text.ends_with('\n') { "" } else { "\n" };
                let _ = write!(out, "<file name={name:?}>\n{text}{end}</file>");
            }
            Part::Context { text } => {
                paragraph(&mut out);
                out.push_str(text);
            }
            Part::Command(command) => {
                paragraph(&mut out);
                out.push_str(command.for_model().trim_end());
            }
            Part::FromAgent(agent) => {
                paragraph(&mut out);
                out.push_str(&agent.for_model());
            }
            Part::Thinking { .. }
            | Part::Image { .. }
            | Part::ToolCall(_)
            | Part::ToolResult(_)
            | Part::Compaction(_) => continue,
        }
        before_is_text = false;
    }
    Cow::Owned(out)
}

fn paragraph(out: &mut String) {
    if !out.is_empty() {
        out.push_str("\n\n");
    }
}

/// All thinking of a message.
pub(super) fn thinking(message: &Message) -> Cow<'_, str> {
    let mut reasoning = message.parts.iter().filter_map(|part| match part {
        Part::Thinking { text, .. } => Some(text.as_str()),
        _ => None,
    });
    match (reasoning.next(), reasoning.next()) {
        (None, _) => Cow::Borrowed(""),
        (Some(one), None) => Cow::Borrowed(one),
        (Some(one), Some(two)) => Cow::Owned([one, two].into_iter().chain(reasoning).collect()),
    }
}

/// A call's arguments as the object that servers insist on. What a model wrote that was no
/// object goes back to it inside one.
pub(super) struct Arguments<'a>(pub &'a ToolCall);

impl Serialize for Arguments<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.arguments {
            object @ Value::Object(_) => object.serialize(serializer),
            other => serializer.collect_map([("invalid_arguments", other)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Role, ToolCallId};

    fn message(parts: Vec<Part>) -> Message {
        Message { parts, ..Message::text(Role::User, None, "") }
    }

    #[test]
    fn files_and_context_stand_in_paragraphs_of_their_own() {
        let message = message(vec![
            Part::Text("Look ".to_owned()),
            Part::Image { mime: "image/png".to_owned(), data: [1].into() },
            Part::Text("at this:".to_owned()),
            Part::File { name: "a \"b\".rs".to_owned(), text: "fn a() {}".to_owned() },
            Part::Thinking { text: "hm".to_owned(), took: None, provider: None },
            Part::Context { text: "Open: a.rs".to_owned() },
        ]);
        assert_eq!(
            text(&message),
            "Look at this:\n\n<file name=\"a \\\"b\\\".rs\">\nfn a() {}\n</file>\n\nOpen: a.rs"
        );
        assert_eq!(thinking(&message), "hm");
    }

    #[test]
    fn arguments_are_always_an_object() {
        let call = |arguments| ToolCall::new(ToolCallId::new("x"), "look", arguments);
        let json = |call: &ToolCall| serde_json::to_string(&Arguments(call)).unwrap();
        assert_eq!(json(&call(serde_json::json!({ "b": 1, "a": [] }))), r#"{"a":[],"b":1}"#);
        assert_eq!(json(&call("{\"a\":".into())), r#"{"invalid_arguments":"{\"a\":"}"#);
    }
}
