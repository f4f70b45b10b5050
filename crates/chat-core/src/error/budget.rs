//! Defines what agents can run out of.

use serde::{Deserialize, Serialize};

/// What the agents of a tree have used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetLimit {
    /// So many tokens.
    Tokens(u64),
    /// So many turns.
    Turns(u32),
    /// So many minutes.
    Minutes(u32),
}
