use chat_core::review::{FileChange, Hunk, Node, ReviewScope};

use super::*;

/// A file in which each change is a hunk.
fn changed(old: &str, new: &str) -> Arc<Changed> {
    let node = |text: &str| Some(Node::file(text.as_bytes()));
    let mut change = FileChange {
        session: "chat".to_owned(),
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
    Arc::new(Changed { change, diff, agent: None })
}

fn lines(count: usize) -> String {
    (1..=count).flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

/// The rows of an open file in short notation.
fn rows(old: &str, new: &str, side_by_side: bool) -> Vec<String> {
    let file = changed(old, new);
    let mut items = Vec::new();
    let options = ListOptions { side_by_side, ..ListOptions::default() };
    for number in 0..file.diff.changes.len() {
        add_hunk(&file, number, &options, &mut items);
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
    let options =
        ListOptions { open: [("src/main.rs".into(), true)].into(), ..ListOptions::default() };
    let all = |file: &Arc<Changed>| items(&Listing::with(vec![Arc::clone(file)]), &options);
    let (one, two) = (all(&both), all(&again));
    assert!(one.iter().zip(&two).all(|(one, two)| one.is_like(two)));
    let other = all(&changed(&old, &old.replace("\n5\n", "\nfive\n")));
    assert!(other[1..].iter().zip(&one[1..]).all(|(one, two)| one.is_like(two)));
    let moved = all(&changed(&old, &old.replace("\n6\n", "\nsix\n")));
    assert!(!moved[1].is_like(&one[1]), "it is at another place");
}

/// Listings of two files, of these with one change answered, and of the second file alone.
fn two_files() -> (Listing, Listing, Listing) {
    let old = lines(40);
    let first = changed(&old, &old.replace("\n5\n", "\nx\n").replace("\n30\n", "\ny\n"));
    let mut second =
        Changed { change: first.change.clone(), diff: first.diff.clone(), agent: None };
    second.change.path = "src/other.rs".into();
    let mut left = Changed { change: first.change.clone(), diff: first.diff.clone(), agent: None };
    left.change.hunks.remove(0);
    left.diff.changes.remove(0);
    let (left, second) = (Arc::new(left), Arc::new(second));
    let all = Listing::with(vec![first, Arc::clone(&second)]);
    let one_answered = Listing::with(vec![left, Arc::clone(&second)]);
    (all, one_answered, Listing::with(vec![second]))
}

#[test]
fn what_is_answered_with_the_pointer_leaves_a_gap_where_it_was() {
    let (all, one_answered, one_file) = two_files();
    let mut options = ListOptions::default();
    for file in all.files() {
        options.open.insert(file.change.path.clone(), true);
    }
    let first = Arc::clone(&all.files()[0]);
    let ids: Vec<_> = first.change.hunks.iter().map(|hunk| hunk.id).collect();
    let files = vec![Arc::clone(&all.files()[1])];
    let gap = |hunk: usize, height| Gap {
        file: Arc::clone(&first),
        hunk: Some(ids[hunk]),
        verdict: Verdict::Reject,
        height,
        head: 30,
        hunks: ids[hunk + 1..].to_vec(),
        files: files.clone(),
    };
    let shown = |listing: &Listing, options: &ListOptions| {
        let heads = items(listing, options).into_iter().filter_map(|item| match item {
            Item::File { file, .. } => Some(file.change.path.display().to_string()),
            Item::Hunk { number, .. } => Some(format!("@{number}")),
            Item::Gap { height, .. } => Some(format!("gap {height}")),
            _ => None,
        });
        heads.collect::<Vec<_>>()
    };
    options.leave_gap(gap(0, 100));
    // What could not be answered is still there, and leaves no gap.
    assert_eq!(shown(&all, &options), ["src/main.rs", "@0", "@1", "src/other.rs", "@0", "@1"]);
    let one = ["src/main.rs", "gap 100", "@0", "src/other.rs", "@0", "@1"];
    assert_eq!(shown(&one_answered, &options), one);
    // The file's row disappears with its last change.
    options.leave_gap(gap(1, 200));
    assert_eq!(shown(&one_file, &options), ["gap 130", "gap 200", "src/other.rs", "@0", "@1"]);
}

#[test]
fn a_file_that_two_agents_changed_is_answered_for_each_and_counts_once() {
    let of = |session: &str, path: &str| {
        let change = &changed("a\n", "b\n").change;
        let (session, path) = (session.to_owned(), path.into());
        FileChange { session, path, ..change.clone() }
    };
    let changes = vec![of("chat", "a"), of("agent", "a"), of("agent", "b")];
    let listing = Listing::of(changes, &Listing::default(), |session| {
        (session != "chat").then(|| session.to_owned())
    });
    assert_eq!(listing.count(), 2);
    let files = listing.files();
    let agents: Vec<_> = files.iter().map(|file| file.agent.as_deref()).collect();
    assert_eq!(agents, [None, Some("agent"), Some("agent")]);
    let parts: Vec<_> = files.iter().map(|file| listing.part(file)).collect();
    let by = |session: &str| ReviewScope::By(session.to_owned());
    assert_eq!(parts, [by("chat"), by("agent"), ReviewScope::File]);
}
