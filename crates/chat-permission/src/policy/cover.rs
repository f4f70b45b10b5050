//! Tells whether a rule is about something that was asked.

use super::server_tool;
use crate::pattern::{Fit, Host, Pattern};
use crate::{Action, Effect, Request, Rule, Run, Target};

/// Whether a rule with this effect applies to one of the requests, or to a part of it. An answer must
/// not store a rule that has nothing to do with its question.
pub fn covers(rule: &Rule, effect: Effect, requests: &[Request]) -> bool {
    requests.iter().any(|request| match (request, rule.action(), rule.pattern()) {
        (Request::Read { path }, Action::Read, Pattern::Path(pattern))
        | (Request::Write { path }, Action::Write, Pattern::Path(pattern)) => pattern.matches(path),
        (Request::Run(run), ..) => covers_run(rule, effect, run),
        (Request::Network { host, private, .. }, Action::Network, Pattern::Host(pattern)) => {
            let Some(host) = Host::new(host) else { return false };
            // A service on this machine that the user set up also has a name.
            let named = (!private && host.is_this_machine()).then(|| Host::new("localhost"));
            pattern.matches(&host) || named.flatten().is_some_and(|named| pattern.matches(&named))
        }
        (Request::Mcp { server, tool, read_only, .. }, Action::Mcp, _) => match effect {
            Effect::Allow => server_tool::allows(rule, server, tool, *read_only),
            Effect::Deny => server_tool::names(rule, server, tool),
        },
        _ => false,
    })
}

fn covers_run(rule: &Rule, effect: Effect, run: &Run) -> bool {
    match rule.pattern() {
        Pattern::Command(pattern) => {
            // A rule without the network allows no command that has it, and one with it denies none
            // that has it not. The same is true of the background.
            let reaches = match effect {
                Effect::Allow => rule.allows_run(run.network, run.background),
                Effect::Deny => rule.denies_run(run.network, run.background),
            };
            let by_name = effect == Effect::Deny;
            reaches
                && run.parts.as_ref().map_or(pattern.is_any(), |parts| {
                    parts.iter().any(|part| pattern.fit(part, by_name) != Fit::No)
                })
        }
        Pattern::Path(pattern) => run.redirected.iter().any(|file| {
            let action = if file.writes { Action::Write } else { Action::Read };
            let Target::Path(path) = &file.target else { return false };
            rule.action() == action && pattern.matches(path)
        }),
        Pattern::Host(_) | Pattern::ServerTool(_) => false,
    }
}
