//! Keeps the messages true by events.

use chat_core::event::{Event, SessionEvent, Stage};
use chat_core::message::Role;

use super::{LATEST, Transcript};
use crate::conversation::model::entry::Entry;

/// What an event did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing that is shown.
    Nothing,
    /// Something that is to be drawn.
    Drawn,
    /// A person's message was added.
    Said,
    /// A request ended.
    Finished,
}

impl Transcript {
    /// Takes an event, if it is one of this session's.
    pub fn take(&mut self, event: &Event) -> Change {
        let Some(session) = &self.session else { return Change::Nothing };
        match event {
            Event::Session { fid, seq, event } if fid == session => {
                self.take_of_session(*seq, event)
            }
            Event::RequestFinished { fid, error, .. } if fid == session => {
                let told = self.entries.last().is_some_and(|entry| entry.message.error.is_some());
                self.error = error.clone().filter(|_| !told);
                self.entries.iter_mut().rev().take(LATEST).for_each(Entry::stop_tools);
                Change::Finished
            }
            _ => Change::Nothing,
        }
    }

    fn take_of_session(&mut self, seq: u64, event: &SessionEvent) -> Change {
        // Text that was told twice is taken once; anything else may be in the snapshot.
        if seq <= self.seq && !matches!(event, SessionEvent::TextAdded { .. }) {
            return Change::Nothing;
        }
        match event {
            SessionEvent::MessageAdded { message } => {
                self.error = None;
                self.add(message);
                if message.role == Role::User { Change::Said } else { Change::Drawn }
            }
            SessionEvent::TextAdded { message, part, kind, range, text } => {
                let Some(entry) = self.entry(*message) else { return Change::Nothing };
                if !entry.add_text(*part, *kind, range.start, text) {
                    tracing::warn!(part, start = range.start, "text that fits nowhere");
                }
                Change::Drawn
            }
            SessionEvent::MessageChanged { message } => {
                self.add(message);
                Change::Drawn
            }
            SessionEvent::ToolCallChanged { message, call, running, result } => {
                if let Some(entry) = self.with_call(*message, call) {
                    entry.set_running(call, *running);
                    // What came of it is seen though others of its round still run.
                    if let Some(result) = result {
                        entry.set_result(result);
                    }
                }
                Change::Drawn
            }
            SessionEvent::ToolOutput { message, call, tail, bytes } => {
                if let Some(entry) = self.with_call(*message, call) {
                    entry.set_output(call, tail, *bytes);
                }
                Change::Drawn
            }
            SessionEvent::AgentsAtWork { message, call, agents } => {
                if let Some(entry) = self.with_call(*message, call) {
                    entry.set_agents(call, agents);
                }
                Change::Drawn
            }
            SessionEvent::ApprovalsChanged { asks } => {
                self.asks.clone_from(asks);
                self.place_asks();
                Change::Drawn
            }
            SessionEvent::CommandsChanged { commands } => {
                self.commands.clone_from(commands);
                // What shows them is not a part of the conversation.
                Change::Nothing
            }
            SessionEvent::TodosChanged { todos } => {
                self.todos.clone_from(todos);
                // What shows it is not a part of the conversation.
                Change::Nothing
            }
            SessionEvent::QueueChanged { queue } => {
                self.queue.clone_from(queue);
                Change::Drawn
            }
            SessionEvent::StageChanged { stage } => {
                self.stage = stage.clone();
                if *stage != Stage::Idle {
                    self.error = None;
                }
                Change::Drawn
            }
            _ => Change::Nothing,
        }
    }
}
