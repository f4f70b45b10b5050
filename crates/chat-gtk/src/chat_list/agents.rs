//! Opens and closes the rows of chats that have agents, by mouse and keyboard.

use chat_core::message::Fid;
use relm4::ComponentSender;

use super::view::View;
use super::{ChatList, Output, tell};

impl ChatList {
    /// Shows the agents of a chat, or hides them.
    pub(super) fn set_open(&mut self, fid: &Fid, is_open: bool, view: &View) {
        let had_keyboard = view.has_keyboard();
        if !self.model.set_open(fid, is_open) {
            return;
        }
        // Of an agent that is shown and has no row any more, the chat above it is marked.
        self.model.select(self.shown.as_ref());
        if had_keyboard {
            view.focus_row_later(fid.clone());
        }
    }

    /// Opens all above the current chat, if it is an agent. Search results stand alone.
    pub(super) fn reveal_shown(&mut self) {
        if let Some(shown) = &self.shown {
            self.model.reveal(shown);
        }
    }

    /// Shows the agents of a chat; of one that is open, goes to the first.
    pub(super) fn enter(&mut self, fid: &Fid, view: &View, sender: &ComponentSender<Self>) {
        match self.model.is_open(fid) {
            Some(false) => self.set_open(fid, true, view),
            Some(true) => {
                if let Some(first) = self.model.below(fid).into_iter().next() {
                    self.go_to(first, view, sender);
                }
            }
            None => {}
        }
    }

    /// Hides the agents of an open chat; from an agent, goes to the chat that it works for.
    pub(super) fn leave(&mut self, fid: &Fid, view: &View, sender: &ComponentSender<Self>) {
        if self.model.is_open(fid) == Some(true) {
            self.set_open(fid, false, view);
        } else if let Some(parent) = self.model.parent(fid) {
            self.go_to(parent, view, sender);
        }
    }

    /// Stops a chat, and the agents that it waits for.
    pub(super) fn stop(&self, fid: &Fid) {
        if let Some(manager) = &self.manager {
            manager.sessions().stop(fid);
        }
    }

    /// Shows a chat as the arrow keys do: the keyboard stays in the list.
    pub(super) fn go_to(&mut self, fid: Fid, view: &View, sender: &ComponentSender<Self>) {
        self.shown = Some(fid.clone());
        self.model.select(Some(&fid));
        view.focus_row(&fid);
        tell(sender, Output::Open { fid, found: None, forward: false });
    }
}
