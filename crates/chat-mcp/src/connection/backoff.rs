//! Says when a server that died is started again.

use std::time::Duration;

/// So many times in a row it is started again by itself.
const TRIES: u32 = 6;
/// How long the first pause is; each is twice the one before.
const FIRST: Duration = Duration::from_secs(1);
/// Whoever ran so long did not die from being started.
const HEALTHY: Duration = Duration::from_mins(1);

/// Counts how often a server died.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// It failed after it had run so long. How long to wait before the next start; none if it is not started again.
    pub(super) fn failed_after(&mut self, ran: Duration) -> Option<Duration> {
        if ran >= HEALTHY {
            self.failures = 0;
        }
        self.failures += 1;
        (self.failures <= TRIES).then(|| FIRST * 2u32.pow(self.failures - 1))
    }

    /// Somebody wants it now.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end_and_a_healthy_server_begins_anew() {
        let mut backoff = Backoff::default();
        let pauses: Vec<_> = std::iter::from_fn(|| backoff.failed_after(Duration::ZERO))
            .map(|it| it.as_secs())
            .collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32]);
        assert_eq!(backoff.failed_after(HEALTHY), Some(FIRST));
        backoff.reset();
        assert_eq!(backoff.failed_after(Duration::ZERO), Some(FIRST));
    }
}
