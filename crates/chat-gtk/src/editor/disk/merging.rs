//! Saves a text whose file may have changed on disk: both versions are merged where their changes
//! do not overlap.

use std::sync::Arc;

use chat_core::review::merge_texts;

use super::{DiskState, Format, Loaded, NotSaved, Refusal};

/// How often to try to save a file that changes each time.
const ROUNDS: usize = 5;

/// A version of a text, and what is known about its file.
#[derive(Clone, Debug)]
pub(in super::super) struct Version {
    pub(in super::super) text: Arc<str>,
    /// The format of the file.
    pub(in super::super) format: Format,
    /// The file on disk that the text is based on; none if there is none.
    pub(in super::super) disk_state: Option<DiskState>,
    /// The common base of this text and the text on disk; none if it is unknown.
    pub(in super::super) common: Option<Arc<str>>,
    /// The earlier base, from before the user decided to overwrite the file.
    pub(in super::super) overwrites: Option<Arc<str>>,
}

impl Version {
    /// This text merged with the changes in the file; none if both changed the same lines.
    pub(in super::super) fn merged_with(&self, loaded: Loaded) -> Option<Self> {
        if loaded.partial.is_some() {
            return None;
        }
        let theirs: Arc<str> = loaded.text.into();
        let merge = |ours: &str| merge_texts(self.common.as_deref()?, ours, &theirs);
        let text = match &self.text {
            text if *text == theirs => Arc::clone(text),
            text => merge(text)?.into(),
        };
        // New changes are not part of what the user decided to overwrite.
        let overwrites =
            self.overwrites.as_ref().map(|text| merge(text).map_or(Arc::clone(text), Arc::from));
        let (format, disk_state) = (loaded.format, loaded.disk_state);
        Some(Self { text, format, disk_state, common: Some(theirs), overwrites })
    }
}

/// Saves a text, and merges changes to its file as often as needed; returns the merged text first.
/// If that is impossible, nothing is written and nothing needs to be merged. Blocks.
pub(in super::super) fn save_merged(
    version: &Version,
    mut write: impl FnMut(&Version) -> Result<DiskState, NotSaved>,
    read: impl Fn() -> Result<Loaded, Refusal>,
) -> (Option<Version>, Result<DiskState, NotSaved>) {
    let mut merged = None;
    for _ in 0..ROUNDS {
        let latest = merged.as_ref().unwrap_or(version);
        let result = write(latest);
        if !matches!(result, Err(NotSaved::Changed)) {
            return (merged, result);
        }
        let next = read().ok().and_then(|loaded| latest.merged_with(loaded));
        let Some(next) = next else { return (None, Err(NotSaved::Changed)) };
        merged = Some(next);
    }
    (None, Err(NotSaved::KeepsChanging))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::super::{read, read_if_changed, write};
    use super::*;

    const LINES: &str = "one\ntwo\nthree\nfour\nfive\n";

    /// A file with these lines, and its text with `mine` as the first line.
    fn edited(folder: &tempfile::TempDir, mine: &str) -> (PathBuf, Version) {
        let file = folder.path().join("a.txt");
        fs::write(&file, LINES).unwrap();
        let loaded = read(folder.path(), Path::new("a.txt")).unwrap();
        let version = Version {
            text: LINES.replace("one", mine).into(),
            format: loaded.format,
            disk_state: loaded.disk_state,
            common: Some(loaded.text.into()),
            overwrites: None,
        };
        (file, version)
    }

    /// Saves it; `before` runs each time before it is written.
    fn save(
        folder: &tempfile::TempDir,
        version: &Version,
        mut before: impl FnMut(),
    ) -> (Option<Version>, Result<DiskState, NotSaved>) {
        let (project, path) = (folder.path(), Path::new("a.txt"));
        let write = |version: &Version| {
            before();
            write(project, path, &version.text, version.format, version.disk_state.as_ref())
        };
        save_merged(version, write, || read(project, path))
    }

    #[test]
    fn what_came_to_the_file_is_merged_and_saved_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let (file, version) = edited(&folder, "mine");
        fs::write(&file, LINES.replace("five", "theirs")).unwrap();
        let (merged, disk_state) = save(&folder, &version, || {});
        let both = "mine\ntwo\nthree\nfour\ntheirs\n";
        assert_eq!(fs::read_to_string(&file).unwrap(), both);
        assert_eq!(&*merged.expect("what was merged").text, both);
        let disk_state = disk_state.unwrap();
        assert!(read_if_changed(folder.path(), Path::new("a.txt"), Some(&disk_state)).is_none());
    }

    #[test]
    fn a_file_that_goes_on_changing_is_tried_again_and_given_up_in_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let (file, version) = edited(&folder, "mine");
        let changes = std::cell::Cell::new(0);
        let change = |most: usize| {
            if changes.get() < most {
                changes.set(changes.get() + 1);
                let theirs = format!("{LINES}{}\n", "more ".repeat(changes.get()));
                fs::write(&file, theirs).unwrap();
            }
        };
        let (merged, result) = save(&folder, &version, || change(usize::MAX));
        assert_eq!(result.unwrap_err(), NotSaved::KeepsChanging);
        assert!(merged.is_none() && fs::read_to_string(&file).unwrap().starts_with("one\n"));

        changes.set(0);
        let (file, version) = edited(&folder, "mine");
        let (_, result) = save(&folder, &version, || change(2));
        result.unwrap();
        let both = fs::read_to_string(&file).unwrap();
        assert_eq!(both, format!("{}more more \n", LINES.replace("one", "mine")));
    }

    #[test]
    fn where_both_changed_the_same_lines_neither_is_touched() {
        let folder = tempfile::tempdir().unwrap();
        let (file, version) = edited(&folder, "mine");
        // Even if it could be merged at first.
        let mut theirs = [LINES.replace("five", "theirs"), LINES.replace("one", "theirs")]
            .into_iter()
            .inspect(|text| fs::write(&file, text).unwrap());
        let (merged, result) = save(&folder, &version, || drop(theirs.next()));
        assert_eq!(result.unwrap_err(), NotSaved::Changed);
        assert!(merged.is_none());
        assert_eq!(fs::read_to_string(&file).unwrap(), LINES.replace("one", "theirs"));
    }

    #[test]
    fn what_was_merged_and_cannot_be_written_is_there_to_be_shown() {
        let folder = tempfile::tempdir().unwrap();
        let (file, version) = edited(&folder, "łza");
        let latin = LINES.replace("five", "fünf").chars().map(|one| one as u8).collect::<Vec<_>>();
        fs::write(&file, &latin).unwrap();
        let (merged, result) = save(&folder, &version, || {});
        assert_eq!(result.unwrap_err(), NotSaved::Lacks('ł'));
        assert_eq!(&*merged.expect("what was merged").text, "łza\ntwo\nthree\nfour\nfünf\n");
        assert_eq!(fs::read(&file).unwrap(), latin);
    }

    #[test]
    fn what_is_to_be_overwritten_takes_along_what_came_since() {
        let folder = tempfile::tempdir().unwrap();
        let (file, version) = edited(&folder, "mine");
        // The user saw this, and decided to overwrite what is there now.
        let shown = LINES.replace("two", "2");
        let version = Version { overwrites: Some(shown.as_str().into()), ..version };
        fs::write(&file, LINES.replace("five", "theirs")).unwrap();
        let merged = save(&folder, &version, || {}).0.expect("what was merged");
        assert_eq!(merged.overwrites.as_deref(), Some(&*shown.replace("five", "theirs")));
    }
}
