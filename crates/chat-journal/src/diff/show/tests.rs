use proptest::prelude::*;

use super::*;

#[test]
fn lines_say_what_they_are() {
    let diff = Diff::new(b"a\nlet x = 1;\r\nc\n", b"a\nlet x = 2;\nnew\nc");
    let told: Vec<_> = diff
        .lines
        .iter()
        .map(|line| (line.kind, line.old, line.new, line.text.as_str(), line.ending))
        .collect();
    assert_eq!(
        told,
        [
            (Kind::Same, Some(0), Some(0), "a", Ending::Newline),
            (Kind::Removed, Some(1), None, "let x = 1;", Ending::CarriageReturn),
            (Kind::Removed, Some(2), None, "c", Ending::Newline),
            (Kind::Added, None, Some(1), "let x = 2;", Ending::Newline),
            (Kind::Added, None, Some(2), "new", Ending::Newline),
            (Kind::Added, None, Some(3), "c", Ending::Nothing),
        ]
    );
    assert_eq!(diff.lines[1].spans, vec![8..9]);
    assert_eq!(diff.counts(), (3, 2));
    let rows = diff.rows();
    assert_eq!(rows[1], Row { left: Some(1), right: Some(3) });
    assert_eq!(rows[3], Row { left: None, right: Some(5) });
}

fn text(lines: &[u8]) -> Vec<u8> {
    lines.iter().flat_map(|line| [b'a' + line, b'\n']).collect()
}

proptest! {
    #[test]
    fn both_sides_are_whole(
        old in prop::collection::vec(0_u8..5, 0..30),
        new in prop::collection::vec(0_u8..5, 0..30),
        around in 0_usize..4,
    ) {
        let diff = Diff::new(&text(&old), &text(&new));
        let side = |kind| -> Vec<u8> {
            let lines = diff.lines.iter().filter(|line| line.kind == Kind::Same || line.kind == kind);
            lines.flat_map(|line| format!("{}\n", line.text).into_bytes()).collect()
        };
        prop_assert_eq!(side(Kind::Removed), text(&old));
        prop_assert_eq!(side(Kind::Added), text(&new));
        for (number, line) in diff.lines.iter().filter(|line| line.new.is_some()).enumerate() {
            prop_assert_eq!(line.new, Some(number));
        }
        let rows = diff.rows();
        let left: Vec<_> = rows.iter().filter_map(|row| row.left).collect();
        let right: Vec<_> = rows.iter().filter_map(|row| row.right).collect();
        prop_assert_eq!(left.len(), old.len());
        prop_assert_eq!(right.len(), new.len());
        let blocks = diff.blocks(around);
        prop_assert_eq!(blocks.iter().map(|block| block.changes.len()).sum::<usize>(), diff.changes.len());
        for pair in blocks.windows(2) {
            prop_assert!(pair[0].old.end < pair[1].old.start || pair[0].new.end < pair[1].new.start);
        }
    }
}
