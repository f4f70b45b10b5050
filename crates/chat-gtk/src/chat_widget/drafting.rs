//! Keeps what is typed: by chat, written when typing rests and when the program ends.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use chat_core::message::Fid;
use gtk::glib;
use relm4::ComponentSender;

use super::view::View;
use super::{ChatWidget, Done, Input, Part, Told, done};
use crate::composer::Written;
use crate::drafts::Unwritten;

/// How long typing must rest before a draft is written.
const REST: Duration = Duration::from_millis(500);

impl ChatWidget {
    pub(super) fn draft_changed(&mut self, view: &View, sender: &ComponentSender<Self>) {
        // What is in the composer is for a chat that is not shown yet.
        if self.leaving {
            return;
        }
        let changed = self.drafts.set(self.shown.fid(), &view.composer.content());
        if changed {
            view.conversation.expect_reply();
        }
        if changed && !self.draft_timer && self.draft_folder.is_some() {
            self.draft_timer = true;
            let input = sender.input_sender().clone();
            glib::timeout_add_local_once(REST, move || {
                input.emit(Input::Part(Part(Told::WriteDrafts)));
            });
        }
    }

    /// What was kept is read. Somebody may have begun to write meanwhile.
    pub(super) fn drafts_came(
        &mut self,
        stored: HashMap<Option<Fid>, Written>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        let shown = self.shown.fid().cloned();
        let draft = stored.get(&shown).cloned();
        self.drafts.absorb(stored);
        // What is in the composer of who leaves is for another chat, which comes with its own draft.
        if let Some(draft) = draft.filter(|_| !self.leaving) {
            let both = draft.followed_by(view.composer.content(), "\n");
            view.composer.set_content(&both);
            self.draft_changed(view, sender);
        }
        self.write_drafts(sender);
    }

    /// Gives back what was not sent, to the chat that it was for, shown or not.
    pub(super) fn give_back(
        &mut self,
        fid: Option<&Fid>,
        written: &Written,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        let shown = !self.leaving && self.shown.fid() == fid;
        if shown {
            self.drafts.set(fid, &view.composer.content());
        }
        self.drafts.give_back(fid, written);
        if shown {
            view.composer.set_content(self.drafts.get(fid));
        }
        self.write_drafts(sender);
    }

    pub(super) fn write_drafts(&mut self, sender: &ComponentSender<Self>) {
        let Some(folder) = self.draft_folder.clone() else { return };
        let unwritten = self.drafts.unwritten();
        if unwritten.is_empty() {
            return;
        }
        sender.spawn_oneshot_command(move || {
            write(&unwritten, &folder);
            done(Done::Nothing)
        });
    }

    pub(super) fn save_drafts(
        &mut self,
        saved: tokio::sync::oneshot::Sender<()>,
        sender: &ComponentSender<Self>,
    ) {
        let shown = self.shown.fid().cloned();
        self.give_back_waiting(shown.as_ref());
        let unwritten = self.drafts.unwritten();
        let folder = self.draft_folder.clone();
        sender.spawn_oneshot_command(move || {
            if let Some(folder) = folder {
                write(&unwritten, &folder);
            }
            // Who asked may have gone away meanwhile.
            let _ = saved.send(());
            done(Done::Nothing)
        });
    }
}

fn write(unwritten: &Unwritten, folder: &Path) {
    if let Err(error) = unwritten.write(folder) {
        tracing::warn!(%error, "drafts could not be written");
    }
}
