//! Remembers which files a session has read, and their state then: a session does not overwrite
//! what it has not seen.

use std::collections::HashMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

/// The files that a session has read or written.
#[derive(Debug, Default)]
pub struct FileVersions(Mutex<HashMap<PathBuf, FileVersion>>);

/// The known state of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileVersion {
    /// It had these contents.
    Contents([u8; 32]),
    /// It was too long to be read whole: its identity, length and time of the last change.
    Stamp {
        /// Device and inode.
        file: (u64, u64),
        /// Bytes.
        length: u64,
        /// Seconds and nanoseconds.
        changed: (i64, i64),
    },
}

impl FileVersion {
    /// The mark of these contents.
    pub fn of(contents: &[u8]) -> Self {
        Self::Contents(hash(contents))
    }

    /// The mark of a long file.
    pub fn stamp(found: &Metadata) -> Self {
        Self::Stamp {
            file: (found.dev(), found.ino()),
            length: found.len(),
            changed: (found.mtime(), found.mtime_nsec()),
        }
    }
}

/// The hash of these contents.
pub fn hash(contents: &[u8]) -> [u8; 32] {
    Sha256::digest(contents).into()
}

impl FileVersions {
    /// Stores the current state of a file that was read or written.
    pub fn put(&self, path: &Path, mark: FileVersion) {
        self.lock().insert(path.to_owned(), mark);
    }

    /// The state of a file when it was last read or written.
    pub fn get(&self, path: &Path) -> Option<FileVersion> {
        self.lock().get(path).cloned()
    }

    /// A file, or a folder with everything in it, was renamed.
    pub fn moved(&self, from: &Path, to: &Path) {
        let mut versions = self.lock();
        let moved: Vec<_> = versions.extract_if(|path, _| path.starts_with(from)).collect();
        for (path, mark) in moved {
            let rest = path.strip_prefix(from).unwrap_or(Path::new(""));
            let path = if rest.as_os_str().is_empty() { to.to_owned() } else { to.join(rest) };
            versions.insert(path, mark);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, FileVersion>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_tells_other_contents_apart_and_goes_with_its_file() {
        let versions = FileVersions::default();
        versions.put(Path::new("/a/b"), FileVersion::of(b"x"));
        assert_eq!(versions.get(Path::new("/a/b")), Some(FileVersion::of(b"x")));
        assert_ne!(versions.get(Path::new("/a/b")), Some(FileVersion::of(b"y")));
        versions.moved(Path::new("/a"), Path::new("/c"));
        assert_eq!(
            (versions.get(Path::new("/a/b")), versions.get(Path::new("/c/b"))),
            (None, Some(FileVersion::of(b"x")))
        );
        versions.moved(Path::new("/c/b"), Path::new("/d"));
        assert_eq!(versions.get(Path::new("/d")), Some(FileVersion::of(b"x")));
    }
}
