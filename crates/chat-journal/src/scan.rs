//! Scans the whole project, and stores what changed since the last scan.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::Stat;

use crate::entry::Seq;
use crate::git::{Import, TreeChange};
use crate::log::nanoseconds;
use crate::manifest::{LeftOut, LeftOutReason, Manifest, ManifestEntry};
use crate::node::{Id, Node};
use crate::state::Inner;
use crate::walk::{WalkEntry, stat, walk};
use crate::{Error, disk};

/// The project at one moment, to be compared with a later one. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Scan {
    pub(crate) manifest: Arc<Manifest>,
    /// The entry that comes after it.
    pub(crate) next: Seq,
    /// When it began: nanoseconds since 1970.
    pub(crate) at: i64,
}

impl Scan {
    /// How many files and links it contains.
    pub fn files(&self) -> usize {
        self.manifest.files.len()
    }

    /// What it does not contain.
    pub fn left_out(&self) -> Vec<LeftOut> {
        self.manifest.left_out.values().cloned().collect()
    }
}

/// A scan in progress.
struct Scanner<'a> {
    inner: &'a mut Inner,
    import: Option<Import>,
    taken: HashSet<Id>,
}

impl Inner {
    /// Scans the project. New contents are in the repository afterwards.
    pub fn scan(&mut self) -> Result<Scan, Error> {
        let at = nanoseconds();
        let root = self.project.root().to_owned();
        let folder =
            self.project.resolve_entry(".").and_then(|top| self.project.open_folder(&top))?;
        let mut met = walk(&folder, &root);
        let old = Arc::clone(&self.manifest);
        self.keep_in_sight(&folder, &old, &mut met);
        let mut scanner = Scanner { inner: self, import: None, taken: HashSet::new() };
        let mut changed: Vec<(OsString, ManifestEntry)> = Vec::new();
        let mut left_out = Vec::new();
        let (mut room, mut still) = (scanner.inner.limits.project_size, Vec::new());
        for WalkEntry { path, stat } in &met {
            let size = stat.st_size as u64;
            let leave = |why| (path.clone(), LeftOut { path: path.into(), size, why });
            if size > scanner.inner.limits.file_size {
                left_out.push(leave(LeftOutReason::TooLarge));
                continue;
            }
            let Some(rest) = room.checked_sub(size) else {
                left_out.push(leave(LeftOutReason::NoRoom));
                continue;
            };
            room = rest;
            if old.files.get(path).is_some_and(|known| known.is_still(stat)) {
                still.push(path);
                continue;
            }
            match scanner.read(path)? {
                Read::ManifestEntry(known) => changed.push((path.clone(), known)),
                Read::Gone => {}
                Read::TooLarge => left_out.push(leave(LeftOutReason::TooLarge)),
                Read::Unreadable => left_out.push(leave(LeftOutReason::Unreadable)),
            }
        }
        let Scanner { import, taken, .. } = scanner;
        if let Some(import) = import {
            import.finish(None)?;
            self.stored.extend(taken);
        }
        let left_out: BTreeMap<_, _> = left_out.into_iter().collect();
        if !changed.is_empty() || still.len() != old.files.len() || left_out != old.left_out {
            let kept = still.iter().filter_map(|path| old.files.get_key_value(*path));
            let mut files: HashMap<_, _> =
                kept.map(|(path, known)| (path.clone(), known.clone())).collect();
            files.extend(changed);
            self.manifest = Arc::new(Manifest { files, left_out });
            let tree = self.rooted.as_ref().filter(|(_, of)| of.is_same(&self.manifest));
            let tree = tree.map(|(tree, _)| *tree);
            let path = self.folder.join("stat");
            self.manifest.store(&path, self.log.generation(), tree)?;
        }
        Ok(Scan { manifest: Arc::clone(&self.manifest), next: self.log.next(), at })
    }

    /// Keeps known files that the walk did not find but that still exist. They are ignored by now;
    /// without this, a command's changes to a file that it has made ignored would go unnoticed.
    fn keep_in_sight(&self, folder: &OwnedFd, old: &Manifest, met: &mut Vec<WalkEntry>) {
        let seen: HashSet<&OsStr> = met.iter().map(|met| met.path.as_os_str()).collect();
        let missed = old.files.keys().filter(|path| !seen.contains(path.as_os_str()));
        let there = missed.filter_map(|path| {
            let stat = stat(folder, path);
            // The kernel, or a container around this program, does not know the call.
            let stat = stat.unwrap_or_else(|_| disk::stat(&self.project, Path::new(path)));
            Some(WalkEntry { path: path.clone(), stat: stat? })
        });
        let mut there: Vec<WalkEntry> = there.collect();
        there.sort_by(|one, other| one.path.cmp(&other.path));
        met.extend(there);
    }

    /// The tree of a scan.
    pub fn tree(&mut self, scan: &Scan) -> Result<Id, Error> {
        if let Some((tree, of)) = &self.rooted
            && of.is_same(&scan.manifest)
        {
            return Ok(*tree);
        }
        let new = &scan.manifest.files;
        let change = match &self.rooted {
            Some((from, old)) => TreeChange {
                from: Some(*from),
                removed: old
                    .files
                    .keys()
                    .filter(|path| !new.contains_key(*path))
                    .map(OsString::as_os_str)
                    .collect(),
                set: new
                    .iter()
                    .filter(|(path, known)| !old.files.get(*path).is_some_and(|o| same(o, known)))
                    .map(|(path, known)| (path.as_os_str(), known.mode, known.id))
                    .collect(),
            },
            None => TreeChange {
                from: None,
                removed: Vec::new(),
                set: new
                    .iter()
                    .map(|(path, known)| (path.as_os_str(), known.mode, known.id))
                    .collect(),
            },
        };
        let tree = self.git.import()?.finish(Some(&change))?;
        let tree = tree.ok_or(Error::Git { what: "fast-import", message: String::new() })?;
        self.rooted = Some((tree, Arc::clone(&scan.manifest)));
        scan.manifest.store(&self.folder.join("stat"), self.log.generation(), Some(tree))?;
        Ok(tree)
    }
}

fn same(one: &ManifestEntry, other: &ManifestEntry) -> bool {
    (one.id, one.mode) == (other.id, other.mode)
}

impl Manifest {
    /// Whether both have the same contents, whenever they were read.
    pub fn is_same(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
            || self.files.len() == other.files.len()
                && self
                    .files
                    .iter()
                    .all(|(path, known)| other.files.get(path).is_some_and(|o| same(known, o)))
    }
}

enum Read {
    ManifestEntry(ManifestEntry),
    Gone,
    TooLarge,
    Unreadable,
}

impl Scanner<'_> {
    fn read(&mut self, path: &OsStr) -> Result<Read, Error> {
        let at = nanoseconds();
        let (node, stat): (Node, Stat) = match disk::read_with(&self.inner.project, Path::new(path))
        {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(Read::Gone),
            Err(error) => {
                tracing::debug!(path = %PathBuf::from(path).display(), %error, "not kept");
                return Ok(Read::Unreadable);
            }
        };
        let size = node.bytes.len() as u64;
        if size > self.inner.limits.file_size {
            return Ok(Read::TooLarge);
        }
        let id = Id::of(&node.bytes);
        let is_stored = self.inner.stored.contains(&id);
        if !is_stored && self.taken.insert(id) {
            if self.import.is_none() {
                self.import = Some(self.inner.git.import()?);
            }
            if let Some(import) = &mut self.import {
                import.blob(&node.bytes);
            }
        }
        let mut known = ManifestEntry::new(&stat, id, at);
        // It may have grown while it was read: then it is read again.
        known.size = size;
        Ok(Read::ManifestEntry(known))
    }
}
