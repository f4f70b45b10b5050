//! Tells processes of each other's commits: after each commit a byte of a file next to the database
//! is written, which the others watch; SQLite's own count then tells whose it was.
//!
//! The log itself is no good for watching: SQLite writes it before the commit can be seen.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Weak;

use tokio::sync::watch;

use super::Inner;
use crate::settings::disk;
use crate::settings::watch::Watch;

/// The file that is written to after each commit.
#[derive(Debug)]
pub(super) struct Signal(Option<File>);

/// Where the file is, next to the database.
pub(super) fn signal_path(database: &Path) -> PathBuf {
    database.with_extension("db.changed")
}

impl Signal {
    /// Opens the file. Without it other processes see changes late; nothing else is lost.
    pub(super) fn open(database: &Path) -> Self {
        let path = signal_path(database);
        let file = disk::private_file(&path);
        if let Err(error) = &file {
            tracing::warn!("{}: {error}", path.display());
        }
        Self(file.ok())
    }

    /// One for a database that no other process has.
    pub(super) fn silent() -> Self {
        Self(None)
    }

    /// Tells the others. Not synced: it matters only to those who live now.
    pub(super) fn give(&self) {
        if let Some(file) = &self.0 {
            let _ = file.write_all_at(b".", 0);
        }
    }
}

/// What other processes changed. Dropping it ends the watch.
#[derive(Debug)]
pub struct Changes {
    /// None where the database can only be read: then nothing is heard.
    others: Option<watch::Receiver<()>>,
    /// Kept for as long as somebody listens.
    _watch: Option<Watch>,
}

impl Changes {
    pub(super) fn new(
        others: Option<watch::Receiver<()>>,
        database: &Path,
        store: Weak<Inner>,
    ) -> Self {
        let watch = Watch::new(&signal_path(database), move || {
            if let Some(store) = store.upgrade() {
                store.check_other_processes();
            }
        });
        Self { others, _watch: watch }
    }

    /// Waits until another process has committed something. Several commits may be reported as one.
    /// Never resolves while nothing changes; wakes nobody meanwhile.
    pub async fn next(&mut self) {
        if let Some(others) = &mut self.others
            && others.changed().await.is_ok()
        {
            return;
        }
        // The store is gone or cannot be read: nothing more will arrive.
        std::future::pending::<()>().await;
    }
}
