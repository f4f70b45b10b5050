//! Parses `git status --porcelain=v2 -z`.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Git's state of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// What the next commit goes to.
    pub head: Head,
    /// What the branch follows, such as `origin/main`.
    pub upstream: Option<String>,
    /// Commits that it has and that one has not, and the other way round.
    pub ahead_behind: Option<(u32, u32)>,
    /// What changed in the project, by paths from it on.
    pub files: Vec<Changed>,
    /// Whether there are more such files than were read.
    pub is_cut: bool,
}

/// What the next commit goes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// A branch, by its name.
    Branch(String),
    /// A branch without a commit.
    Unborn(String),
    /// No branch: this commit.
    Detached(String),
}

/// A file that changed since the last commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Its path from the project on.
    pub path: PathBuf,
    /// How.
    pub change: Change,
    /// Whether some of it is in the index, for the next commit.
    pub is_staged: bool,
}

/// How a file changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its contents, permissions or type.
    Modified,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// It had this path from the project on; none where that lies outside.
    Renamed(Option<PathBuf>),
    /// Git does not know it.
    Untracked,
    /// A merge left it in two minds.
    Conflicted,
}

/// Reads it. Paths are git's, from its own folder on; `beneath` is where the project lies in that.
pub(super) fn read(said: &[u8], is_cut: bool, beneath: &Path) -> State {
    let mut state = State {
        head: Head::Detached(String::new()),
        upstream: None,
        ahead_behind: None,
        files: Vec::new(),
        is_cut,
    };
    // What was cut in its middle is no entry.
    let whole = memchr::memrchr(0, said).map_or(&[][..], |end| &said[..end]);
    let mut entries = whole.split(|byte| *byte == 0);
    let (mut commit, mut branch) = (String::new(), String::new());
    while let Some(entry) = entries.next() {
        let path = |path: &[u8]| {
            let path = Path::new(OsStr::from_bytes(path));
            path.strip_prefix(beneath).ok().map(Path::to_owned)
        };
        // How many fields stand before the path.
        let (fields, change): (_, fn(&[u8]) -> Change) = match entry.first() {
            Some(b'#') => {
                let line = String::from_utf8_lossy(entry);
                let mut words = line.splitn(3, ' ').skip(1);
                match (words.next(), words.next()) {
                    (Some("branch.oid"), Some(told)) => told.clone_into(&mut commit),
                    (Some("branch.head"), Some(told)) => told.clone_into(&mut branch),
                    (Some("branch.upstream"), Some(told)) => state.upstream = Some(told.to_owned()),
                    (Some("branch.ab"), Some(told)) => state.ahead_behind = counts(told),
                    _ => {}
                }
                continue;
            }
            Some(b'1') => (8, plain),
            Some(b'2') => (9, |_| Change::Renamed(None)),
            Some(b'u') => (10, |_| Change::Conflicted),
            Some(b'?') => (1, |_| Change::Untracked),
            _ => continue,
        };
        let mut parts = entry.splitn(fields + 1, |byte| *byte == b' ');
        let both = parts.nth(1).unwrap_or_default();
        let place = if fields == 1 { Some(both) } else { parts.nth(fields - 2) };
        let mut change = change(both);
        if let Change::Renamed(from) = &mut change {
            *from = entries.next().and_then(path);
        }
        let is_staged = matches!(entry[0], b'1' | b'2') && both.first() != Some(&b'.');
        if let Some(path) = place.and_then(path) {
            state.files.push(Changed { path, change, is_staged });
        }
    }
    state.head = match (commit.as_str(), branch.as_str()) {
        ("(initial)", _) => Head::Unborn(branch),
        (_, "(detached)") => Head::Detached(commit),
        _ => Head::Branch(branch),
    };
    state
}

/// How a file changed, from its letters for index and work tree.
fn plain(both: &[u8]) -> Change {
    if both.contains(&b'D') {
        Change::Deleted
    } else if both.contains(&b'A') {
        Change::Added
    } else {
        Change::Modified
    }
}

/// `+1 -2`.
fn counts(told: &str) -> Option<(u32, u32)> {
    let (ahead, behind) = told.split_once(' ')?;
    Some((ahead.strip_prefix('+')?.parse().ok()?, behind.strip_prefix('-')?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_entry_is_read() {
        let said = b"# branch.oid abc\0# branch.head main\0# branch.upstream origin/main\0\
            # branch.ab +1 -2\x001 .M N... 100644 100644 100644 a b p/one two\0\
            1 AM N... 0 0 0 a b p/new\x001 D. N... 0 0 0 a b p/gone\0\
            2 R. N... 0 0 0 a b R100 p/to\0p/from\0u UU N... 1 2 3 4 a b c p/both\0? p/un known\0? q/out\0? p/cut";
        let state = read(said, true, Path::new("p"));
        assert_eq!(state.head, Head::Branch("main".into()));
        assert_eq!(state.ahead_behind, Some((1, 2)));
        assert_eq!(state.upstream.as_deref(), Some("origin/main"));
        let files: Vec<_> = state
            .files
            .iter()
            .map(|file| (file.path.to_str().unwrap(), file.change.clone(), file.is_staged))
            .collect();
        assert_eq!(
            files,
            [
                ("one two", Change::Modified, false),
                ("new", Change::Added, true),
                ("gone", Change::Deleted, true),
                ("to", Change::Renamed(Some("from".into())), true),
                ("both", Change::Conflicted, false),
                ("un known", Change::Untracked, false),
            ]
        );
    }

    #[test]
    fn a_head_without_branch_or_commit_is_told() {
        let head = |said: &[u8]| read(said, false, Path::new("")).head;
        let unborn = head(b"# branch.oid (initial)\0# branch.head main\0");
        assert_eq!(unborn, Head::Unborn("main".into()));
        let detached = head(b"# branch.oid abc\0# branch.head (detached)\0");
        assert_eq!(detached, Head::Detached("abc".into()));
    }
}
