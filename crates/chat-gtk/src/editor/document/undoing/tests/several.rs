//! Tests several changes from disk in one text, undone one by one.

use super::*;

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
