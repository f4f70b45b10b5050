//! Judges a path that is to be read or written.

use super::{Findings, Rules, Why};
use crate::path::{Guard, Kind};
use crate::pattern::{PathPattern, Pattern};
use crate::{Action, Effect, Mode, ResolvedPath, Rule};

/// Judges `path`; `action` is reading or writing.
pub(super) fn judge(
    rules: Rules<'_>,
    mode: Mode,
    action: Action,
    path: &ResolvedPath,
    found: &mut Findings,
) {
    match path.guard() {
        Guard::Own => return found.refuse(Why::Own),
        Guard::Unwritable if action == Action::Write => return found.refuse(Why::Protected),
        Guard::Unwritable | Guard::Nothing => {}
    }
    let patterns = |effect| {
        rules.of(effect, action).filter_map(|rule| match rule.pattern() {
            Pattern::Path(pattern) if pattern.matches(path) => Some((rule, pattern)),
            _ => None,
        })
    };
    if let Some((rule, _)) = patterns(Effect::Deny).next() {
        return found.refuse(Why::Denied(rule.to_string()));
    }
    if mode == Mode::Plan && action == Action::Write {
        return found.refuse(Why::Mode);
    }
    if action == Action::Write
        && path.kind() == Kind::Folder
        && let Some(rule) = denied_beneath(rules, Action::Write, path)
            .or_else(|| denied_beneath(rules, Action::Read, path))
    {
        return found.obstacle(Why::HoldsDenied(rule.to_string()), None);
    }
    // Writing a new file reveals nothing; moving an existing one makes it readable by another name.
    let is_secret = path.is_secret() && (action == Action::Read || path.kind() != Kind::Missing);
    // A rule for a whole folder does not include files with links elsewhere, nor secrets.
    let allowed = patterns(Effect::Allow).any(|(_, pattern)| {
        (!path.has_several_links() || pattern.names(path))
            && (!is_secret || pattern.names_last(path))
    });
    if allowed {
        return;
    }
    let reasons = [
        is_secret.then(|| Why::Secret(path.display_path().display().to_string())),
        (!path.is_inside()).then_some(Why::Outside),
        path.has_several_links().then_some(Why::SeveralLinks),
    ];
    let mut reasons: Vec<Why> = reasons.into_iter().flatten().collect();
    if reasons.is_empty() {
        if action == Action::Read || mode.writes_freely() {
            return;
        }
        reasons.push(Why::Mode);
    }
    let exactly = PathPattern::exactly(path).map(Pattern::Path);
    let rule = exactly.and_then(|pattern| Rule::new(action, &pattern.to_string()).ok());
    for why in reasons {
        found.obstacle(why, rule.clone());
    }
}

/// A rule that denies this action for something in a folder. A folder is moved or deleted with
/// everything in it, and what was moved could be read by its new name.
pub(super) fn denied_beneath<'a>(
    rules: Rules<'a>,
    action: Action,
    folder: &ResolvedPath,
) -> Option<&'a Rule> {
    rules.of(Effect::Deny, action).find(|rule| match rule.pattern() {
        Pattern::Path(pattern) => pattern.may_fit_beneath(folder),
        Pattern::Command(_) | Pattern::Host(_) | Pattern::ServerTool(_) => false,
    })
}
