//! Tests how a selection begins, grows and ends.

use std::sync::Arc;

use chat_core::message::Message;

use super::*;

fn entries(texts: &[(Role, &str)]) -> Vec<Entry> {
    let entry = |(role, text): &(Role, &str)| {
        let mut entry = Entry::new(Arc::new(Message::text(*role, None, *text)));
        entry.rows = entry.kinds().len();
        entry
    };
    texts.iter().map(entry).collect()
}

fn place(entries: &[Entry], index: usize, row: usize, letter: usize) -> TextPlace {
    TextPlace { message: entries[index].id(), row, letter }
}

/// The letters that are selected, row by row.
fn selected(entries: &[Entry], selection: &Selection) -> Vec<String> {
    let Some(span) = selection.span(entries) else { return Vec::new() };
    let mut out = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        for row in 0..entry.rows {
            let letters = letters_of(entry, row);
            let range = span.letters(index, row).filter(|_| !letters.is_empty());
            if let Some(range) = range {
                let end = range.end.min(letters.len());
                out.push(letters[range.start.min(end)..end].iter().collect());
            }
        }
    }
    out
}

const TEXT: &str =
    "one two\n\n```\nlet a = b;\n```\n\nthree four\n\n| x y | z |\n|---|---|\n| v | w |";

#[test]
fn a_selection_grows_in_both_directions_over_rows() {
    let all = entries(&[(Role::User, "Go"), (Role::Assistant, TEXT)]);
    let mut selection = Selection::begin(&all, place(&all, 1, 1, 4), Unit::Letter);
    assert!(selection.span(&all).is_none());
    selection.extend(&all, place(&all, 1, 2, 5));
    assert_eq!(selected(&all, &selection), ["a = b;", "three"]);
    selection.extend(&all, place(&all, 0, 0, 1));
    assert_eq!(selected(&all, &selection), ["o", "one two", "let "]);
    selection.extend(&all, place(&all, 1, 1, 4));
    assert!(selected(&all, &selection).is_empty());
}

#[test]
fn after_a_double_click_whole_words_are_selected() {
    let all = entries(&[(Role::Assistant, TEXT)]);
    let mut selection = Selection::begin(&all, place(&all, 0, 0, 5), Unit::Word);
    assert_eq!(selected(&all, &selection), ["two"]);
    selection.extend(&all, place(&all, 0, 1, 5));
    assert_eq!(selected(&all, &selection), ["two", "let a "]);
    // What was clicked stays, whichever way it goes.
    selection.extend(&all, place(&all, 0, 0, 1));
    assert_eq!(selected(&all, &selection), ["one two"]);
}

#[test]
fn a_triple_click_selects_a_line_or_a_cell() {
    let all = entries(&[(Role::Assistant, TEXT)]);
    let lines = Selection::begin(&all, place(&all, 0, 2, 5), Unit::Paragraph);
    assert_eq!(selected(&all, &lines), ["three four"]);
    let cell = Selection::begin(&all, place(&all, 0, 3, 1), Unit::Paragraph);
    assert_eq!(selected(&all, &cell), ["x y"]);
}

#[test]
fn all_of_a_turn_and_all_of_the_chat() {
    let texts = [
        (Role::User, "Go"),
        (Role::Assistant, "one"),
        (Role::Tool, "result"),
        (Role::Assistant, "two\n\n---"),
        (Role::User, "Yes"),
    ];
    let all = entries(&texts);
    assert_eq!((turn_of(&all, 0), turn_of(&all, 2), turn_of(&all, 4)), (0..1, 1..4, 4..5));
    let turn = Selection::all(&all, turn_of(&all, 1)).expect("text");
    assert_eq!(selected(&all, &turn), ["one", "two"]);
    let chat = Selection::all(&all, 0..all.len()).expect("text");
    assert_eq!(selected(&all, &chat)[0], "Go");
    assert_eq!(selected(&all, &chat).last().map(String::as_str), Some("Yes"));
    assert!(Selection::all(&entries(&[(Role::Tool, "x")]), 0..1).is_none());
}

#[test]
fn it_stays_while_the_reply_grows_and_earlier_messages_come() {
    let mut all = entries(&[(Role::Assistant, "one two")]);
    let selection = Selection::between(place(&all, 0, 0, 0), place(&all, 0, 0, 3));
    let mut earlier = entries(&[(Role::User, "before")]);
    earlier.append(&mut all);
    assert_eq!(selected(&earlier, &selection), ["one"]);
}

#[test]
fn its_stamp_tells_whether_the_text_before_its_ends_is_another() {
    let stamp = |text: &str| {
        let mut all = entries(&[(Role::Assistant, text)]);
        let message = MessageId::new();
        Arc::make_mut(&mut all[0].message).id = message;
        let at = |letter| TextPlace { message, row: 0, letter };
        Selection::between(at(2), at(5)).stamp(&all)
    };
    assert_eq!(stamp("some words"), stamp("some words, and more"));
    assert_ne!(stamp("some *words"), stamp("so_me words"));
    let all = entries(&[(Role::User, "Go")]);
    let selection = Selection::between(place(&all, 0, 0, 0), place(&all, 0, 0, 1));
    assert!(selection.stamp(&all).is_some());
    assert_eq!(selection.stamp(&entries(&[(Role::User, "Go")])), None);
}

#[test]
fn the_keyboard_goes_by_letters_and_words_over_the_ends_of_rows() {
    let all = entries(&[(Role::User, "Go"), (Role::Assistant, "one two\n\n```\na b\n```")]);
    let at = |index, row, letter| place(&all, index, row, letter);
    let next = |from, stride| step(&all, from, stride, true);
    assert_eq!(next(at(1, 0, 3), Stride::Letter), at(1, 0, 4));
    assert_eq!(next(at(1, 0, 7), Stride::Letter), at(1, 1, 0));
    assert_eq!(next(at(1, 0, 4), Stride::Word), at(1, 0, 7));
    assert_eq!(next(at(1, 0, 7), Stride::Word), at(1, 1, 1));
    assert_eq!(next(at(1, 1, 3), Stride::Letter), at(1, 1, 3));
    let back = |from, stride| step(&all, from, stride, false);
    assert_eq!(back(at(1, 0, 0), Stride::Letter), at(0, 0, 2));
    assert_eq!(back(at(1, 0, 0), Stride::Word), at(0, 0, 0));
    assert_eq!(back(at(0, 0, 0), Stride::Letter), at(0, 0, 0));
}
