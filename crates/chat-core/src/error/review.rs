//! Defines why changes of tools can be neither reviewed nor undone.

use serde::{Deserialize, Serialize};

/// Why what tools change is not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoReview {
    /// The session has no project.
    NoProject,
    /// The project is the home folder, or holds it.
    Home,
    /// There is no program `git`.
    NoGit,
}
