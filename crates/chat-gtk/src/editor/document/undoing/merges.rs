//! The changes from disk that came into a text, each as one step of its undo history.

use std::rc::Rc;

use super::super::super::disk::Version;
use super::super::Document;

/// What is remembered of older texts, in bytes.
const MOST: usize = 16 * 1024 * 1024;

/// A change from disk that was put into the text: merged with what the user typed, or taken over.
pub(in super::super) struct Merge {
    /// The text before it, and the file that this text comes from.
    before: Version,
    /// The same with the change.
    after: Version,
    /// Puts it in again.
    again: fn(&Rc<Document>),
}

/// Those that are in the text, and those that the user undid.
#[derive(Default)]
pub(in super::super) struct Merges {
    /// The last one is undone first.
    inside: Vec<Merge>,
    /// The last one is redone first.
    undone: Vec<Merge>,
}

impl Merges {
    /// A change has just been put into the text.
    pub(super) fn push(&mut self, before: Version, after: Version, again: fn(&Rc<Document>)) {
        self.inside.push(Merge { before, after, again });
        let mut size: usize = self.inside.iter().map(Merge::size).sum();
        while size > MOST && self.inside.len() > 1 {
            size -= self.inside.remove(0).size();
            // Further back, nobody knows any more what the user undid.
            self.inside[0].before.common = None;
            self.inside[0].again = Document::say_changed;
        }
    }

    /// Whether the text lacks a change that the user undid.
    pub(super) fn has_undone(&self) -> bool {
        !self.undone.is_empty()
    }

    /// The user undid a step, and the text is this now: where that was a change from disk, the file that the text
    /// comes from without it.
    pub(super) fn undo(&mut self, now: &Version) -> Option<Version> {
        // The user may have removed the change by hand, and saved that.
        let is_saved = now.common.as_ref() == Some(&now.text);
        let mut merge = self.inside.pop_if(|merge| merge.before.text == now.text && !is_saved)?;
        // The text with it may have been saved since.
        merge.after = Version { text: merge.after.text.clone(), ..now.clone() };
        let before = merge.before.clone();
        self.undone.push(merge);
        Some(before)
    }

    /// The user redid a step, and the text is this now: where that was a change from disk, the file that the text
    /// comes from with it.
    pub(super) fn redo(&mut self, text: &str) -> Option<Version> {
        let merge = self.undone.pop_if(|merge| &*merge.after.text == text)?;
        let after = merge.after.clone();
        self.inside.push(merge);
        Some(after)
    }

    /// This was written while the user undid changes: redoing them comes back to this file.
    pub(super) fn written(&mut self, written: &Version) {
        if let Some(merge) = self.undone.first_mut() {
            merge.after = Version { text: merge.after.text.clone(), ..written.clone() };
        }
    }

    /// Another base was chosen for the text as it is, so nothing is missing in it. How to put in what was.
    pub(super) fn settle(&mut self) -> Option<fn(&Rc<Document>)> {
        let again = self.undone.last().map(|merge| merge.again);
        self.undone.clear();
        again
    }
}

impl Merge {
    /// Its texts, in bytes. Most merges share one with the next.
    fn size(&self) -> usize {
        self.before.text.len() + self.after.text.len()
    }
}
