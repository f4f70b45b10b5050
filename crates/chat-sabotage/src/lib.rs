//! Breaks the program on purpose in one named way, to prove that the tests notice.
//!
//! `NATTER_SABOTAGE=drop_delta cargo nextest run …` must fail; `scripts/lib/sabotage` checks that it does. The switch
//! is read when a program runs, so that nothing is built again for it. Builds without debug assertions do not have it.

use std::sync::LazyLock;

static NAME: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("NATTER_SABOTAGE").ok());

/// Whether this run is to be broken in the way called `name`. Always false in a release build.
#[inline]
pub fn is_sabotaged(name: &str) -> bool {
    cfg!(debug_assertions) && NAME.as_deref() == Some(name)
}
