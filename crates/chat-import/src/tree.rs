//! Brings messages into an order in which each stands after the one that it follows.

use std::collections::{HashMap, HashSet};

use crate::chat::ImportedMessage;

/// Orders messages, and makes beginnings of those whose parent is not there or that follow each other in a ring.
/// Of messages with one id the first is taken.
pub(crate) fn order(messages: Vec<ImportedMessage>) -> Vec<ImportedMessage> {
    let mut ids = HashSet::new();
    let messages: Vec<_> =
        messages.into_iter().filter(|message| ids.insert(message.id.clone())).collect();
    let mut children: HashMap<Option<String>, Vec<usize>> = HashMap::new();
    for (at, message) in messages.iter().enumerate() {
        let parent = message.parent.clone().filter(|parent| ids.contains(parent));
        children.entry(parent).or_default().push(at);
    }
    let mut waiting: Vec<_> = messages.into_iter().map(Some).collect();
    let mut out = Vec::with_capacity(waiting.len());
    let mut beginnings = children.remove(&None).unwrap_or_default();
    beginnings.extend(0..waiting.len());
    for beginning in beginnings {
        let mut stack = vec![(beginning, None::<String>)];
        while let Some((at, parent)) = stack.pop() {
            let Some(mut message) = waiting[at].take() else { continue };
            let below = children.remove(&Some(message.id.clone())).unwrap_or_default();
            stack.extend(below.into_iter().rev().map(|at| (at, Some(message.id.clone()))));
            message.parent = parent;
            out.push(message);
        }
    }
    out
}
