//! Holds the tree of a session's messages, and the branch that is shown.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Message, MessageId};

/// Messages by id with the head of the shown branch. Editing or regenerating makes a branch.
///
/// Holds what is loaded: a long chat's earlier messages may still be in the store, so that the
/// first loaded message's parent need not be here.
#[derive(Clone, Debug, Default)]
pub struct MessageTree {
    messages: HashMap<MessageId, Arc<Message>>,
    head: Option<MessageId>,
}

impl MessageTree {
    /// A tree of these messages with this head.
    pub fn new(messages: impl IntoIterator<Item = Message>, head: Option<MessageId>) -> Self {
        let messages = messages.into_iter().map(|m| (m.id, Arc::new(m))).collect();
        Self { messages, head }
    }

    /// The last message of the shown branch.
    pub fn head(&self) -> Option<MessageId> {
        self.head
    }

    /// Shows the branch that ends here.
    pub fn set_head(&mut self, head: Option<MessageId>) {
        self.head = head;
    }

    /// A message by its id.
    pub fn get(&self, id: MessageId) -> Option<&Arc<Message>> {
        self.messages.get(&id)
    }

    /// Adds a message, or replaces the one of the same id.
    pub fn insert(&mut self, message: Arc<Message>) {
        self.messages.insert(message.id, message);
    }

    /// Takes a message out.
    pub fn remove(&mut self, id: MessageId) {
        self.messages.remove(&id);
    }

    /// Changes a message in place, if it is loaded.
    pub fn update(&mut self, id: MessageId, change: impl FnOnce(&mut Message)) {
        if let Some(message) = self.messages.get_mut(&id) {
            change(Arc::make_mut(message));
        }
    }

    /// The shown branch from its first loaded message to the head.
    pub fn branch(&self) -> Vec<Arc<Message>> {
        let mut out = Vec::new();
        let mut at = self.head;
        while let Some(message) = at.and_then(|id| self.messages.get(&id)) {
            // A damaged store could hold a ring; a branch is never longer than what is loaded.
            if out.len() > self.messages.len() {
                break;
            }
            out.push(Arc::clone(message));
            at = message.parent;
        }
        out.reverse();
        out
    }

    /// How many messages are loaded.
    pub fn len(&self) -> usize {
        self.messages.len()
    }

    /// Whether nothing is loaded.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Role;

    #[test]
    fn a_branch_is_the_way_from_the_root_to_the_head() {
        let root = Message::text(Role::User, None, "root");
        let left = Message::text(Role::Assistant, Some(root.id), "left");
        let right = Message::text(Role::Assistant, Some(root.id), "right");
        let mut tree =
            MessageTree::new([root.clone(), left.clone(), right.clone()], Some(right.id));
        let texts = |tree: &MessageTree| -> Vec<String> {
            tree.branch().iter().map(|m| m.plain_text()).collect()
        };
        assert_eq!(texts(&tree), ["root", "right"]);
        tree.set_head(Some(left.id));
        assert_eq!(texts(&tree), ["root", "left"]);
    }

    #[test]
    fn a_ring_does_not_hang() {
        let mut a = Message::text(Role::User, None, "a");
        let b = Message::text(Role::User, Some(a.id), "b");
        a.parent = Some(b.id);
        let tree = MessageTree::new([a, b.clone()], Some(b.id));
        assert!(tree.branch().len() <= 3);
    }
}
