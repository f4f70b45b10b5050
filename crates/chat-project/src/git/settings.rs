//! Lists the few settings of a project that are copied: without them git would misread its files.

use std::collections::BTreeMap;

/// Settings by their whole name, which say how files are compared and run nothing.
const HARMLESS: [&str; 7] = [
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
    "core.trustctime",
    "core.checkstat",
];
/// Bytes of a value.
const LONGEST: usize = 512;

/// What was picked from a project's settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Settings {
    pub picked: Vec<(String, String)>,
    pub is_sha256: bool,
    /// Whether references are kept in a table, which cannot be reached by a link.
    pub has_table: bool,
}

impl Settings {
    /// From what `git config --null --list` says: `key\nvalue\0`. A branch is told with what it follows.
    pub fn picked(listed: &[u8], branch: Option<&str>) -> Self {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for entry in listed.split(|byte| *byte == 0) {
            let entry = String::from_utf8_lossy(entry);
            let Some((key, value)) = entry.split_once('\n') else { continue };
            if value.len() <= LONGEST && !value.chars().any(char::is_control) {
                all.entry(key.to_owned()).or_default().push(value.to_owned());
            }
        }
        let last = |key: &str| all.get(key).and_then(|values| values.last()).cloned();
        let mut settings = Self {
            is_sha256: last("extensions.objectformat").is_some_and(|hash| hash == "sha256"),
            has_table: last("extensions.refstorage").is_some_and(|kind| kind != "files"),
            picked: Vec::new(),
        };
        let mut pick = |key: String| {
            for value in all.get(&key).into_iter().flatten() {
                settings.picked.push((key.clone(), value.clone()));
            }
        };
        for key in HARMLESS {
            pick(key.to_owned());
        }
        if let Some(branch) = branch {
            let remote = format!("branch.{branch}.remote");
            let Some(name) = last(&remote) else { return settings };
            pick(remote);
            pick(format!("branch.{branch}.merge"));
            pick(format!("remote.{name}.fetch"));
        }
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_harmless_is_picked() {
        let listed = b"core.fsmonitor\n/evil\0core.autocrlf\ninput\0core.sshcommand\n/evil\0\
            include.path\n/evil\0filter.x.clean\n/evil\0core.bare\0branch.main.remote\norigin\0\
            branch.main.merge\nrefs/heads/main\0branch.other.remote\nx\0remote.origin.url\next::/evil\0\
            remote.origin.uploadpack\n/evil\0remote.origin.fetch\n+refs/heads/*:refs/remotes/origin/*\0\
            core.eol\na\x01b\0";
        let keys = |branch| {
            let settings = Settings::picked(listed, branch);
            settings.picked.into_iter().map(|(key, _)| key).collect::<Vec<_>>()
        };
        assert_eq!(keys(None), ["core.autocrlf"]);
        assert_eq!(
            keys(Some("main")),
            ["core.autocrlf", "branch.main.remote", "branch.main.merge", "remote.origin.fetch"]
        );
        assert!(Settings::picked(b"extensions.objectformat\nsha256\0", None).is_sha256);
        assert!(Settings::picked(b"extensions.refstorage\nreftable\0", None).has_table);
    }
}
