//! Keeps the chats of the list in their order: pinned ones first, archived ones left out.

use chat_core::event::SessionPlaceholder;
use chat_core::message::{Fid, SessionMeta};
use relm4::gtk::prelude::*;

use super::super::groups::{Grouping, Place};
use super::super::item::ChatItem;
use super::{Model, items};

impl Model {
    /// The place of a chat in the list; none if it is not in it.
    pub(super) fn place(&self, item: &ChatItem) -> Option<Place> {
        item.with(|session| self.place_of(session))
    }

    pub(super) fn place_of(&self, session: &SessionMeta) -> Option<Place> {
        Place::of(session, self.by_project)
    }

    /// Groups the chats by their projects, or by date. Returns whether they were not so before.
    pub(in super::super) fn set_by_project(&mut self, by_project: bool) -> bool {
        if self.by_project == by_project {
            return false;
        }
        self.by_project = by_project;
        self.rearrange(Vec::new());
        self.regroup();
        true
    }

    /// Those of these chats that are not archived yet, or that are, as is asked.
    pub(in super::super) fn not_yet(&self, mut chats: Vec<Fid>, archived: bool) -> Vec<Fid> {
        let is_so = |chat: SessionPlaceholder| chat.archived.is_some() == archived;
        chats.retain(|fid| self.session(fid).is_some_and(|chat| !is_so(chat)));
        chats
    }

    /// Inserts the row of a chat in order, with those of its agents that are shown. One that is archived
    /// has no row.
    pub(super) fn insert(&self, item: &ChatItem) {
        let Some(place) = self.place(item) else { return };
        let is_after =
            |other: &ChatItem| self.is_top(other) && self.place(other).is_none_or(|it| it >= place);
        let position = items(self.all()).position(|other| is_after(&other));
        let position = position.map_or(self.all().n_items(), |position| position as u32);
        self.all().insert(position, item);
        self.place_agents(&item.fid());
    }

    /// Whether a chat that has changed is still between the same neighbors. A row that is taken out
    /// and inserted again loses the selection and the keyboard.
    pub(super) fn is_in_order(&self, position: u32) -> bool {
        let row = |position: u32| self.all().item(position).and_downcast::<ChatItem>();
        let place = |item: &ChatItem| self.place(item);
        let Some(own) = row(position).as_ref().and_then(place) else { return false };
        let is_top = |item: &ChatItem| self.is_top(item);
        let before = (0..position).rev().filter_map(row).find(is_top).as_ref().map(place);
        let after = position + 1..self.all().n_items();
        let after = after.filter_map(row).find(is_top).as_ref().map(place);
        before.flatten().is_none_or(|before| before < own)
            && after.flatten().is_none_or(|after| after >= own)
    }

    /// Sets the headings where groups begin.
    pub(super) fn set_headings(&self, items: &[ChatItem]) {
        let grouping = Grouping::now(self.by_project);
        let mut last = None;
        for item in items {
            if item.tree().depth > 0 {
                item.set_surroundings(None, None);
                continue;
            }
            let group = item.with(|session| grouping.of(session));
            let heading = (last.as_ref() != Some(&group)).then(|| grouping.heading(&group));
            item.set_surroundings(heading, None);
            last = Some(group);
        }
    }
}

#[cfg(test)]
mod tests {
    use chat_core::event::Event;
    use jiff::Timestamp;

    use super::super::tests::{rows, session};
    use super::*;

    fn model() -> Model {
        let mut model = Model::new();
        model.fill((0..4).map(|at| session(&at.to_string(), None, 9 - at)).collect());
        model.fill_rest();
        model
    }

    fn pinned(name: &str, minutes: i64, second: i64) -> SessionPlaceholder {
        let mut chat = session(name, None, minutes);
        chat.pinned = Some(Timestamp::from_second(second).unwrap());
        chat
    }

    fn archived(name: &str, minutes: i64) -> SessionPlaceholder {
        let mut chat = session(name, None, minutes);
        chat.archived = Some(Timestamp::UNIX_EPOCH);
        chat
    }

    #[gtk::test]
    fn a_pinned_chat_stays_on_top_whatever_happens_in_others() {
        crate::init();
        let mut model = model();
        assert!(model.put(pinned("2", 7, 1)));
        assert!(model.put(pinned("3", 6, 2)));
        assert_eq!(rows(&model), ["2", "3", "0", "1"]);
        assert!(!model.put(pinned("3", 90, 2)), "activity moves no pinned chat");
        model.put(session("1", None, 99));
        assert_eq!(rows(&model), ["2", "3", "1", "0"]);
        model.regroup();
        let headings: Vec<_> = items(model.all()).map(|item| item.heading().is_some()).collect();
        assert_eq!(headings, [true, false, true, false]);
        model.put(session("2", None, 7));
        assert_eq!(rows(&model), ["3", "1", "0", "2"]);
    }

    #[gtk::test]
    fn an_archived_chat_has_no_row_and_is_found() {
        crate::init();
        let mut model = model();
        model.put(archived("1", 8));
        assert_eq!(rows(&model), ["0", "2", "3"]);
        assert_eq!(model.position(&Fid::new("1")), None);
        assert!(model.titles().iter().any(|(fid, _)| fid.as_str() == "1"));
        // One of many changes, too.
        let events = vec![
            Event::SessionChanged(archived("0", 9)),
            Event::SessionChanged(session("1", None, 8)),
            Event::SessionChanged(pinned("3", 6, 1)),
        ];
        model.rearrange(events);
        assert_eq!(rows(&model), ["3", "1", "2"]);
    }

    #[gtk::test]
    fn what_is_archived_already_is_not_archived_again() {
        crate::init();
        let mut model = model();
        model.put(archived("1", 8));
        let all = || ["0", "1", "2"].map(Fid::new).to_vec();
        assert_eq!(model.not_yet(all(), true), ["0", "2"].map(Fid::new));
        assert_eq!(model.not_yet(all(), false), [Fid::new("1")]);
    }

    #[gtk::test]
    fn chats_are_grouped_by_project_in_one_step() {
        crate::init();
        let mut model = model();
        for (name, project) in [("0", "/b"), ("1", "/a"), ("2", "/b")] {
            let mut chat = session(name, None, 9 - name.parse::<i64>().unwrap());
            chat.project = Some(project.into());
            model.put(chat);
        }
        let steps = std::rc::Rc::new(std::cell::Cell::new(0));
        let count = std::rc::Rc::clone(&steps);
        model.all().connect_items_changed(move |_, _, _, _| count.set(count.get() + 1));
        assert!(model.set_by_project(true) && !model.set_by_project(true));
        assert_eq!((rows(&model).join(""), steps.get()), ("1023".to_owned(), 1));
        model.set_by_project(false);
        assert_eq!(rows(&model), ["0", "1", "2", "3"]);
    }
}
