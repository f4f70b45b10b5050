//! Defines which tools an agent may use, as patterns of their names.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::fields::{Fields, Lined};
use crate::problem::{Found, ProblemKind};
use crate::visible::quoted;

/// The longest pattern, in bytes.
const LONGEST: usize = 128;

/// Patterns of the names of tools, such as `read_*`. An empty list allows none.
#[derive(Clone, Debug)]
pub struct ToolPatterns {
    patterns: Vec<String>,
    /// The line of each.
    lines: Vec<usize>,
    set: GlobSet,
}

impl PartialEq for ToolPatterns {
    fn eq(&self, other: &Self) -> bool {
        self.patterns == other.patterns
    }
}

impl ToolPatterns {
    /// Whether a tool of this name may be used.
    pub fn allows(&self, tool: &str) -> bool {
        self.set.is_match(tool)
    }

    /// The patterns as they are written.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// The patterns that none of these tools has a name of, with their lines.
    pub(crate) fn without_tool<'a>(
        &'a self,
        tools: &'a [String],
    ) -> impl Iterator<Item = Lined<&'a str>> {
        let matches_none = |pattern: &str| {
            let glob = GlobBuilder::new(pattern).build().map(|glob| glob.compile_matcher());
            glob.is_ok_and(|glob| !tools.iter().any(|tool| glob.is_match(tool)))
        };
        let all = self.lines.iter().zip(&self.patterns);
        all.filter(move |(_, pattern)| matches_none(pattern))
            .map(|(line, pattern)| (*line, pattern.as_str()))
    }

    fn new(entries: Vec<Lined<String>>) -> Result<Self, Found> {
        let mut set = GlobSetBuilder::new();
        let mut patterns = Vec::new();
        let mut lines = Vec::new();
        for (line, pattern) in entries {
            let bad = || Found::at(line, ProblemKind::InvalidGlob { glob: quoted(&pattern) });
            if pattern.is_empty()
                || pattern.len() > LONGEST
                || pattern.contains(char::is_whitespace)
            {
                return Err(bad());
            }
            set.add(GlobBuilder::new(&pattern).build().map_err(|_| bad())?);
            patterns.push(pattern);
            lines.push(line);
        }
        let bad = |_| Found { line: None, kind: ProblemKind::InvalidGlob { glob: String::new() } };
        Ok(Self { set: set.build().map_err(bad)?, patterns, lines })
    }

    /// Reads the key `tools`: a list, or patterns between commas.
    pub(crate) fn read(fields: &mut Fields) -> Option<Self> {
        let entries = fields.list("tools", |text| {
            text.split(',').map(|pattern| pattern.trim().to_owned()).collect()
        })?;
        if let [(line, only)] = &entries[..]
            && only.is_empty()
        {
            fields.complain(Some(*line), ProblemKind::Empty { key: "tools" });
            return None;
        }
        Self::new(entries).map_err(|Found { line, kind }| fields.complain(line, kind)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools(patterns: &[&str]) -> Result<ToolPatterns, Found> {
        ToolPatterns::new(patterns.iter().map(|pattern| (1, (*pattern).to_owned())).collect())
    }

    #[test]
    fn patterns_allow_what_they_match() {
        let tools = tools(&["read", "mcp__*__get_?", "web_{search,fetch}"]).unwrap();
        for tool in ["read", "mcp__a__get_x", "web_search"] {
            assert!(tools.allows(tool), "{tool}");
        }
        for tool in ["reader", "mcp__a__get_xy", "web_", "Read", ""] {
            assert!(!tools.allows(tool), "{tool}");
        }
    }

    #[test]
    fn no_pattern_allows_nothing() {
        assert!(!tools(&[]).unwrap().allows("read"));
    }

    #[test]
    fn what_is_no_pattern_is_an_error() {
        for pattern in ["", "[", "{a", "a b", &"a".repeat(129)] {
            assert!(tools(&["read", pattern]).is_err(), "{pattern}");
        }
    }
}
