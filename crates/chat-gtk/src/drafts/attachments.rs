//! Keeps what was attached to drafts beside them: each attachment is written once, to a file of its own, however
//! often its draft is written, and removed when no draft has it any more.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::files::PINS;
use crate::atomic_file::write_atomically;
use crate::composer::{Pin, Pinned};

/// The folder of the files, in that of the drafts.
const FOLDER: &str = "attachments";
/// The extension of such a file.
const EXTENSION: &str = "json";
/// A file that no draft has is left alone for so long: another program may be about to write the draft.
const YOUNG: Duration = Duration::from_hours(1);

/// A pin whose attachment has a file of its own.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    label: String,
    /// The name of the file.
    kept: String,
}

impl Kept {
    /// What is stored with the draft for a pin that has an attachment, read or not.
    pub(super) fn of(pin: &Pin) -> Option<Self> {
        let key = match &pin.what {
            Pinned::Attached(attached) => attached.key.clone(),
            Pinned::Unread(unread) => unread.key()?,
            _ => return None,
        };
        Some(Self { label: pin.label.clone(), kept: key })
    }

    /// The name of the file.
    pub(super) fn name(&self) -> &str {
        &self.kept
    }

    /// Reads the pin again; none where its file is gone or damaged. Blocks.
    pub(super) fn read(self, folder: &Path) -> Option<Pin> {
        let json = std::fs::read(file(folder, &self.kept)).ok()?;
        let attached = serde_json::from_slice(&json).map(|it| Pinned::Attached(Box::new(it)));
        let what = attached.or_else(|_| serde_json::from_slice(&json)).ok()?;
        Some(Pin { label: self.label, word: None, what })
    }
}

/// Writes what a pin has, unless it is there. Blocks.
pub(super) fn keep(folder: &Path, kept: &Kept, what: &Pinned) -> io::Result<()> {
    let path = file(folder, &kept.kept);
    if path.exists() {
        return Ok(());
    }
    let json = match what {
        Pinned::Attached(attached) => serde_json::to_vec(attached)?,
        what => serde_json::to_vec(what)?,
    };
    let written = write_atomically(&path, &json);
    if written.is_err() {
        // On a full disk, half of a large file would leave no room for anything else.
        let mut partial = path.into_os_string();
        partial.push(".partial");
        let _ = std::fs::remove_file(partial);
    }
    written
}

/// The attachments of the drafts in this file of pins. Blocks.
pub(super) fn kept_in(pins: &Path) -> HashSet<String> {
    let read = std::fs::read(pins).ok();
    let entries =
        read.and_then(|json| serde_json::from_slice::<Vec<serde_json::Value>>(&json).ok());
    let kept = entries.into_iter().flatten().filter_map(|entry| serde_json::from_value(entry).ok());
    kept.map(|Kept { kept, .. }| kept).collect()
}

/// Removes those of these attachments that no draft has. Blocks.
pub(super) fn remove_unused(folder: &Path, mut names: HashSet<String>) {
    if names.is_empty() {
        return;
    }
    for used in used(folder) {
        names.remove(&used);
    }
    for name in names {
        // A leftover file is tried again at the next start.
        let _ = std::fs::remove_file(file(folder, &name));
    }
}

/// Removes all that no draft has, and that nobody is about to need. Blocks.
pub(super) fn prune(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder.join(FOLDER)) else { return };
    let is_old = |entry: &std::fs::DirEntry| {
        let written = entry.metadata().and_then(|about| about.modified());
        written.is_ok_and(|written| written.elapsed().is_ok_and(|age| age > YOUNG))
    };
    let old = entries.filter_map(Result::ok).filter(is_old);
    let names = old.filter_map(|entry| Some(entry.path().file_stem()?.to_str()?.to_owned()));
    remove_unused(folder, names.collect());
}

/// The attachments of all drafts.
fn used(folder: &Path) -> HashSet<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return HashSet::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let pins = paths.filter(|path| path.extension().is_some_and(|kind| kind == PINS));
    pins.flat_map(|path| kept_in(&path)).collect()
}

fn file(folder: &Path, name: &str) -> PathBuf {
    // It comes from a file; a slash in a damaged one must not lead out of the folder.
    folder.join(FOLDER).join(format!("{}.{EXTENSION}", name.replace('/', "_")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::sync::Arc;

    use chat_core::message::Fid;

    use super::super::{Drafts, read};
    use super::*;
    use crate::composer::{Attached, Source, Unread, Written, text_file};

    fn pin(file: &Attached) -> Pin {
        let what = Pinned::Attached(Box::new(file.clone()));
        Pin { label: file.read.name.clone(), word: None, what }
    }

    fn draft(text: &str, files: &[&Attached]) -> Written {
        let pins = files.iter().map(|file| Arc::new(pin(file))).collect();
        Written { pins, ..Written::text(text) }
    }

    fn files(folder: &Path) -> usize {
        std::fs::read_dir(folder.join(FOLDER)).map_or(0, Iterator::count)
    }

    #[test]
    fn an_attachment_is_written_once_and_comes_back_with_its_draft() {
        let folder = tempfile::tempdir().unwrap();
        let file = text_file("notes.txt", "red and ripe");
        let mut drafts = Drafts::default();
        drafts.set(None, &draft("se", &[&file]));
        drafts.unwritten().write(folder.path()).unwrap();
        let path = super::file(folder.path(), &file.key);
        let written = std::fs::metadata(&path).unwrap().ino();
        drafts.set(None, &draft("see", &[&file]));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().ino(), written, "it is the same file");
        let pins = std::fs::read_to_string(folder.path().join("new.json")).unwrap();
        assert!(!pins.contains("red and ripe"), "{pins}");
        assert_eq!(read(folder.path())[&None], draft("see", &[&file]));
    }

    #[test]
    fn it_goes_with_the_last_draft_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let (file, other) = (text_file("a.txt", "a"), text_file("b.txt", "b"));
        let fid = Fid::new("2026-01-15-14-30-45");
        let mut drafts = Drafts::default();
        drafts.set(None, &draft("", &[&file, &other]));
        drafts.set(Some(&fid), &draft("", &[&file]));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(files(folder.path()), 2);
        drafts.set(None, &draft("sent", &[]));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&Some(fid.clone())], draft("", &[&file]));
        assert_eq!(files(folder.path()), 1);
        drafts.set(Some(&fid), &Written::default());
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(files(folder.path()), 0);
    }

    #[test]
    fn what_nobody_is_about_to_need_is_pruned() {
        let folder = tempfile::tempdir().unwrap();
        let (old, young) = (text_file("a.txt", "a"), text_file("b.txt", "b"));
        for pin in [&old, &young].map(pin) {
            keep(folder.path(), &Kept::of(&pin).unwrap(), &pin.what).unwrap();
        }
        let long_ago = std::time::SystemTime::now() - YOUNG * 2;
        let path = super::file(folder.path(), &old.key);
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
        prune(folder.path());
        assert!(!path.exists() && super::file(folder.path(), &young.key).exists());
    }

    #[test]
    fn a_picture_that_was_not_read_yet_comes_back_to_be_read() {
        let folder = tempfile::tempdir().unwrap();
        let source = || Source::Bytes { name: "Pasted.png".to_owned(), data: [9; 1000].into() };
        let unread = |source| Pinned::Unread(Unread { id: 7, source });
        let pin = |what| Arc::new(Pin { label: "Pasted.png".to_owned(), word: None, what });
        let written = |what| Written { pins: vec![pin(what)], ..Written::default() };
        let waits = Source::Clipboard { name: "Pasted.png".to_owned() };
        let mut drafts = Drafts::default();
        drafts.set(None, &written(unread(waits)));
        // The clipboard hands it over while another draft is before the user.
        assert!(drafts.file_came(7, Some(&unread(source()))));
        assert!(!drafts.file_came(8, None));
        drafts.unwritten().write(folder.path()).unwrap();
        let pins = std::fs::read_to_string(folder.path().join("new.json")).unwrap();
        assert!(pins.len() < 500, "its bytes have a file of their own: {pins}");
        let kept = read(folder.path()).remove(&None).unwrap();
        let Pinned::Unread(Unread { source: kept, .. }) = &kept.pins[0].what else {
            panic!("{kept:?}")
        };
        assert_eq!(*kept, source());
        // Once it was read, it is not kept twice; and one that never came is gone.
        drafts.set(None, &draft("", &[&text_file("a.txt", "a")]));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(files(folder.path()), 1);
        drafts.set(None, &written(unread(source())));
        assert!(drafts.file_came(7, None));
        assert_eq!(*drafts.get(None), Written::default());
    }

    #[test]
    fn where_an_attachment_cannot_be_written_the_text_is_and_the_rest_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join(FOLDER);
        std::fs::write(&blocked, "a file in the way").unwrap();
        let kept = draft("a thought", &[&text_file("a.txt", "a")]);
        let mut drafts = Drafts::default();
        drafts.set(None, &kept);
        assert!(drafts.unwritten().write(folder.path()).is_err());
        assert_eq!(read(folder.path())[&None].text, "a thought");
        std::fs::remove_file(&blocked).unwrap();
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&None], kept);
    }
}
