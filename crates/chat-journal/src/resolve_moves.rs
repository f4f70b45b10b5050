//! Resolves moves that conflict with each other into the final content of each path.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::apply::PlannedChange;
use crate::node::State;

/// The wanted state of a path.
#[derive(Default)]
struct PathState {
    now: State,
    then: State,
    touched: bool,
    /// Whether a change sets its content.
    filled: bool,
}

/// Rewrites the changes so that none moves a file to or from a path of another change: a file that
/// was moved away and another that took its place cannot be restored one after the other. The
/// user's changes to such a moved file cannot follow it, so it is left alone.
pub fn resolve_moves(changes: Vec<PlannedChange>) -> Vec<PlannedChange> {
    let mut about: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for change in &changes {
        *about.entry(change.at.clone()).or_default() += 1;
        if change.moves() {
            *about.entry(change.to.clone()).or_default() += 1;
        }
    }
    let shared = |path: &PathBuf| about.get(path).is_some_and(|count| *count > 1);
    let (entangled, mut alone): (Vec<_>, Vec<_>) =
        changes.into_iter().partition(|change| shared(&change.at) || shared(&change.to));
    let mut states: BTreeMap<PathBuf, PathState> = BTreeMap::new();
    for change in entangled {
        let taken =
            states.get(&change.to).is_some_and(|state| state.filled) && change.then.is_some();
        if taken && change.moves() {
            // Two files for one path: the second is reported as a conflict.
            alone.push(change);
            continue;
        }
        let from = states.entry(change.at).or_default();
        from.now = change.now;
        from.touched |= change.touched;
        if change.then.is_some() {
            let to = states.entry(change.to).or_default();
            (to.then, to.filled) = (change.then, true);
        }
    }
    let placed = states.into_iter().map(|(path, state)| PlannedChange {
        at: path.clone(),
        to: path,
        now: state.now,
        then: state.then,
        touched: state.touched,
    });
    placed.chain(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::Node;

    fn change(at: &str, to: &str, now: Option<&str>, then: Option<&str>) -> PlannedChange {
        let state = |text: Option<&str>| text.map(|text| Node::file(text.as_bytes()));
        let (at, to) = (at.into(), to.into());
        PlannedChange { at, to, now: state(now), then: state(then), touched: false }
    }

    fn shown(changes: Vec<PlannedChange>) -> Vec<String> {
        let text = |state: State| {
            state.map_or("-".to_owned(), |node| String::from_utf8_lossy(&node.bytes).into_owned())
        };
        let shown = resolve_moves(changes).into_iter().map(|change| {
            let way = if change.moves() { " moves" } else { "" };
            format!("{}: {} > {}{way}", change.to.display(), text(change.now), text(change.then))
        });
        shown.collect()
    }

    #[test]
    fn a_file_that_took_anothers_place_goes_when_that_comes_back() {
        let changes =
            vec![change("c", "a", Some("A"), Some("A")), change("a", "a", Some("new"), None)];
        assert_eq!(shown(changes), ["a: new > A", "c: A > -"]);
    }

    #[test]
    fn files_that_changed_places_change_them_again() {
        let changes =
            vec![change("a", "b", Some("B"), Some("B")), change("b", "a", Some("A"), Some("A"))];
        assert_eq!(shown(changes), ["a: B > A", "b: A > B"]);
    }

    #[test]
    fn who_is_in_nobodys_way_moves() {
        let changes =
            vec![change("a", "b", Some("x"), Some("x")), change("c", "c", None, Some("y"))];
        assert_eq!(shown(changes), ["b: x > x moves", "c: - > y"]);
    }
}
