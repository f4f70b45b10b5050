//! Finds places of the text in rows that have widgets, and paints what is selected in those that are in sight.

use std::ops::Range;

use gtk::gdk::RGBA;
use gtk::graphene::Rect;
use gtk::prelude::*;

use super::Rows;
use super::offsets::EntryOffsets;
use super::row::RowWidget;
use crate::conversation::column::Column;
use crate::conversation::model::entry::Entry;
use crate::conversation::model::row_text::has_text;
use crate::conversation::model::selection::{Span, TextPlace};
use crate::conversation::widgets::position::RowPosition;
use crate::conversation::widgets::text_surface::TextSurface;

impl Rows {
    /// The place of the text that is nearest to a point of the column: of a row without text, the end of what stands
    /// above.
    pub fn place_at(&self, point: (f64, f64), entries: &[Entry]) -> Option<TextPlace> {
        let offsets = EntryOffsets::new(entries);
        let place = |index: usize, letter| place_in(entries, &offsets, index, letter);
        let at = self.at_height(point.1).unwrap_or(self.made.start);
        let letter = |index: usize| self.text_widget(index)?.letter_at(&self.column, point);
        if let Some(letter) = letter(at) {
            return Some(place(at, letter));
        }
        let above = (self.made.start..at.min(self.made.end))
            .rev()
            .find_map(|index| Some(place(index, self.text_widget(index)?.letter_count()?)));
        above.or_else(|| {
            let below = |index: &usize| self.text_widget(*index).is_some();
            (at..self.made.end).find(below).map(|index| place(index, 0))
        })
    }

    /// The first place of a row, or that of the caret in the widget that has the keyboard there.
    pub fn caret_place(
        &self,
        index: usize,
        focus: &gtk::Widget,
        entries: &[Entry],
    ) -> Option<TextPlace> {
        let letter = self.text_widget(index)?.caret_letter(focus).unwrap_or(0);
        Some(place_in(entries, &EntryOffsets::new(entries), index, letter))
    }

    /// Whether the caret in the widget that has the keyboard in a row is on a link.
    pub fn is_on_link(&self, index: usize, focus: &gtk::Widget) -> bool {
        self.text_widget(index).is_some_and(|row| {
            row.surfaces().iter().any(|(_, surface)| surface.has(focus) && surface.is_on_link())
        })
    }

    /// How much of the text is in sight, in pixels.
    pub fn page(&self) -> f64 {
        self.column.extent().1
    }

    /// The row of a place.
    pub fn row_of_place(place: TextPlace, entries: &[Entry]) -> Option<usize> {
        let at = entries.iter().position(|entry| entry.id() == place.message)?;
        let before: usize = entries[..at].iter().map(|entry| entry.rows).sum();
        (place.row < entries[at].rows).then_some(before + place.row)
    }

    /// Where a place stands in the column: as wide as nothing.
    pub fn caret_area(&self, place: TextPlace, entries: &[Entry]) -> Option<Rect> {
        let index = Self::row_of_place(place, entries)?;
        self.text_widget(index)?.caret_area(place.letter, &self.column)
    }

    /// The first or last place of the line that a place is in.
    pub fn edge_of_line(
        &self,
        place: TextPlace,
        forward: bool,
        entries: &[Entry],
    ) -> Option<TextPlace> {
        let widget = self.text_widget(Self::row_of_place(place, entries)?)?;
        let (start, surface) = widget.surface_of(place.letter)?;
        let letter = start + surface.edge(place.letter - start, forward);
        Some(TextPlace { letter, ..place })
    }

    /// Brings a place into sight within its block, where that scrolls.
    pub fn scroll_block_to(&self, place: TextPlace, entries: &[Entry]) {
        let index = Self::row_of_place(place, entries);
        let widget = index.and_then(|index| self.text_widget(index));
        if let Some((start, surface)) = widget.and_then(|widget| widget.surface_of(place.letter)) {
            surface.scroll_to(place.letter - start);
        }
    }

    /// Gives the row of a place the keyboard, with the caret there.
    pub fn focus_place(&self, place: TextPlace, entries: &[Entry]) {
        let index = Self::row_of_place(place, entries);
        if let Some(widget) = index.and_then(|index| self.text_widget(index)) {
            widget.widget().set_child_visible(true);
            widget.take_focus(place.letter);
        }
    }

    /// Brings a place into sight.
    pub fn reveal_place(&self, place: TextPlace, entries: &[Entry], holds: bool) {
        let Some(index) = Self::row_of_place(place, entries) else { return };
        let position =
            self.text_widget(index).and_then(|widget| widget.letter_position(place.letter));
        if let Some(position) = position {
            let holds = holds || !self.reach_end();
            self.column.reveal(index - self.made.start, position, holds);
        }
    }

    /// Whether a widget of the column is the text of a row: what is pressed there selects.
    pub fn is_text(&self, widget: &gtk::Widget) -> bool {
        let row = self.index_of(widget).and_then(|index| self.text_widget(index));
        row.is_some_and(|row| row.is_text(widget))
    }

    /// Whether the row that a widget stands in has text that can be selected.
    pub fn is_in_text(&self, widget: &gtk::Widget) -> bool {
        self.index_of(widget).is_some_and(|index| self.text_widget(index).is_some())
    }

    /// Paints what is selected, below the rows that are in sight.
    pub fn paint_selection(
        &self,
        snapshot: &gtk::Snapshot,
        entries: &[Entry],
        span: &Span,
        colour: &RGBA,
    ) {
        let page = self.column.extent().1;
        let offsets = EntryOffsets::new(entries);
        for index in self.made.clone() {
            let at = index - self.made.start;
            let (Some(top), Some(height)) = (self.column.top_of(at), self.column.height_of(at))
            else {
                continue;
            };
            if top > page {
                break;
            }
            let entry = offsets.of(index);
            if top + f64::from(height) < 0.0 {
                continue;
            }
            if let Some(letters) = span.letters(entry, index - offsets.starts[entry])
                && let Some(widget) = self.text_widget(index)
            {
                widget.paint(&letters, snapshot, &self.column, page, colour);
            }
        }
    }

    /// The widget of a row whose text can be selected.
    fn text_widget(&self, index: usize) -> Option<&RowWidget> {
        let row = self.all.get(index).filter(|row| has_text(row.kind))?;
        row.widget.as_ref().filter(|widget| widget.letter_count().is_some())
    }
}

fn place_in(entries: &[Entry], offsets: &EntryOffsets, index: usize, letter: usize) -> TextPlace {
    let entry = offsets.of(index);
    TextPlace { message: entries[entry].id(), row: index - offsets.starts[entry], letter }
}

impl RowWidget {
    /// What shows its text, block by block, and the letter of the row's text that each begins with.
    fn surfaces(&self) -> Vec<(usize, TextSurface<'_>)> {
        let surfaces = match self {
            Self::Prose(prose) => vec![TextSurface::Prose(prose)],
            Self::Code(code) => vec![TextSurface::Code(code)],
            Self::Table(table) => vec![TextSurface::Table(table)],
            Self::Formula(formula) => vec![TextSurface::Formula(formula)],
            Self::Details(details) => vec![TextSurface::Details(details)],
            Self::Remark(label) => vec![TextSurface::Label(label)],
            Self::User(said) => said.surfaces(),
            _ => Vec::new(),
        };
        let mut out = Vec::with_capacity(surfaces.len());
        let mut at = 0;
        for surface in surfaces {
            let start = at;
            at += surface.letter_count() + 1;
            out.push((start, surface));
        }
        out
    }

    /// How many letters its text has; none where it has no text that can be selected.
    fn letter_count(&self) -> Option<usize> {
        let surfaces = self.surfaces();
        let (start, last) = surfaces.last()?;
        Some(start + last.letter_count())
    }

    /// The block that has a letter, and the letter that it begins with.
    fn surface_of(&self, letter: usize) -> Option<(usize, TextSurface<'_>)> {
        self.surfaces().into_iter().rfind(|(start, _)| *start <= letter)
    }

    /// The place of its text that is nearest to a point of the column.
    fn letter_at(&self, column: &Column, point: (f64, f64)) -> Option<usize> {
        let surfaces = self.surfaces();
        let is_above = |surface: &TextSurface<'_>| {
            let bounds = surface.widget().and_then(|widget| widget.compute_bounds(column));
            bounds.is_some_and(|bounds| f64::from(bounds.y()) <= point.1)
        };
        let here = surfaces.iter().rfind(|(_, surface)| is_above(surface));
        let (start, surface) = here.or(surfaces.first())?;
        Some(start + surface.letter_at(column, point)?)
    }

    fn caret_area(&self, letter: usize, column: &Column) -> Option<Rect> {
        let (start, surface) = self.surface_of(letter)?;
        surface.caret_area(letter - start, column)
    }

    fn letter_position(&self, letter: usize) -> Option<RowPosition> {
        let (start, surface) = self.surface_of(letter)?;
        surface.position(letter - start, &self.widget())
    }

    fn take_focus(&self, letter: usize) {
        if let Some((start, surface)) = self.surface_of(letter) {
            surface.take_focus(letter - start);
        }
    }

    /// The letter at the caret in this widget, if it is one of its texts.
    fn caret_letter(&self, focus: &gtk::Widget) -> Option<usize> {
        let surfaces = self.surfaces();
        let (start, surface) = surfaces.iter().find(|(_, surface)| surface.has(focus))?;
        Some(start + surface.caret()?)
    }

    /// Whether a widget in it is its text.
    fn is_text(&self, widget: &gtk::Widget) -> bool {
        self.surfaces().iter().any(|(_, surface)| surface.has(widget))
    }

    fn paint(
        &self,
        letters: &Range<usize>,
        snapshot: &gtk::Snapshot,
        column: &Column,
        page: f64,
        colour: &RGBA,
    ) {
        for (at, surface) in self.surfaces() {
            let end = at + surface.letter_count();
            let (from, to) = (letters.start.max(at), letters.end.min(end));
            if from < to {
                surface.paint(&(from - at..to - at), snapshot, column, page, colour);
            }
        }
    }
}
