//! Reports what the user has open in the editor: in brief whenever it changes, and in full when a
//! message is sent.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_core::message::{Excerpt, OpenFile, Selection};
use gtk::glib;
use relm4::gtk::prelude::*;

use super::document::Document;
use super::{Editor, Inner, Output, TextPosition};

/// How many lines before and after the cursor are attached.
const AROUND: i32 = 40;
/// The maximum size of these lines, in bytes.
const EXCERPT: usize = 6 * 1024;

/// The open files, and the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// The project of these open files.
    pub project: Option<PathBuf>,
    /// The active file.
    pub active: Option<At>,
    /// The other files, in the order of their tabs.
    pub others: Vec<PathBuf>,
}

/// The position in the active file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// Relative to the project.
    pub path: PathBuf,
    /// The first and last selected line, or the cursor's line twice. None if the file is not text.
    pub lines: Option<(u32, u32)>,
    /// Whether there is a selection.
    pub is_selected: bool,
    /// Whether it has unsaved changes.
    pub is_unsaved: bool,
}

impl Editor {
    /// The open files of a project with their text, in the order of their tabs.
    pub(crate) fn open_files(&self, project: &Path) -> Vec<OpenFile> {
        let Some(group) = self.inner.group(project) else { return Vec::new() };
        let active = group.active();
        let is_active = |document: &Rc<Document>| {
            active.as_ref().is_some_and(|active| Rc::ptr_eq(active, document))
        };
        let documents = group.documents();
        documents.iter().map(|document| document.open_file(is_active(document))).collect()
    }
}

impl Inner {
    /// Reports what is open, once all current events are handled.
    pub(super) fn tell_moved(self: &Rc<Self>) {
        if self.telling.replace(true) {
            return;
        }
        let weak = Rc::downgrade(self);
        glib::idle_add_local_once(move || {
            let Some(editor) = weak.upgrade() else { return };
            editor.telling.set(false);
            let outline = editor.outline();
            if *editor.outline.borrow() != outline {
                editor.outline.replace(outline.clone());
                (editor.output)(Output::Moved(outline));
            }
        });
    }

    fn outline(&self) -> Outline {
        let Some(group) = self.shown() else { return Outline::default() };
        let active = group.active();
        let others = group
            .documents()
            .into_iter()
            .filter(|document| active.as_ref().is_none_or(|active| !Rc::ptr_eq(active, document)));
        Outline {
            project: Some(group.project().to_owned()),
            others: others.map(|document| document.path()).collect(),
            active: active.map(|document| document.at()),
        }
    }
}

impl Document {
    fn at(&self) -> At {
        let bounds = self.buffer().selection_bounds();
        let line = |at: &gtk::TextIter| at.line() as u32 + 1;
        let lines = if let Some((start, end)) = &bounds {
            (line(start), last_line(start, end))
        } else {
            (self.place().line, self.place().line)
        };
        At {
            path: self.path(),
            lines: self.has_text().then_some(lines),
            is_selected: bounds.is_some(),
            is_unsaved: self.is_unsaved(),
        }
    }

    fn open_file(&self, active: bool) -> OpenFile {
        let path = self.location();
        if !self.has_text() {
            return OpenFile { path, active, ..OpenFile::default() };
        }
        let buffer = self.buffer();
        let TextPosition { line, column } = self.place();
        let selection = buffer.selection_bounds().map(|(start, end)| Selection {
            from: start.line() as u32 + 1,
            to: last_line(&start, &end),
            text: buffer.text(&start, &end, true).to_string(),
        });
        OpenFile {
            path,
            active,
            line: Some(line),
            column: Some(column),
            selection: selection.filter(|_| active),
            around: active.then(|| around(buffer, line as i32 - 1)).flatten(),
            unsaved: self.is_unsaved(),
        }
    }
}

/// The last line of a selection. A selection that ends before a line's first letter does not
/// include that line.
fn last_line(start: &gtk::TextIter, end: &gtk::TextIter) -> u32 {
    let beyond = end.starts_line() && end.line() > start.line();
    (end.line() + i32::from(!beyond)) as u32
}

/// The lines around the cursor's line: as many as fit, the nearest ones first.
fn around(buffer: &sourceview5::Buffer, line: i32) -> Option<Excerpt> {
    let text_of = |line: i32| {
        let start = buffer.iter_at_line(line)?;
        let mut end = start;
        end.forward_line();
        Some(buffer.text(&start, &end, true).to_string())
    };
    let (mut first, mut text) = (line, text_of(line).filter(|text| text.len() <= EXCERPT)?);
    let (mut above, mut below) = (true, true);
    for distance in 1..=AROUND {
        let before =
            line.checked_sub(distance).filter(|line| above && *line >= 0).and_then(text_of);
        match before.filter(|before| text.len() + before.len() <= EXCERPT) {
            Some(before) => {
                text.insert_str(0, &before);
                first = line - distance;
            }
            None => above = false,
        }
        let after =
            (below && line + distance < buffer.line_count()).then(|| text_of(line + distance));
        match after.flatten().filter(|after| text.len() + after.len() <= EXCERPT) {
            Some(after) => text.push_str(&after),
            None => below = false,
        }
    }
    Some(Excerpt { from: first as u32 + 1, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[gtk::test]
    fn the_lines_around_the_cursor_go_along_within_bounds() {
        crate::init();
        let buffer = sourceview5::Buffer::new(None);
        let lines: Vec<_> = (1..=200).map(|line| format!("line {line}")).collect();
        buffer.set_text(&format!("{}\n", lines.join("\n")));
        let excerpt = around(&buffer, 99).unwrap();
        assert_eq!(excerpt.from, 60);
        assert!(excerpt.text.starts_with("line 60\n") && excerpt.text.ends_with("line 140\n"));
        let excerpt = around(&buffer, 0).unwrap();
        assert_eq!((excerpt.from, excerpt.text.lines().count()), (1, 41));

        buffer.set_text(&format!("{}\nshort\n{}\n", "a".repeat(EXCERPT), "b".repeat(EXCERPT / 2)));
        let excerpt = around(&buffer, 1).unwrap();
        assert_eq!((excerpt.from, excerpt.text.lines().count()), (2, 2));
        assert_eq!(around(&buffer, 0), None, "a line that is too long");
    }

    #[gtk::test]
    fn a_selection_of_whole_lines_ends_with_the_last_of_them() {
        crate::init();
        let buffer = sourceview5::Buffer::new(None);
        buffer.set_text("one\ntwo\nthree\n");
        let at = |line| buffer.iter_at_line(line).unwrap();
        assert_eq!(last_line(&at(0), &at(2)), 2);
        let mut within = at(2);
        within.forward_char();
        assert_eq!(last_line(&at(0), &within), 3);
    }
}
