//! Decides from when on keys answer a question: not before the user has seen it, and not while they are
//! still typing something else.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// How long nothing may be typed after a question appeared, until keys answer it.
const PAUSE: Duration = Duration::from_millis(400);

/// The time after a question appeared in which keys do not answer it.
#[derive(Debug)]
pub(super) struct Quiet {
    until: Instant,
}

impl Quiet {
    /// A question has appeared.
    pub(super) fn begin() -> Self {
        Self { until: Instant::now() + PAUSE }
    }

    /// Waits until [`is_over`](Self::is_over) can say whether it is over. Cancel-safe.
    pub(super) async fn elapsed(&self) {
        sleep_until(self.until).await;
    }

    /// Whether it is over, if this was typed meanwhile. Otherwise it begins again.
    pub(super) fn is_over(&mut self, typed: &str) -> bool {
        let is_over = typed.is_empty() && Instant::now() >= self.until;
        if !is_over {
            *self = Self::begin();
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::{advance, timeout};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn keys_answer_only_after_a_pause() {
        let mut quiet = Quiet::begin();
        advance(Duration::from_millis(399)).await;
        assert!(timeout(Duration::ZERO, quiet.elapsed()).await.is_err());
        quiet.elapsed().await;
        // What was typed in that time is no answer, and the next keys may belong to it.
        assert!(!quiet.is_over("y\n"));
        assert!(timeout(Duration::from_millis(399), quiet.elapsed()).await.is_err());
        quiet.elapsed().await;
        assert!(!quiet.is_over("hhhh"));
        quiet.elapsed().await;
        assert!(quiet.is_over(""));
    }
}
