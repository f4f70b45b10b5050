//! Tests changes from disk among other undo steps: undone with them, redone after a decision, and
//! in a file that disappears and comes back.

use super::*;

/// Replaces words like the user, as one undo step.
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

/// A text of an earlier run, which the user discarded for the file on disk, and then restored.
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
    let is_question = |words: String| words.contains("was changed both on disk and here");
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
    until("no file", || document.disk_state.borrow().is_none());
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
