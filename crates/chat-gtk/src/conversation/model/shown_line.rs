//! Knows where the runs and links of a line of prose are in the text that shows it.

use std::ops::Range;
use std::rc::Rc;

use super::files::Files;
use crate::markdown::flow::{Line, Run};

/// A line as it is shown.
pub struct ShownLine {
    /// The line.
    pub line: Line,
    /// Its first character in the text, and those before its runs (the marker).
    pub start: i32,
    /// Names of these lead there.
    pub files: Files,
}

impl ShownLine {
    /// Where each of its runs stands in the text, in characters.
    pub fn places(&self) -> impl Iterator<Item = Range<i32>> {
        let marker = self.line.marker.as_ref();
        let mut at = self.start + marker.map_or(0, |marker| marker.chars().count() as i32 + 1);
        self.line.runs.iter().map(move |run| {
            let start = at;
            at += run.text.chars().count() as i32;
            start..at
        })
    }

    /// Its formulas: where each stands in the text, in characters, and as it was written.
    pub fn formulas(&self) -> impl Iterator<Item = (Range<i32>, &str)> {
        let runs = self.places().zip(&self.line.runs).filter(|(_, run)| run.style.formula);
        runs.map(|(place, run)| (place, run.text.as_str()))
    }

    /// Its links: where each stands in the text, in characters, and where it leads.
    pub fn links(&self) -> Vec<(Range<i32>, Rc<str>)> {
        let mut out = Vec::new();
        for (place, run) in self.places().zip(&self.line.runs) {
            self.links_of(run, place, &mut out);
        }
        out
    }

    fn links_of(&self, run: &Run, place: Range<i32>, out: &mut Vec<(Range<i32>, Rc<str>)>) {
        if let Some(link) = &run.link {
            return out.push((place, Rc::clone(link)));
        }
        let letters = |bytes: &str| bytes.chars().count() as i32;
        for (name, link) in self.files.links_in(run) {
            let start = place.start + letters(&run.text[..name.start]);
            let end = start + letters(&run.text[name]);
            out.push((start..end, link));
        }
    }

    /// The address of the link at this character of the text.
    pub fn link_at(&self, offset: i32) -> Option<Rc<str>> {
        let mut here = self.places().zip(&self.line.runs);
        let (place, run) = here.find(|(place, _)| place.contains(&offset))?;
        let mut links = Vec::new();
        self.links_of(run, place, &mut links);
        links.into_iter().find_map(|(place, link)| place.contains(&offset).then_some(link))
    }
}
