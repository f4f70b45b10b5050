//! Watches a file for changes, by the system and without polling.

use std::path::Path;

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher};

/// A watch on a file, or on a folder and what lies directly in it. Dropping it ends it.
pub(crate) struct Watch {
    _watcher: RecommendedWatcher,
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watch")
    }
}

impl Watch {
    /// Calls `changed` on a thread of its own whenever something was written there. None where
    /// the system allows no more watches: then nothing is heard, and the log says so.
    pub(crate) fn new(path: &Path, changed: impl Fn() + Send + 'static) -> Option<Self> {
        let told = move |event: notify::Result<notify::Event>| match event.map(|e| e.kind) {
            // Reading is no change.
            Ok(EventKind::Access(_)) => {}
            Ok(_) => changed(),
            Err(error) => tracing::warn!("watching a file: {error}"),
        };
        let begun = notify::recommended_watcher(told).and_then(|mut watcher| {
            watcher.watch(path, RecursiveMode::NonRecursive)?;
            Ok(watcher)
        });
        match begun {
            Ok(watcher) => Some(Self { _watcher: watcher }),
            Err(error) => {
                tracing::warn!("{} is not watched: {error}", path.display());
                None
            }
        }
    }
}
