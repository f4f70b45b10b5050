//! Keeps what is typed: by chat, written when typing rests and when the program ends.

pub(super) mod outbox;

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use chat_core::error::Result;
use chat_core::message::{AskId, Fid};
use gtk::glib;
use tokio::sync::oneshot;

use super::chat_switching::Ahead;
use super::requests::is_gone;
use super::{ChatWidget, FrameMsg};
use crate::composer::Written;
use crate::drafts::Unwritten;
use outbox::Outgoing;

/// How long typing must rest before a draft is written.
const REST: Duration = Duration::from_millis(500);

/// How long the end waits for what is on its way to the engine.
const PATIENCE: Duration = Duration::from_secs(5);

/// What must be known for nothing that was typed to be lost.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    /// What was kept by an earlier run is still being read.
    is_reading: bool,
    /// What left the composer for the engine and is not on disk yet, by the number of its sending.
    pub(super) on_its_way: HashMap<u64, (Option<Fid>, Outgoing)>,
    /// How many were sent.
    pub(super) sent: u64,
    ending: Ending,
    /// Whether what was typed is written soon.
    has_timer: bool,
}

impl Keeping {
    /// `is_reading` says that there may be what an earlier run kept.
    pub(super) fn new(is_reading: bool) -> Self {
        Self { is_reading, ..Self::default() }
    }
}

/// The end of the program.
#[derive(Debug, Default)]
enum Ending {
    #[default]
    No,
    /// Somebody waits until all is written.
    Waits(oneshot::Sender<()>),
    /// All was written.
    Done,
}

impl ChatWidget {
    /// Keeps what is in the composer, and has it written soon.
    pub(super) fn draft_changed(&mut self) {
        // What is in the composer is for a chat that is not shown yet.
        if self.leaving {
            return;
        }
        let changed = self.drafts.set(self.shown.fid(), &self.composer.content());
        if changed {
            self.conversation.expect_reply();
        }
        if changed && !self.keeping.has_timer && self.draft_folder.is_some() {
            self.keeping.has_timer = true;
            let handle = self.handle.clone();
            glib::timeout_add_local_once(REST, move || handle.send(FrameMsg::WriteDrafts));
        }
    }

    /// What was kept is read. Somebody may have begun to write meanwhile.
    pub(super) fn drafts_came(&mut self, stored: HashMap<Option<Fid>, Written>) {
        self.keeping.is_reading = false;
        let shown = self.shown.fid().cloned();
        let draft = stored.get(&shown).cloned();
        self.drafts.absorb(stored);
        // What is in the composer of who leaves is for another chat, which comes with its own draft.
        if let Some(draft) = draft.filter(|_| !self.leaving) {
            let both = draft.followed_by(self.composer.content(), "\n");
            self.composer.set_content(&both);
            self.draft_changed();
        }
        self.write_drafts();
        self.finish_drafts();
    }

    /// Gives back what was not sent, to the chat that it was for, shown or not.
    pub(super) fn give_back(&mut self, fid: Option<&Fid>, written: &Written) {
        let shown = !self.leaving && self.shown.fid() == fid;
        if shown {
            self.drafts.set(fid, &self.composer.content());
        }
        self.drafts.give_back(fid, written);
        if shown {
            self.composer.set_content(self.drafts.get(fid));
        }
        self.write_drafts();
    }

    /// A message of the person was taken out of this chat: it can be written anew.
    pub(super) fn return_message(&mut self, fid: &Fid, written: &Written) {
        self.give_back(Some(fid), written);
        if self.shown.fid() == Some(fid) {
            self.composer.focus();
        }
    }

    /// What waits no longer needs no answer; what was typed for one is kept.
    pub(super) fn answered(&mut self, fid: &Fid, ask: AskId, result: Result<bool>) {
        let in_time = matches!(result, Ok(true));
        if let Some((session, text)) = self.conversation.answered(ask, in_time) {
            self.give_back(session.as_ref(), &Written::text(text));
        }
        if let Err(error) = result
            && !is_gone(&error)
        {
            self.handle.fail(Some(fid), error);
        }
    }

    pub(super) fn typing_rests(&mut self) {
        self.keeping.has_timer = false;
        self.write_drafts();
    }

    pub(super) fn write_drafts(&mut self) {
        let Some(folder) = self.draft_folder.clone() else { return };
        let unwritten = self.drafts.unwritten();
        // What was not read yet must not be written over, and the last to write is the end.
        if unwritten.is_empty() || self.keeping.is_reading || self.is_ending() {
            return;
        }
        self.handle.run_blocking(move || write(&unwritten, &folder));
    }

    /// The program ends: nothing is sent any more, and all that was typed is kept. What is on its way
    /// to the engine is waited for, since it may come back.
    pub(super) fn save_drafts(&mut self, saved: oneshot::Sender<()>) {
        self.keeping.ending = Ending::Waits(saved);
        let handle = self.handle.clone();
        glib::timeout_add_local_once(PATIENCE, move || handle.send(FrameMsg::NothingComes));
        self.finish_drafts();
    }

    /// What is on its way takes too long: it is kept, though it may have been sent.
    pub(super) fn nothing_comes(&mut self) {
        for (fid, outgoing) in std::mem::take(&mut self.keeping.on_its_way).into_values() {
            self.drafts.give_back(fid.as_ref(), &outgoing.written);
        }
        self.finish_drafts();
    }

    /// Whether the program ends, or has ended.
    pub(super) fn is_ending(&self) -> bool {
        !matches!(self.keeping.ending, Ending::No)
    }

    /// Writes all drafts for the last time, where the program ends and nothing is on its way.
    pub(super) fn finish_drafts(&mut self) {
        let is_waited_for = self.keeping.is_reading || !self.keeping.on_its_way.is_empty();
        if is_waited_for || !matches!(self.keeping.ending, Ending::Waits(_)) {
            return;
        }
        let Ending::Waits(saved) = std::mem::replace(&mut self.keeping.ending, Ending::Done) else {
            return;
        };
        let shown = self.shown.fid().cloned();
        let typed = self.composer.content();
        if self.leaving {
            self.keep_ahead(typed);
        } else {
            self.drafts.set(shown.as_ref(), &typed);
        }
        self.give_back_waiting(shown.as_ref());
        for (session, text) in self.conversation.take_typed() {
            self.drafts.give_back(session.as_ref(), &Written::text(text));
        }
        self.remember_place();
        let reading = self.reading.clone();
        let unwritten = self.drafts.unwritten();
        let folder = self.draft_folder.clone();
        self.handle.run_blocking(move || {
            if let Some(folder) = folder {
                write(&unwritten, &folder);
            }
            reading.write();
            // Who asked may have gone away meanwhile.
            let _ = saved.send(());
        });
    }

    /// What was typed for the new chat that the person turned to, and that will not be shown any more,
    /// is its draft.
    fn keep_ahead(&mut self, typed: Written) {
        let mut draft = self.drafts.get(None).clone();
        let mut unsent = Vec::new();
        for next in self.ahead.drain(..) {
            match next {
                Ahead::Left(written) => draft = draft.followed_by(written, ""),
                Ahead::Sent(written) => unsent.push(written),
            }
        }
        self.drafts.set(None, &draft.followed_by(typed, ""));
        for written in unsent.iter().rev() {
            self.drafts.give_back(None, written);
        }
    }
}

fn write(unwritten: &Unwritten, folder: &Path) {
    if let Err(error) = unwritten.write(folder) {
        tracing::warn!(%error, "drafts could not be written");
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use relm4::gtk::prelude::*;
    use relm4::{ComponentController, Controller};

    use super::super::{Init, Input, launch};
    use super::*;
    use crate::drafts;
    use crate::main_loop::until;

    fn widget(folder: &Path) -> Controller<ChatWidget> {
        crate::init();
        let drafts = Some(folder.to_owned());
        launch(Init { drafts, ..Init::default() }).detach()
    }

    /// Ends the program in order, and says what the new chat's draft is then.
    fn end(widget: &Controller<ChatWidget>, folder: &Path) -> String {
        let (saved, is_saved) = oneshot::channel();
        let is_saved = std::cell::RefCell::new(is_saved);
        widget.emit(Input::SaveDrafts(saved));
        until("the drafts to be saved", || {
            is_saved.borrow_mut().try_recv() != Err(oneshot::error::TryRecvError::Empty)
        });
        drafts::read(folder).remove(&None).unwrap_or_default().text
    }

    #[gtk::test]
    fn who_ends_the_program_at_once_loses_neither_draft() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("new.txt"), "kept").unwrap();
        let widget = widget(folder.path());
        widget.model().composer.set_content(&Written::text("typed"));
        assert_eq!(end(&widget, folder.path()), "kept\ntyped");
    }

    #[gtk::test]
    fn what_was_typed_while_turning_to_a_new_chat_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let widget = widget(folder.path());
        for (typed, all) in [("one ", "one "), ("two", "one two")] {
            widget.model().composer.set_content(&Written::text(typed));
            widget.widget().activate_action("chat.leave", None).unwrap();
            assert_eq!(widget.model().composer.content(), Written::default(), "{all}");
        }
        widget.model().composer.set_content(&Written::text(" and three"));
        let kept = end(&widget, folder.path());
        assert_eq!(kept, "one two and three");
    }
}
