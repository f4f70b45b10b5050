//! Resolves the links in the paths of deny rules.

use super::Project;
use crate::pattern::Pattern;
use crate::{Effect, Entry};

impl Project {
    /// The current form of rules: a rule that denies a path also denies what links in it lead to.
    ///
    /// This follows the links among the names before a pattern's first wildcard, as they are now,
    /// so it reads the disk. Allow rules are unchanged, since anyone who creates a link could widen
    /// them. The resulting rules are written and compared like the original ones, so use them only
    /// for judging, and do not store them.
    pub fn follow_denied(&self, rules: Vec<Entry>) -> Vec<Entry> {
        rules.into_iter().map(|entry| self.followed(&entry).unwrap_or(entry)).collect()
    }

    fn followed(&self, entry: &Entry) -> Option<Entry> {
        let Pattern::Path(pattern) = entry.rule.pattern() else { return None };
        if entry.effect == Effect::Allow {
            return None;
        }
        // A path that leads nowhere reaches nothing.
        let end = self.resolve(&pattern.beginning()).ok()?;
        let rule = entry.rule.with(Pattern::Path(pattern.leading_to(&end)?));
        Some(Entry { rule, ..entry.clone() })
    }
}
