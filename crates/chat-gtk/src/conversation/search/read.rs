//! Reads the rows of a message for a search.

use chat_core::tool::Toolbox;

use super::Pattern;
use super::texts::{each_text, stamp};
use crate::conversation::model::entry::Entry;
use crate::conversation::model::hits::{Hit, MatchQuality, TableCell};

/// Reads the rows of a message that changed since they were read for this search.
pub fn read(entry: &mut Entry, tools: &Toolbox, pattern: &Pattern, search: u64) {
    let mut hits = std::mem::take(&mut entry.hits);
    let rows = entry.shown_kinds().into_iter().map(|kind| (kind, stamp(kind, entry)));
    hits.read(search, rows, |kind| {
        let mut hits = Vec::new();
        each_text(kind, entry, tools, &mut |cell, text| add(pattern, cell, text, &mut hits));
        hits
    });
    entry.hits = hits;
}

fn add(pattern: &Pattern, cell: TableCell, text: &str, hits: &mut Vec<Hit>) {
    let (mut at, mut letter) = (0, 0);
    for bytes in pattern.find(text) {
        let start = letter + text[at..bytes.start].chars().count();
        let end = start + text[bytes.clone()].chars().count();
        (at, letter) = (bytes.end, end);
        let quality = if pattern.is_meant(text, &bytes) {
            MatchQuality::Meant
        } else if pattern.begins_word(text, &bytes) {
            MatchQuality::BeginsWord
        } else {
            MatchQuality::Within
        };
        hits.push(Hit { cell, bytes, letters: start..end, quality });
    }
}
