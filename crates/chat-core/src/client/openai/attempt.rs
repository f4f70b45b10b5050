//! Decides which earlier reasoning a request brings back, and what it brings instead where that is
//! refused.

use super::reasoning::Replay;
use super::refused::{DataRefusal, Refused};
use crate::error::Error;

/// What a request brings back of earlier reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub replay: Replay,
    pub values: Values,
}

/// Which values of the provider data in a conversation go back, where the field does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    /// Those that were not refused before.
    Accepted,
    All,
    None,
}

impl Attempt {
    /// The first one for a model.
    pub fn first(replay: Replay) -> Self {
        Self { replay, values: Values::Accepted }
    }

    /// What to try where a server refused this one, the likeliest first.
    pub fn after_refusal(self, refused: Refused, error: &Error) -> Vec<Self> {
        let with = |provider_data, values| {
            let mut replay = self.replay;
            replay.provider_data = provider_data;
            Self { replay, values }
        };
        match refused {
            Refused::Text => {
                let replay = self.replay.after_refusal(error);
                replay.map(|replay| Self { replay, ..self }).into_iter().collect()
            }
            Refused::ProviderData => match DataRefusal::of(error) {
                None => Vec::new(),
                Some(DataRefusal::Field) => vec![with(false, self.values)],
                Some(DataRefusal::Value) => vec![Self { values: Values::None, ..self }],
                Some(DataRefusal::Missing) if !self.replay.provider_data => {
                    vec![with(true, Values::Accepted)]
                }
                // Where all of it went back already, it lacks something in itself.
                Some(DataRefusal::Missing) => {
                    vec![with(true, Values::All), with(true, Values::None)]
                }
            },
        }
    }
}
