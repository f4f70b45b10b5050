//! Judges the use of a tool of an MCP server: it asks unless a rule names it.

use super::{Findings, Rules, Why};
use crate::pattern::{Pattern, ServerToolPattern};
use crate::{Action, Effect, Entry, Rule, Scope, ToolApproval};

/// Judges the use of a tool. `read_only` and `approval` are as in a request.
pub(super) fn judge(
    rules: Rules<'_>,
    (server, tool): (&str, &str),
    read_only: bool,
    approval: ToolApproval,
    found: &mut Findings,
) {
    let mut denied = rules.of(Effect::Deny, Action::Mcp).filter(|rule| names(rule, server, tool));
    // What a server says of its tools is no reason to trust one more: a rule that denies those that only read
    // denies the others, too.
    if let Some(rule) = denied.next() {
        return found.refuse(Why::Denied(rule.to_string()));
    }
    if approval == ToolApproval::Changed {
        return found.obstacle(Why::ChangedTool, None);
    }
    let is_allowed = |entry: &&Entry| {
        entry.effect == Effect::Allow
            && entry.rule.action() == Action::Mcp
            && allows(&entry.rule, server, tool, read_only)
    };
    let allowed: Vec<Scope> = rules.0.iter().filter(is_allowed).map(|entry| entry.scope).collect();
    if allowed.is_empty() {
        let one = ServerToolPattern::Tool { server: server.to_owned(), tool: tool.to_owned() };
        // A name that no rule can hold gets none.
        let rule = ServerToolPattern::new(&one.to_string()).ok().filter(|read| *read == one);
        found.obstacle(Why::Mode, rule.map(|one| Rule::server_tool(one, read_only)));
    } else if approval == ToolApproval::New && !allowed.contains(&Scope::Session) {
        // What was allowed for this chat alone is about the tool that it has. A rule of the settings may have been made
        // for another one.
        found.obstacle(Why::NewTool, None);
    }
}

/// Whether an allow rule allows a tool of which its server says, or does not say, that it only reads.
pub(super) fn allows(rule: &Rule, server: &str, tool: &str, read_only: bool) -> bool {
    names(rule, server, tool) && (read_only || !rule.is_read_only())
}

/// Whether a rule's pattern names a tool.
pub(super) fn names(rule: &Rule, server: &str, tool: &str) -> bool {
    matches!(rule.pattern(), Pattern::ServerTool(pattern) if pattern.matches(server, tool))
}

#[cfg(test)]
mod tests {
    use crate::{Decision, Entry, Mode, Request, Rule, Scope, ToolApproval, Why, decide};

    fn request(tool: &str, read_only: bool, approval: ToolApproval) -> Request {
        Request::Mcp { server: "github".to_owned(), tool: tool.to_owned(), read_only, approval }
    }

    /// A tool that was allowed before.
    fn approved(tool: &str, read_only: bool) -> Request {
        request(tool, read_only, ToolApproval::Approved)
    }

    fn allow(rule: &str) -> Entry {
        Entry::allow(rule.parse().unwrap(), Scope::Project)
    }

    #[test]
    fn a_tool_asks_in_every_mode_that_asks_and_is_remembered_by_name() {
        for mode in [Mode::Ask, Mode::Edits, Mode::Auto] {
            for read_only in [false, true] {
                let decision = decide(&[], mode, &approved("get_issue", read_only));
                let Decision::Ask { reasons, always } = decision else { panic!("{mode}") };
                assert_eq!(reasons, [Why::Mode]);
                let word = if read_only { "mcp+read-only" } else { "mcp" };
                let rule: Rule = format!("{word}:github/get_issue").parse().unwrap();
                assert_eq!(always, std::slice::from_ref(&rule));
                let remembered = [Entry::allow(rule, Scope::Session)];
                let again = decide(&remembered, mode, &approved("get_issue", read_only));
                assert_eq!(again, Decision::Pass);
                let other = decide(&remembered, mode, &approved("get_issues", read_only));
                assert!(matches!(other, Decision::Ask { .. }));
            }
        }
        let refused = decide(&[], Mode::Unattended, &approved("get_issue", true));
        assert!(matches!(refused, Decision::Refuse { why: Why::Mode, .. }));
    }

    #[test]
    fn what_only_reads_today_is_asked_for_when_it_no_longer_says_so() {
        let rules = [allow("mcp+read-only:github/*")];
        assert_eq!(decide(&rules, Mode::Ask, &approved("get_issue", true)), Decision::Pass);
        let writes = decide(&rules, Mode::Ask, &approved("get_issue", false));
        assert!(matches!(writes, Decision::Ask { .. }));
    }

    #[test]
    fn a_changed_tool_is_asked_for_whatever_allows_it() {
        let rules = [allow("mcp:*"), allow("mcp:github/get_issue")];
        let decision =
            decide(&rules, Mode::Ask, &request("get_issue", true, ToolApproval::Changed));
        assert_eq!(decision, Decision::Ask { reasons: vec![Why::ChangedTool], always: Vec::new() });
        let refused =
            decide(&rules, Mode::Unattended, &request("get_issue", true, ToolApproval::Changed));
        assert!(matches!(refused, Decision::Refuse { why: Why::ChangedTool, .. }));
    }

    #[test]
    fn a_tool_of_which_nothing_is_remembered_is_asked_for_once_whatever_the_settings_allow() {
        let new = request("get_issue", true, ToolApproval::New);
        for scope in [Scope::Project, Scope::Everywhere] {
            let rules = [Entry::allow("mcp:github/*".parse().unwrap(), scope)];
            let decision = decide(&rules, Mode::Ask, &new);
            assert_eq!(decision, Decision::Ask { reasons: vec![Why::NewTool], always: Vec::new() });
            let refused = decide(&rules, Mode::Unattended, &new);
            assert!(matches!(refused, Decision::Refuse { why: Why::NewTool, .. }));
            assert_eq!(decide(&rules, Mode::Ask, &approved("get_issue", true)), Decision::Pass);
        }
        let rules = [Entry::allow("mcp:github/*".parse().unwrap(), Scope::Session)];
        for mode in [Mode::Ask, Mode::Unattended] {
            assert_eq!(decide(&rules, mode, &new), Decision::Pass, "it was allowed for this chat");
        }
        let Decision::Ask { reasons, always } = decide(&[], Mode::Ask, &new) else { panic!() };
        assert_eq!((reasons, always.len()), (vec![Why::Mode], 1));
    }

    #[test]
    fn a_rule_that_denies_wins() {
        for deny in ["mcp:github/*", "mcp:*", "mcp+read-only:github/get_issue"] {
            let rules =
                [allow("mcp:github/get_issue"), Entry::deny(deny.parse().unwrap(), Scope::Session)];
            for read_only in [false, true] {
                let decision = decide(&rules, Mode::Auto, &approved("get_issue", read_only));
                assert!(matches!(decision, Decision::Refuse { why: Why::Denied(_), .. }), "{deny}");
            }
        }
    }

    #[test]
    fn a_name_that_no_rule_can_hold_is_asked_for_each_time() {
        for name in ["", "*", "a b", "x*"] {
            let decision = decide(&[], Mode::Ask, &approved(name, false));
            assert_eq!(decision, Decision::Ask { reasons: vec![Why::Mode], always: Vec::new() });
        }
    }
}
