//! Defines why a kind of agent is not there.

use std::path::PathBuf;

use chat_definitions::{ProblemKind, Unusable};
use serde::{Deserialize, Serialize};

/// Why there is no agent of a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoAgent {
    /// There is none.
    Unknown {
        /// The name that was probably meant.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nearest: Option<String>,
    },
    /// It belongs to the project, which the user does not trust yet.
    Untrusted,
    /// Its file is wrong.
    Broken(Box<BrokenAgent>),
}

/// A mistake in an agent's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BrokenAgent {
    /// The file.
    pub path: PathBuf,
    /// The line, counted from 1, if the mistake is in one.
    pub line: Option<usize>,
    /// What is wrong. It is not stored.
    #[serde(skip)]
    pub problem: Option<ProblemKind>,
}

impl Default for NoAgent {
    fn default() -> Self {
        Self::Unknown { nearest: None }
    }
}

impl NoAgent {
    /// Whether nothing more is known.
    pub(super) fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// The sentence for a model, in English.
    pub(crate) fn for_model(&self, name: &str) -> String {
        match self {
            Self::Unknown { .. } => format!("There is no kind of agent “{name}”."),
            Self::Untrusted => format!(
                "The agent “{name}” belongs to this project, and the user does not trust the project’s agents yet."
            ),
            Self::Broken(broken) => {
                let file = broken.path.display();
                match broken.line {
                    Some(line) => format!(
                        "The agent “{name}” cannot be used: its file “{file}” has a mistake in line {line}."
                    ),
                    None => {
                        format!("The agent “{name}” cannot be used: its file “{file}” is wrong.")
                    }
                }
            }
        }
    }
}

impl From<Unusable> for NoAgent {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Untrusted => Self::Untrusted,
            Unusable::Broken(problem) => Self::Broken(Box::new(BrokenAgent {
                path: problem.path,
                line: problem.line,
                problem: Some(problem.kind),
            })),
        }
    }
}
