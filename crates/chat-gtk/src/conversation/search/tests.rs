//! Tests which match comes next, and which one a search goes to first.

use std::sync::Arc;

use chat_core::message::{Message, Role};
use chat_core::tool::Toolbox;

use super::*;

/// Messages with rows as the view would make them.
fn entries(texts: &[&str]) -> Vec<Entry> {
    let message = |text: &&str| Arc::new(Message::text(Role::Assistant, None, *text));
    texts
        .iter()
        .map(|text| {
            let mut entry = Entry::new(message(text));
            entry.rows = entry.kinds().len();
            entry
        })
        .collect()
}

fn finder(words: &str, search: u64) -> Finder {
    let pattern = Pattern::new(words).expect("words");
    Finder { pattern, search, seek: None, current: None, reported: None }
}

fn read_all(finder: &Finder, entries: &mut [Entry]) {
    for entry in entries {
        read::read(entry, &Toolbox::default(), &finder.pattern, finder.search);
    }
}

/// The index of the message of a place, its row and which of its places it is.
fn at(entries: &[Entry], place: MatchPosition) -> (usize, usize, usize) {
    let index = entries.iter().position(|entry| entry.id() == place.message).expect("it is there");
    (index, place.row, place.hit)
}

#[test]
fn places_follow_each_other_in_the_order_of_the_text_and_go_round() {
    let mut all = entries(&["x x\n\n```\nx\n```", "none", "x"]);
    let mut finder = finder("x", 1);
    read_all(&finder, &mut all);
    finder.current = Some(MatchPosition { message: all[0].id(), row: 0, hit: 0 });
    let mut forward = vec![(0, 0, 0)];
    for _ in 0..4 {
        let next = finder.next(&all, true).expect("a next one");
        finder.current = Some(next);
        forward.push(at(&all, next));
    }
    assert_eq!(forward, [(0, 0, 0), (0, 0, 1), (0, 1, 0), (2, 0, 0), (0, 0, 0)]);
    let mut back = vec![(0, 0, 0)];
    for _ in 0..4 {
        let next = finder.next(&all, false).expect("one before");
        finder.current = Some(next);
        back.push(at(&all, next));
    }
    back.reverse();
    assert_eq!(back, forward);
    let status = finder.status(&all, false);
    assert_eq!(status, SearchStatus { current: Some(1), total: 4, searching: false });
}

#[test]
fn the_first_place_is_that_behind_where_the_person_reads_or_else_the_last_before() {
    let mut all = entries(&["x", "y", "z\n\n```\nx\n```", "y", "w"]);
    let mut finder = finder("x", 1);
    finder.seek = Some(Seek::From(all[1].id(), 0));
    assert_eq!(finder.seek_outcome(&all, false), SeekOutcome::NotYet);
    read_all(&finder, &mut all);
    let found = |finder: &Finder| match finder.seek_outcome(&all, true) {
        SeekOutcome::At(place) => Some(at(&all, place)),
        _ => None,
    };
    assert_eq!(found(&finder), Some((2, 1, 0)));
    finder.seek = Some(Seek::From(all[3].id(), 0));
    assert_eq!(found(&finder), Some((2, 1, 0)));
    finder.seek = Some(Seek::From(all[0].id(), 0));
    assert_eq!(found(&finder), Some((0, 0, 0)));
}

#[test]
fn where_nothing_is_found_earlier_messages_are_waited_for() {
    let mut all = entries(&["y"]);
    let mut finder = finder("x", 1);
    finder.seek = Some(Seek::From(all[0].id(), 0));
    read_all(&finder, &mut all);
    assert_eq!(finder.seek_outcome(&all, true), SeekOutcome::NotYet);
    assert_eq!(finder.seek_outcome(&all, false), SeekOutcome::Nowhere);
    finder.seek = Some(Seek::Message(all[0].id()));
    assert_eq!(finder.seek_outcome(&all, true), SeekOutcome::Without(all[0].id()));
}

#[test]
fn a_search_of_the_chats_leads_to_the_word_that_it_found() {
    for (words, text, expected) in [
        ("go", "Long ago: a go.", (0, 1)),
        ("go", "Ago.\n\n```\ncargo\n```\n\nago; go go", (2, 1)),
        ("go", "ago", (0, 0)),
        ("need", "needle in need", (0, 0)),
    ] {
        let mut all = entries(&[text]);
        let mut finder = finder(words, 1);
        read_all(&finder, &mut all);
        finder.seek = Some(Seek::Message(all[0].id()));
        let (row, hit) = expected;
        let place = MatchPosition { message: all[0].id(), row, hit };
        assert_eq!(finder.seek_outcome(&all, false), SeekOutcome::At(place), "{words} in {text:?}");
    }
}

#[test]
fn a_text_that_grows_is_read_where_it_grew() {
    let mut live = Message::reply(None, chat_core::message::ModelRef::new("here", "model"));
    let text = "x and x\n\n".repeat(2_000);
    live.parts = vec![chat_core::message::Part::Text(text.clone())];
    let mut all = vec![Entry::new(Arc::new(live))];
    let rows = all[0].kinds().len();
    assert!(rows > 10, "many rows: {rows}");
    let finder = finder("x", 1);
    read_all(&finder, &mut all);
    let places = |all: &[Entry]| {
        (0..rows - 1).map(|row| all[0].hits.in_row(row).as_ptr()).collect::<Vec<_>>()
    };
    let before = places(&all);
    assert_eq!(all[0].hits.count(), 4_000);
    assert!(all[0].add_text(0, chat_core::event::TextKind::Text, text.len(), "one more x"));
    all[0].kinds();
    assert!(!all[0].hits.is_of(1));
    read_all(&finder, &mut all);
    assert_eq!(all[0].hits.count(), 4_001);
    // What was found above stands where it stood in memory: it was not made again.
    assert_eq!(before, places(&all));
}

#[test]
fn a_place_that_is_gone_is_let_go() {
    let mut all = entries(&["x"]);
    let mut first = finder("x", 1);
    read_all(&first, &mut all);
    first.current = Some(MatchPosition { message: all[0].id(), row: 0, hit: 0 });
    assert_eq!(first.status(&all, false).current, Some(1));
    let second = finder("y", 2);
    read_all(&second, &mut all);
    assert_eq!(first.status(&all, false), SearchStatus::default());
    assert_eq!(first.current, None);
}
