//! Takes many changes at once: the rows get their new order in one step, however many chats have moved. Those
//! that stay in the list keep the selection and the keyboard.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use chat_core::event::{Event, SessionPlaceholder};
use chat_core::message::Fid;

use super::super::item::ChatItem;
use super::{Model, items};

/// What a batch changes besides the chats themselves.
#[derive(Default)]
struct Batch {
    /// The chats that are new or were active, with the place of the last such event in the batch.
    renewed: HashMap<Fid, usize>,
    /// Those whose rows go, with those below them.
    gone: HashSet<Fid>,
}

impl Model {
    /// Takes what happened to chats. Returns those of them whose rows are new or have another place.
    pub(in super::super) fn rearrange(&mut self, events: Vec<Event>) -> HashSet<Fid> {
        let mut batch = Batch::default();
        for (at, event) in events.into_iter().enumerate() {
            match event {
                Event::SessionAdded(session) | Event::SessionChanged(session) => {
                    let fid = session.fid.clone();
                    if self.renew(session) {
                        batch.gone.remove(&fid);
                        batch.renewed.insert(fid, at + 1);
                    }
                }
                Event::SessionRemoved { fid } => {
                    batch.gone.extend(self.families.below(&fid));
                    batch.renewed.remove(&fid);
                    self.forget(&fid);
                    batch.gone.insert(fid);
                }
                _ => {}
            }
        }
        let before: Vec<ChatItem> = items(self.all()).collect();
        let after = self.in_order(&before, &batch);
        self.replace_rows(&before, &after);
        let is_renewed = |item: &ChatItem| item.with(|it| batch.renewed.contains_key(&it.fid));
        let places = |rows: &[ChatItem]| -> HashMap<Fid, usize> {
            let rows = rows.iter().enumerate().filter(|(_, item)| is_renewed(item));
            rows.map(|(at, item)| (item.fid(), at)).collect()
        };
        let (old, new) = (places(&before), places(&after));
        let moved = new.into_iter().filter(|(fid, at)| old.get(fid) != Some(at));
        moved.map(|(fid, _)| fid).collect()
    }

    /// Adds or updates a chat, but not its row. Returns whether that may have another place.
    fn renew(&mut self, session: SessionPlaceholder) -> bool {
        let (fid, parent) = (session.fid.clone(), session.parent.clone());
        let Some(item) = self.items.get(&fid).cloned() else {
            self.items.insert(fid.clone(), ChatItem::new(session));
            self.families.add(&fid, parent.as_ref());
            self.show_tree_above(&fid);
            for agent in self.families.below(&fid).iter().filter_map(|fid| self.items.get(fid)) {
                self.show_tree(agent);
            }
            return true;
        };
        let was = self.place(&item);
        item.set_session(session);
        let is_agent = self.families.parent(&fid).is_some();
        if is_agent {
            self.show_tree_above(&fid);
        }
        was != self.place(&item) && !is_agent
    }

    /// All rows in the order that they are to have: the chats by their places, each with the agents that
    /// are shown below it. Of equally new ones that comes first which was active last.
    fn in_order(&self, before: &[ChatItem], batch: &Batch) -> Vec<ChatItem> {
        let mut new: HashSet<&Fid> = batch.renewed.keys().collect();
        for item in before {
            item.with(|session| new.remove(&session.fid));
        }
        let stays = |item: &&ChatItem| {
            item.with(|it| self.items.contains_key(&it.fid) && !batch.gone.contains(&it.fid))
        };
        let mut tops: Vec<&ChatItem> = before
            .iter()
            .filter(stays)
            .chain(new.into_iter().filter_map(|fid| self.items.get(fid)))
            .filter(|item| self.is_top(item) && self.place(item).is_some())
            .collect();
        tops.sort_by_cached_key(|item| {
            let active = item.with(|session| batch.renewed.get(&session.fid).copied());
            (self.place(item), Reverse(active.unwrap_or_default()))
        });
        let mut rows = Vec::with_capacity(tops.len());
        for top in tops {
            rows.push(top.clone());
            let below = top.with(|session| self.families.shown_below(&session.fid));
            rows.extend(below.iter().filter_map(|fid| self.items.get(fid)).cloned());
        }
        rows
    }

    /// Replaces the rows between the first and the last that differ, in one step.
    fn replace_rows(&self, before: &[ChatItem], after: &[ChatItem]) {
        let start = before.iter().zip(after).take_while(|(old, new)| old == new).count();
        let ends = before[start..].iter().rev().zip(after[start..].iter().rev());
        let end = ends.take_while(|(old, new)| old == new).count();
        let (old, new) = (before.len() - end, after.len() - end);
        if start < old || start < new {
            self.all().splice(start as u32, (old - start) as u32, &after[start..new]);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use relm4::gtk::prelude::*;

    use super::super::tests::{rows, session};
    use super::*;

    fn changed(name: &str, parent: Option<&str>, minutes: i64) -> Event {
        Event::SessionChanged(session(name, parent, minutes))
    }

    /// As many chats, the newest first: "0", "1" and so on.
    fn model(count: i64) -> Model {
        let mut model = Model::new();
        let chat = |at: i64| session(&at.to_string(), None, count - at);
        model.fill((0..count).map(chat).collect());
        model.fill_rest();
        model
    }

    #[gtk::test]
    fn many_chats_that_end_at_once_are_put_in_order_in_one_step() {
        crate::init();
        let mut model = model(100);
        let chosen = Fid::new("70");
        model.select(Some(&chosen));
        let (steps, lost) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(false)));
        let count = Rc::clone(&steps);
        model.all().connect_items_changed(move |_, _, _, _| count.set(count.get() + 1));
        let is_lost = Rc::clone(&lost);
        model.selection.connect_selected_notify(move |selection| {
            is_lost.set(is_lost.get() || selection.selected() == gtk::INVALID_LIST_POSITION);
        });
        // Every second one ends, the oldest first.
        let ended: Vec<i64> = (0..100).rev().step_by(2).collect();
        let events = ended.iter().enumerate();
        let events = events.map(|(at, name)| changed(&name.to_string(), None, 200 + at as i64));
        let moved = model.rearrange(events.collect());
        assert_eq!(steps.get(), 1);
        assert!(!lost.get() && model.position(&chosen) == model.selected());
        let name = |at: &i64| at.to_string();
        let others = (0..100).filter(|at| !ended.contains(at)).collect::<Vec<_>>();
        let expected: Vec<_> = ended.iter().rev().chain(&others).map(name).collect();
        assert_eq!(rows(&model), expected);
        assert!(moved.contains(&Fid::new("99")) && !moved.contains(&chosen));

        // What changes nothing moves nothing.
        model.rearrange(vec![changed("0", None, 100), changed("2", None, 98)]);
        assert_eq!((steps.get(), rows(&model)), (1, expected));
    }

    #[gtk::test]
    fn a_batch_leads_where_single_events_lead() {
        crate::init();
        let events = || {
            vec![
                changed("2", None, 50),
                changed("a", Some("3"), 51),
                Event::SessionRemoved { fid: Fid::new("1") },
                changed("3", None, 50),
                changed("b", Some("a"), 52),
                changed("new", None, 2),
                changed("c", Some("later"), 53),
                changed("later", None, 3),
                changed("2", None, 54),
                Event::SessionRemoved { fid: Fid::new("4") },
                changed("d", Some("4"), 55),
            ]
        };
        let begin = || {
            let mut model = model(6);
            model.put(session("z", Some("3"), 1));
            model.put(session("y", Some("4"), 1));
            for open in ["3", "4"] {
                model.set_open(&Fid::new(open), true);
            }
            model
        };
        let (mut one, mut all) = (begin(), begin());
        for event in events() {
            match event {
                Event::SessionChanged(session) => {
                    one.put(session);
                }
                Event::SessionRemoved { fid } => one.remove(&fid),
                _ => {}
            }
        }
        all.rearrange(events());
        assert_eq!(rows(&all), rows(&one));
        let trees = |model: &Model| items(model.all()).map(|item| item.tree()).collect::<Vec<_>>();
        assert_eq!(trees(&all), trees(&one));
    }
}
