//! Holds the messages of a conversation as the window knows them.

mod continued;
mod events;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chat_core::error::Error;
use chat_core::event::{OpenCall, Snapshot, Stage};
use chat_core::message::{
    ApprovalId, ApprovalRequest, BackgroundCommand, Ending, Fid, Message, MessageId, Part, Queued,
    Role, Todo, TodoState, ToolCallId,
};
use chat_core::store::Page;

use super::entry::{Entry, Siblings};
use super::message_edits::MessageEdits;
use super::steps::has_steps;
use super::tool::state::ToolState;
pub use events::Change;

/// How many messages at the end are those of the request at work, whatever tools it called.
const LATEST: usize = 64;

/// A conversation.
#[derive(Default)]
pub struct Transcript {
    /// The session; none for a new chat.
    pub session: Option<Fid>,
    /// Its messages, as far as they are loaded.
    pub entries: Vec<Entry>,
    /// Whether there are earlier ones.
    pub more: bool,
    /// What the request at work does.
    pub stage: Stage,
    /// What went wrong and belongs to no message.
    pub error: Option<Error>,
    /// What waits to be sent.
    pub queue: Vec<Queued>,
    /// What waits for the person, in order.
    pub asks: Vec<Arc<ApprovalRequest>>,
    /// The session's plan.
    pub todos: Vec<Todo>,
    /// The commands that run in the background, the oldest first.
    pub commands: Vec<BackgroundCommand>,
    /// Where messages stand that have others beside them.
    siblings: HashMap<MessageId, Siblings>,
    /// What the snapshot holds already. An event is held against this alone: one about text that
    /// grew while it waited carries a later number than those that come after it.
    seq: u64,
}

/// What reading a session again did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// How many messages came before those that were there.
    pub earlier: usize,
    /// Whether there is something to read at the end or in between that was not there before.
    pub has_new: bool,
}

impl Transcript {
    /// A session as it was opened.
    pub fn of(snapshot: &Snapshot) -> Self {
        let mut transcript = Self {
            session: Some(snapshot.session.fid.clone()),
            more: snapshot.more,
            stage: snapshot.stage.clone(),
            queue: snapshot.queue.clone(),
            asks: snapshot.asks.clone(),
            todos: snapshot.todos.clone(),
            commands: snapshot.commands.clone(),
            seq: snapshot.seq,
            ..Self::default()
        };
        for message in &snapshot.messages {
            transcript.add(message);
        }
        transcript.resume(&snapshot.calls);
        transcript
    }

    /// Takes the session as it was read again, where that goes on from what is here: what both have
    /// stays, and so does what is earlier. None where it does not; then nothing was taken.
    pub fn renew(&mut self, snapshot: &Snapshot) -> Option<Renewed> {
        if self.session.as_ref() != Some(&snapshot.session.fid) {
            return None;
        }
        let messages = &snapshot.messages;
        let mut first = messages.iter().enumerate();
        let (earlier, mut at) = first.find_map(|(index, message)| {
            let at = self.entries.iter().position(|entry| entry.id() == message.id)?;
            Some((index, at))
        })?;
        // Where the branch became shorter its end begins before what is here.
        if earlier > 0 && at > 0 {
            return None;
        }
        if at == 0 {
            self.more = snapshot.more;
        }
        self.stage = snapshot.stage.clone();
        self.error = None;
        self.queue.clone_from(&snapshot.queue);
        self.asks.clone_from(&snapshot.asks);
        self.todos.clone_from(&snapshot.todos);
        self.commands.clone_from(&snapshot.commands);
        self.seq = snapshot.seq;
        let known: HashSet<_> = self.entries.iter().map(Entry::id).collect();
        let mut has_new = false;
        for message in &messages[earlier..] {
            match self.entries.get_mut(at) {
                Some(entry) if entry.id() == message.id => {
                    if entry.message != *message {
                        has_new |= entry.message.parts != message.parts;
                        entry.set_message(Arc::clone(message));
                    }
                }
                _ => {
                    self.entries.truncate(at);
                    self.entries.push(Entry::new(Arc::clone(message)));
                    // After a deletion, what follows is read again at its new place.
                    has_new |= !known.contains(&message.id);
                }
            }
            at += 1;
        }
        self.entries.truncate(at);
        let new = messages[..earlier].iter().map(|message| Entry::new(Arc::clone(message)));
        self.entries.splice(0..0, new);
        for index in 0..self.entries.len() {
            self.answer(index);
        }
        self.place_siblings();
        self.resume(&snapshot.calls);
        Some(Renewed { earlier, has_new })
    }

    /// Takes from another branch of the same session which messages stand beside each other.
    pub fn take_siblings(&mut self, other: &mut Self) {
        self.siblings = std::mem::take(&mut other.siblings);
        self.place_siblings();
    }

    /// Takes which messages stand beside each other. Whether that changes what is shown.
    pub fn set_siblings(&mut self, groups: &[Vec<MessageId>]) -> bool {
        let places = groups.iter().flat_map(|group| {
            group.iter().enumerate().map(|(at, id)| {
                let siblings = Siblings {
                    place: at + 1,
                    count: group.len(),
                    before: at.checked_sub(1).map(|before| group[before]),
                    behind: group.get(at + 1).copied(),
                };
                (*id, siblings)
            })
        });
        self.siblings = places.collect();
        self.place_siblings()
    }

    /// Says it in the entries: a reply of several rounds is one.
    fn place_siblings(&mut self) -> bool {
        let mut current = None;
        let mut changed = false;
        let mut is_reply = false;
        for entry in &mut self.entries {
            match entry.message.role {
                Role::User => current = self.siblings.get(&entry.id()).copied(),
                Role::Assistant => {
                    let above = current.filter(|_| is_reply);
                    current = self.siblings.get(&entry.id()).copied().or(above);
                }
                _ => {}
            }
            let siblings =
                current.filter(|_| matches!(entry.message.role, Role::User | Role::Assistant));
            match entry.message.role {
                Role::User => is_reply = false,
                Role::Assistant => is_reply = true,
                _ => {}
            }
            if entry.siblings != siblings {
                entry.siblings = siblings;
                entry.dirty = true;
                changed = true;
            }
        }
        changed
    }

    /// Shows a field in place of each message that is being edited.
    pub fn show_edits(&mut self, edits: &MessageEdits) {
        for entry in &mut self.entries {
            let editing = entry.message.role == Role::User && edits.has(entry.id());
            if entry.editing != editing {
                entry.editing = editing;
                entry.dirty = true;
            }
        }
    }

    /// Says in the messages that have other versions whether those can be shown: not while a request is at work.
    pub fn hold_versions(&mut self) {
        let is_busy = self.is_busy();
        for entry in &mut self.entries {
            let is_held = is_busy && entry.siblings.is_some();
            if entry.is_held != is_held {
                entry.is_held = is_held;
                entry.dirty = true;
            }
        }
    }

    /// Finds the reply that was stopped behind its calls of tools. The store has it as complete, since it
    /// is: what is missing is the reply to the results. Messages that are delivered between the results
    /// and that reply are no stop.
    pub fn find_stopped(&mut self) {
        // Where a request is at work or went wrong, that is shown elsewhere.
        let mut has_reply = self.is_busy() || self.error.is_some();
        for entry in self.entries.iter_mut().rev() {
            let stopped = !has_reply && entry.is_answered();
            if entry.stopped != stopped {
                entry.stopped = stopped;
                entry.dirty = true;
            }
            has_reply |= entry.message.role == Role::Assistant;
        }
    }

    /// How many messages at the beginning were not read yet: they have no rows.
    pub fn unread(&self) -> usize {
        self.entries.iter().take_while(|entry| !entry.read).count()
    }

    /// Adds earlier messages.
    pub fn prepend(&mut self, page: &Page) {
        self.more = page.more;
        let known: HashSet<MessageId> = self.entries.iter().map(Entry::id).collect();
        let new = page.messages.iter().filter(|message| !known.contains(&message.id));
        let new: Vec<Entry> = new.map(|message| Entry::new(Arc::clone(message))).collect();
        let count = new.len();
        self.entries.splice(0..0, new);
        self.place_siblings();
        // Answers may stand in another page than their calls.
        for index in 0..self.entries.len().min(count + 64) {
            self.answer(index);
        }
    }

    /// A message by its id.
    pub fn entry(&mut self, id: MessageId) -> Option<&mut Entry> {
        self.entries.iter_mut().rev().find(|entry| entry.id() == id)
    }

    /// The text of a message, as the model or the person wrote it.
    pub fn text_of(&self, id: MessageId) -> Option<String> {
        let chain = self.chain_of(id);
        (!chain.is_empty()).then(|| chain.iter().map(Entry::text).collect())
    }

    /// The text of the last reply that has one.
    pub fn last_reply(&self) -> Option<String> {
        let replies = self.entries.iter().rev();
        replies
            .filter(|entry| entry.message.role == Role::Assistant)
            .filter_map(|entry| self.text_of(entry.id()))
            .find(|text| !text.is_empty())
    }

    /// The last message that asked for work: what agents say is none, except in an agent’s chat.
    pub fn last_request(&self, of_agent: bool) -> Option<MessageId> {
        let asks = |entry: &&Entry| entry.message.asks_for_work(of_agent);
        let said = self.entries.iter().rev().find(asks);
        said.map(|entry| entry.message.id)
    }

    /// The reply at its end, if that was finished and may be a plan: it has steps, or the session's
    /// plan has some left.
    pub fn last_plan(&self) -> Option<MessageId> {
        let has_steps_left = self.todos.iter().any(|todo| todo.state != TodoState::Done);
        let last = self.entries.last().filter(|entry| {
            let (message, text) = (&entry.message, entry.text());
            message.role == Role::Assistant
                && message.ended == Some(Ending::Complete)
                && message.error.is_none()
                && !text.is_empty()
                && (has_steps_left || has_steps(&text))
        })?;
        Some(last.id())
    }

    /// What the end of the conversation says went wrong.
    pub fn last_error(&self) -> Option<&Error> {
        let last = self.entries.last().and_then(|entry| entry.message.error.as_ref());
        self.error.as_ref().or(last)
    }

    /// The reply that can be asked for again: the last message, tools’ answers and remarks aside.
    pub fn last(&self) -> Option<usize> {
        let index = self
            .entries
            .iter()
            .rposition(|entry| !matches!(entry.message.role, Role::Tool | Role::Ui))?;
        let entry = &self.entries[index];
        // After a reply that went well the next message goes out by itself. After any other it waits
        // for the user, who may want that reply again first.
        let is_next_due = !self.queue.is_empty() && entry.went_well();
        let idle = matches!(self.stage, Stage::Idle) && !is_next_due;
        (idle && entry.message.role == Role::Assistant).then_some(index)
    }

    /// Whether something is to be counted in seconds.
    pub fn has_clock(&self) -> bool {
        let stage = matches!(self.stage, Stage::Waiting { .. } | Stage::RateLimited { .. });
        stage || self.entries.iter().rev().take(LATEST).any(Entry::has_clock)
    }

    /// Whether a request is at work.
    pub fn is_busy(&self) -> bool {
        self.stage != Stage::Idle || self.is_live()
    }

    /// Whether a reply is being written.
    pub fn is_live(&self) -> bool {
        self.entries.last().is_some_and(Entry::is_live)
    }

    /// Whether something waits for the person.
    pub fn is_asking(&self) -> bool {
        !self.asks.is_empty()
    }

    /// The row of this approval request, or of the newest if it does not wait here: the message, and
    /// which of its parts.
    pub fn ask(&self, wanted: Option<ApprovalId>) -> Option<(usize, usize)> {
        let newest = |fits: &dyn Fn(ApprovalId) -> bool| {
            self.entries.iter().enumerate().rev().find_map(|(index, entry)| {
                let waits = |tool: &ToolState| tool.ask().is_some_and(|ask| fits(ask.id));
                Some((index, entry.tools().filter(|(_, tool)| waits(tool)).last()?.0))
            })
        };
        newest(&|id| Some(id) == wanted).or_else(|| newest(&|_| true))
    }

    /// The newest call that is about this agent: the message, and which of its parts.
    pub fn call_about(&self, agent: &Fid) -> Option<(usize, usize)> {
        self.entries.iter().enumerate().rev().find_map(|(index, entry)| {
            let is_about = |tool: &ToolState| tool.agents().contains(agent);
            Some((index, entry.tools().filter(|(_, tool)| is_about(tool)).last()?.0))
        })
    }

    /// What this agent does changed: the calls that are about it are to be drawn. Whether there are
    /// such.
    pub fn touch_calls_about(&mut self, agent: &Fid) -> bool {
        let about = self.entries.iter_mut().filter(|entry| entry.may_be_about(agent));
        about.map(|entry| entry.dirty = true).count() > 0
    }

    fn add(&mut self, message: &Arc<Message>) {
        let place = self.entries.iter().rposition(|entry| entry.id() == message.id);
        let place = place.unwrap_or(self.entries.len());
        match self.entries.get_mut(place) {
            Some(entry) => entry.set_message(Arc::clone(message)),
            None => self.entries.push(Entry::new(Arc::clone(message))),
        }
        self.answer(place);
        if !self.asks.is_empty() {
            self.place_asks();
        }
    }

    /// The message that holds a call: the one that is named, or the newest that has it.
    fn with_call(&mut self, id: MessageId, call: &ToolCallId) -> Option<&mut Entry> {
        let has = |entry: &Entry| entry.tools().any(|(_, tool)| tool.call().id == *call);
        let place = self.entries.iter().rposition(|entry| entry.id() == id && has(entry));
        let place = place.or_else(|| self.entries.iter().rposition(has))?;
        self.entries.get_mut(place)
    }

    /// Gives a message's answers of tools to the calls that they answer: those before it. Servers
    /// give the calls of different replies the same ids, so that the nearest counts.
    fn answer(&mut self, place: usize) {
        let message = Arc::clone(&self.entries[place].message);
        let pictures = || {
            message.parts.iter().filter_map(|part| match part {
                Part::Image { data, .. } => Some(Arc::clone(data)),
                _ => None,
            })
        };
        for part in &message.parts {
            if let Part::ToolResult(result) = part {
                let mut before = self.entries[..place].iter_mut().rev();
                if let Some(entry) =
                    before.find_map(|entry| entry.set_result(result).then_some(entry))
                {
                    entry.set_pictures(&result.call, pictures().collect());
                }
            }
        }
    }

    /// Shows what waits for the person in the calls that wait: the newest of their ids.
    fn place_asks(&mut self) {
        let mut asks = self.asks.clone();
        for entry in self.entries.iter_mut().rev() {
            entry.set_asks(&mut asks);
        }
    }

    /// How far the calls are of a session that is at work as it is opened.
    fn resume(&mut self, calls: &[OpenCall]) {
        for open in calls {
            if let Some(entry) = self.with_call(open.message, &open.call) {
                entry.resume(open);
            }
        }
        self.place_asks();
    }
}

#[cfg(test)]
mod tests;
