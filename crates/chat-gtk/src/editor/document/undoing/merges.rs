//! Tracks the changes from disk that were merged into a text, each as one step of its undo history.

use std::rc::Rc;

use super::super::super::disk::Version;
use super::super::Document;

/// The maximum size of remembered older texts, in bytes.
const MOST: usize = 16 * 1024 * 1024;

/// A change from disk that came into the text: merged with what the user typed, or taken over.
pub(in super::super) struct Merge {
    /// The version before it, with the file that it is based on.
    before: Version,
    /// The version after it.
    after: Version,
    /// Merges it again.
    again: fn(&Rc<Document>),
}

/// The changes that are in the text, and those that the user undid.
#[derive(Default)]
pub(in super::super) struct Merges {
    /// The last one is undone first.
    inside: Vec<Merge>,
    /// The last one is redone first.
    undone: Vec<Merge>,
    /// The user decided for the text without these, but may still return to them by undo or redo.
    decided: Vec<Merge>,
}

impl Merges {
    /// Adds a change that was just merged into the text.
    pub(super) fn push(&mut self, before: Version, after: Version, again: fn(&Rc<Document>)) {
        // The same change may have been undone and merged again.
        self.decided
            .retain(|merge| merge.before.text != before.text || merge.after.text != after.text);
        self.inside.push(Merge { before, after, again });
        let all = [&self.inside, &self.undone, &self.decided];
        let mut size: usize = all.into_iter().flatten().map(Merge::size).sum();
        while size > MOST && !self.decided.is_empty() {
            size -= self.decided.remove(0).size();
        }
        while size > MOST && self.inside.len() > 1 {
            size -= self.inside.remove(0).size();
            // Before this one, it is no longer known what the user undid.
            self.inside[0].before.common = None;
            self.inside[0].again = Document::say_changed;
        }
    }

    /// Whether the text lacks a change that the user undid.
    pub(super) fn has_undone(&self) -> bool {
        !self.undone.is_empty()
    }

    /// The user undid a step, and this is the text now. If the step was a change from disk, returns
    /// the version without it.
    pub(super) fn undo(&mut self, now: &Version) -> Option<Version> {
        let before = self.take_out(now);
        self.come_back(&now.text);
        before
    }

    fn take_out(&mut self, now: &Version) -> Option<Version> {
        // Only what was typed after the last one was undone. Checked first, because the text may
        // equal the text before an earlier one.
        if self.inside.last().is_some_and(|merge| merge.after.text == now.text) {
            return None;
        }
        let at = self.inside.iter().rposition(|merge| merge.before.text == now.text)?;
        let gone = self.inside.split_off(at);
        // The user may have removed the change by hand, and saved that.
        let is_saved = now.common.as_ref() == Some(&now.text);
        if is_saved && gone[0].before.common.is_some() {
            self.decided.extend(gone);
            return None;
        }
        // The text with the last one may have been saved since.
        let mut known = now.clone();
        for mut merge in gone.into_iter().rev() {
            let text = merge.after.text.clone();
            let before = merge.before.clone();
            merge.after = Version { text, ..std::mem::replace(&mut known, before) };
            self.undone.push(merge);
        }
        Some(known)
    }

    /// The user redid a step, and this is the text now. If the step was a change from disk, returns
    /// the version with it.
    pub(super) fn redo(&mut self, text: &str) -> Option<Version> {
        let Some(merge) = self.undone.pop_if(|merge| &*merge.after.text == text) else {
            self.come_back(text);
            return None;
        };
        let after = merge.after.clone();
        self.inside.push(merge);
        Some(after)
    }

    /// The text may again contain a change that the user decided against. Its base stays the same.
    fn come_back(&mut self, text: &str) {
        if let Some(at) = self.decided.iter().rposition(|merge| &*merge.after.text == text) {
            self.inside.push(self.decided.remove(at));
        }
    }

    /// How to merge again what was undone.
    pub(super) fn again(&self) -> Option<fn(&Rc<Document>)> {
        self.undone.last().map(|merge| merge.again)
    }

    /// Records a save that was made while changes were undone: redoing them returns to this file.
    pub(super) fn written(&mut self, written: &Version) {
        if let Some(merge) = self.undone.first_mut() {
            merge.after = Version { text: merge.after.text.clone(), ..written.clone() };
        }
    }

    /// Another base was chosen for the current text, so it lacks nothing.
    pub(super) fn settle(&mut self) {
        self.decided.append(&mut self.undone);
    }
}

impl Merge {
    /// The size of its texts, in bytes. Most merges share one with the next.
    fn size(&self) -> usize {
        self.before.text.len() + self.after.text.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::editor::disk::usual;

    fn version(text: &str, common: &str) -> Version {
        let (text, common) = (text.into(), Some(common.into()));
        Version { text, format: usual(), disk_state: None, common, overwrites: None }
    }

    fn common(version: Option<Version>) -> Option<String> {
        version?.common.as_deref().map(str::to_owned)
    }

    #[test]
    fn several_that_were_undone_at_once_come_back_one_by_one() {
        let mut merges = Merges::default();
        merges.push(version("a", "0"), version("ab", "1"), Document::merge_again);
        merges.push(version("ab", "1 saved"), version("abc", "2"), Document::merge_again);
        assert_eq!(common(merges.undo(&version("a", "2 saved"))).as_deref(), Some("0"));
        assert!(merges.has_undone());
        assert_eq!(common(merges.redo("ab")).as_deref(), Some("1 saved"));
        assert!(merges.has_undone());
        assert_eq!(common(merges.redo("abc")).as_deref(), Some("2 saved"));
        assert!(!merges.has_undone());
    }

    #[test]
    fn what_the_user_decided_against_is_known_again_once_it_is_back() {
        let mut merges = Merges::default();
        merges.push(version("a", "0"), version("ab", "1"), Document::merge_again);
        merges.undo(&version("a", "1"));
        merges.settle();
        assert!(!merges.has_undone());
        assert!(merges.redo("ab").is_none());
        assert_eq!(common(merges.undo(&version("a", "ab"))).as_deref(), Some("0"));
        // Also by undoing the manual removal.
        merges.settle();
        assert!(merges.undo(&version("ab", "a")).is_none());
        assert_eq!(common(merges.undo(&version("a", "ab"))).as_deref(), Some("0"));
    }

    #[test]
    fn what_is_no_longer_remembered_is_behind_an_unknown_file() {
        let mut merges = Merges::default();
        let long = "x".repeat(MOST);
        merges.push(version("a", "0"), version("ab", "1"), Document::merge_again);
        merges.push(version("ab", "1"), version(&long, "2"), Document::merge_again);
        // Not even a saved text without the change makes it forget that.
        let before = merges.undo(&version("ab", "ab")).expect("a version");
        assert!(before.common.is_none() && merges.has_undone());
    }
}
