//! Remembers the state of a project's files when they were last read, so that unchanged ones need
//! not be read again.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Stat};

use crate::Error;
use crate::node::{Id, Mode, StoredNode};

/// The resolution of file times on file systems with fractions of seconds, in nanoseconds: the
/// kernel's tick, and a margin.
const TICK: i64 = 20_000_000;
/// The resolution on file systems without fractions, in nanoseconds.
const COARSE: i64 = 2_000_000_000;
/// The first bytes of the file.
const MAGIC: &[u8; 8] = b"natstat2";

/// Why a file is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// It is larger than the limit for a file.
    TooLarge,
    /// With it, the project would exceed its limit.
    NoRoom,
    /// It cannot be read.
    Unreadable,
}

/// A file that a checkpoint does not contain, and whose changes a scan does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Relative to the project.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The reason.
    pub why: LeftOutReason,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestEntry {
    pub mode: Mode,
    pub id: Id,
    pub size: u64,
    permissions: u16,
    modified: i64,
    changed: i64,
    inode: u64,
    /// When it was read: nanoseconds since 1970.
    read: i64,
}

/// The whole project at one moment.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    pub files: HashMap<OsString, ManifestEntry>,
    pub left_out: BTreeMap<OsString, LeftOut>,
}

pub fn mode(stat: &Stat) -> Mode {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Symlink => Mode::Link,
        _ if stat.st_mode & 0o100 != 0 => Mode::Executable,
        _ => Mode::File,
    }
}

/// The permissions of a file.
pub fn permissions(stat: &Stat) -> u16 {
    (stat.st_mode & 0o777) as u16
}

fn modified(stat: &Stat) -> i64 {
    stat.st_mtime * 1_000_000_000 + stat.st_mtime_nsec as i64
}

fn changed(stat: &Stat) -> i64 {
    stat.st_ctime * 1_000_000_000 + stat.st_ctime_nsec as i64
}

impl ManifestEntry {
    /// Describes what was read from a file with this metadata; `read` is a time before reading.
    pub fn new(stat: &Stat, id: Id, read: i64) -> Self {
        Self {
            mode: mode(stat),
            id,
            size: stat.st_size as u64,
            permissions: permissions(stat),
            modified: modified(stat),
            changed: changed(stat),
            inode: stat.st_ino,
            read,
        }
    }

    /// The form for the log.
    pub fn stored(&self) -> StoredNode {
        let Self { mode, id, size, permissions, .. } = *self;
        let permissions = (mode != Mode::Link).then_some(permissions);
        StoredNode { mode, id, size, permissions }
    }

    /// Whether it is the same file as another one, possibly at another path: moving its folder
    /// moves a file without touching it.
    pub fn is_same_file(&self, other: &Self) -> bool {
        (self.inode, self.id, self.changed) == (other.inode, other.id, other.changed)
    }

    /// Whether it certainly existed in this state before this time.
    pub fn is_older_than(&self, moment: i64) -> bool {
        self.changed + COARSE < moment
    }

    /// Whether a file certainly still has the content that was read. A file that was written just
    /// before may have been written again within the same clock tick, so it must be read again.
    pub fn is_still(&self, stat: &Stat) -> bool {
        let latest = self.modified.max(self.changed);
        let coarse = self.modified % 1_000_000_000 == 0 && self.changed % 1_000_000_000 == 0;
        self.size == stat.st_size as u64
            && self.modified == modified(stat)
            && self.changed == changed(stat)
            && self.inode == stat.st_ino
            && self.mode == mode(stat)
            && latest + if coarse { COARSE } else { TICK } < self.read
    }
}

impl Manifest {
    /// The stored manifest for this generation of the log; none if there is no complete one. The
    /// tree with the same content is stored with it.
    pub fn load(path: &Path, generation: &str) -> Option<(Self, Option<Id>)> {
        let bytes = std::fs::read(path).ok()?;
        let (body, sum) = bytes.split_at_checked(bytes.len().checked_sub(4)?)?;
        if crc32fast::hash(body).to_le_bytes() != sum {
            return None;
        }
        let mut from = Reader(body.strip_prefix(MAGIC)?);
        let stored = from.name()?;
        let tree = from.id()?;
        let count = from.number()?;
        let mut manifest = Self::default();
        for _ in 0..count {
            let path = from.name()?;
            let mode = match from.number()? {
                0 => Mode::File,
                1 => Mode::Executable,
                _ => Mode::Link,
            };
            let permissions = from.number()? as u16;
            let id = from.id()?;
            let mut next = || from.number();
            let (size, modified, changed) = (next()?, next()? as i64, next()? as i64);
            let (inode, read) = (next()?, next()? as i64);
            let known =
                ManifestEntry { mode, id, size, permissions, modified, changed, inode, read };
            manifest.files.insert(path, known);
        }
        let is_current = stored.as_bytes() == generation.as_bytes();
        let tree = Some(tree).filter(|tree| is_current && tree.as_bytes() != &[0; 32]);
        Some((manifest, tree))
    }

    /// Stores it. If it is incomplete after a crash, nothing is lost.
    pub fn store(&self, path: &Path, generation: &str, tree: Option<Id>) -> Result<(), Error> {
        let mut to = Vec::with_capacity(64 + self.files.len() * 168);
        to.extend(MAGIC);
        put_name(&mut to, OsStr::new(generation));
        to.extend(tree.unwrap_or(Id::from_bytes([0; 32])).as_bytes());
        to.extend((self.files.len() as u64).to_le_bytes());
        for (path, known) in &self.files {
            put_name(&mut to, path);
            let mode = match known.mode {
                Mode::File => 0_u64,
                Mode::Executable => 1,
                Mode::Link => 2,
            };
            to.extend(mode.to_le_bytes());
            to.extend(u64::from(known.permissions).to_le_bytes());
            to.extend(known.id.as_bytes());
            let ManifestEntry { size, modified, changed, inode, read, .. } = known;
            for number in [*size, *modified as u64, *changed as u64, *inode, *read as u64] {
                to.extend(number.to_le_bytes());
            }
        }
        let sum = crc32fast::hash(&to);
        to.extend(sum.to_le_bytes());
        let beside = path.with_extension("new");
        let write = || {
            std::fs::File::create(&beside)?.write_all(&to)?;
            std::fs::rename(&beside, path)
        };
        write().map_err(Error::io(path))
    }
}

fn put_name(to: &mut Vec<u8>, name: &OsStr) {
    to.extend((name.len() as u64).to_le_bytes());
    to.extend(name.as_bytes());
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn name(&mut self) -> Option<OsString> {
        let length = usize::try_from(self.number()?).ok()?;
        Some(OsString::from_vec(self.take(length)?.to_vec()))
    }

    fn id(&mut self) -> Option<Id> {
        Some(Id::from_bytes(self.take(32)?.try_into().ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> ManifestEntry {
        let stat = rustix::fs::stat("/proc/self/exe").unwrap();
        ManifestEntry::new(&stat, Id::of(b"x"), 5)
    }

    #[test]
    fn what_was_stored_comes_back_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("stat");
        let mut manifest = Manifest::default();
        manifest.files.insert(OsString::from_vec(b"a\xff\n".to_vec()), known());
        manifest.store(&path, "one", Some(Id::of(b"tree"))).unwrap();
        let (found, tree) = Manifest::load(&path, "one").unwrap();
        assert_eq!((found.files, tree), (manifest.files, Some(Id::of(b"tree"))));
        assert_eq!(Manifest::load(&path, "two").unwrap().1, None);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(Manifest::load(&path, "one").is_none());
        }
    }

    #[test]
    fn a_file_written_just_before_it_was_read_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "a").unwrap();
        let stat = rustix::fs::stat(&path).unwrap();
        let at = |read| ManifestEntry::new(&stat, Id::of(b"a"), read);
        let written = modified(&stat).max(changed(&stat));
        assert!(!at(written).is_still(&stat));
        assert!(!at(written + TICK).is_still(&stat) && at(written + COARSE + 1).is_still(&stat));
        std::fs::write(&path, "ab").unwrap();
        assert!(!at(written + COARSE + 1).is_still(&rustix::fs::stat(&path).unwrap()));
    }
}
