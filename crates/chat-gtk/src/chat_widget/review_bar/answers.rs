//! Keeps what the person answered to changes in this run, each to be taken back.

use chat_core::message::Fid;
use chat_core::review::{ReviewOutcome, ReviewScope, Seq};
use chat_presentation::words::{fill, one_line};
use gettextrs::{gettext, ngettext};

use crate::changes::{ReviewAction, Verdict};

/// The answers that can be taken back, the newest last.
#[derive(Debug, Default)]
pub(super) struct Answers {
    given: Vec<Given>,
}

/// An answer that was given.
#[derive(Debug)]
struct Given {
    fid: Fid,
    answer: Seq,
    /// What it was, in words.
    words: String,
}

impl Answers {
    pub(super) fn add(&mut self, fid: &Fid, answer: Seq, words: String) {
        self.given.push(Given { fid: fid.clone(), answer, words });
    }

    /// What the newest of this chat was, in words.
    pub(super) fn newest(&self, fid: Option<&Fid>) -> Option<&str> {
        let of_it = self.given.iter().rfind(|given| Some(&given.fid) == fid);
        of_it.map(|given| given.words.as_str())
    }

    /// Takes one of a chat's: this one, where it is still there, or the newest.
    pub(super) fn take(&mut self, fid: &Fid, which: Option<Seq>) -> Option<(Seq, String)> {
        let is_it =
            |given: &Given| given.fid == *fid && which.is_none_or(|which| which == given.answer);
        let at = self.given.iter().rposition(is_it)?;
        let Given { answer, words, .. } = self.given.remove(at);
        Some((answer, words))
    }
}

/// What was done, where that is offered to be taken back in passing: what is gone from disk, and
/// what went all at once.
pub(super) fn offered(action: &ReviewAction, answer: &ReviewOutcome) -> Option<String> {
    answer.undo?;
    let is_small = action.what.is_some() && action.verdict == Verdict::Accept;
    (!is_small).then(|| said(action, answer))
}

/// What was answered.
pub(super) fn said(action: &ReviewAction, answer: &ReviewOutcome) -> String {
    let count = answer.done.len();
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let text = match (&action.what, action.verdict) {
        (Some((path, part)), verdict) => {
            let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
            let text = match (part, verdict) {
                (ReviewScope::File | ReviewScope::By(_), Verdict::Accept) => {
                    gettext("Changes in “{name}” accepted")
                }
                (ReviewScope::Hunks(_), Verdict::Accept) => gettext("Change in “{name}” accepted"),
                (ReviewScope::File | ReviewScope::By(_), Verdict::Reject) => {
                    gettext("Changes in “{name}” rejected")
                }
                (ReviewScope::Hunks(_), Verdict::Reject) => gettext("Change in “{name}” rejected"),
            };
            return fill(&text, &[("name", &one_line(&name))]);
        }
        (None, Verdict::Accept) => {
            ngettext("{count} file accepted", "{count} files accepted", number)
        }
        (None, Verdict::Reject) => {
            ngettext("{count} file rejected", "{count} files rejected", number)
        }
    };
    fill(&text, &[("count", &count.to_string())])
}

#[cfg(test)]
mod tests {
    use chat_core::review::HunkId;

    use super::*;

    #[test]
    fn the_newest_answer_of_a_chat_is_taken_back_first_and_each_once() {
        let (one, two) = (Fid::new("one"), Fid::new("two"));
        let mut answers = Answers::default();
        assert!(answers.newest(Some(&one)).is_none() && answers.take(&one, None).is_none());
        for (fid, answer) in [(&one, 1), (&two, 2), (&one, 3), (&one, 4)] {
            answers.add(fid, answer, format!("answer {answer}"));
        }
        assert_eq!(answers.newest(Some(&two)), Some("answer 2"));
        let mut take = |fid, which| answers.take(fid, which).map(|(answer, _)| answer);
        assert_eq!(take(&one, Some(3)), Some(3));
        assert_eq!(take(&one, Some(3)), None);
        assert_eq!(take(&one, None), Some(4));
        assert_eq!(take(&two, None), Some(2));
        assert_eq!(answers.newest(Some(&one)), Some("answer 1"));
        assert!(answers.newest(Some(&two)).is_none() && answers.newest(None).is_none());
    }

    #[test]
    fn what_is_gone_or_went_all_at_once_is_offered() {
        let answer = ReviewOutcome {
            done: vec!["a".into(), "b".into()],
            undo: Some(1),
            ..ReviewOutcome::default()
        };
        let hunk = HunkId { seq: 1, index: 0 };
        for (action, words) in [
            (ReviewAction::all(Verdict::Reject), Some("2 files rejected")),
            (ReviewAction::all(Verdict::Accept), Some("2 files accepted")),
            (
                ReviewAction::file(Verdict::Reject, "src/a.rs".into(), ReviewScope::File),
                Some("Changes in “a.rs” rejected"),
            ),
            (
                ReviewAction::hunk(Verdict::Reject, "a\n.rs".into(), hunk),
                Some("Change in “a⏎.rs” rejected"),
            ),
            (ReviewAction::hunk(Verdict::Accept, "a".into(), hunk), None),
        ] {
            assert_eq!(offered(&action, &answer).as_deref(), words);
            assert_eq!(offered(&action, &ReviewOutcome::default()), None);
        }
    }
}
