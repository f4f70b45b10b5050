//! Tracks the progress and the speed of a download.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

/// The time over which the speed is measured.
const WINDOW: Duration = Duration::from_secs(5);
/// The shortest time between two reports: nobody reads faster.
pub(super) const PULSE: Duration = Duration::from_millis(250);

/// What a download does just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It asks the site what there is.
    Asking,
    /// It fetches.
    Fetching,
    /// It reads again what had arrived earlier, or makes sure that all is well.
    Checking,
    /// The connection broke; it rests before it goes on.
    Resting,
}

/// Shared by the download and those who look at it.
pub(in crate::models) struct Progress {
    now: Mutex<ProgressState>,
    /// Called when it is time to look again.
    tell: Box<dyn Fn() + Send + Sync>,
    /// Fired when all is over, and all files are let go of.
    over: CancellationToken,
}

#[derive(Debug)]
struct ProgressState {
    stage: Stage,
    received: u64,
    /// When there was how much, in the last seconds.
    samples: VecDeque<(Instant, u64)>,
}

/// A look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::models) struct ProgressSnapshot {
    pub stage: Stage,
    pub received: u64,
    /// Bytes in a second.
    pub speed: Option<u64>,
}

impl Progress {
    pub fn new(tell: impl Fn() + Send + Sync + 'static) -> Self {
        let now = ProgressState { stage: Stage::Asking, received: 0, samples: VecDeque::new() };
        Self { now: Mutex::new(now), tell: Box::new(tell), over: CancellationToken::new() }
    }

    /// Does something else from now on.
    pub fn enter(&self, stage: Stage) {
        let mut now = self.lock();
        let changed = std::mem::replace(&mut now.stage, stage) != stage;
        now.samples.clear();
        drop(now);
        if changed {
            (self.tell)();
        }
    }

    /// More bytes are here. Zero counts, too: the speed sinks while none arrive.
    pub fn add(&self, count: u64) {
        let mut now = self.lock();
        now.received += count;
        let (time, received) = (Instant::now(), now.received);
        if now.samples.back().is_some_and(|(last, _)| time - *last < PULSE) {
            return;
        }
        now.samples.push_back((time, received));
        while now.samples.front().is_some_and(|(first, _)| time - *first > WINDOW) {
            now.samples.pop_front();
        }
        drop(now);
        (self.tell)();
    }

    /// What had arrived of a file counts no longer.
    pub fn take_back(&self, count: u64) {
        let mut now = self.lock();
        now.received = now.received.saturating_sub(count);
        now.samples.clear();
    }

    /// All is over.
    pub fn end(&self) {
        self.over.cancel();
    }

    /// Waits until all is over.
    pub async fn ended(&self) {
        self.over.cancelled().await;
    }

    /// The progress now.
    pub fn snapshot(&self) -> ProgressSnapshot {
        let now = self.lock();
        let speed = match (now.samples.front(), now.samples.back()) {
            (Some((begin, from)), Some((end, to))) if end > begin => {
                Some(((to - from) as f64 / (*end - *begin).as_secs_f64()) as u64)
            }
            _ => None,
        };
        ProgressSnapshot { stage: now.stage, received: now.received, speed }
    }

    fn lock(&self) -> MutexGuard<'_, ProgressState> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.snapshot().fmt(f)
    }
}
