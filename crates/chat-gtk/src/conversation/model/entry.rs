//! Holds a message as it is now, and knows which rows it has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_core::event::{CallState, OpenCall, TextKind};
use chat_core::message::{
    ApprovalRequest, Ending, Fid, Message, MessageId, Role, ToolCallId, ToolResult,
};

use super::hits::EntryHits;
use super::notice::Notice;
use super::part::PartState;
use super::reply::ReplyText;
use super::row_kind::RowKind;
use super::said;
use super::tool::state::ToolState;

/// A message.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a message")]
pub struct Entry {
    /// The message as it was last told. Texts that grow are in `parts`.
    pub message: Arc<Message>,
    /// The parts of a reply.
    pub parts: Vec<PartState>,
    /// What a person wrote, where that is Markdown and its rows were made.
    pub said: Option<Box<ReplyText>>,
    /// How many rows it has.
    pub rows: usize,
    /// Whether its text was read, so that its rows are known. Text that nobody is near is not.
    pub read: bool,
    /// Whether something changed since its rows were made.
    pub dirty: bool,
    /// Where it has what is looked for.
    pub hits: EntryHits,
    /// Where it stands among its versions, if there are others: of a reply, those to the same message.
    pub siblings: Option<Siblings>,
    /// Whether a request is at work, so that no other version can be shown.
    pub is_held: bool,
    /// Whether the person edits it.
    pub editing: bool,
    /// Its part whose text stands in the reply above, with which it goes on.
    pub joined: Option<usize>,
    /// What stands at its end of replies that go on with it.
    pub tail: String,
    /// Whether the reply below goes on with it: both are one.
    pub goes_on: bool,
    /// Whether it was stopped behind its calls of tools: all have their results, and no reply came of them.
    pub stopped: bool,
}

/// Where a reply stands among those to the same message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Siblings {
    /// Its place, counted from 1.
    pub place: usize,
    /// How many there are.
    pub count: usize,
    /// The one before it.
    pub before: Option<MessageId>,
    /// The one behind it.
    pub behind: Option<MessageId>,
}

impl Entry {
    /// A message, as it was stored or has just begun.
    pub fn new(message: Arc<Message>) -> Self {
        let mut entry = Self {
            message: Arc::clone(&message),
            parts: Vec::new(),
            said: None,
            rows: 0,
            read: false,
            dirty: true,
            hits: EntryHits::default(),
            siblings: None,
            is_held: false,
            editing: false,
            joined: None,
            tail: String::new(),
            goes_on: false,
            stopped: false,
        };
        entry.set_message(message);
        entry
    }

    /// The message's id.
    pub fn id(&self) -> MessageId {
        self.message.id
    }

    /// Whether it is a reply that is being written.
    pub fn is_live(&self) -> bool {
        self.message.role == Role::Assistant && self.message.ended.is_none()
    }

    /// Takes the message as it is now. Its texts are those that were told, or longer.
    pub fn set_message(&mut self, message: Arc<Message>) {
        self.dirty = true;
        if message.role == Role::Assistant {
            let live = message.ended.is_none();
            // What was called just now has its turn to come; what was stored may have had it.
            let fresh = live || self.is_live();
            for (index, part) in message.parts.iter().enumerate() {
                match self.parts.get_mut(index) {
                    Some(state) => {
                        if !state.take(part) {
                            *state = PartState::new(part, live);
                        }
                    }
                    None => self.parts.push(PartState::new(part, live)),
                }
                if fresh && let PartState::Tool(tool) = &mut self.parts[index] {
                    tool.queue();
                }
            }
        }
        self.message = message;
        let live = self.is_live();
        let last = self.parts.len().saturating_sub(1);
        for (index, part) in self.parts.iter_mut().enumerate() {
            if !live {
                part.stop_clock();
            }
            if let PartState::Text(reply) = part
                && (!live || index < last)
            {
                reply.end();
            }
        }
    }

    /// Text was added to a part. Whether it fits what is there.
    pub fn add_text(&mut self, part: usize, kind: TextKind, start: usize, text: &str) -> bool {
        if part == self.parts.len() {
            if let Some(PartState::Thinking { .. }) = self.parts.last() {
                self.parts.iter_mut().for_each(PartState::stop_clock);
            }
            self.parts.push(match kind {
                _ if text.is_empty() => PartState::Other,
                TextKind::Text => PartState::Text(Box::default()),
                TextKind::Thinking => PartState::Thinking {
                    text: String::new(),
                    took: None,
                    since: Some(Instant::now()),
                },
            });
        }
        let Some(state) = self.parts.get_mut(part) else { return false };
        let have = state.len();
        // What was told twice is taken once.
        let Some(new) = have.checked_sub(start).and_then(|skip| text.get(skip.min(text.len())..))
        else {
            return false;
        };
        match (state, kind) {
            (PartState::Text(reply), TextKind::Text) => reply.push(new),
            (PartState::Thinking { text, .. }, TextKind::Thinking) => text.push_str(new),
            (PartState::Other, _) if new.is_empty() => {}
            _ => return false,
        }
        self.dirty = true;
        true
    }

    /// A tool call of this message, by its id.
    fn tool(&mut self, id: &ToolCallId) -> Option<&mut ToolState> {
        self.parts.iter_mut().find_map(|part| match part {
            PartState::Tool(tool) if tool.call().id == *id => Some(&mut **tool),
            _ => None,
        })
    }

    /// All tool calls of this message, in order.
    pub fn tools(&self) -> impl Iterator<Item = (usize, &ToolState)> {
        self.parts.iter().enumerate().filter_map(|(index, part)| match part {
            PartState::Tool(tool) => Some((index, &**tool)),
            _ => None,
        })
    }

    /// A tool call of this message began or ended.
    pub fn set_running(&mut self, id: &ToolCallId, running: bool) {
        if let Some(tool) = self.tool(id) {
            if running {
                tool.start(Duration::ZERO);
            } else {
                tool.stop();
            }
            self.dirty = true;
        }
    }

    /// A call of this message is as far as this.
    pub fn resume(&mut self, open: &OpenCall) {
        let Some(tool) = self.tool(&open.call) else { return };
        match &open.state {
            CallState::Waiting => tool.queue(),
            CallState::Running { tail, bytes, ran, agents } => {
                tool.start(*ran);
                tool.write(tail, *bytes);
                tool.set_agents(agents);
            }
            CallState::Done(result) => drop(tool.answer(result)),
        }
        self.dirty = true;
    }

    /// No call is at work any more.
    pub fn stop_tools(&mut self) {
        for part in &mut self.parts {
            if let PartState::Tool(tool) = part {
                tool.stop();
                self.dirty = true;
            }
        }
    }

    /// A call of this message wrote more.
    pub fn set_output(&mut self, id: &ToolCallId, tail: &Arc<str>, bytes: u64) {
        if let Some(tool) = self.tool(id) {
            tool.write(tail, bytes);
            self.dirty = true;
        }
    }

    /// A call of this message has started these agents, or waits for them.
    pub fn set_agents(&mut self, id: &ToolCallId, agents: &[Fid]) {
        if let Some(tool) = self.tool(id) {
            tool.set_agents(agents);
            self.dirty = true;
        }
    }

    /// Whether a call of this message is about this agent, or may be: nothing came of it.
    pub fn may_be_about(&self, agent: &Fid) -> bool {
        self.tools().any(|(_, tool)| tool.is_lost() || tool.agents().contains(agent))
    }

    /// A tool answered a call of this message. Whether it is one of this message's.
    pub fn set_result(&mut self, answer: &ToolResult) -> bool {
        let Some(tool) = self.tool(&answer.call) else { return false };
        if tool.answer(answer) {
            self.dirty = true;
        }
        true
    }

    /// These pictures came with the answer to a call of this message.
    pub fn set_pictures(&mut self, id: &ToolCallId, pictures: Vec<Arc<[u8]>>) {
        if let Some(tool) = self.tool(id)
            && tool.set_pictures(pictures)
        {
            self.dirty = true;
        }
    }

    /// Takes what waits for the person: what this message's calls wait for is taken out of `asks`,
    /// and all others wait for nothing.
    pub fn set_asks(&mut self, asks: &mut Vec<Arc<ApprovalRequest>>) {
        for part in &mut self.parts {
            let PartState::Tool(tool) = part else { continue };
            let waits =
                |ask: &Arc<ApprovalRequest>| ask.call == tool.call().id && tool.can_wait_for(ask);
            let place = asks.iter().position(waits);
            let ask = place.map(|place| asks.remove(place));
            if tool.wait_for(ask.as_ref()) {
                self.dirty = true;
            }
        }
    }

    /// Whether a clock runs that is to be shown.
    pub fn has_clock(&self) -> bool {
        self.parts.iter().any(|part| match part {
            PartState::Thinking { since, .. } => since.is_some(),
            PartState::Tool(tool) => tool.has_clock(),
            _ => false,
        })
    }

    /// Whether its rows show all its text as it is meant. Otherwise they are to be made in the next
    /// frame, too.
    pub fn is_settled(&self) -> bool {
        self.parts.iter().all(|part| match part {
            PartState::Text(reply) => reply.is_settled(),
            _ => true,
        })
    }

    /// Reads text that arrived, and says which rows the message has now.
    pub fn kinds(&mut self) -> Vec<RowKind> {
        self.read = true;
        self.dirty = false;
        self.hits.touch();
        if self.message.role == Role::User && self.said.is_none() {
            self.said = said::markdown(&self.message.plain_text()).map(Box::new);
        }
        for part in &mut self.parts {
            if let PartState::Text(reply) = part {
                reply.update();
            }
        }
        self.shown_kinds()
    }

    /// Drops what can be made again from its text: nobody is near its rows.
    pub fn forget_pieces(&mut self) {
        if let Some(said) = &mut self.said {
            said.forget_pieces();
        }
        for part in &mut self.parts {
            if let PartState::Text(reply) = part {
                reply.forget_pieces();
            }
        }
    }

    /// Whether a text of it is in memory in pieces.
    #[cfg(test)]
    pub fn has_pieces(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, PartState::Text(reply) if reply.has_pieces()))
    }

    /// The rows that the message has, as far as its text was read.
    pub fn shown_kinds(&self) -> Vec<RowKind> {
        match self.message.role {
            Role::User if self.editing => return vec![RowKind::Editor],
            Role::User if self.siblings.is_some() => return vec![RowKind::User, RowKind::OwnLine],
            Role::User => return vec![RowKind::User],
            Role::Ui => return vec![RowKind::Remark],
            Role::System | Role::Tool => return Vec::new(),
            Role::Assistant => {}
        }
        let mut out = Vec::new();
        let (mut has_text, mut has_tools) = (false, false);
        for (index, part) in self.parts.iter().enumerate() {
            match part {
                PartState::Text(reply) => {
                    has_text |= !reply.segments().is_empty();
                    if self.joined == Some(index) {
                        continue;
                    }
                    out.extend(reply.segments().iter().enumerate().map(|(at, segment)| {
                        RowKind::Segment { part: index, segment: at, kind: segment.kind }
                    }));
                }
                PartState::Thinking { text, .. } if !text.is_empty() => {
                    out.push(RowKind::Thinking { part: index });
                }
                PartState::Tool(_) => {
                    has_tools = true;
                    out.push(RowKind::Tool { part: index });
                }
                PartState::Picture(_) => {
                    has_text = true;
                    out.push(RowKind::Picture { part: index });
                }
                _ => {}
            }
        }
        if self.notice(false).is_some() {
            out.push(RowKind::Ending);
        }
        // Where tools were called the reply goes on below: what is done with it stands at its end.
        let goes_on = self.goes_on || has_tools && self.ending() == Some(Ending::Complete);
        // One that failed would hide the others for good.
        let has_footer = has_text || self.siblings.is_some();
        if self.message.ended.is_some() && has_footer && !goes_on {
            out.push(RowKind::Footer);
        }
        out
    }

    /// How it ended, as the person sees it.
    fn ending(&self) -> Option<Ending> {
        if self.stopped { Some(Ending::Stopped) } else { self.message.ended }
    }

    /// Whether it ended neither by an error nor by a stop.
    pub fn went_well(&self) -> bool {
        matches!(self.ending(), Some(Ending::Complete | Ending::Length))
    }

    /// Whether it is complete, calls tools, and all of them have their results.
    pub fn is_answered(&self) -> bool {
        let mut tools = self.tools().peekable();
        self.message.ended == Some(Ending::Complete)
            && tools.peek().is_some()
            && tools.all(|(_, tool)| tool.result().is_some())
    }

    /// What is to be said about its end.
    pub fn notice(&self, last: bool) -> Option<Notice> {
        let ending = self.ending().filter(|ending| *ending != Ending::Complete)?;
        if self.message.role != Role::Assistant || self.goes_on {
            return None;
        }
        let error = self.message.error.clone();
        Some(Notice { ending, error, last, continues: !self.message.is_empty() })
    }

    /// All its text, as the model or the person wrote it.
    pub fn text(&self) -> String {
        if let Some(compaction) = self.message.compactions().next() {
            let summed = self.message.compactions().any(|one| one.summary.is_some());
            return chat_presentation::words::compaction(summed, compaction.undone);
        }
        if !self.is_live() {
            return self.message.plain_text();
        }
        let mut out = String::new();
        for part in &self.parts {
            if let PartState::Text(reply) = part {
                reply.add_source(&mut out);
            }
        }
        out
    }
}
