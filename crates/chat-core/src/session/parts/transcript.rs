//! The messages of a session, and the reply that is being written.

mod continuing;
mod open_reply;

use std::sync::Arc;

use self::open_reply::{Journaled, OpenReply};
use crate::agent::ReplyEnd;
use crate::chat::{Grown, ReplyBuilder};
use crate::client::Delta;
use crate::error::Error;
use crate::message::{Message, MessageId, MessageTree, Part, Role, Usage};
use crate::store::{Segment, SegmentKind};

/// The messages as far as they are loaded, the open reply, and what the store does not have yet.
/// Knows no store: what is to be stored is given to the session.
#[derive(Default)]
pub(crate) struct Transcript {
    /// The whole shown branch and what else is loaded; none where only the store has it.
    tree: Option<MessageTree>,
    /// The last message that the model was sent as the user's, where no messages are loaded and it is known.
    asked: Option<MessageId>,
    /// The reply that is being written; its message is in the tree too, as it began.
    open: Option<OpenReply>,
    /// Results of tools that the store refused: they are here alone, and go into it with the next
    /// messages at the latest.
    unsaved: Vec<Arc<Message>>,
    /// How many replies have ended that the store refused. Their texts are here alone.
    unstored: usize,
    /// Why the store refused the last of them.
    refused: Option<Error>,
}

impl Transcript {
    /// Whether the store has everything here except the open reply.
    pub(crate) fn is_stored(&self) -> bool {
        self.unstored == 0 && self.unsaved.is_empty()
    }

    /// Takes the shown branch as the store has it.
    pub(crate) fn load(&mut self, branch: &[Arc<Message>]) {
        let head = branch.last().map(|message| message.id);
        let tree = self.tree.insert(MessageTree::new([], head));
        for message in branch {
            tree.insert(Arc::clone(message));
        }
    }

    /// Drops the messages: the store has all of them.
    pub(crate) fn unload(&mut self) {
        self.asked = self.asked();
        self.tree = None;
    }

    /// The last message that the model was sent as the user's, which may be another agent's. Of
    /// messages that are not loaded as far as it is known.
    pub(crate) fn asked(&self) -> Option<MessageId> {
        if self.tree.is_none() {
            return self.asked;
        }
        last_asked(&self.history())
    }

    /// Notes [that](Self::asked) of messages that are not loaded.
    pub(crate) fn note_asked(&mut self, asked: Option<MessageId>) {
        self.asked = asked;
    }

    /// The last message of the shown branch.
    pub(crate) fn head(&self) -> Option<MessageId> {
        self.tree.as_ref().and_then(MessageTree::head)
    }

    /// Shows the branch that ends here.
    pub(crate) fn set_head(&mut self, head: Option<MessageId>) {
        self.tree().set_head(head);
    }

    /// A message by its id, where it is loaded.
    pub(crate) fn get(&self, id: MessageId) -> Option<&Arc<Message>> {
        self.tree.as_ref()?.get(id)
    }

    /// The shown branch where it is loaded, the open reply as far as it has come.
    pub(crate) fn branch(&self) -> Option<Vec<Arc<Message>>> {
        let mut branch = self.tree.as_ref()?.branch();
        if let (Some(open), Some(last)) = (&self.open, branch.last_mut())
            && last.id == open.began.id
        {
            *last = Arc::new(open.message());
        }
        Some(branch)
    }

    /// The shown branch without the open reply.
    pub(crate) fn history(&self) -> Vec<Arc<Message>> {
        let mut branch = self.tree.as_ref().map(MessageTree::branch).unwrap_or_default();
        let open = self.open.as_ref().map(|open| open.began.id);
        branch.pop_if(|last| Some(last.id) == open);
        branch
    }

    /// Adds a message, or replaces the one of its id.
    pub(crate) fn insert(&mut self, message: Arc<Message>) {
        self.tree().insert(message);
    }

    /// Adds a message at the end of the shown branch.
    pub(crate) fn append(&mut self, message: Arc<Message>) {
        let id = message.id;
        self.insert(message);
        self.set_head(Some(id));
    }

    /// Takes a message out.
    pub(crate) fn remove(&mut self, id: MessageId) {
        self.tree().remove(id);
    }

    fn tree(&mut self) -> &mut MessageTree {
        self.tree.get_or_insert_default()
    }

    /// A reply begins at the end of the shown branch.
    pub(crate) fn begin_reply(&mut self, began: Arc<Message>) {
        let builder = match self.continued(&began) {
            Some(text) => ReplyBuilder::continuing(&text),
            None => ReplyBuilder::default(),
        };
        self.append(Arc::clone(&began));
        self.open = Some(OpenReply { began, builder, journaled: Vec::new() });
    }

    /// What was held back of the open reply stands in it from now on. Says where text went.
    pub(crate) fn flush(&mut self) -> Option<Grown> {
        self.open.as_mut()?.builder.flush()
    }

    /// The open reply's message.
    pub(crate) fn open_reply(&self) -> Option<MessageId> {
        self.open.as_ref().map(|open| open.began.id)
    }

    /// The open reply as it began, where nothing of it has come yet.
    pub(crate) fn untouched_reply(&self) -> Option<&Arc<Message>> {
        self.open.as_ref().filter(|open| open.builder.is_empty()).map(|open| &open.began)
    }

    /// Adds what arrived to the open reply. Says where text went.
    pub(crate) fn apply(&mut self, delta: &Delta) -> Option<Grown> {
        let open = self.open.as_mut()?;
        if chat_sabotage::is_sabotaged("drop_delta") && open.builder.texts().next().is_some() {
            return None;
        }
        open.builder.apply(delta)
    }

    /// The parts of the open reply, tool calls last, and what it cost.
    pub(crate) fn reply(&mut self) -> (Vec<Part>, Usage) {
        self.open.as_mut().map(|open| open.builder.build()).unwrap_or_default()
    }

    /// Ends the open reply, and gives its message. Its calls keep the titles that this gives to tools
    /// by their names.
    pub(crate) fn end_reply(
        &mut self,
        end: ReplyEnd,
        stored_title: impl Fn(&str) -> Option<String>,
    ) -> Option<Arc<Message>> {
        let mut message = self.open.take()?.end(end);
        for part in &mut message.parts {
            if let Part::ToolCall(call) = part {
                call.title = stored_title(&call.name);
            }
        }
        let message = Arc::new(message);
        self.insert(Arc::clone(&message));
        Some(message)
    }

    /// Takes the open reply out: nothing of it had come. What it answers is the last again.
    pub(crate) fn withdraw_reply(&mut self) {
        if let Some(open) = self.open.take() {
            self.remove(open.began.id);
            self.set_head(open.began.parent);
        }
    }

    /// What the journal does not have yet of the open reply.
    pub(crate) fn unjournaled(&self) -> Vec<Segment> {
        self.open.as_ref().map(OpenReply::unjournaled).unwrap_or_default()
    }

    /// The journal has these.
    pub(crate) fn journaled(&mut self, segments: &[Segment]) {
        let Some(open) = &mut self.open else { return };
        for segment in segments.iter().filter(|segment| segment.message == open.began.id) {
            if open.journaled.len() <= segment.part {
                open.journaled.resize(segment.part + 1, Journaled::default());
            }
            let journaled = &mut open.journaled[segment.part];
            match segment.kind {
                SegmentKind::Provider => journaled.provider = true,
                _ => journaled.bytes += segment.text.len(),
            }
        }
    }

    /// These messages behind those that the store does not have yet.
    pub(crate) fn with_unsaved<'a>(
        &self,
        messages: impl IntoIterator<Item = &'a Arc<Message>>,
    ) -> Vec<Arc<Message>> {
        self.unsaved.iter().cloned().chain(messages.into_iter().cloned()).collect()
    }

    /// The store has all that it had refused of results.
    pub(crate) fn all_saved(&mut self) {
        self.unsaved.clear();
    }

    /// The store refused these results.
    pub(crate) fn keep_unsaved(&mut self, results: Vec<Arc<Message>>) {
        self.unsaved.extend(results);
    }

    /// The store has these of the results that it had refused.
    pub(crate) fn saved(&mut self, messages: &[Arc<Message>]) {
        self.unsaved.retain(|message| !messages.contains(message));
    }

    /// The store refused a reply that has ended.
    pub(crate) fn refuse_reply(&mut self, error: Error) {
        self.unstored += 1;
        self.refused = Some(error);
    }

    /// The store took a reply that it had refused, or never will.
    pub(crate) fn settle_reply(&mut self) {
        self.unstored -= 1;
    }

    /// Why the store refused the last reply that it refused.
    pub(crate) fn refused(&self) -> Option<&Error> {
        self.refused.as_ref()
    }
}

fn last_asked(branch: &[Arc<Message>]) -> Option<MessageId> {
    branch.iter().rfind(|message| message.role == Role::User).map(|message| message.id)
}

#[cfg(test)]
mod tests;
