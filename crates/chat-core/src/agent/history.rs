//! Selects the messages of a conversation that go out to a model, and fills gaps in it.

use std::collections::HashSet;
use std::sync::Arc;

use super::truncation::shortened;
use crate::error::Kind;
use crate::message::{Ending, Message, MessageId, Part, Role, ToolCall, ToolResult};

/// The model reads this as the result of a call that never got one. Strict servers refuse a request
/// in which one is missing.
const NO_RESULT: &str = "This call was stopped before it returned a result.";

/// A system message.
pub fn system(prompt: &str) -> Message {
    Message::text(Role::System, None, prompt)
}

/// What may go out of a history: earlier messages in short where its markers say so, no `ui` messages, no replies that hold nothing, and a result for
/// every tool call. What the model said goes back to it, also where it was stopped. What the person
/// said twice in a row, since nothing came of the first, is one message: the templates of some
/// models (Mistral's, Gemma's) insist on turns.
pub fn outgoing(history: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let history = &*shortened(history);
    let mut out: Vec<Arc<Message>> = Vec::with_capacity(history.len() + 1);
    let mut answering = HashSet::new();
    for (at, message) in history.iter().enumerate() {
        let goes = match message.role {
            Role::Ui => false,
            Role::Assistant => message.ended.is_some() && says_something(message),
            Role::System | Role::User | Role::Tool => !message.is_empty(),
        };
        if !goes {
            continue;
        }
        if answering.contains(&message.id) {
            // It went out with its reply.
            continue;
        }
        match out.last_mut() {
            Some(last) if last.role == Role::User && message.role == Role::User => {
                *last = Arc::new(joined(last, message));
            }
            Some(last) if last.role == Role::Assistant && message.continues.is_some() => {
                *last = Arc::new(continued(last, message));
            }
            _ => out.push(fresh_part(message)),
        }
        if message.role == Role::Assistant {
            out.extend(answers(message, &history[at + 1..], &mut answering));
        }
    }
    if chat_sabotage::is_sabotaged("forget_answer") {
        out.retain(|message| message.role != Role::Assistant);
    }
    out
}

/// A result for each call of a reply, in the order of the calls: they are kept in the order in which
/// they came, and some servers distinguish them only by their position. Those of `later` that are among
/// them are noted in `taken`.
fn answers(
    reply: &Message,
    later: &[Arc<Message>],
    taken: &mut HashSet<MessageId>,
) -> Vec<Arc<Message>> {
    // Those before the next reply: servers give the same ids to calls of different replies.
    let until_next = || later.iter().take_while(|message| message.role != Role::Assistant);
    let mut out = Vec::new();
    for call in reply.tool_calls() {
        let answers = |message: &&Arc<Message>| results(message).any(|id| id == call.id.as_str());
        match until_next().find(answers) {
            Some(result) if taken.insert(result.id) => out.push(Arc::clone(result)),
            Some(_) => {}
            None => out.push(Arc::new(no_result(reply, call))),
        }
    }
    out
}

/// A reply that went round in circles, as far as it was new: the model would fall into step again.
/// It stays whole in the transcript.
fn fresh_part(message: &Arc<Message>) -> Arc<Message> {
    let Some(Kind::Repetition { fresh: Some(fresh) }) = message.error.as_ref().map(|e| &e.kind)
    else {
        return Arc::clone(message);
    };
    let mut left = *fresh;
    let mut message = Message::clone(message);
    for part in &mut message.parts {
        if let Part::Text(text) = part {
            text.truncate(text.floor_char_boundary(left));
            left -= text.len().min(left);
        }
    }
    Arc::new(message)
}

/// A reply and the one that goes on with it as one. What was thought in between is left out, unless it
/// led to calls.
fn continued(reply: &Message, rest: &Arc<Message>) -> Message {
    let rest = fresh_part(rest);
    let calls = rest.tool_calls().next().is_some();
    let said = |part: &&Part| calls || !matches!(part, Part::Thinking { .. });
    let mut message = reply.clone();
    message.parts.extend(rest.parts.iter().filter(said).cloned());
    message
}

/// Two messages of the person as one, each text in a paragraph of its own.
fn joined(one: &Message, other: &Message) -> Message {
    let mut message = one.clone();
    let text = |part: &&Part| matches!(part, Part::Text(text) if !text.is_empty());
    // Pictures stand apart from the text; files and context make paragraphs of their own.
    let prose = |part: &&Part| !matches!(part, Part::Image { .. });
    let ends = message.parts.iter().rfind(prose).as_ref().is_some_and(text);
    let begins = other.parts.iter().find(prose).as_ref().is_some_and(text);
    if ends && begins {
        message.parts.push(Part::Text("\n\n".to_owned()));
    }
    message.parts.extend(other.parts.iter().cloned());
    message
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
        parts: vec![Part::ToolResult(ToolResult::to(call, NO_RESULT, true))],
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

    fn call(id: &str) -> Part {
        let id = ToolCallId::new(id);
        Part::ToolCall(ToolCall::new(id, "read", json!({})))
    }

    fn result(id: &str) -> Arc<Message> {
        let Part::ToolCall(call) = call(id) else { unreachable!() };
        let parts = vec![Part::ToolResult(ToolResult::to(&call, "ok", false))];
        Arc::new(Message { parts, ..Message::text(Role::Tool, None, "") })
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
        let thinking = Part::Thinking { text: "hm".into(), took: None, provider: None };
        let history = [
            user("q"),
            ui,
            reply(vec![], Ending::Failed),
            reply(vec![thinking], Ending::Stopped),
            user("r"),
        ];
        let out = outgoing(&history);
        assert_eq!(out.iter().map(|m| m.plain_text()).collect::<Vec<_>>(), ["q\n\nr"]);
        assert_eq!(history[0].plain_text(), "q", "the transcript stays");
    }

    #[test]
    fn what_went_round_in_circles_goes_out_once() {
        let parts = vec![Part::Text("newä and on and on and on".into())];
        let circled = reply(parts, Ending::Interrupted);
        let fresh = Some("newä".len() - 1);
        let error = Some(Kind::Repetition { fresh }.into());
        let circled = Arc::new(Message { error, ..Message::clone(&circled) });
        let out = outgoing(&[user("q"), Arc::clone(&circled)]);
        assert_eq!(out[1].plain_text(), "new");
        assert_eq!(circled.plain_text().len(), 26, "the transcript stays");
    }

    #[test]
    fn what_was_said_twice_in_a_row_goes_out_as_one() {
        let with = |parts| Arc::new(Message { parts, ..Message::text(Role::User, None, "") });
        let image = || Part::Image { mime: "image/png".into(), data: [1].into() };
        let file = || Part::File { name: "a".into(), text: "b".into() };
        let text = |text: &str| Part::Text(text.into());
        let parts = |history: &[Arc<Message>]| {
            let out = outgoing(history);
            assert_eq!(out.len(), 1);
            out[0].parts.clone()
        };
        assert_eq!(
            parts(&[with(vec![text("q")]), with(vec![image(), text("r")])]),
            [text("q"), text("\n\n"), image(), text("r")]
        );
        assert_eq!(
            parts(&[with(vec![text("q")]), with(vec![file(), text("r")])]),
            [text("q"), file(), text("r")]
        );
        let three = ["q", "r", "s"].map(user);
        assert_eq!(outgoing(&three)[0].plain_text(), "q\n\nr\n\ns");
        // An answer between them keeps them apart.
        let answer = reply(vec![text("a")], Ending::Complete);
        assert_eq!(outgoing(&[user("q"), answer, user("r")]).len(), 3);
    }

    #[test]
    fn a_call_without_a_result_gets_one_at_once() {
        let history = [user("q"), reply(vec![call("a"), call("b")], Ending::Stopped), result("a")];
        let out = outgoing(&history);
        let answered: Vec<_> = out.iter().flat_map(|m| results(m)).collect();
        assert_eq!(answered, ["a", "b"]);
        assert_eq!(out.len(), 4);
    }

    #[test]
    fn results_go_out_in_the_order_of_their_calls_whenever_they_came() {
        let calls = vec![call("a"), call("b"), call("c")];
        let asked = reply(calls, Ending::Complete);
        let history = [user("q"), asked, result("c"), result("a"), user("r")];
        let out = outgoing(&history);
        let answered: Vec<_> = out.iter().flat_map(|m| results(m)).collect();
        assert_eq!(answered, ["a", "b", "c"]);
        assert_eq!(out.last().unwrap().plain_text(), "r");
        assert_eq!(out.len(), 6);
    }

    #[test]
    fn an_answer_to_an_earlier_call_of_the_same_id_is_none_to_this_one() {
        let call = || call("call_0");
        let history = [
            reply(vec![call()], Ending::Complete),
            result("call_0"),
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
