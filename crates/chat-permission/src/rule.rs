//! Parses rules, `ACTION:PATTERN`, and defines remembered answers.

mod wider;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::pattern::{CommandPattern, HostPattern, InvalidPattern, Pattern};

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
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Run, Self::Network];

    /// The name at the start of a rule.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Run => "run",
            Self::Network => "network",
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
/// `run+network:cargo fetch`, `network:*.example.org`. See [`Pattern`] for the meaning of patterns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    action: Action,
    pattern: Pattern,
    /// Whether the pattern's commands have the network. It belongs to the command, so no other tool
    /// gains from it.
    with_network: bool,
}

/// The beginning of a rule for commands with the network.
const RUN_WITH_NETWORK: &str = "run+network";

/// A text that is not a valid rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    /// There is no colon.
    #[error("a rule has the form ACTION:PATTERN, such as `run:cargo test *`")]
    Form,
    /// The text before the colon is not an action.
    #[error("`{0}` is not an action: use read, write, run, run+network, or network")]
    Action(String),
    /// The text after the colon is not a pattern of this action.
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
}

impl Rule {
    /// Creates the rule of this action for `pattern`, which is written as after a rule's colon.
    pub fn new(action: Action, pattern: &str) -> Result<Self, InvalidRule> {
        Ok(Self { action, pattern: Pattern::of(action, pattern)?, with_network: false })
    }

    /// Creates the rule for commands of this pattern, with or without the network.
    pub(crate) fn run(pattern: CommandPattern, with_network: bool) -> Self {
        Self { action: Action::Run, pattern: Pattern::Command(pattern), with_network }
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
        let head = if self.with_network { RUN_WITH_NETWORK } else { self.action.name() };
        write!(f, "{head}:{}", self.pattern)
    }
}

impl FromStr for Rule {
    type Err = InvalidRule;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (action, pattern) = text.split_once(':').ok_or(InvalidRule::Form)?;
        match action.trim() {
            RUN_WITH_NETWORK => Ok(Self { with_network: true, ..Self::new(Action::Run, pattern)? }),
            action => Self::new(action.parse()?, pattern),
        }
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
        ] {
            let rule: Rule = text.parse().unwrap();
            assert_eq!(rule.to_string(), text);
            let json = serde_json::to_string(&rule).unwrap();
            assert_eq!(serde_json::from_str::<Rule>(&json).unwrap(), rule);
        }
    }

    #[test]
    fn what_is_no_rule_says_what_is_wrong() {
        assert_eq!("ls".parse::<Rule>(), Err(InvalidRule::Form));
        assert!("network+run:ls".parse::<Rule>().is_err());
        assert_eq!("look:src".parse::<Rule>(), Err(InvalidRule::Action("look".to_owned())));
        assert!(matches!("run:".parse::<Rule>(), Err(InvalidRule::Pattern(_))));
        assert!(matches!("read:".parse::<Rule>(), Err(InvalidRule::Pattern(_))));
        assert!(matches!("network:".parse::<Rule>(), Err(InvalidRule::Pattern(_))));
        assert!(serde_json::from_str::<Rule>("\"look:src\"").is_err());
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
