//! Tests that drafts are kept, on the disk and in memory.

use super::files::write;
use super::*;
use crate::composer::{Pin, PlainWords};

fn text(text: &str) -> Written {
    Written::text(text)
}

#[test]
fn drafts_come_back_and_empty_ones_leave_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let fid = Fid::new("2026-01-15-14-30-45");
    let mut drafts = Drafts::default();
    assert!(drafts.set(Some(&fid), &text("half a thought")));
    assert!(drafts.set(None, &text("another")));
    drafts.unwritten().write(folder.path()).unwrap();

    let mut again = Drafts::default();
    again.absorb(read(folder.path()));
    assert_eq!(*again.get(Some(&fid)), text("half a thought"));
    assert_eq!(*again.get(None), text("another"));

    assert!(again.set(Some(&fid), &text("")));
    again.unwritten().write(folder.path()).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn the_draft_of_a_temporary_chat_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let fid = Fid::new("temporary-2026-01-15-14-30-45");
    let mut drafts = Drafts::default();
    assert!(drafts.set(Some(&fid), &text("a secret")));
    drafts.give_back(Some(&fid), &text("another"));
    drafts.unwritten().write(folder.path()).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(*drafts.get(Some(&fid)), text("another\na secret"));
}

#[test]
fn what_is_typed_in_a_message_is_written_until_it_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let fid = Some(Fid::new("2026-01-15-14-30-45"));
    let mut drafts = Drafts::default();
    drafts.set(fid.as_ref(), &text("draft"));
    let edits = || HashMap::from([(fid.clone(), "edited".to_owned())]);
    assert!(drafts.set_edits(edits()) && !drafts.set_edits(edits()));
    drafts.unwritten().write(folder.path()).unwrap();
    assert_eq!(read(folder.path())[&fid], text("edited\ndraft"));
    assert_eq!(*drafts.get(fid.as_ref()), text("draft"), "the composer has only its own");
    drafts.set(fid.as_ref(), &text("a draft"));
    drafts.unwritten().write(folder.path()).unwrap();
    assert_eq!(read(folder.path())[&fid], text("edited\na draft"));
    assert!(drafts.set_edits(HashMap::new()));
    drafts.unwritten().write(folder.path()).unwrap();
    assert_eq!(read(folder.path())[&fid], text("a draft"));
}

#[test]
fn what_is_typed_in_a_message_takes_no_stored_draft_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let fid = Some(Fid::new("2026-01-15-14-30-45"));
    let mut drafts = Drafts::default();
    drafts.set_edits(HashMap::from([(fid.clone(), "edited".to_owned())]));
    drafts.absorb(HashMap::from([(fid.clone(), text("stored"))]));
    drafts.unwritten().write(folder.path()).unwrap();
    assert_eq!(read(folder.path())[&fid], text("edited\nstored"));
}

#[test]
fn what_is_pinned_to_a_draft_comes_back_with_it_and_goes_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let pin = Pin { label: "Pasted".into(), word: None, what: Pinned::Text("a log".into()) };
    let draft = Written { pins: vec![Arc::new(pin)], ..Written::default() };
    let mut drafts = Drafts::default();
    assert!(drafts.set(None, &draft));
    drafts.unwritten().write(folder.path()).unwrap();
    assert_eq!(read(folder.path())[&None], draft);
    drafts.set(None, &Written::default());
    drafts.unwritten().write(folder.path()).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn words_that_point_at_nothing_still_do_so_in_a_draft_that_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let pasted = "use @types/node";
    let draft = Written { plain: PlainWords::of(pasted), ..text(pasted) };
    let mut drafts = Drafts::default();
    drafts.set(None, &draft);
    drafts.unwritten().write(folder.path()).unwrap();
    assert_eq!(read(folder.path())[&None], draft);
}

#[test]
fn what_cannot_be_kept_holds_nothing_else_up() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    let path = Path::new(std::ffi::OsStr::from_bytes(b"\xff.rs")).to_owned();
    let mention = chat_core::message::Mention::Folder { path };
    let pin = |what| Arc::new(Pin { label: "a".into(), word: None, what });
    let log = pin(Pinned::Text("a log".into()));
    let pins = vec![pin(Pinned::Mention(mention)), Arc::clone(&log)];
    let mut drafts = Drafts::default();
    drafts.set(None, &Written { pins, ..text("see") });
    drafts.unwritten().write(folder.path()).unwrap();
    assert_eq!(read(folder.path())[&None], Written { pins: vec![log], ..text("see") });
}

#[test]
fn a_later_version_s_pins_take_no_others_with_them() {
    let folder = tempfile::tempdir().unwrap();
    let known = r#"{"label":"a","word":null,"what":{"Text":"a log"}}"#;
    let json = format!(r#"[{{"label":"b","word":null,"what":{{"Sound":7}}}},{known}]"#);
    std::fs::write(folder.path().join("new.json"), json).unwrap();
    let pin = Pin { label: "a".into(), word: None, what: Pinned::Text("a log".into()) };
    assert_eq!(read(folder.path())[&None].pins, [Arc::new(pin)]);
}

#[test]
fn what_was_stored_comes_before_what_was_typed_meanwhile() {
    let mut drafts = Drafts::default();
    drafts.set(None, &text("typed"));
    drafts.absorb(HashMap::from([(None, text("stored"))]));
    assert_eq!(*drafts.get(None), text("stored\ntyped"));
    assert!(drafts.were_typed());
}

#[test]
fn what_was_only_stored_was_not_typed_now() {
    let mut drafts = Drafts::default();
    drafts.absorb(HashMap::from([(None, text("stored"))]));
    assert!(!drafts.were_typed());
}

#[test]
fn an_unchanged_draft_is_not_written() {
    let mut drafts = Drafts::default();
    assert!(!drafts.set(None, &text("")));
    assert!(drafts.set(None, &text("a")));
    assert!(!drafts.unwritten().is_empty());
    let folder = tempfile::tempdir().unwrap();
    drafts.unwritten().write(folder.path()).unwrap();
    assert!(!drafts.set(None, &text("a")));
    assert!(drafts.unwritten().is_empty());
}

#[test]
fn what_was_not_sent_comes_before_what_was_typed_since_and_but_once() {
    let mut drafts = Drafts::default();
    drafts.give_back(None, &text("sent"));
    drafts.give_back(None, &text("sent"));
    assert_eq!(*drafts.get(None), text("sent"));
    drafts.set(None, &text("typed"));
    drafts.give_back(None, &text("sent"));
    assert_eq!(*drafts.get(None), text("sent\ntyped"));
}

#[test]
fn a_writer_that_comes_late_writes_what_was_typed_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut drafts = Drafts::default();
    drafts.set(None, &text("first"));
    let (early, late) = (drafts.unwritten(), drafts.unwritten());
    drafts.set(None, &text("second"));
    late.write(folder.path()).unwrap();
    early.write(folder.path()).unwrap();
    assert_eq!(read(folder.path())[&None], text("second"));
}

#[test]
fn what_could_not_be_written_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("drafts");
    std::fs::write(&blocked, "a file in the way").unwrap();
    let mut drafts = Drafts::default();
    drafts.set(None, &text("kept"));
    assert!(drafts.unwritten().write(&blocked).is_err());
    std::fs::remove_file(&blocked).unwrap();
    drafts.unwritten().write(&blocked).unwrap();
    assert_eq!(read(&blocked)[&None], text("kept"));
}

#[test]
fn that_they_cannot_be_written_is_told_once() {
    let mut drafts = Drafts::default();
    let full = || Err(std::io::ErrorKind::StorageFull.into());
    assert!(drafts.new_failure(full()).is_some());
    assert!(drafts.new_failure(full()).is_none());
    assert!(drafts.new_failure(Ok(())).is_none());
    assert!(drafts.new_failure(full()).is_some());
}

#[test]
fn drafts_of_sessions_that_are_gone_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let stays = Fid::new("stays");
    for (fid, draft) in [(Some("stays"), "a"), (Some("gone"), "b"), (None, "c")] {
        write(folder.path(), fid.map(Fid::new).as_ref(), &text(draft)).unwrap();
    }
    prune(folder.path(), |fid| *fid == stays);
    let left = read(folder.path());
    assert_eq!(left.len(), 2);
    assert_eq!(left[&Some(stays)], text("a"));
}
