//! Tests that saving once is enough, even if the file changed on disk unnoticed.

use std::fs;

use relm4::gtk::prelude::*;

use super::super::scene::{LINES, Scene};
use crate::main_loop::until;

const SAVED: &str = "Changes from disk were merged with yours, and saved.";

#[gtk::test]
fn what_saving_merges_is_saved() {
    let scene = Scene::new();
    scene.type_at(0, "my ");
    // Nothing checks it before the loop runs again.
    fs::write(scene.file(), LINES.replace("five", "fünf")).unwrap();
    assert!(scene.save(|| {}));
    let both = LINES.replace("one", "my one").replace("five", "fünf");
    assert_eq!(scene.on_disk(), both);
    assert_eq!(scene.document.text(), both);
    assert!(!scene.document.is_unsaved() && !scene.document.notice.widget().is_visible());
    assert_eq!(*scene.notes.borrow(), [SAVED]);
    // It knows the current file: the next save merges nothing.
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
fn what_is_undone_while_it_is_saved_is_unsaved() {
    let scene = Scene::new();
    scene.type_at(0, "my ");
    let typed = scene.document.text();
    assert!(scene.save(|| scene.document.buffer.undo()));
    assert_eq!((scene.document.text(), scene.on_disk()), (LINES.to_owned(), typed));
    assert!(scene.document.is_unsaved());
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), LINES);
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
