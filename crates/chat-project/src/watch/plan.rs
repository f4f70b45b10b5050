//! Chooses which folders are watched: a pure function of the tree and of what is wanted.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::WatchRequest;
use crate::tree::{Folder, Stamp, Tree};

/// Folders that one project has watched at most: each costs the system about a kilobyte.
const MOST: usize = 4096;
/// The part of what the system allows one person that one project takes: other programs watch, too.
const PART: usize = 16;
/// What is watched at least, where the system's bound is not known or tiny.
const LEAST: usize = 32;

/// How many folders may be watched on this machine.
pub(super) fn most() -> usize {
    let allowed = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok();
    let allowed = allowed.and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(0);
    (allowed / PART).clamp(LEAST, MOST)
}

/// All folders of a tree, by their paths from the project on.
pub(super) fn folders(tree: &Tree) -> Vec<(PathBuf, Stamp)> {
    fn gather(folder: &Folder, path: &Path, all: &mut Vec<(PathBuf, Stamp)>) {
        all.push((path.to_owned(), folder.stamp));
        for entry in folder.entries() {
            if let Some(below) = entry.folder {
                gather(below, &path.join(entry.name), all);
            }
        }
    }
    let mut all = Vec::with_capacity(tree.root().folders() + 1);
    gather(tree.root(), Path::new(""), &mut all);
    all
}

/// The folders to watch, `most` of them: the project's own, those of open files, those that are shown; then those
/// that are watched already, then those that changed last.
pub(super) fn plan(
    all: &[(PathBuf, Stamp)],
    wanted: &WatchRequest,
    watched: &BTreeSet<PathBuf>,
    most: usize,
) -> BTreeSet<PathBuf> {
    let there: BTreeSet<&Path> = all.iter().map(|(path, _)| path.as_path()).collect();
    let parents = wanted.open.iter().filter_map(|file| file.parent());
    let shown = wanted.shown.iter().map(PathBuf::as_path);
    let first = std::iter::once(Path::new("")).chain(parents).chain(shown);
    let mut latest: Vec<_> = all.iter().collect();
    // No time at all means: just now.
    latest.sort_by_key(|(_, stamp)| (stamp.changed != 0, std::cmp::Reverse(stamp.changed)));
    let rest = latest.iter().map(|(path, _)| path.as_path());
    let order = first.chain(watched.iter().map(PathBuf::as_path)).chain(rest);
    let mut chosen = BTreeSet::new();
    for path in order.filter(|path| there.contains(path)) {
        if chosen.len() >= most {
            break;
        }
        chosen.insert(path.to_owned());
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str, changed: i64) -> (PathBuf, Stamp) {
        (path.into(), Stamp { inode: 1, changed })
    }

    #[test]
    fn what_is_wanted_comes_first_then_what_changed_last() {
        let all = [at("", 1), at("a", 9), at("b", 5), at("c", 7), at("d", 0)];
        let wanted = WatchRequest {
            shown: vec!["b".into(), "gone".into()],
            open: vec!["a/x".into()],
            rescans: 0,
        };
        let chosen = |watched: &[&str], most| {
            let watched = watched.iter().map(PathBuf::from).collect();
            let chosen = plan(&all, &wanted, &watched, most);
            chosen.iter().map(|path| path.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(chosen(&[], 1), [""]);
        assert_eq!(chosen(&[], 3), ["", "a", "b"]);
        assert_eq!(chosen(&[], 4), ["", "a", "b", "d"]);
        // What is watched already stays, where there is room.
        assert_eq!(chosen(&["c"], 4), ["", "a", "b", "c"]);
        assert_eq!(chosen(&["c"], 99).len(), 5);
    }
}
