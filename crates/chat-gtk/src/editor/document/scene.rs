//! Opens a file of a few lines, for tests.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use relm4::gtk::prelude::*;

use super::super::Engine;
use super::super::unsaved_files::Draft;
use super::{Document, DocumentEvent};
use crate::main_loop::until;

pub(super) const LINES: &str = "one\ntwo\nthree\nfour\nfive\n";

/// An open file.
pub(super) struct Scene {
    pub(super) folder: tempfile::TempDir,
    pub(super) document: Rc<Document>,
    pub(super) notes: Rc<RefCell<Vec<String>>>,
}

impl Scene {
    pub(super) fn new() -> Self {
        adw::init().expect("a display");
        crate::init();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), LINES).unwrap();
        Self::open(folder, None)
    }

    fn open(folder: tempfile::TempDir, draft: Option<Draft>) -> Self {
        let notes = Rc::new(RefCell::new(Vec::new()));
        let told = Rc::clone(&notes);
        let path = Path::new("a.txt");
        let document = Document::new(folder.path(), path, Engine::default(), move |_, what| {
            if let DocumentEvent::Note(words) = what {
                told.borrow_mut().push(words);
            }
        });
        match draft {
            Some(draft) => document.set_draft(draft),
            None => document.load(),
        }
        until("the text", || document.has_text());
        Self { folder, document, notes }
    }

    /// The same file in the next run, with its unsaved text; `meanwhile` runs in between.
    pub(super) fn restart(self, meanwhile: impl FnOnce(&Path)) -> Self {
        let (draft, file) = (self.document.draft_to_save(), self.file());
        drop(self.document);
        meanwhile(&file);
        Self::open(self.folder, draft)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.folder.path().join("a.txt")
    }

    pub(super) fn on_disk(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    pub(super) fn type_at(&self, line: i32, words: &str) {
        let mut at = self.document.iter_at(line, 0);
        self.document.buffer.insert(&mut at, words);
    }

    /// Saves, and returns whether that succeeded; `meanwhile` runs before.
    pub(super) fn save(&self, meanwhile: impl FnOnce()) -> bool {
        let saved = Rc::new(Cell::new(None));
        let told = Rc::clone(&saved);
        self.document.save(move |is_saved| told.set(Some(is_saved)));
        meanwhile();
        until("saving to end", || saved.get().is_some());
        saved.get() == Some(true)
    }
}
