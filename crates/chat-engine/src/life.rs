//! Keeps the engine alive as long as a front end holds a lease.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// So long the first front end may take to come.
const FIRST: Duration = Duration::from_secs(20);
/// So long one that starts again may take.
const AGAIN: Duration = Duration::from_secs(2);

/// The leases, and the end.
#[derive(Debug)]
pub struct Life {
    held: watch::Sender<Held>,
    over: CancellationToken,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Held {
    leases: usize,
    /// Answers that are being read.
    work: usize,
    /// Whether there was a lease.
    begun: bool,
}

/// A front end's wish that the engine lives.
#[derive(Debug)]
pub struct Lease {
    life: Arc<Life>,
}

/// An answer that is being read.
#[derive(Debug)]
pub struct ActiveAnswer {
    life: Arc<Life>,
}

impl Life {
    /// Nobody holds a lease yet.
    pub fn new(over: CancellationToken) -> Arc<Self> {
        Arc::new(Self { held: watch::Sender::default(), over })
    }

    /// One more front end.
    pub fn lease(self: &Arc<Self>) -> Lease {
        self.held.send_modify(|held| {
            held.leases += 1;
            held.begun = true;
        });
        Lease { life: Arc::clone(self) }
    }

    /// One more answer.
    pub fn work(self: &Arc<Self>) -> ActiveAnswer {
        self.held.send_modify(|held| held.work += 1);
        ActiveAnswer { life: Arc::clone(self) }
    }

    /// Waits until nobody needs the engine, and ends it.
    pub async fn watch(&self) {
        let mut held = self.held.subscribe();
        loop {
            let now = *held.borrow_and_update();
            let needed = now.leases + now.work > 0;
            let patience = if now.begun { AGAIN } else { FIRST };
            tokio::select! {
                changed = held.changed() => {
                    if changed.is_err() {
                        return;
                    }
                }
                () = tokio::time::sleep(patience), if !needed => break,
            }
        }
        tracing::info!("nobody needs the engine any more");
        self.over.cancel();
    }
}

impl Lease {
    /// Resolves when the engine ends.
    pub async fn over(&self) {
        self.life.over.cancelled().await;
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.life.held.send_modify(|held| held.leases -= 1);
    }
}

impl Drop for ActiveAnswer {
    fn drop(&mut self) {
        self.life.held.send_modify(|held| held.work -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_engine_ends_when_the_last_lease_is_gone() {
        let over = CancellationToken::new();
        let life = Life::new(over.clone());
        let watching = tokio::spawn({
            let life = Arc::clone(&life);
            async move { life.watch().await }
        });
        let (first, second) = (life.lease(), life.lease());
        drop(first);
        tokio::time::sleep(FIRST * 2).await;
        assert!(!over.is_cancelled());
        drop(second);
        watching.await.unwrap();
        assert!(over.is_cancelled());
    }

    #[tokio::test(start_paused = true)]
    async fn an_engine_that_nobody_came_for_ends_too() {
        let over = CancellationToken::new();
        Life::new(over.clone()).watch().await;
        assert!(over.is_cancelled());
    }
}
