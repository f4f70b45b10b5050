//! Keeps how full the window of a session's model was when it was last measured and reported.

use std::sync::Arc;

use crate::agent::{Agent, Surroundings, result_bytes};
use crate::client::ContextWindow;
use crate::event::SessionEvent;
use crate::message::{ContextUsage, Options};

/// What a session's conversation was measured with, and what it came to.
#[derive(Default)]
pub(crate) struct LastUsage {
    /// What the last request was made in.
    surroundings: Surroundings,
    measured: Option<Measured>,
    /// As it was reported last.
    context_usage: Option<ContextUsage>,
}

/// What a session's conversation was measured with last.
#[derive(Clone)]
pub(crate) struct Measured {
    pub agent: Arc<dyn Agent>,
    pub surroundings: Surroundings,
    pub context_window: ContextWindow,
    pub options: Options,
}

impl LastUsage {
    /// What the last request was made in.
    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// A request is made in these.
    pub(crate) fn set_surroundings(&mut self, surroundings: Surroundings) {
        self.surroundings = surroundings;
    }

    /// What it was measured with last; none before the first time.
    pub(crate) fn measured(&self) -> Option<&Measured> {
        self.measured.as_ref()
    }

    pub(crate) fn set_measured(&mut self, measured: Measured) {
        self.measured = Some(measured);
    }

    /// The request at work is measured with these.
    pub(crate) fn measure_request(
        &mut self,
        agent: Arc<dyn Agent>,
        context_window: ContextWindow,
        options: Options,
    ) {
        let surroundings = self.surroundings.clone();
        self.measured = Some(Measured { agent, surroundings, context_window, options });
    }

    /// How many bytes one result of a tool may have.
    pub(crate) fn result_bytes(&self) -> usize {
        let context_window = self.measured.as_ref().map(|measured| &measured.context_window);
        result_bytes(
            context_window.and_then(|context_window| context_window.largest.or(context_window.now)),
        )
    }

    /// It is this full now. None where that was reported before.
    pub(crate) fn set_context_usage(
        &mut self,
        context_usage: ContextUsage,
    ) -> Option<SessionEvent> {
        if self.context_usage.as_ref() == Some(&context_usage) {
            return None;
        }
        self.context_usage = Some(context_usage.clone());
        Some(SessionEvent::ContextUsageChanged { usage: context_usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_count_is_told_once() {
        let mut usage = LastUsage::default();
        let context_usage = |tokens| ContextUsage { tokens, ..ContextUsage::default() };
        assert!(usage.set_context_usage(context_usage(1)).is_some());
        assert!(usage.set_context_usage(context_usage(1)).is_none());
        assert!(usage.set_context_usage(context_usage(2)).is_some());
    }
}
