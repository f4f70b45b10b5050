//! Collects the deltas that go to the reader together.

use super::Delta;

/// What was understood of one read, with neighbouring pieces of the same kind joined: a server
/// that is faster than its reader costs one allocation a read and not one a token.
#[derive(Debug, Default)]
pub(super) struct Batch(Vec<Delta>);

impl Batch {
    pub fn text(&mut self, more: &str) {
        match self.0.last_mut() {
            _ if more.is_empty() => {}
            Some(Delta::Text(text)) => text.push_str(more),
            _ => self.0.push(Delta::Text(more.to_owned())),
        }
    }

    pub fn thinking(&mut self, more: &str) {
        match self.0.last_mut() {
            _ if more.is_empty() => {}
            Some(Delta::Thinking(text)) => text.push_str(more),
            _ => self.0.push(Delta::Thinking(more.to_owned())),
        }
    }

    /// Begins a tool call.
    pub fn call(&mut self, index: usize, id: String, name: String) {
        let arguments = String::new();
        self.0.push(Delta::ToolCall { index, id: Some(id), name: Some(name), arguments });
    }

    /// Adds to a tool call's arguments.
    pub fn arguments(&mut self, call: usize, more: &str) {
        match self.0.last_mut() {
            _ if more.is_empty() => {}
            Some(Delta::ToolCall { index, arguments, .. }) if *index == call => {
                arguments.push_str(more);
            }
            _ => self.0.push(Delta::ToolCall {
                index: call,
                id: None,
                name: None,
                arguments: more.to_owned(),
            }),
        }
    }

    pub fn push(&mut self, delta: Delta) {
        self.0.push(delta);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn into_deltas(self) -> Vec<Delta> {
        self.0
    }
}
