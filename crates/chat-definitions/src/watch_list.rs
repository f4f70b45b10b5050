//! Collects which folders are to be watched, and judges what is heard of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use notify::EventKind;
use notify::event::{AccessKind, AccessMode};

/// Folders by their real paths, and what counts in each.
#[derive(Debug, Default)]
pub(crate) struct WatchList(BTreeMap<PathBuf, Interest>);

#[derive(Debug, PartialEq)]
enum Interest {
    Everything,
    /// Only these names: the next step to a folder that does not exist, or a link.
    Names(BTreeSet<OsString>),
}

impl WatchList {
    /// Everything in this folder counts.
    pub fn folder(&mut self, real: PathBuf) {
        self.0.insert(real, Interest::Everything);
    }

    /// Something of this name in the folder counts, or, if the folder does not exist, whatever leads to it.
    pub fn name(&mut self, folder: &Path, name: &OsStr) {
        let (mut folder, mut name) = (folder, name);
        loop {
            if let Ok(real) = fs::canonicalize(folder) {
                let interest = self.0.entry(real).or_insert(Interest::Names(BTreeSet::new()));
                if let Interest::Names(names) = interest {
                    names.insert(name.to_owned());
                }
                return;
            }
            let (Some(parent), Some(own)) = (folder.parent(), folder.file_name()) else { return };
            (folder, name) = (parent, own);
        }
    }

    /// Watches the way from a folder down to `relative`: where it ends too early, where it is a link, and in a
    /// project every step.
    pub fn way(&mut self, base: &Path, relative: &Path, is_project: bool) {
        let mut at = base.to_owned();
        for name in relative {
            let next = at.join(name);
            let found = fs::symlink_metadata(&next).ok();
            let is_link = found.as_ref().is_some_and(fs::Metadata::is_symlink);
            if is_project || is_link || found.is_none() {
                self.name(&at, name);
            }
            let leads_out = || fs::canonicalize(&next).is_ok_and(|real| !real.starts_with(base));
            if found.is_none() || is_project && is_link && leads_out() {
                return;
            }
            at = next;
        }
    }

    /// If this file is a link, watches the file that it leads to.
    pub fn target(&mut self, path: &Path) {
        if path.is_symlink()
            && let Ok(real) = fs::canonicalize(path)
            && let (Some(folder), Some(name)) = (real.parent(), real.file_name())
        {
            self.name(folder, name);
        }
    }

    /// The folders.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// Whether anything that counts may have changed.
    pub fn concerns(&self, event: &notify::Event) -> bool {
        if event.need_rescan() {
            return true;
        }
        let is_write = matches!(
            event.kind,
            EventKind::Access(AccessKind::Close(AccessMode::Write))
                | EventKind::Any
                | EventKind::Create(_)
                | EventKind::Modify(_)
                | EventKind::Remove(_)
                | EventKind::Other
        );
        is_write && event.paths.iter().any(|path| self.has(path))
    }

    fn has(&self, path: &Path) -> bool {
        if self.0.contains_key(path) {
            return true;
        }
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return false };
        match self.0.get(folder) {
            Some(Interest::Everything) => true,
            Some(Interest::Names(names)) => names.contains(name),
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, ModifyKind};

    use super::*;

    fn event(kind: EventKind, path: &Path) -> notify::Event {
        notify::Event::new(kind).add_path(path.to_owned())
    }

    #[test]
    fn what_does_not_exist_is_awaited_at_its_nearest_parent() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        let mut list = WatchList::default();
        list.way(&base.join("a/b"), Path::new("agents"), false);
        assert_eq!(list.folders().collect::<Vec<_>>(), [base.as_path()]);
        let create = EventKind::Create(CreateKind::Folder);
        assert!(list.concerns(&event(create, &base.join("a"))));
        assert!(!list.concerns(&event(create, &base.join("x"))));

        fs::create_dir_all(base.join("a/b/agents")).unwrap();
        let mut list = WatchList::default();
        list.way(&base.join("a/b"), Path::new("agents"), false);
        assert_eq!(list.folders().count(), 0, "its own folder is watched");
    }

    #[test]
    fn reading_is_no_change() {
        let mut list = WatchList::default();
        list.folder("/x".into());
        let path = Path::new("/x/a.md");
        let access = |kind| event(EventKind::Access(kind), path);
        assert!(!list.concerns(&access(AccessKind::Open(AccessMode::Any))));
        assert!(!list.concerns(&access(AccessKind::Close(AccessMode::Read))));
        assert!(list.concerns(&access(AccessKind::Close(AccessMode::Write))));
        let write = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        assert!(list.concerns(&event(write, path)));
        assert!(list.concerns(&event(write, Path::new("/x"))));
        assert!(!list.concerns(&event(write, Path::new("/y/a.md"))));
    }

    #[test]
    fn a_link_is_watched_at_both_ends_but_not_out_of_a_project() {
        let folder = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(folder.path()).unwrap();
        for name in ["p/.claude", "out/skills"] {
            fs::create_dir_all(base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(base.join("out"), base.join("p/.agents")).unwrap();
        let mut list = WatchList::default();
        list.way(&base.join("p"), Path::new(".agents/skills"), true);
        assert_eq!(list.folders().collect::<Vec<_>>(), [base.join("p")]);
        let mut list = WatchList::default();
        list.way(&base.join("p"), Path::new(".agents/none"), false);
        assert_eq!(list.folders().collect::<Vec<_>>(), [base.join("out"), base.join("p")]);
    }
}
