//! Draws a table: its cells wrap where it is wide, and what still does not fit is scrolled sideways.

mod actions;
mod layout;

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use gettextrs::gettext;
use gtk::pango;
use gtk::prelude::*;

use layout::{Cells, Columns, Frame, Widths};

use super::context::Links;
use super::highlight::{MatchColours, highlight_label};
use super::letter_areas::letter_in_label;
use super::tags::LIST_STEP;
use crate::conversation::model::files::Files;
use crate::conversation::model::grid_text::{CellPlace, cell_places};
use crate::conversation::model::hits::Hit;
use crate::layout::manager;
use crate::markdown::flow::{Grid, Run};
use crate::markdown::{Align, visible_address};
use crate::{accessible, nested_scroll};

/// Longer words than this are broken, in characters.
const LONGEST_WORD: usize = 24;
/// How wide a cell may be before its text is wrapped, in characters.
const WIDEST_CELL: i32 = 42;

/// A table.
pub struct TableBlock {
    root: gtk::Box,
    table: gtk::Box,
    rows: RefCell<Vec<Row>>,
    widths: Widths,
    shown: Rc<RefCell<Option<Grid>>>,
    links: Links,
}

/// A row, and its cells.
struct Row {
    root: gtk::Box,
    cells: Vec<gtk::Label>,
}

impl TableBlock {
    /// An empty table.
    pub fn new(links: &Links) -> Self {
        let columns = Columns::default();
        let widths = Rc::clone(&columns.widths);
        let table = gtk::Box::builder()
            .accessible_role(gtk::AccessibleRole::Table)
            .layout_manager(&manager(columns))
            .css_classes(["table"])
            .build();
        accessible::set_label(&table, &gettext("Table"));
        let scroller = gtk::ScrolledWindow::builder()
            .hscrollbar_policy(gtk::PolicyType::Automatic)
            .vscrollbar_policy(gtk::PolicyType::Never)
            // What is cut away at the edge must be seen to be there.
            .overlay_scrolling(false)
            .child(&table)
            .build();
        nested_scroll::pass_on(&scroller);
        let root = gtk::Box::builder()
            .layout_manager(&manager(Frame))
            .css_classes(["table-frame"])
            .build();
        root.append(&scroller);
        let shown = Rc::<RefCell<Option<Grid>>>::default();
        let grid = Rc::clone(&shown);
        root.append(&actions::button(move || grid.borrow().clone()));
        Self { root, table, rows: RefCell::default(), widths, shown, links: links.clone() }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Shows this table: only cells that differ are changed. Whether anything did.
    pub fn update(&self, table: &Grid) -> bool {
        let mut shown = self.shown.borrow_mut();
        if shown.as_ref() == Some(table) {
            return false;
        }
        self.root.set_margin_start(i32::from(table.indent.lists.min(12)) * LIST_STEP);
        let old = shown.as_ref().filter(|old| old.align == table.align);
        let old_rows = old.map_or(&[][..], |old| &old.rows);
        let mut rows = self.rows.borrow_mut();
        let stays = if old.is_some() { table.rows.len().min(rows.len()) } else { 0 };
        for row in rows.drain(stays..) {
            self.table.remove(&row.root);
        }
        for (index, cells) in table.rows.iter().enumerate() {
            if index == rows.len() {
                let row = self.row(index == 0, &table.align);
                self.table.append(&row.root);
                rows.push(row);
            }
            for (column, runs) in cells.iter().enumerate() {
                let before = old_rows.get(index).and_then(|row| row.get(column));
                if let Some(label) = rows[index].cells.get(column)
                    && before != Some(runs)
                {
                    fill(label, runs, &self.links.files);
                }
            }
        }
        shown.replace(table.clone());
        true
    }

    /// A row of empty cells.
    fn row(&self, is_head: bool, align: &[Align]) -> Row {
        let root = gtk::Box::builder()
            .accessible_role(gtk::AccessibleRole::Row)
            .layout_manager(&manager(Cells(Rc::clone(&self.widths))))
            .build();
        let cells: Vec<_> = align.iter().map(|align| self.empty_cell(is_head, *align)).collect();
        for cell in &cells {
            root.append(cell);
        }
        Row { root, cells }
    }

    /// Marks those names that lead to a file now, and no others.
    pub fn mark_files(&self) {
        let shown = self.shown.borrow();
        let rows = shown.as_ref().map_or(&[][..], |grid| &grid.rows);
        for (row, cells) in rows.iter().enumerate() {
            for (column, runs) in cells.iter().enumerate() {
                if let Some(label) = self.cell((row, column)) {
                    set_text(&label, runs, &self.links.files);
                }
            }
        }
    }

    /// The label of a cell, by row and column.
    pub fn cell(&self, (row, column): (usize, usize)) -> Option<gtk::Label> {
        self.rows.borrow().get(row)?.cells.get(column).cloned()
    }

    /// How many letters the text of the table has.
    pub fn letter_count(&self) -> usize {
        self.places().last().map_or(0, |cell| cell.letters.end)
    }

    /// The place in the text of the table that is nearest to a point of the widget.
    pub fn letter_at(&self, point: (f64, f64)) -> Option<usize> {
        let places = self.places();
        let rows = self.rows.borrow();
        // The last cell that begins above the point and before it.
        let (row, y) = rows.iter().enumerate().rev().find_map(|(index, row)| {
            let (_, y) = self.root.translate_coordinates(&row.root, 0.0, point.1)?;
            (y >= 0.0 || index == 0).then_some((index, y))
        })?;
        if row + 1 == rows.len() && y > f64::from(rows[row].root.height()) {
            return Some(self.letter_count());
        }
        let cells = rows[row].cells.iter().enumerate().rev();
        let is_mirrored = self.root.direction() == gtk::TextDirection::Rtl;
        let (column, label, x) = cells.into_iter().find_map(|(index, cell)| {
            let at = self.root.translate_coordinates(cell, point.0, point.1)?;
            let begins = if is_mirrored { at.0 <= f64::from(cell.width()) } else { at.0 >= 0.0 };
            (begins || index == 0).then_some((index, cell, at))
        })?;
        let cell = places.iter().find(|cell| (cell.row, cell.column) == (row, column))?;
        Some((cell.letters.start + letter_in_label(label, x)).min(cell.letters.end))
    }

    /// The cell that has a letter of the table's text, and which letter of the cell that is.
    pub fn cell_of(&self, letter: usize) -> Option<(gtk::Label, usize)> {
        let places = self.places();
        let cell = places.iter().rfind(|cell| cell.letters.start <= letter)?;
        let label = self.cell((cell.row, cell.column))?;
        Some((label, letter.min(cell.letters.end) - cell.letters.start))
    }

    /// The cells that have any of these letters, and which of their own these are.
    pub fn cells_in(&self, letters: &Range<usize>) -> Vec<(gtk::Label, Range<usize>)> {
        let places = self.places().into_iter();
        places
            .filter(|cell| cell.letters.start < letters.end && letters.start < cell.letters.end)
            .filter_map(|cell| {
                let start = letters.start.max(cell.letters.start) - cell.letters.start;
                let end = letters.end.min(cell.letters.end) - cell.letters.start;
                Some((self.cell((cell.row, cell.column))?, start..end))
            })
            .collect()
    }

    /// Whether a widget is one of the cells, or stands between them.
    pub fn has(&self, widget: &gtk::Widget) -> bool {
        widget == self.table.upcast_ref::<gtk::Widget>() || widget.is_ancestor(&self.table)
    }

    fn places(&self) -> Vec<CellPlace> {
        self.shown.borrow().as_ref().map(|grid| cell_places(grid).collect()).unwrap_or_default()
    }

    /// Marks what was found, and nothing else.
    pub fn highlight(&self, hits: &[Hit], current: Option<usize>, colours: MatchColours) {
        let shown = self.shown.borrow();
        let rows = shown.as_ref().map_or(&[][..], |grid| &grid.rows);
        for (row, cells) in rows.iter().enumerate() {
            for column in 0..cells.len() {
                let Some(label) = self.cell((row, column)) else { continue };
                let here: Vec<_> = hits
                    .iter()
                    .enumerate()
                    .filter(|(_, hit)| hit.cell == Some((row, column)))
                    .map(|(at, hit)| (hit, current == Some(at)))
                    .collect();
                highlight_label(&label, &here, colours);
            }
        }
    }

    fn empty_cell(&self, is_head: bool, align: Align) -> gtk::Label {
        let (x, justify) = match align {
            Align::Center => (0.5, gtk::Justification::Center),
            Align::Right => (1.0, gtk::Justification::Right),
            Align::None | Align::Left => (0.0, gtk::Justification::Left),
        };
        let class = if is_head { "cell-head" } else { "cell-body" };
        let label = gtk::Label::builder()
            .accessible_role(gtk::AccessibleRole::Cell)
            .wrap(true)
            .max_width_chars(WIDEST_CELL)
            .selectable(true)
            .xalign(x)
            .justify(justify)
            .yalign(0.0)
            .css_classes(["cell", class])
            .build();
        if is_head {
            // GTK gives assistive technology no role for what it calls a column header.
            accessible::set_description(&label, &gettext("Column header"));
        }
        let opened = Rc::clone(&self.links.opened);
        label.connect_activate_link(move |_, address| {
            opened(address);
            gtk::glib::Propagation::Stop
        });
        label
    }
}

/// Puts runs into a label. Text is set as text and styled by attributes: it is never markup, but
/// for links, which a label knows no other way; there everything is escaped.
fn fill(label: &gtk::Label, runs: &[Run], files: &Files) {
    let text: String = runs.iter().map(|run| run.text.as_str()).collect();
    // A cell is as wide as its longest word at least, unless that is no word that one reads.
    let longest = text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0);
    let is_word = longest <= LONGEST_WORD;
    label.set_wrap_mode(if is_word { pango::WrapMode::Word } else { pango::WrapMode::WordChar });
    label.set_width_chars(if is_word { -1 } else { LONGEST_WORD as i32 });
    accessible::set_label(label, &text);
    let attributes = pango::AttrList::new();
    let mut at = 0_u32;
    for run in runs {
        let end = at + run.text.len() as u32;
        let add = |mut attribute: pango::Attribute| {
            attribute.set_start_index(at);
            attribute.set_end_index(end);
            attributes.insert(attribute);
        };
        if run.style.strong {
            add(pango::AttrInt::new_weight(pango::Weight::Bold).into());
        }
        if run.style.emphasis {
            add(pango::AttrInt::new_style(pango::Style::Italic).into());
        }
        if run.style.strike {
            add(pango::AttrInt::new_strikethrough(true).into());
        }
        if run.style.code || run.style.key {
            add(pango::AttrString::new_family("monospace").into());
            add(pango::AttrFloat::new_scale(0.92).into());
        }
        for (is_so, rise) in [(run.style.raised, 5), (run.style.lowered, -3)] {
            if is_so {
                add(pango::AttrInt::new_rise(rise * pango::SCALE).into());
                add(pango::AttrFloat::new_scale(0.75).into());
            }
        }
        at = end;
    }
    label.set_attributes(Some(&attributes));
    set_text(label, runs, files);
}

/// Sets the text with its links, where that is another than there is.
fn set_text(label: &gtk::Label, runs: &[Run], files: &Files) {
    let names: Vec<_> = runs.iter().map(|run| files.links_in(run)).collect();
    let linked = runs.iter().any(|run| run.link.is_some()) || names.iter().any(|it| !it.is_empty());
    if !linked {
        let text: String = runs.iter().map(|run| run.text.as_str()).collect();
        if label.uses_markup() || label.label() != text {
            label.set_use_markup(false);
            label.set_text(&text);
        }
        return;
    }
    let mut markup = String::new();
    for (run, names) in runs.iter().zip(names) {
        if let Some(link) = &run.link {
            markup.push_str(&anchor(link, &run.text));
            continue;
        }
        let mut done = 0;
        for (name, link) in names {
            markup.push_str(&escape(&run.text[done..name.start]));
            markup.push_str(&anchor(&link, &run.text[name.clone()]));
            done = name.end;
        }
        markup.push_str(&escape(&run.text[done..]));
    }
    if !label.uses_markup() || label.label() != markup {
        label.set_markup(&markup);
    }
}

/// A link, as markup.
fn anchor(link: &str, shown: &str) -> String {
    // The tooltip is markup within markup.
    let title = escape(&escape(&visible_address(link)));
    format!("<a href=\"{}\" title=\"{title}\">{}</a>", escape(link), escape(shown))
}

fn escape(text: &str) -> gtk::glib::GString {
    gtk::glib::markup_escape_text(text)
}
