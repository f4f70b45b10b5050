//! Decides which request of a connection goes out next.

use std::collections::VecDeque;

use super::Priority;
use crate::message::Fid;

/// A request, by the order in which they came.
pub(super) type Id = u64;

/// How many requests of shown chats may go out in a row before others get a turn: several shown
/// chats at work would hold up all others for good.
pub(super) const SHOWN_IN_A_ROW: u32 = 8;

/// The requests of a connection: those that wait, and those that have a slot.
///
/// Replies go before work in the background. Of the replies those of shown chats go first, in the
/// order in which they came. The others take turns by tree, and in a tree go in the order in which
/// they came. A tree that joins is the last one to get its turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// In the order in which they came.
    waiting: Vec<Waiting>,
    holding: Vec<Holding>,
    /// The trees with replies that wait. The first one gets the next turn.
    trees: VecDeque<Fid>,
    /// How many shown requests went out since another one did, though others waited.
    shown_in_a_row: u32,
}

#[derive(Clone, Debug)]
struct Waiting {
    id: Id,
    tree: Fid,
    priority: Priority,
}

#[derive(Clone, Debug)]
struct Holding {
    id: Id,
    priority: Priority,
    revoked: bool,
}

impl Order {
    /// A request joins the queue.
    pub fn arrive(&mut self, id: Id, tree: &Fid, priority: Priority) {
        if priority == Priority::Reply && !self.trees.contains(tree) {
            self.trees.push_back(tree.clone());
        }
        self.waiting.push(Waiting { id, tree: tree.clone(), priority });
    }

    /// A request leaves the queue, or gives its slot back.
    pub fn leave(&mut self, id: Id) {
        self.holding.retain(|holding| holding.id != id);
        if let Some(at) = self.waiting.iter().position(|waiting| waiting.id == id) {
            self.take(at);
        }
    }

    /// The requests that wait, in the order in which they came.
    pub fn waiting(&self) -> impl Iterator<Item = Id> {
        self.waiting.iter().map(|waiting| waiting.id)
    }

    /// Gives away the slots that are free, and returns who got one, in order.
    pub fn admit(&mut self, limit: usize, is_shown: &dyn Fn(Id) -> bool) -> Vec<Id> {
        let mut admitted = Vec::new();
        while self.holding.len() < limit
            && let Some(Waiting { id, priority, .. }) = self.next(is_shown)
        {
            self.holding.push(Holding { id, priority, revoked: false });
            admitted.push(id);
        }
        admitted
    }

    /// Has work in the background give its slots back to the replies that wait, the newest first.
    /// Returns whose they are. Each is named once.
    pub fn revoke(&mut self) -> Vec<Id> {
        let wanted = self.waiting.iter().filter(|it| it.priority == Priority::Reply).count();
        let under_way = self.holding.iter().filter(|holding| holding.revoked).count();
        let mut revoked = Vec::new();
        let background = self.holding.iter_mut().rev();
        let background = background.filter(|it| it.priority == Priority::Background && !it.revoked);
        for holding in background.take(wanted.saturating_sub(under_way)) {
            holding.revoked = true;
            revoked.push(holding.id);
        }
        revoked
    }

    /// The requests that wait, in the order in which they would get slots.
    pub fn line(&self, is_shown: &dyn Fn(Id) -> bool) -> Vec<Id> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        self.clone().admit(usize::MAX, is_shown)
    }

    fn next(&mut self, is_shown: &dyn Fn(Id) -> bool) -> Option<Waiting> {
        let is_reply = |it: &&Waiting| it.priority == Priority::Reply;
        let shown = self.waiting.iter().filter(is_reply).find(|it| is_shown(it.id));
        let other = |tree: &Fid| {
            let mut replies = self.waiting.iter().filter(is_reply);
            replies.find(|it| it.tree == *tree && !is_shown(it.id)).map(|it| it.id)
        };
        let others = self.trees.iter().enumerate().find_map(|(at, tree)| Some((at, other(tree)?)));
        match (shown.map(|it| it.id), others) {
            (None, None) => (!self.waiting.is_empty()).then(|| self.waiting.remove(0)),
            (Some(shown), None) => {
                self.shown_in_a_row = 0;
                self.take_by_id(shown)
            }
            (Some(shown), Some(_)) if self.shown_in_a_row < SHOWN_IN_A_ROW => {
                self.shown_in_a_row += 1;
                self.take_by_id(shown)
            }
            (_, Some((turn, id))) => {
                self.shown_in_a_row = 0;
                // Its tree had its turn.
                if let Some(tree) = self.trees.remove(turn) {
                    self.trees.push_back(tree);
                }
                self.take_by_id(id)
            }
        }
    }

    fn take_by_id(&mut self, id: Id) -> Option<Waiting> {
        let at = self.waiting.iter().position(|waiting| waiting.id == id)?;
        Some(self.take(at))
    }

    fn take(&mut self, at: usize) -> Waiting {
        let taken = self.waiting.remove(at);
        let mut replies = self.waiting.iter().filter(|it| it.priority == Priority::Reply);
        if !replies.any(|it| it.tree == taken.tree) {
            self.trees.retain(|tree| *tree != taken.tree);
        }
        taken
    }
}

#[cfg(test)]
mod tests;
