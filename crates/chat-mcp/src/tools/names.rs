//! Names tools for models: `server__tool`, in letters that every protocol takes.

use std::collections::{BTreeMap, BTreeSet};

/// No name is longer.
const LONGEST: usize = 64;
/// No server's part of it is longer.
const LONGEST_PREFIX: usize = 24;

/// What ends the server's part.
const SEPARATOR: &str = "__";

/// What the names of each server's tools begin with, by the servers' names, sorted. No two are the same, and none is
/// one of `taken`.
pub(crate) fn prefixes<'a>(
    taken: impl IntoIterator<Item = &'a str>,
    servers: impl IntoIterator<Item = &'a str>,
) -> BTreeMap<&'a str, String> {
    let taken = taken.into_iter().map(|prefix| prefix.trim_end_matches(SEPARATOR).to_owned());
    let mut taken: BTreeSet<String> = taken.collect();
    let sorted: BTreeSet<&str> = servers.into_iter().collect();
    let named = sorted.into_iter().map(|server| {
        // What it ends with would make it another's.
        let cleaned = clean(server, LONGEST_PREFIX);
        let cleaned = cleaned.trim_end_matches('_');
        let cleaned = if cleaned.is_empty() { "server" } else { cleaned };
        (server, free(cleaned, LONGEST_PREFIX, &mut taken))
    });
    named.map(|(server, prefix)| (server, format!("{prefix}{SEPARATOR}"))).collect()
}

/// The names of one server's tools for models, in the same order. They do not depend on what other servers have, and
/// those of equal tools only on the order in which they come.
pub(super) fn names<'a>(prefix: &str, tools: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let room = LONGEST - prefix.len();
    let mut taken = BTreeSet::new();
    let name = |tool| format!("{prefix}{}", free(&clean(tool, room), room, &mut taken));
    tools.into_iter().map(name).collect()
}

fn clean(name: &str, most: usize) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let cleaned: String =
        name.chars().take(most).map(|c| if is_allowed(c) { c } else { '_' }).collect();
    if cleaned.is_empty() { "_".to_owned() } else { cleaned }
}

/// The name itself, or with a number if it is taken.
fn free(name: &str, most: usize, taken: &mut BTreeSet<String>) -> String {
    let mut found = name.to_owned();
    for number in 2u32.. {
        if taken.insert(found.clone()) {
            break;
        }
        let end = format!("_{number}");
        found = format!("{}{end}", &name[..name.len().min(most - end.len())]);
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_the_servers_and_the_tools() {
        let prefixes = prefixes([], ["github", "my.server", "my@server"]);
        let shown: Vec<&String> = prefixes.values().collect();
        assert_eq!(shown, ["github__", "my_server__", "my_server_2__"]);
        assert_eq!(super::prefixes(["github__"], ["github"])["github"], "github_2__");
        let names = names("github__", ["get_issue", "get issue", "get\u{202e}issue", "../x"]);
        assert_eq!(
            names,
            ["github__get_issue", "github__get_issue_2", "github__get_issue_3", "github_____x"]
        );
    }

    proptest! {
        #[test]
        fn any_names_become_different_names_that_every_protocol_takes(
            servers in prop::collection::btree_set(".{1,40}", 1..6),
            tools in prop::collection::vec(".{0,100}", 0..40),
        ) {
            let prefixes = prefixes([], servers.iter().map(String::as_str));
            let all: Vec<String> = prefixes
                .values()
                .flat_map(|prefix| names(prefix, tools.iter().map(String::as_str)))
                .collect();
            prop_assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), servers.len() * tools.len());
            for name in all {
                prop_assert!(name.len() <= LONGEST, "{}", name);
                prop_assert!(name.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-".contains(&c)));
            }
        }
    }
}
