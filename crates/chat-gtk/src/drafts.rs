//! What was typed and not yet sent, by session. Kept in a file each, so that two programs on one
//! folder do not overwrite each other's.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat_core::message::Fid;

/// The name of the new chat's file: no fid looks like it.
const NEW_CHAT: &str = "new";

/// The drafts of all sessions.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    texts: HashMap<Option<Fid>, String>,
    unwritten: Unwritten,
    typed: bool,
}

/// What has to be written. Cheap to clone: writers on other threads share it, so that whichever
/// comes last writes what was typed last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unwritten {
    texts: Arc<Mutex<HashMap<Option<Fid>, String>>>,
    /// Held while files are written; never on the main thread.
    writing: Arc<Mutex<()>>,
}

impl Drafts {
    /// Takes what was stored. What was typed since the start is newer and stays.
    pub(crate) fn absorb(&mut self, stored: HashMap<Option<Fid>, String>) {
        for (fid, text) in stored {
            self.texts.entry(fid).or_insert(text);
        }
    }

    /// The draft of a session; none is the new chat.
    pub(crate) fn get(&self, fid: Option<&Fid>) -> &str {
        self.texts.get(&fid.cloned()).map_or("", String::as_str)
    }

    /// Remembers a draft. Says whether that is new.
    pub(crate) fn set(&mut self, fid: Option<&Fid>, text: &str) -> bool {
        if self.get(fid) == text {
            return false;
        }
        self.typed = true;
        self.texts.insert(fid.cloned(), text.to_owned());
        lock(&self.unwritten.texts).insert(fid.cloned(), text.to_owned());
        true
    }

    /// Whether anything was typed since the start.
    pub(crate) fn were_typed(&self) -> bool {
        self.typed
    }

    /// Takes a text back that was not sent: it comes before what was typed since. One that still is
    /// the draft comes but once.
    pub(crate) fn give_back(&mut self, fid: Option<&Fid>, text: &str) {
        let draft = match self.get(fid) {
            "" => text.to_owned(),
            typed if typed == text => return,
            typed => format!("{text}\n{typed}"),
        };
        self.set(fid, &draft);
    }

    /// What has to be written, to be taken to another thread.
    pub(crate) fn unwritten(&self) -> Unwritten {
        self.unwritten.clone()
    }
}

impl Unwritten {
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.texts).is_empty()
    }

    /// Writes it. Blocks. What could not be written is tried again the next time.
    pub(crate) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let _writing = lock(&self.writing);
        let texts = std::mem::take(&mut *lock(&self.texts));
        write(folder, &texts).inspect_err(|_| {
            let mut newer = lock(&self.texts);
            for (fid, text) in texts {
                newer.entry(fid).or_insert(text);
            }
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads all drafts of a folder. Blocks. What cannot be read is left alone.
pub(crate) fn read(folder: &Path) -> HashMap<Option<Fid>, String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return HashMap::new();
    };
    entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?.strip_suffix(".txt")?.to_owned();
            let text = std::fs::read_to_string(&path).ok()?;
            Some(((name != NEW_CHAT).then(|| Fid::new(name)), text))
        })
        .collect()
}

/// Writes drafts; an empty one removes its file. Blocks.
fn write(folder: &Path, drafts: &HashMap<Option<Fid>, String>) -> std::io::Result<()> {
    for (fid, text) in drafts {
        let path = file(folder, fid.as_ref());
        if text.is_empty() {
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => continue,
            }
        }
        write_atomically(&path, text.as_bytes())?;
    }
    Ok(())
}

/// Removes the drafts of sessions that are gone. Blocks.
pub(crate) fn prune(folder: &Path, exists: impl Fn(&Fid) -> bool) {
    for fid in read(folder).into_keys().flatten() {
        if !exists(&fid) {
            // Left behind it costs a few bytes and is tried again at the next start.
            let _ = std::fs::remove_file(file(folder, Some(&fid)));
        }
    }
}

/// Replaces a file whole: a crash leaves the old one or the new one.
pub(crate) fn write_atomically(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut partial = path.as_os_str().to_owned();
    partial.push(".partial");
    let mut file = std::fs::File::create(&partial)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&partial, path)
}

fn file(folder: &Path, fid: Option<&Fid>) -> PathBuf {
    let name = fid.map_or(NEW_CHAT, Fid::as_str);
    // A fid comes from the database; a slash in a damaged one must not lead out of the folder.
    folder.join(format!("{}.txt", name.replace('/', "_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drafts_come_back_and_empty_ones_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let fid = Fid::new("2026-01-15-14-30-45");
        let mut drafts = Drafts::default();
        assert!(drafts.set(Some(&fid), "half a thought"));
        assert!(drafts.set(None, "another"));
        drafts.unwritten().write(folder.path()).unwrap();

        let mut again = Drafts::default();
        again.absorb(read(folder.path()));
        assert_eq!(again.get(Some(&fid)), "half a thought");
        assert_eq!(again.get(None), "another");

        assert!(again.set(Some(&fid), ""));
        again.unwritten().write(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_was_typed_before_the_drafts_were_read_stays() {
        let mut drafts = Drafts::default();
        drafts.set(None, "typed");
        drafts.absorb(HashMap::from([(None, "stored".to_owned())]));
        assert_eq!(drafts.get(None), "typed");
        assert!(drafts.were_typed());
    }

    #[test]
    fn what_was_only_stored_was_not_typed_now() {
        let mut drafts = Drafts::default();
        drafts.absorb(HashMap::from([(None, "stored".to_owned())]));
        assert!(!drafts.were_typed());
    }

    #[test]
    fn an_unchanged_draft_is_not_written() {
        let mut drafts = Drafts::default();
        assert!(!drafts.set(None, ""));
        assert!(drafts.set(None, "a"));
        assert!(!drafts.unwritten().is_empty());
        let folder = tempfile::tempdir().unwrap();
        drafts.unwritten().write(folder.path()).unwrap();
        assert!(!drafts.set(None, "a"));
        assert!(drafts.unwritten().is_empty());
    }

    #[test]
    fn what_was_not_sent_comes_before_what_was_typed_since_and_but_once() {
        let mut drafts = Drafts::default();
        drafts.give_back(None, "sent");
        drafts.give_back(None, "sent");
        assert_eq!(drafts.get(None), "sent");
        drafts.set(None, "typed");
        drafts.give_back(None, "sent");
        assert_eq!(drafts.get(None), "sent\ntyped");
    }

    #[test]
    fn a_writer_that_comes_late_writes_what_was_typed_last() {
        let folder = tempfile::tempdir().unwrap();
        let mut drafts = Drafts::default();
        drafts.set(None, "first");
        let (early, late) = (drafts.unwritten(), drafts.unwritten());
        drafts.set(None, "second");
        late.write(folder.path()).unwrap();
        early.write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&None], "second");
    }

    #[test]
    fn what_could_not_be_written_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("drafts");
        std::fs::write(&blocked, "a file in the way").unwrap();
        let mut drafts = Drafts::default();
        drafts.set(None, "kept");
        assert!(drafts.unwritten().write(&blocked).is_err());
        std::fs::remove_file(&blocked).unwrap();
        drafts.unwritten().write(&blocked).unwrap();
        assert_eq!(read(&blocked)[&None], "kept");
    }

    #[test]
    fn drafts_of_sessions_that_are_gone_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let stays = Fid::new("stays");
        let texts = HashMap::from([
            (Some(stays.clone()), "a".to_owned()),
            (Some(Fid::new("gone")), "b".to_owned()),
            (None, "c".to_owned()),
        ]);
        write(folder.path(), &texts).unwrap();
        prune(folder.path(), |fid| *fid == stays);
        let left = read(folder.path());
        assert_eq!(left.len(), 2);
        assert_eq!(left[&Some(stays)], "a");
    }
}
