//! Resolves the links in the paths of deny rules.

use super::Project;
use crate::pattern::Pattern;
use crate::{Effect, Entry};

impl Project {
    /// The rules as they are to be judged by now: one that denies a path denies what links in it lead to, too.
    ///
    /// Followed are the links among the names before a pattern's first wildcard, as they are at this moment: it
    /// looks at the disk. A rule that allows stays as it is: whoever makes a link would widen it. What comes of
    /// a rule is written and compared like that rule, so it is to be judged by, and not to be stored.
    pub fn follow_denied(&self, rules: Vec<Entry>) -> Vec<Entry> {
        rules.into_iter().map(|entry| self.followed(&entry).unwrap_or(entry)).collect()
    }

    fn followed(&self, entry: &Entry) -> Option<Entry> {
        let Pattern::Path(pattern) = entry.rule.pattern() else { return None };
        if entry.effect == Effect::Allow {
            return None;
        }
        // What leads nowhere reaches nothing.
        let end = self.resolve(&pattern.beginning()).ok()?;
        let rule = entry.rule.with(Pattern::Path(pattern.leading_to(&end)?));
        Some(Entry { rule, ..entry.clone() })
    }
}
