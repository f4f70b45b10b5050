//! Reads permission rules and requests: what a prompt shows of them, and which rules hold in another folder.

use chat_permission::{Action, Effect, Entry, Request, Scope, Why};

/// Where a rule that denies holds, which is why something is asked; one such place, if there are several.
pub(crate) fn scope(rules: &[Entry], why: &Why) -> Option<Scope> {
    let (Why::Denied(named) | Why::PerhapsDenied(named) | Why::HoldsDenied(named)) = why else {
        return None;
    };
    let denies = |entry: &&Entry| entry.effect == Effect::Deny && entry.rule.to_string() == *named;
    rules.iter().find(denies).map(|entry| entry.scope)
}

/// The rules of a session that hold in another folder, too: what was allowed of the files of one is not
/// allowed in another, which has others of these names.
pub(crate) fn of_any_folder(rules: &[Entry]) -> Vec<Entry> {
    let stays = |entry: &&Entry| entry.effect == Effect::Deny || !entry.rule.is_of_project();
    rules.iter().filter(stays).cloned().collect()
}

/// What is asked for.
pub(crate) fn action(request: &Request) -> Action {
    match request {
        Request::Read { .. } => Action::Read,
        Request::Write { .. } => Action::Write,
        Request::Run(_) => Action::Run,
        Request::Network { .. } => Action::Network,
        Request::Mcp { .. } => Action::Mcp,
    }
}

/// What a request is about, as people read it.
pub(crate) fn target(request: &Request) -> String {
    match request {
        Request::Read { path } | Request::Write { path } => {
            path.display_path().display().to_string()
        }
        Request::Run(run) => run.command().to_owned(),
        Request::Network { host, .. } => host.clone(),
        Request::Mcp { server, tool, .. } => format!("{server}/{tool}"),
    }
}

#[cfg(test)]
mod tests {
    use chat_permission::Rule;

    use super::*;

    #[test]
    fn the_scope_is_that_of_the_rule_that_denies() {
        let rule = |text: &str| text.parse::<Rule>().unwrap();
        let rules = [
            Entry::allow(rule("run:rm *"), Scope::Session),
            Entry::deny(rule("run:mv *"), Scope::Everywhere),
            Entry::deny(rule("run:rm *"), Scope::Project),
        ];
        let named = "run:rm *".to_owned();
        for why in
            [Why::Denied(named.clone()), Why::PerhapsDenied(named.clone()), Why::HoldsDenied(named)]
        {
            assert_eq!(scope(&rules, &why), Some(Scope::Project));
        }
        assert_eq!(scope(&rules, &Why::Mode), None);
        assert_eq!(scope(&rules, &Why::Denied("run:ls".to_owned())), None);
    }

    #[test]
    fn what_was_allowed_of_the_files_of_one_folder_is_not_allowed_in_another() {
        let rule = |text: &str| text.parse::<Rule>().unwrap();
        let stay = [
            Entry::deny(rule("write:src/**"), Scope::Session),
            Entry::allow(rule("run:make"), Scope::Session),
            Entry::allow(rule("read:/etc/hosts"), Scope::Session),
        ];
        let goes = Entry::allow(rule("write:src/**"), Scope::Session);
        let all: Vec<_> = stay.iter().cloned().chain([goes]).collect();
        assert_eq!(of_any_folder(&all), stay);
    }
}
