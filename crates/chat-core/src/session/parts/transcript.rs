//! The messages of a session, and the reply that is being written.

use std::sync::Arc;

use crate::agent::ReplyEnd;
use crate::chat::{Grown, ReplyBuilder, TextKind, is_in_code};
use crate::client::Delta;
use crate::error::{Error, Kind};
use crate::message::provider::{forget_all, forget_cut};
use crate::message::{Ending, Message, MessageId, MessageTree, Part, Role, Usage};
use crate::store::{Segment, SegmentKind};

/// The most replies that are one.
const MOST_CONTINUED: usize = 100;

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

/// A reply that is being written.
struct OpenReply {
    began: Arc<Message>,
    builder: ReplyBuilder,
    /// What the journal has of each text.
    journaled: Vec<Journaled>,
}

/// What the journal has of a text.
#[derive(Clone, Copy, Default)]
struct Journaled {
    bytes: usize,
    /// Whether it has what the server wants back with it.
    provider: bool,
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

    /// What the model wrote of the reply that this one goes on with, where it does. What went round in
    /// circles may be said again.
    fn continued(&self, reply: &Message) -> Option<String> {
        let mut text = String::new();
        let mut at = reply.continues;
        // A damaged store could hold a ring.
        for _ in 0..MOST_CONTINUED {
            let Some(earlier) = at.and_then(|id| self.get(id)) else { break };
            if is_loop(earlier) {
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
            let ask = request_to_continue(is_loop(last), is_in_code(&text));
            history.push(Arc::new(Message {
                parts: vec![Part::Context { text: ask }],
                ..Message::text(Role::User, open.parent, "")
            }));
        }
        history
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

impl OpenReply {
    fn unjournaled(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        for (part, (kind, text, provider)) in self.builder.texts().enumerate() {
            let known = self.journaled.get(part).copied().unwrap_or_default();
            let mut add = |kind, text| {
                segments.push(Segment { message: self.began.id, part, kind, text });
            };
            let kind = match kind {
                TextKind::Text => SegmentKind::Text,
                TextKind::Thinking => SegmentKind::Thinking,
            };
            let text = text.since(known.bytes);
            if !text.is_empty() {
                add(kind, text);
            }
            if let Some(data) = provider.filter(|_| !known.provider)
                && let Ok(json) = serde_json::to_string(data)
            {
                add(SegmentKind::Provider, json);
            }
        }
        segments
    }

    /// The message as far as it has come.
    fn message(&self) -> Message {
        Message { parts: self.builder.text_parts(), ..Message::clone(&self.began) }
    }

    /// The message as it ended.
    fn end(mut self, ReplyEnd { ended, error }: ReplyEnd) -> Message {
        let (mut parts, mut usage) = self.builder.build();
        if matches!(ended, Ending::Failed | Ending::Interrupted) {
            // What it cost is not known.
            usage = Usage::default();
        }
        // A reply with running tools has ended before.
        if ended != Ending::Complete {
            let is_call = |part: &Part| matches!(part, Part::ToolCall(_));
            // They may be cut, and are not executed.
            if parts.iter().any(is_call) {
                parts.retain(|part| !is_call(part));
                forget_all(&mut parts);
            }
            forget_cut(&mut parts);
        }
        let began = Message::clone(&self.began);
        Message { parts, ended: Some(ended), error, usage: Some(usage), ..began }
    }
}

/// Whether a reply was ended since it went round in circles.
fn is_loop(reply: &Message) -> bool {
    matches!(&reply.error, Some(error) if matches!(error.kind, Kind::Repetition { .. }))
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

fn last_asked(branch: &[Arc<Message>]) -> Option<MessageId> {
    branch.iter().rfind(|message| message.role == Role::User).map(|message| message.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ModelRef, Origin, ProviderData, Role};

    fn begun() -> (Transcript, Arc<Message>) {
        let mut transcript = Transcript::default();
        let question = Arc::new(Message::text(Role::User, None, "Why?"));
        transcript.append(Arc::clone(&question));
        let reply = Message::reply(Some(question.id), ModelRef::new("test", "scripted"));
        transcript.begin_reply(Arc::new(reply));
        (transcript, question)
    }

    fn text(text: &str) -> Delta {
        Delta::Text(text.to_owned())
    }

    fn wanted_back(json: &str) -> ProviderData {
        let origin = Origin {
            protocol: "test".to_owned(),
            connection: "test".to_owned(),
            server: Some("localhost:80".to_owned()),
            model: "scripted".to_owned(),
        };
        ProviderData { origin, json: json.to_owned() }
    }

    fn call() -> Delta {
        let (id, name) = (Some("c1".to_owned()), Some("look".to_owned()));
        Delta::ToolCall { index: 0, id, name, arguments: "{\"a\":".to_owned() }
    }

    #[test]
    fn the_open_reply_is_shown_as_far_as_it_has_come_and_not_part_of_the_history() {
        let (mut transcript, question) = begun();
        assert!(transcript.untouched_reply().is_some());
        transcript.apply(&text("Be"));
        transcript.apply(&text("cause."));
        assert!(transcript.untouched_reply().is_none());
        let branch = transcript.branch().unwrap();
        assert_eq!(branch.last().unwrap().plain_text(), "Because.");
        assert_eq!(transcript.history(), [question]);
    }

    #[test]
    fn calls_of_a_reply_that_broke_off_are_dropped_and_its_texts_kept() {
        let cut = [Ending::Stopped, Ending::Interrupted, Ending::Failed, Ending::Length];
        for (ended, kept) in cut.map(|ended| (ended, 1)).into_iter().chain([(Ending::Complete, 2)])
        {
            let (mut transcript, _) = begun();
            transcript.apply(&text("I look."));
            transcript.apply(&call());
            let message = transcript.end_reply(ReplyEnd { ended, error: None }, |_| None).unwrap();
            assert_eq!(message.parts.len(), kept, "{ended:?}");
            assert_eq!(transcript.branch().unwrap().last(), Some(&message));
            assert!(transcript.open_reply().is_none());
        }
    }

    /// What goes back with a reply that thought, wrote and thought again, and ended so.
    fn goes_back(ended: Ending, more: &[Delta]) -> Vec<String> {
        let (mut transcript, _) = begun();
        let thinking = || Delta::Thinking("hm".to_owned());
        let data = |json| Delta::Provider { call: None, data: wanted_back(json) };
        let first = [thinking(), data("[1]"), text("I look."), thinking(), data("[2]")];
        for delta in first.iter().chain(more) {
            transcript.apply(delta);
        }
        let message = transcript.end_reply(ReplyEnd { ended, error: None }, |_| None).unwrap();
        message.provider_data().map(|data| data.json.clone()).collect()
    }

    #[test]
    fn what_a_server_wants_back_with_thinking_that_was_cut_is_forgotten() {
        for ended in [Ending::Stopped, Ending::Interrupted, Ending::Failed, Ending::Length] {
            assert_eq!(goes_back(ended, &[]), ["[1]"], "{ended:?}");
            assert_eq!(goes_back(ended, &[text("There.")]), ["[1]", "[2]"], "{ended:?}");
            assert!(goes_back(ended, &[call()]).is_empty(), "{ended:?}: it led to the call");
        }
        assert_eq!(goes_back(Ending::Complete, &[]), ["[1]", "[2]"]);
        assert_eq!(goes_back(Ending::Complete, &[call()]), ["[1]", "[2]"]);
    }

    #[test]
    fn the_journal_gets_each_byte_once() {
        let (mut transcript, _) = begun();
        transcript.apply(&Delta::Thinking("hm".to_owned()));
        transcript.apply(&text("a"));
        let first = transcript.unjournaled();
        transcript.apply(&text("b"));
        transcript.journaled(&first);
        let texts = |segments: &[Segment]| {
            segments.iter().map(|it| (it.part, it.text.clone())).collect::<Vec<_>>()
        };
        assert_eq!(texts(&first), [(0, "hm".to_owned()), (1, "a".to_owned())]);
        assert_eq!(texts(&transcript.unjournaled()), [(1, "b".to_owned())]);
    }

    #[test]
    fn the_journal_gets_what_a_server_wants_back_once() {
        let (mut transcript, _) = begun();
        let data = wanted_back("[1]");
        transcript.apply(&Delta::Thinking("hm".to_owned()));
        transcript.apply(&Delta::Provider { call: None, data: data.clone() });
        transcript.apply(&Delta::Provider { call: None, data: data.clone() });
        transcript.apply(&text("a"));
        let kinds =
            |segments: &[Segment]| segments.iter().map(|it| (it.part, it.kind)).collect::<Vec<_>>();
        let segments = transcript.unjournaled();
        let expected = [
            (0, SegmentKind::Thinking),
            (0, SegmentKind::Provider),
            (1, SegmentKind::Provider),
            (2, SegmentKind::Text),
        ];
        assert_eq!(kinds(&segments), expected);
        transcript.journaled(&segments);
        assert!(transcript.unjournaled().is_empty());
        let end = ReplyEnd { ended: Ending::Complete, error: None };
        let message = transcript.end_reply(end, |_| None).unwrap();
        assert_eq!(message.provider_data().collect::<Vec<_>>(), [&data, &data]);
    }

    #[test]
    fn a_reply_of_which_nothing_came_leaves_no_trace_when_it_is_withdrawn() {
        let (mut transcript, question) = begun();
        transcript.withdraw_reply();
        assert_eq!(transcript.branch().unwrap(), [Arc::clone(&question)]);
        assert_eq!(transcript.head(), Some(question.id));
    }
}
