//! Switches from one chat to another. What is typed goes to the chat that the person means.
//!
//! Keys come before the widget's own messages: who asks for a new chat by keyboard may write into it
//! before it is shown. `chat.leave` says so the moment that they ask, and `chat.focus-message` puts the cursor
//! into the message at that moment.

use std::path::PathBuf;

use chat_core::event::SessionPlaceholder;
use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_core::session::EmptySession;
use relm4::gtk::gio;
use relm4::gtk::prelude::*;

use super::agent_bar::Next;
use super::chat_composer;
use super::find_bar;
use super::handle::Handle;
use super::shown_chat::ShownChat;
use super::{ChatWidget, Output};
use crate::composer::Composer;
use crate::free_memory;

/// The actions that a window activates at the moment of a key: `chat.leave` when its person asks for a new chat,
/// right before it tells `Input::Show` or `Input::ShowBeside`, and `chat.focus-message` when they want to write.
pub(super) fn add_actions(
    root: &gtk::Box,
    composer: &Composer,
    handle: Handle<chat_composer::Msg>,
) {
    let leave = gio::SimpleAction::new("leave", None);
    let left = composer.clone();
    leave.connect_activate(move |_, _| {
        handle.send(chat_composer::Msg::Left(left.take()));
    });
    let focus = gio::SimpleAction::new("focus-message", None);
    let composer = composer.clone();
    focus.connect_activate(move |_, _| composer.focus());
    let actions = gio::SimpleActionGroup::new();
    actions.add_action(&leave);
    actions.add_action(&focus);
    root.insert_action_group("chat", Some(&actions));
}

/// Where a chat works, and who does.
#[derive(Clone, Debug)]
pub(super) struct Workplace {
    agent: String,
    pub(super) project: PathBuf,
}

impl Workplace {
    /// Where this chat works, if it works in a folder.
    pub(super) fn of(shown: &ShownChat) -> Option<Self> {
        let project = shown.project()?.to_owned();
        Some(Self { agent: shown.agent().to_owned(), project })
    }

    /// The same of one that is not shown.
    pub(super) fn of_chat(chat: &SessionPlaceholder) -> Option<Self> {
        Some(Self { agent: chat.agent.clone(), project: chat.project.clone()? })
    }

    /// A new chat that works there. What its tools may do unasked is as ever in a new chat: what was
    /// allowed in one is not allowed in the next.
    fn taken_by(self, manager: &Manager) -> EmptySession {
        let new = manager.sessions().empty();
        let agents = manager.agent_kinds().of_project(Some(&self.project));
        let is_there = agents.iter().any(|info| info.name == self.agent);
        let agent = if is_there { self.agent } else { new.agent };
        EmptySession { agent, project: Some(self.project), ..new }
    }
}

impl ChatWidget {
    /// The chat is there that the person switched to, or nothing else is shown after all.
    fn arrive(&mut self) {
        while let Some(written) = self.composer.arrive() {
            self.submit(written, None);
        }
    }

    /// Brings this into sight as soon as the chat is there.
    pub(super) fn seek(&mut self, target: find_bar::Target) {
        self.find.set_target(target);
        if !self.shown.is_opening() {
            self.find.show_target();
        }
    }

    /// Remembers where the person reads in the chat that is shown. Whether that is new.
    pub(super) fn remember_position(&self) -> bool {
        let ShownChat::Open(session) = &self.shown else { return false };
        if self.conversation.session().as_ref() != Some(&session.fid) {
            return false;
        }
        let place = self.conversation.reading_position();
        // A chat that was left before it was drawn keeps the place that it had.
        let is_known = place.is_some() || self.conversation.is_at_end();
        is_known && self.reading.set(&session.fid, place)
    }

    /// Shows a new chat that works where the shown one does, as soon as that is known.
    pub(super) fn show_next(&mut self) {
        self.recalled = None;
        if let Next::At(place) = self.agents.next_workplace(&self.shown) {
            self.show(None, place);
        }
    }

    /// Shows a new chat that is kept in memory alone and works where the shown one does.
    pub(super) fn show_temporary(&mut self) {
        self.recalled = None;
        let place = Workplace::of(&self.shown);
        self.show_as(None, place, true);
    }

    /// Shows a chat: at once where it is new, otherwise as soon as it is read. A new one may work at this place.
    pub(super) fn show(&mut self, fid: Option<Fid>, place: Option<Workplace>) {
        self.show_as(fid, place, false);
    }

    fn show_as(&mut self, fid: Option<Fid>, place: Option<Workplace>, temporary: bool) {
        self.agents.forget_next();
        let Some(manager) = self.manager.clone() else {
            if fid.is_none()
                && let ShownChat::New(session) = &mut self.shown
                && session.temporary != temporary
            {
                // It is not saved, however early it was asked for.
                session.temporary = temporary;
                self.composer.switch_to(temporary.then(chat_composer::new_temporary));
                self.show_state();
            }
            self.wanted = fid;
            if self.composer.is_switching() {
                self.arrive();
            }
            return;
        };
        if fid.is_some() && fid.as_ref() == self.shown.fid() {
            if self.composer.is_switching() {
                self.arrive();
            }
            return;
        }
        if std::mem::take(&mut self.noted) {
            self.handle.output(Output::ChatNoteOver);
        }
        if let Some(fid) = &fid {
            self.diagnostics.switch_began(fid.as_str());
        }
        let written_for =
            if temporary { Some(chat_composer::new_temporary()) } else { fid.clone() };
        self.composer.switch_to(written_for);
        self.escape_key.forget();
        if self.remember_position() {
            let reading = self.reading.clone();
            self.handle.run_blocking(move || reading.write());
        }
        self.find.leave_for(fid.clone());
        if let (Some(bridge), Some(old)) = (&self.bridge, self.shown.fid()) {
            bridge.close(old.clone());
            free_memory::give_back_soon();
        }
        self.shown = match fid.clone() {
            None => {
                let new = place
                    .map_or_else(|| manager.sessions().empty(), |place| place.taken_by(&manager));
                ShownChat::New(EmptySession { temporary, ..new })
            }
            Some(fid) => {
                if let Some(bridge) = &self.bridge {
                    bridge.open(fid.clone(), self.reading.messages_to_open(&fid));
                }
                ShownChat::Opening(fid)
            }
        };
        if fid.is_none() {
            self.conversation.clear();
            self.show_work();
        }
        // Whether the rest of the window gives the keyboard away is its own affair.
        if !self.layout.has_focus_elsewhere() {
            self.composer.field().focus();
        }
        self.handle.output(Output::Shown(fid));
        self.show_review();
        self.show_state();
        self.arrive();
    }
}
