//! Limits how many requests a connection answers at the same time, and has those that wait take
//! turns.
//!
//! [`RequestSlots`] owns the queues of all connections. [`QueuedClient`] is a client that waits in
//! one of them before it sends. [`Order`] decides who is next, and knows neither time nor tasks.

mod order;
mod queued_client;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use self::order::{Id, Order};
use self::queued_client::QueuedClient;
use super::Client;
use crate::message::{Fid, ModelRef};
use crate::models::CONNECTION;
use crate::settings::{Connection, Settings};

/// How urgent a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Priority {
    /// Somebody waits for the reply.
    Reply,
    /// Nobody does. It goes out when no reply waits, and gives its slot back when one does.
    Background,
}

type IsShown = Arc<dyn Fn() -> bool + Send + Sync>;

/// Who sends requests.
#[derive(Clone)]
pub(crate) struct Requester {
    /// A session and all agents below it share one: they take turns with other trees.
    pub tree: Fid,
    /// How urgent its requests are.
    pub priority: Priority,
    /// Whether somebody looks at it now. Called without any lock of the queue, each time that the
    /// order may matter.
    pub is_shown: IsShown,
}

/// The requests that share a limit: those of a connection. The built-in engine answers each model
/// on its own, so there it is those of a model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Lane {
    connection: String,
    model: Option<String>,
}

impl Lane {
    /// The lane of a model's requests.
    pub(crate) fn of(model: &ModelRef) -> Self {
        let is_built_in = model.connection == CONNECTION;
        Self {
            connection: model.connection.clone(),
            model: is_built_in.then(|| model.model.clone()),
        }
    }

    fn limit(&self, settings: &Settings) -> usize {
        if self.model.is_some() {
            // As many as the engine answers by turns. More would wait there, in its order.
            return settings.engine.slots.clamp(1, Connection::MOST_REQUESTS) as usize;
        }
        let mut connections = settings.connections.iter();
        let known = connections.find(|connection| connection.name == self.connection);
        // Servers that were found on this machine are in no settings.
        known.map_or(Connection::REQUESTS, Connection::requests_at_once) as usize
    }
}

/// The queues of all connections. Clones share them.
///
/// None of its locks is held while [`Requester::is_shown`] is called. Nobody may hold a lock that
/// `is_shown` takes while a client of it, or one of its replies, is dropped.
#[derive(Clone, Default)]
pub(crate) struct RequestSlots(Arc<Mutex<Shared>>);

#[derive(Default)]
struct Shared {
    settings: Arc<Settings>,
    lanes: HashMap<Lane, Queue>,
    last: Id,
}

#[derive(Default)]
struct Queue {
    order: Order,
    requests: HashMap<Id, Queued>,
}

struct Queued {
    is_shown: IsShown,
    place: watch::Sender<Place>,
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// So many go before it.
    Waiting { before: u32 },
    /// It has a slot.
    Granted,
    /// It has a slot, and is to give it back.
    Revoked,
}

impl RequestSlots {
    /// A client whose requests wait for a slot before they are sent.
    pub(crate) fn client(
        &self,
        inner: Arc<dyn Client>,
        lane: Lane,
        requester: Requester,
    ) -> Arc<dyn Client> {
        Arc::new(QueuedClient { inner, slots: self.clone(), lane, requester })
    }

    /// Takes changed limits. Requests that were sent stay.
    pub(crate) fn take_settings(&self, settings: Arc<Settings>) {
        self.lock().settings = settings;
        self.settle_all();
    }

    /// Other sessions are shown now: tells those that wait where they are.
    pub(crate) fn settle_all(&self) {
        let lanes: Vec<_> = self.lock().lanes.keys().cloned().collect();
        for lane in &lanes {
            self.settle(lane);
        }
    }

    /// Joins the queue. The ticket leaves it, or gives the slot back, when it is dropped.
    fn enter(&self, lane: &Lane, requester: &Requester) -> Ticket {
        let (place, follow) = watch::channel(Place::Waiting { before: 0 });
        let id = {
            let mut shared = self.lock();
            shared.last += 1;
            let id = shared.last;
            let queue = shared.lanes.entry(lane.clone()).or_default();
            queue.order.arrive(id, &requester.tree, requester.priority);
            queue.requests.insert(id, Queued { is_shown: Arc::clone(&requester.is_shown), place });
            id
        };
        let ticket = Ticket { slots: self.clone(), lane: lane.clone(), id, place: follow };
        self.settle(lane);
        ticket
    }

    fn leave(&self, lane: &Lane, id: Id) {
        {
            let mut shared = self.lock();
            let Some(queue) = shared.lanes.get_mut(lane) else { return };
            queue.order.leave(id);
            queue.requests.remove(&id);
            if queue.requests.is_empty() {
                shared.lanes.remove(lane);
                return;
            }
        }
        self.settle(lane);
    }

    /// Gives free slots away, and tells everybody where they are.
    fn settle(&self, lane: &Lane) {
        let waiting: Vec<_> = {
            let shared = self.lock();
            let Some(queue) = shared.lanes.get(lane) else { return };
            let waiting = queue.order.waiting();
            waiting
                .filter_map(|id| Some((id, Arc::clone(&queue.requests.get(&id)?.is_shown))))
                .collect()
        };
        // Without the lock, since a session has its own. Whoever joins meanwhile settles again.
        let shown = waiting.iter().filter(|(_, is_shown)| is_shown()).map(|(id, _)| *id);
        let shown: HashSet<Id> = shown.collect();
        self.lock().settle(lane, &shown);
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    fn settle(&mut self, lane: &Lane, shown: &HashSet<Id>) {
        let limit = lane.limit(&self.settings);
        let Some(Queue { order, requests }) = self.lanes.get_mut(lane) else { return };
        let is_shown = |id: Id| shown.contains(&id);
        let tell = |id: Id, place: Place| {
            if let Some(request) = requests.get(&id) {
                request.place.send_if_modified(|known| std::mem::replace(known, place) != place);
            }
        };
        for id in order.admit(limit, &is_shown) {
            tell(id, Place::Granted);
        }
        for id in order.revoke() {
            tell(id, Place::Revoked);
        }
        for (before, id) in (0..).zip(order.line(&is_shown)) {
            tell(id, Place::Waiting { before });
        }
    }
}

/// A request's place in the queue, or its slot.
struct Ticket {
    slots: RequestSlots,
    lane: Lane,
    id: Id,
    place: watch::Receiver<Place>,
}

impl Ticket {
    /// Whether the request may be sent.
    fn is_granted(&self) -> bool {
        !matches!(*self.place.borrow(), Place::Waiting { .. })
    }

    /// Waits until the request may be sent.
    async fn granted(&mut self) {
        // The sender is in the queue as long as this ticket.
        let _ = self.place.wait_for(|place| !matches!(place, Place::Waiting { .. })).await;
    }

    /// Waits until the slot is to be given back.
    async fn revoked(&mut self) {
        let _ = self.place.wait_for(|place| *place == Place::Revoked).await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.slots.leave(&self.lane, self.id);
    }
}
