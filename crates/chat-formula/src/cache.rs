//! Remembers the formulas that were used last: a view asks for them again each time it is created.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use crate::{Formula, FormulaError};

/// How many formulas are remembered.
const MOST: usize = 400;

type Known = Result<Arc<Formula>, FormulaError>;

#[derive(Default)]
struct Cache {
    /// By source, and whether it stands on its own; with the time when it was asked for last.
    known: HashMap<(Box<str>, bool), (u64, Known)>,
    time: u64,
}

static CACHE: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// The formula that is remembered, or else what `make` gives.
pub fn get(
    tex: &str,
    display: bool,
    make: impl FnOnce() -> Result<Formula, FormulaError>,
) -> Known {
    let key = (Box::from(tex), display);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    cache.time += 1;
    let now = cache.time;
    if let Some((time, known)) = cache.known.get_mut(&key) {
        *time = now;
        return known.clone();
    }
    drop(cache);
    let made = make().map(Arc::new);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    if cache.known.len() >= MOST {
        // The older half, so that this is seldom.
        let mut times: Vec<u64> = cache.known.values().map(|(time, _)| *time).collect();
        times.sort_unstable();
        let middle = times[times.len() / 2];
        cache.known.retain(|_, (time, _)| *time > middle);
    }
    cache.known.insert(key, (now, made.clone()));
    made
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn what_was_asked_for_lately_is_not_made_again() {
        let made = Cell::new(0);
        let ask = |tex: &str| {
            let _ = get(tex, true, || {
                made.set(made.get() + 1);
                Err(FormulaError::Empty)
            });
        };
        ask("cache 0");
        ask("cache 0");
        assert_eq!(made.get(), 1);
        for index in 1..=3 * MOST {
            ask(&format!("cache {index}"));
            if index.is_multiple_of(10) {
                ask("cache 0");
            }
        }
        assert_eq!(made.get(), 1 + 3 * MOST, "what is asked for again and again stays");
        assert!(CACHE.lock().unwrap().known.len() <= MOST);
    }
}
