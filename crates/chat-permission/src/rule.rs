//! Parses rules, `ACTION:PATTERN`, and defines remembered answers.

mod wider;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::pattern::{CommandPattern, HostPattern, InvalidPattern, Pattern, ServerToolPattern};

/// What a tool wants to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Read a file or list a folder.
    Read,
    /// Create, change, move or delete a file or folder.
    Write,
    /// Run a command.
    Run,
    /// Access a host.
    Network,
    /// Use a tool of an MCP server.
    Mcp,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 5] = [Self::Read, Self::Write, Self::Run, Self::Network, Self::Mcp];

    /// The name at the start of a rule.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Run => "run",
            Self::Network => "network",
            Self::Mcp => "mcp",
        }
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Action {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|action| action.name() == text)
            .ok_or_else(|| InvalidRule::Action(text.to_owned()))
    }
}

/// What an action may be done to: `read:/etc/hosts`, `write:src/**`, `run:cargo test *`,
/// `run+network:cargo fetch`, `run+background:npm start`, `network:*.example.org`,
/// `mcp:github/get_issue`, `mcp+read-only:github/*`. See [`Pattern`] for the meaning of patterns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    action: Action,
    pattern: Pattern,
    /// Whether the pattern's commands have the network. It belongs to the command, so no other tool
    /// gains from it.
    with_network: bool,
    /// Whether the pattern's commands run in the background, where they may outlast the reply.
    in_background: bool,
    /// Whether the pattern's tools are only those of which their server says that they only read.
    read_only: bool,
}

/// What stands behind `run` in a rule for commands with the network.
const NETWORK: &str = "network";
/// What stands behind `run` in a rule for commands in the background.
const BACKGROUND: &str = "background";
/// What stands behind `mcp` in a rule for tools that are said only to read.
const READ_ONLY: &str = "read-only";

/// A text that is not a valid rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    /// There is no colon.
    #[error("a rule has the form ACTION:PATTERN, such as `run:cargo test *`")]
    Form,
    /// The text before the colon is not an action.
    #[error(
        "`{0}` is not an action: use read, write, run, run+network, run+background, network, mcp, \
         or mcp+read-only"
    )]
    Action(String),
    /// The text after the colon is not a pattern of this action.
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
}

impl Rule {
    /// Creates the rule of this action for `pattern`, which is written as after a rule's colon.
    pub fn new(action: Action, pattern: &str) -> Result<Self, InvalidRule> {
        let pattern = Pattern::of(action, pattern)?;
        Ok(Self { action, pattern, with_network: false, in_background: false, read_only: false })
    }

    /// Creates the rule for commands of this pattern, with or without the network, in the
    /// foreground or in the background.
    pub(crate) fn run(pattern: CommandPattern, with_network: bool, in_background: bool) -> Self {
        let pattern = Pattern::Command(pattern);
        Self { action: Action::Run, pattern, with_network, in_background, read_only: false }
    }

    /// Creates the rule for tools of servers of this pattern: for all of them, or only for those of which
    /// their server says that they only read.
    pub(crate) fn server_tool(pattern: ServerToolPattern, read_only: bool) -> Self {
        Self {
            action: Action::Mcp,
            pattern: Pattern::ServerTool(pattern),
            with_network: false,
            in_background: false,
            read_only,
        }
    }

    /// The same action's rule for another pattern, which must be of that action.
    pub(crate) fn with(&self, pattern: Pattern) -> Self {
        Self { pattern, ..self.clone() }
    }

    /// What the rule is about.
    pub fn action(&self) -> Action {
        self.action
    }

    /// Whether it names files relative to the project's folder, and thus other files in another
    /// project.
    pub fn is_of_project(&self) -> bool {
        matches!(self.action, Action::Read | Action::Write)
            && !self.pattern.to_string().starts_with(['/', '~'])
    }

    /// Whether it is about commands that have the network. An allow rule also allows them without
    /// it; a deny rule does not affect them without it.
    pub fn is_with_network(&self) -> bool {
        self.with_network
    }

    /// Whether it is about commands in the background. An allow rule also allows them in the
    /// foreground; a deny rule does not affect them there.
    pub fn is_in_background(&self) -> bool {
        self.in_background
    }

    /// This rule as it denies: about a tool whatever its server says of it. What holds only as long as the server
    /// says that the tool only reads would deny less than it seems to.
    #[must_use]
    pub fn denying(&self) -> Self {
        Self { read_only: false, ..self.clone() }
    }

    /// Whether it is only about tools of which their server says that they only read.
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Whether an allow rule allows commands that run like this, as far as its words before the
    /// pattern go.
    pub(crate) fn allows_run(&self, network: bool, background: bool) -> bool {
        (self.with_network || !network) && (self.in_background || !background)
    }

    /// Whether a deny rule affects commands that run like this, as far as its words before the
    /// pattern go.
    pub(crate) fn denies_run(&self, network: bool, background: bool) -> bool {
        (network || !self.with_network) && (background || !self.in_background)
    }

    /// Whether it no longer allows anything: `network:local *` was stored together with commands
    /// that got the network, and opened every host to every tool.
    pub fn is_obsolete(&self) -> bool {
        matches!(self.pattern, Pattern::Host(HostPattern::LocalAny))
    }

    /// What it applies to.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.action.name())?;
        for (word, is_set) in [
            (NETWORK, self.with_network),
            (BACKGROUND, self.in_background),
            (READ_ONLY, self.read_only),
        ] {
            if is_set {
                write!(f, "+{word}")?;
            }
        }
        write!(f, ":{}", self.pattern)
    }
}

impl FromStr for Rule {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (head, pattern) = text.split_once(':').ok_or(InvalidRule::Form)?;
        let unknown = || InvalidRule::Action(head.trim().to_owned());
        let mut words = head.trim().split('+');
        let action: Action = words.next().unwrap_or_default().parse().map_err(|_| unknown())?;
        let (mut with_network, mut in_background, mut read_only) = (false, false, false);
        for word in words {
            let is_set = match (action, word) {
                (Action::Run, NETWORK) => &mut with_network,
                (Action::Run, BACKGROUND) => &mut in_background,
                (Action::Mcp, READ_ONLY) => &mut read_only,
                _ => return Err(unknown()),
            };
            if std::mem::replace(is_set, true) {
                return Err(unknown());
            }
        }
        Ok(Self { with_network, in_background, read_only, ..Self::new(action, pattern)? })
    }
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rule {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What a rule does to matching requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// They pass, unless a rule denies them.
    Allow,
    /// They are refused, whatever allows them.
    Deny,
}

/// Where a rule applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// In one session, until it ends.
    Session,
    /// In one project.
    Project,
    /// Everywhere.
    Everywhere,
}

/// A remembered answer. Its scope says where it is stored; the policy treats all entries alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// What it applies to.
    pub rule: Rule,
    /// What it does.
    pub effect: Effect,
    /// Where it applies.
    pub scope: Scope,
}

impl Entry {
    /// Creates an entry that allows.
    pub fn allow(rule: Rule, scope: Scope) -> Self {
        Self { rule, effect: Effect::Allow, scope }
    }

    /// Creates an entry that denies.
    pub fn deny(rule: Rule, scope: Scope) -> Self {
        Self { rule, effect: Effect::Deny, scope }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_written_as_it_was_read() {
        for text in [
            "run:cargo test *",
            "read:/etc/hosts",
            "write:src/**",
            "network:*.example.org",
            "run:*",
            "run+network:cargo fetch *",
            "run+background:npm start",
            "run+network+background:npm start",
            "mcp:github/get_issue",
            "mcp+read-only:github/*",
        ] {
            let rule: Rule = text.parse().unwrap();
            assert_eq!(rule.to_string(), text);
            let json = serde_json::to_string(&rule).unwrap();
            assert_eq!(serde_json::from_str::<Rule>(&json).unwrap(), rule);
        }
        let turned: Rule = "run+background+network:npm start".parse().unwrap();
        assert_eq!(turned.to_string(), "run+network+background:npm start");
    }

    #[test]
    fn what_is_no_rule_says_what_is_wrong() {
        assert_eq!("ls".parse::<Rule>(), Err(InvalidRule::Form));
        for head in [
            "network+run",
            "run+",
            "run+net",
            "run+network+network",
            "read+background",
            "+run",
            "mcp+network",
            "run+read-only",
        ] {
            let rule = format!("{head}:ls").parse::<Rule>();
            assert_eq!(rule, Err(InvalidRule::Action(head.to_owned())));
        }
        assert_eq!("look:src".parse::<Rule>(), Err(InvalidRule::Action("look".to_owned())));
        assert!(matches!("run:".parse::<Rule>(), Err(InvalidRule::Pattern(_))));
        assert!(matches!("read:".parse::<Rule>(), Err(InvalidRule::Pattern(_))));
        assert!(matches!("network:".parse::<Rule>(), Err(InvalidRule::Pattern(_))));
        assert!(serde_json::from_str::<Rule>("\"look:src\"").is_err());
    }

    #[test]
    fn a_tool_is_denied_whatever_its_server_says_of_it() {
        for (rule, denying) in [
            ("mcp+read-only:github/get_issue", "mcp:github/get_issue"),
            ("mcp:github/*", "mcp:github/*"),
            ("run+network:make *", "run+network:make *"),
        ] {
            let rule: Rule = rule.parse().unwrap();
            assert_eq!(rule.denying().to_string(), denying);
        }
    }

    #[test]
    fn an_entry_is_plain_data() {
        let entry = Entry::deny("run:rm *".parse().unwrap(), Scope::Project);
        let json = serde_json::to_string(&entry).unwrap();
        assert_eq!(json, r#"{"rule":"run:rm *","effect":"deny","scope":"project"}"#);
        assert_eq!(serde_json::from_str::<Entry>(&json).unwrap(), entry);
        assert_eq!(Entry::allow(entry.rule.clone(), Scope::Session).effect, Effect::Allow);
    }
}
