//! Tests properties that every edit has.

use proptest::prelude::*;

use super::*;

fn edit(old: &str, new: &str) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned(), all: false }
}

fn one(content: &str, old: &str, new: &str) -> Result<String, Reason> {
    apply(content, &[edit(old, new)])
        .map(|applied| applied.content)
        .map_err(|refusal| refusal.reason)
}

#[test]
fn several_edits_are_all_made_or_none() {
    let edits = [edit("a", "b"), edit("b\nc", "d"), edit("nowhere", "")];
    assert_eq!(apply("a\nc\n", &edits[..2]).unwrap().content, "d\n");
    assert_eq!(apply("a\nc\n", &edits).unwrap_err().number, 3);
}

#[test]
fn all_places_are_changed_on_request() {
    let all = |content: &str, old: &str| {
        let edits = [Edit { all: true, ..edit(old, "c") }];
        let applied = apply(content, &edits).unwrap();
        (applied.content, applied.notes[0].places)
    };
    assert_eq!(all("a b a", "a"), ("c b c".to_owned(), 2));
    assert_eq!(all("aaa", "aa"), ("ca".to_owned(), 1));
    assert_eq!(all("  x\n  y\n\n    x\n    y\n", "x\ny"), ("  c\n\n    c\n".to_owned(), 2));
}

#[test]
fn edits_that_would_fill_memory_are_refused() {
    let all = |old: &str, new: String| Edit { all: true, ..edit(old, &new) };
    let growing = vec![all("a", "a".repeat(300)); 4];
    let refusal = apply("a", &growing).unwrap_err();
    assert_eq!((refusal.number, refusal.reason), (3, Reason::TooLarge));
    let many = "a".repeat(MOST_PLACES + 1);
    assert_eq!(apply(&many, &[all("a", String::new())]).unwrap_err().reason, Reason::TooMany);
    assert_eq!(apply(&many[1..], &[all("a", String::new())]).unwrap().content, "");
    // New lines are indented like the existing one.
    let deep = format!("{}x\n", " ".repeat(1 << 20));
    let new = format!("{}y", "z\n".repeat(1 << 10));
    assert!(one(&deep, "\tx\n\t", &new).is_err());
    assert!(apply(&deep, &[edit("x", &new), edit("nowhere", "")]).is_err());
}

#[test]
fn each_line_keeps_its_ending() {
    assert_eq!(one("a\r\nb\nc\r\n", "a\nb\nc", "a\nx\nb\nd").unwrap(), "a\r\nx\r\nb\nd\r\n");
    assert_eq!(one("a\r\nb", "b", "b\nc").unwrap(), "a\r\nb\r\nc");
    assert_eq!(one("a\nb", "b", "b\r\nc").unwrap(), "a\nb\nc");
}

#[test]
fn the_end_of_the_text_stays_as_it_is() {
    assert_eq!(one("a\nb", "b\n", "c\n").unwrap(), "a\nc");
    assert_eq!(one("a\nb", "b\n", "c\nd\n").unwrap(), "a\nc\nd");
    assert_eq!(one("a\nb\n", "b", "c").unwrap(), "a\nc\n");
    assert_eq!(one("    a\n    b", "a\nb\n", "c\nb\n").unwrap(), "    c\n    b");
}

#[test]
fn lines_that_stay_keep_their_blanks_and_quotes() {
    assert_eq!(
        one("a  \nb “c”\nd\n", "a\nb \"c\"\nd", "a\nb \"c\"\ne").unwrap(),
        "a  \nb “c”\ne\n"
    );
}

#[test]
fn the_model_is_told_what_differed() {
    let told =
        |content: &str, old: &str| apply(content, &[edit(old, "z")]).unwrap().notes[0].for_model();
    assert_eq!(told("a b\n", "b"), None);
    assert_eq!(
        told("a\n\tb\n\tc\n", "  b\n  c").unwrap(),
        "The text at line 2 differed in indentation (the new text was indented to fit)."
    );
    assert_eq!(
        told("“b”\n", "\"b\"").unwrap(),
        "The text at line 1 differed in typographic quotes."
    );
    assert_eq!(
        told("b \nc\n", "b\nc").unwrap(),
        "The text at line 1 differed in whitespace at the ends of lines."
    );
}

/// Words that occur once each, on lines with any indentation and ending.
fn text() -> impl Strategy<Value = String> {
    let line = ("[ \t]{0,3}", "[ \t]{0,2}", prop_oneof!["\n", "\r\n"]);
    proptest::collection::vec(line, 1..8).prop_map(|lines| {
        let line =
            |(number, (before, after, end))| format!("{before}w{number}“{number}”{after}{end}");
        lines.into_iter().enumerate().map(line).collect()
    })
}

/// As in a file without line breaks: no match may cost as much as the whole line.
#[test]
fn many_places_of_one_line_are_changed_in_no_long_time() {
    let worked = || rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec;
    let began = worked();
    for unit in ["a=1;", "“a”=1;"] {
        let old = &*quotes::plain(unit);
        let edits = [Edit { all: true, ..edit(old, "b") }];
        let applied = apply(&unit.repeat(50_000), &edits).unwrap();
        assert_eq!(applied.notes[0].places, 50_000);
    }
    // A second or two without optimization; minutes if each is counted from the line's beginning.
    assert!(worked() - began < 20, "{} s", worked() - began);
}

proptest! {
    /// What occurs exactly once is replaced, and nothing else is touched.
    #[test]
    fn exact_text_is_replaced_byte_for_byte(text in text(), word in any::<prop::sample::Index>(), cut in any::<(prop::sample::Index, prop::sample::Index)>()) {
        let words: Vec<usize> = text.match_indices('w').map(|(at, _)| at).collect();
        let word = *word.get(&words);
        let ends = |range: std::ops::RangeInclusive<usize>| {
            let is_end = |at: &usize| text.is_char_boundary(*at) && !text[..*at].ends_with('\r');
            range.filter(is_end).collect::<Vec<_>>()
        };
        let (a, b) = (*cut.0.get(&ends(0..=word)), *cut.1.get(&ends(word + 2..=text.len())));
        prop_assert_eq!(one(&text, &text[a..b], "new").unwrap(), format!("{}new{}", &text[..a], &text[b..]));
    }

    /// However imperfectly a place is given, the result is the right change, or none.
    #[test]
    fn an_imperfect_edit_is_right_or_refused(text in text(), first in any::<prop::sample::Index>(), indent in "[ \t]{0,4}", count in 1_usize..3) {
        let lines = Lines::new(&text);
        let filled = lines.all.len() - 1;
        let first = first.index(filled);
        let last = (first + count).min(filled) - 1;
        let given: Vec<String> = lines.all[first..=last].iter().map(|line| format!("{indent}{}", quotes::plain(line.text.trim()))).collect();
        if let Ok(result) = one(&text, &given.join("\n"), &format!("{indent}new")) {
            let (before, after) = (lines.all[first].start, lines.all[last].end());
            let middle = result.strip_prefix(&text[..before]).and_then(|rest| rest.strip_suffix(&text[after..]));
            prop_assert_eq!(middle.map(str::trim), Some("new"));
        }
    }

    /// No text and no edit makes it panic, and it explains what it refuses.
    #[test]
    fn anything_may_be_given(text in "[a“\"\t \r\n]{0,12}", old in "[a“\"\t \r\n]{0,6}", new in "[a“\"\t \r\n]{0,6}", all: bool) {
        match apply(&text, &[Edit { old, new, all }]) {
            Ok(applied) => prop_assert!(applied.notes[0].places > 0),
            Err(refusal) => prop_assert!(!refusal.to_string().is_empty()),
        }
    }
}
