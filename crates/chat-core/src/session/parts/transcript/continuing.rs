//! Asks the model to continue a reply that was cut off.

use std::sync::Arc;

use super::Transcript;
use crate::chat::is_in_code;
use crate::message::{Message, Part, Role};

/// The most replies that are one.
const MOST_CONTINUED: usize = 100;

impl Transcript {
    /// What the model wrote of the reply that this one goes on with, where it does. What went round in
    /// circles may be said again.
    pub(super) fn continued(&self, reply: &Message) -> Option<String> {
        let mut text = String::new();
        let mut at = reply.continues;
        // A damaged store could hold a ring.
        for _ in 0..MOST_CONTINUED {
            let Some(earlier) = at.and_then(|id| self.get(id)) else { break };
            if earlier.is_loop() {
                break;
            }
            text.insert_str(0, &earlier.plain_text());
            at = earlier.continues;
        }
        (!text.is_empty()).then_some(text)
    }

    /// The messages that a request is made of: the shown branch without the open reply. Where that goes on
    /// with the last reply, the model is asked to.
    pub(crate) fn request_history(&self) -> Vec<Arc<Message>> {
        let mut history = self.history();
        let open = self.open.as_ref().map(|open| &open.began);
        let last = history.iter().rfind(|message| message.role != Role::Ui);
        if let Some((open, last)) = open.zip(last)
            && open.continues == Some(last.id)
        {
            let text = self.continued(open).unwrap_or_default();
            let ask = request_to_continue(last.is_loop(), is_in_code(&text));
            history.push(Arc::new(Message {
                parts: vec![Part::Context { text: ask }],
                ..Message::text(Role::User, open.parent, "")
            }));
        }
        history
    }
}

/// Asks a model to go on with its last reply. English: models read it best.
fn request_to_continue(after_loop: bool, in_code: bool) -> String {
    if after_loop {
        return "Your last message started repeating itself and was stopped there. Continue from the point \
                before the repetition, in a different way, without saying the same thing again."
            .to_owned();
    }
    let in_code = if in_code {
        " It stopped inside a code block: go on with the code, and do not open the block again."
    } else {
        ""
    };
    format!(
        "Your last message was cut off. Continue exactly where it stopped, without repeating anything and \
         without an introduction.{in_code}"
    )
}
