//! What was typed and not saved, kept for the case that the program ends: by any way.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gtk::glib;
use serde::{Deserialize, Serialize};

use crate::drafts::write_atomically;

/// The folder, among those of the window's state.
const FOLDER: &str = "unsaved";

/// A text that is not on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Draft {
    pub(super) text: String,
    /// Where the cursor is, in characters.
    pub(super) cursor: i32,
    /// What tells the text on disk that it comes from; none where there was none.
    pub(super) base: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Kept {
    project: PathBuf,
    path: PathBuf,
    draft: Draft,
}

/// A file, by its project and its path there.
pub(super) type File = (PathBuf, PathBuf);

/// What has to be written. Cheap to clone: whichever thread comes last writes what is newest.
#[derive(Clone, Debug)]
pub(crate) struct Unsaved {
    folder: PathBuf,
    waiting: Arc<Mutex<HashMap<File, Option<Draft>>>>,
    /// Held while files are written; never on the main thread.
    writing: Arc<Mutex<()>>,
}

impl Unsaved {
    /// Kept in a folder of the window's state.
    pub(super) fn new(state: &Path) -> Self {
        Self { folder: state.join(FOLDER), waiting: Arc::default(), writing: Arc::default() }
    }

    /// A file has this that is not on disk; or nothing any more.
    pub(super) fn set(&self, file: File, draft: Option<Draft>) {
        lock(&self.waiting).insert(file, draft);
    }

    /// Writes what has to be written. Blocks. What could not be written is tried again the next time.
    pub(crate) fn write(&self) {
        let _writing = lock(&self.writing);
        let waiting = std::mem::take(&mut *lock(&self.waiting));
        for (file, draft) in waiting {
            if let Err(error) = self.write_one(&file, draft.as_ref()) {
                tracing::warn!(%error, "what is not saved could not be kept");
                lock(&self.waiting).entry(file).or_insert(draft);
            }
        }
    }

    fn write_one(&self, file: &File, draft: Option<&Draft>) -> std::io::Result<()> {
        let place = self.place(file);
        let Some(draft) = draft else {
            return match std::fs::remove_file(&place) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        };
        let (project, path) = file.clone();
        let kept = Kept { project, path, draft: draft.clone() };
        let json = serde_json::to_vec(&kept).map_err(std::io::Error::from)?;
        write_atomically(&place, &json)
    }

    /// What was kept of a project's files. Blocks. What cannot be read is left alone.
    pub(super) fn read(&self, project: &Path) -> Vec<(PathBuf, Draft)> {
        let _writing = lock(&self.writing);
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return Vec::new() };
        let mut kept: Vec<_> = entries
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let is_ours = path.extension().is_some_and(|end| end == "json");
                let bytes = is_ours.then(|| std::fs::read(&path).ok()).flatten()?;
                serde_json::from_slice::<Kept>(&bytes).ok()
            })
            .filter(|kept| kept.project == project)
            .map(|kept| (kept.path, kept.draft))
            .collect();
        kept.sort_by(|one, other| one.0.cmp(&other.0));
        kept
    }

    /// A name that any path has.
    fn place(&self, (project, path): &File) -> PathBuf {
        let name = project.join(path);
        let bytes = name.as_os_str().as_encoded_bytes();
        let sum = glib::compute_checksum_for_data(glib::ChecksumType::Sha256, bytes);
        self.folder.join(format!("{}.json", sum.unwrap_or_default()))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(text: &str) -> Draft {
        Draft { text: text.to_owned(), cursor: 2, base: Some("sum".to_owned()) }
    }

    #[test]
    fn what_was_typed_comes_back_in_its_project_alone() {
        let state = tempfile::tempdir().unwrap();
        let unsaved = Unsaved::new(state.path());
        let file = |project: &str| (PathBuf::from(project), PathBuf::from("src/main.rs"));
        unsaved.set(file("/a"), Some(draft("typed\r\n")));
        unsaved.set(file("/b"), Some(draft("else")));
        unsaved.write();
        let again = Unsaved::new(state.path());
        assert_eq!(
            again.read(Path::new("/a")),
            [(PathBuf::from("src/main.rs"), draft("typed\r\n"))]
        );
        again.set(file("/a"), None);
        again.write();
        assert_eq!(again.read(Path::new("/a")), []);
        assert_eq!(again.read(Path::new("/b")).len(), 1);
    }

    #[test]
    fn what_could_not_be_written_is_tried_again_unless_it_is_newer() {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join(FOLDER);
        std::fs::write(&folder, "a file in the way").unwrap();
        let unsaved = Unsaved::new(state.path());
        let file = (PathBuf::from("/a"), PathBuf::from("b"));
        unsaved.set(file.clone(), Some(draft("one")));
        unsaved.write();
        unsaved.set(file, Some(draft("two")));
        std::fs::remove_file(&folder).unwrap();
        unsaved.write();
        assert_eq!(unsaved.read(Path::new("/a")), [(PathBuf::from("b"), draft("two"))]);
    }
}
