//! Says in calls what the agents do that they are about.

use std::collections::HashMap;
use std::rc::Rc;

use chat_core::definitions::Color;
use chat_core::event::{Event, SessionPlaceholder};
use chat_core::message::Fid;

use super::Inner;

/// The agents that calls of a conversation are about.
pub struct Agents<'a>(&'a Rc<Inner>);

impl Inner {
    /// What calls say of the agents that they are about.
    pub fn agents(self: &Rc<Self>) -> Agents<'_> {
        Agents(self)
    }
}

impl Agents<'_> {
    /// Takes what happened to agents, of any session: calls that are about them say what they do.
    pub fn apply(&self, events: &[Event]) {
        let mut state = self.0.state.borrow_mut();
        let book = Rc::clone(&state.rows.context.agents);
        let changed: Vec<_> =
            events.iter().filter_map(|event| book.borrow_mut().take(event)).collect();
        let drawn = changed
            .iter()
            .fold(false, |drawn, agent| state.transcript.touch_calls_about(agent) | drawn);
        drop(state);
        if drawn {
            self.0.schedule();
        }
    }

    /// Takes the agents of the tree of a session, as they were read. What events told of them since
    /// is newer.
    pub fn fill(&self, session: &Fid, agents: Vec<SessionPlaceholder>) {
        let mut state = self.0.state.borrow_mut();
        let fids: Vec<_> = agents.iter().map(|agent| agent.fid.clone()).collect();
        state.rows.context.agents.borrow_mut().fill(session, agents);
        for fid in &fids {
            state.transcript.touch_calls_about(fid);
        }
        drop(state);
        self.0.schedule();
    }

    /// Takes the colors of kinds of agents, by their names.
    pub fn set_colors(&self, colors: HashMap<String, Color>) {
        let mut state = self.0.state.borrow_mut();
        let changed = state.rows.context.agents.borrow_mut().set_colors(colors);
        if changed.is_empty() {
            return;
        }
        for fid in &changed {
            state.transcript.touch_calls_about(fid);
        }
        drop(state);
        self.0.schedule();
    }

    /// How many agents below a session were interrupted.
    pub fn interrupted(&self, session: &Fid) -> u32 {
        self.0.state.borrow().rows.context.agents.borrow().interrupted_below(session)
    }

    /// Brings the newest call into sight that is about this agent. Whether one is loaded.
    pub fn go_to(&self, agent: &Fid) -> bool {
        self.0.go_to_agent(agent)
    }
}
