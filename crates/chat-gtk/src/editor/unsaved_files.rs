//! Stores text that was typed but not saved, in case the program ends for any reason.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::state_files::{StateFiles, path};

/// The folder in the window's state.
const FOLDER: &str = "unsaved";

/// An unsaved text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Draft {
    pub(super) text: String,
    /// The cursor position, in characters.
    pub(super) cursor: i32,
    /// A hash of the text on disk that it is based on; none if there was no file.
    pub(super) base: Option<String>,
    /// The text on disk that it is based on; none if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) common: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredDraft {
    #[serde(with = "path")]
    project: PathBuf,
    #[serde(with = "path")]
    path: PathBuf,
    draft: Draft,
}

/// A file: its project, and its path there.
pub(super) type File = (PathBuf, PathBuf);

/// The state to write. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct UnsavedFiles(StateFiles<StoredDraft>);

impl UnsavedFiles {
    /// Uses a folder of the window's state.
    pub(super) fn new(state: &Path) -> Self {
        Self(StateFiles::new(state.join(FOLDER)))
    }

    /// Sets a file's unsaved text; none removes it.
    pub(super) fn set(&self, (project, path): File, draft: Option<Draft>) {
        let place = project.join(&path);
        self.0.set(place, draft.map(|draft| StoredDraft { project, path, draft }));
    }

    /// Writes all pending changes. Blocks.
    pub(super) fn write(&self) {
        self.0.write();
    }

    /// What is stored for a project's files. Blocks.
    pub(super) fn read(&self, project: &Path) -> Vec<(PathBuf, Draft)> {
        let all = self.0.all().into_iter().filter(|kept| kept.project == project);
        let mut kept: Vec<_> = all.map(|kept| (kept.path, kept.draft)).collect();
        kept.sort_by(|one, other| one.0.cmp(&other.0));
        kept
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::*;

    fn draft(text: &str) -> Draft {
        Draft { text: text.to_owned(), cursor: 2, base: Some("sum".to_owned()), common: None }
    }

    #[test]
    fn what_was_typed_comes_back_in_its_project_alone() {
        let state = tempfile::tempdir().unwrap();
        let unsaved = UnsavedFiles::new(state.path());
        let file = |project: &str| (PathBuf::from(project), PathBuf::from("src/main.rs"));
        unsaved.set(file("/a"), Some(draft("typed\r\n")));
        unsaved.set(file("/b"), Some(draft("else")));
        unsaved.write();
        let again = UnsavedFiles::new(state.path());
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
    fn a_file_whose_name_is_no_text_is_kept_like_any_other() {
        let state = tempfile::tempdir().unwrap();
        let unsaved = UnsavedFiles::new(state.path());
        let odd = PathBuf::from(OsStr::from_bytes(b"src/\xff.rs"));
        unsaved.set(("/a".into(), odd.clone()), Some(draft("typed")));
        unsaved.write();
        assert_eq!(unsaved.read(Path::new("/a")), [(odd, draft("typed"))]);
    }

    #[test]
    fn what_an_earlier_version_kept_is_read() {
        let kept = r#"{"project":"/a","path":"b.rs","draft":{"text":"t","cursor":1,"base":null}}"#;
        let kept: StoredDraft = serde_json::from_str(kept).unwrap();
        assert_eq!((kept.project, kept.path), (PathBuf::from("/a"), PathBuf::from("b.rs")));
    }
}
