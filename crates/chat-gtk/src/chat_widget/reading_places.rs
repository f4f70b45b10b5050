//! Keeps where the person reads in each chat: while another one is shown, and from one run to the next.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat_core::message::Fid;
use serde::{Deserialize, Serialize};

use super::PAGE;
use crate::conversation::ReadingPlace;
use crate::drafts;

const FILE: &str = "reading.json";
/// So many chats are remembered, those that were left last.
const MOST: usize = 500;
/// No more messages than these are opened at once, to show a chat where it was read.
const MOST_OPENED: usize = 1_000;

/// The places by chat, those that were left last at the end. A chat that is not here is read at its end.
/// Cheap to clone: a writer on another thread shares it.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadingPlaces {
    places: Arc<Mutex<Vec<Kept>>>,
    /// The folder of the file; none keeps the places for this run only.
    folder: Option<PathBuf>,
    /// Held while the file is written; never on the main thread.
    writing: Arc<Mutex<()>>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Kept {
    chat: Fid,
    #[serde(flatten)]
    place: ReadingPlace,
}

impl ReadingPlaces {
    /// Reads what an earlier run kept. Blocks: it is small, and needed before the first chat is shown.
    pub(super) fn load(folder: Option<PathBuf>) -> Self {
        let read = |folder: &Path| {
            let bytes = std::fs::read(folder.join(FILE)).ok()?;
            serde_json::from_slice::<Vec<Kept>>(&bytes).ok()
        };
        let kept = folder.as_deref().and_then(read).unwrap_or_default();
        Self { places: Arc::new(Mutex::new(kept)), folder, ..Self::default() }
    }

    /// Where the person reads in a chat; none is its end.
    pub(super) fn get(&self, chat: &Fid) -> Option<ReadingPlace> {
        lock(&self.places).iter().find(|kept| kept.chat == *chat).map(|kept| kept.place)
    }

    /// How many messages of a chat are to be opened: those from where it was read, and some before.
    pub(super) fn messages_to_open(&self, chat: &Fid) -> usize {
        let read = self.get(chat).map_or(0, |place| place.below + PAGE / 2);
        if read > MOST_OPENED { PAGE } else { read.max(PAGE) }
    }

    /// Remembers where the person reads in a chat. Says whether that is new.
    pub(super) fn set(&self, chat: &Fid, place: Option<ReadingPlace>) -> bool {
        let mut places = lock(&self.places);
        let before = places.iter().position(|kept| kept.chat == *chat);
        let before = before.map(|at| places.remove(at).place);
        if let Some(place) = place {
            places.push(Kept { chat: chat.clone(), place });
            let surplus = places.len().saturating_sub(MOST);
            places.drain(..surplus);
        }
        before != place
    }

    /// Writes what is remembered. Blocks.
    pub(super) fn write(&self) {
        let Some(folder) = &self.folder else { return };
        let _writing = lock(&self.writing);
        let places = lock(&self.places).clone();
        let written = serde_json::to_vec(&places)
            .map_err(std::io::Error::from)
            .and_then(|json| drafts::write_atomically(&folder.join(FILE), &json));
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
        let places = ReadingPlaces::load(Some(folder.path().to_owned()));
        let place = ReadingPlace { message: MessageId::new(), row: 2, hidden: 30, below: 7 };
        for number in 0..=MOST {
            assert!(places.set(&chat(number), Some(place)));
        }
        assert!(!places.set(&chat(1), Some(place)));
        assert!(places.set(&chat(2), None));
        places.write();
        let read = ReadingPlaces::load(Some(folder.path().to_owned()));
        let found = [0, 1, 2, MOST].map(|number| read.get(&chat(number)));
        assert_eq!(found, [None, Some(place), None, Some(place)]);
    }

    #[test]
    fn a_damaged_file_remembers_nothing() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "[{\"chat\":").unwrap();
        assert_eq!(ReadingPlaces::load(Some(folder.path().to_owned())).get(&chat(0)), None);
    }
}
