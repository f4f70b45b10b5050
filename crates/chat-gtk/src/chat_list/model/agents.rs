//! The agents in the list: shown below their chat where that is open, and counted in its row.

use std::collections::HashSet;

use chat_core::event::Status;
use chat_core::message::{Fid, ReplyFailure};
use relm4::gtk::prelude::*;

use super::super::families::{AgentsBelow, TreePlace};
use super::super::item::ChatItem;
use super::{Model, items};

impl Model {
    /// All chats in the order of the list, and then archived ones and all agents, the newest first, whether
    /// their rows are shown or not.
    pub(super) fn everything(&self) -> Vec<ChatItem> {
        let chats = items(self.all()).filter(|item| self.is_top(item));
        let mut all: Vec<_> = chats.collect();
        let is_other = |item: &&ChatItem| !self.is_top(item) || self.place(item).is_none();
        let mut others: Vec<_> = self.items.values().filter(is_other).cloned().collect();
        others.sort_by_key(|item| std::cmp::Reverse(item.with(|session| session.updated)));
        all.extend(others);
        all
    }

    /// The title of a chat; that of an agent with its chat's.
    pub(super) fn full_title(&self, item: &ChatItem) -> String {
        let above = self.families.above(&item.fid());
        match above.last().and_then(|top| self.title(top)) {
            Some(top) => [item.title(), top].join(" · "),
            None => item.title(),
        }
    }

    /// The same of the chat with this id.
    pub(in super::super) fn full_title_of(&self, fid: &Fid) -> Option<String> {
        self.items.get(fid).map(|item| self.full_title(item))
    }

    /// Whether a row is that of a chat, not of an agent below one.
    pub(super) fn is_top(&self, item: &ChatItem) -> bool {
        item.with(|session| self.families.parent(&session.fid).is_none())
    }

    /// How many rows of agents follow the row of a chat.
    pub(super) fn rows_below(&self, position: u32) -> u32 {
        let rows = (position + 1..self.all().n_items()).map_while(|at| {
            let item = self.all().item(at).and_downcast::<ChatItem>()?;
            (!self.is_top(&item)).then_some(())
        });
        rows.count() as u32
    }

    /// Shows the agents of a chat or an agent, or hides them. Returns whether they were not so before.
    pub(in super::super) fn set_open(&mut self, fid: &Fid, is_open: bool) -> bool {
        if self.searching || !self.families.set_open(fid, is_open) {
            return false;
        }
        if let Some(item) = self.items.get(fid) {
            self.show_tree(item);
        }
        self.place_agents(fid);
        true
    }

    /// Whether the agents of a chat are shown; none where it has none.
    pub(in super::super) fn is_open(&self, fid: &Fid) -> Option<bool> {
        let has_agents = !self.searching && self.families.has_agents(fid);
        has_agents.then(|| self.families.is_open(fid))
    }

    /// The chat that an agent works for.
    pub(in super::super) fn parent(&self, fid: &Fid) -> Option<Fid> {
        self.families.parent(fid).cloned()
    }

    /// All that work for a chat.
    pub(in super::super) fn below(&self, fid: &Fid) -> Vec<Fid> {
        self.families.below(fid)
    }

    /// The chat in the next row, or else in the one before, that stays when these go with their agents.
    pub(in super::super) fn beside(&self, fid: &Fid, going: &[Fid]) -> Option<Fid> {
        let at = self.position(fid)?;
        let with_agents = going
            .iter()
            .flat_map(|fid| std::iter::once(fid.clone()).chain(self.families.below(fid)));
        let going: HashSet<Fid> = with_agents.collect();
        let others = (at + 1..self.selection.n_items()).chain((0..at).rev());
        others.filter_map(|at| self.fid_at(at)).find(|other| !going.contains(other))
    }

    /// Shows the row of an agent: all above it are opened.
    pub(in super::super) fn reveal(&mut self, fid: &Fid) {
        for above in self.families.above(fid).iter().rev() {
            self.set_open(above, true);
        }
    }

    /// Removes the row of a chat, if it has one, with those of its agents.
    pub(super) fn remove_row(&self, fid: &Fid) {
        let rows = std::iter::once(fid.clone()).chain(self.families.below(fid));
        for item in rows.filter_map(|fid| self.items.get(&fid)) {
            if let Some(position) = self.all().find(item) {
                self.all().remove(position);
            }
        }
    }

    /// Makes the rows below the chat that an agent is below of, or a chat's own, those that are to be
    /// shown. Rows that stay are left where they are: they keep the selection and the keyboard.
    pub(super) fn place_agents(&self, fid: &Fid) {
        let above = self.families.above(fid);
        let top = above.last().unwrap_or(fid);
        let Some(position) = self.items.get(top).and_then(|item| self.all().find(item)) else {
            return;
        };
        let wanted: Vec<ChatItem> = self
            .families
            .shown_below(top)
            .iter()
            .filter_map(|fid| self.items.get(fid).cloned())
            .collect();
        for item in wanted.iter().filter(|_| !self.searching) {
            item.set_surroundings(None, None);
            self.show_tree(item);
        }
        let first = position + 1;
        let there: Vec<ChatItem> = items(self.all())
            .skip(first as usize)
            .take(self.rows_below(position) as usize)
            .collect();
        let same = there.iter().zip(&wanted).take_while(|(old, new)| old == new).count();
        let ends = there[same..].iter().rev().zip(wanted[same..].iter().rev());
        let after = ends.take_while(|(old, new)| old == new).count();
        let gone = there.len() - same - after;
        let new = &wanted[same..wanted.len() - after];
        if gone > 0 || !new.is_empty() {
            self.all().splice(first + same as u32, gone as u32, new);
        }
    }

    /// Has the row of a chat say how it stands among others. Search results stand alone.
    pub(super) fn show_tree(&self, item: &ChatItem) {
        if self.searching {
            return;
        }
        let fid = item.fid();
        item.set_tree(TreePlace {
            depth: u32::try_from(self.families.above(&fid).len()).unwrap_or(u32::MAX),
            is_open: self.families.is_open(&fid),
            below: self.count_below(&fid),
        });
    }

    /// The same for an agent and all that it works for.
    pub(super) fn show_tree_above(&self, fid: &Fid) {
        let above = self.families.above(fid);
        for item in std::iter::once(fid).chain(&above).filter_map(|fid| self.items.get(fid)) {
            self.show_tree(item);
        }
    }

    fn count_below(&self, fid: &Fid) -> AgentsBelow {
        let mut below = AgentsBelow::default();
        if !self.families.has_agents(fid) {
            return below;
        }
        for item in self.families.below(fid).iter().filter_map(|fid| self.items.get(fid)) {
            below.count += 1;
            item.with(|agent| match (agent.status, agent.trouble) {
                (Status::NeedsInput, _) => below.asking += 1,
                (status, _) if status.is_busy() => below.working += 1,
                (_, Some(ReplyFailure::Interrupted)) => below.interrupted += 1,
                _ => {}
            });
        }
        below
    }
}

#[cfg(test)]
mod tests {
    use chat_presentation::search_words::TypedSearch;

    use super::super::tests::{rows, session};
    use super::*;

    /// The chats "new" and "old", of which the second has two agents, and the first of these has one.
    fn model() -> Model {
        let mut model = Model::new();
        model.fill(vec![
            session("aa", Some("a"), 9),
            session("a", Some("old"), 8),
            session("new", None, 7),
            session("b", Some("old"), 9),
            session("old", None, 1),
        ]);
        model
    }

    #[gtk::test]
    fn agents_move_with_their_chat_and_stay_in_order_below_it() {
        crate::init();
        let mut model = model();
        assert_eq!(rows(&model), ["new", "old"]);
        let old = Fid::new("old");
        assert!(model.set_open(&old, true));
        assert_eq!(rows(&model), ["new", "old", "a", "b"]);
        model.reveal(&Fid::new("aa"));
        assert_eq!(rows(&model), ["new", "old", "a", "aa", "b"]);
        assert!(!model.put(session("b", Some("old"), 99)), "it stays where it is");
        assert!(model.put(session("old", None, 100)));
        assert_eq!(rows(&model), ["old", "a", "aa", "b", "new"]);
        assert!(model.put(session("c", Some("old"), 101)));
        assert_eq!(rows(&model), ["old", "a", "aa", "b", "c", "new"]);
        let beside = |going: &[&str]| {
            let going: Vec<_> = going.iter().copied().map(Fid::new).collect();
            model.beside(&going[0], &going)
        };
        assert_eq!(beside(&["old"]), Some(Fid::new("new")), "its agents go with it");
        assert_eq!(beside(&["new", "old"]), None, "so do those of any other that goes");
        assert_eq!(beside(&["b", "c"]), Some(Fid::new("new")));
        model.remove(&Fid::new("a"));
        assert_eq!(rows(&model), ["old", "b", "c", "new"]);
        model.set_open(&old, false);
        assert_eq!(
            (rows(&model), model.position(&Fid::new("b"))),
            (vec!["old".to_owned(), "new".to_owned()], Some(0))
        );
    }

    #[gtk::test]
    fn a_deleted_chat_comes_back_with_its_agents_folded() {
        crate::init();
        let mut model = model();
        let all = ["old", "a", "b", "aa"].map(Fid::new);
        model.set_open(&all[0], true);
        for fid in &all {
            model.remove(fid);
        }
        assert_eq!(rows(&model), ["new"]);
        // Whoever comes first.
        for (name, parent) in
            [("a", Some("old")), ("aa", Some("a")), ("old", None), ("b", Some("old"))]
        {
            model.put(session(name, parent, 20));
        }
        assert_eq!(rows(&model), ["old", "new"]);
        let count = model.items[&all[0]].tree().below.count;
        assert_eq!((count, model.below(&all[0]).len()), (3, 3));
    }

    #[gtk::test]
    fn a_search_finds_agents_that_are_folded() {
        crate::init();
        let mut model = model();
        model.search_titles(&TypedSearch::of("aa"));
        assert_eq!(model.fid_at(0), Some(Fid::new("aa")));
        assert!(!model.set_open(&Fid::new("old"), true), "results stand alone");
        model.search_titles(&TypedSearch::default());
        assert_eq!(rows(&model), ["new", "old"]);
        assert_eq!(model.titles().last().map(|(_, title)| title.as_str()), Some("a · old"));
    }
}
