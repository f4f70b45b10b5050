//! Numbers the messages of a chat as people count them, and joins replies that were cut off with what continues
//! them.

use std::sync::Arc;

use chat_core::message::{Message, MessageId, Part, Role};

/// The number of each message, from 1: tool results and what the model says about them belong to their reply, and
/// so does what continues it. None for what nobody said.
pub fn numbers(messages: &[Arc<Message>]) -> Vec<Option<usize>> {
    let mut last = 0;
    let mut above: Option<&Message> = None;
    let mut numbers = Vec::with_capacity(messages.len());
    for message in messages {
        let is_said = !matches!(message.role, Role::System | Role::Ui);
        last += usize::from(is_said && !goes_on(message, above));
        numbers.push((is_said && last > 0).then_some(last));
        above = Some(message);
    }
    numbers
}

/// Whether a message goes on with the reply above it.
pub(super) fn goes_on(message: &Message, above: Option<&Message>) -> bool {
    let role = above.map(|above| above.role);
    match message.role {
        Role::Tool => true,
        Role::Assistant => {
            role == Some(Role::Tool)
                || (role == Some(Role::Assistant) && message.continues.is_some())
        }
        Role::System | Role::User | Role::Ui => false,
    }
}

/// The messages, each reply that was cut off as one with what continues it.
pub(super) fn joined(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let mut out: Vec<Arc<Message>> = Vec::with_capacity(messages.len());
    let mut last: Option<MessageId> = None;
    for message in messages {
        match out.last_mut() {
            Some(above) if last.is_some() && message.continues == last => {
                join(Arc::make_mut(above), message);
            }
            _ => out.push(Arc::clone(message)),
        }
        last = Some(message.id);
    }
    out
}

/// Continues a reply. What was thought in between comes before the text, which is one.
fn join(reply: &mut Message, more: &Message) {
    let mut parts = more.parts.clone();
    let text = parts.iter().position(|part| matches!(part, Part::Text(_)));
    if let Some(at) = text
        && let Some(Part::Text(mut whole)) =
            reply.parts.pop_if(|part| matches!(part, Part::Text(_)))
    {
        if let Part::Text(text) = parts.remove(at) {
            whole.push_str(&text);
        }
        reply.parts.extend(parts.drain(..at));
        reply.parts.push(Part::Text(whole));
    }
    reply.parts.extend(parts);
    (reply.ended, reply.error) = (more.ended, more.error.clone());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message::text(role, None, text)
    }

    #[test]
    fn a_reply_has_one_number_with_its_tools_and_what_continues_it() {
        let mut all = vec![
            message(Role::System, "Be brief."),
            message(Role::User, "one"),
            message(Role::Assistant, "I look"),
            message(Role::Tool, "found"),
            message(Role::Assistant, "It was th"),
            message(Role::Assistant, "ere."),
            message(Role::Ui, "compacted"),
            message(Role::User, "two"),
            message(Role::Assistant, "2"),
        ];
        all[5].continues = Some(all[4].id);
        let all: Vec<_> = all.into_iter().map(Arc::new).collect();
        let some = |number: usize| (number > 0).then_some(number);
        assert_eq!(numbers(&all), [0, 1, 2, 2, 2, 2, 0, 3, 4].map(some));
        let joined = joined(&all);
        assert_eq!(joined.len(), all.len() - 1);
        assert_eq!(joined[4].plain_text(), "It was there.");
        assert_eq!(joined[4].id, all[4].id);
    }

    #[test]
    fn thoughts_in_between_do_not_part_the_text() {
        let first = message(Role::Assistant, "It was th");
        let mut second = message(Role::Assistant, "ere");
        let thought = Part::Thinking { text: "hm".into(), took: None, provider: None };
        second.parts.insert(0, thought.clone());
        second.continues = Some(first.id);
        let mut third = message(Role::Assistant, ", I think.");
        third.continues = Some(second.id);
        let joined = joined(&[first, second, third].map(Arc::new));
        assert_eq!(joined.len(), 1);
        assert_eq!(joined[0].parts, [thought, Part::Text("It was there, I think.".into())]);
    }
}
