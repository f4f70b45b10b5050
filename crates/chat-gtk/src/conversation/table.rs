//! A table: a grid of cells, scrolled sideways within itself where it is wide.

use std::cell::RefCell;
use std::rc::Rc;

use gtk::pango;
use gtk::prelude::*;

use super::files::Files;
use super::find::{Hit, Marks, mark_label};
use super::link::Links;
use super::tags::LIST_STEP;
use crate::markdown::flow::{Grid, Run};
use crate::markdown::{Align, visible_address};
use crate::nested_scroll;

/// How wide a cell may be before its text is wrapped, in characters.
const WIDEST_CELL: i32 = 42;

/// A table.
pub struct TableBlock {
    root: gtk::ScrolledWindow,
    grid: gtk::Grid,
    shown: RefCell<Option<Grid>>,
    links: Links,
}

impl TableBlock {
    /// An empty table.
    pub fn new(links: &Links) -> Self {
        let grid = gtk::Grid::builder().css_classes(["table"]).halign(gtk::Align::Start).build();
        let root = gtk::ScrolledWindow::builder()
            .hscrollbar_policy(gtk::PolicyType::Automatic)
            .vscrollbar_policy(gtk::PolicyType::Never)
            .propagate_natural_height(true)
            .child(&grid)
            .css_classes(["table-frame"])
            .build();
        nested_scroll::pass_on(&root);
        Self { root, grid, shown: RefCell::default(), links: links.clone() }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::ScrolledWindow {
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
        if old.is_none() {
            while let Some(child) = self.grid.first_child() {
                self.grid.remove(&child);
            }
        }
        let old_rows = old.map_or(&[][..], |old| &old.rows);
        for index in table.rows.len()..old_rows.len() {
            for column in 0..table.align.len() {
                if let Some(cell) = self.grid.child_at(column as i32, index as i32) {
                    self.grid.remove(&cell);
                }
            }
        }
        for (index, row) in table.rows.iter().enumerate() {
            for (column, runs) in row.iter().enumerate() {
                let before = old_rows.get(index).and_then(|row| row.get(column));
                if before != Some(runs) {
                    self.set_cell(column as i32, index as i32, runs, table.align.get(column));
                }
            }
        }
        shown.replace(table.clone());
        true
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
        self.grid.child_at(column as i32, row as i32).and_downcast()
    }

    /// Marks what was found, and nothing else.
    pub fn mark(&self, hits: &[Hit], current: Option<usize>, marks: Marks) {
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
                mark_label(&label, &here, marks);
            }
        }
    }

    fn set_cell(&self, column: i32, row: i32, runs: &[Run], align: Option<&Align>) {
        let place = self.grid.child_at(column, row).and_downcast::<gtk::Label>();
        let label = place.unwrap_or_else(|| {
            let label = gtk::Label::builder()
                .wrap(true)
                .wrap_mode(pango::WrapMode::WordChar)
                .max_width_chars(WIDEST_CELL)
                .selectable(true)
                .yalign(0.0)
                .css_classes(if row == 0 { ["cell", "cell-head"] } else { ["cell", "cell-body"] })
                .build();
            let (x, justify) = match align {
                Some(Align::Center) => (0.5, gtk::Justification::Center),
                Some(Align::Right) => (1.0, gtk::Justification::Right),
                _ => (0.0, gtk::Justification::Left),
            };
            label.set_xalign(x);
            label.set_justify(justify);
            let opened = Rc::clone(&self.links.opened);
            label.connect_activate_link(move |_, address| {
                opened(address);
                gtk::glib::Propagation::Stop
            });
            self.grid.attach(&label, column, row, 1, 1);
            label
        });
        fill(&label, runs, &self.links.files);
    }
}

/// Puts runs into a label. Text is set as text and styled by attributes: it is never markup, but
/// for links, which a label knows no other way; there everything is escaped.
fn fill(label: &gtk::Label, runs: &[Run], files: &Files) {
    let text: String = runs.iter().map(|run| run.text.as_str()).collect();
    // Without a width of its own a cell would be measured at its narrowest, and stand too tall.
    // Bold letters are wider than the average that GTK reckons with.
    let wanted = text.chars().count() as i32 * 5 / 4 + 1;
    label.set_width_chars(wanted.min(WIDEST_CELL));
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
