//! Keeps all that was typed when the program ends.

use std::collections::HashMap;
use std::time::Duration;

use chat_core::message::Fid;
use gtk::glib;
use tokio::sync::oneshot;

use super::super::reading_positions::ReadingPositions;
use super::{ChatComposer, Msg, PendingInput, write};
use crate::composer::Written;

/// How long the end waits for what is on its way to the engine.
const PATIENCE: Duration = Duration::from_secs(5);

/// The end of the program.
#[derive(Debug, Default)]
pub(super) enum Ending {
    #[default]
    No,
    /// Somebody waits until all is written.
    Waits(oneshot::Sender<()>),
    /// The same, for longer than anything should take.
    IsOverdue(oneshot::Sender<()>),
    /// All was written.
    Done,
}

impl ChatComposer {
    /// The program ends: nothing is sent any more, and all that was typed is kept. What is on its way
    /// to the engine is waited for, since it may come back.
    pub(in super::super) fn end(&mut self, saved: oneshot::Sender<()>) {
        self.ending = Ending::Waits(saved);
        let handle = self.handle.clone();
        glib::timeout_add_local_once(PATIENCE, move || handle.send(Msg::NothingComes));
    }

    /// Whether the program ends and nothing is on its way, so that all can be written for the last time. `edits`: whether
    /// edited messages are on their way.
    pub(in super::super) fn can_end(&self, edits: bool) -> bool {
        let is_sending = self.outbox.is_any_on_its_way();
        match self.ending {
            Ending::Waits(_) => !self.is_reading && !is_sending && !edits,
            Ending::IsOverdue(_) => !self.is_reading && !is_sending,
            Ending::No | Ending::Done => false,
        }
    }

    /// Writes all drafts for the last time, with what was typed elsewhere, and where chats are read.
    pub(in super::super) fn write_last(
        &mut self,
        typed_elsewhere: Vec<(Option<Fid>, String)>,
        reading: ReadingPositions,
    ) {
        let (Ending::Waits(saved) | Ending::IsOverdue(saved)) =
            std::mem::replace(&mut self.ending, Ending::Done)
        else {
            return;
        };
        let shown = self.fid.clone();
        let typed = self.field.content();
        if self.is_switching {
            self.keep_pending(typed);
        } else {
            self.drafts.set(shown.as_ref(), &typed);
        }
        self.give_back_waiting(shown.as_ref());
        // It becomes part of the drafts now.
        self.drafts.set_edits(HashMap::new());
        for (session, text) in typed_elsewhere {
            self.drafts.give_back(session.as_ref(), &Written::text(text));
        }
        let unwritten = self.drafts.unwritten();
        let folder = self.folder.clone();
        self.handle.run_blocking(move || {
            if let Some(folder) = folder {
                // No window is left to report it in.
                let _ = write(&unwritten, &folder);
            }
            reading.write();
            // Who asked may have gone away meanwhile.
            let _ = saved.send(());
        });
    }

    /// What is on its way takes too long: it is kept, though it may have been sent.
    pub(super) fn nothing_comes(&mut self) {
        self.ending = match std::mem::take(&mut self.ending) {
            Ending::Waits(saved) => Ending::IsOverdue(saved),
            other => other,
        };
        for (fid, written) in self.outbox.take_on_its_way() {
            self.drafts.give_back(fid.as_ref(), &written);
        }
    }

    /// Whether the program ends, or has ended.
    pub(super) fn is_ending(&self) -> bool {
        !matches!(self.ending, Ending::No)
    }

    /// What was typed for the new chat that the person switched to, and that will not be shown any more,
    /// is its draft.
    fn keep_pending(&mut self, typed: Written) {
        let mut draft = self.drafts.get(None).clone();
        let mut unsent = Vec::new();
        for next in self.pending.drain(..) {
            match next {
                PendingInput::Left(written) => draft = draft.followed_by(written, ""),
                PendingInput::Sent(written) => unsent.push(written),
            }
        }
        self.drafts.set(None, &draft.followed_by(typed, ""));
        for written in unsent.iter().rev() {
            self.drafts.give_back(None, written);
        }
    }
}
