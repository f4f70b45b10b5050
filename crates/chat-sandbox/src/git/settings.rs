//! Lists git's settings that are known to run nothing, <https://git-scm.com/docs/git-config>.
//!
//! Only the simplest lines are understood: those whose meaning depends on no other line than their
//! section's. So git cannot interpret what remains in any other way.

use std::collections::HashSet;

/// Sections without a subsection: their settings that run nothing and lead nowhere.
const PLAIN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commitgraph",
            "compression",
            "eol",
            "filemode",
            "hidedotfiles",
            "ignorecase",
            "logallrefupdates",
            "longpaths",
            "multipackindex",
            "precomposeunicode",
            "preloadindex",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "symlinks",
            "trustctime",
            "untrackedcache",
        ],
    ),
    ("author", &["email", "name"]),
    ("committer", &["email", "name"]),
    ("color", &["ui"]),
    ("commit", &["verbose"]),
    ("diff", &["algorithm", "mnemonicprefix", "noprefix", "renames"]),
    (
        "extensions",
        &["compatobjectformat", "objectformat", "partialclone", "refstorage", "worktreeconfig"],
    ),
    ("feature", &["manyfiles"]),
    ("fetch", &["prune", "prunetags"]),
    ("gc", &["auto", "autodetach"]),
    ("index", &["threads", "version"]),
    ("init", &["defaultbranch"]),
    ("lfs", &["repositoryformatversion"]),
    ("maintenance", &["auto"]),
    ("merge", &["conflictstyle", "ff"]),
    ("pull", &["ff", "rebase"]),
    ("push", &["autosetupremote", "default", "followtags"]),
    ("rebase", &["autosquash", "autostash"]),
    ("rerere", &["enabled"]),
    ("status", &["showuntrackedfiles"]),
    ("submodule", &["recurse"]),
    ("user", &["email", "name", "useconfigonly"]),
];

/// Sections with a subsection: `[remote "origin"]`.
const NAMED: &[(&str, &[&str])] = &[
    ("branch", &["description", "merge", "pushremote", "rebase", "remote"]),
    (
        "remote",
        &[
            "fetch",
            "followremotehead",
            "mirror",
            "partialclonefilter",
            "promisor",
            "prune",
            "prunetags",
            "push",
            "pushurl",
            "skipdefaultupdate",
            "skipfetchall",
            "tagopt",
            "url",
        ],
    ),
    ("submodule", &["active", "branch", "fetchrecursesubmodules", "ignore", "shallow", "url"]),
];

/// Settings whose value is, or may be, an address.
const ADDRESSES: &[&str] = &["pushremote", "pushurl", "remote", "url"];

/// The text without lines that are not known to run nothing, except those that `before` has in the
/// same section. Returns the same text if nothing has to be removed.
pub(super) fn without_programs(text: &[u8], before: &[u8]) -> Vec<u8> {
    let before: HashSet<(String, &str)> = lines(before)
        .filter_map(|line| match line.meaning {
            Meaning::Setting { section, .. } => Some((section, line.text?)),
            _ => None,
        })
        .collect();
    let stays = |line: &Line| match (&line.meaning, line.text) {
        (Meaning::Nothing | Meaning::Section, _) => true,
        (Meaning::Setting { section, runs_nothing }, Some(text)) => {
            *runs_nothing || before.contains(&(section.clone(), text))
        }
        _ => false,
    };
    lines(text).filter(stays).flat_map(|line| line.bytes).copied().collect()
}

struct Line<'a> {
    bytes: &'a [u8],
    /// Without its line ending, if it is text.
    text: Option<&'a str>,
    meaning: Meaning,
}

enum Meaning {
    /// Empty, or a comment.
    Nothing,
    Section,
    Setting {
        section: String,
        runs_nothing: bool,
    },
    /// Not understood.
    Other,
}

fn lines(text: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut section: Option<(String, Option<&str>)> = None;
    text.split_inclusive(|byte| *byte == b'\n').map(move |bytes| {
        let bare = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
        let text = std::str::from_utf8(bare).ok();
        // A line that continues on the next one, or that git may take for several lines.
        let text = text.filter(|text| !text.ends_with('\\') && !text.contains(['\r', '\0']));
        let meaning = match text.map(|text| text.trim_matches([' ', '\t'])) {
            Some(text) if text.is_empty() || text.starts_with(['#', ';']) => Meaning::Nothing,
            Some(text) if text.starts_with('[') => {
                section = header(text);
                if section.is_some() { Meaning::Section } else { Meaning::Other }
            }
            Some(text) => setting(text, section.as_ref()),
            None => {
                // It may have begun a section.
                section = None;
                Meaning::Other
            }
        };
        Line { bytes, text, meaning }
    })
}

/// `[section]` or `[section "name"]`, with nothing after it.
fn header(text: &str) -> Option<(String, Option<&str>)> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    let (section, name) = match inside.split_once([' ', '\t']) {
        None => (inside, None),
        Some((section, name)) => {
            let name = name.trim_start_matches([' ', '\t']);
            (section, Some(name.strip_prefix('"')?.strip_suffix('"')?))
        }
    };
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let good = !section.is_empty()
        && plain(section)
        && !name.is_some_and(|name| name.contains(['"', '\\']));
    good.then(|| (section.to_ascii_lowercase(), name))
}

fn setting(text: &str, section: Option<&(String, Option<&str>)>) -> Meaning {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    let key = key.trim_end_matches([' ', '\t']).to_ascii_lowercase();
    let plain = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let Some((section, name)) = section.filter(|_| plain) else {
        return Meaning::Other;
    };
    let table = if name.is_some() { NAMED } else { PLAIN };
    let known = table.iter().any(|(of, keys)| of == section && keys.contains(&&*key));
    let runs_nothing = known && !(ADDRESSES.contains(&&*key) && names_a_helper(value));
    let section = format!("{section} {}", name.unwrap_or_default());
    Meaning::Setting { section, runs_nothing }
}

/// Whether an address makes git start a program of its choice: `ext::sh -c …`, `--upload-pack=…`.
fn names_a_helper(value: &str) -> bool {
    let value = value.replace('"', "");
    let value = value.trim();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let end = value.bytes().position(|byte| !word(byte)).unwrap_or(value.len());
    value.contains('\\') || value.starts_with('-') || value[end..].starts_with("::")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn left(text: &str) -> String {
        String::from_utf8(without_programs(text.as_bytes(), b"")).unwrap()
    }

    #[test]
    fn what_git_writes_by_itself_stays_to_the_byte() {
        let usual = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
            \tlogallrefupdates = true\n[remote \"origin\"]\n\turl = https://example.org/a.git\n\
            \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\
            \tmerge = refs/heads/main\n# a remark\n\n[user]\n\tname = Ann\r\n";
        assert_eq!(left(usual), usual);
        let ssh = "[remote \"a\"]\nurl = ssh://git@[::1]:22/a\nurl = git@example.org:a/b.git\n";
        assert_eq!(left(ssh), ssh);
    }

    #[test]
    fn what_runs_programs_goes_however_it_is_written() {
        for evil in [
            "[core]\n\tfsmonitor = touch x\n",
            "[CORE]\nFsMonitor=touch x\n",
            "[core] fsmonitor = touch x\n",
            "[core]\nhooksPath = evil\nsshCommand = evil\npager = evil\neditor = evil\nworktree = /\n",
            "[include]\n\tpath = ../evil\n",
            "[includeIf \"gitdir:/\"]\n\tpath = ../evil\n",
            "[filter \"x\"]\n\tclean = evil\n",
            "[filter.x]\n\tclean = evil\n",
            "[diff \"x\"]\n\ttextconv = evil\n",
            "[diff]\n\texternal = evil\n",
            "[alias]\n\tst = !evil\n",
            "[credential]\n\thelper = !evil\n",
            "[gpg]\n\tprogram = evil\n",
            "[remote \"a\"]\n\turl = ext::sh -c evil\n",
            "[remote \"a\"]\n\turl = \"ext\"::evil\n",
            "[remote \"a\"]\n\turl = e\\\nxt::evil\n",
            "[remote \"a\"]\n\tuploadpack = evil\n",
            "[submodule \"a\"]\n\tupdate = !evil\n",
            "[user]\n\tname = a\\\n[core]\n\tfsmonitor = evil\n",
            "[user]\n\tname = a\u{0}\n",
        ] {
            let left = left(evil);
            let keys = left.lines().filter(|line| line.contains('=') && !line.starts_with('['));
            assert_eq!(keys.count(), 0, "{evil} left {left}");
            assert!(!left.contains("evil") && !left.contains("touch"), "{evil} left {left}");
        }
    }

    #[test]
    fn a_section_that_goes_gives_its_settings_to_no_other() {
        let text = "[user]\n\tname = Ann\n[remote.x]\n\temail = a\n[user]\n\temail = b\n";
        assert_eq!(left(text), "[user]\n\tname = Ann\n[user]\n\temail = b\n");
    }

    #[test]
    fn what_a_person_had_stays() {
        let before = b"[core]\n\teditor = vim\n";
        let text = b"[core]\n\teditor = vim\n\tpager = evil\n[user]\n\teditor = vim\n";
        assert_eq!(without_programs(text, before), b"[core]\n\teditor = vim\n[user]\n");
    }

    proptest! {
        /// What is left is fully understood: sanitizing again changes nothing.
        #[test]
        fn once_is_enough(text in "(\\[core\\]|\\[a \"b\"\\]|fsmonitor=x|bare=0|\\\\|\\n|\\r|\"| |#|\\[){0,20}") {
            let once = left(&text);
            let keys = once.split('\n').filter_map(|line| line.split('=').next());
            for key in keys.filter(|key| !key.trim_start().starts_with('#')) {
                prop_assert!(!key.contains("fsmonitor"), "{}", once);
            }
            prop_assert_eq!(left(&once), once.clone());
        }
    }
}
