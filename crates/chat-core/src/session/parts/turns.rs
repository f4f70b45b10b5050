//! The turns of a session: the one at work, what it does, and what is about to begin.

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::event::{SessionEvent, Stage, Status};

/// Which turn of its session this is, counted since the session was loaded. Whatever comes from one
/// that is not at work any more is ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TurnId(u64);

/// The turn at work, if any, and the requests that are about to begin one.
#[derive(Default)]
pub(crate) struct Turns {
    /// The request at work, from its beginning to its end.
    active: Option<ActiveTurn>,
    /// The last one that began.
    last: TurnId,
    stage: Stage,
    /// Stops the requests that are about to begin, each of which has a child of it: a stop may come
    /// while they wait for servers or are being stored.
    starting: CancellationToken,
}

struct ActiveTurn {
    id: TurnId,
    since: Timestamp,
    /// What its replies cost so far, in tokens.
    tokens: u64,
    cancel: CancellationToken,
    /// Whether it was stopped for a message that waits and goes out next.
    interrupted: bool,
}

impl Turns {
    /// A turn begins; this stops it.
    pub(crate) fn begin(&mut self, cancel: CancellationToken) -> TurnId {
        let id = TurnId(self.last.0 + 1);
        self.last = id;
        let since = Timestamp::now();
        self.active = Some(ActiveTurn { id, since, tokens: 0, cancel, interrupted: false });
        id
    }

    /// The turn at work has ended.
    pub(crate) fn end(&mut self) -> Option<SessionEvent> {
        self.active = None;
        self.set_stage(Stage::Idle)
    }

    /// Whether this turn is at work.
    pub(crate) fn is_active(&self, turn: TurnId) -> bool {
        self.active.as_ref().is_some_and(|active| active.id == turn)
    }

    /// Whether one is at work.
    pub(crate) fn is_busy(&self) -> bool {
        self.active.is_some()
    }

    /// A reply of the turn at work cost so many tokens.
    pub(crate) fn spend(&mut self, tokens: u64) {
        if let Some(active) = &mut self.active {
            active.tokens = active.tokens.saturating_add(tokens);
        }
    }

    /// When the turn at work began, and how many tokens it cost so far.
    pub(crate) fn spent(&self) -> Option<(Timestamp, u64)> {
        self.active.as_ref().map(|active| (active.since, active.tokens))
    }

    pub(crate) fn stage(&self) -> &Stage {
        &self.stage
    }

    /// What the turn does now.
    pub(crate) fn set_stage(&mut self, stage: Stage) -> Option<SessionEvent> {
        if self.stage == stage {
            return None;
        }
        self.stage = stage.clone();
        Some(SessionEvent::StageChanged { stage })
    }

    /// What the list of chats shows of it; `asks` is whether something waits for the person.
    pub(crate) fn status(&self, asks: bool) -> Status {
        if !self.is_busy() {
            return Status::Idle;
        }
        match self.stage {
            _ if asks => Status::NeedsInput,
            Stage::Streaming | Stage::Looping | Stage::RunningTools => Status::Answering,
            Stage::Idle
            | Stage::Waiting { .. }
            | Stage::StartingServers { .. }
            | Stage::Preparing(_)
            | Stage::Compacting
            | Stage::RateLimited { .. } => Status::Waiting,
        }
    }

    /// What stops a request that begins from now on.
    pub(crate) fn starting(&self) -> CancellationToken {
        self.starting.child_token()
    }

    /// Stops the turn at work, or the requests that are about to begin.
    pub(crate) fn stop(&mut self) {
        match &mut self.active {
            Some(active) => {
                active.interrupted = false;
                active.cancel.cancel();
            }
            // Those that are made from now on are others.
            None => std::mem::take(&mut self.starting).cancel(),
        }
    }

    /// Stops the turn at work for what waits first, which goes out after it.
    pub(crate) fn interrupt(&mut self) {
        if let Some(active) = &mut self.active {
            active.interrupted = true;
            active.cancel.cancel();
        }
    }

    /// Whether the turn at work was stopped for what waits first.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.active.as_ref().is_some_and(|active| active.interrupted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_an_earlier_turn_is_not_from_the_one_at_work() {
        let mut turns = Turns::default();
        let first = turns.begin(CancellationToken::new());
        assert!(turns.is_active(first));
        turns.end();
        assert!(!turns.is_active(first) && !turns.is_busy());
        let second = turns.begin(CancellationToken::new());
        assert!(turns.is_active(second) && !turns.is_active(first));
        assert!(!Turns::default().is_active(TurnId::default()), "none is at work");
    }

    #[test]
    fn a_stop_ends_what_is_at_work_or_else_what_is_about_to_begin() {
        let mut turns = Turns::default();
        let before = turns.starting();
        turns.stop();
        assert!(before.is_cancelled());
        let (waits, works) = (turns.starting(), CancellationToken::new());
        assert!(!waits.is_cancelled(), "it came after the stop");
        turns.begin(works.clone());
        turns.stop();
        assert!(works.is_cancelled() && !waits.is_cancelled());
    }

    #[test]
    fn a_stop_after_an_interruption_lets_nothing_follow() {
        let mut turns = Turns::default();
        turns.interrupt();
        assert!(!turns.is_interrupted(), "nothing is at work");
        let works = CancellationToken::new();
        turns.begin(works.clone());
        turns.interrupt();
        assert!(works.is_cancelled() && turns.is_interrupted());
        turns.stop();
        assert!(!turns.is_interrupted());
        turns.interrupt();
        turns.end();
        turns.begin(CancellationToken::new());
        assert!(!turns.is_interrupted(), "that was the one before");
    }

    #[test]
    fn a_stage_is_told_once_and_gives_the_status() {
        let mut turns = Turns::default();
        assert!(turns.set_stage(Stage::Idle).is_none());
        assert_eq!(turns.status(true), Status::Idle, "nothing is at work");
        turns.begin(CancellationToken::new());
        assert_eq!(turns.status(false), Status::Waiting);
        assert!(turns.set_stage(Stage::Streaming).is_some());
        assert!(turns.set_stage(Stage::Streaming).is_none());
        assert_eq!(
            (turns.status(false), turns.status(true)),
            (Status::Answering, Status::NeedsInput)
        );
        assert!(turns.end().is_some());
        assert_eq!(turns.status(false), Status::Idle);
    }
}
