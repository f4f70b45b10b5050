//! A merge that is undone does not take the changes on disk away unnoticed.

use std::fs;
use std::rc::Rc;

use relm4::gtk::prelude::*;

use super::super::Document;
use super::super::scene::{LINES, Scene};
use crate::main_loop::until;

const UNDONE: &str = "Changes from disk were undone here. Saving asks you first.";

/// A file whose first line the user changed and whose last one changed on disk, once both are merged.
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

/// What is said above the text.
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

/// What is on disk changes, and comes into the text.
fn comes_from_disk(scene: &Scene, old: &str, new: &str) {
    fs::write(scene.file(), scene.on_disk().replace(old, new)).unwrap();
    until("the change", || scene.document.text().contains(new));
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
    assert!(words.contains("was changed on disk, and here too"), "{words}");
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
    document.look();
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
    let base = |document: &Rc<Document>| document.to_keep().expect("something unsaved").base;
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

#[gtk::test]
fn two_merges_undone_and_merged_again_lose_nothing_of_either() {
    let scene = merged();
    let document = &scene.document;
    comes_from_disk(&scene, "three", "drei");
    let (all, disk) = (document.text(), scene.on_disk());
    document.buffer.undo();
    assert!(says_undone(document));
    document.buffer.undo();
    assert_eq!(document.text(), mine());
    assert!(!scene.save(|| {}));
    assert_eq!(scene.on_disk(), disk);
    document.say_undone();
    merge_again(document);
    until("both merges", || document.text() == all);
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), all);
}

#[gtk::test]
fn two_merges_undone_and_redone_one_by_one_are_saved_without_a_question() {
    let scene = merged();
    let document = &scene.document;
    comes_from_disk(&scene, "three", "drei");
    let all = document.text();
    document.buffer.undo();
    document.buffer.undo();
    document.buffer.redo();
    assert!(says_undone(document));
    assert!(!scene.save(|| {}));
    document.buffer.redo();
    assert_eq!((document.text(), says(document)), (all.clone(), None));
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), all);
}

#[gtk::test]
fn a_merge_below_one_that_was_merged_again_is_still_asked_about() {
    let scene = merged();
    let document = &scene.document;
    comes_from_disk(&scene, "three", "drei");
    let all = document.text();
    document.buffer.undo();
    merge_again(document);
    until("the merge", || document.text() == all);
    document.buffer.undo();
    document.buffer.undo();
    assert_eq!(document.text(), mine());
    merge_again(document);
    until("both merges", || document.text() == all);
}

#[gtk::test]
fn a_saved_merge_undone_past_what_came_to_the_saved_text_is_asked_about() {
    let scene = merged();
    let document = &scene.document;
    assert!(scene.save(|| {}));
    comes_from_disk(&scene, "three", "drei");
    assert!(!document.is_unsaved());
    let disk = scene.on_disk();
    document.buffer.undo();
    assert_eq!(document.text(), both());
    assert!(says_undone(document) && document.is_unsaved());
    document.buffer.undo();
    assert_eq!(document.text(), mine());
    assert!(!scene.save(|| {}));
    assert_eq!(scene.on_disk(), disk);
    document.say_undone();
    merge_again(document);
    until("all of it", || document.text() == disk);
    assert!(!document.is_unsaved());
}

#[gtk::test]
fn what_a_clean_text_followed_is_not_undone_on_disk_unasked() {
    let scene = Scene::new();
    let document = &scene.document;
    comes_from_disk(&scene, "five", "fünf");
    document.buffer.undo();
    assert_eq!(document.text(), LINES);
    assert!(says_undone(document));
    assert!(!scene.save(|| {}));
    assert_eq!(scene.on_disk(), theirs());
    document.take_disk(false);
    until("the decision", || says(document).is_none());
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), LINES);
}

#[gtk::test]
fn a_merge_undone_after_its_file_became_the_text_is_asked_about() {
    let scene = merged();
    let document = &scene.document;
    fs::write(scene.file(), both()).unwrap();
    until("the same text", || !document.is_unsaved());
    document.buffer.undo();
    assert_eq!(document.text(), mine());
    assert!(!scene.save(|| {}));
    assert_eq!(scene.on_disk(), both());
}

/// Replaces words as the user does, as one step to undo.
fn replaces(scene: &Scene, old: &str, new: &str) {
    let buffer = &scene.document.buffer;
    let before = scene.document.text();
    let from = before[..before.find(old).expect("these words")].chars().count() as i32;
    let until = from + old.chars().count() as i32;
    buffer.begin_user_action();
    let (mut start, mut end) = (buffer.iter_at_offset(from), buffer.iter_at_offset(until));
    buffer.delete(&mut start, &mut end);
    buffer.insert(&mut start, new);
    buffer.end_user_action();
}

/// The user saves, and is asked; nothing is written.
fn is_asked(scene: &Scene) {
    let disk = scene.on_disk();
    assert!(scene.document.is_unsaved() && !scene.save(|| {}));
    assert_eq!(scene.on_disk(), disk);
}

/// A text of an earlier run, which the user discarded for what is on disk, and took back.
fn discarded_and_taken_back(theirs: &str) -> Scene {
    let scene = Scene::new();
    scene.type_at(0, "my ");
    let scene = scene.restart(|file| fs::write(file, theirs).unwrap());
    let document = &scene.document;
    document.take_disk(true);
    until("the file", || document.text() == theirs);
    document.buffer.undo();
    assert_eq!(document.text(), mine());
    assert!(says_undone(document));
    scene
}

#[gtk::test]
fn a_draft_that_was_discarded_and_taken_back_is_merged_again() {
    let scene = discarded_and_taken_back(&theirs());
    merge_again(&scene.document);
    until("the merge", || scene.document.text() == both());
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), both());
}

#[gtk::test]
fn where_it_cannot_be_merged_again_the_user_is_asked() {
    let scene = discarded_and_taken_back(&LINES.replace("one", "eins"));
    merge_again(&scene.document);
    is_asked(&scene);
    let is_question = |words: String| words.contains("was changed on disk, and here too");
    until("the question", || says(&scene.document).is_some_and(is_question));
    is_asked(&scene);
}

#[gtk::test]
fn a_change_from_disk_is_not_undone_with_what_was_redone_before_it() {
    let scene = Scene::new();
    let document = &scene.document;
    replaces(&scene, "one", "// one");
    document.buffer.undo();
    document.buffer.redo();
    fs::write(scene.file(), theirs()).unwrap();
    until("the merge", || document.text().contains("fünf"));
    document.buffer.undo();
    assert_eq!(document.text(), LINES.replace("one", "// one"));
    assert!(says_undone(document));
    is_asked(&scene);
}

#[gtk::test]
fn what_comes_to_what_was_just_typed_is_not_undone_with_it() {
    let scene = Scene::new();
    let document = &scene.document;
    scene.type_at(0, "foo()");
    assert!(scene.save(|| {}));
    let typed = document.text();
    comes_from_disk(&scene, "foo()", "foo();");
    document.buffer.undo();
    assert_eq!(document.text(), typed);
    assert!(says_undone(document));
    is_asked(&scene);
    document.buffer.redo();
    assert!(document.text().starts_with("foo();") && !says_undone(document));
}

#[gtk::test]
fn a_change_taken_out_by_hand_and_saved_does_not_hide_the_one_before() {
    let scene = Scene::new();
    let document = &scene.document;
    comes_from_disk(&scene, "five", "fünf");
    comes_from_disk(&scene, "three", "drei");
    replaces(&scene, "drei", "three");
    assert!(scene.save(|| {}));
    document.buffer.undo();
    assert!(document.text().contains("drei"));
    document.buffer.undo();
    assert_eq!(document.text(), theirs());
    assert!(!says_undone(document));
    document.buffer.undo();
    assert_eq!(document.text(), LINES);
    assert!(says_undone(document));
    is_asked(&scene);
}

#[gtk::test]
fn a_change_that_was_taken_back_on_disk_is_another_one() {
    let scene = Scene::new();
    let document = &scene.document;
    comes_from_disk(&scene, "five", "fünf");
    comes_from_disk(&scene, "fünf", "five");
    scene.type_at(1, "my ");
    document.buffer.undo();
    assert!(document.text() == LINES && !says_undone(document));
    document.buffer.undo();
    assert!(document.text() == theirs() && says_undone(document));
    is_asked(&scene);
}

#[gtk::test]
fn a_file_that_is_gone_for_a_moment_leaves_its_changes_known() {
    let scene = Scene::new();
    let document = &scene.document;
    comes_from_disk(&scene, "five", "fünf");
    fs::remove_file(scene.file()).unwrap();
    until("the news", || says(document).is_some_and(|words| words.contains("was deleted")));
    fs::write(scene.file(), theirs()).unwrap();
    until("the file", || !document.is_unsaved());
    document.buffer.undo();
    assert!(document.text() == LINES && says_undone(document));
    is_asked(&scene);
}

#[gtk::test]
fn a_file_that_is_gone_while_the_user_decides_leaves_its_changes_known() {
    let scene = Scene::new();
    let document = &scene.document;
    comes_from_disk(&scene, "five", "fünf");
    scene.type_at(0, "my ");
    fs::remove_file(scene.file()).unwrap();
    document.take_disk(false);
    until("no file", || document.seen.borrow().is_none());
    assert!(scene.save(|| {}));
    document.buffer.undo();
    document.buffer.undo();
    assert!(document.text() == LINES && says_undone(document));
    is_asked(&scene);
}

#[gtk::test]
fn a_change_redone_after_the_user_kept_the_text_without_it_is_asked_about_again() {
    let scene = Scene::new();
    let document = &scene.document;
    comes_from_disk(&scene, "five", "fünf");
    document.buffer.undo();
    document.take_disk(false);
    until("the decision", || says(document).is_none());
    document.buffer.redo();
    assert_eq!(document.text(), theirs());
    assert!(scene.save(|| {}));
    document.buffer.undo();
    assert!(document.text() == LINES && says_undone(document));
    is_asked(&scene);
}

#[gtk::test]
fn a_change_redone_after_its_file_became_the_text_without_it_is_asked_about_again() {
    let scene = merged();
    let document = &scene.document;
    document.buffer.undo();
    fs::write(scene.file(), mine()).unwrap();
    until("the same text", || says(document).is_none());
    document.buffer.redo();
    assert!(scene.save(|| {}));
    assert_eq!(scene.on_disk(), both());
    document.buffer.undo();
    assert!(document.text() == mine() && says_undone(document));
    is_asked(&scene);
}
