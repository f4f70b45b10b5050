//! Stores what was typed but not yet sent, by session. Each draft has its own file, so that two
//! programs on one folder do not overwrite each other's.

mod attachments;
mod files;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat_core::message::Fid;

use crate::composer::{Pinned, Written};
use files::write;

pub(crate) use files::{prune, read};

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
