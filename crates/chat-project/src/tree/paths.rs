//! Holds all paths of a tree in one piece, to be searched.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::{Folder, Kind};
use crate::letters::Letters;

/// The paths of a tree's files and links, or of its folders, from the project on, in the order of the tree.
#[derive(Debug)]
pub struct Paths {
    bytes: Box<[u8]>,
    ends: Box<[End]>,
    letters: Box<[Letters]>,
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
        let mut gathered = Gathered {
            way: Vec::new(),
            bytes: Vec::new(),
            ends: Vec::with_capacity(count),
            letters: Vec::with_capacity(count),
        };
        gathered.add(root, Letters::default(), wanted);
        let Gathered { bytes, ends, letters, .. } = gathered;
        Self { bytes: bytes.into(), ends: ends.into(), letters: letters.into() }
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

    /// The letters of the path at a place.
    pub(crate) fn letters(&self, place: usize) -> Letters {
        self.letters[place]
    }

    pub(super) fn memory(&self) -> usize {
        self.bytes.len() + size_of_val(&*self.ends) + size_of_val(&*self.letters)
    }
}

/// What was gathered so far.
struct Gathered {
    /// The way to the folder that is looked at.
    way: Vec<u8>,
    bytes: Vec<u8>,
    ends: Vec<End>,
    letters: Vec<Letters>,
}

impl Gathered {
    /// Adds what lies in a folder, the way to which has these letters.
    fn add(&mut self, folder: &Folder, above: Letters, wanted: impl Fn(Kind) -> bool + Copy) {
        let before = self.way.len();
        for entry in folder.entries() {
            let name = entry.name.as_bytes();
            let letters = above.and(Letters::of(name));
            if wanted(entry.kind) {
                self.bytes.extend_from_slice(&self.way);
                self.bytes.extend_from_slice(name);
                // A name has 255 bytes at most; and a million paths of 4 KiB each are not reached by far.
                let (path, name) = (self.bytes.len() as u32, name.len() as u16);
                self.ends.push(End { path, name });
                self.letters.push(letters);
            }
            if let Some(folder) = entry.folder {
                self.way.extend_from_slice(name);
                self.way.push(b'/');
                self.add(folder, letters.and(Letters::of(b"/")), wanted);
                self.way.truncate(before);
            }
        }
    }
}
