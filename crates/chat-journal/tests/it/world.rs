//! Provides a project with a journal, and the actions of tools, commands and the user in it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chat_journal::{
    Change, ChangeSource, FileChange, Journal, Limits, Node, Origin, Rejection, ReviewScope,
};
use chat_permission::path::{PathEnvironment, Project};
use tempfile::TempDir;

/// Both folders are gone with it.
pub struct World {
    pub folder: TempDir,
    pub state: TempDir,
    pub project: Project,
    pub journal: Journal,
}

/// The session of most tests.
pub const SESSION: &str = "2026-01-15-14-30-45";

/// Limits that keep everything.
pub fn all() -> Limits {
    Limits { age: Duration::from_secs(1 << 30), ..Limits::default() }
}

/// What a tool call of a session is.
pub fn origin(session: &str) -> Origin {
    Origin { session: session.to_owned(), message: "7".to_owned(), call: "c1".to_owned() }
}

impl World {
    pub fn new() -> Self {
        Self::with(all())
    }

    pub fn with(limits: Limits) -> Self {
        let (folder, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let journal = Journal::open(&project, None, state.path(), limits).unwrap();
        Self { folder, state, project, journal }
    }

    /// The same journal, opened again.
    pub fn again(&self) -> Journal {
        Journal::open(&self.project, None, self.state.path(), all()).unwrap()
    }

    /// A file of the journal itself.
    pub fn own(&self, name: &str) -> PathBuf {
        let projects = std::fs::read_dir(self.state.path().join("projects")).unwrap();
        projects.flatten().next().unwrap().path().join(name)
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// The person, or a command, writes.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Waits until a look at the project takes a file for one that was there before: as long as clocks of disks are
    /// coarse.
    pub fn wait_until_old(&self, path: &str) {
        use std::os::unix::fs::MetadataExt;
        let changed = self.path(path).metadata().unwrap().ctime();
        let now = || std::time::UNIX_EPOCH.elapsed().unwrap().as_secs().cast_signed();
        while now() <= changed + 3 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }

    pub fn remove(&self, path: &str) {
        std::fs::remove_file(self.path(path)).unwrap();
    }

    pub fn read(&self, path: &str) -> Option<String> {
        std::fs::read(self.path(path)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into())
    }

    pub fn make_executable(&self, path: &str, mode: u32) {
        std::fs::set_permissions(self.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    }

    /// A session's tool writes a file, or deletes it.
    pub fn edit(&self, session: &str, path: &str, text: Option<&str>) {
        let before = self.journal.read(Path::new(path)).unwrap();
        match text {
            Some(text) => self.write(path, text),
            None => self.remove(path),
        }
        let after = self.journal.read(Path::new(path)).unwrap();
        let change = Change { path: path.into(), from: None, before, after };
        self.journal.record(&origin(session), ChangeSource::Tool, &[change]).unwrap();
    }

    /// A session's tool moves a file.
    pub fn rename(&self, session: &str, from: &str, to: &str) {
        let before = self.journal.read(Path::new(from)).unwrap();
        std::fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        std::fs::rename(self.path(from), self.path(to)).unwrap();
        let after = before.clone();
        let change = Change { path: to.into(), from: Some(from.into()), before, after };
        self.journal.record(&origin(session), ChangeSource::Tool, &[change]).unwrap();
    }

    /// A session's command runs.
    pub fn command(&self, session: &str, act: impl FnOnce(&Self)) -> Vec<String> {
        let scan = self.journal.scan().unwrap();
        act(self);
        let (recorded, _) = self.journal.record_since(&scan, &origin(session)).unwrap();
        recorded.iter().map(|change| change.path.display().to_string()).collect()
    }

    pub fn changes(&self) -> Vec<FileChange> {
        self.journal.changes(&[SESSION]).unwrap()
    }

    /// What the model is told that the user took back or wanted after all since a moment, and until which moment
    /// that is.
    pub fn rejections(&self, session: &str, since: u64) -> (Vec<Rejection>, u64) {
        self.journal.rejections(&[session], since, |_| true).unwrap()
    }

    /// The only change.
    pub fn change(&self) -> FileChange {
        let mut changes = self.changes();
        assert_eq!(changes.len(), 1, "{changes:?}");
        changes.remove(0)
    }

    /// The hunk of a file with this number.
    pub fn hunk(&self, number: usize) -> ReviewScope {
        ReviewScope::Hunks(vec![self.change().hunks[number].id])
    }

    /// Every file and link, with what it is.
    pub fn everything(&self) -> Vec<(PathBuf, Node)> {
        fn below(folder: &Path, found: &mut Vec<PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    below(&entry.path(), found);
                } else {
                    found.push(entry.path());
                }
            }
        }
        let mut found = Vec::new();
        below(self.folder.path(), &mut found);
        found.sort();
        let relative = |path: &PathBuf| path.strip_prefix(self.folder.path()).unwrap().to_owned();
        let paths = found.iter().map(relative);
        paths.map(|path| (path.clone(), self.journal.read(&path).unwrap().unwrap())).collect()
    }
}

/// Lines, one for each letter.
pub fn lines(letters: &str) -> String {
    letters.chars().flat_map(|letter| [letter, '\n']).collect()
}

/// A moment after all that was done, in milliseconds since 1970.
pub fn moment_after() -> u64 {
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        since.as_millis() as u64
    };
    let begin = now();
    while now() == begin {
        std::hint::spin_loop();
    }
    now()
}
