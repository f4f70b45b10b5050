//! Defines the limits of agents that work for others.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// How agents work for each other. What is spent counts for a tree of agents, since the user last
/// wrote to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentSettings {
    /// How many agents of a tree may work at once: at least 1, since nothing would ever begin.
    #[serde(deserialize_with = "at_least_one")]
    pub at_once: u32,
    /// How many open agents one chat or agent may have.
    pub per_session: u32,
    /// How deep a tree may be: 1 has agents that cannot start others.
    pub depth: u32,
    /// Tokens that the agents of a tree may spend, read and written.
    pub tokens: u64,
    /// Turns that they may take.
    pub turns: u32,
    /// Minutes that they may work.
    pub minutes: u32,
    /// Whether a chat goes on by itself when an agent has ended that worked for it in the background.
    pub wake: bool,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            at_once: 4,
            per_session: 8,
            depth: 1,
            tokens: 2_000_000,
            turns: 100,
            minutes: 60,
            wake: true,
        }
    }
}

fn at_least_one<'de, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    match u32::deserialize(from)? {
        0 => Err(D::Error::custom("at_once must be at least 1")),
        number => Ok(number),
    }
}
