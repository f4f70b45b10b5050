//! Tracks the open questions to servers, so that none is asked twice and one can wait for them.

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// A connection, by its name: which models it has.
    Connection(String),
    /// This machine: which servers run on it.
    Places,
}

/// Which questions belong together: follow-up questions belong to the same round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Round(u64);

/// The questions that are open.
#[derive(Debug, Default)]
pub(super) struct Questions {
    last: Round,
    open: Vec<(Round, About)>,
}

impl Questions {
    /// A round after all that were.
    pub(super) fn next_round(&mut self) -> Round {
        self.last.0 += 1;
        self.last
    }

    /// The last round that was begun.
    pub(super) fn last_round(&self) -> Round {
        self.last
    }

    pub(super) fn open(&mut self, round: Round, about: About) {
        self.open.push((round, about));
    }

    pub(super) fn close(&mut self, round: Round, about: &About) {
        let place = self.open.iter().position(|open| open.0 == round && open.1 == *about);
        if let Some(place) = place {
            self.open.swap_remove(place);
        }
    }

    /// Whether this is being asked.
    pub(super) fn is_open(&self, about: &About) -> bool {
        self.open.iter().any(|open| open.1 == *about)
    }

    /// Whether all of this round and those before it is answered.
    pub(super) fn are_answered(&self, up_to: Round) -> bool {
        self.open.iter().all(|open| open.0 > up_to)
    }
}
