//! Stores the editor's small state files, one for each file or folder on disk that it remembers
//! something about.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gtk::glib;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::atomic_file::write_atomically;

/// What is stored by path. Cheap to clone: whichever thread writes last writes the newest state.
#[derive(Debug)]
pub(super) struct StateFiles<T> {
    folder: PathBuf,
    /// The values to write; none if the file is to be removed.
    waiting: Arc<Mutex<HashMap<PathBuf, Option<T>>>>,
    /// Held while files are written; never on the main thread.
    writing: Arc<Mutex<()>>,
    kind: PhantomData<T>,
}

impl<T> Clone for StateFiles<T> {
    fn clone(&self) -> Self {
        Self {
            folder: self.folder.clone(),
            waiting: Arc::clone(&self.waiting),
            writing: Arc::clone(&self.writing),
            kind: PhantomData,
        }
    }
}

impl<T: Serialize + DeserializeOwned> StateFiles<T> {
    /// Uses this folder.
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, waiting: Arc::default(), writing: Arc::default(), kind: PhantomData }
    }

    /// Sets what is stored for a path; none removes it.
    pub(super) fn set(&self, of: PathBuf, it: Option<T>) {
        lock(&self.waiting).insert(of, it);
    }

    /// Writes all pending changes. Blocks. What could not be written is tried again the next time.
    pub(super) fn write(&self) {
        let _writing = lock(&self.writing);
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for (of, it) in waiting {
            if let Err(error) = self.write_one(&of, it.as_ref()) {
                tracing::warn!(%error, folder = %self.folder.display(), "something could not be kept");
                lock(&self.waiting).entry(of).or_insert(it);
            }
        }
    }

    fn write_one(&self, of: &Path, it: Option<&T>) -> std::io::Result<()> {
        let place = self.file_path(of);
        let Some(it) = it else {
            return match std::fs::remove_file(&place) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        };
        write_atomically(&place, &serde_json::to_vec(it).map_err(std::io::Error::from)?)
    }

    /// What is stored for a path. Blocks. Unreadable files are left alone.
    pub(super) fn read(&self, of: &Path) -> Option<T> {
        let _writing = lock(&self.writing);
        serde_json::from_slice(&std::fs::read(self.file_path(of)).ok()?).ok()
    }

    /// Everything that is stored. Blocks. Unreadable files are left alone.
    pub(super) fn all(&self) -> Vec<T> {
        let _writing = lock(&self.writing);
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let read = |entry: std::io::Result<std::fs::DirEntry>| {
            let path = entry.ok()?.path();
            let is_ours = path.extension().is_some_and(|end| end == "json");
            let bytes = is_ours.then(|| std::fs::read(&path).ok()).flatten()?;
            serde_json::from_slice(&bytes).ok()
        };
        entries.filter_map(read).collect()
    }

    /// A file name that works for any path.
    fn file_path(&self, of: &Path) -> PathBuf {
        let bytes = of.as_os_str().as_encoded_bytes();
        let sum = glib::compute_checksum_for_data(glib::ChecksumType::Sha256, bytes);
        self.folder.join(format!("{}.json", sum.unwrap_or_default()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serializes paths as text, or as bytes if they are not valid text, so that nothing about such a
/// file is lost.
pub(super) mod path {
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    use std::path::{Path, PathBuf};

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Deserialize, Serialize)]
    #[serde(untagged)]
    enum Stored {
        Text(String),
        Bytes(Vec<u8>),
    }

    pub(in super::super) fn serialize<S: Serializer>(
        path: &Path,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let stored = match path.to_str() {
            Some(text) => Stored::Text(text.to_owned()),
            None => Stored::Bytes(path.as_os_str().as_bytes().to_vec()),
        };
        stored.serialize(serializer)
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<PathBuf, D::Error> {
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Text(text) => PathBuf::from(text),
            Stored::Bytes(bytes) => PathBuf::from(OsString::from_vec(bytes)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_comes_back_by_its_place_until_it_is_taken_away() {
        let state = tempfile::tempdir().unwrap();
        let kept = StateFiles::new(state.path().join("kept"));
        kept.set("/a".into(), Some(1));
        kept.set("/b".into(), Some(2));
        kept.write();
        let again = StateFiles::<i32>::new(state.path().join("kept"));
        assert_eq!((again.read(Path::new("/a")), again.read(Path::new("/c"))), (Some(1), None));
        again.set("/a".into(), None);
        again.write();
        assert_eq!(again.all(), [2]);
    }

    #[test]
    fn what_could_not_be_written_is_tried_again_unless_it_is_newer() {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("kept");
        std::fs::write(&folder, "a file in the way").unwrap();
        let kept = StateFiles::new(folder.clone());
        kept.set("/a".into(), Some(1));
        kept.set("/b".into(), Some(5));
        kept.write();
        kept.set("/a".into(), Some(2));
        std::fs::remove_file(&folder).unwrap();
        kept.write();
        assert_eq!((kept.read(Path::new("/a")), kept.read(Path::new("/b"))), (Some(2), Some(5)));
    }
}
