//! Keeps what is typed: by chat, written when typing rests and when the program ends. What was sent is kept
//! until it is on disk, and what is typed while the person switches to another chat goes to that one.

mod ending;
mod outbox;

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::time::Duration;

use chat_core::error::{Error, Result};
use chat_core::manager::{Manager, Sent};
use chat_core::message::Fid;
use gtk::glib;

use super::handle::Handle;
use crate::composer::{Along, Composer, Pinned, PlainWords, Written};
use crate::conversation::as_quote;
use crate::drafts::{self, Drafts, Unwritten};
use ending::Ending;
use outbox::Outbox;
pub(super) use outbox::Outgoing;

/// How long typing must rest before a draft is written.
const REST: Duration = Duration::from_millis(500);

/// What the person does, and what the work about it brings.
#[derive(Debug)]
pub(super) enum Msg {
    /// They switch to another chat, and leave this behind.
    Left(Written),
    /// Typing rests.
    Rests,
    /// Drafts were written, or could not be.
    Written(std::io::Result<()>),
    /// The program ends, and what is on its way takes too long.
    NothingComes,
    /// What an earlier run kept is read.
    Read(HashMap<Option<Fid>, Written>),
    /// A message is on disk, or was not taken.
    Sent { generation: u64, number: u64, result: Result<Sent> },
}

/// What came of a message.
#[derive(Debug)]
pub(super) enum Output {
    /// Drafts cannot be written, for the first time since they could.
    Unwritten(std::io::Error),
    /// The draft is another one.
    Changed,
    /// A message is on disk.
    Stored {
        /// The chat that it was sent in.
        fid: Fid,
        /// Whether the message made that chat.
        is_new: bool,
        /// Whether the person is still where they sent it.
        is_there: bool,
    },
    /// A message was not taken. Its text is a draft again.
    Refused {
        fid: Option<Fid>,
        error: Error,
        /// What did not go along with it, where the person is still there.
        without: Vec<Along>,
    },
}

/// What a person did for a chat that they switched to before it was shown.
#[derive(Debug)]
enum PendingInput {
    /// They sent this.
    Sent(Written),
    /// They switched to yet another one, and left this behind.
    Left(Written),
}

/// What the draft of a new temporary chat is kept under: not on the disk, and not with that of a new chat.
pub(super) fn new_temporary() -> Fid {
    Fid::new("temporary-new")
}

/// Whether a draft that is kept under this is one of a new chat.
fn is_new(fid: Option<&Fid>) -> bool {
    fid.is_none_or(|fid| *fid == new_temporary())
}

/// The composer with the drafts of all chats, and what was sent.
pub(super) struct ChatComposer {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    field: Composer,
    /// The chat that is shown, or being read; none is a new one.
    fid: Option<Fid>,
    /// Counts what was shown, so that late answers find out that they are.
    generation: u64,
    drafts: Drafts,
    /// Where they are kept; with none, they last for this run.
    folder: Option<PathBuf>,
    /// What was kept by an earlier run is still being read.
    is_reading: bool,
    /// Whether what was typed is written soon.
    has_timer: bool,
    outbox: Outbox,
    ending: Ending,
    /// Whether the person has switched to a chat that is not shown yet.
    is_switching: bool,
    /// What they did since then.
    pending: VecDeque<PendingInput>,
}

impl ChatComposer {
    /// An empty composer for a new chat. `folder` is where drafts are kept.
    pub(super) fn new(field: Composer, folder: Option<PathBuf>, handle: Handle<Msg>) -> Self {
        if let Some(folder) = folder.clone() {
            handle.spawn_blocking(move || Msg::Read(drafts::read(&folder)));
        }
        Self {
            handle,
            manager: None,
            field,
            fid: None,
            generation: 0,
            drafts: Drafts::default(),
            is_reading: folder.is_some(),
            folder,
            has_timer: false,
            outbox: Outbox::default(),
            ending: Ending::No,
            is_switching: false,
            pending: VecDeque::new(),
        }
    }

    /// Where the person writes.
    pub(super) fn field(&self) -> &Composer {
        &self.field
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Counts what was shown: who asks for something tells by it later whether that is still wanted.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether anything was typed since the start.
    pub(super) fn were_typed(&self) -> bool {
        self.drafts.were_typed()
    }

    pub(super) fn update(&mut self, msg: Msg) -> Option<Output> {
        match msg {
            Msg::Left(written) => self.leave(written),
            Msg::Rests => {
                self.has_timer = false;
                self.write();
            }
            Msg::Written(result) => {
                return self.drafts.new_failure(result).map(Output::Unwritten);
            }
            Msg::NothingComes => self.nothing_comes(),
            Msg::Read(stored) => return self.read(stored).then_some(Output::Changed),
            Msg::Sent { generation, number, result } => {
                return self.sent(generation, number, result);
            }
        }
        None
    }

    /// The message begins with these words. What was written already is what they are about. Says whether
    /// the draft is another one.
    pub(super) fn begin(&mut self, words: &str) -> bool {
        let begun = Written::text(words).followed_by(self.field.content(), "");
        self.field.set_content(&begun);
        self.field.focus();
        self.changed()
    }

    /// Adds a quotation of this text, below which the answer to it is written. Says whether the draft is another
    /// one.
    pub(super) fn quote(&mut self, text: &str) -> bool {
        let mut written = self.field.content();
        let above = if written.text.trim().is_empty() { "" } else { "\n\n" };
        written.text.truncate(written.text.trim_end().len());
        // What is quoted mentions nothing.
        let plain = PlainWords::of(text);
        let text = format!("{above}{}\n", as_quote(text));
        let quoted = Written { plain, ..Written::text(text) };
        self.field.set_content(&written.followed_by(quoted, ""));
        self.field.focus();
        self.changed()
    }

    /// Keeps what is in the composer, and has it written soon. Says whether that is new.
    pub(super) fn changed(&mut self) -> bool {
        // What is in the composer is for a chat that is not shown yet.
        if self.is_switching {
            return false;
        }
        let changed = self.drafts.set(self.fid.as_ref(), &self.field.content());
        if changed {
            self.write_soon();
        }
        changed
    }

    /// Keeps what was typed in sent messages and not sent again, and has it written soon.
    pub(super) fn keep_edits(&mut self, edits: Vec<(Option<Fid>, String)>) {
        let mut joined: HashMap<_, String> = HashMap::new();
        for (fid, text) in edits {
            let all = joined.entry(fid).or_default();
            if !all.is_empty() {
                all.push('\n');
            }
            all.push_str(&text);
        }
        if self.drafts.set_edits(joined) {
            self.write_soon();
        }
    }

    fn write_soon(&mut self) {
        if !self.has_timer && self.folder.is_some() {
            self.has_timer = true;
            let handle = self.handle.clone();
            glib::timeout_add_local_once(REST, move || handle.send(Msg::Rests));
        }
    }

    /// Gives back what was not sent, to the chat that it was for, shown or not.
    pub(super) fn give_back(&mut self, fid: Option<&Fid>, written: &Written) {
        let shown = !self.is_switching && self.fid.as_ref() == fid;
        if shown {
            self.drafts.set(fid, &self.field.content());
        }
        self.drafts.give_back(fid, written);
        if shown {
            self.field.set_content(self.drafts.get(fid));
        }
        self.write();
    }

    /// What was pasted into a message that was left meanwhile has come; none if it could not be had. Whether the
    /// message is still there.
    pub(super) fn pasted(&mut self, id: u64, what: Option<&Pinned>) -> bool {
        let is_pending = self.pending.iter_mut().any(|next| {
            let (PendingInput::Sent(written) | PendingInput::Left(written)) = next;
            written.file_came(id, what.cloned())
        });
        let came = is_pending || self.drafts.file_came(id, what);
        self.write();
        came
    }

    /// Whether the person has switched to a chat that is not shown yet.
    pub(super) fn is_switching(&self) -> bool {
        self.is_switching
    }

    /// The person sent this for the chat that they switched to: it waits until that is shown.
    pub(super) fn defer(&mut self, written: Written) {
        self.pending.push_back(PendingInput::Sent(written));
    }

    /// This chat is shown, or being read, instead of the one before.
    pub(super) fn switch_to(&mut self, fid: Option<Fid>) {
        let old = std::mem::replace(&mut self.fid, fid);
        if !self.is_switching {
            // Keys may have come that were not told of yet.
            self.drafts.set(old.as_ref(), &self.field.take());
        }
        self.give_back_waiting(old.as_ref());
        self.generation += 1;
    }

    /// The chat is there that the person switched to: with its draft, and with what they did for it
    /// by now. Gives the next message that they sent there; with none, all is done.
    pub(super) fn arrive(&mut self) -> Option<Written> {
        self.is_switching = false;
        let fid = self.fid.clone();
        let draft = self.drafts.get(fid.as_ref()).clone();
        match self.pending.pop_front() {
            Some(PendingInput::Sent(written)) => return Some(written),
            Some(PendingInput::Left(written)) => {
                self.drafts.set(fid.as_ref(), &draft.followed_by(written, ""));
                self.give_back_waiting(fid.as_ref());
                self.generation += 1;
                self.is_switching = true;
            }
            None => {
                let draft = draft.followed_by(self.field.content(), "");
                self.field.set_content(&draft);
                self.drafts.set(fid.as_ref(), &draft);
            }
        }
        None
    }

    /// The person switched to another chat, which is shown next. `written` is what they leave behind.
    fn leave(&mut self, written: Written) {
        if self.is_switching {
            self.pending.push_back(PendingInput::Left(written));
            return;
        }
        self.drafts.set(self.fid.as_ref(), &written);
        // Answers that come now are late.
        self.generation += 1;
        self.is_switching = true;
    }

    /// What was kept is read. Somebody may have begun to write meanwhile. Says whether the draft is another
    /// one.
    fn read(&mut self, stored: HashMap<Option<Fid>, Written>) -> bool {
        self.is_reading = false;
        let draft = stored.get(&self.fid).cloned();
        self.drafts.absorb(stored);
        let mut changed = false;
        // What is in the composer of who leaves is for another chat, which comes with its own draft.
        if let Some(draft) = draft.filter(|_| !self.is_switching) {
            let both = draft.followed_by(self.field.content(), "\n");
            self.field.set_content(&both);
            changed = self.changed();
        }
        self.write();
        changed
    }

    /// Writes what was typed.
    pub(super) fn write(&self) {
        let Some(folder) = self.folder.clone() else { return };
        let unwritten = self.drafts.unwritten();
        // What was not read yet must not be written over, and the last to write is the end.
        if unwritten.is_empty() || self.is_reading || self.is_ending() {
            return;
        }
        self.handle.spawn_blocking(move || Msg::Written(write(&unwritten, &folder)));
    }
}

fn write(unwritten: &Unwritten, folder: &Path) -> std::io::Result<()> {
    unwritten.write(folder).inspect_err(|error| {
        tracing::warn!(%error, "drafts could not be written");
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use relm4::gtk::prelude::*;
    use relm4::{ComponentController, Controller};
    use tokio::sync::oneshot;

    use super::super::{ChatWidget, Init, Input, launch};
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
        widget.model().composer.field.set_content(&Written::text("typed"));
        assert_eq!(end(&widget, folder.path()), "kept\ntyped");
    }

    #[gtk::test]
    fn what_is_typed_for_a_temporary_chat_that_was_asked_for_at_once_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let widget = widget(folder.path());
        widget.model().composer.field.set_content(&Written::text("kept"));
        widget.widget().activate_action("chat.leave", None).unwrap();
        widget.emit(Input::ShowTemporary);
        let is_shown = || widget.model().shown.is_temporary();
        until("the temporary chat", is_shown);
        widget.model().composer.field.set_content(&Written::text("a secret"));
        assert_eq!(end(&widget, folder.path()), "kept");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[gtk::test]
    fn what_was_typed_while_turning_to_a_new_chat_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let widget = widget(folder.path());
        for (typed, all) in [("one ", "one "), ("two", "one two")] {
            widget.model().composer.field.set_content(&Written::text(typed));
            widget.widget().activate_action("chat.leave", None).unwrap();
            assert_eq!(widget.model().composer.field.content(), Written::default(), "{all}");
        }
        widget.model().composer.field.set_content(&Written::text(" and three"));
        let kept = end(&widget, folder.path());
        assert_eq!(kept, "one two and three");
    }
}
