//! Counts what the requests of one turn spend of the budget of its tree.

use std::sync::{Arc, Mutex, PoisonError};

use super::Session;
use crate::error::{Kind, Result};
use crate::message::{Message, Part, Role, Usage};

/// Tokens that are reserved for what a model writes, and for what is new in a request.
const FOR_REPLY: u64 = 4_096;

/// How many bytes a token has, about.
const BYTES: u64 = 4;

/// What a turn spends. One that only the user's words began spends nothing of the budget.
pub(super) struct Spending {
    session: Arc<Session>,
    counts: bool,
    /// What is reserved for the request at work.
    reserved: Mutex<Option<u64>>,
}

impl Spending {
    /// A turn that answers the last message of the user in this branch.
    pub(super) fn new(session: &Arc<Session>, branch: &[Arc<Message>]) -> Self {
        let asked = branch.iter().rfind(|message| message.role == Role::User);
        let agent = |message: &Arc<Message>| {
            message.parts.iter().any(|part| matches!(part, Part::FromAgent(_)))
        };
        let counts = session.parent.is_some() || asked.is_some_and(agent);
        Self { session: Arc::clone(session), counts, reserved: Mutex::default() }
    }

    /// Reserves what the next request may cost.
    ///
    /// # Errors
    /// `AgentBudget`.
    pub(super) fn reserve(&self) -> Result<()> {
        if !self.counts {
            return Ok(());
        }
        self.settle(None);
        let tokens = self.expected();
        let limits = self.session.services.clients.settings().agents;
        let reserved = self.session.tree.budget(|budget| budget.reserve(&limits, tokens));
        reserved.map_err(|limit| Kind::AgentBudget { limit })?;
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) = Some(tokens);
        Ok(())
    }

    /// The request has ended, with what its server says that it cost. Where that says nothing, it cost
    /// what was reserved: unknown is not nothing.
    pub(super) fn settle(&self, usage: Option<&Usage>) {
        let reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(reserved) = reserved else { return };
        let known = usage.and_then(tokens).unwrap_or(reserved);
        self.session.tree.budget(|budget| budget.settle(reserved, known));
    }

    fn expected(&self) -> u64 {
        let history = self.session.lock().transcript.history();
        let last = history.iter().rev().find_map(|message| tokens(message.usage.as_ref()?));
        let bytes = || -> u64 {
            let parts = history.iter().flat_map(|message| &message.parts);
            parts
                .map(|part| match part {
                    Part::Text(text) | Part::Context { text } | Part::File { text, .. } => {
                        text.len()
                    }
                    Part::Command(command) => command.text.len(),
                    Part::ToolResult(result) => result.text.len(),
                    _ => 0,
                } as u64)
                .sum()
        };
        last.unwrap_or_else(|| bytes() / BYTES) + FOR_REPLY
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        self.settle(None);
    }
}

fn tokens(usage: &Usage) -> Option<u64> {
    match (usage.prompt_tokens, usage.completion_tokens) {
        (None, None) => None,
        (read, written) => Some(read.unwrap_or_default() + written.unwrap_or_default()),
    }
}
