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
    /// Make, change, move or delete a file or folder.
    Write,
    /// Run a command.
    Run,
    /// Reach a host.
    Network,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Run, Self::Network];

    /// The name, as rules begin with it.
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
/// `run+network:cargo fetch`, `network:*.example.org`. See [`Pattern`] for what patterns mean.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    action: Action,
    pattern: Pattern,
    /// Whether the commands of the pattern have the network. It belongs to the command, so that no other tool
    /// gets anything from it.
    with_network: bool,
}

/// What a rule for commands with the network begins with.
const RUN_WITH_NETWORK: &str = "run+network";

/// A text that is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidRule {
    /// There is no colon.
    #[error("a rule has the form ACTION:PATTERN, such as `run:cargo test *`")]
    Form,
    /// What stands before the colon is no action.
    #[error("`{0}` is not an action: use read, write, run, run+network, or network")]
    Action(String),
    /// What stands behind the colon is no pattern of this action.
    #[error(transparent)]
    Pattern(#[from] InvalidPattern),
}

impl Rule {
    /// The rule of this action for `pattern`, written as behind a rule's colon.
    pub fn new(action: Action, pattern: &str) -> Result<Self, InvalidRule> {
        Ok(Self { action, pattern: Pattern::of(action, pattern)?, with_network: false })
    }

    /// The rule for commands of this pattern, with or without the network.
    pub(crate) fn run(pattern: CommandPattern, with_network: bool) -> Self {
        Self { action: Action::Run, pattern: Pattern::Command(pattern), with_network }
    }

    /// The rule of the same action for another pattern, which must be of that action.
    pub(crate) fn with(&self, pattern: Pattern) -> Self {
        Self { pattern, ..self.clone() }
    }

    /// What the rule is about.
    pub fn action(&self) -> Action {
        self.action
    }

    /// Whether it names files from the project's folder on, and so others in another project.
    pub fn is_of_project(&self) -> bool {
        matches!(self.action, Action::Read | Action::Write)
            && !self.pattern.to_string().starts_with(['/', '~'])
    }

    /// Whether it is about commands that have the network. One that allows also allows them without it; one that
    /// denies leaves them alone where they have none.
    pub fn is_with_network(&self) -> bool {
        self.with_network
    }

    /// Whether it allows nothing any more: `network:local *` was stored beside commands that got the network, and
    /// opened every host to every tool.
    pub fn is_obsolete(&self) -> bool {
        matches!(self.pattern, Pattern::Host(HostPattern::LocalAny))
    }

    /// To what it applies.
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

/// What a rule does to the requests that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// They pass, unless a rule denies them.
    Allow,
    /// They are refused, whatever allows them.
    Deny,
}

/// Where a rule holds.
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

/// A remembered answer. Its scope says where it is kept; the policy goes by all entries that it is given alike.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Entry {
    /// To what it applies.
    pub rule: Rule,
    /// What it does.
    pub effect: Effect,
    /// Where it holds.
    pub scope: Scope,
}

impl Entry {
    /// An entry that allows.
    pub fn allow(rule: Rule, scope: Scope) -> Self {
        Self { rule, effect: Effect::Allow, scope }
    }

    /// An entry that denies.
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
