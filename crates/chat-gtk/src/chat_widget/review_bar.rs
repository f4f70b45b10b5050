//! Shows how much there is to review of the shown chat, and answers to changes: asked for whenever files
//! change, one question at a time.

mod answers;
mod changed_line;
mod restore;

use chat_core::error::{Error, Kind, NoReview, Result};
use chat_core::manager::Manager;
use chat_core::message::{Content, Fid, MessageId};
use chat_core::review::{Conflict, Restored, ReviewOutcome, Seq};
use chat_presentation::words;
use gtk::gio;
use relm4::gtk::prelude::*;

use super::handle::Handle;
use super::messages::Output;
use crate::changes::{self, Listing, ReviewAction, Verdict};
use crate::composer::Written;
use answers::Answers;
use changed_line::ChangedLine;
use restore::Extent;
pub use restore::Restore;

/// What there is to review of a chat, for whoever shows it.
#[derive(Clone, Debug)]
pub struct Review {
    pub(crate) fid: Option<Fid>,
    /// The changes, or why there are none.
    pub(crate) listing: std::result::Result<Listing, String>,
    /// The answer that can be taken back, in words.
    pub(crate) undo: Option<String>,
}

/// What the person answered to changes, and what came of it.
#[derive(Clone, Debug)]
pub struct Answered {
    pub(crate) fid: Fid,
    pub(crate) action: ReviewAction,
    pub(crate) answer: ReviewOutcome,
    /// What was done, where that is offered to be taken back.
    pub(crate) words: Option<String>,
}

/// What the person does about changes, and what the work about them brings.
#[derive(Debug)]
pub(super) enum Msg {
    /// So much is to be as it was at this message.
    Restore { fid: Fid, message: MessageId, extent: Extent },
    /// What changed in the files of a chat's project.
    Changes { fid: Fid, result: Result<Listing> },
    /// What came of an answer to changes.
    Answered { fid: Fid, action: ReviewAction, result: Result<ReviewOutcome> },
    /// An answer was taken back.
    AnswerUndone { fid: Fid, answer: Seq, words: String, result: Result<ReviewOutcome> },
    /// What was restored, and, where the conversation was to go back as well, what the message said.
    Restored { fid: Fid, files: Result<Restored>, said: Option<Result<Content>> },
    /// A restore was taken back.
    RestoreUndone { result: Result<Restored> },
}

/// The review of the shown chat.
pub(super) struct ReviewBar {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    line: ChangedLine,
    /// The chat that it is of.
    fid: Option<Fid>,
    /// Whether that works in a folder.
    has_project: bool,
    listing: Listing,
    /// Whether the engine is being asked.
    asking: bool,
    /// Whether something changed since it was asked.
    again: bool,
    /// What can be taken back.
    answers: Answers,
}

impl ReviewBar {
    /// Nothing to review, which is not seen.
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        let asked = handle.clone();
        Self {
            line: ChangedLine::new(move || asked.output(Output::Review)),
            handle,
            manager: None,
            fid: None,
            has_project: false,
            listing: Listing::default(),
            asking: false,
            again: false,
            answers: Answers::default(),
        }
    }

    pub(super) fn widget(&self) -> &gtk::Button {
        self.line.widget()
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// This chat is shown, or it got another folder to work in.
    pub(super) fn show(&mut self, fid: Option<&Fid>, has_project: bool) {
        self.has_project = has_project;
        if self.fid.as_ref() != fid {
            self.fid = fid.cloned();
            self.listing = Listing::default();
            self.show_changes(Ok(()));
        }
    }

    /// Asks what changed in the files of the shown chat.
    pub(super) fn look(&mut self) {
        let (Some(fid), Some(manager)) = (self.fid.clone(), self.manager.clone()) else { return };
        if !self.has_project {
            return;
        }
        if self.asking {
            self.again = true;
            return;
        }
        self.asking = true;
        let before = self.listing.clone();
        self.handle.spawn(async move {
            let result = look(&manager, &fid, before).await;
            Msg::Changes { fid, result }
        });
    }

    /// The person answers to changes.
    pub(super) fn answer(&self, action: ReviewAction) {
        let (Some(manager), Some(fid)) = (self.manager.clone(), self.fid.clone()) else { return };
        self.handle.spawn(async move {
            let what = action.what.clone();
            let result = match action.verdict {
                Verdict::Accept => manager.review().accept(&fid, what).await,
                Verdict::Reject => manager.review().reject(&fid, what).await,
            };
            Msg::Answered { fid, action, result }
        });
    }

    /// Takes an answer back: this one of this chat, or the newest of the one that is shown.
    pub(super) fn undo_answer(&mut self, which: Option<(Fid, Seq)>) {
        let (fid, which) = which
            .map_or_else(|| (self.fid.clone(), None), |(fid, answer)| (Some(fid), Some(answer)));
        let (Some(manager), Some(fid)) = (self.manager.clone(), fid) else { return };
        let Some((answer, words)) = self.answers.take(&fid, which) else { return };
        self.handle.spawn(async move {
            let result = manager.review().undo_answer(&fid, answer).await;
            Msg::AnswerUndone { fid, answer, words, result }
        });
    }

    /// Asks the person how much is to be brought back to how it was at this message. `is_agent`: in an agent's chat.
    pub(super) fn ask_restore(&self, fid: Fid, message: MessageId, is_agent: bool) {
        let window = self.widget().root().and_downcast::<gtk::Window>();
        let confirmed =
            self.handle.callback(move |extent| Msg::Restore { fid: fid.clone(), message, extent });
        restore::ask(window.as_ref(), is_agent, confirmed);
    }

    /// Takes a restore back.
    pub(super) fn undo_restore(&self, fid: Fid, restored: Seq) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.review().undo_restore(&fid, restored).await;
            Msg::RestoreUndone { result }
        });
    }

    /// Takes a message. Where the conversation went back to before a message of the person, gives what
    /// that said, and its chat.
    pub(super) fn update(&mut self, msg: Msg) -> Option<(Fid, Written)> {
        let mut given_back = None;
        match msg {
            Msg::Restore { fid, message, extent } => {
                self.restore(fid, message, extent);
                return None;
            }
            Msg::Changes { fid, result } => {
                self.changes_came(&fid, result);
                return None;
            }
            Msg::Answered { fid, action, result } => self.answered(fid, action, result),
            Msg::AnswerUndone { fid, answer, words, result } => {
                self.answer_undone(&fid, answer, words, result);
            }
            Msg::Restored { fid, files, said } => {
                for output in restore::came_back(&fid, &files, said.as_ref()) {
                    self.handle.output(output);
                }
                let said = said.and_then(Result::ok);
                given_back =
                    said.map(|said| (fid, Written::of(said, Vec::new(), |_| String::new())));
            }
            Msg::RestoreUndone { result: Ok(files) } => {
                self.note(restore::taken_back(files.changed.len()));
                self.note_left_alone(&files.conflicts);
            }
            Msg::RestoreUndone { result: Err(error) } => self.note_error(&error),
        }
        self.look();
        given_back
    }

    /// Brings back what the person asked for.
    fn restore(&self, fid: Fid, message: MessageId, extent: Extent) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let files = manager.review().restore_files(&fid, message).await;
            // Without the files the conversation stays, too, unless there were none to bring back.
            let goes_on = match &files {
                Ok(_) => true,
                Err(error) => error.kind == Kind::NothingChanged,
            };
            let said = if extent == Extent::Conversation && goes_on {
                Some(manager.review().rewind(&fid, message).await)
            } else {
                None
            };
            Msg::Restored { fid, files, said }
        });
    }

    /// What changed was looked at.
    fn changes_came(&mut self, fid: &Fid, result: Result<Listing>) {
        self.asking = false;
        if self.fid.as_ref() == Some(fid) {
            let result = result.map(|listing| self.listing = listing);
            self.show_changes(result);
        } else {
            self.again = true;
        }
        if std::mem::take(&mut self.again) {
            self.look();
        }
    }

    fn show_changes(&self, result: Result<()>) {
        self.line.show(&self.listing);
        let why = match result {
            Ok(()) => None,
            // There is nothing to say of a chat that works in no folder.
            Err(error) if is_no_project(&error.kind) => None,
            Err(error) => Some(words::sentence(&error)),
        };
        let listing = why.map_or_else(|| Ok(self.listing.clone()), Err);
        let fid = self.fid.clone();
        let undo = self.answers.newest(fid.as_ref()).map(str::to_owned);
        self.handle.output(Output::Changes(Review { fid, listing, undo }));
    }

    /// The engine did what it could of an answer.
    fn answered(&mut self, fid: Fid, action: ReviewAction, result: Result<ReviewOutcome>) {
        match result {
            Ok(answer) => {
                if let Some(words) = changes::answered(answer.conflicts.len())
                    && action.what.is_none()
                {
                    self.note(words);
                }
                if let Some(undo) = answer.undo {
                    self.answers.add(&fid, undo, answers::said(&action, &answer));
                }
                let words = answers::offered(&action, &answer);
                self.handle.output(Output::Answered(Answered { fid, action, answer, words }));
            }
            Err(error) => self.note_error(&error),
        }
    }

    /// An answer was taken back, or could not be.
    fn answer_undone(
        &mut self,
        fid: &Fid,
        answer: Seq,
        said: String,
        result: Result<ReviewOutcome>,
    ) {
        match result {
            Ok(undone) => {
                self.handle.output(Output::AnswerUndone(answer));
                self.note_left_alone(&undone.conflicts);
            }
            Err(error) => {
                // What is not there any more is not there the next time either.
                if error.kind != Kind::NothingChanged {
                    self.answers.add(fid, answer, said);
                }
                self.note_error(&error);
            }
        }
    }

    fn note(&self, words: String) {
        self.handle.output(Output::Note(words));
    }

    fn note_error(&self, error: &Error) {
        self.note(words::sentence(error));
    }

    /// Says which files were left alone, if any.
    fn note_left_alone(&self, conflicts: &[Conflict]) {
        if let Some(words) = restore::left_alone(conflicts) {
            self.note(words);
        }
    }
}

async fn look(manager: &Manager, fid: &Fid, before: Listing) -> Result<Listing> {
    let changes = manager.review().changes(fid).await?;
    let agents = if changes.iter().any(|change| change.session != fid.as_str()) {
        manager.agents().list(Some(fid)).await?
    } else {
        Vec::new()
    };
    let (lost, own) = (|_| Kind::Internal.into(), fid.clone());
    let listing = move || {
        Listing::of(changes, &before, |session| {
            let agent = agents.iter().find(|agent| agent.fid.as_str() == session)?;
            agent.name.clone().filter(|_| agent.fid != own)
        })
    };
    gio::spawn_blocking(listing).await.map_err(lost)
}

fn is_no_project(kind: &Kind) -> bool {
    matches!(kind, Kind::NoReview { why: NoReview::NoProject } | Kind::SessionNotFound { .. })
}
