//! Stores what was typed but not yet sent, by session. Each draft has its own file, so that two
//! programs on one folder do not overwrite each other's.

mod attachments;

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat_core::message::Fid;
use serde::Deserialize;

use crate::composer::{Pin, Pinned, Written};
use attachments::Kept;

/// The name of the new chat's file; no fid looks like it.
const NEW_CHAT: &str = "new";

/// The extension of a draft's text file.
const TEXT: &str = "txt";
/// The extension of the file with a draft's pins.
const PINS: &str = "json";

/// The drafts of all sessions.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    written: HashMap<Option<Fid>, Written>,
    /// What was typed in sent messages and not sent again, by session.
    edits: HashMap<Option<Fid>, String>,
    unwritten: Unwritten,
    typed: bool,
    /// Whether they could not be written the last time.
    is_failing: bool,
    nothing: Written,
}

/// The drafts that have to be written. Cheap to clone: writers on other threads share it, so that
/// the last one writes what was typed last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unwritten {
    drafts: Arc<Mutex<HashMap<Option<Fid>, Written>>>,
    /// Held while files are written; never on the main thread.
    writing: Arc<Mutex<()>>,
}

impl Drafts {
    /// Adds the stored drafts. They go before what was typed since the start.
    pub(crate) fn absorb(&mut self, stored: HashMap<Option<Fid>, Written>) {
        for (fid, draft) in stored {
            // What was typed in a message is waiting to be written, and knew nothing of the draft.
            let mut is_newer = lock(&self.unwritten.drafts).contains_key(&fid);
            let draft = match self.written.remove(&fid) {
                Some(typed) => {
                    is_newer = true;
                    draft.followed_by(typed, "\n")
                }
                None => draft,
            };
            self.written.insert(fid.clone(), draft);
            if is_newer {
                self.write_later(fid);
            }
        }
    }

    /// The draft of a session; none means the new chat.
    pub(crate) fn get(&self, fid: Option<&Fid>) -> &Written {
        self.written.get(&fid.cloned()).unwrap_or(&self.nothing)
    }

    /// Remembers a draft. Returns whether it has changed.
    pub(crate) fn set(&mut self, fid: Option<&Fid>, draft: &Written) -> bool {
        if self.get(fid) == draft {
            return false;
        }
        self.typed = true;
        self.written.insert(fid.cloned(), draft.clone());
        self.write_later(fid.cloned());
        true
    }

    /// Remembers what was typed in sent messages and not sent again. A program that does not end in order finds it before
    /// the draft of its session. Returns whether it has changed.
    pub(crate) fn set_edits(&mut self, edits: HashMap<Option<Fid>, String>) -> bool {
        let before = std::mem::replace(&mut self.edits, edits);
        let mut changed: HashSet<_> = before.keys().chain(self.edits.keys()).cloned().collect();
        changed.retain(|fid| before.get(fid) != self.edits.get(fid));
        let has_changed = !changed.is_empty();
        for fid in changed {
            self.write_later(fid);
        }
        has_changed
    }

    /// The draft of a session has to be written, with what else is kept for it.
    fn write_later(&self, fid: Option<Fid>) {
        // A temporary chat leaves nothing on the disk.
        if fid.as_ref().is_some_and(Fid::is_temporary) {
            return;
        }
        let draft = self.get(fid.as_ref()).clone();
        let kept = match self.edits.get(&fid) {
            Some(edit) => Written::text(edit).followed_by(draft, "\n"),
            None => draft,
        };
        lock(&self.unwritten.drafts).insert(fid, kept);
    }

    /// What was to be read for a draft has come; none if it could not be had. Whether a draft waited for it.
    pub(crate) fn file_came(&mut self, id: u64, what: Option<&Pinned>) -> bool {
        let changed = self.written.iter().find_map(|(fid, draft)| {
            let mut draft = draft.clone();
            draft.file_came(id, what.cloned()).then(|| (fid.clone(), draft))
        });
        changed.is_some_and(|(fid, draft)| self.set(fid.as_ref(), &draft))
    }

    /// Whether anything was typed since the start.
    pub(crate) fn were_typed(&self) -> bool {
        self.typed
    }

    /// Restores text that was not sent: it goes before what was typed since. Text that is still in
    /// the draft is not repeated.
    pub(crate) fn give_back(&mut self, fid: Option<&Fid>, unsent: &Written) {
        let typed = self.get(fid);
        if typed != unsent {
            let draft = unsent.clone().followed_by(typed.clone(), "\n");
            self.set(fid, &draft);
        }
    }

    /// Takes whether they could be written. Gives the error the first time since they could.
    pub(crate) fn new_failure(&mut self, written: std::io::Result<()>) -> Option<std::io::Error> {
        let was_failing = std::mem::replace(&mut self.is_failing, written.is_err());
        written.err().filter(|_| !was_failing)
    }

    /// The drafts that have to be written, to be moved to another thread.
    pub(crate) fn unwritten(&self) -> Unwritten {
        self.unwritten.clone()
    }
}

impl Unwritten {
    pub(crate) fn is_empty(&self) -> bool {
        lock(&self.drafts).is_empty()
    }

    /// Writes them. Blocks. What could not be written is tried again the next time.
    pub(crate) fn write(&self, folder: &Path) -> std::io::Result<()> {
        let _writing = lock(&self.writing);
        let drafts = std::mem::take(&mut *lock(&self.drafts));
        let mut result = Ok(());
        for (fid, draft) in drafts {
            // One that cannot be written, perhaps since it is large, is not in the way of the others.
            if let Err(error) = write(folder, fid.as_ref(), &draft) {
                result = Err(error);
                lock(&self.drafts).entry(fid).or_insert(draft);
            }
        }
        result
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is stored in addition to a draft's text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Pin(Pin),
    /// A file that was attached.
    Kept(Kept),
    /// An `@` word that mentions nothing.
    Plain {
        plain: String,
    },
}

/// Reads all drafts of a folder. Blocks. Unreadable files are left alone.
pub(crate) fn read(folder: &Path) -> HashMap<Option<Fid>, Written> {
    let mut drafts: HashMap<_, Written> = HashMap::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return drafts };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let name = path.file_stem().and_then(|name| name.to_str());
        let fid = name.map(|name| (name != NEW_CHAT).then(|| Fid::new(name)));
        let kind = path.extension().and_then(|kind| kind.to_str());
        let (Some(fid), Some(kind)) = (fid, kind) else { continue };
        if kind == TEXT
            && let Ok(text) = std::fs::read_to_string(&path)
        {
            drafts.entry(fid).or_default().text = text;
        } else if kind == PINS
            && let Ok(json) = std::fs::read(&path)
            && let Ok(pins) = serde_json::from_slice::<Vec<serde_json::Value>>(&json)
        {
            // A later version may have stored entries that this one does not know.
            let draft = drafts.entry(fid).or_default();
            for entry in pins.into_iter().filter_map(|pin| serde_json::from_value(pin).ok()) {
                match entry {
                    Entry::Pin(pin) => draft.pins.push(Arc::new(pin)),
                    Entry::Kept(kept) => draft.pins.extend(kept.read(folder).map(Arc::new)),
                    Entry::Plain { plain } => draft.plain.extend([plain]),
                }
            }
        }
    }
    drafts
}

/// Writes a draft; an empty one removes its files. Of one that cannot be written as a whole, the text still is.
/// Blocks.
fn write(folder: &Path, fid: Option<&Fid>, draft: &Written) -> std::io::Result<()> {
    let pins = write_pins(folder, fid, draft);
    keep(&file(folder, fid, TEXT), draft.text.as_bytes()).and(pins)
}

fn write_pins(folder: &Path, fid: Option<&Fid>, draft: &Written) -> std::io::Result<()> {
    let path = file(folder, fid, PINS);
    let mut unused = attachments::kept_in(&path);
    let mut entries = Vec::new();
    for pin in &draft.pins {
        // A pin that cannot be serialized, because its path is not valid text, must not prevent the
        // others.
        let entry = match Kept::of(pin) {
            Some(kept) => {
                attachments::keep(folder, &kept, &pin.what)?;
                unused.remove(kept.name());
                serde_json::to_value(kept)
            }
            None => serde_json::to_value(&**pin),
        };
        entries.extend(entry.ok());
    }
    let plain = draft.plain.iter().filter(|word| draft.text.contains(word));
    entries.extend(plain.map(|word| serde_json::json!({ "plain": word })));
    let pins = if entries.is_empty() { Vec::new() } else { serde_json::to_vec(&entries)? };
    keep(&path, &pins)?;
    attachments::remove_unused(folder, unused);
    Ok(())
}

/// Writes a file, or removes it if there is nothing to write.
fn keep(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if !bytes.is_empty() {
        return write_atomically(path, bytes);
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The sessions that have a draft. Blocks.
fn fids(folder: &Path) -> HashSet<Fid> {
    let Ok(entries) = std::fs::read_dir(folder) else { return HashSet::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let drafts = paths.filter(|path| path.extension().is_some_and(|it| it == TEXT || it == PINS));
    let names = drafts.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    names.filter(|name| name != NEW_CHAT).map(Fid::new).collect()
}

/// Removes the drafts of deleted sessions. Blocks.
pub(crate) fn prune(folder: &Path, exists: impl Fn(&Fid) -> bool) {
    for fid in fids(folder) {
        if !exists(&fid) {
            // A leftover file costs a few bytes, and is tried again at the next start.
            for kind in [TEXT, PINS] {
                let _ = std::fs::remove_file(file(folder, Some(&fid), kind));
            }
        }
    }
    attachments::prune(folder);
}

/// Replaces a file as a whole: a crash leaves the old or the new one.
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

fn file(folder: &Path, fid: Option<&Fid>, kind: &str) -> PathBuf {
    let name = fid.map_or(NEW_CHAT, Fid::as_str);
    // A fid comes from the database; a slash in a damaged one must not lead out of the folder.
    folder.join(format!("{}.{kind}", name.replace('/', "_")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::composer::PlainWords;

    fn text(text: &str) -> Written {
        Written::text(text)
    }

    #[test]
    fn drafts_come_back_and_empty_ones_leave_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let fid = Fid::new("2026-01-15-14-30-45");
        let mut drafts = Drafts::default();
        assert!(drafts.set(Some(&fid), &text("half a thought")));
        assert!(drafts.set(None, &text("another")));
        drafts.unwritten().write(folder.path()).unwrap();

        let mut again = Drafts::default();
        again.absorb(read(folder.path()));
        assert_eq!(*again.get(Some(&fid)), text("half a thought"));
        assert_eq!(*again.get(None), text("another"));

        assert!(again.set(Some(&fid), &text("")));
        again.unwritten().write(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_draft_of_a_temporary_chat_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let fid = Fid::new("temporary-2026-01-15-14-30-45");
        let mut drafts = Drafts::default();
        assert!(drafts.set(Some(&fid), &text("a secret")));
        drafts.give_back(Some(&fid), &text("another"));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(*drafts.get(Some(&fid)), text("another\na secret"));
    }

    #[test]
    fn what_is_typed_in_a_message_is_written_until_it_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let fid = Some(Fid::new("2026-01-15-14-30-45"));
        let mut drafts = Drafts::default();
        drafts.set(fid.as_ref(), &text("draft"));
        let edits = || HashMap::from([(fid.clone(), "edited".to_owned())]);
        assert!(drafts.set_edits(edits()) && !drafts.set_edits(edits()));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&fid], text("edited\ndraft"));
        assert_eq!(*drafts.get(fid.as_ref()), text("draft"), "the composer has only its own");
        drafts.set(fid.as_ref(), &text("a draft"));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&fid], text("edited\na draft"));
        assert!(drafts.set_edits(HashMap::new()));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&fid], text("a draft"));
    }

    #[test]
    fn what_is_typed_in_a_message_takes_no_stored_draft_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let fid = Some(Fid::new("2026-01-15-14-30-45"));
        let mut drafts = Drafts::default();
        drafts.set_edits(HashMap::from([(fid.clone(), "edited".to_owned())]));
        drafts.absorb(HashMap::from([(fid.clone(), text("stored"))]));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&fid], text("edited\nstored"));
    }

    #[test]
    fn what_is_pinned_to_a_draft_comes_back_with_it_and_goes_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let pin = Pin { label: "Pasted".into(), word: None, what: Pinned::Text("a log".into()) };
        let draft = Written { pins: vec![Arc::new(pin)], ..Written::default() };
        let mut drafts = Drafts::default();
        assert!(drafts.set(None, &draft));
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&None], draft);
        drafts.set(None, &Written::default());
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn words_that_point_at_nothing_still_do_so_in_a_draft_that_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let pasted = "use @types/node";
        let draft = Written { plain: PlainWords::of(pasted), ..text(pasted) };
        let mut drafts = Drafts::default();
        drafts.set(None, &draft);
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&None], draft);
    }

    #[test]
    fn what_cannot_be_kept_holds_nothing_else_up() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let path = Path::new(std::ffi::OsStr::from_bytes(b"\xff.rs")).to_owned();
        let mention = chat_core::message::Mention::Folder { path };
        let pin = |what| Arc::new(Pin { label: "a".into(), word: None, what });
        let log = pin(Pinned::Text("a log".into()));
        let pins = vec![pin(Pinned::Mention(mention)), Arc::clone(&log)];
        let mut drafts = Drafts::default();
        drafts.set(None, &Written { pins, ..text("see") });
        drafts.unwritten().write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&None], Written { pins: vec![log], ..text("see") });
    }

    #[test]
    fn a_later_version_s_pins_take_no_others_with_them() {
        let folder = tempfile::tempdir().unwrap();
        let known = r#"{"label":"a","word":null,"what":{"Text":"a log"}}"#;
        let json = format!(r#"[{{"label":"b","word":null,"what":{{"Sound":7}}}},{known}]"#);
        std::fs::write(folder.path().join("new.json"), json).unwrap();
        let pin = Pin { label: "a".into(), word: None, what: Pinned::Text("a log".into()) };
        assert_eq!(read(folder.path())[&None].pins, [Arc::new(pin)]);
    }

    #[test]
    fn what_was_stored_comes_before_what_was_typed_meanwhile() {
        let mut drafts = Drafts::default();
        drafts.set(None, &text("typed"));
        drafts.absorb(HashMap::from([(None, text("stored"))]));
        assert_eq!(*drafts.get(None), text("stored\ntyped"));
        assert!(drafts.were_typed());
    }

    #[test]
    fn what_was_only_stored_was_not_typed_now() {
        let mut drafts = Drafts::default();
        drafts.absorb(HashMap::from([(None, text("stored"))]));
        assert!(!drafts.were_typed());
    }

    #[test]
    fn an_unchanged_draft_is_not_written() {
        let mut drafts = Drafts::default();
        assert!(!drafts.set(None, &text("")));
        assert!(drafts.set(None, &text("a")));
        assert!(!drafts.unwritten().is_empty());
        let folder = tempfile::tempdir().unwrap();
        drafts.unwritten().write(folder.path()).unwrap();
        assert!(!drafts.set(None, &text("a")));
        assert!(drafts.unwritten().is_empty());
    }

    #[test]
    fn what_was_not_sent_comes_before_what_was_typed_since_and_but_once() {
        let mut drafts = Drafts::default();
        drafts.give_back(None, &text("sent"));
        drafts.give_back(None, &text("sent"));
        assert_eq!(*drafts.get(None), text("sent"));
        drafts.set(None, &text("typed"));
        drafts.give_back(None, &text("sent"));
        assert_eq!(*drafts.get(None), text("sent\ntyped"));
    }

    #[test]
    fn a_writer_that_comes_late_writes_what_was_typed_last() {
        let folder = tempfile::tempdir().unwrap();
        let mut drafts = Drafts::default();
        drafts.set(None, &text("first"));
        let (early, late) = (drafts.unwritten(), drafts.unwritten());
        drafts.set(None, &text("second"));
        late.write(folder.path()).unwrap();
        early.write(folder.path()).unwrap();
        assert_eq!(read(folder.path())[&None], text("second"));
    }

    #[test]
    fn what_could_not_be_written_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("drafts");
        std::fs::write(&blocked, "a file in the way").unwrap();
        let mut drafts = Drafts::default();
        drafts.set(None, &text("kept"));
        assert!(drafts.unwritten().write(&blocked).is_err());
        std::fs::remove_file(&blocked).unwrap();
        drafts.unwritten().write(&blocked).unwrap();
        assert_eq!(read(&blocked)[&None], text("kept"));
    }

    #[test]
    fn that_they_cannot_be_written_is_told_once() {
        let mut drafts = Drafts::default();
        let full = || Err(std::io::ErrorKind::StorageFull.into());
        assert!(drafts.new_failure(full()).is_some());
        assert!(drafts.new_failure(full()).is_none());
        assert!(drafts.new_failure(Ok(())).is_none());
        assert!(drafts.new_failure(full()).is_some());
    }

    #[test]
    fn drafts_of_sessions_that_are_gone_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let stays = Fid::new("stays");
        for (fid, draft) in [(Some("stays"), "a"), (Some("gone"), "b"), (None, "c")] {
            write(folder.path(), fid.map(Fid::new).as_ref(), &text(draft)).unwrap();
        }
        prune(folder.path(), |fid| *fid == stays);
        let left = read(folder.path());
        assert_eq!(left.len(), 2);
        assert_eq!(left[&Some(stays)], text("a"));
    }
}
