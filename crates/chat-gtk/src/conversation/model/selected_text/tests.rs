//! Tests what copying gives, letter for letter.

use std::sync::Arc;

use chat_core::message::{Message, MessageId, Part};
use proptest::prelude::*;

use super::*;
use crate::conversation::model::selection::{Selection, TextPlace, letters_of};

fn entry(role: Role, text: &str) -> Entry {
    let mut entry = Entry::new(Arc::new(Message::text(role, None, text)));
    entry.rows = entry.kinds().len();
    entry
}

fn reply(text: &str) -> Vec<Entry> {
    vec![entry(Role::Assistant, text)]
}

fn all(entries: &[Entry]) -> Span {
    let all = Selection::all(entries, 0..entries.len()).expect("there is text");
    all.span(entries).expect("there is text")
}

fn plain(text: &str) -> String {
    let entries = reply(text);
    selected_text(&entries, &all(&entries))
}

/// The place before the first of these words in the row that has them.
fn before(entries: &[Entry], words: &str) -> TextPlace {
    for entry in entries {
        for row in 0..entry.rows {
            let text: String = letters_of(entry, row).into_iter().collect();
            if let Some(byte) = text.find(words) {
                let letter = text[..byte].chars().count();
                return TextPlace { message: entry.id(), row, letter };
            }
        }
    }
    panic!("no {words}");
}

/// From the first words to the end of the last.
fn span(entries: &[Entry], first: &str, last: &str) -> Span {
    let mut end = before(entries, last);
    end.letter += last.chars().count();
    Selection::between(before(entries, first), end).span(entries).expect("a selection")
}

fn text(entries: &[Entry], first: &str, last: &str) -> String {
    selected_text(entries, &span(entries, first, last))
}

fn source(entries: &[Entry], first: &str, last: &str) -> String {
    selected_source(entries, &span(entries, first, last))
}

#[test]
fn lists_have_their_bullets_numbers_and_indentation() {
    assert_eq!(
        plain(
            "Two:\n\n- one *word*\n- [x] done\n  1. nested\n     again\n  2. more\n\n  below\n\nEnd"
        ),
        "Two:\n\n• one word\n☑ done\n  1. nested\n    again\n  2. more\n\n  below\n\nEnd"
    );
}

#[test]
fn quotations_have_their_signs_and_code_has_none() {
    assert_eq!(
        plain("> one\n> two\n>\n> three\n\n```rust\nfn a() {\n\n    b\n}\n```\n\nend"),
        "> one\n> two\n>\n> three\n\nfn a() {\n\n    b\n}\n\nend"
    );
}

#[test]
fn cells_are_separated_by_tabs_and_formulas_are_their_source() {
    assert_eq!(
        plain("# Head\n\n| A | **B** |\n|--|--|\n| `c` | d<br>e |\n\nso $x^2$ is\n\n$$\ny\n$$"),
        "Head\n\nA\tB\nc\td e\n\nso $x^2$ is\n\n$$\ny\n$$"
    );
}

const MIXED: &str = "# The *head*\n\nSome **bold** words.\n\n- first item\n- second item\n\n---\n\n\
    ```py\nprint(1)\nprint(2)\n```\n\n> a quote\n\n| A | B |\n|---|--:|\n| c | d |\n\nThe end.";

#[test]
fn a_part_has_no_sign_of_what_it_stands_in() {
    let entries = reply(MIXED);
    assert_eq!(text(&entries, "bold", "words"), "bold words");
    assert_eq!(text(&entries, "a quote", "a quote"), "a quote");
    assert_eq!(text(&entries, "item", "second"), "item\n• second");
    assert_eq!(
        text(&entries, "head", "print(1)"),
        "head\n\nSome bold words.\n\n• first item\n• second item\n\nprint(1)"
    );
    assert_eq!(text(&entries, "print(2)", "a q"), "print(2)\n\n> a q");
    assert_eq!(text(&entries, "B\nc", "The end"), "B\nc\td\n\nThe end");
}

#[test]
fn markdown_is_the_source_where_blocks_are_whole() {
    let entries = reply(MIXED);
    assert_eq!(selected_source(&entries, &all(&entries)), MIXED);
    let most = source(&entries, "The head", "a quote");
    assert_eq!(most, &MIXED[..MIXED.find("\n\n| A").unwrap()]);
    assert_eq!(
        source(&entries, "A\tB", "The end"),
        "| A | B |\n| --- | --: |\n| c | d |\n\nThe end"
    );
    // Within a block it is text.
    assert_eq!(source(&entries, "bold", "words"), "bold words");
    assert_eq!(source(&entries, "print(1)", "print(1)"), "print(1)");
    assert_eq!(source(&entries, "B\nc", "B\nc"), "B\nc");
    assert_eq!(source(&entries, "print(1)", "print(2)"), "```py\nprint(1)\nprint(2)\n```");
}

#[test]
fn pictures_and_lines_across_are_there_between_what_is_selected() {
    let dot = "data:image/png;base64,iVBORw0KGgo=";
    let written = format!("one\n\n---\n\n![a dot]({dot})\n\ntwo");
    let entries = reply(&written);
    assert_eq!(text(&entries, "one", "two"), "one\n\na dot\n\ntwo");
    assert_eq!(source(&entries, "ne", "two"), written[1..]);
    let entries = vec![entry(Role::User, &format!("*one*\n\n---\n\n![a dot]({dot})\n\ntwo"))];
    assert_eq!(text(&entries, "ne", "two"), "ne\n\na dot\n\ntwo");
}

#[test]
fn tools_thinking_and_results_are_no_part_of_it() {
    let mut message = Message::text(Role::Assistant, None, "First.");
    let thinking =
        |text: &str| Part::Thinking { text: text.to_owned(), took: None, provider: None };
    message.parts = vec![
        thinking("hm"),
        Part::Text("First.".to_owned()),
        thinking("so"),
        Part::Text("Second.".to_owned()),
    ];
    let mut long = Entry::new(Arc::new(message));
    long.rows = long.kinds().len();
    let entries =
        vec![entry(Role::User, "Go *on*"), long, entry(Role::Tool, "x"), entry(Role::User, "Yes")];
    assert_eq!(selected_text(&entries, &all(&entries)), "Go on\n\nFirst.\n\nSecond.\n\nYes");
}

#[test]
fn what_the_user_wrote_is_copied_block_by_block() {
    let entries = vec![entry(Role::User, "Do:\n\n- *one*\n- two\n\n```\ncode\n```")];
    assert_eq!(selected_text(&entries, &all(&entries)), "Do:\n\n• one\n• two\n\ncode");
    assert_eq!(text(&entries, "two", "co"), "two\n\nco");
    assert_eq!(source(&entries, "one", "code"), "*one*\n- two\n\n```\ncode\n```");
}

#[test]
fn a_formula_is_there_as_a_whole_or_not_at_all() {
    let entries = reply("so $x^2$ is\n\n$$y$$\n\nend");
    assert_eq!(text(&entries, "so", "x^"), "so $x^2$");
    assert_eq!(text(&entries, "^2", "is"), " is");
    assert_eq!(text(&entries, "is", "end"), "is\n\n$$y$$\n\nend");
}

#[test]
fn messages_that_were_not_read_yet_are_copied_too() {
    let text = "- a\n- b";
    let mut entries = vec![
        Entry::new(Arc::new(Message::text(Role::User, None, "Q"))),
        Entry::new(Arc::new(Message::text(Role::Assistant, None, text))),
    ];
    entries.extend(reply("The end"));
    assert_eq!(selected_text(&entries, &all(&entries)), "Q\n\n• a\n• b\n\nThe end");
    assert_eq!(selected_source(&entries, &all(&entries)), "Q\n\n- a\n- b\n\nThe end");
}

#[test]
fn what_is_gone_is_not_selected() {
    let entries = reply("one");
    let gone = TextPlace { message: MessageId::new(), row: 0, letter: 0 };
    assert!(Selection::between(gone, before(&entries, "one")).span(&entries).is_none());
}

/// Blocks, and what each gives when it is copied by itself.
fn block() -> impl Strategy<Value = (String, String)> {
    let word = "[a-z]{1,6}( [a-z]{1,6}){0,3}";
    prop_oneof![
        word.prop_map(|words| (words.clone(), words)),
        word.prop_map(|words| (format!("## {words}"), words)),
        word.prop_map(|words| (format!("> {words}"), format!("> {words}"))),
        word.prop_map(|words| (format!("```\n{words}\n```"), words)),
        (word, word).prop_map(|(a, b)| (format!("1. {a}\n2. {b}"), format!("1. {a}\n2. {b}"))),
        (word, word).prop_map(|(a, b)| (format!("| {a} |\n|---|\n| {b} |"), format!("{a}\n{b}"))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_is_the_concatenation_of_its_blocks(blocks in prop::collection::vec(block(), 1..8)) {
        // A paragraph between them keeps lists and quotations apart.
        let join = |part: fn(&(String, String)) -> &String| {
            blocks.iter().map(|block| part(block).as_str()).collect::<Vec<_>>().join("\n\nx\n\n")
        };
        // Alone, a quotation needs no sign.
        prop_assert_eq!(plain(&format!("x\n\n{}", join(|it| &it.0))), format!("x\n\n{}", join(|it| &it.1)));
    }

    #[test]
    fn markdown_of_all_but_a_word_reads_as_the_same_blocks(blocks in prop::collection::vec(block(), 1..8)) {
        let text = blocks.iter().map(|block| block.0.as_str()).collect::<Vec<_>>().join("\n\nx\n\n");
        let entries = reply(&format!("zz yy\n\n{text}"));
        let mut start = before(&entries, "yy");
        start.row = 0;
        let end = all(&entries);
        let mut selection = Selection::all(&entries, 0..1).expect("text");
        selection = Selection::between(start, selection.focus());
        prop_assert!(selection.span(&entries).is_some_and(|span| span != end));
        let written = selected_source(&entries, &selection.span(&entries).expect("a span"));
        let again = reply(&written);
        prop_assert_eq!(selected_text(&again, &all(&again)), plain(&format!("yy\n\n{text}")), "{}", written);
    }

    #[test]
    fn any_part_is_in_the_text_of_all(start in 0_usize..120, length in 1_usize..120) {
        let entries = reply(MIXED);
        let whole: Vec<(usize, usize)> = (0..entries[0].rows)
            .flat_map(|row| (0..=letters_of(&entries[0], row).len()).map(move |letter| (row, letter)))
            .collect();
        let at = |place: usize| {
            let (row, letter) = whole[place.min(whole.len() - 1)];
            TextPlace { message: entries[0].id(), row, letter }
        };
        if let Some(span) = Selection::between(at(start), at(start + length)).span(&entries) {
            let part = selected_text(&entries, &span);
            let all = plain(MIXED);
            for word in part.split_whitespace() {
                prop_assert!(all.contains(word), "{} of {}", word, part);
            }
        }
    }
}
