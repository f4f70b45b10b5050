//! Draws a run of prose as one text, so that a person can select across paragraphs.
//!
//! New lines are compared with those shown, and only the tail that differs is changed: usually
//! some letters are added to the end.

mod file_names;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gettextrs::gettext;
use gtk::prelude::*;

use super::common_prefix::common_prefix;
use super::context::Links;
use super::formula::inline;
use super::link;
use super::tags::{BLOCK_GAP, Tags, alert_tag};
use crate::accessible;
use crate::conversation::model::files::{Files, words};
use crate::conversation::model::shown_line::ShownLine;
use crate::markdown::flow::{Line, Piece, Run, Style};

/// A run of prose.
pub struct Prose {
    view: gtk::TextView,
    tags: Tags,
    shown: Rc<RefCell<Vec<ShownLine>>>,
    files: Files,
    /// The size of the text at which formulas were put into it, in pixels.
    text_size: Cell<f64>,
}

impl Prose {
    /// An empty text. `links` are told of its links.
    pub fn new(tags: &Tags, links: &Links) -> Self {
        let buffer = gtk::TextBuffer::new(Some(tags.table()));
        buffer.set_enable_undo(false);
        let view = gtk::TextView::builder()
            .buffer(&buffer)
            .editable(false)
            .cursor_visible(false)
            .wrap_mode(gtk::WrapMode::WordChar)
            .pixels_above_lines(BLOCK_GAP)
            .pixels_inside_wrap(tags.leading())
            .accepts_tab(false)
            .css_classes(["prose"])
            .build();
        accessible::set_label(&view, &gettext("Reply"));
        let shown: Rc<RefCell<Vec<ShownLine>>> = Rc::default();
        link::attach(&view, &shown, links);
        let lines = Rc::clone(&shown);
        view.connect_copy_clipboard(move |view| copy_plain(view, &lines.borrow()));
        explain_formulas(&view, &shown);
        let text_size = Cell::new(tags.text_size().get());
        Self { view, tags: tags.clone(), shown, files: links.files.clone(), text_size }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::TextView {
        &self.view
    }

    /// The address of the link below a point of the widget.
    pub fn link_below(&self, x: f64, y: f64) -> Option<Rc<str>> {
        link::link_below(&self.view, &self.shown, x, y)
    }

    /// The formula below a point of the widget, as it was written.
    pub fn formula_below(&self, x: f64, y: f64) -> Option<String> {
        inline::formula_at(&self.shown.borrow(), letter_below(&self.view, x as i32, y as i32)?)
    }

    /// Whether the caret is on a link.
    pub fn is_on_link(&self) -> bool {
        link::link_at(&self.shown, self.view.buffer().cursor_position()).is_some()
    }

    /// Whether anything in it leads somewhere.
    pub fn has_links(&self) -> bool {
        self.shown.borrow().iter().any(|line| !line.links().is_empty())
    }

    /// Takes the theme's measures; its colours come with the tags.
    pub fn recolour(&self, tags: &Tags) {
        self.view.set_pixels_inside_wrap(tags.leading());
        let size = tags.text_size().get();
        let has_formulas =
            || self.shown.borrow().iter().any(|line| line.formulas().next().is_some());
        if size.to_bits() != self.text_size.replace(size).to_bits() && has_formulas() {
            self.redraw();
        }
    }

    /// Draws the text again, because its formulas have another size.
    fn redraw(&self) {
        let mut shown = self.shown.borrow_mut();
        let lines: Vec<Line> = shown.drain(..).map(|shown| shown.line).collect();
        self.view.buffer().set_text("");
        for line in &lines {
            self.append(&mut shown, line);
        }
    }

    /// Shows these lines. Whether anything changed.
    pub fn update(&self, pieces: &[Piece]) -> bool {
        let mut shown = self.shown.borrow_mut();
        let lines = pieces.iter().filter_map(|piece| match piece {
            Piece::Line(line) => Some(line),
            _ => None,
        });
        let mut changed = false;
        let mut count = 0;
        for (index, line) in lines.enumerate() {
            count = index + 1;
            if shown.get(index).is_some_and(|shown| shown.line == *line) {
                continue;
            }
            changed = true;
            let last = index + 1 == shown.len();
            if last && self.lengthen(&mut shown[index].line, line, index == 0) {
                continue;
            }
            self.truncate(&mut shown, index);
            self.append(&mut shown, line);
        }
        if count < shown.len() {
            self.truncate(&mut shown, count);
            changed = true;
        }
        drop(shown);
        if changed {
            self.quote(pieces);
            self.alert(pieces);
        }
        changed
    }

    /// The bar of a quotation, which the whole text has or has not.
    fn quote(&self, pieces: &[Piece]) {
        let quotes = match pieces.first() {
            Some(Piece::Line(line)) => line.indent.quotes,
            _ => 0,
        };
        for depth in 1..=4 {
            let class = ["quote-1", "quote-2", "quote-3", "quote-4"][depth - 1];
            if usize::from(quotes).min(4) == depth {
                self.view.add_css_class(class);
            } else {
                self.view.remove_css_class(class);
            }
        }
    }

    /// The bar of an alert, in its color.
    fn alert(&self, pieces: &[Piece]) {
        let alert = match pieces.first() {
            Some(Piece::Line(line)) => line.indent.alert.map(alert_tag),
            _ => None,
        };
        for class in self.view.css_classes() {
            if class.starts_with("alert-") && Some(class.as_str()) != alert {
                self.view.remove_css_class(&class);
            }
        }
        if let Some(class) = alert {
            self.view.add_css_class(class);
        }
    }

    /// Changes the end of the last line into this one, if only text was added or the last runs
    /// differ.
    fn lengthen(&self, old: &mut Line, new: &Line, first: bool) -> bool {
        let same_kind = old.heading == new.heading
            && old.indent == new.indent
            && old.marker == new.marker
            && old.gap == new.gap
            && old.verbatim == new.verbatim;
        if !same_kind {
            return false;
        }
        let same = old.runs.iter().zip(&new.runs).take_while(|(old, new)| old == new).count();
        let buffer = self.view.buffer();
        let line_tag = self.tags.of_line(new, first);
        // What goes: everything behind the runs that stay.
        let mut keep = 0;
        if let (Some(before), Some(after)) = (old.runs.get(same), new.runs.get(same))
            && before.style == after.style
            && before.link == after.link
            && !before.style.formula
        {
            keep = common_prefix(&before.text, &after.text);
        }
        let gone: usize = old.runs[same..].iter().map(|run| run.text.chars().count()).sum();
        let kept = old.runs.get(same).map_or(0, |run| run.text[..keep].chars().count());
        if gone > kept {
            let mut end = buffer.end_iter();
            let mut start = end;
            start.backward_chars((gone - kept) as i32);
            buffer.delete(&mut start, &mut end);
        }
        for (index, run) in new.runs[same..].iter().enumerate() {
            let there = if index == 0 { keep } else { 0 };
            self.insert(run, there, line_tag.as_ref(), Tags::zoom(new));
        }
        old.runs.clone_from(&new.runs);
        true
    }

    /// Removes all lines from this one on.
    fn truncate(&self, shown: &mut Vec<ShownLine>, index: usize) {
        let Some(line) = shown.get(index) else { return };
        let buffer = self.view.buffer();
        // The line end before it goes too.
        let mut start = buffer.iter_at_offset((line.start - 1).max(0));
        buffer.delete(&mut start, &mut buffer.end_iter());
        shown.truncate(index);
    }

    fn append(&self, shown: &mut Vec<ShownLine>, line: &Line) {
        let buffer = self.view.buffer();
        let first = shown.is_empty();
        if !first {
            buffer.insert(&mut buffer.end_iter(), "\n");
        }
        let start = buffer.char_count();
        let tag = self.tags.of_line(line, first);
        if let Some(marker) = &line.marker {
            self.insert_tagged(&format!("{marker}\t"), tag.iter());
        }
        for run in &line.runs {
            self.insert(run, 0, tag.as_ref(), Tags::zoom(line));
        }
        shown.push(ShownLine { line: line.clone(), start, files: self.files.clone() });
    }

    /// Adds a run whose first bytes, so many, are there already.
    fn insert(&self, run: &Run, there: usize, line: Option<&gtk::TextTag>, zoom: f64) {
        let leads = run.link.is_some() || self.names_file(run);
        let mut tags = self.tags.of_style(run.style, leads);
        if run.style.formula {
            let looks: Vec<gtk::TextTag> = line.cloned().into_iter().chain(tags).collect();
            if inline::append(&self.view, &run.text, &self.tags, zoom, &looks).is_ok() {
                return;
            }
            tags = self.tags.of_style(Style { code: true, ..run.style }, leads);
        }
        self.insert_tagged(&run.text[there..], line.into_iter().chain(&tags));
        if self.files.may_be_in(run) {
            // The word that goes on may have become another one.
            let from = words::start_of(&run.text, there);
            let buffer = self.view.buffer();
            let at = buffer.char_count() - run.text[from..].chars().count() as i32;
            if from < there
                && let Some(tag) = self.tags.table().lookup("link")
            {
                buffer.remove_tag(&tag, &buffer.iter_at_offset(at), &buffer.end_iter());
            }
            self.mark_words(run, from, at);
        }
    }

    fn insert_tagged<'a>(&self, text: &str, tags: impl Iterator<Item = &'a gtk::TextTag>) {
        if text.is_empty() {
            return;
        }
        let buffer = self.view.buffer();
        let mut end = buffer.end_iter();
        let offset = end.offset();
        buffer.insert(&mut end, text);
        for tag in tags {
            buffer.apply_tag(tag, &buffer.iter_at_offset(offset), &buffer.end_iter());
        }
    }
}

/// Copies what is selected, with line ends that other programs know.
fn copy_plain(view: &gtk::TextView, lines: &[ShownLine]) {
    if let Some(text) = selected(view, lines) {
        view.clipboard().set_text(&text);
        view.stop_signal_emission_by_name("copy-clipboard");
    }
}

/// The text that is selected, as it was written, with line ends that other programs know.
fn selected(view: &gtk::TextView, lines: &[ShownLine]) -> Option<String> {
    let buffer = view.buffer();
    let (start, end) = buffer.selection_bounds()?;
    let text = inline::text_between(&buffer, lines, start.offset(), end.offset());
    Some(text.replace('\u{2028}', "\n"))
}

/// The letter below a point of a text.
fn letter_below(view: &gtk::TextView, x: i32, y: i32) -> Option<i32> {
    let (x, y) = view.window_to_buffer_coords(gtk::TextWindowType::Widget, x, y);
    Some(view.iter_at_location(x, y)?.offset())
}

/// Says in a tooltip why a formula is not drawn.
fn explain_formulas(view: &gtk::TextView, lines: &Rc<RefCell<Vec<ShownLine>>>) {
    let lines = Rc::clone(lines);
    view.connect_query_tooltip(move |view, x, y, keyboard, tooltip| {
        let buffer = view.buffer();
        let at = if keyboard { Some(buffer.cursor_position()) } else { letter_below(view, x, y) };
        let reason = at.and_then(|at| inline::reason_at(&lines.borrow(), &buffer, at));
        tooltip.set_text(reason.as_deref());
        reason.is_some()
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversation::widgets::context::Links;
    use crate::markdown::flow::block_pieces;
    use crate::markdown::parse;

    fn links() -> Links {
        Links {
            opened: Rc::new(|_| {}),
            aimed: Rc::new(|_| {}),
            revealed: Rc::new(|_, _| {}),
            files: Files::default(),
        }
    }

    fn pieces(text: &str) -> Vec<Piece> {
        let mut out = Vec::new();
        for block in parse(text) {
            block_pieces(&block, &mut out);
        }
        out
    }

    fn prose(text: &str) -> Prose {
        crate::init();
        let prose = Prose::new(&Tags::new(), &links());
        prose.update(&pieces(text));
        prose
    }

    fn pictures(prose: &Prose) -> usize {
        let children = prose.view.observe_children();
        let all = (0..children.n_items()).filter_map(|at| children.item(at));
        all.filter(|child| child.type_().name() == "NatterFormula").count()
    }

    #[gtk::test]
    fn a_formula_takes_as_many_letters_as_its_source_and_is_copied_as_tex() {
        let text = "so $x$ and \\(\\frac{a}{b}\\) hold, \\(\\nosuch\\) too";
        let prose = prose(text);
        assert_eq!(pictures(&prose), 2);
        let buffer = prose.view.buffer();
        assert_eq!(buffer.char_count(), text.chars().count() as i32);
        let copied = |from: i32, to: i32| {
            buffer.select_range(&buffer.iter_at_offset(from), &buffer.iter_at_offset(to));
            selected(&prose.view, &prose.shown.borrow()).unwrap_or_default()
        };
        assert_eq!(copied(0, buffer.char_count()), text);
        assert_eq!(copied(0, 4), "so $x$", "its picture is there");
        assert_eq!(copied(4, 10), " and", "its picture is not");
        assert_eq!(copied(3, 6), "$x$");
        let lines = prose.shown.borrow();
        assert_eq!(inline::formula_at(&lines, 3).as_deref(), Some("$x$"));
        assert_eq!(inline::formula_at(&lines, 7), None);
        assert_eq!(inline::reason_at(&lines, &buffer, 3), None);
        let reason = inline::reason_at(&lines, &buffer, text.len() as i32 - 6);
        assert!(reason.is_some_and(|reason| reason.contains("\\nosuch")));
    }

    #[gtk::test]
    fn a_text_that_grows_keeps_its_formulas_and_drops_those_that_go() {
        let prose = prose("a $x$");
        let first = prose.view.first_child();
        for (text, count) in
            [("a $x$ and", 1), ("a $x$ and $y$", 2), ("a $x$ and $y+1$.", 2), ("a b", 0)]
        {
            prose.update(&pieces(text));
            assert_eq!(pictures(&prose), count, "{text}");
            assert_eq!(prose.view.buffer().char_count(), text.len() as i32, "{text}");
            if count > 0 {
                assert_eq!(prose.view.first_child(), first, "what is there stays");
            }
        }
    }
}
