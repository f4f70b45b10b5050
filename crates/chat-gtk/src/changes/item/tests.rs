use chat_core::review::{FileChange, Hunk, Node};

use super::*;

/// A file of which each change is a hunk.
fn changed(old: &str, new: &str) -> Arc<Changed> {
    let node = |text: &str| Some(Node::file(text.as_bytes()));
    let mut change = FileChange {
        path: "src/main.rs".into(),
        kind: FileKind::Modified,
        before: node(old),
        after: node(new),
        added: 0,
        removed: 0,
        hunks: Vec::new(),
        binary: false,
        changed_since: false,
        seq: 1,
    };
    let diff = change.diff();
    for (index, part) in (0..).zip(&diff.changes) {
        change.hunks.push(Hunk {
            id: HunkId { seq: 1, index },
            old: (part.old.start, part.old.len()),
            new: (part.new.start, part.new.len()),
            line: part.new.start,
            touched: false,
        });
    }
    Arc::new(Changed { change, diff })
}

fn lines(count: usize) -> String {
    (1..=count).flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

/// The rows of an open file in a few letters each.
fn rows(old: &str, new: &str, beside: bool) -> Vec<String> {
    let file = changed(old, new);
    let mut items = Vec::new();
    let looks = Looks { beside, ..Looks::default() };
    for number in 0..file.diff.changes.len() {
        add_hunk(&file, number, &looks, &mut items);
    }
    let text = |line: usize| file.diff.lines[line].text.as_str();
    let side = |line: Option<usize>| line.map_or("_", text).to_owned();
    items
        .iter()
        .map(|item| match item {
            Item::Hunk { number, .. } => format!("@{:?}", file.place(*number)),
            Item::Line { line, .. } => {
                format!("{}{}", sign(file.diff.lines[*line].kind), text(*line))
            }
            Item::Pair { row, .. } => format!("{}|{}", side(row.left), side(row.right)),
            _ => unreachable!(),
        })
        .collect()
}

#[test]
fn lines_between_two_changes_are_shown_once() {
    let old = lines(12);
    let new = old.replace("5\n", "five\n").replace("10\n", "");
    assert_eq!(
        rows(&old, &new, false),
        [
            "@(5, 5)",
            " 2",
            " 3",
            " 4",
            "−5",
            "+five",
            " 6",
            " 7",
            " 8",
            "@(10, 10)",
            " 9",
            "−10",
            " 11",
            " 12",
        ]
    );
}

#[test]
fn what_was_added_stands_opposite_what_went() {
    let new = "1\n2\nb\nc\n4\n5\n";
    let five = lines(5);
    assert_eq!(rows(&five, new, true), ["@(3, 4)", "1|1", "2|2", "3|b", "_|c", "4|4", "5|5"]);
    assert_eq!(rows("", "a\n", true), ["@(1, 1)", "_|a"]);
}

#[test]
fn the_numbers_stand_in_columns() {
    let file = changed("a\nb\n", "a\nc\n");
    let lines: Vec<_> = file.diff.lines.iter().map(|line| gutter(line, 3)).collect();
    assert_eq!(lines, ["  1   1  ", "  2     −", "      2 +"]);
}

#[test]
fn what_is_as_before_keeps_its_widgets() {
    let old = lines(30);
    let both = changed(&old, &old.replace("\n5\n", "\nfive\n").replace("\n20\n", "\ntwenty\n"));
    let again = changed(&old, &old.replace("\n5\n", "\nfive\n").replace("\n20\n", "\ntwenty\n"));
    let looks = Looks { open: [("src/main.rs".into(), true)].into(), ..Looks::default() };
    let all = |file: &Arc<Changed>| items(&Listing::with(vec![Arc::clone(file)]), &looks);
    let (one, two) = (all(&both), all(&again));
    assert!(one.iter().zip(&two).all(|(one, two)| one.is_like(two)));
    let other = all(&changed(&old, &old.replace("\n5\n", "\nfive\n")));
    assert!(other[1..].iter().zip(&one[1..]).all(|(one, two)| one.is_like(two)));
    let moved = all(&changed(&old, &old.replace("\n6\n", "\nsix\n")));
    assert!(!moved[1].is_like(&one[1]), "it is at another place");
}
