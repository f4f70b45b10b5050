//! Decides which provider data goes back to a model.

use std::collections::{HashSet, VecDeque};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use crate::message::{Origin, ProviderData};

/// So many refused values are remembered: those of some dozens of long chats. One that is forgotten
/// costs another refusal.
const LIMIT: usize = 16_384;

/// A model that gets back what it sent along.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The model.
    pub origin: Origin,
    /// Values that it does not get back.
    pub refused: Arc<RefusedData>,
}

impl Recipient {
    /// The JSON that goes back to it of this.
    pub(crate) fn json<'a>(&self, data: &'a ProviderData) -> Option<&'a str> {
        data.json_for(&self.origin).filter(|_| !self.refused.contains(data))
    }
}

/// Provider data that a server refused for its value, such as an invalid signature: the matter of
/// the chats that it stands in, not of all chats with the model. Only hashes are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RefusedData {
    hashes: HashSet<u64>,
    oldest_first: VecDeque<u64>,
}

impl RefusedData {
    fn contains(&self, data: &ProviderData) -> bool {
        // Most servers refuse nothing.
        !self.hashes.is_empty() && self.hashes.contains(&hash(data))
    }

    /// Remembers a refused value, and forgets the oldest where there are too many.
    pub(crate) fn insert(&mut self, data: &ProviderData) {
        let hash = hash(data);
        if !self.hashes.insert(hash) {
            return;
        }
        self.oldest_first.push_back(hash);
        if self.oldest_first.len() > LIMIT
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.hashes.remove(&oldest);
        }
    }

    /// Forgets a value that the server accepts after all.
    pub(super) fn remove(&mut self, data: &ProviderData) {
        let hash = hash(data);
        if self.hashes.remove(&hash) {
            self.oldest_first.retain(|other| *other != hash);
        }
    }
}

fn hash(data: &ProviderData) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(json: &str) -> ProviderData {
        let origin = Origin {
            protocol: "p".to_owned(),
            connection: "c".to_owned(),
            server: Some("http://s/v1".to_owned()),
            model: "m".to_owned(),
        };
        ProviderData { origin, json: json.to_owned() }
    }

    #[test]
    fn a_refused_value_is_left_out_until_it_is_accepted() {
        let mut refused = RefusedData::default();
        for _ in 0..2 {
            refused.insert(&data("[1]"));
        }
        let to = |refused: &RefusedData| Recipient {
            origin: data("").origin,
            refused: Arc::new(refused.clone()),
        };
        assert_eq!(to(&refused).json(&data("[1]")), None);
        assert_eq!(to(&refused).json(&data("[2]")), Some("[2]"));
        let mut of_another_model = data("[1]");
        of_another_model.origin.model = "n".to_owned();
        assert!(!refused.contains(&of_another_model));
        refused.remove(&data("[1]"));
        assert_eq!(to(&refused).json(&data("[1]")), Some("[1]"));
        assert_eq!(refused, RefusedData::default());
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut refused = RefusedData::default();
        for at in 0..=LIMIT {
            refused.insert(&data(&format!("[{at}]")));
        }
        assert_eq!((refused.hashes.len(), refused.oldest_first.len()), (LIMIT, LIMIT));
        assert!(!refused.contains(&data("[0]")));
        assert!(refused.contains(&data("[1]")) && refused.contains(&data(&format!("[{LIMIT}]"))));
    }
}
