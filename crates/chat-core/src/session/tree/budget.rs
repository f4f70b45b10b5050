//! Counts what the agents of a tree spend since the user last wrote to one of them.

use std::time::Duration;

use tokio::time::Instant;

use crate::error::BudgetLimit;
use crate::settings::AgentSettings;

/// What was spent, and what is reserved for requests at work.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    tokens: u64,
    reserved: u64,
    turns: u32,
    /// When the first turn began.
    since: Option<Instant>,
}

impl Budget {
    /// The user wrote: from now on everything may be spent again. What is reserved stays so.
    pub(crate) fn renew(&mut self) {
        *self = Self { reserved: self.reserved, ..Self::default() };
    }

    /// A turn begins.
    ///
    /// # Errors
    /// What was reached.
    pub(crate) fn begin_turn(&mut self, limits: &AgentSettings) -> Result<(), BudgetLimit> {
        self.check(limits, 0)?;
        if self.turns >= limits.turns {
            return Err(BudgetLimit::Turns(limits.turns));
        }
        self.turns += 1;
        self.since.get_or_insert_with(Instant::now);
        Ok(())
    }

    /// The chat goes on with what agents report. That is no turn of an agent, but there must be tokens and time for it.
    ///
    /// # Errors
    /// What was reached.
    pub(crate) fn begin_answer(&self, limits: &AgentSettings) -> Result<(), BudgetLimit> {
        self.check(limits, 0)
    }

    /// Reserves tokens for a request, until [`settle`](Self::settle).
    ///
    /// # Errors
    /// What was reached. Nothing is reserved then.
    pub(crate) fn reserve(
        &mut self,
        limits: &AgentSettings,
        tokens: u64,
    ) -> Result<(), BudgetLimit> {
        self.check(limits, tokens)?;
        self.reserved += tokens;
        Ok(())
    }

    /// A request has ended that so many tokens were reserved for, and so many spent on.
    pub(crate) fn settle(&mut self, reserved: u64, spent: u64) {
        self.reserved = self.reserved.saturating_sub(reserved);
        self.tokens = self.tokens.saturating_add(spent);
    }

    fn check(&self, limits: &AgentSettings, tokens: u64) -> Result<(), BudgetLimit> {
        let all = self.tokens.saturating_add(self.reserved).saturating_add(tokens);
        if all > limits.tokens {
            return Err(BudgetLimit::Tokens(limits.tokens));
        }
        let time = Duration::from_secs(u64::from(limits.minutes) * 60);
        if self.since.is_some_and(|since| since.elapsed() >= time) {
            return Err(BudgetLimit::Minutes(limits.minutes));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: AgentSettings = AgentSettings {
        tokens: 100,
        turns: 2,
        minutes: 3,
        at_once: 4,
        per_session: 8,
        depth: 1,
        wake: true,
    };

    #[tokio::test(start_paused = true)]
    async fn what_is_reserved_counts_until_it_is_spent() {
        let mut budget = Budget::default();
        budget.begin_turn(&LIMITS).unwrap();
        budget.reserve(&LIMITS, 60).unwrap();
        assert_eq!(budget.reserve(&LIMITS, 41), Err(BudgetLimit::Tokens(100)));
        budget.settle(60, 20);
        budget.reserve(&LIMITS, 80).unwrap();
        budget.settle(80, 81);
        assert_eq!(budget.begin_turn(&LIMITS), Err(BudgetLimit::Tokens(100)));
        budget.renew();
        budget.begin_turn(&LIMITS).unwrap();
        budget.begin_turn(&LIMITS).unwrap();
        assert_eq!(budget.begin_turn(&LIMITS), Err(BudgetLimit::Turns(2)));
        assert_eq!(budget.begin_answer(&LIMITS), Ok(()), "it is the chat's own");
        tokio::time::advance(Duration::from_mins(3)).await;
        assert_eq!(budget.reserve(&LIMITS, 1), Err(BudgetLimit::Minutes(3)));
        assert_eq!(budget.begin_answer(&LIMITS), Err(BudgetLimit::Minutes(3)));
        budget.renew();
        budget.reserve(&LIMITS, 1).unwrap();
    }
}
