//! A subscriber's mailbox: what is new and not yet taken.

use super::Event;

/// A place among the Manager's subscribers. Dropping it ends the subscription.
///
/// What is not yet taken is kept as a set of what is dirty, so that it is bounded by what there is
/// to show, however slow the subscriber is.
#[derive(Debug)]
pub struct Subscription {}

impl Subscription {
    /// Waits until there is something, and takes all of it, in order. Cancel-safe: dropping the
    /// future loses nothing. Ends with none when the Manager is gone.
    pub async fn next(&mut self) -> Option<Vec<Event>> {
        todo!()
    }
}
