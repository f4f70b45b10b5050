//! Splits inline text into runs of one style, with the links that may be opened.

use std::rc::Rc;

use super::super::block::Inline;
use super::super::link::{is_picture_address, is_safe_address, visible_address};
use super::bare::{Bare, bare_address};
use super::emoji::with_emoji;
use super::footnote::NotePlace;
use super::html::{Kind, Meaning, meaning};
use super::{LINE_END, Run, Style};

/// A closing tag is searched for in this many pieces.
const FARTHEST_END: usize = 100;

/// The longest formula in a line that is drawn, in bytes.
const LONGEST_FORMULA: usize = 2_000;

/// Adds inline text as runs.
pub fn inline_runs(inlines: &[Inline], style: Style, link: Option<&Rc<str>>, out: &mut Vec<Run>) {
    let mut at = 0;
    while let Some(inline) = inlines.get(at) {
        at += 1;
        match inline {
            Inline::Html(tag) if meaning(tag) == Some(Meaning::Break) => {
                push(out, LINE_END, style, link);
            }
            Inline::Html(tag)
                if let Some(Meaning::Begins(kind)) = meaning(tag)
                    && let Some(length) = end_of(kind, &inlines[at..]) =>
            {
                inline_runs(&inlines[at..at + length], kind.styled(style), link, out);
                at += length + 1;
            }
            Inline::Text(text) if link.is_none() => push_linked(out, text, style),
            Inline::Text(text) => push(out, &with_emoji(text), style, link),
            Inline::Math(text) if text.len() <= LONGEST_FORMULA => {
                let style = Style { formula: true, ..style };
                out.push(Run { text: text.clone(), style, link: link.cloned() });
            }
            Inline::Code(text) | Inline::Math(text) | Inline::Html(text) => {
                push(out, text, Style { code: true, ..style }, link);
            }
            Inline::Emphasis(inner) => {
                inline_runs(inner, Style { emphasis: true, ..style }, link, out);
            }
            Inline::Strong(inner) => inline_runs(inner, Style { strong: true, ..style }, link, out),
            Inline::Strike(inner) => inline_runs(inner, Style { strike: true, ..style }, link, out),
            Inline::Link { address, text, .. } if is_safe_address(address) => {
                let link = Rc::from(address.as_str());
                if text.is_empty() {
                    push(out, &visible_address(address), style, Some(&link));
                } else {
                    inline_runs(text, style, Some(&link), out);
                }
            }
            Inline::Link { address, text, .. } => {
                inline_runs(text, style, link, out);
                let mut shown = String::new();
                plain(text, &mut shown);
                if shown != *address {
                    address_behind(out, address, style);
                }
            }
            Inline::Image { address, alt, .. } if is_picture_address(address) => {
                let mut text = String::new();
                plain(alt, &mut text);
                let shown = format!("🖼 {text}");
                push(out, shown.trim_end(), style, Some(&Rc::from(address.as_str())));
            }
            Inline::Image { address, alt, .. } => {
                let mut text = String::new();
                plain(alt, &mut text);
                push(out, if text.is_empty() { "🖼" } else { &text }, style, link);
                if text != *address {
                    address_behind(out, address, style);
                }
            }
            Inline::Footnote(label) => {
                let to_note = NotePlace::Note(label).address();
                push(out, label, Style { raised: true, ..style }, Some(link.unwrap_or(&to_note)));
            }
            // A line break is kept, for poems; models do not wrap prose at a fixed width.
            Inline::SoftBreak | Inline::HardBreak => push(out, LINE_END, style, link),
        }
    }
}

/// How many pieces come before the closing tag of this kind, if there is one nearby.
fn end_of(kind: Kind, inlines: &[Inline]) -> Option<usize> {
    let ends = |inline: &Inline| matches!(inline, Inline::Html(tag) if meaning(tag) == Some(Meaning::Ends(kind)));
    inlines.iter().take(FARTHEST_END).position(ends)
}

/// Adds text in which bare addresses become links.
fn push_linked(out: &mut Vec<Run>, text: &str, style: Style) {
    let mut rest = text;
    while let Some(Bare { range, address }) = bare_address(rest) {
        push(out, &with_emoji(&rest[..range.start]), style, None);
        let shown = visible_address(&rest[range.clone()]);
        push(out, &shown, style, Some(&Rc::from(address)));
        rest = &rest[range.end..];
    }
    push(out, &with_emoji(rest), style, None);
}

/// Shows the address of a link that cannot be opened.
fn address_behind(out: &mut Vec<Run>, address: &str, style: Style) {
    if !address.is_empty() {
        let text = format!(" ({})", visible_address(address));
        push(out, &text, Style { faint: true, ..style }, None);
    }
}

fn push(out: &mut Vec<Run>, text: &str, style: Style, link: Option<&Rc<str>>) {
    if text.is_empty() {
        return;
    }
    match out.last_mut() {
        // A formula is never continued.
        Some(last) if last.style == style && last.link.as_ref() == link && !style.formula => {
            last.text.push_str(text);
        }
        _ => out.push(Run { text: text.to_owned(), style, link: link.cloned() }),
    }
}

/// The text of a picture's description.
pub(super) fn plain(inlines: &[Inline], out: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text(text)
            | Inline::Code(text)
            | Inline::Math(text)
            | Inline::Html(text)
            | Inline::Footnote(text) => out.push_str(text),
            Inline::Emphasis(inner)
            | Inline::Strong(inner)
            | Inline::Strike(inner)
            | Inline::Link { text: inner, .. }
            | Inline::Image { alt: inner, .. } => plain(inner, out),
            Inline::SoftBreak | Inline::HardBreak => out.push(' '),
        }
    }
}
