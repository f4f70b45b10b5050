//! Defines patterns for the tools of MCP servers: `github/get_issue`, `github/*`, `*`.

use std::fmt;

use super::InvalidPattern;

/// Stands for every tool of a server.
const ANY: &str = "*";

/// Which tools of which servers: all, those of a server, or one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ServerToolPattern {
    /// Every tool of every server.
    Any,
    /// Every tool of a server.
    Server(String),
    /// One tool of a server. Names of tools may contain slashes, those of servers may not.
    Tool {
        /// The server, as it is named in the configuration.
        server: String,
        /// The tool, as its server names it.
        tool: String,
    },
}

impl ServerToolPattern {
    /// Parses what is written behind a rule's colon.
    pub fn new(text: &str) -> Result<Self, InvalidPattern> {
        let bad = || InvalidPattern::ServerTool(text.to_owned());
        if text.is_empty() {
            return Err(InvalidPattern::Empty);
        }
        if text == ANY {
            return Ok(Self::Any);
        }
        let (server, tool) = text.split_once('/').ok_or_else(bad)?;
        let is_name = |name: &str| {
            let is_plain = |c: char| !c.is_whitespace() && !c.is_control() && c != '*';
            !name.is_empty() && name.chars().all(is_plain)
        };
        match (is_name(server), tool) {
            (true, ANY) => Ok(Self::Server(server.to_owned())),
            (true, tool) if is_name(tool) => {
                Ok(Self::Tool { server: server.to_owned(), tool: tool.to_owned() })
            }
            _ => Err(bad()),
        }
    }

    /// Whether it is about this tool.
    pub fn matches(&self, server: &str, tool: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Server(named) => named == server,
            Self::Tool { server: named, tool: one } => named == server && one == tool,
        }
    }
}

impl fmt::Display for ServerToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str(ANY),
            Self::Server(server) => write!(f, "{server}/{ANY}"),
            Self::Tool { server, tool } => write!(f, "{server}/{tool}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_written_as_it_was_read() {
        for text in ["*", "github/*", "github/get_issue", "files/read/text"] {
            assert_eq!(ServerToolPattern::new(text).unwrap().to_string(), text);
        }
        assert_eq!(ServerToolPattern::new(""), Err(InvalidPattern::Empty));
        for bad in
            ["github", "/x", "github/", "*/x", "git*/x", "github/get_*", "git hub/x", "a/b c"]
        {
            assert_eq!(
                ServerToolPattern::new(bad),
                Err(InvalidPattern::ServerTool(bad.to_owned())),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_pattern_is_about_what_it_names_and_nothing_else() {
        let matches = |pattern: &str, server, tool| {
            ServerToolPattern::new(pattern).unwrap().matches(server, tool)
        };
        assert!(matches("*", "github", "get_issue"));
        assert!(matches("github/*", "github", "get_issue"));
        assert!(matches("github/get_issue", "github", "get_issue"));
        assert!(!matches("github/*", "github2", "get_issue"));
        assert!(!matches("github/get_issue", "github", "get_issues"));
        assert!(!matches("github/get_issue", "gitlab", "get_issue"));
    }
}
