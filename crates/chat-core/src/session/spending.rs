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
    reserved: Mutex<Option<Tokens>>,
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

    /// Reserves what the next reply may cost.
    ///
    /// # Errors
    /// `AgentBudget`.
    pub(super) fn reserve(&self) -> Result<()> {
        if !self.counts {
            return Ok(());
        }
        let read = self.expected();
        self.reserve_tokens(Tokens { read, written: FOR_REPLY })
    }

    /// Reserves what a request of its own may cost, which reads so many bytes and writes at most so
    /// many tokens: a summary.
    ///
    /// # Errors
    /// `AgentBudget`.
    pub(super) fn reserve_for(&self, bytes: u64, written: u64) -> Result<()> {
        if !self.counts {
            return Ok(());
        }
        self.reserve_tokens(Tokens { read: bytes / BYTES, written })
    }

    fn reserve_tokens(&self, tokens: Tokens) -> Result<()> {
        self.settle(None);
        let limits = self.session.services.clients.settings().agents;
        let reserved = self.session.tree.budget(|budget| budget.reserve(&limits, tokens.all()));
        reserved.map_err(|limit| Kind::AgentBudget { limit })?;
        *self.reserved.lock().unwrap_or_else(PoisonError::into_inner) = Some(tokens);
        Ok(())
    }

    /// The request has ended, with what its server says that it cost. Where that says nothing, it cost
    /// what was reserved: unknown is not nothing.
    pub(super) fn settle(&self, usage: Option<&Usage>) {
        self.settle_as(|reserved| reserved.spent(usage));
    }

    /// The server refused the request before it did anything: it cost nothing.
    pub(super) fn refused(&self) {
        self.settle_as(|_| 0);
    }

    fn settle_as(&self, spent: impl FnOnce(Tokens) -> u64) {
        let reserved = self.reserved.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(reserved) = reserved else { return };
        self.session.tree.budget(|budget| budget.settle(reserved.all(), spent(reserved)));
    }

    /// How many tokens the next request reads, about.
    fn expected(&self) -> u64 {
        let history = self.session.lock().transcript.history();
        // A server that does not tell what it read tells nothing about the next request.
        let last = history.iter().rev().filter(|message| message.role == Role::Assistant).find_map(
            |message| {
                let usage = message.usage.as_ref()?;
                Some(usage.prompt_tokens? + usage.completion_tokens.unwrap_or_default())
            },
        );
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
        last.unwrap_or_else(|| bytes() / BYTES)
    }
}

/// The tokens of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tokens {
    read: u64,
    written: u64,
}

impl Tokens {
    fn all(self) -> u64 {
        self.read.saturating_add(self.written)
    }

    /// What a request cost that this was reserved for. What its server does not say counts as reserved.
    fn spent(self, usage: Option<&Usage>) -> u64 {
        let read = usage.and_then(|usage| usage.prompt_tokens).unwrap_or(self.read);
        let written = usage.and_then(|usage| usage.completion_tokens).unwrap_or(self.written);
        read.saturating_add(written)
    }
}

impl Drop for Spending {
    fn drop(&mut self) {
        self.settle(None);
    }
}

/// What a reply cost, where its server says so.
pub(super) fn tokens(usage: &Usage) -> Option<u64> {
    match (usage.prompt_tokens, usage.completion_tokens) {
        (None, None) => None,
        (read, written) => Some(read.unwrap_or_default() + written.unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_does_not_say_counts_as_reserved() {
        let reserved = Tokens { read: 1_000, written: 100 };
        let usage = |prompt_tokens, completion_tokens| Usage {
            prompt_tokens,
            completion_tokens,
            ..Usage::default()
        };
        assert_eq!(reserved.spent(None), 1_100);
        assert_eq!(reserved.spent(Some(&usage(None, None))), 1_100);
        assert_eq!(reserved.spent(Some(&usage(None, Some(7)))), 1_007);
        assert_eq!(reserved.spent(Some(&usage(Some(2_000), None))), 2_100);
        assert_eq!(reserved.spent(Some(&usage(Some(20), Some(3)))), 23);
    }
}
