//! Defines the settings of tools, and the permissions that were granted for longer.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use chat_permission::{Effect, Entry, Mode, Rule, Scope, SecretFiles};
use serde::{Deserialize, Serialize};

use super::KeySource;

/// How tools work. A change reaches running requests at their next round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolSettings {
    /// The tools that no agent gets.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub off: BTreeSet<String>,
    /// The tools that single agents do not get, by the agent's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub off_for: BTreeMap<String, BTreeSet<String>>,
    /// How many rounds of calls a request may take before the person is asked.
    pub rounds: u32,
    /// Seconds that a command may run where its call does not say.
    pub command_seconds: u64,
    /// Memory that a command and all that it starts may take, in megabytes.
    pub command_memory_mb: u64,
    /// Kilobytes of a command's output that the model gets, its head and its tail together.
    pub output_kb: u64,
    /// Seconds that fetching a page may take.
    pub fetch_seconds: u64,
    /// Kilobytes that a fetched page may have.
    pub fetch_kb: u64,
    /// How much of a model's context window the tools of servers may take before the model looks for those that it needs,
    /// in percent. More than 100 counts as 100.
    pub server_tools_percent: u32,
    /// Where the web is searched; none is nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<SearchSettings>,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self {
            off: BTreeSet::new(),
            off_for: BTreeMap::new(),
            rounds: 50,
            command_seconds: 120,
            command_memory_mb: 4096,
            output_kb: 30,
            fetch_seconds: 30,
            fetch_kb: 5120,
            server_tools_percent: 10,
            search: None,
        }
    }
}

impl ToolSettings {
    /// Whether an agent gets a tool.
    pub fn is_on(&self, agent: &str, tool: &str) -> bool {
        !self.off.contains(tool) && !self.off_for.get(agent).is_some_and(|off| off.contains(tool))
    }

    /// Switches a tool on or off for all agents.
    pub fn set_on(&mut self, tool: &str, on: bool) {
        switch(&mut self.off, tool, on);
    }

    /// Switches a tool on or off for one agent.
    pub fn set_on_for(&mut self, agent: &str, tool: &str, on: bool) {
        let off = self.off_for.entry(agent.to_owned()).or_default();
        switch(off, tool, on);
        if off.is_empty() {
            self.off_for.remove(agent);
        }
    }
}

fn switch(off: &mut BTreeSet<String>, tool: &str, on: bool) {
    if on {
        off.remove(tool);
    } else {
        off.insert(tool.to_owned());
    }
}

/// Where the web is searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchSettings {
    /// Who searches.
    pub provider: SearchProvider,
    /// The address of the service; none is the provider's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where the key comes from.
    #[serde(default, skip_serializing_if = "KeySource::is_none")]
    pub key: KeySource,
}

/// Who searches the web.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchProvider {
    /// An instance of `SearXNG`.
    Searxng,
    /// Brave's search API.
    Brave,
    /// Tavily's search API.
    Tavily,
}

impl SearchProvider {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Searxng, Self::Brave, Self::Tavily];

    /// What it calls itself.
    pub fn title(self) -> &'static str {
        match self {
            Self::Searxng => "SearXNG",
            Self::Brave => "Brave",
            Self::Tavily => "Tavily",
        }
    }

    /// The name that its key is kept under: no connection can have it, since it has a slash.
    pub fn key_name(self) -> &'static str {
        match self {
            Self::Searxng => "search/searxng",
            Self::Brave => "search/brave",
            Self::Tavily => "search/tavily",
        }
    }

    /// Whether it answers nobody without a key.
    pub fn wants_key(self) -> bool {
        self != Self::Searxng
    }
}

/// What was answered for longer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PermissionSettings {
    /// The mode of a new conversation.
    pub mode: Mode,
    /// The rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Remembered>,
    /// Which files may hold secrets: these ask in every mode, and commands do not see them.
    #[serde(skip_serializing_if = "is_usual")]
    pub secrets: SecretFiles,
    /// Whether the file could not be read, so that nobody knows what is denied: then nothing is done unasked
    /// but reading in the project.
    #[serde(skip)]
    pub are_unread: bool,
}

fn is_usual(secrets: &SecretFiles) -> bool {
    *secrets == SecretFiles::default()
}

/// A rule that was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// What it is about.
    pub rule: Rule,
    /// What becomes of that.
    pub effect: Effect,
    /// The project that it holds for; none is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<PathBuf>,
}

impl PermissionSettings {
    /// What tools may do unasked where a conversation has this mode.
    pub fn most(&self, mode: Mode) -> Mode {
        if self.are_unread && mode != Mode::Plan { Mode::Ask } else { mode }
    }

    /// The rules that hold for a project, or for a conversation without one.
    pub fn entries(&self, project: Option<&Path>) -> impl Iterator<Item = Entry> {
        let holds =
            move |rule: &&Remembered| rule.project.is_none() || rule.project.as_deref() == project;
        self.rules.iter().filter(holds).map(|known| Entry {
            rule: known.rule.clone(),
            effect: known.effect,
            scope: if known.project.is_some() { Scope::Project } else { Scope::Everywhere },
        })
    }

    /// The rules as they stand in `config.toml`, to be kept or put into another one.
    pub fn rules_as_toml(&self) -> String {
        #[derive(Serialize)]
        struct File<'a> {
            permissions: Permissions<'a>,
        }
        #[derive(Serialize)]
        struct Permissions<'a> {
            rules: &'a [Remembered],
        }
        if self.rules.is_empty() {
            return String::new();
        }
        // Plain data with texts for keys can always be written.
        toml::to_string(&File { permissions: Permissions { rules: &self.rules } })
            .unwrap_or_default()
    }

    /// Takes a rule back. Gives the place where it stood.
    pub fn forget(&mut self, old: &Remembered) -> Option<usize> {
        let place = self.rules.iter().position(|known| known == old)?;
        self.rules.remove(place);
        Some(place)
    }

    /// Takes [`forget`](Self::forget) back, unless something was answered about the same since.
    pub fn put_back(&mut self, old: Remembered, place: usize) {
        let same = |known: &Remembered| known.rule == old.rule && known.project == old.project;
        if !self.rules.iter().any(same) {
            self.rules.insert(place.min(self.rules.len()), old);
        }
    }

    /// Stores a rule in the place of another, or behind all.
    pub fn replace(&mut self, old: Option<&Remembered>, new: Remembered) {
        let place = old.and_then(|old| self.rules.iter().position(|known| known == old));
        match place {
            Some(place) => {
                self.rules[place] = new.clone();
                let mut at = 0;
                // One about the same goes.
                self.rules.retain(|known| {
                    at += 1;
                    at == place + 1 || known.rule != new.rule || known.project != new.project
                });
            }
            None => self.remember(new),
        }
    }

    /// Stores a rule, in the place of one about the same.
    pub fn remember(&mut self, new: Remembered) {
        self.rules.retain(|known| known.rule != new.rule || known.project != new.project);
        self.rules.push(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_written_down_are_read_again_as_settings() {
        let rule = |text: &str, effect, project: Option<&str>| Remembered {
            rule: text.parse().unwrap(),
            effect,
            project: project.map(PathBuf::from),
        };
        let permissions = PermissionSettings {
            mode: Mode::default(),
            rules: vec![
                rule("run:cargo test *", Effect::Allow, Some("/home/ada/\"odd\" folder")),
                rule("network:*.example.org", Effect::Deny, None),
            ],
            secrets: SecretFiles::default(),
            are_unread: false,
        };
        let text = permissions.rules_as_toml();
        let settings: crate::settings::Settings = toml::from_str(&text).unwrap();
        assert_eq!(settings.permissions, permissions);
        assert_eq!(PermissionSettings::default().rules_as_toml(), "");
    }

    fn rule(rule: &str, effect: Effect, project: Option<&str>) -> Remembered {
        Remembered { rule: rule.parse().unwrap(), effect, project: project.map(PathBuf::from) }
    }

    #[test]
    fn what_is_forgotten_says_where_it_stood() {
        let mut permissions = PermissionSettings::default();
        let rules = ["run:a", "run:b", "run:c"].map(|text| rule(text, Effect::Allow, None));
        rules.iter().cloned().for_each(|rule| permissions.remember(rule));
        assert_eq!(permissions.forget(&rules[1]), Some(1));
        assert_eq!(permissions.forget(&rules[1]), None);
        assert_eq!(permissions.rules, [rules[0].clone(), rules[2].clone()]);
        permissions.put_back(rules[1].clone(), 1);
        permissions.put_back(Remembered { effect: Effect::Deny, ..rules[1].clone() }, 0);
        assert_eq!(permissions.rules, rules);
    }

    #[test]
    fn an_edited_rule_stays_where_it_stood() {
        let mut permissions = PermissionSettings::default();
        let rules = ["run:a", "run:b", "run:c"].map(|text| rule(text, Effect::Allow, None));
        rules.iter().cloned().for_each(|rule| permissions.remember(rule));
        let wider = rule("run:b *", Effect::Allow, None);
        permissions.replace(Some(&rules[1]), wider.clone());
        assert_eq!(permissions.rules, [rules[0].clone(), wider.clone(), rules[2].clone()]);
        // One about the same goes; of one that is gone the new one is added.
        let denied = rule("run:a", Effect::Deny, None);
        permissions.replace(Some(&wider), denied.clone());
        assert_eq!(permissions.rules, [denied.clone(), rules[2].clone()]);
        permissions.replace(Some(&wider), rules[0].clone());
        permissions.replace(None, wider.clone());
        assert_eq!(permissions.rules, [rules[2].clone(), rules[0].clone(), wider]);
    }

    #[test]
    fn a_tool_is_switched_for_all_agents_and_for_single_ones() {
        let mut tools = ToolSettings::default();
        tools.set_on("run_command", false);
        tools.set_on_for("just-ask", "web_fetch", false);
        assert!(!tools.is_on("just-ask", "run_command") && !tools.is_on("other", "run_command"));
        assert!(!tools.is_on("just-ask", "web_fetch") && tools.is_on("other", "web_fetch"));
        tools.set_on("run_command", true);
        tools.set_on_for("just-ask", "web_fetch", true);
        assert_eq!(tools, ToolSettings::default());
    }
}
