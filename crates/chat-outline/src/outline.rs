//! Finds what a text defines.

mod headings;

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use streaming_iterator::StreamingIterator;
use tree_sitter::{Node, ParseOptions, Parser, QueryCursor, QueryCursorOptions};

use self::headings::headings;
use crate::{Kind, Language, Symbol};

/// How long a text may take: a pathological one must not hold anybody up.
const LIMIT: Duration = Duration::from_secs(2);

/// The most characters of a signature.
const LONGEST: usize = 160;

/// Why there is no outline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text took longer to read than two seconds.
    #[error("the file takes too long to read")]
    TooSlow,
    /// The text is longer than an outline can tell of.
    #[error("the file is too long")]
    TooLong,
}

/// What a text defines, in the order in which it stands there. Texts with mistakes in them have
/// the outline of what could be read.
///
/// # Errors
/// The text is too long (4 GiB), or takes too long.
pub fn outline(language: Language, text: &str) -> Result<Vec<Symbol>, Error> {
    within(LIMIT, language, text)
}

fn within(limit: Duration, language: Language, text: &str) -> Result<Vec<Symbol>, Error> {
    if u32::try_from(text.len()).is_err() {
        return Err(Error::TooLong);
    }
    let Some(query) = language.query() else { return Ok(Vec::new()) };
    let (mut parser, begun) = (Parser::new(), Instant::now());
    if parser.set_language(&language.grammar()).is_err() {
        return Ok(Vec::new());
    }
    let late =
        || if begun.elapsed() > limit { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let mut look = |_: &tree_sitter::ParseState| late();
    let bytes = text.as_bytes();
    let options = ParseOptions::new().progress_callback(&mut look);
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let tree = parser.parse_with_options(&mut read, None, Some(options)).ok_or(Error::TooSlow)?;
    let mut found = Vec::new();
    let mut look = |_: &tree_sitter::QueryCursorState| late();
    let mut cursor = QueryCursor::new();
    let options = QueryCursorOptions::new().progress_callback(&mut look);
    let mut matches = cursor.matches_with_options(query, tree.root_node(), bytes, options);
    let names = query.capture_names();
    while let Some(one) = matches.next() {
        let (mut name, mut item) = (None, None);
        for capture in one.captures() {
            match names[capture.index as usize] {
                "name" => name = Some(capture.node),
                kind => item = Kind::of_capture(kind).map(|kind| (kind, capture.node)),
            }
        }
        if let (Some(name), Some((kind, item))) = (name, item) {
            found.push((kind, name, item));
        }
    }
    if late().is_break() {
        return Err(Error::TooSlow);
    }
    found.sort_by_key(|(_, _, item)| (item.start_byte(), usize::MAX - item.end_byte()));
    found.dedup_by_key(|(_, name, _)| name.start_byte());
    Ok(match language {
        Language::Markdown => headings(text, &found),
        _ => symbols(text, &found),
    })
}

fn symbols(text: &str, found: &[(Kind, Node<'_>, Node<'_>)]) -> Vec<Symbol> {
    let mut around: Vec<usize> = Vec::new();
    let symbol = |(kind, name, item): &(Kind, Node<'_>, Node<'_>)| {
        around.retain(|end| *end > item.start_byte());
        let depth = around.len();
        around.push(item.end_byte());
        let last = last_line(item);
        Symbol {
            kind: *kind,
            name: one_line(&text[name.byte_range()]),
            signature: signature(text, *kind, *name, *item),
            depth,
            lines: (line(item.start_position().row), last),
        }
    };
    found.iter().map(symbol).collect()
}

/// A node that ends with a line's end ends in that line, and not at the beginning of the next.
fn last_line(item: &Node<'_>) -> u32 {
    let (first, end) = (item.start_position(), item.end_position());
    let row = if end.column == 0 && end.row > first.row { end.row - 1 } else { end.row };
    line(row)
}

fn line(row: usize) -> u32 {
    u32::try_from(row + 1).unwrap_or(u32::MAX)
}

/// What stands before the body.
fn signature(text: &str, kind: Kind, name: Node<'_>, item: Node<'_>) -> String {
    let body = item.child_by_field_name("body");
    let end = body.map_or(item.end_byte(), |body| body.start_byte());
    let head = &text[item.start_byte()..end.max(name.end_byte())];
    // Values, and bodies that the grammar does not name, stand after the first line.
    let head = if body.is_none() { head.lines().next().unwrap_or(head) } else { head };
    let head = if kind == Kind::Macro { head.split('{').next().unwrap_or(head) } else { head };
    one_line(head).trim_end_matches(['{', ':', '=', ';', ' ']).to_owned()
}

/// A text as one line, and not too long.
fn one_line(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
        if out.chars().count() > LONGEST {
            return out.chars().take(LONGEST - 1).chain(['…']).collect();
        }
    }
    out
}

#[cfg(test)]
mod tests;
