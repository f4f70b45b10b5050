//! Ends a reply that goes round in circles.

use super::repetition::Repetition;
use crate::client::Delta;
use crate::error::{Kind, Result};

/// Notices where a reply goes round in circles: dropping it tells the server to stop.
#[derive(Default)]
pub(super) struct Circles {
    text: Repetition,
    thoughts: Repetition,
    arguments: Repetition,
}

impl Circles {
    /// Reads what came.
    ///
    /// # Errors
    /// `Repetition` where nothing new comes any more.
    pub(super) fn read(&mut self, delta: &Delta) -> Result<()> {
        let fresh = match delta {
            Delta::Text(more) => self.text.read(more).map(|circle| Some(circle.from)),
            Delta::Thinking(more) => self.thoughts.read(more).map(|_| None),
            Delta::ToolCall { arguments, .. } => self.arguments.read(arguments).map(|_| None),
            _ => None,
        };
        fresh.map_or(Ok(()), |fresh| Err(Kind::Repetition { fresh }.into()))
    }
}
