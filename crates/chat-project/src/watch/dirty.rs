//! Collects what events say until it is quiet.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use notify::EventKind;
use notify::event::{AccessKind, AccessMode, ModifyKind};

use crate::ignored::is_ignore_file;
use crate::tree::Depth;

/// How long it is quiet before anything is told.
const QUIET: Duration = Duration::from_millis(60);
/// And how long it is waited for at most.
const PATIENCE: Duration = Duration::from_millis(300);
/// Paths beyond which looking at all is cheaper than at each.
const MOST: usize = 4_000;

/// What must be looked at again.
#[derive(Debug, Default)]
pub(super) struct Dirty {
    /// Folders, by their paths from the project on.
    pub folders: BTreeMap<PathBuf, Depth>,
    /// What changed, came or went.
    pub touched: BTreeSet<PathBuf>,
    /// Whether git's state may be another.
    pub git: bool,
    /// Whether everything must be.
    pub all: bool,
    since: Option<(Instant, Instant)>,
}

impl Dirty {
    /// When it is to be told.
    pub fn due(&self) -> Option<Instant> {
        self.since.map(|(first, last)| (last + QUIET).min(first + PATIENCE))
    }

    fn touch(&mut self) {
        let now = Instant::now();
        self.since = Some((self.since.map_or(now, |(first, _)| first), now));
    }

    /// Everything must be looked at.
    pub fn everything(&mut self) {
        self.all = true;
        self.touch();
    }

    /// A folder must be looked at.
    pub fn folder(&mut self, path: &Path, depth: Depth) {
        if self.folders.len() >= MOST {
            return self.everything();
        }
        let known = self.folders.entry(path.to_owned()).or_insert(depth);
        *known = (*known).max(depth);
        self.touch();
    }

    /// A file's contents are others.
    pub fn file(&mut self, path: &Path) {
        if self.touched.len() >= MOST {
            return self.everything();
        }
        self.touched.insert(path.to_owned());
        self.touch();
    }

    /// Git's state may be another.
    pub fn git(&mut self) {
        self.git = true;
        self.touch();
    }

    /// What an event says. `git` are git's folders.
    pub fn event(&mut self, event: &notify::Event, root: &Path, git: &[PathBuf]) {
        if event.need_rescan() {
            return self.everything();
        }
        let comes_or_goes = match event.kind {
            EventKind::Access(AccessKind::Close(AccessMode::Write))
            | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => false,
            // Somebody reads; we do, too.
            EventKind::Access(_) => return,
            _ => true,
        };
        for path in &event.paths {
            if git.iter().any(|folder| path.starts_with(folder)) {
                // A lock comes before and goes after.
                if path.extension() != Some(OsStr::new("lock")) {
                    self.git();
                }
                continue;
            }
            let Ok(path) = path.strip_prefix(root) else { continue };
            if path.file_name() == Some(OsStr::new(".git")) {
                self.git();
            } else {
                self.path(path, comes_or_goes);
            }
        }
    }

    fn path(&mut self, path: &Path, comes_or_goes: bool) {
        let above = path.parent();
        if path.file_name().is_some_and(is_ignore_file) {
            self.folder(above.unwrap_or(path), Depth::Below);
        } else if comes_or_goes {
            if let Some(above) = above {
                self.folder(above, Depth::Itself);
            }
            // Where it was a folder, another may have its name now.
            self.folder(path, Depth::Below);
        }
        if above.is_some() {
            self.file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, Flag};

    use super::*;

    fn told(kind: EventKind, path: &str) -> Dirty {
        let mut dirty = Dirty::default();
        let event = notify::Event::new(kind).add_path(path.into());
        dirty.event(&event, Path::new("/p"), &["/p/.git".into()]);
        dirty
    }

    #[test]
    fn an_event_says_what_is_to_be_looked_at() {
        let create = EventKind::Create(CreateKind::File);
        let write = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let made = told(create, "/p/a/b");
        assert_eq!(made.folders.get(Path::new("a")), Some(&Depth::Itself));
        assert!(made.touched.contains(Path::new("a/b")) && !made.git && made.due().is_some());
        let written = told(write, "/p/a/b");
        assert!(written.folders.is_empty() && written.touched.len() == 1);
        let rule = told(write, "/p/a/.gitignore");
        assert_eq!(rule.folders.get(Path::new("a")), Some(&Depth::Below));
        assert!(told(write, "/p/.git/index").git && told(create, "/p/.git").git);
    }

    #[test]
    fn who_reads_wakes_nobody_and_a_lock_says_nothing() {
        let read = EventKind::Access(AccessKind::Open(AccessMode::Read));
        assert_eq!(told(read, "/p/a").due(), None);
        assert_eq!(told(EventKind::Create(CreateKind::File), "/p/.git/index.lock").due(), None);
        assert_eq!(told(EventKind::Create(CreateKind::File), "/elsewhere").due(), None);
    }

    #[test]
    fn an_overflow_means_everything() {
        let mut dirty = Dirty::default();
        let event = notify::Event::new(EventKind::Other).set_flag(Flag::Rescan);
        dirty.event(&event, Path::new("/p"), &[]);
        assert!(dirty.all);
        let mut dirty = Dirty::default();
        (0..=MOST).for_each(|number| dirty.file(Path::new(&number.to_string())));
        assert!(dirty.all);
    }
}
