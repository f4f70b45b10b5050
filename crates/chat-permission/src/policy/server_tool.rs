//! Judges the use of a tool of an MCP server: it asks unless a rule names it.

use super::{Findings, Rules, Why};
use crate::pattern::{Pattern, ServerToolPattern};
use crate::{Action, Effect, Rule};

/// Judges the use of a tool. `read_only` and `changed` are as in a request.
pub(super) fn judge(
    rules: Rules<'_>,
    (server, tool): (&str, &str),
    read_only: bool,
    changed: bool,
    found: &mut Findings,
) {
    let mut denied = rules.of(Effect::Deny, Action::Mcp).filter(|rule| names(rule, server, tool));
    // What a server says of its tools is no reason to trust one more: a rule that denies those that only read
    // denies the others, too.
    if let Some(rule) = denied.next() {
        return found.refuse(Why::Denied(rule.to_string()));
    }
    if changed {
        return found.obstacle(Why::ChangedTool, None);
    }
    let mut allowed = rules.of(Effect::Allow, Action::Mcp);
    if !allowed.any(|rule| allows(rule, server, tool, read_only)) {
        let one = ServerToolPattern::Tool { server: server.to_owned(), tool: tool.to_owned() };
        // A name that no rule can hold gets none.
        let rule = ServerToolPattern::new(&one.to_string()).ok().filter(|read| *read == one);
        found.obstacle(Why::Mode, rule.map(|one| Rule::server_tool(one, read_only)));
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
    use crate::{Decision, Entry, Mode, Request, Rule, Scope, Why, decide};

    fn request(tool: &str, read_only: bool, changed: bool) -> Request {
        Request::Mcp { server: "github".to_owned(), tool: tool.to_owned(), read_only, changed }
    }

    fn allow(rule: &str) -> Entry {
        Entry::allow(rule.parse().unwrap(), Scope::Project)
    }

    #[test]
    fn a_tool_asks_in_every_mode_that_asks_and_is_remembered_by_name() {
        for mode in [Mode::Ask, Mode::Edits, Mode::Auto] {
            for read_only in [false, true] {
                let decision = decide(&[], mode, &request("get_issue", read_only, false));
                let Decision::Ask { reasons, always } = decision else { panic!("{mode}") };
                assert_eq!(reasons, [Why::Mode]);
                let word = if read_only { "mcp+read-only" } else { "mcp" };
                let rule: Rule = format!("{word}:github/get_issue").parse().unwrap();
                assert_eq!(always, std::slice::from_ref(&rule));
                let remembered = [Entry::allow(rule, Scope::Session)];
                let again = decide(&remembered, mode, &request("get_issue", read_only, false));
                assert_eq!(again, Decision::Pass);
                let other = decide(&remembered, mode, &request("get_issues", read_only, false));
                assert!(matches!(other, Decision::Ask { .. }));
            }
        }
        let refused = decide(&[], Mode::Unattended, &request("get_issue", true, false));
        assert!(matches!(refused, Decision::Refuse { why: Why::Mode, .. }));
    }

    #[test]
    fn what_only_reads_today_is_asked_for_when_it_no_longer_says_so() {
        let rules = [allow("mcp+read-only:github/*")];
        assert_eq!(decide(&rules, Mode::Ask, &request("get_issue", true, false)), Decision::Pass);
        let writes = decide(&rules, Mode::Ask, &request("get_issue", false, false));
        assert!(matches!(writes, Decision::Ask { .. }));
    }

    #[test]
    fn a_changed_tool_is_asked_for_whatever_allows_it() {
        let rules = [allow("mcp:*"), allow("mcp:github/get_issue")];
        let decision = decide(&rules, Mode::Ask, &request("get_issue", true, true));
        assert_eq!(decision, Decision::Ask { reasons: vec![Why::ChangedTool], always: Vec::new() });
        let refused = decide(&rules, Mode::Unattended, &request("get_issue", true, true));
        assert!(matches!(refused, Decision::Refuse { why: Why::ChangedTool, .. }));
    }

    #[test]
    fn a_rule_that_denies_wins() {
        for deny in ["mcp:github/*", "mcp:*", "mcp+read-only:github/get_issue"] {
            let rules =
                [allow("mcp:github/get_issue"), Entry::deny(deny.parse().unwrap(), Scope::Session)];
            for read_only in [false, true] {
                let decision = decide(&rules, Mode::Auto, &request("get_issue", read_only, false));
                assert!(matches!(decision, Decision::Refuse { why: Why::Denied(_), .. }), "{deny}");
            }
        }
    }

    #[test]
    fn a_name_that_no_rule_can_hold_is_asked_for_each_time() {
        for name in ["", "*", "a b", "x*"] {
            let decision = decide(&[], Mode::Ask, &request(name, false, false));
            assert_eq!(decision, Decision::Ask { reasons: vec![Why::Mode], always: Vec::new() });
        }
    }
}
