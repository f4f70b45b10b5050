//! Chooses the context window that a request asks for (`num_ctx`): large enough that nothing is cut,
//! and seldom another one, since the server loads the model again for it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::client::json::{count, tokens};
use crate::message::Options;

/// The window of a model that nobody chose one for, in tokens: the server's own of 4,096 holds
/// no long conversation, and it would cut one silently.
pub(super) const USUAL: u32 = 8_192;

/// How far it grows where nobody knows what fits into the server's memory.
const UNKNOWN: u32 = 32_768;

/// Room for the reply where nobody said how long it may be, in tokens.
const REPLY: u64 = 1_024;

/// The bytes of a number in what a model remembers of a token: 16 bits, as is usual.
const NUMBER: u64 = 2;

/// What bounds a model's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    /// The longest that it was made for.
    pub largest: Option<u32>,
    /// What it remembers of a token, in bytes.
    token: Option<u64>,
}

impl Bounds {
    /// From what `/api/show` says (`model_info`).
    pub(super) fn of(info: &Value) -> Self {
        let architecture = info["general.architecture"].as_str().unwrap_or_default();
        let of = |name: &str| &info[format!("{architecture}.{name}")];
        let layers = count(of("block_count"));
        let heads = count(of("attention.head_count_kv"));
        let length = |name: &str| {
            let of_head = || {
                let heads = count(of("attention.head_count")).filter(|heads| *heads > 0)?;
                Some(count(of("embedding_length"))? / heads)
            };
            count(of(name)).or_else(of_head)
        };
        let both = length("attention.key_length").zip(length("attention.value_length"));
        let token = layers.zip(heads).zip(both);
        let token = token.map(|((layers, heads), (key, value))| {
            layers.saturating_mul(heads).saturating_mul(key.saturating_add(value)) * NUMBER
        });
        Self { largest: tokens(of("context_length")), token: token.filter(|bytes| *bytes > 0) }
    }

    /// How far the window may grow by itself: a quarter of the memory is for it, where the server
    /// runs on this machine.
    pub(super) fn ceiling(self, memory: Option<u64>) -> u32 {
        let fits = memory.zip(self.token).map(|(memory, token)| memory / 4 / token);
        let fits = fits.map_or(UNKNOWN, |fits| u32::try_from(fits).unwrap_or(u32::MAX));
        fits.max(USUAL).min(self.largest.unwrap_or(u32::MAX))
    }
}

/// The windows that were asked for.
#[derive(Debug, Default)]
pub(super) struct Windows(Mutex<HashMap<String, u32>>);

impl Windows {
    /// The window of a request: what was chosen, or as large as it was, grown by doubling until the
    /// request and its reply fit.
    pub(super) fn fitting(
        &self,
        model: &str,
        options: &Options,
        bounds: Bounds,
        ceiling: u32,
        tokens: u64,
    ) -> u32 {
        if let Some(chosen) = options.context_window {
            return chosen.min(bounds.largest.unwrap_or(u32::MAX));
        }
        let reply = options.max_tokens.map_or(REPLY, u64::from);
        let needed = tokens.saturating_add(tokens / 20).saturating_add(reply);
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut window = known.get(model).copied().unwrap_or(USUAL);
        drop(known);
        while u64::from(window) < needed && window < ceiling {
            window = window.saturating_mul(2);
        }
        window.min(ceiling)
    }

    /// It was asked for: later requests ask for no smaller one.
    pub(super) fn set_requested(&self, model: &str, window: u32) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(model.to_owned(), window);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn llama() -> Bounds {
        Bounds::of(&json!({
            "general.architecture": "llama",
            "llama.context_length": 131_072,
            "llama.block_count": 32,
            "llama.attention.head_count": 32,
            "llama.attention.head_count_kv": 8,
            "llama.embedding_length": 4_096,
        }))
    }

    #[test]
    fn memory_bounds_how_far_it_grows() {
        assert_eq!(llama(), Bounds { largest: Some(131_072), token: Some(131_072) });
        assert_eq!(llama().ceiling(Some(16 << 30)), 32_768);
        assert_eq!(llama().ceiling(Some(1 << 30)), USUAL);
        assert_eq!(llama().ceiling(Some(1 << 50)), 131_072);
        assert_eq!(llama().ceiling(None), UNKNOWN);
        assert_eq!(Bounds::default().ceiling(Some(16 << 30)), UNKNOWN);
        assert_eq!(Bounds { largest: Some(2_048), token: None }.ceiling(None), 2_048);
    }

    #[test]
    fn it_grows_in_steps_and_never_shrinks() {
        let (windows, options) = (Windows::default(), Options::default());
        let fitting = |tokens| windows.fitting("m", &options, llama(), 32_768, tokens);
        assert_eq!([fitting(0), fitting(6_000), fitting(7_500)], [8_192, 8_192, 16_384]);
        windows.set_requested("m", 16_384);
        assert_eq!([fitting(0), fitting(20_000), fitting(u64::MAX)], [16_384, 32_768, 32_768]);
    }

    #[test]
    fn a_chosen_one_stays() {
        let options = Options { context_window: Some(3_000), ..Options::default() };
        assert_eq!(Windows::default().fitting("m", &options, llama(), 32_768, 90_000), 3_000);
    }

    #[test]
    fn a_reply_that_may_be_long_has_its_room() {
        let options = Options { max_tokens: Some(8_000), ..Options::default() };
        assert_eq!(Windows::default().fitting("m", &options, llama(), 32_768, 1_000), 16_384);
    }
}
