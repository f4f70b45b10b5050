//! What is to be reviewed of the shown chat: asked for whenever files change, one question at a time.

pub(super) mod answers;
pub(super) mod changed_line;
pub(super) mod restore;

use chat_core::error::{Kind, NoReview, Result};
use chat_core::manager::Manager;
use chat_core::message::{Content, Fid};
use chat_core::review::{Answer, Restored, Seq};
use chat_edge::words;
use gtk::gio;
use relm4::ComponentSender;

use super::shown::Shown;
use super::view::View;
use super::{ChatWidget, Done, Output, done, tell};
use crate::changes::{self, Listing, Verdict, Wish};
use answers::Answers;

/// The review of the shown chat.
#[derive(Debug, Default)]
pub(super) struct Reviewing {
    /// The chat that it is of.
    fid: Option<Fid>,
    listing: Listing,
    /// Whether the engine is being asked.
    asking: bool,
    /// Whether something changed since it was asked.
    again: bool,
    /// What can be taken back.
    pub(super) answers: Answers,
}

impl Reviewing {
    /// The chat that it is of.
    pub(super) fn fid(&self) -> Option<&Fid> {
        self.fid.as_ref()
    }
}

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
    pub(crate) wish: Wish,
    pub(crate) answer: Answer,
    /// What was done, where that is offered to be taken back.
    pub(crate) words: Option<String>,
}

/// What background work about changes brings.
#[derive(Debug)]
pub(super) enum News {
    /// What changed in the files of a chat's project.
    Changes { fid: Fid, result: Result<Listing> },
    /// What came of an answer to changes.
    Answered { fid: Fid, wish: Wish, result: Result<Answer> },
    /// An answer was taken back.
    AnswerUndone { fid: Fid, answer: Seq, words: String, result: Result<Answer> },
    /// What was restored, and, where the conversation was to go back as well, what the message said.
    Restored { fid: Fid, files: Result<Restored>, said: Option<Result<Content>> },
    /// A restore was taken back.
    Undone { result: Result<Restored> },
}

impl ChatWidget {
    /// Background work about changes is done.
    pub(super) fn review_came(&mut self, news: News, view: &View, sender: &ComponentSender<Self>) {
        match news {
            News::Changes { fid, result } => self.changes_came(&fid, result, view, sender),
            News::Answered { fid, wish, result } => {
                self.answer_came(fid, wish, result, view, sender);
            }
            News::AnswerUndone { fid, answer, words, result } => {
                self.answer_undone(&fid, (answer, words), result, view, sender);
            }
            News::Restored { fid, files, said } => {
                self.restored(&fid, &files, said, view, sender);
            }
            News::Undone { result } => self.undone(result, view, sender),
        }
    }

    /// Files were changed, or another chat is shown.
    pub(super) fn look_at_changes(&mut self, view: &View, sender: &ComponentSender<Self>) {
        let shown = self.shown.fid().cloned();
        if self.reviewing.fid != shown {
            self.reviewing.fid.clone_from(&shown);
            self.reviewing.listing = Listing::default();
            self.show_changes(Ok(()), view, sender);
        }
        let (Some(fid), Some(manager)) = (shown, self.manager.clone()) else { return };
        let works = matches!(&self.shown, Shown::Open(session) if session.project.is_some());
        if !works {
            return;
        }
        if self.reviewing.asking {
            self.reviewing.again = true;
            return;
        }
        self.reviewing.asking = true;
        let before = self.reviewing.listing.clone();
        sender.oneshot_command(async move {
            let result = look(&manager, &fid, before).await;
            done(Done::Review(News::Changes { fid, result }))
        });
    }

    /// What changed was looked at.
    fn changes_came(
        &mut self,
        fid: &Fid,
        result: Result<Listing>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        self.reviewing.asking = false;
        if self.reviewing.fid.as_ref() == Some(fid) {
            let result = result.map(|listing| self.reviewing.listing = listing);
            self.show_changes(result, view, sender);
        } else {
            self.reviewing.again = true;
        }
        if std::mem::take(&mut self.reviewing.again) {
            self.look_at_changes(view, sender);
        }
    }

    fn show_changes(&self, result: Result<()>, view: &View, sender: &ComponentSender<Self>) {
        let listing = &self.reviewing.listing;
        view.changed.show(listing);
        let why = match result {
            Ok(()) => None,
            // There is nothing to say of a chat that works in no folder.
            Err(error) if is_no_project(&error.kind) => None,
            Err(error) => Some(words::sentence(&error)),
        };
        let listing = why.map_or_else(|| Ok(listing.clone()), Err);
        let fid = self.reviewing.fid.clone();
        let undo = self.reviewing.answers.newest(fid.as_ref()).map(str::to_owned);
        tell(sender, Output::Changes(Review { fid, listing, undo }));
    }

    /// The person answers to changes.
    pub(super) fn answer_changes(&self, wish: Wish, sender: &ComponentSender<Self>) {
        let (Some(manager), Some(fid)) = (self.manager.clone(), self.reviewing.fid.clone()) else {
            return;
        };
        sender.oneshot_command(async move {
            let what = wish.what.clone();
            let result = match wish.verdict {
                Verdict::Accept => manager.review().accept(&fid, what).await,
                Verdict::Reject => manager.review().reject(&fid, what).await,
            };
            done(Done::Review(News::Answered { fid, wish, result }))
        });
    }

    /// The engine did what it could of an answer.
    fn answer_came(
        &mut self,
        fid: Fid,
        wish: Wish,
        result: Result<Answer>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        match result {
            Ok(answer) => {
                if let Some(words) = changes::answered(answer.conflicts.len())
                    && wish.what.is_none()
                {
                    tell(sender, Output::Note(words));
                }
                if let Some(undo) = answer.undo {
                    self.reviewing.answers.add(&fid, undo, answers::said(&wish, &answer));
                }
                let words = answers::offered(&wish, &answer);
                tell(sender, Output::Answered(Answered { fid, wish, answer, words }));
            }
            Err(error) => tell(sender, Output::Note(words::sentence(&error))),
        }
        self.look_at_changes(view, sender);
    }
}

async fn look(manager: &Manager, fid: &Fid, before: Listing) -> Result<Listing> {
    let changes = manager.review().changes(fid).await?;
    let lost = |_| Kind::Internal.into();
    gio::spawn_blocking(move || Listing::of(changes, &before)).await.map_err(lost)
}

fn is_no_project(kind: &Kind) -> bool {
    matches!(kind, Kind::NoReview { why: NoReview::NoProject } | Kind::SessionNotFound { .. })
}
