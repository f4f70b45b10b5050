//! One saving is enough, also of a file that changed on disk without anybody noticing until then.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};

use super::super::super::Engine;
use super::*;
use crate::main_loop::until;

const LINES: &str = "one\ntwo\nthree\nfour\nfive\n";
const SAVED: &str = "Changes from disk were merged with yours, and saved.";

/// An open file.
struct Scene {
    folder: tempfile::TempDir,
    document: Rc<Document>,
    notes: Rc<RefCell<Vec<String>>>,
}

impl Scene {
    fn new() -> Self {
        adw::init().expect("a display");
        crate::init();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), LINES).unwrap();
        let notes = Rc::new(RefCell::new(Vec::new()));
        let told = Rc::clone(&notes);
        let path = Path::new("a.txt");
        let document = Document::new(folder.path(), path, Engine::default(), move |_, what| {
            if let Told::Note(words) = what {
                told.borrow_mut().push(words);
            }
        });
        document.load();
        until("the text", || document.has_text());
        Self { folder, document, notes }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("a.txt")
    }

    fn on_disk(&self) -> String {
        fs::read_to_string(self.file()).unwrap()
    }

    fn type_at(&self, line: i32, words: &str) {
        let mut at = self.document.iter_at(line, 0);
        self.document.buffer.insert(&mut at, words);
    }

    /// Saves, and says whether that was done; `meanwhile` comes before it is.
    fn save(&self, meanwhile: impl FnOnce()) -> bool {
        let saved = Rc::new(Cell::new(None));
        let told = Rc::clone(&saved);
        self.document.save(move |is_saved| told.set(Some(is_saved)));
        meanwhile();
        until("saving to end", || saved.get().is_some());
        saved.get() == Some(true)
    }
}

#[gtk::test]
fn what_saving_merges_is_saved() {
    let scene = Scene::new();
    scene.type_at(0, "my ");
    // Nobody looks at it before the loop runs again.
    fs::write(scene.file(), LINES.replace("five", "fünf")).unwrap();
    assert!(scene.save(|| {}));
    let both = LINES.replace("one", "my one").replace("five", "fünf");
    assert_eq!(scene.on_disk(), both);
    assert_eq!(scene.document.text(), both);
    assert!(!scene.document.is_unsaved() && !scene.document.notice.widget().is_visible());
    assert_eq!(*scene.notes.borrow(), [SAVED]);
    // It knows what lies there: the next saving merges nothing.
    scene.type_at(1, "my ");
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), both.replace("two", "my two"));
    assert_eq!(scene.notes.borrow().len(), 1);
}

#[gtk::test]
fn what_is_typed_while_saving_merges_is_kept() {
    let scene = Scene::new();
    scene.type_at(0, "my ");
    fs::write(scene.file(), LINES.replace("five", "fünf")).unwrap();
    assert!(scene.save(|| scene.type_at(2, "later ")));
    let both = LINES.replace("one", "my one").replace("five", "fünf");
    assert_eq!(scene.on_disk(), both);
    let all = both.replace("three", "later three");
    until("what was merged", || scene.document.text() == all);
    assert!(scene.document.is_unsaved());
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), all);
}

#[gtk::test]
fn where_saving_cannot_merge_the_person_is_asked() {
    let scene = Scene::new();
    scene.type_at(0, "my ");
    let theirs = LINES.replace("one", "eins");
    fs::write(scene.file(), &theirs).unwrap();
    assert!(!scene.save(|| {}));
    until("the question", || scene.document.notice.widget().is_visible());
    assert_eq!(scene.on_disk(), theirs);
    assert_eq!(scene.document.text(), LINES.replace("one", "my one"));
    assert!(scene.document.is_unsaved() && scene.notes.borrow().is_empty());
}
