use proptest::prelude::*;
use proptest::sample::Index;

use super::*;

fn merge(ancestor: &str, ours: &str, theirs: &str) -> (String, bool) {
    let Merged { text, contested } = texts(ancestor.as_bytes(), ours.as_bytes(), theirs.as_bytes());
    (String::from_utf8(text).unwrap(), contested)
}

fn lines(text: &str) -> String {
    text.chars().flat_map(|c| [c, '\n']).collect()
}

#[test]
fn cases() {
    let cases = [
        // (ancestor, ours, theirs, merged, contested)
        ("abcde", "xbcde", "abcdy", "xbcdy", false),
        ("abcde", "axcde", "abyde", "axyde", false),
        ("abc", "axc", "ayc", "ayc", true),
        ("abc", "axc", "axc", "axc", false),
        ("abc", "abxc", "abyc", "abyc", true),
        ("abc", "abxc", "abxc", "abxc", false),
        ("abcdef", "adef", "abXcdef", "abXcdef", true),
        ("abcdef", "adef", "aXbcdef", "aXdef", false),
        ("abcdef", "adef", "abcXdef", "aXdef", false),
        ("", "x", "y", "y", true),
        ("ab", "", "ab", "", false),
        ("ab", "", "aXb", "aXb", true),
        ("abcdefg", "aBCDefg", "abcDEfg", "abcDEfg", true),
        ("abcdefg", "XbcdefY", "abcZefg", "XbcZefY", false),
    ];
    for (ancestor, ours, theirs, merged, contested) in cases {
        let found = merge(&lines(ancestor), &lines(ours), &lines(theirs));
        assert_eq!(found, (lines(merged), contested), "{ancestor} {ours} {theirs}");
    }
}

#[test]
fn two_lines_do_not_run_together() {
    assert!(merge("a", "a\nx", "b").1);
    assert_eq!(merge("a\nb", "x\nb", "a\nb\nc"), ("x\nb\nc".to_owned(), false));
}

#[test]
fn what_is_no_text_is_never_mixed() {
    let node = |bytes: &[u8]| Some(Node::file(bytes));
    let merged = states(&node(b"a\n\0\nb\n"), &node(b"x\n\0\nb\n"), &node(b"a\n\0\ny\n"));
    assert_eq!(merged, Err(Contested(None)));
    assert_eq!(states(&node(b"a"), &None, &node(b"b")), Err(Contested(None)));
    assert_eq!(states(&node(b"a"), &None, &node(b"a")), Ok(None));
}

/// Inserts unique lines of one side at these positions.
fn with_own(text: &[String], own: &str, places: &[(Index, usize)]) -> Vec<String> {
    let mut text = text.to_vec();
    for (number, (place, count)) in places.iter().enumerate() {
        let at = place.index(text.len() + 1);
        // Some lines are removed, too.
        let end = (at + count).min(text.len());
        text.splice(at..end, [format!("{own}{number}\n")]);
    }
    text
}

proptest! {
    #[test]
    fn nothing_of_theirs_is_ever_lost_and_of_ours_only_where_it_is_told(
        base in prop::collection::vec(0_u8..6, 0..24),
        ours in prop::collection::vec((any::<Index>(), 0_usize..4), 0..4),
        theirs in prop::collection::vec((any::<Index>(), 0_usize..4), 0..4),
    ) {
        let base: Vec<String> = base.iter().map(|line| format!("{line}\n")).collect();
        let one = with_own(&base, "ours", &ours);
        let other = with_own(&base, "theirs", &theirs);
        let (text, contested) = merge(&base.concat(), &one.concat(), &other.concat());
        for line in &other {
            prop_assert!(!line.starts_with("theirs") || text.contains(line));
        }
        for line in &one {
            prop_assert!(contested || !line.starts_with("ours") || text.contains(line));
        }
        // If one side changed nothing, the other side wins.
        prop_assert_eq!(merge(&base.concat(), &base.concat(), &other.concat()), (other.concat(), false));
        prop_assert_eq!(merge(&base.concat(), &one.concat(), &base.concat()), (one.concat(), false));
    }
}

#[test]
fn texts_are_merged_or_both_sides_are_shown() {
    let base = "a\nb\nc\nd\ne\n";
    let merge = |ours: &str, theirs: &str| merge_texts(base, ours, theirs);
    assert_eq!(merge("A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n").unwrap(), "A\nb\nc\nd\nE\n");
    assert_eq!(merge("a\nX\nc\nd\ne\n", "a\nY\nc\nd\nE\n"), None);
    let marked = |ours, theirs| merge_texts_marked(base, ("Yours", ours), ("On disk", theirs));
    assert_eq!(
        marked("a\nX\nc\nd\ne\n", "a\nY\nc\nd\nE\n"),
        "a\n<<<<<<< Yours\nX\n=======\nY\n>>>>>>> On disk\nc\nd\nE\n"
    );
    // A last line without an ending gets one.
    assert_eq!(
        marked("a\nb\nc\nd\nX", "a\nb\nc\nd\n"),
        "a\nb\nc\nd\n<<<<<<< Yours\nX\n=======\n>>>>>>> On disk\n"
    );
}
