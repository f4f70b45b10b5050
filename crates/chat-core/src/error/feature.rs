//! Defines the features that a model or a server may lack.

use serde::{Deserialize, Serialize};

/// What a model may be unable to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Holding a conversation at all (an embedding model, say).
    Chat,
    /// Calling tools.
    Tools,
    /// Thinking before it answers.
    Thinking,
    /// Looking at images.
    Images,
    /// Having its models fetched, removed and unloaded (a server).
    Models,
}
