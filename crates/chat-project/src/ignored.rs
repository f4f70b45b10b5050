//! Reads ignore files, those of a folder and of all above it. They are read as data that anybody may
//! have put there: no link is followed, no pipe is waited for, and nothing endless is read.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};

/// Bytes of an ignore file that are read.
const READ: u64 = 1 << 20;
/// Ignore files, the strongest first.
const FILES: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];
/// How many of them, from the first on, are not git's: what they say reaches into repositories below, too.
const NOT_OF_GIT: usize = 1;

/// What is ignored in a folder.
#[derive(Debug)]
pub struct Ignored {
    above: Option<Arc<Ignored>>,
    /// One for each of the files.
    own: [Gitignore; FILES.len()],
    /// Whether a repository begins here: git's files above do not count in it.
    is_repository: bool,
    /// The person's own, the weakest.
    global: Arc<Gitignore>,
}

/// Whether a file of this name, in any folder, says what is ignored.
pub fn is_ignore_file(name: &std::ffi::OsStr) -> bool {
    name == ".gitignore" || name == ".ignore"
}

impl Ignored {
    /// What is ignored in a folder where a walk begins: its own files count, those above it and the person's.
    pub fn begin(folder: BorrowedFd<'_>, path: &Path) -> Arc<Self> {
        let (global, _) = GitignoreBuilder::new(path).build_global();
        let mut ignored = Arc::new(Self {
            above: None,
            own: std::array::from_fn(|_| Gitignore::empty()),
            is_repository: false,
            global: Arc::new(global),
        });
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.reverse();
        for folder in above {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            if let Ok(opened) = rustix::fs::openat(CWD, folder, flags, Mode::empty()) {
                ignored = Self::beneath(&ignored, opened.as_fd(), folder);
            }
        }
        Self::beneath(&ignored, folder, path)
    }

    /// The same for a folder in this one; `path` is the whole of it.
    pub fn beneath(above: &Arc<Self>, folder: BorrowedFd<'_>, path: &Path) -> Arc<Self> {
        let own = FILES.map(|name| {
            read(folder, name).map_or_else(Gitignore::empty, |text| compiled(path, &text))
        });
        let is_repository = is_repository(folder);
        if own.iter().all(Gitignore::is_empty) && !is_repository {
            return Arc::clone(above);
        }
        let global = Arc::clone(&above.global);
        Arc::new(Self { above: Some(Arc::clone(above)), own, is_repository, global })
    }

    /// Whether something is ignored, by its whole path.
    pub fn is(&self, path: &Path, is_folder: bool) -> bool {
        let judged = |found: Match<_>| match found {
            Match::None => None,
            Match::Ignore(_) => Some(true),
            Match::Whitelist(_) => Some(false),
        };
        (0..FILES.len())
            .find_map(|kind| {
                // What stands nearer is stronger.
                std::iter::successors(Some(self), |ignored| ignored.next(kind))
                    .find_map(|ignored| judged(ignored.own[kind].matched(path, is_folder)))
            })
            .or_else(|| judged(self.global.matched(path, is_folder)))
            .unwrap_or(false)
    }
}

impl Ignored {
    /// What else a kind of file says, above.
    fn next(&self, kind: usize) -> Option<&Self> {
        let ends = self.is_repository && kind >= NOT_OF_GIT;
        self.above.as_deref().filter(|_| !ends)
    }
}

/// Whether a folder is a repository's, as git tells it: by what is in `.git`, or by that being a file.
fn is_repository(folder: BorrowedFd<'_>) -> bool {
    let found = |name| rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok();
    found(".git").is_some_and(|git| match FileType::from_raw_mode(git.st_mode) {
        FileType::RegularFile => true,
        FileType::Directory => found(".git/HEAD").is_some(),
        _ => false,
    })
}

fn compiled(folder: &Path, text: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.trim_start_matches('\u{feff}').lines() {
        // A line that is no pattern says nothing.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A file's text, where it is one.
fn read(folder: BorrowedFd<'_>, name: &str) -> Option<String> {
    let flags =
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty()).ok()?;
    let found = rustix::fs::fstat(&file).ok()?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(file).take(READ).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_and_the_strongest_file_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("sub/.git/info")).unwrap();
        std::fs::write(root.join(".gitignore"), "*.log\n/top\nbuild/\n").unwrap();
        std::fs::write(root.join("sub/.gitignore"), "\u{feff}!keep.log\nout\n").unwrap();
        std::fs::write(root.join("sub/.git/info/exclude"), "mine\n").unwrap();
        std::fs::write(root.join("sub/.ignore"), "!out\n").unwrap();
        let sub = File::open(root.join("sub")).unwrap();
        let ignored = Ignored::begin(sub.as_fd(), &root.join("sub"));
        let is = |path: &str| ignored.is(&root.join("sub").join(path), false);
        assert!(is("a.log") && !is("keep.log") && is("mine"));
        assert!(!is("out") && !is("top"));
        assert!(ignored.is(&root.join("sub/build"), true) && !is("build"));
    }
    #[test]
    fn what_git_ignores_above_a_repository_does_not_count_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("sub/.git")).unwrap();
        std::fs::write(root.join("sub/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        std::fs::write(root.join(".gitignore"), "*\n").unwrap();
        std::fs::write(root.join(".ignore"), "*.tmp\n").unwrap();
        let sub = File::open(root.join("sub")).unwrap();
        let ignored = Ignored::begin(sub.as_fd(), &root.join("sub"));
        assert!(!ignored.is(&root.join("sub/a"), false));
        assert!(ignored.is(&root.join("sub/a.tmp"), false));
    }
}
