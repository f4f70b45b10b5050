//! Holds what all sessions of a tree share: which of them wait for others, which may work now, and what
//! they may still spend. It is only in memory, so each start of the program begins with a full budget.

pub(crate) mod budget;
mod waits;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat_permission::Rule;
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use self::budget::Budget;
use self::waits::Waits;
use crate::message::{Fid, MessageId};

/// The tree of a session. All its members have the same.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    state: Mutex<TreeState>,
    /// Rung when a place is given back.
    freed: Notify,
    /// Rung when a session waits no more for another, when a halt is taken back, when one is deleted, and
    /// when the end of an agent is no longer awaited.
    changed: Notify,
    /// Held while an agent is made, so that those that are there can be counted.
    pub(crate) making: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct TreeState {
    waits: Waits,
    /// The agents that work, each with how often it was given work.
    working: HashMap<Fid, usize>,
    budget: Budget,
    /// The reports that somebody is about to tell.
    claimed: HashMap<MessageId, Claim>,
    /// The reports whose recipient knows that the agent was stopped before it began what they are about.
    noticed: HashSet<MessageId>,
    /// How many ends of agents are waited for, each until whoever hears of it has gone on.
    awaited: usize,
    /// The rules that the user gave with a message since the program started, each with the session that got it.
    given: HashSet<(Fid, Rule)>,
}

/// Who is about to tell a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// Whoever holds the [claims](Claims).
    Held,
    /// The result of a call that has ended. The report is owed until that is stored.
    Carried,
}

impl Tree {
    fn lock(&self) -> MutexGuard<'_, TreeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes rules that the user gave with a message to a session, which has them. They hold for the agents below it,
    /// too, until the program ends.
    pub(super) fn give(&self, fid: &Fid, rules: &[Rule]) {
        self.lock().given.extend(rules.iter().map(|rule| (fid.clone(), rule.clone())));
    }

    /// Whether the user gave a rule with a message to this session.
    pub(super) fn is_given(&self, fid: &Fid, rule: &Rule) -> bool {
        self.lock().given.contains(&(fid.clone(), rule.clone()))
    }

    /// Notes that a session waits for others, until the guard is dropped.
    ///
    /// # Errors
    /// One of them waits for it already: the members of that circle, the first again at the end.
    pub(crate) fn wait_for(
        self: &Arc<Self>,
        waiter: &Fid,
        targets: &[Fid],
    ) -> Result<WaitsFor, Vec<Fid>> {
        let mut state = self.lock();
        for target in targets {
            if let Some(circle) = state.waits.circle(waiter, target) {
                return Err(circle);
            }
        }
        for target in targets {
            state.waits.add(waiter, target);
        }
        Ok(WaitsFor { tree: Arc::clone(self), waiter: waiter.clone(), targets: targets.to_vec() })
    }

    /// Whether one waits for the end of another's work. Where a parent does, it gets the report that way.
    pub(crate) fn waits(&self, waiter: &Fid, target: &Fid) -> bool {
        self.lock().waits.has(waiter, target)
    }

    /// No claims yet.
    pub(crate) fn claims(self: &Arc<Self>) -> Claims {
        Claims { tree: Arc::clone(self), ids: Vec::new() }
    }

    /// Whether somebody is about to tell a report.
    pub(crate) fn is_claimed(&self, report: MessageId) -> bool {
        self.lock().claimed.contains_key(&report)
    }

    /// Whether the result of a call that has ended carries a report.
    pub(crate) fn is_carried(&self, report: MessageId) -> bool {
        self.lock().claimed.get(&report) == Some(&Claim::Carried)
    }

    /// Forgets who was about to tell reports: they are owed no more.
    pub(crate) fn settle(&self, reports: impl IntoIterator<Item = MessageId>) {
        let mut state = self.lock();
        for report in reports {
            state.claimed.remove(&report);
        }
    }

    /// Notes that the recipients of reports know that the agent was stopped before it began what they are about.
    pub(super) fn note_noticed(&self, reports: Vec<MessageId>) {
        self.lock().noticed.extend(reports);
    }

    /// Whether that is so.
    pub(super) fn is_noticed(&self, report: MessageId) -> bool {
        self.lock().noticed.contains(&report)
    }

    /// Notes that the end of an agent is waited for, until the guard is dropped.
    pub(crate) fn await_end(self: &Arc<Self>) -> AwaitsEnd {
        self.lock().awaited += 1;
        AwaitsEnd(Arc::clone(self))
    }

    /// Whether the end of an agent is waited for, by which a session goes on.
    pub(crate) fn awaits_ends(&self) -> bool {
        self.lock().awaited > 0
    }

    /// Resolves once a session waits no more, is no longer halted, or is deleted.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Wakes all that wait for such a [change](Self::changed).
    pub(crate) fn tell_changed(&self) {
        self.changed.notify_waiters();
    }

    /// Whether nobody waits for another, and nobody has a place.
    #[cfg(test)]
    pub(crate) fn is_at_rest(&self) -> bool {
        let state = self.lock();
        state.waits.is_empty() && state.working.is_empty()
    }

    /// Whether there is a place for one that does not work yet.
    pub(crate) fn has_place(&self, most: usize) -> bool {
        self.lock().working.len() < most
    }

    /// Gives an agent a place to work, if there is one. One that works already needs none.
    pub(crate) fn try_place(self: &Arc<Self>, fid: &Fid, most: usize) -> Option<Place> {
        let mut state = self.lock();
        if state.working.len() >= most && !state.working.contains_key(fid) {
            return None;
        }
        *state.working.entry(fid.clone()).or_default() += 1;
        Some(Place { tree: Arc::clone(self), fid: fid.clone() })
    }

    /// The same once there is one.
    pub(crate) async fn place(self: &Arc<Self>, fid: &Fid, most: usize) -> Place {
        loop {
            let freed = self.freed.notified();
            tokio::pin!(freed);
            freed.as_mut().enable();
            if let Some(place) = self.try_place(fid, most.max(1)) {
                return place;
            }
            freed.await;
        }
    }

    /// What the tree may still spend.
    pub(crate) fn budget<T>(&self, change: impl FnOnce(&mut Budget) -> T) -> T {
        change(&mut self.lock().budget)
    }
}

/// A session waits for others while this lives.
#[derive(Debug)]
pub(crate) struct WaitsFor {
    tree: Arc<Tree>,
    waiter: Fid,
    targets: Vec<Fid>,
}

impl Drop for WaitsFor {
    fn drop(&mut self) {
        let mut state = self.tree.lock();
        for target in &self.targets {
            state.waits.remove(&self.waiter, target);
        }
        drop(state);
        self.tree.tell_changed();
    }
}

/// Reports that nobody else tells while this lives.
#[derive(Debug)]
pub(crate) struct Claims {
    tree: Arc<Tree>,
    ids: Vec<MessageId>,
}

impl Claims {
    /// Claims reports too, all of them or none. Says whether it did: another one may have claimed them.
    pub(crate) fn add(&mut self, reports: &[MessageId]) -> bool {
        let mut state = self.tree.lock();
        if reports.iter().any(|report| state.claimed.contains_key(report)) {
            return false;
        }
        state.claimed.extend(reports.iter().map(|report| (*report, Claim::Held)));
        drop(state);
        self.ids.extend_from_slice(reports);
        true
    }

    /// Gives up those that are not in this list.
    pub(crate) fn keep(&mut self, reports: &[MessageId]) {
        let (kept, given_up): (Vec<_>, Vec<_>) =
            self.ids.drain(..).partition(|id| reports.contains(id));
        self.ids = kept;
        drop(Self { tree: Arc::clone(&self.tree), ids: given_up });
    }

    /// Leaves them to the result of a call: nothing else tells them before the next start.
    pub(crate) fn carry(mut self) {
        let mut state = self.tree.lock();
        for id in self.ids.drain(..) {
            state.claimed.insert(id, Claim::Carried);
        }
        drop(state);
        self.tree.tell_changed();
    }
}

impl Drop for Claims {
    fn drop(&mut self) {
        if self.ids.is_empty() {
            return;
        }
        let mut state = self.tree.lock();
        for id in &self.ids {
            state.claimed.remove(id);
        }
        drop(state);
        self.tree.tell_changed();
    }
}

/// The end of an agent is waited for while this lives.
#[derive(Debug)]
pub(crate) struct AwaitsEnd(Arc<Tree>);

impl Drop for AwaitsEnd {
    fn drop(&mut self) {
        self.0.lock().awaited -= 1;
        self.0.tell_changed();
    }
}

/// An agent's place to work, as long as it lives.
#[derive(Debug)]
pub(crate) struct Place {
    tree: Arc<Tree>,
    fid: Fid,
}

impl Drop for Place {
    fn drop(&mut self) {
        release(&mut self.tree.lock().working, &self.fid);
        self.tree.freed.notify_waiters();
    }
}

/// Counts one less.
fn release(counts: &mut HashMap<Fid, usize>, fid: &Fid) {
    if let Some(count) = counts.get_mut(fid) {
        *count -= 1;
        if *count == 0 {
            counts.remove(fid);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fid(name: &str) -> Fid {
        Fid::new(name)
    }

    #[tokio::test]
    async fn a_place_that_is_given_back_goes_to_one_who_waits() {
        let tree = Arc::new(Tree::default());
        let first = tree.try_place(&fid("a"), 1).unwrap();
        assert!(tree.try_place(&fid("b"), 1).is_none());
        let again = tree.try_place(&fid("a"), 1).unwrap();
        drop(first);
        let waits = tokio::spawn({
            let tree = Arc::clone(&tree);
            async move { tree.place(&fid("b"), 1).await }
        });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished(), "it has a second task");
        drop(again);
        let place = waits.await.unwrap();
        assert!(tree.try_place(&fid("a"), 1).is_none());
        drop(place);
        assert!(tree.try_place(&fid("a"), 1).is_some());
    }

    #[test]
    fn who_is_waited_for_is_known_until_the_last_waits_no_more() {
        let tree = Arc::new(Tree::default());
        let first = tree.wait_for(&fid("main"), &[fid("a"), fid("b")]).unwrap();
        let second = tree.wait_for(&fid("c"), &[fid("a")]).unwrap();
        assert_eq!(
            tree.wait_for(&fid("a"), &[fid("main")]).unwrap_err(),
            ["a", "main", "a"].map(fid)
        );
        let again = tree.wait_for(&fid("main"), &[fid("b")]).unwrap();
        drop(first);
        assert!(tree.waits(&fid("c"), &fid("a")) && !tree.waits(&fid("main"), &fid("a")));
        assert!(tree.waits(&fid("main"), &fid("b")));
        drop((second, again));
        assert!(tree.is_at_rest());
        assert!(tree.wait_for(&fid("a"), &[fid("main")]).is_ok());
    }
}
