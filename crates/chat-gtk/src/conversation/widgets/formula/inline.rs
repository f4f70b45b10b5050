//! Puts formulas into a text, on the baseline of their line.
//!
//! A picture stands in place of the first letter of the source, which is hidden from there on. So
//! the text keeps as many letters as the source has, and every place in it stays what it is. A
//! formula in several parts has a picture for each, in place of as many letters.

use std::sync::Arc;

use chat_formula::FormulaError;
use gtk::pango;
use gtk::prelude::*;

use super::picture::{self, Picture};
use super::{laid_out, words};
use crate::accessible;
use crate::conversation::model::shown_line::ShownLine;
use crate::conversation::widgets::highlight::{HIDDEN_SOURCE, PICTURE};
use crate::conversation::widgets::tags::Tags;

/// A part that is wider is not drawn in a line, in em: it would not fit into a narrow window.
const WIDEST: f64 = 20.0;

/// Adds a formula to the end of a text. `zoom`: how large the text around it is, as a part of the
/// size of prose. `looks`: the tags of that text. Nothing is added if it cannot be drawn.
pub fn append(
    view: &gtk::TextView,
    source: &str,
    tags: &Tags,
    zoom: f64,
    looks: &[gtk::TextTag],
) -> Result<(), FormulaError> {
    let formula = laid_out(source, false)?;
    let parts = formula.drawings.len();
    let is_too_wide = formula.drawings.iter().any(|drawing| drawing.width > WIDEST);
    let Some((rest, _)) = source.char_indices().nth(parts).filter(|_| !is_too_wide) else {
        return Err(FormulaError::TooLarge);
    };
    let buffer = view.buffer();
    let start = buffer.char_count();
    for part in 0..parts {
        let picture = Picture::new(Arc::clone(&formula), part, &tags.text_size(), zoom, part == 0);
        if part == 0 {
            accessible::set_label(&picture, &words::spoken(&formula.spoken));
        }
        // Pointers reach the text, which has tooltips and menus.
        picture.set_can_target(false);
        let at = buffer.char_count();
        let anchor = buffer.create_child_anchor(&mut buffer.end_iter());
        view.add_child_at_anchor(&picture, &anchor);
        let lowered = lowered(tags, picture.depth());
        buffer.apply_tag(&lowered, &buffer.iter_at_offset(at), &buffer.end_iter());
    }
    let at = buffer.char_count();
    buffer.insert(&mut buffer.end_iter(), &source[rest..]);
    buffer.apply_tag(&hidden(tags), &buffer.iter_at_offset(at), &buffer.end_iter());
    for look in looks {
        buffer.apply_tag(look, &buffer.iter_at_offset(start), &buffer.end_iter());
    }
    Ok(())
}

/// How wide a formula is in a text of this size, in pixels; none where it cannot be drawn in a line.
pub fn width(source: &str, text_size: f64) -> Option<i32> {
    let formula = laid_out(source, false).ok()?;
    let is_too_wide = formula.drawings.iter().any(|drawing| drawing.width > WIDEST);
    let has_letters = source.chars().nth(formula.drawings.len()).is_some();
    (has_letters && !is_too_wide)
        .then(|| formula.drawings.iter().map(|drawing| picture::width_of(drawing, text_size)).sum())
}

/// The tag of a picture that reaches so far below the baseline, in pixels.
fn lowered(tags: &Tags, depth: i32) -> gtk::TextTag {
    let name = format!("formula-depth-{depth}");
    tags.table().lookup(&name).unwrap_or_else(|| {
        let tag = gtk::TextTag::builder().name(&name).rise(-depth * pango::SCALE).build();
        tags.table().add(&tag);
        tag
    })
}

fn hidden(tags: &Tags) -> gtk::TextTag {
    tags.table().lookup(HIDDEN_SOURCE).unwrap_or_else(|| {
        let tag = gtk::TextTag::builder().name(HIDDEN_SOURCE).invisible(true).build();
        tags.table().add(&tag);
        tag
    })
}

/// The text between two places as it was written, with the source of its formulas. A formula is
/// there as a whole where its picture is.
pub fn text_between(
    buffer: &gtk::TextBuffer,
    lines: &[ShownLine],
    mut start: i32,
    mut end: i32,
) -> String {
    for (place, _) in lines.iter().flat_map(ShownLine::formulas) {
        if place.start < start && start < place.end && is_drawn(buffer, place.start) {
            start = place.end;
        }
        if place.start < end && end < place.end && is_drawn(buffer, place.start) {
            end = place.end;
        }
    }
    let slice = buffer.slice(&buffer.iter_at_offset(start), &buffer.iter_at_offset(end), true);
    if !slice.contains(PICTURE) {
        return slice.into();
    }
    let mut letters: Vec<char> = slice.chars().collect();
    for (place, source) in lines.iter().flat_map(ShownLine::formulas) {
        for (at, letter) in (place.start..place.end).zip(source.chars()) {
            let shown = usize::try_from(at - start).ok().and_then(|at| letters.get_mut(at));
            if let Some(shown) = shown.filter(|shown| **shown == PICTURE) {
                *shown = letter;
            }
        }
    }
    letters.into_iter().collect()
}

/// Whether the formula that begins here is a picture.
fn is_drawn(buffer: &gtk::TextBuffer, at: i32) -> bool {
    buffer.iter_at_offset(at).char() == PICTURE
}

/// The formula at this place of a text, as it was written.
pub fn formula_at(lines: &[ShownLine], at: i32) -> Option<String> {
    let mut formulas = lines.iter().flat_map(ShownLine::formulas);
    formulas.find_map(|(place, source)| place.contains(&at).then(|| source.to_owned()))
}

/// Why the formula at this place is not drawn, if there is one.
pub fn reason_at(lines: &[ShownLine], buffer: &gtk::TextBuffer, at: i32) -> Option<String> {
    let mut formulas = lines.iter().flat_map(ShownLine::formulas);
    let (place, source) = formulas.find(|(place, _)| place.contains(&at))?;
    if is_drawn(buffer, place.start) {
        return None;
    }
    Some(words::error(&laid_out(source, false).err().unwrap_or(FormulaError::TooLarge)))
}
