//! Headings: what stands below one belongs to it, as far as the next of its own level or a higher
//! one. The grammar's own sections know nothing of headings that are underlined.

use tree_sitter::Node;

use super::{line, one_line};
use crate::{Kind, Symbol};

/// The headings of a text, with all that stands below each.
pub(super) fn headings(text: &str, found: &[(Kind, Node<'_>, Node<'_>)]) -> Vec<Symbol> {
    let last = line(text.lines().count().saturating_sub(1));
    let levels: Vec<_> = found.iter().map(|(_, _, item)| level(&text[item.byte_range()])).collect();
    let mut around: Vec<usize> = Vec::new();
    let heading = |(at, (kind, name, item)): (usize, &(Kind, Node<'_>, Node<'_>))| {
        let own = levels[at];
        around.retain(|level| *level < own);
        let depth = around.len();
        around.push(own);
        let from = line(item.start_position().row);
        let next = (at + 1..found.len()).find(|next| levels[*next] <= own);
        let to = next.map_or(last, |next| line(found[next].2.start_position().row) - 1);
        let start = text[..name.start_byte()].rfind('\n').map_or(0, |at| at + 1);
        Symbol {
            kind: *kind,
            name: one_line(&text[name.byte_range()]),
            signature: one_line(&text[start..name.end_byte()]),
            depth,
            lines: (from, to.max(from)),
        }
    };
    found.iter().enumerate().map(heading).collect()
}

/// From 1, the highest.
fn level(heading: &str) -> usize {
    let marks = heading.trim_start().bytes().take_while(|byte| *byte == b'#').count();
    let underlined = || heading.trim_end().lines().last().unwrap_or("").trim_start().to_owned();
    match marks {
        0 if underlined().starts_with('=') => 1,
        0 => 2,
        marks => marks,
    }
}
