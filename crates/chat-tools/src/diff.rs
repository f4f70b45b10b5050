//! What a change changes, as people read it.

use std::time::{Duration, Instant};

use similar::{ChangeTag, TextDiff};

/// A text that is replaced as a whole may have nothing in common with the old one: then the shortest
/// difference is not worth waiting for.
const PATIENCE: Duration = Duration::from_secs(1);

/// The difference between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// A unified diff without its file header.
    pub text: String,
    /// How many lines come.
    pub added: u64,
    /// How many lines go.
    pub removed: u64,
}

impl Diff {
    /// What leads from one text to another.
    pub fn new(old: &str, new: &str) -> Self {
        let diff = TextDiff::configure().deadline(Instant::now() + PATIENCE).diff_lines(old, new);
        let count =
            |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count() as u64;
        let text = diff.unified_diff().context_radius(3).to_string();
        Self { text, added: count(ChangeTag::Insert), removed: count(ChangeTag::Delete) }
    }
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
}
