//! Which messages of a conversation go out to a model, and how gaps in it are filled.

use std::collections::HashSet;
use std::sync::Arc;

use crate::message::{Ending, Message, Part, Role, ToolCall, ToolResult};

/// What a model is told about a call that never got its result. Strict servers refuse a request
/// in which one is missing.
const NO_RESULT: &str = "This call was stopped before it had a result.";

/// A system message.
pub fn system(prompt: &str) -> Message {
    Message::text(Role::System, None, prompt)
}

/// What may go out of a history: no `ui` messages, no replies that hold nothing, and a result for
/// every tool call. What the model said goes back to it, also where it was stopped.
pub fn outgoing(history: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let mut out = Vec::with_capacity(history.len() + 1);
    for (at, message) in history.iter().enumerate() {
        let goes = match message.role {
            Role::Ui => false,
            Role::Assistant => message.ended.is_some() && says_something(message),
            Role::System | Role::User | Role::Tool => !message.is_empty(),
        };
        if !goes {
            continue;
        }
        out.push(Arc::clone(message));
        // Those before the next reply: servers give the same ids to calls of different replies.
        let until_next = history[at + 1..].iter().take_while(|m| m.role != Role::Assistant);
        let answered: HashSet<&str> = until_next.flat_map(|m| results(m)).collect();
        let dangling = message.tool_calls().filter(|call| !answered.contains(call.id.as_str()));
        out.extend(dangling.map(|call| Arc::new(no_result(message, call))));
    }
    if cfg!(sabotage = "forget_answer") {
        out.retain(|message| message.role != Role::Assistant);
    }
    out
}

fn results(message: &Message) -> impl Iterator<Item = &str> {
    message.parts.iter().filter_map(|part| match part {
        Part::ToolResult(result) => Some(result.call.as_str()),
        _ => None,
    })
}

/// Thinking alone is no answer: some servers refuse an assistant's message without content.
pub(crate) fn says_something(message: &Message) -> bool {
    message.parts.iter().any(|part| match part {
        Part::Text(text) => !text.is_empty(),
        Part::ToolCall(_) => true,
        _ => false,
    })
}

fn no_result(message: &Message, call: &ToolCall) -> Message {
    Message {
        parts: vec![Part::ToolResult(ToolResult {
            call: call.id.clone(),
            name: call.name.clone(),
            text: NO_RESULT.to_owned(),
            failed: true,
        })],
        ended: Some(Ending::Complete),
        ..Message::text(Role::Tool, Some(message.id), "")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::{ModelRef, ToolCallId};

    fn reply(parts: Vec<Part>, ended: Ending) -> Arc<Message> {
        let reply = Message::reply(None, ModelRef::new("c", "m"));
        Arc::new(Message { parts, ended: Some(ended), ..reply })
    }

    fn user(text: &str) -> Arc<Message> {
        Arc::new(Message::text(Role::User, None, text))
    }

    #[test]
    fn stopped_and_interrupted_answers_go_back() {
        for ended in [Ending::Stopped, Ending::Interrupted, Ending::Failed, Ending::Length] {
            let history = [user("q"), reply(vec![Part::Text("half".into())], ended), user("r")];
            let texts: Vec<_> = outgoing(&history).iter().map(|m| m.plain_text()).collect();
            assert_eq!(texts, ["q", "half", "r"]);
        }
    }

    #[test]
    fn what_is_empty_or_for_the_person_alone_stays_here() {
        let ui = Arc::new(Message::text(Role::Ui, None, "connected"));
        let thinking = Part::Thinking { text: "hm".into(), took: None };
        let history = [
            user("q"),
            ui,
            reply(vec![], Ending::Failed),
            reply(vec![thinking], Ending::Stopped),
            user("r"),
        ];
        assert_eq!(outgoing(&history).len(), 2);
    }

    #[test]
    fn a_call_without_a_result_gets_one_at_once() {
        let call = |id: &str| {
            let id = ToolCallId::new(id);
            Part::ToolCall(ToolCall { id, name: "read".into(), arguments: json!({}) })
        };
        let done = ToolResult {
            call: ToolCallId::new("a"),
            name: "read".into(),
            text: "ok".into(),
            failed: false,
        };
        let result =
            Message { parts: vec![Part::ToolResult(done)], ..Message::text(Role::Tool, None, "") };
        let history =
            [user("q"), reply(vec![call("a"), call("b")], Ending::Stopped), Arc::new(result)];
        let out = outgoing(&history);
        let answered: Vec<_> = out.iter().flat_map(|m| results(m)).collect();
        assert_eq!(answered, ["b", "a"]);
        assert_eq!(out.len(), 4);
    }

    #[test]
    fn an_answer_to_an_earlier_call_of_the_same_id_is_none_to_this_one() {
        let call = || {
            let id = ToolCallId::new("call_0");
            Part::ToolCall(ToolCall { id, name: "read".into(), arguments: json!({}) })
        };
        let done = ToolResult {
            call: ToolCallId::new("call_0"),
            name: "read".into(),
            text: "ok".into(),
            failed: false,
        };
        let result =
            Message { parts: vec![Part::ToolResult(done)], ..Message::text(Role::Tool, None, "") };
        let history = [
            reply(vec![call()], Ending::Complete),
            Arc::new(result),
            reply(vec![call()], Ending::Stopped),
        ];
        let out = outgoing(&history);
        assert_eq!(out.len(), 4);
        assert_eq!(results(&out[3]).collect::<Vec<_>>(), ["call_0"]);
    }

    #[test]
    fn the_same_history_goes_out_the_same() {
        let history = [user("q"), reply(vec![Part::Text("a".into())], Ending::Complete)];
        assert_eq!(outgoing(&history), outgoing(&history));
    }
}
