//! Draws a run of prose as one text, so that a person can select across paragraphs.
//!
//! New lines are compared with those shown, and only the tail that differs is changed: usually
//! some letters are added to the end.

use std::cell::RefCell;
use std::rc::Rc;

use gettextrs::gettext;
use gtk::prelude::*;

use super::common_prefix::common_prefix;
use super::context::Links;
use super::link;
use super::tags::{BLOCK_GAP, Tags};
use crate::accessible;
use crate::conversation::model::files::{Files, words};
use crate::conversation::model::shown_line::ShownLine;
use crate::markdown::flow::{Line, Piece, Run};

/// A run of prose.
pub struct Prose {
    view: gtk::TextView,
    tags: Tags,
    shown: Rc<RefCell<Vec<ShownLine>>>,
    files: Files,
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
        view.connect_copy_clipboard(copy_plain);
        Self { view, tags: tags.clone(), shown, files: links.files.clone() }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::TextView {
        &self.view
    }

    /// The address of the link below a point of the widget.
    pub fn link_below(&self, x: f64, y: f64) -> Option<Rc<str>> {
        link::link_below(&self.view, &self.shown, x, y)
    }

    /// Whether anything in it leads somewhere.
    pub fn has_links(&self) -> bool {
        self.shown.borrow().iter().any(|line| !line.links().is_empty())
    }

    /// Takes the theme's measures; its colours come with the tags.
    pub fn recolour(&self, tags: &Tags) {
        self.view.set_pixels_inside_wrap(tags.leading());
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
            self.insert(run, if index == 0 { keep } else { 0 }, line_tag.as_ref());
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
            self.insert(run, 0, tag.as_ref());
        }
        shown.push(ShownLine { line: line.clone(), start, files: self.files.clone() });
    }

    /// Adds a run whose first bytes, so many, are there already.
    fn insert(&self, run: &Run, there: usize, line: Option<&gtk::TextTag>) {
        let leads = run.link.is_some() || self.names_file(run);
        let tags = self.tags.of_style(run.style, leads);
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

    fn names_file(&self, run: &Run) -> bool {
        run.link.is_none() && Files::may_be(run.style) && self.files.find(&run.text).is_some()
    }

    /// Marks those names that lead to a file now, and no others.
    pub fn mark_files(&self) {
        let buffer = self.view.buffer();
        let Some(tag) = self.tags.table().lookup("link") else { return };
        for shown in self.shown.borrow().iter() {
            for (run, place) in shown.line.runs.iter().zip(shown.places()) {
                if run.link.is_some() {
                    continue;
                }
                if !Files::may_be(run.style) {
                    self.mark_words(run, 0, place.start);
                    continue;
                }
                let start = buffer.iter_at_offset(place.start);
                let end = buffer.iter_at_offset(place.end);
                if self.names_file(run) {
                    buffer.apply_tag(&tag, &start, &end);
                } else {
                    buffer.remove_tag(&tag, &start, &end);
                }
            }
        }
    }

    /// Marks those words of a run that lead to a file now, and no others, from this byte of the run
    /// on, which stands here in the text.
    fn mark_words(&self, run: &Run, from: usize, at: i32) {
        let buffer = self.view.buffer();
        let Some(tag) = self.tags.table().lookup("link") else { return };
        let (mut byte, mut letter) = (from, at);
        for word in words::candidates(&run.text, from) {
            let mut place = |to: usize| {
                letter += run.text[byte..to].chars().count() as i32;
                byte = to;
                buffer.iter_at_offset(letter)
            };
            let name =
                words::named(&run.text, word.clone(), |name| self.files.find(name).is_some());
            let name = name.unwrap_or(word.end..word.end);
            let marks = [word.start, name.start, name.end, word.end].map(&mut place);
            buffer.remove_tag(&tag, &marks[0], &marks[1]);
            buffer.apply_tag(&tag, &marks[1], &marks[2]);
            buffer.remove_tag(&tag, &marks[2], &marks[3]);
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
fn copy_plain(view: &gtk::TextView) {
    let buffer = view.buffer();
    if let Some((start, end)) = buffer.selection_bounds() {
        let text = buffer.text(&start, &end, false).replace('\u{2028}', "\n");
        view.clipboard().set_text(&text);
        view.stop_signal_emission_by_name("copy-clipboard");
    }
}
