//! Finds places in what shows a part of the text, and paints what is selected there: prose, code, tables, labels and
//! formulas.

use std::ops::Range;

use gtk::gdk::RGBA;
use gtk::graphene::Rect;
use gtk::prelude::*;

use super::code::CodeBlock;
use super::formula::FormulaBlock;
use super::letter_areas::{
    areas_in_label, areas_in_view, byte_of, caret_in_label, caret_in_view, edge_in_label,
    edge_in_view, letter_in_label, letter_in_view, translated,
};
use super::position::RowPosition;
use super::prose::Prose;
use super::rich_text::details::DetailsBlock;
use super::table::TableBlock;

/// What shows a part of the text, letter for letter.
pub enum TextSurface<'a> {
    Prose(&'a Prose),
    Code(&'a CodeBlock),
    Table(&'a TableBlock),
    Label(&'a gtk::Label),
    /// All of its letters are at one place.
    Formula(&'a FormulaBlock),
    /// The same: what is inside may not be shown.
    Details(&'a DetailsBlock),
    /// Without text: a picture, or a line across.
    Still,
}

impl TextSurface<'_> {
    fn view(&self) -> Option<&gtk::TextView> {
        match self {
            Self::Prose(prose) => Some(prose.widget()),
            Self::Code(code) => Some(code.text_view()),
            _ => None,
        }
    }

    /// The widget that has all of it; none without text.
    pub fn widget(&self) -> Option<gtk::Widget> {
        match self {
            Self::Prose(prose) => Some(prose.widget().clone().upcast()),
            Self::Code(code) => Some(code.frame().clone().upcast()),
            Self::Table(table) => Some(table.widget().clone().upcast()),
            Self::Label(label) => Some((*label).clone().upcast()),
            Self::Formula(formula) => Some(formula.widget().clone().upcast()),
            Self::Details(details) => Some(details.widget().clone().upcast()),
            Self::Still => None,
        }
    }

    /// How many letters it has.
    pub fn letter_count(&self) -> usize {
        match self {
            Self::Prose(prose) => prose.widget().buffer().char_count() as usize,
            Self::Code(code) => code.text_view().buffer().char_count() as usize,
            Self::Table(table) => table.letter_count(),
            Self::Label(label) => label.text().chars().count(),
            Self::Formula(formula) => formula.source().map_or(0, |it| it.chars().count()),
            Self::Details(details) => details.letter_count(),
            Self::Still => 0,
        }
    }

    /// The place that is nearest to a point of another widget.
    pub fn letter_at(&self, from: &impl IsA<gtk::Widget>, (x, y): (f64, f64)) -> Option<usize> {
        if let Some(view) = self.view() {
            return Some(letter_in_view(view, from.translate_coordinates(view, x, y)?));
        }
        match self {
            Self::Table(table) => {
                table.letter_at(from.translate_coordinates(table.widget(), x, y)?)
            }
            Self::Label(label) => {
                Some(letter_in_label(label, from.translate_coordinates(*label, x, y)?))
            }
            _ => {
                let widget = self.widget()?;
                let (x, y) = from.translate_coordinates(&widget, x, y)?;
                let (width, height) = (f64::from(widget.width()), f64::from(widget.height()));
                let is_behind = y > height || (y > 0.0 && x > width / 2.0);
                Some(if is_behind { self.letter_count() } else { 0 })
            }
        }
    }

    /// Where a place stands in another widget: as wide as nothing.
    pub fn caret_area(&self, letter: usize, to: &impl IsA<gtk::Widget>) -> Option<Rect> {
        if let Some(view) = self.view() {
            return translated(&caret_in_view(view, letter), view, to);
        }
        if let Some((label, letter)) = self.label_of(letter) {
            return translated(&caret_in_label(&label, letter), &label, to);
        }
        let area = self.widget()?.compute_bounds(to)?;
        let x = if letter == 0 { area.x() } else { area.x() + area.width() };
        Some(Rect::new(x, area.y(), 0.0, area.height()))
    }

    /// The first or last place of the line that a letter is in.
    pub fn edge(&self, letter: usize, forward: bool) -> usize {
        if let Some(view) = self.view() {
            return edge_in_view(view, letter, forward);
        }
        match self.label_of(letter) {
            Some((label, within)) => letter - within + edge_in_label(&label, within, forward),
            None if forward => self.letter_count(),
            None => 0,
        }
    }

    /// Scrolls code, which scrolls within itself, to a letter.
    pub fn scroll_to(&self, letter: usize) {
        if let Self::Code(code) = self {
            let buffer = code.text_view().buffer();
            buffer.place_cursor(&buffer.iter_at_offset(letter as i32));
            code.text_view().scroll_mark_onscreen(&buffer.get_insert());
        }
    }

    /// The label that has a letter, and which letter of the label that is.
    fn label_of(&self, letter: usize) -> Option<(gtk::Label, usize)> {
        match self {
            Self::Table(table) => table.cell_of(letter),
            Self::Label(label) => Some(((*label).clone(), letter)),
            _ => None,
        }
    }

    /// The same as a position of its row. What is folded away there is shown.
    pub fn position(&self, letter: usize, row: &gtk::Widget) -> Option<RowPosition> {
        if let Self::Code(code) = self {
            code.show_letter(letter);
        }
        if let Some(view) = self.view() {
            return Some(RowPosition::in_text(view, row, letter));
        }
        match self.label_of(letter) {
            Some((label, letter)) => {
                Some(RowPosition::in_label(&label, row, byte_of(&label.text(), letter)))
            }
            None => Some(RowPosition::top(&self.widget()?)),
        }
    }

    /// Takes the keyboard, with the caret at a letter.
    pub fn take_focus(&self, letter: usize) {
        if let Some(view) = self.view() {
            let buffer = view.buffer();
            buffer.place_cursor(&buffer.iter_at_offset(letter as i32));
            view.grab_focus();
        } else if let Some((label, _)) = self.label_of(letter) {
            label.grab_focus();
        } else if let Some(widget) = self.widget() {
            widget.child_focus(gtk::DirectionType::TabForward);
        }
    }

    /// The letter at the caret, if it has one.
    pub fn caret(&self) -> Option<usize> {
        self.view().map(|view| view.buffer().cursor_position() as usize)
    }

    /// Whether its caret is on a link.
    pub fn is_on_link(&self) -> bool {
        matches!(self, Self::Prose(prose) if prose.is_on_link())
    }

    /// Whether a widget is its text.
    pub fn has(&self, widget: &gtk::Widget) -> bool {
        match self {
            Self::Table(table) => table.has(widget),
            Self::Formula(formula) => {
                widget.is_ancestor(formula.widget()) && !widget.is::<gtk::Scrollbar>()
            }
            Self::Label(label) => widget == label.upcast_ref::<gtk::Widget>(),
            _ => self.view().is_some_and(|view| widget == view.upcast_ref::<gtk::Widget>()),
        }
    }

    /// Paints the ground of these letters in another widget, of which so much is in sight, in pixels.
    pub fn paint(
        &self,
        letters: &Range<usize>,
        snapshot: &gtk::Snapshot,
        to: &impl IsA<gtk::Widget>,
        sight: f64,
        colour: &RGBA,
    ) {
        let clip = self.widget().filter(|_| matches!(self, Self::Code(_) | Self::Table(_)));
        let clip = clip.and_then(|clip| clip.compute_bounds(to));
        if let Some(clip) = &clip {
            snapshot.push_clip(clip);
        }
        let fill = |area: &Rect, widget: &gtk::Widget| {
            if let Some(area) = translated(area, widget, to) {
                snapshot.append_color(colour, &area);
            }
        };
        if let Some(view) = self.view() {
            let y = |y: f64| to.translate_coordinates(view, 0.0, y).map_or(0.0, |(_, y)| y);
            for area in areas_in_view(view, letters, (y(0.0), y(sight))) {
                fill(&area, view.upcast_ref());
            }
        } else {
            match self {
                Self::Table(table) => {
                    let bottom = |cell: &gtk::Label| {
                        cell.translate_coordinates(to, 0.0, f64::from(cell.height()))
                    };
                    let top = |cell: &gtk::Label| cell.translate_coordinates(to, 0.0, 0.0);
                    let cells = table.cells_in(letters).into_iter();
                    let below =
                        cells.skip_while(|(cell, _)| bottom(cell).is_none_or(|it| it.1 < 0.0));
                    let seen =
                        below.take_while(|(cell, _)| top(cell).is_none_or(|it| it.1 < sight));
                    for (cell, letters) in seen {
                        for area in areas_in_label(&cell, &letters) {
                            fill(&area, cell.upcast_ref());
                        }
                    }
                }
                Self::Label(label) => {
                    for area in areas_in_label(label, letters) {
                        fill(&area, label.upcast_ref());
                    }
                }
                _ => {
                    if let Some(area) = self.widget().and_then(|all| all.compute_bounds(to)) {
                        snapshot.append_color(colour, &area);
                    }
                }
            }
        }
        if clip.is_some() {
            snapshot.pop();
        }
    }
}
