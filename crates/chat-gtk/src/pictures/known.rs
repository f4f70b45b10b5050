//! Remembers decoded pictures, so that rows that come back into sight have them at once.

use std::collections::VecDeque;
use std::rc::Rc;

use super::{Decoded, Source};

/// So many are remembered.
const MOST: usize = 40;
/// All together are no larger, in bytes, except for a single one.
const MOST_BYTES: usize = 96 << 20;

/// What was decoded, by what it was made of; the newest last.
#[derive(Default)]
pub(super) struct Known {
    all: VecDeque<Entry>,
    bytes: usize,
}

/// What came of a picture.
pub(super) struct Entry {
    source: Source,
    /// None where it could not be decoded.
    pub(super) decoded: Option<Rc<Decoded>>,
}

impl Entry {
    fn len(&self) -> usize {
        self.source.len() + self.decoded.as_ref().map_or(0, |decoded| decoded.len())
    }
}

impl Known {
    /// What came of a picture, if that is known.
    pub(super) fn find(&self, source: &Source) -> Option<&Entry> {
        self.all.iter().find(|entry| entry.source == *source)
    }

    /// Takes what came of a picture.
    pub(super) fn add(&mut self, source: Source, decoded: Option<Rc<Decoded>>) {
        // It may have been decoded for two rows at once.
        if self.find(&source).is_some() {
            return;
        }
        let entry = Entry { source, decoded };
        self.bytes += entry.len();
        self.all.push_back(entry);
        while self.all.len() > MOST || (self.bytes > MOST_BYTES && self.all.len() > 1) {
            let Some(gone) = self.all.pop_front() else { break };
            self.bytes -= gone.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn address(text: &str) -> Source {
        Source::Address(text.into())
    }

    fn decoded(bytes: usize) -> Rc<Decoded> {
        let data: Arc<[u8]> = vec![0; bytes].into();
        Rc::new(Decoded { mime: "image/png".to_owned(), data, thumbnail: None })
    }

    #[test]
    fn the_same_picture_is_found_again_and_so_is_that_it_is_damaged() {
        let mut known = Known::default();
        known.add(address("data:one"), Some(decoded(1)));
        known.add(address("data:two"), None);
        assert!(known.find(&address("data:one")).is_some_and(|found| found.decoded.is_some()));
        assert!(known.find(&address("data:two")).is_some_and(|found| found.decoded.is_none()));
        assert!(known.find(&address("data:three")).is_none());
    }

    #[test]
    fn no_more_are_kept_than_there_is_room_for() {
        let mut known = Known::default();
        for at in 0..=MOST {
            known.add(address(&at.to_string()), Some(decoded(1)));
        }
        assert!(known.find(&address("0")).is_none() && known.find(&address("1")).is_some());
        known.add(address("large"), Some(decoded(MOST_BYTES)));
        assert_eq!(known.all.len(), 1);
        known.add(address("small"), Some(decoded(1)));
        assert_eq!(known.all.len(), 1);
        assert!(known.find(&address("large")).is_none());
    }
}
