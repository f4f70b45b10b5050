//! Keeps where the person reads in each chat: while another one is shown, and from one run to the next.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat_core::message::Fid;
use serde::{Deserialize, Serialize};

use super::PAGE;
use crate::atomic_file::write_atomically;
use crate::conversation::ReadingPosition;

const FILE: &str = "reading.json";
/// So many chats are remembered, those that were left last.
const MOST: usize = 500;
/// No more messages than these are opened at once, to show a chat where it was read.
pub(super) const MOST_OPENED: usize = 1_000;

/// The places by chat, those that were left last at the end. A chat that is not here is read at its end.
/// Cheap to clone: a writer on another thread shares it.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadingPositions {
    positions: Arc<Mutex<Vec<StoredPosition>>>,
    /// The folder of the file; none keeps the places for this run only.
    folder: Option<PathBuf>,
    /// Held while the file is written; never on the main thread.
    writing: Arc<Mutex<()>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct StoredPosition {
    chat: Fid,
    #[serde(flatten)]
    position: ReadingPosition,
}

impl ReadingPositions {
    /// Reads what an earlier run kept. Blocks: it is small, and needed before the first chat is shown.
    pub(super) fn load(folder: Option<PathBuf>) -> Self {
        let read = |folder: &Path| {
            let bytes = std::fs::read(folder.join(FILE)).ok()?;
            serde_json::from_slice::<Vec<StoredPosition>>(&bytes).ok()
        };
        let kept = folder.as_deref().and_then(read).unwrap_or_default();
        Self { positions: Arc::new(Mutex::new(kept)), folder, ..Self::default() }
    }

    /// Where the person reads in a chat; none is its end.
    pub(super) fn get(&self, chat: &Fid) -> Option<ReadingPosition> {
        lock(&self.positions).iter().find(|kept| kept.chat == *chat).map(|kept| kept.position)
    }

    /// How many messages of a chat are to be opened: those from where it was read, and some before.
    pub(super) fn messages_to_open(&self, chat: &Fid) -> usize {
        let read = self.get(chat).map_or(0, |position| position.below + PAGE / 2);
        if read > MOST_OPENED { PAGE } else { read.max(PAGE) }
    }

    /// Remembers where the person reads in a chat. Says whether that is new.
    pub(super) fn set(&self, chat: &Fid, position: Option<ReadingPosition>) -> bool {
        let mut positions = lock(&self.positions);
        let before = positions.iter().position(|kept| kept.chat == *chat);
        let before = before.map(|at| positions.remove(at).position);
        if let Some(position) = position {
            positions.push(StoredPosition { chat: chat.clone(), position });
            let surplus = positions.len().saturating_sub(MOST);
            positions.drain(..surplus);
        }
        before != position
    }

    /// Writes what is remembered. Blocks.
    pub(super) fn write(&self) {
        let Some(folder) = &self.folder else { return };
        let _writing = lock(&self.writing);
        let mut positions = lock(&self.positions).clone();
        positions.retain(|kept| !kept.chat.is_temporary());
        let written = serde_json::to_vec(&positions)
            .map_err(std::io::Error::from)
            .and_then(|json| write_atomically(&folder.join(FILE), &json));
        if let Err(error) = written {
            tracing::warn!(%error, "where chats are read could not be written");
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use chat_core::message::MessageId;

    use super::*;

    fn chat(number: usize) -> Fid {
        Fid::new(format!("2026-01-15-14-30-45-{number}"))
    }

    #[test]
    fn places_come_back_and_those_that_were_left_first_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let positions = ReadingPositions::load(Some(folder.path().to_owned()));
        let position = ReadingPosition { message: MessageId::new(), row: 2, hidden: 30, below: 7 };
        for number in 0..=MOST {
            assert!(positions.set(&chat(number), Some(position)));
        }
        assert!(!positions.set(&chat(1), Some(position)));
        assert!(positions.set(&chat(2), None));
        positions.write();
        let read = ReadingPositions::load(Some(folder.path().to_owned()));
        let found = [0, 1, 2, MOST].map(|number| read.get(&chat(number)));
        assert_eq!(found, [None, Some(position), None, Some(position)]);
    }

    #[test]
    fn a_damaged_file_remembers_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "[{\"chat\":").unwrap();
        assert_eq!(ReadingPositions::load(Some(folder.path().to_owned())).get(&chat(0)), None);
    }
}
