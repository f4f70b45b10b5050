//! What waits for the person in all sessions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::event::{Event, Hub, SessionApproval};
use crate::message::{ApprovalRequest, Fid};

/// What waits for the person, by session. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct WaitingApprovals(Arc<Mutex<BTreeMap<Fid, Vec<Arc<ApprovalRequest>>>>>);

impl WaitingApprovals {
    /// These wait in this session from now on, and no others of it. Tells all subscribers.
    pub(crate) fn set(&self, fid: &Fid, asks: Vec<Arc<ApprovalRequest>>, hub: &Hub) {
        let mut all = self.lock();
        if asks.is_empty() {
            all.remove(fid);
        } else {
            all.insert(fid.clone(), asks);
        }
        // Under the lock, so that the last event has the latest state.
        hub.tell(&Event::ApprovalsChanged { asks: listed(&all) });
    }

    /// Whether something waits in this session.
    pub(crate) fn has(&self, fid: &Fid) -> bool {
        self.lock().contains_key(fid)
    }

    /// All that waits, by session and in the order in which it was asked.
    pub(crate) fn all(&self) -> Vec<SessionApproval> {
        listed(&self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Fid, Vec<Arc<ApprovalRequest>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn listed(all: &BTreeMap<Fid, Vec<Arc<ApprovalRequest>>>) -> Vec<SessionApproval> {
    let of = |(fid, asks): (&Fid, &Vec<Arc<ApprovalRequest>>)| {
        let fid = fid.clone();
        asks.iter()
            .map(|ask| SessionApproval { fid: fid.clone(), ask: Arc::clone(ask) })
            .collect::<Vec<_>>()
    };
    all.iter().flat_map(of).collect()
}
