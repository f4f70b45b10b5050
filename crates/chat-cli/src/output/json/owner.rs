//! Names in each event the agent that it belongs to.

use chat_core::event::SessionPlaceholder;
use serde::Serialize;

use crate::output::line_of;

/// The agent that events belong to, if they belong to one.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Owner {
    /// The session that it works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    /// What it is called in its tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_name: Option<String>,
}

#[derive(Serialize)]
struct Owned<'a, T> {
    #[serde(flatten)]
    event: &'a T,
    #[serde(flatten)]
    owner: &'a Owner,
}

impl Owner {
    /// The agent's name, if it is one.
    pub(super) fn agent_name(&self) -> Option<&str> {
        self.agent_name.as_deref()
    }

    /// The owner of the events of a session.
    pub(super) fn of(session: &SessionPlaceholder) -> Self {
        Self {
            parent: session.parent.as_ref().map(ToString::to_string),
            agent_name: session.name.clone(),
        }
    }

    /// An event as a line of JSON.
    pub(super) fn line_of(&self, event: &impl Serialize) -> String {
        line_of(&Owned { event, owner: self })
    }
}
