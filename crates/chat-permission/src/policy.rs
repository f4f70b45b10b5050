//! Decides what is allowed, what must be asked and what is refused. A pure function of its
//! arguments.
//!
//! | mode | read in project | write in project | run | network, tools of MCP servers | outside the project |
//! |---|---|---|---|---|---|
//! | `ask` | passes | asks | asks | asks | asks |
//! | `edits` | passes | passes | asks | asks | asks |
//! | `auto` | passes | passes | passes in the sandbox | asks | asks |
//! | `plan` | passes | refused | refused | asks | asks to read |
//! | `unattended` | passes | passes | passes in the sandbox | refused unless a rule allows | refused unless a rule allows |
//!
//! Reading or changing a file that may hold secrets asks in every mode unless a rule names it;
//! `unattended` refuses it. A command that is known only to read in the project, and runs in the
//! sandbox, passes in every mode.
//!
//! The order is: guarded paths are refused; what a rule denies is refused; what `plan` refuses is
//! refused; then the policy looks for obstacles that neither the mode nor a rule removes. Without
//! one the request passes; with one it asks or, where nobody can be asked, is refused. An allow
//! rule never removes these obstacles: a command has no sandbox, it cannot be parsed, or a part of
//! it is known only when it runs. A rule for commands allows them in the background, and with the
//! network, only if it says so.

mod cover;
mod paths;
mod run;
mod server_tool;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::IpAddr;

pub use self::cover::covers;
use crate::command::Unparsable;
use crate::pattern::{Host, HostPattern, Pattern};
use crate::{Action, Effect, Entry, Mode, Request, Rule};

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It is allowed.
    Pass,
    /// The user is asked.
    Ask {
        /// The obstacles, the most serious first, each once. There is at least one.
        reasons: Vec<Why>,
        /// Exactly the rules that “always” stores; with them the same request passes. Empty if no
        /// rule could allow it: then there is no “always”.
        always: Vec<Rule>,
    },
    /// It is refused.
    Refuse {
        /// The obstacle; the most serious one if there are several.
        why: Why,
        /// The rules that would allow it, if it is refused only because the mode never asks. Empty
        /// if no rule could allow it.
        allowed_by: Vec<Rule>,
    },
}

/// An obstacle to a request; the more serious ones first: what is known to be dangerous before what
/// is only unknown, so that many unknown words hide nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The path is Natter's own.
    Own,
    /// The path is one that tools never write.
    Protected,
    /// A rule denies it; the rule as it is written.
    Denied(String),
    /// A deny rule may apply, which is unknown before the command runs; the rule as it is written.
    PerhapsDenied(String),
    /// The folder contains, or may contain, what a rule denies; the rule as it is written.
    HoldsDenied(String),
    /// The command would run without a sandbox.
    Unsandboxed,
    /// It merges an agent's work into a branch of the user's; its name.
    Merges(String),
    /// It discards an agent's work; the agent's name.
    Discards(String),
    /// The file may hold secrets; as it is shown.
    Secret(String),
    /// The path is outside the project; for a command, its working directory is.
    Outside,
    /// The file has other hard links, which may be anywhere.
    SeveralLinks,
    /// The address is on this machine, on the local network, or a cloud's metadata service.
    PrivateAddress,
    /// This is not a host.
    NoHost,
    /// The server describes its tool in another way than when it was allowed.
    ChangedTool,
    /// Rules allow the tool, but it is not remembered that it was ever allowed as the server describes it.
    NewTool,
    /// The command wants the network.
    CommandNetwork,
    /// The command runs its input, from a file or from another command; its name.
    RunsInput(String),
    /// The command cannot be parsed.
    Unparsable(Unparsable),
    /// The command runs another one that its words name, or changes what later words mean; its
    /// name.
    HandsOver(String),
    /// A word is known only when the command runs; as it was written.
    NotLiteral(String),
    /// The file of a redirect is unknown; as it was written.
    UnknownFile(String),
    /// A variable is set, which may change what the command does; its name.
    Assignment(String),
    /// The command would run in the background, which the mode does not allow, and neither does a
    /// rule.
    Background,
    /// The mode does not allow it, and neither does a rule.
    Mode,
}

/// Judges a request. Entries of every scope count alike: a deny rule wins over all allow rules.
pub fn decide(rules: &[Entry], mode: Mode, request: &Request) -> Decision {
    decide_all(rules, mode, std::slice::from_ref(request))
}

/// Judges requests that belong together for the user, such as both ends of a move: the whole passes
/// if each one does, is refused if any one is, and is asked about once, with all the rules that it
/// would need.
pub fn decide_all(rules: &[Entry], mode: Mode, requests: &[Request]) -> Decision {
    let rules = Rules(rules);
    let mut found = Findings::default();
    for request in requests {
        match request {
            Request::Read { path } => paths::judge(rules, mode, Action::Read, path, &mut found),
            Request::Write { path } => paths::judge(rules, mode, Action::Write, path, &mut found),
            Request::Run(command) => run::judge(rules, mode, command, &mut found),
            Request::Network { host, private, leads_to } => {
                network(rules, host, *private, leads_to, &mut found);
            }
            Request::Mcp { server, tool, read_only, approval } => {
                server_tool::judge(rules, (server, tool), *read_only, *approval, &mut found);
            }
        }
    }
    found.decision(mode)
}

fn network(rules: Rules<'_>, host: &str, private: bool, leads_to: &[IpAddr], found: &mut Findings) {
    let Some(host) = Host::new(host) else {
        return found.obstacle(Why::NoHost, None);
    };
    // A service on this machine that the user set up also has a name. A rule for the address would
    // allow every other service there too, but one for the name does not.
    let named = (!private && host.is_this_machine()).then(|| Host::new("localhost")).flatten();
    let patterns = |effect| {
        let counts = move |rule: &&Rule| effect == Effect::Deny || !rule.is_obsolete();
        rules.of(effect, Action::Network).filter(counts).filter_map(|rule| match rule.pattern() {
            Pattern::Host(pattern)
                if pattern.matches(&host)
                    || named.as_ref().is_some_and(|it| pattern.matches(it)) =>
            {
                Some((rule, pattern))
            }
            _ => None,
        })
    };
    // The owner of a name decides where it leads.
    let addresses: Vec<Host> = leads_to.iter().flat_map(|address| Host::of(*address)).collect();
    let denied = rules.of(Effect::Deny, Action::Network).find(|rule| match rule.pattern() {
        Pattern::Host(pattern) => addresses.iter().any(|address| pattern.matches(address)),
        _ => false,
    });
    if let Some(rule) = patterns(Effect::Deny).next().map(|(rule, _)| rule).or(denied) {
        return found.refuse(Why::Denied(rule.to_string()));
    }
    let holds_nearby = patterns(Effect::Allow).any(|(_, pattern)| pattern.holds_nearby());
    if private && !holds_nearby {
        return found.refuse(Why::PrivateAddress);
    }
    if patterns(Effect::Allow).next().is_none() {
        let rule = match &named {
            Some(name) => name.to_string(),
            None if !private && host.is_nearby() => HostPattern::Service(host).to_string(),
            None => host.to_string(),
        };
        found.obstacle(Why::Mode, Rule::new(Action::Network, &rule).ok());
    }
}

/// The rules, by their effect.
#[derive(Clone, Copy)]
struct Rules<'a>(&'a [Entry]);

impl<'a> Rules<'a> {
    fn of(self, effect: Effect, action: Action) -> impl Iterator<Item = &'a Rule> {
        let fitting = move |entry: &&Entry| entry.effect == effect && entry.rule.action() == action;
        self.0.iter().filter(fitting).map(|entry| &entry.rule)
    }
}

/// The findings about a request.
#[derive(Default)]
struct Findings {
    refused: Option<Why>,
    /// Each with the rule that would remove it, if there is one.
    obstacles: Vec<(Why, Option<Rule>)>,
}

impl Findings {
    fn refuse(&mut self, why: Why) {
        self.refused = self.refused.take().into_iter().chain([why]).min();
    }

    fn obstacle(&mut self, why: Why, removed_by: Option<Rule>) {
        self.obstacles.push((why, removed_by));
    }

    fn decision(self, mode: Mode) -> Decision {
        if let Some(why) = self.refused {
            return Decision::Refuse { why, allowed_by: Vec::new() };
        }
        let reasons: BTreeSet<&Why> = self.obstacles.iter().map(|(why, _)| why).collect();
        let reasons: Vec<Why> = reasons.into_iter().cloned().collect();
        let Some(why) = reasons.first() else { return Decision::Pass };
        let always = self.always();
        if mode == Mode::Unattended {
            return Decision::Refuse { why: why.clone(), allowed_by: always };
        }
        Decision::Ask { reasons, always }
    }

    /// The rules that remove all obstacles; none if one remains.
    fn always(self) -> Vec<Rule> {
        let mut always: Vec<Rule> = Vec::new();
        for (_, rule) in self.obstacles {
            match rule {
                Some(rule) if always.contains(&rule) => {}
                Some(rule) => always.push(rule),
                None => return Vec::new(),
            }
        }
        always
    }
}
