//! Takes in what happened to chats, and keeps in place what the user looks at.

use chat_core::event::Event;
use gtk::glib;
use relm4::ComponentSender;

use super::view::{Sight, View};
use super::{ChatList, Input, Output, tell};

/// How many events are taken in at once. Each new chat may need a row, and what hundreds of rows cost would
/// stop the window.
const AT_ONCE: usize = 32;

impl ChatList {
    /// Takes in what happened, a part at once.
    pub(super) fn hear(&mut self, events: Vec<Event>, view: &View, sender: &ComponentSender<Self>) {
        let goes_on = !self.backlog.is_empty();
        self.backlog.extend(events);
        if !goes_on {
            self.take_in(view, sender);
        }
    }

    /// Takes in the next part of what happened, and the rest when the window has nothing more urgent to do.
    pub(super) fn take_in(&mut self, view: &View, sender: &ComponentSender<Self>) {
        let events: Vec<Event> = self.backlog.drain(..self.backlog.len().min(AT_ONCE)).collect();
        let news = news(&events);
        self.apply(events, view);
        tell(sender, Output::Stirred(news));
        if !self.backlog.is_empty() {
            let input = sender.input_sender().clone();
            glib::idle_add_local_once(move || input.emit(Input::TakeIn));
        }
    }

    /// Shows the state of the chats after these events.
    fn apply(&mut self, events: Vec<Event>, view: &View) {
        if events.iter().any(|event| matches!(event, Event::AgentKindsChanged)) {
            view.colors().ask_again();
        }
        if events.iter().any(|event| matches!(event, Event::SettingsChanged)) {
            self.group_as_set(view);
        }
        let reordering = events.iter().filter(|event| self.model.is_reordered_by(event)).count();
        if reordering == 0 {
            for event in events {
                if let Event::SessionAdded(session) | Event::SessionChanged(session) = event {
                    self.model.put(session);
                }
            }
            return;
        }
        let before = view.sight(self.shown.as_ref());
        let held = before.under_pointer.as_ref().filter(|_| !before.at_top);
        if let Some(position) = held.and_then(|fid| self.model.position(fid)) {
            // From now on GTK keeps this row where it is.
            view.scroll_to(position);
        }
        let had_row = self.model.selected().is_some();
        let moved = if reordering == 1 {
            self.take_one_by_one(events)
        } else {
            let moved = self.model.rearrange(events);
            self.shown.as_ref().is_some_and(|shown| moved.contains(shown))
        };
        self.model.regroup();
        self.model.select(self.shown.as_ref());
        if self.query.is_empty() {
            self.keep_in_sight(&before, moved, had_row, view);
        }
    }

    /// Takes events of which at most one moves a row: no other row is touched. Returns whether the row
    /// of the current chat is new or has another place.
    fn take_one_by_one(&mut self, events: Vec<Event>) -> bool {
        let mut moved = false;
        for event in events {
            match event {
                Event::SessionAdded(session) | Event::SessionChanged(session) => {
                    let is_shown = self.shown.as_ref() == Some(&session.fid);
                    moved |= self.model.put(session) && is_shown;
                }
                Event::SessionRemoved { fid } => self.model.remove(&fid),
                _ => {}
            }
        }
        moved
    }

    /// Keeps what the user looks at in place after rows have come, gone or moved. GTK does so by
    /// itself, except at the top, where it would leave new rows out of sight. If the row of the
    /// current chat has moved, the list goes with it, but not away from the pointer.
    fn keep_in_sight(&self, before: &Sight, moved: bool, had_row: bool, view: &View) {
        let follows = !had_row || before.has_keyboard || before.sees_shown;
        if before.at_top {
            view.scroll_to(0);
        } else if let Some(position) = self.model.selected().filter(|_| moved && follows) {
            view.scroll_to(position);
        }
        if let Some(fid) = self.shown.clone().filter(|_| moved && before.has_keyboard) {
            view.focus_row_later(fid);
        }
    }
}

/// Events that matter outside the list: the states of chats, and what ended.
fn news(events: &[Event]) -> Vec<Event> {
    let is_news = |event: &&Event| {
        matches!(
            event,
            Event::SessionAdded(_)
                | Event::SessionChanged(_)
                | Event::SessionRemoved { .. }
                | Event::ApprovalsChanged { .. }
                | Event::RequestFinished { .. }
                | Event::SettingsChanged
        )
    };
    events.iter().filter(is_news).cloned().collect()
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use chat_core::event::SessionPlaceholder;
    use chat_core::message::{Fid, SessionMeta};
    use jiff::{Timestamp, ToSpan};
    use relm4::gtk::prelude::*;
    use relm4::{Component, ComponentController};

    use super::*;
    use crate::main_loop::until;

    /// A chat that was last active so many hours after the epoch.
    fn chat(hours: i64) -> SessionPlaceholder {
        let time = Timestamp::UNIX_EPOCH + hours.hours();
        let fid = Fid::new(format!("{hours:04}"));
        SessionMeta {
            title: fid.to_string(),
            fid,
            created: time,
            updated: time,
            ..SessionMeta::default()
        }
        .into()
    }

    #[gtk::test]
    fn hundreds_of_new_chats_are_taken_in_part_by_part() {
        const CHATS: i64 = 865;
        crate::init();
        let news = Rc::new(RefCell::new(Vec::new()));
        let heard = Rc::clone(&news);
        let list = ChatList::builder().launch(()).connect_receiver(move |_, output| {
            if let Output::Stirred(events) = output {
                heard.borrow_mut().push(events);
            }
        });
        let shown = chat(400);
        // They come in no order of time; 7 and 866 have no common divisor.
        let order: Vec<i64> = (0..=CHATS).map(|at| at * 7 % (CHATS + 1)).collect();
        let others = order.iter().filter(|hours| **hours != 400);
        let growth = Rc::new(RefCell::new(Vec::new()));
        {
            let mut parts = list.state().get_mut();
            let list = &mut parts.model;
            list.early = None;
            list.shown = Some(shown.fid.clone());
            list.model.put(shown.clone());
            list.model.select(Some(&shown.fid));
            let steps = Rc::clone(&growth);
            list.model.selection.connect_items_changed(move |_, _, removed, added| {
                steps.borrow_mut().push(i64::from(added) - i64::from(removed));
            });
            list.backlog.extend(others.clone().map(|hours| Event::SessionAdded(chat(*hours))));
        }
        list.emit(Input::TakeIn);
        until("all chats", || list.model().backlog.is_empty());

        let parts = AT_ONCE as i64;
        let growth = growth.take();
        assert!(growth.iter().all(|rows| (1..=parts).contains(rows)), "{growth:?}");
        assert_eq!(growth.iter().sum::<i64>(), CHATS);
        assert_eq!(growth.len() as i64, (CHATS + parts - 1) / parts, "each part is one step");
        let model = &list.model().model;
        let rows: Vec<_> = (0..model.selection.n_items()).map(|at| model.fid_at(at)).collect();
        assert!(rows.is_sorted_by(|one, other| one > other), "{rows:?}");
        assert_eq!(model.selected().and_then(|at| model.fid_at(at)), Some(shown.fid.clone()));
        until("all news", || news.borrow().iter().flatten().count() as i64 == CHATS);
        let told = news.take().into_iter().flatten().map(|event| match event {
            Event::SessionAdded(chat) => chat.fid.clone(),
            other => panic!("{other:?}"),
        });
        assert!(told.eq(others.map(|hours| chat(*hours).fid.clone())), "in another order");
    }
}
