//! Holds the files of a project as one snapshot: a change makes a new one, which shares all that
//! stayed.
//!
//! A folder holds its names in one piece and eight bytes an entry, so that 100,000 files take a few megabytes.

mod paths;
mod refresh;
pub(crate) mod walk;

use std::cmp::Ordering;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

pub use paths::Paths;
pub(crate) use refresh::{Depth, refreshed};
pub(crate) use walk::stamp;
pub use walk::walk;

/// What lies under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder.
    Folder,
    /// A file.
    File,
    /// A symbolic link: it is shown, and never followed.
    Link,
}

/// How much of a folder is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All that is in it.
    Listed,
    /// Nothing yet: the walk has not come to it.
    Ahead,
    /// Nothing: it cannot be read.
    Unreadable,
    /// A part: the tree ends here, since it is too deep or has too many entries.
    Cut,
}

/// A folder and all below it, as they were when they were looked at.
#[derive(Debug)]
pub struct Folder {
    names: Box<[u8]>,
    entries: Box<[Slot]>,
    /// The folders among the entries, which stand first.
    folders: Box<[Arc<Folder>]>,
    files: u32,
    all_folders: u32,
    pub(crate) stamp: Stamp,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Where the name ends; it begins where the last one ends.
    end: u32,
    kind: Kind,
}

/// By what a folder is told from itself after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stamp {
    /// Its number.
    pub inode: u64,
    /// Nanoseconds since 1970; 0 where it changed so lately that the next change may bear the same time.
    pub changed: i64,
}

/// One entry of a folder.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its name, which need not be UTF-8, and may have any character but `/`.
    pub name: &'a OsStr,
    /// What it is.
    pub kind: Kind,
    /// What is in it, where it is a folder.
    pub folder: Option<&'a Arc<Folder>>,
}

impl Folder {
    /// A folder with these entries, given in any order, a folder with what is in it.
    pub(crate) fn new<N: AsRef<OsStr>>(
        mut found: Vec<(N, Kind, Option<Arc<Self>>)>,
        stamp: Stamp,
        state: State,
    ) -> Arc<Self> {
        found.sort_unstable_by(|one, other| {
            order((one.1, one.0.as_ref()), (other.1, other.0.as_ref()))
        });
        let mut names =
            Vec::with_capacity(found.iter().map(|(name, ..)| name.as_ref().len()).sum());
        let mut entries = Vec::with_capacity(found.len());
        let mut folders = Vec::new();
        for (name, kind, folder) in found {
            names.extend_from_slice(name.as_ref().as_bytes());
            entries.push(Slot { end: names.len() as u32, kind });
            folders.extend(folder);
        }
        Arc::new(Self {
            files: (entries.len() - folders.len()) as u32
                + folders.iter().map(|folder: &Arc<Self>| folder.files).sum::<u32>(),
            all_folders: folders.len() as u32
                + folders.iter().map(|folder| folder.all_folders).sum::<u32>(),
            names: names.into(),
            entries: entries.into(),
            folders: folders.into(),
            stamp,
            state,
        })
    }

    /// A folder of which nothing is known.
    pub(crate) fn unknown(state: State) -> Arc<Self> {
        Self::new(Vec::<(&OsStr, _, _)>::new(), Stamp::default(), state)
    }

    /// How many entries are in it.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How much of it is known.
    pub fn state(&self) -> State {
        self.state
    }

    /// The entry at a place: folders first, then by name, large letters as small ones.
    pub fn get(&self, place: usize) -> Option<Entry<'_>> {
        let slot = self.entries.get(place)?;
        let start = place.checked_sub(1).map_or(0, |before| self.entries[before].end);
        let name = OsStr::from_bytes(&self.names[start as usize..slot.end as usize]);
        let folder = self.folders.get(place).filter(|_| slot.kind == Kind::Folder);
        Some(Entry { name, kind: slot.kind, folder })
    }

    /// All entries, in order.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// The place of a name.
    pub fn position(&self, name: &OsStr) -> Option<usize> {
        let among = |first: usize, last: usize, kind| {
            let (mut low, mut high) = (first, last);
            while low < high {
                let middle = usize::midpoint(low, high);
                match order((kind, self.get(middle)?.name), (kind, name)) {
                    Ordering::Less => low = middle + 1,
                    Ordering::Greater => high = middle,
                    Ordering::Equal => return Some(middle),
                }
            }
            None
        };
        let folders = self.folders.len();
        among(0, folders, Kind::Folder).or_else(|| among(folders, self.len(), Kind::File))
    }

    /// Files and links in it and below.
    pub fn files(&self) -> usize {
        self.files as usize
    }

    /// Folders in it and below.
    pub fn folders(&self) -> usize {
        self.all_folders as usize
    }
}

/// Folders first, then by name as people look for it.
fn order(one: (Kind, &OsStr), other: (Kind, &OsStr)) -> Ordering {
    let is_file = |kind| kind != Kind::Folder;
    let (first, second) = (one.1.as_bytes().iter(), other.1.as_bytes().iter());
    is_file(one.0)
        .cmp(&is_file(other.0))
        .then_with(|| first.map(u8::to_ascii_lowercase).cmp(second.map(u8::to_ascii_lowercase)))
        .then_with(|| one.1.cmp(other.1))
}

/// The files of a project: a snapshot, shared and never changed.
#[derive(Debug)]
pub struct Tree {
    root: Arc<Folder>,
    paths: OnceLock<Paths>,
    folder_paths: OnceLock<Paths>,
}

impl Tree {
    pub(crate) fn new(root: Arc<Folder>) -> Self {
        Self { root, paths: OnceLock::new(), folder_paths: OnceLock::new() }
    }

    /// The project's own folder.
    pub fn root(&self) -> &Arc<Folder> {
        &self.root
    }

    /// The folder at a path from the project on; the empty path is the project itself.
    pub fn folder(&self, path: &Path) -> Option<&Arc<Folder>> {
        path.iter().try_fold(&self.root, |folder, name| {
            let place = folder.position(name)?;
            folder.get(place)?.folder
        })
    }

    /// What lies at a path from the project on, where the tree has it.
    pub fn kind(&self, path: &Path) -> Option<Kind> {
        let Some(name) = path.file_name() else { return Some(Kind::Folder) };
        let folder = self.folder(path.parent()?)?;
        folder.get(folder.position(name)?).map(|entry| entry.kind)
    }

    /// The paths of all files and links, for searching. Made when it is first asked for.
    pub fn paths(&self) -> &Paths {
        self.paths.get_or_init(|| Paths::of(&self.root))
    }

    /// The paths of all folders below the project's own, the same way.
    pub fn folder_paths(&self) -> &Paths {
        self.folder_paths.get_or_init(|| Paths::of_folders(&self.root))
    }

    /// Bytes that all of this takes, without what the allocator adds.
    pub fn memory(&self) -> usize {
        fn of(folder: &Folder) -> usize {
            size_of::<Folder>()
                + folder.names.len()
                + size_of_val(&*folder.entries)
                + size_of_val(&*folder.folders)
                + folder.folders.iter().map(|folder| of(folder)).sum::<usize>()
        }
        let paths = [&self.paths, &self.folder_paths].into_iter().filter_map(OnceLock::get);
        of(&self.root) + paths.map(Paths::memory).sum::<usize>()
    }
}

#[cfg(test)]
mod tests;
