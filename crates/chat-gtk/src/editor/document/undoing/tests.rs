//! Tests that undoing a merge does not silently discard the changes on disk.

mod back_and_forth;
mod several;

use std::fs;
use std::rc::Rc;

use relm4::gtk::prelude::*;

use super::super::Document;
use super::super::scene::{LINES, Scene};
use crate::main_loop::until;

const UNDONE: &str = "Changes from disk were undone here. Natter asks before saving.";

/// A file whose first line the user changed and whose last line changed on disk, after both were
/// merged.
fn merged() -> Scene {
    let scene = Scene::new();
    scene.type_at(0, "my ");
    fs::write(scene.file(), theirs()).unwrap();
    until("the merge", || scene.document.text() == both());
    scene
}

fn mine() -> String {
    LINES.replace("one", "my one")
}

fn theirs() -> String {
    LINES.replace("five", "fünf")
}

fn both() -> String {
    theirs().replace("one", "my one")
}

/// The message above the text.
fn says(document: &Document) -> Option<String> {
    document.notice.widget().is_visible().then(|| document.notice.words())
}

fn says_undone(document: &Document) -> bool {
    says(document).as_deref() == Some(UNDONE)
}

fn merge_again(document: &Document) {
    let actions = document.notice.widget().last_child().unwrap();
    actions.first_child().and_downcast::<gtk::Button>().expect("a button").emit_clicked();
}

/// Changes the file on disk, and merges that into the text.
fn comes_from_disk(scene: &Scene, old: &str, new: &str) {
    fs::write(scene.file(), scene.on_disk().replace(old, new)).unwrap();
    until("the change", || scene.document.text().contains(new));
}

/// Saves and checks that the user is asked and nothing is written.
fn is_asked(scene: &Scene) {
    let disk = scene.on_disk();
    assert!(scene.document.is_unsaved() && !scene.save(|| {}));
    assert_eq!(scene.on_disk(), disk);
}

#[gtk::test]
fn saving_after_an_undone_merge_asks_before_it_overwrites() {
    let scene = merged();
    let document = &scene.document;
    document.buffer.undo();
    assert_eq!(document.text(), mine());
    assert!(says_undone(document) && document.is_unsaved());
    assert!(!scene.save(|| {}));
    assert_eq!(scene.on_disk(), theirs());
    let words = says(document).expect("a question");
    assert!(words.contains("was changed both on disk and here"), "{words}");
    document.take_disk(false);
    until("the decision", || says(document).is_none());
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), mine());
}

#[gtk::test]
fn further_undoing_and_typing_do_not_forget_the_changes_on_disk() {
    let scene = merged();
    let document = &scene.document;
    document.buffer.undo();
    document.buffer.undo();
    assert_eq!(document.text(), LINES);
    assert!(document.is_unsaved());
    scene.type_at(1, "more ");
    assert!(!scene.save(|| {}));
    assert_eq!(scene.on_disk(), theirs());
}

#[gtk::test]
fn redoing_the_merge_takes_the_notice_away_and_saves_both() {
    let scene = merged();
    let document = &scene.document;
    for _ in 0..2 {
        document.buffer.undo();
        document.buffer.undo();
        document.buffer.redo();
        assert!(says_undone(document));
        document.buffer.redo();
        assert_eq!((document.text(), says(document)), (both(), None));
    }
    assert!(document.is_unsaved());
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), both());
}

#[gtk::test]
fn a_merge_undone_after_it_was_saved_is_asked_about_too() {
    let scene = merged();
    let document = &scene.document;
    assert!(scene.save(|| {}));
    document.buffer.undo();
    assert_eq!(document.text(), mine());
    assert!(says_undone(document) && document.is_unsaved());
    assert!(!scene.save(|| {}));
    assert_eq!(scene.on_disk(), both());
    document.buffer.redo();
    assert!(says(document).is_none() && !document.is_unsaved());
}

#[gtk::test]
fn a_merge_undone_while_it_is_saved_is_asked_about_too() {
    let scene = merged();
    let document = &scene.document;
    assert!(scene.save(|| document.buffer.undo()));
    assert_eq!((document.text(), scene.on_disk()), (mine(), both()));
    assert!(says_undone(document) && document.is_unsaved());
    assert!(!scene.save(|| {}));
    assert_eq!(scene.on_disk(), both());
}

#[gtk::test]
fn what_comes_to_the_file_after_the_undo_is_merged_only_when_asked_for() {
    let scene = merged();
    let document = &scene.document;
    document.buffer.undo();
    let more = theirs().replace("three", "drei");
    fs::write(scene.file(), &more).unwrap();
    document.say("something else");
    document.check_disk();
    until("the notice again", || says_undone(document));
    assert_eq!(document.text(), mine());
    merge_again(document);
    let all = more.replace("one", "my one");
    until("the merge", || document.text() == all);
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), all);
}

#[gtk::test]
fn what_comes_to_the_file_after_the_undo_is_merged_once_that_is_redone() {
    let scene = merged();
    let document = &scene.document;
    document.buffer.undo();
    let more = theirs().replace("three", "drei");
    fs::write(scene.file(), &more).unwrap();
    document.buffer.redo();
    until("the second merge", || document.text() == more.replace("one", "my one"));
}

#[gtk::test]
fn a_file_that_becomes_what_is_here_needs_no_merge() {
    let scene = merged();
    let document = &scene.document;
    document.buffer.undo();
    fs::write(scene.file(), mine()).unwrap();
    until("the notice to go", || says(document).is_none());
    assert!(!document.is_unsaved());
}

#[gtk::test]
fn keeping_both_can_be_undone_and_is_asked_about_again() {
    let scene = Scene::new();
    let document = &scene.document;
    scene.type_at(0, "my ");
    let theirs = LINES.replace("one", "eins");
    fs::write(scene.file(), &theirs).unwrap();
    until("the question", || says(document).is_some());
    document.keep_both();
    until("both", || document.text().starts_with("<<<<<<<"));
    document.buffer.undo();
    assert!(says_undone(document));
    assert!(!scene.save(|| {}));
    assert_eq!(scene.on_disk(), theirs);
}

#[gtk::test]
fn what_is_kept_for_the_next_run_does_not_know_the_changes_on_disk() {
    let scene = merged();
    let document = &scene.document;
    let base = |document: &Rc<Document>| document.draft_to_save().expect("something unsaved").base;
    let of_merged = base(document);
    document.buffer.undo();
    // The next run compares this with the file, and asks before it overwrites it.
    assert_ne!(base(document), of_merged);
}

#[gtk::test]
fn saved_as_another_file_nothing_is_overwritten() {
    let scene = merged();
    let document = &scene.document;
    document.buffer.undo();
    document.save_as("b.txt".into());
    until("the other file", || !document.is_unsaved());
    assert!(says(document).is_none());
    assert_eq!(scene.on_disk(), theirs());
    scene.type_at(1, "more ");
    assert!(scene.save(|| {}));
}
