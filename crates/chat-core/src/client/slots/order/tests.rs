//! Tests who gets the next slot: cases, and many random schedules.

use std::collections::{BTreeMap, HashSet};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::*;

fn tree(name: u64) -> Fid {
    Fid::new(name.to_string())
}

/// One slot, and requests in these trees that wait for it.
fn waiting(trees: &[u64]) -> Order {
    let mut order = Order::default();
    order.arrive(100, &tree(100), Priority::Reply);
    assert_eq!(order.admit(1, &|_| false), [100]);
    for (id, name) in (0..).zip(trees) {
        order.arrive(id, &tree(*name), Priority::Reply);
    }
    order
}

#[test]
fn trees_take_turns_and_in_a_tree_the_first_one_goes_first() {
    let order = waiting(&[1, 1, 1, 2, 3, 2]);
    assert_eq!(order.line(&|_| false), [0, 3, 4, 1, 5, 2]);
}

#[test]
fn a_tree_that_joins_is_the_last_to_get_its_turn() {
    let mut order = waiting(&[1, 1, 2]);
    order.leave(100);
    assert_eq!(order.admit(1, &|_| false), [0]);
    order.arrive(3, &tree(3), Priority::Reply);
    assert_eq!(order.line(&|_| false), [2, 1, 3]);
}

#[test]
fn shown_chats_go_first_and_do_not_use_up_the_turns_of_their_trees() {
    let order = waiting(&[1, 2, 2, 1, 3]);
    assert_eq!(order.line(&|id| id == 2 || id == 3), [2, 3, 0, 1, 4]);
}

#[test]
fn shown_chats_at_work_do_not_hold_up_the_others_for_good() {
    let mut order = waiting(&[1]);
    let mut holder = 100;
    for id in 1..=u64::from(SHOWN_IN_A_ROW) + 1 {
        // The next request of a shown chat is there before the last one ends.
        order.arrive(id, &tree(2), Priority::Reply);
        order.leave(holder);
        let next = order.admit(1, &|id| id != 0)[0];
        assert_eq!(next == 0, id > u64::from(SHOWN_IN_A_ROW), "{id}");
        holder = next;
    }
}

#[test]
fn work_in_the_background_goes_last_and_gives_its_slot_back() {
    let mut order = Order::default();
    for (id, priority) in [(0, Priority::Background), (1, Priority::Background)] {
        order.arrive(id, &tree(id), priority);
    }
    assert_eq!(order.admit(2, &|_| false), [0, 1]);
    assert!(order.revoke().is_empty(), "nobody waits");
    order.arrive(2, &tree(0), Priority::Background);
    assert!(order.revoke().is_empty(), "nobody waits for that");
    order.arrive(3, &tree(3), Priority::Reply);
    assert_eq!(order.line(&|_| false), [3, 2]);
    assert_eq!((order.revoke(), order.revoke()), (vec![1], vec![]), "once, and one is enough");
    order.leave(1);
    assert_eq!(order.admit(2, &|_| false), [3]);
    assert!(order.revoke().is_empty());
}

#[test]
fn a_lower_limit_takes_no_slot_away() {
    let mut order = Order::default();
    for id in 0..4 {
        order.arrive(id, &tree(id), Priority::Reply);
    }
    assert_eq!(order.admit(3, &|_| false), [0, 1, 2]);
    assert!(order.admit(1, &|_| false).is_empty());
    order.leave(0);
    order.leave(1);
    assert!(order.admit(1, &|_| false).is_empty());
    order.leave(2);
    assert_eq!(order.admit(1, &|_| false), [3]);
}

/// What a schedule knows about a request.
#[derive(Clone, Debug)]
struct Request {
    tree: u64,
    priority: Priority,
}

/// A schedule, and the promises that are checked after each of its steps.
struct Schedule {
    random: StdRng,
    order: Order,
    limit: usize,
    requests: BTreeMap<Id, Request>,
    holding: Vec<Id>,
    shown: HashSet<Id>,
    last: Id,
    /// How often each tree had its turn while another one waited that is not shown.
    overtaken: BTreeMap<(u64, u64), u32>,
    shown_in_a_row: u32,
}

impl Schedule {
    fn new(seed: u64) -> Self {
        Self {
            random: StdRng::seed_from_u64(seed),
            order: Order::default(),
            limit: 2,
            requests: BTreeMap::new(),
            holding: Vec::new(),
            shown: HashSet::new(),
            last: 0,
            overtaken: BTreeMap::new(),
            shown_in_a_row: 0,
        }
    }

    fn waiting(&self) -> impl Iterator<Item = (Id, &Request)> {
        let waits = move |(id, _): &(&Id, &Request)| !self.holding.contains(id);
        self.requests.iter().filter(waits).map(|(id, request)| (*id, request))
    }

    fn replies(&self, shown: bool) -> impl Iterator<Item = (Id, &Request)> {
        let is_reply = |(_, request): &(Id, &Request)| request.priority == Priority::Reply;
        self.waiting().filter(is_reply).filter(move |(id, _)| self.shown.contains(id) == shown)
    }

    fn arrive(&mut self) {
        self.last += 1;
        let tree = self.random.random_range(0..5);
        let background = self.random.random_bool(0.15);
        let priority = if background { Priority::Background } else { Priority::Reply };
        if self.random.random_bool(0.2) {
            self.shown.insert(self.last);
        }
        self.order.arrive(self.last, &super::tests::tree(tree), priority);
        self.requests.insert(self.last, Request { tree, priority });
    }

    fn leave(&mut self, id: Id) {
        self.order.leave(id);
        self.requests.remove(&id);
        self.holding.retain(|holding| *holding != id);
    }

    fn step(&mut self) {
        let ids: Vec<_> = self.requests.keys().copied().collect();
        match self.random.random_range(0..10) {
            0..4 => self.arrive(),
            4..7 => {
                if let Some(id) = self.holding.choose(&mut self.random).copied() {
                    self.leave(id);
                }
            }
            7 => {
                if let Some(id) = ids.choose(&mut self.random).copied() {
                    self.leave(id);
                }
            }
            8 => {
                if let Some(id) = ids.choose(&mut self.random).copied()
                    && !self.shown.remove(&id)
                {
                    self.shown.insert(id);
                }
            }
            _ => self.limit = self.random.random_range(1..5),
        }
        self.settle();
    }

    fn settle(&mut self) {
        self.forget_turns();
        let shown = self.shown.clone();
        let is_shown = |id| shown.contains(&id);
        let line = self.order.line(&is_shown);
        assert_eq!(line.len(), self.waiting().count(), "everybody stands in the line");
        let admitted = self.order.admit(self.limit, &is_shown);
        assert!(line.starts_with(&admitted), "{admitted:?} are not the first of {line:?}");
        for id in admitted {
            assert!(self.holding.len() < self.limit, "more than the limit");
            self.check_turn(id);
            self.holding.push(id);
        }
        let free = self.holding.len() < self.limit;
        assert!(!free || self.waiting().next().is_none(), "a slot is free, and somebody waits");
        for id in self.order.revoke() {
            assert!(self.holding.contains(&id));
            assert_eq!(self.requests[&id].priority, Priority::Background);
        }
    }

    /// This request is the right one to go next.
    fn check_turn(&mut self, id: Id) {
        let Request { tree, priority } = self.requests[&id].clone();
        let shown = self.replies(true).next().map(|(id, _)| id);
        let others = self.replies(false).count();
        if priority == Priority::Background {
            assert!(shown.is_none() && others == 0, "a reply goes first");
            return;
        }
        if self.shown.contains(&id) {
            assert_eq!(shown, Some(id), "of the shown ones the first goes first");
            self.shown_in_a_row = if others == 0 { 0 } else { self.shown_in_a_row + 1 };
            assert!(self.shown_in_a_row <= SHOWN_IN_A_ROW);
        } else {
            let in_a_row = std::mem::take(&mut self.shown_in_a_row);
            assert!(shown.is_none() || in_a_row == SHOWN_IN_A_ROW, "a shown one goes first");
            let same = self.replies(false).find(|(_, other)| other.tree == tree);
            assert_eq!(same.unwrap().0, id, "of a tree the first goes first");
            let waiting: HashSet<_> = self.replies(false).map(|(_, other)| other.tree).collect();
            for other in waiting.into_iter().filter(|other| *other != tree) {
                *self.overtaken.entry((other, tree)).or_default() += 1;
            }
            self.overtaken.retain(|(waits, _), _| *waits != tree);
        }
        let twice = self.overtaken.values().any(|times| *times > 1);
        assert!(!twice, "a tree had two turns before another had one");
    }

    /// Only turns while a tree waits count.
    fn forget_turns(&mut self) {
        let waiting: HashSet<_> = self.replies(false).map(|(_, it)| it.tree).collect();
        self.overtaken.retain(|(waits, _), _| waiting.contains(waits));
    }

    /// A request that stays gets a slot, whoever else comes.
    fn nobody_starves(&mut self) {
        let Some((id, request)) = self.replies(false).last() else { return };
        let (waits, tree) = (id, request.tree);
        let before = self.replies(false).filter(|(_, it)| it.tree == tree).count();
        let turns = 6 * (before + 1) * (SHOWN_IN_A_ROW as usize + 1) + self.waiting().count();
        for _ in 0..turns {
            self.arrive();
            if let Some(released) = self.holding.choose(&mut self.random).copied() {
                self.leave(released);
            }
            self.settle();
            if self.holding.contains(&waits) {
                return;
            }
        }
        panic!("it starves: {:?}", self.order);
    }
}

#[test]
fn five_hundred_random_schedules_keep_the_promises() {
    for seed in 0..500 {
        let mut schedule = Schedule::new(seed);
        for _ in 0..80 {
            schedule.step();
        }
        schedule.nobody_starves();
    }
}
