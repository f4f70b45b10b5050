//! Defines which messages a damaged database lost.

use serde::{Deserialize, Serialize};

/// A chat that lacks messages which could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingMessages {
    /// The chat's title.
    pub title: String,
    /// How many of its messages are missing, as far as it is known; at least one.
    pub count: u32,
}
