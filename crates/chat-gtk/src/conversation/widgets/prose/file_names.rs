//! Marks the names in a text that lead to files.

use gtk::prelude::*;

use super::Prose;
use crate::conversation::model::files::{Files, words};
use crate::markdown::flow::Run;

impl Prose {
    pub(super) fn names_file(&self, run: &Run) -> bool {
        run.link.is_none() && Files::may_be(run.style) && self.files.find(&run.text).is_some()
    }

    /// Marks those names that lead to a file now, and no others.
    pub fn mark_files(&self) {
        let buffer = self.view.buffer();
        let Some(tag) = self.tags.table().lookup("link") else { return };
        for shown in self.shown.borrow().iter() {
            for (run, place) in shown.line.runs.iter().zip(shown.places()) {
                if run.link.is_some() {
                    continue;
                }
                if !Files::may_be(run.style) {
                    self.mark_words(run, 0, place.start);
                    continue;
                }
                let start = buffer.iter_at_offset(place.start);
                let end = buffer.iter_at_offset(place.end);
                if self.names_file(run) {
                    buffer.apply_tag(&tag, &start, &end);
                } else {
                    buffer.remove_tag(&tag, &start, &end);
                }
            }
        }
    }

    /// Marks those words of a run that lead to a file now, and no others, from this byte of the run
    /// on, which stands here in the text.
    pub(super) fn mark_words(&self, run: &Run, from: usize, at: i32) {
        let buffer = self.view.buffer();
        let Some(tag) = self.tags.table().lookup("link") else { return };
        let (mut byte, mut letter) = (from, at);
        for word in words::candidates(&run.text, from) {
            let mut place = |to: usize| {
                letter += run.text[byte..to].chars().count() as i32;
                byte = to;
                buffer.iter_at_offset(letter)
            };
            let name =
                words::named(&run.text, word.clone(), |name| self.files.find(name).is_some());
            let name = name.unwrap_or(word.end..word.end);
            let marks = [word.start, name.start, name.end, word.end].map(&mut place);
            buffer.remove_tag(&tag, &marks[0], &marks[1]);
            buffer.apply_tag(&tag, &marks[1], &marks[2]);
            buffer.remove_tag(&tag, &marks[2], &marks[3]);
        }
    }
}
