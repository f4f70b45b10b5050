//! What the person answered to changes in this run, each to be taken back.

use chat_core::error::{Kind, Result};
use chat_core::message::Fid;
use chat_core::review::{Answer, Part, Seq};
use chat_edge::words::{self, fill, one_line};
use gettextrs::{gettext, ngettext};
use relm4::ComponentSender;

use super::restoring::left_alone;
use super::reviewing::News;
use super::view::View;
use super::{ChatWidget, Done, Output, done, tell};
use crate::changes::{Verdict, Wish};

/// The answers that can be taken back, the newest last.
#[derive(Debug, Default)]
pub(super) struct Answers {
    given: Vec<(Fid, Seq)>,
}

impl Answers {
    pub(super) fn add(&mut self, fid: &Fid, answer: Seq) {
        self.given.push((fid.clone(), answer));
    }

    /// Whether there are any of this chat.
    pub(super) fn has(&self, fid: Option<&Fid>) -> bool {
        self.given.iter().any(|(of, _)| Some(of) == fid)
    }

    /// Takes one of a chat's: this one, where it is still there, or the newest.
    fn take(&mut self, fid: &Fid, which: Option<Seq>) -> Option<Seq> {
        let is_it =
            |(of, answer): &(Fid, Seq)| of == fid && which.is_none_or(|which| which == *answer);
        let at = self.given.iter().rposition(is_it)?;
        Some(self.given.remove(at).1)
    }
}

impl ChatWidget {
    /// Takes an answer back: this one of this chat, or the newest of the one that is shown.
    pub(super) fn undo_answer(
        &mut self,
        which: Option<(Fid, Seq)>,
        sender: &ComponentSender<Self>,
    ) {
        let (fid, which) = which.map_or_else(
            || (self.reviewing.fid().cloned(), None),
            |(fid, answer)| (Some(fid), Some(answer)),
        );
        let (Some(manager), Some(fid)) = (self.manager.clone(), fid) else { return };
        let Some(answer) = self.reviewing.answers.take(&fid, which) else { return };
        sender.oneshot_command(async move {
            let result = manager.undo_answer(&fid, answer).await;
            done(Done::Review(News::AnswerUndone { fid, answer, result }))
        });
    }

    /// An answer was taken back, or could not be.
    pub(super) fn answer_undone(
        &mut self,
        fid: &Fid,
        answer: Seq,
        result: Result<Answer>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        match result {
            Ok(undone) => {
                tell(sender, Output::AnswerUndone(answer));
                if let Some(words) = left_alone(&undone.conflicts) {
                    tell(sender, Output::Note(words));
                }
            }
            Err(error) => {
                // What is not there any more is not there the next time either.
                if error.kind != Kind::NothingChanged {
                    self.reviewing.answers.add(fid, answer);
                }
                tell(sender, Output::Note(words::sentence(&error)));
            }
        }
        self.look_at_changes(view, sender);
    }
}

/// What was done, where that is offered to be taken back in passing: what is gone from disk, and
/// what went all at once.
pub(super) fn offered(wish: &Wish, answer: &Answer) -> Option<String> {
    answer.undo?;
    let count = answer.done.len();
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let text = match (&wish.what, wish.verdict) {
        (Some(_), Verdict::Accept) => return None,
        (Some((path, part)), Verdict::Reject) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            let text = match part {
                Part::File => gettext("Changes in “{name}” rejected"),
                Part::Hunks(_) => gettext("Change in “{name}” rejected"),
            };
            return Some(fill(&text, &[("name", &one_line(&name))]));
        }
        (None, Verdict::Accept) => {
            ngettext("{count} file accepted", "{count} files accepted", number)
        }
        (None, Verdict::Reject) => {
            ngettext("{count} file rejected", "{count} files rejected", number)
        }
    };
    Some(fill(&text, &[("count", &count.to_string())]))
}

#[cfg(test)]
mod tests {
    use chat_core::review::HunkId;

    use super::*;

    #[test]
    fn the_newest_answer_of_a_chat_is_taken_back_first_and_each_once() {
        let (one, two) = (Fid::new("one"), Fid::new("two"));
        let mut answers = Answers::default();
        assert!(!answers.has(Some(&one)) && answers.take(&one, None).is_none());
        for (fid, answer) in [(&one, 1), (&two, 2), (&one, 3), (&one, 4)] {
            answers.add(fid, answer);
        }
        assert_eq!(answers.take(&one, Some(3)), Some(3));
        assert_eq!(answers.take(&one, Some(3)), None);
        assert_eq!(answers.take(&one, None), Some(4));
        assert_eq!(answers.take(&two, None), Some(2));
        assert!(answers.has(Some(&one)) && !answers.has(Some(&two)) && !answers.has(None));
    }

    #[test]
    fn what_is_gone_or_went_all_at_once_is_offered() {
        let answer =
            Answer { done: vec!["a".into(), "b".into()], undo: Some(1), ..Answer::default() };
        let hunk = HunkId { seq: 1, index: 0 };
        for (wish, words) in [
            (Wish::all(Verdict::Reject), Some("2 files rejected")),
            (Wish::all(Verdict::Accept), Some("2 files accepted")),
            (Wish::file(Verdict::Reject, "src/a.rs".into()), Some("Changes in “a.rs” rejected")),
            (
                Wish::hunk(Verdict::Reject, "a\n.rs".into(), hunk),
                Some("Change in “a⏎.rs” rejected"),
            ),
            (Wish::hunk(Verdict::Accept, "a".into(), hunk), None),
        ] {
            assert_eq!(offered(&wish, &answer).as_deref(), words);
            assert_eq!(offered(&wish, &Answer::default()), None);
        }
    }
}
