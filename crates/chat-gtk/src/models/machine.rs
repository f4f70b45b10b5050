//! Estimates which models this machine can hold, and which model of the catalog suits it best.

use std::fs;
use std::sync::LazyLock;

use chat_core::models::{Offer, catalogue};

/// A model's memory is estimated for a context window of this many tokens, as in the catalog.
pub(crate) const WINDOW: u32 = 8_192;
/// The suggested first model needs no more memory than this, in bytes: without a graphics card, a
/// larger model makes the user wait for each word.
const QUICK: u64 = 4_200_000_000;
/// If the system does not report its memory, the first model is chosen for this much.
const USUAL: u64 = 4_000_000_000;

/// How a model's need compares with the machine's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// A quarter or more is left for the system and other programs.
    Enough,
    /// Less than that is left.
    Little,
    /// It cannot be loaded.
    TooLittle,
}

/// This machine's memory, in bytes; none if the system does not report it.
pub(crate) fn memory() -> Option<u64> {
    static MEMORY: LazyLock<Option<u64>> =
        LazyLock::new(|| total(&fs::read_to_string("/proc/meminfo").ok()?));
    *MEMORY
}

/// Whether a model fits this machine; none if that is unknown.
pub(crate) fn room(need: u64) -> Option<Room> {
    memory().map(|memory| room_in(memory, need))
}

/// The suggested first model: the largest one of the catalog that is fast here and leaves half of
/// the memory to everything else.
pub(crate) fn beginning() -> Option<&'static Offer> {
    beginning_in(catalogue(), memory())
}

fn room_in(memory: u64, need: u64) -> Room {
    if need > memory {
        Room::TooLittle
    } else if need > memory / 4 * 3 {
        Room::Little
    } else {
        Room::Enough
    }
}

fn beginning_in(offers: &[Offer], memory: Option<u64>) -> Option<&Offer> {
    let most = (memory.unwrap_or(USUAL) / 2).min(QUICK);
    let fits = |offer: &&Offer| offer.memory <= most && !offer.name.contains("coder");
    let smallest = offers.iter().min_by_key(|offer| offer.memory);
    offers.iter().filter(fits).max_by_key(|offer| offer.memory).or(smallest)
}

/// The line is `MemTotal:       16384 kB`, in units of 1,024 bytes.
fn total(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let count: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    count.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_of_its_memory_is_read() {
        assert_eq!(total("MemTotal:       16 kB\nMemFree: 1 kB\n"), Some(16_384));
        assert_eq!(total("MemFree: 1 kB\n"), None);
        assert_eq!(total("MemTotal: much\n"), None);
    }

    #[test]
    fn a_quarter_of_the_memory_is_left_to_everything_else() {
        assert_eq!(room_in(8_000, 6_000), Room::Enough);
        assert_eq!(room_in(8_000, 6_001), Room::Little);
        assert_eq!(room_in(8_000, 8_001), Room::TooLittle);
    }

    #[test]
    fn one_begins_with_what_answers_quickly_here() {
        let name = |memory| beginning_in(catalogue(), memory).map(|offer| offer.name.as_str());
        let of_gb = |count: u64| name(Some(count * 1_000_000_000));
        assert_eq!(of_gb(1), Some("smollm2-135m"));
        assert_eq!(of_gb(2), Some("smollm2-360m"));
        assert_eq!(of_gb(4), Some("qwen3.5-2b"));
        assert_eq!(of_gb(8), Some("qwen3.5-4b"));
        assert_eq!(of_gb(64), Some("qwen3-4b"));
        // Every machine gets a suggestion.
        assert_eq!(name(Some(1)), Some("smollm2-135m"));
        assert_eq!(name(None), of_gb(4));
    }
}
