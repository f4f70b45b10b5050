//! Computes the unified diff of two texts.

use std::fmt::Write;
use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

/// A replaced text may have nothing in common with the old one: then it is not worth waiting for
/// the shortest diff.
const PATIENCE: Duration = Duration::from_secs(1);

/// The difference between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// A unified diff without its file header.
    pub text: String,
    /// How many lines are added.
    pub added: u64,
    /// How many lines are removed.
    pub removed: u64,
}

impl Diff {
    /// Computes the diff from one text to another.
    pub fn new(old: &str, new: &str) -> Self {
        let diff = TextDiff::configure().deadline(Instant::now() + PATIENCE).diff_lines(old, new);
        let count =
            |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
        let text = diff.unified_diff().context_radius(3).to_string();
        Self { text, added: count(ChangeTag::Insert), removed: count(ChangeTag::Delete) }
    }
}

/// How many lines and bytes of a change are shown to a model.
const LINES: usize = 80;
const BYTES: usize = 4_000;

impl Diff {
    /// How many lines were added and removed.
    pub fn counts(&self) -> String {
        format!("(+{} −{})", self.added, self.removed)
    }

    /// The new lines of the changes, numbered as in `read_file`; nothing where lines were only
    /// removed.
    pub fn new_lines(&self) -> String {
        let (mut text, mut number, mut shown, mut gap) = (String::new(), 0_u64, 0, false);
        for line in self.text.lines() {
            if let Some(hunk) = line.strip_prefix("@@ ") {
                number = first_new_line(hunk);
                gap = !text.is_empty();
                continue;
            }
            let Some(bare) = line.strip_prefix('+') else {
                if line.starts_with(' ') {
                    number += 1;
                    gap = !text.is_empty();
                }
                continue;
            };
            if shown >= LINES || text.len() + bare.len() > BYTES {
                text.push_str("[more lines follow]\n");
                break;
            }
            if std::mem::take(&mut gap) {
                text.push_str("…\n");
            }
            let _ = writeln!(text, "{number}\t{bare}");
            (number, shown) = (number + 1, shown + 1);
        }
        text
    }
}

/// The line number where a hunk begins now: `-1,3 +4,5 @@`.
fn first_new_line(hunk: &str) -> u64 {
    let new = hunk.split_whitespace().find_map(|range| range.strip_prefix('+'));
    let first = new.and_then(|range| range.split(',').next());
    first.and_then(|first| first.parse().ok()).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_hunks_and_counts() {
        let diff = Diff::new("a\nb\nc\n", "a\nx\ny\nc\n");
        assert_eq!(diff.text, "@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n");
        assert_eq!((diff.added, diff.removed), (2, 1));
        assert_eq!(
            Diff::new("", "a\nb"),
            Diff {
                text: "@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n".to_owned(),
                added: 2,
                removed: 0
            }
        );
        assert_eq!(Diff::new("a", "a"), Diff::default());
    }

    #[test]
    fn the_new_lines_are_numbered_as_they_stand_in_the_file() {
        let old = (1..=40).map(|n| format!("{n}\n")).collect::<Vec<_>>().concat();
        let new =
            old.replacen("3\n4\n", "three\nthree and a half\n4\n", 1).replacen("\n30\n", "\n", 1);
        let new = new.replacen("\n39\n", "\nlast\n", 1);
        let diff = Diff::new(&old, &new);
        assert_eq!(diff.new_lines(), "3\tthree\n4\tthree and a half\n…\n39\tlast\n");
        assert_eq!(diff.counts(), "(+3 −3)");
        assert_eq!(Diff::new("a\nb\n", "a\n").new_lines(), "");
        let long = Diff::new("", &"x\n".repeat(500)).new_lines();
        assert!(long.ends_with("80\tx\n[more lines follow]\n"), "{long}");
    }
}
