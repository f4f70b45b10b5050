//! All paths of a tree in one piece, to be searched.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Folder, Kind};

/// The paths of a tree's files and links, or of its folders, from the project on, in the order of the tree.
#[derive(Debug)]
pub struct Paths {
    bytes: Box<[u8]>,
    ends: Box<[End]>,
}

#[derive(Clone, Copy, Debug)]
struct End {
    /// Where a path ends.
    path: u32,
    /// Bytes of its last part.
    name: u16,
}

impl Paths {
    pub(super) fn of(root: &Folder) -> Self {
        Self::gathered(root, root.files(), |kind| kind != Kind::Folder)
    }

    pub(super) fn of_folders(root: &Folder) -> Self {
        Self::gathered(root, root.folders(), |kind| kind == Kind::Folder)
    }

    fn gathered(root: &Folder, count: usize, wanted: impl Fn(Kind) -> bool + Copy) -> Self {
        let (mut bytes, mut ends) = (Vec::new(), Vec::with_capacity(count));
        gather(root, wanted, &mut Vec::new(), &mut bytes, &mut ends);
        Self { bytes: bytes.into(), ends: ends.into() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The path at a place.
    ///
    /// # Panics
    /// There are not so many.
    pub fn get(&self, place: usize) -> &Path {
        Path::new(OsStr::from_bytes(self.bytes(place).0))
    }

    /// The path at a place, and where its last part begins.
    pub(crate) fn bytes(&self, place: usize) -> (&[u8], usize) {
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before].path) as usize;
        let end = self.ends[place];
        let path = &self.bytes[start..end.path as usize];
        (path, path.len() - usize::from(end.name))
    }

    pub(super) fn memory(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.ends)
    }
}

fn gather(
    folder: &Folder,
    wanted: impl Fn(Kind) -> bool + Copy,
    way: &mut Vec<u8>,
    bytes: &mut Vec<u8>,
    ends: &mut Vec<End>,
) {
    let before = way.len();
    for entry in folder.entries() {
        let name = entry.name.as_bytes();
        if wanted(entry.kind) {
            bytes.extend_from_slice(way);
            bytes.extend_from_slice(name);
            // A name has 255 bytes at most; and a million paths of 4 KiB each are not reached by far.
            ends.push(End { path: bytes.len() as u32, name: name.len() as u16 });
        }
        if let Some(folder) = entry.folder {
            way.extend_from_slice(name);
            way.push(b'/');
            gather(folder, wanted, way, bytes, ends);
            way.truncate(before);
        }
    }
}
