//! Builds blocks from the parser's events.

mod builder;
mod details;

use std::cell::RefCell;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CowStr, Event, Options, Parser, Tag};

use super::block::Block;
use super::label::{Label, Target};
use super::math::{self, Covered};
use builder::Builder;

/// A parsed text.
pub struct Built {
    /// Its top-level blocks, in order.
    pub tops: Vec<Top>,
    /// Its link definitions, in order.
    pub definitions: Vec<Definition>,
    /// Where a formula or a folded part begins whose end may still come: nothing after it is certain.
    pub open: Option<usize>,
}

/// A top-level block.
pub struct Top {
    /// The block.
    pub block: Block,
    /// Its bytes in the source. The first line may begin earlier.
    pub range: Range<usize>,
    /// Where its last text ends. (The range of a container may include what follows it.)
    pub end: usize,
    /// The labels that its links refer to, defined or not.
    pub labels: Vec<Label>,
    /// The items of a list.
    pub items: Vec<ItemStart>,
}

/// The beginning of a list item.
#[derive(Clone, Copy)]
pub struct ItemStart {
    /// Its first byte. Its first line may begin earlier.
    pub at: usize,
    /// Whether it has text of its own, which shows whether the list is tight.
    pub shows_tightness: bool,
}

/// A link definition.
pub struct Definition {
    /// Its label.
    pub label: Label,
    /// Its target.
    pub target: Target,
    /// Where it begins.
    pub start: usize,
}

#[cfg(test)]
thread_local! {
    /// How many bytes were parsed in this thread.
    pub static COUNTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Parses a text whose line endings are all `\n`. `resolve` looks up definitions outside the text;
/// they take precedence over its own.
pub fn build(source: &str, resolve: &dyn Fn(&Label) -> Option<Target>) -> Built {
    read(source, resolve, true)
}

/// Parses a part of a text that is known to be followed by another block.
pub fn build_part(source: &str, resolve: &dyn Fn(&Label) -> Option<Target>) -> Built {
    read(source, resolve, false)
}

/// `grows`: whether more text may follow that belongs to the last block.
fn read(source: &str, resolve: &dyn Fn(&Label) -> Option<Target>, grows: bool) -> Built {
    #[cfg(test)]
    COUNTED.set(COUNTED.get() + source.len());
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_OLD_FOOTNOTES
        // Alerts; nothing else depends on it.
        | Options::ENABLE_GFM;
    let known = |link: BrokenLink<'_>| {
        let target = resolve(&Label::new(link.reference.into_string()))?;
        Some((CowStr::from(target.address), CowStr::from(target.title)))
    };
    let Covered { text, formulas, open } = math::cover(source, options, &known, grows);
    let asked = RefCell::new(Vec::new());
    let callback = |link: BrokenLink<'_>| {
        let label = Label::new(link.reference.into_string());
        let target = resolve(&label);
        asked.borrow_mut().push(label);
        target.map(|t| (CowStr::from(t.address), CowStr::from(t.title)))
    };
    let parser = Parser::new_with_broken_link_callback(&text, options, Some(callback));
    let mut definitions: Vec<Definition> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| Definition {
            label: Label::new(label.to_owned()),
            target: Target {
                address: definition.dest.to_string(),
                title: definition.title.as_deref().unwrap_or_default().to_owned(),
            },
            start: definition.span.start,
        })
        .collect();
    definitions.sort_by_key(|definition| definition.start);

    let mut builder = Builder {
        stack: Vec::new(),
        too_deep: 0,
        tops: Vec::new(),
        end: 0,
        resolve,
        asked: &asked,
        source,
        formulas: &formulas,
    };
    for (event, range) in parser.into_offset_iter() {
        match &event {
            Event::Start(
                Tag::List(_) | Tag::Item | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_),
            )
            | Event::End(_) => {}
            _ => builder.end = builder.end.max(range.end),
        }
        builder.take(event, range);
    }
    let (tops, folded) = details::fold(builder.tops, source);
    let open = [open, folded.filter(|_| grows)].into_iter().flatten().min();
    Built { tops, definitions, open }
}
