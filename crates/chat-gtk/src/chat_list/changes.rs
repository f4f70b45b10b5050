//! Takes in what happened to chats, and keeps in place what the user looks at.

use chat_core::event::Event;

use super::ChatList;
use super::view::{Sight, View};

impl ChatList {
    /// Shows the state of the chats after these events.
    pub(super) fn apply(&mut self, events: Vec<Event>, view: &View) {
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
pub(super) fn news(events: &[Event]) -> Vec<Event> {
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
