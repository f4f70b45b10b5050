//! What decides whether a message can reach the model between two of its replies.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::queue::Waiting;
use crate::message::{ModelRef, Options, Thinking};

/// How a request answers. A message that is to be answered differently waits for the next one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answering {
    pub agent: String,
    pub model: ModelRef,
    pub thinking: Thinking,
    pub options: Options,
    pub project: Option<PathBuf>,
}

/// The models that refused a message of the person's after the results of tools, as long as the
/// program runs: the templates of some insist that the model speaks first.
#[derive(Debug, Default)]
pub(crate) struct Unsteerable(Mutex<HashSet<ModelRef>>);

impl Unsteerable {
    pub(crate) fn add(&self, model: &ModelRef) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(model.clone());
    }

    pub(crate) fn contains(&self, model: &ModelRef) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(model)
    }
}

/// What was delivered with the results of the last round, to be taken back where it is refused.
#[derive(Debug, Default)]
pub(crate) struct Steered(pub Vec<Waiting>);
