//! Tells which processes are alive: each process that may write holds a locked file for as long as
//! it lives. The system drops the lock with the process, however that ends.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use uuid::Uuid;

use crate::settings::disk;

/// This process's place among the owners.
#[derive(Debug)]
pub(super) struct Owners {
    folder: PathBuf,
    own: Option<Own>,
}

#[derive(Debug)]
struct Own {
    id: String,
    /// Held, not read: its lock says that we live.
    _file: File,
}

impl Owners {
    /// Makes and locks this process's file below `folder`.
    pub(super) fn enter(folder: &Path) -> io::Result<Self> {
        disk::private_folder(folder)?;
        loop {
            let id = Uuid::now_v7().to_string();
            let path = folder.join(&id);
            let file = disk::private_file(&path)?;
            file.lock()?;
            // Between making and locking it, somebody may have cleared it away as a dead one's.
            if fs::metadata(&path).is_ok_and(|there| same_file(&there, &file)) {
                return Ok(Self { folder: folder.to_owned(), own: Some(Own { id, _file: file }) });
            }
        }
    }

    /// Looks at others without taking a place: for a database that cannot be written.
    pub(super) fn watch_only(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), own: None }
    }

    /// This process's name among the owners; empty where it only watches.
    pub(super) fn id(&self) -> &str {
        self.own.as_ref().map_or("", |own| &own.id)
    }

    /// Whether another process of this name lives.
    pub(super) fn lives_elsewhere(&self, id: &str) -> bool {
        if id == self.id() {
            return false;
        }
        // A shared lock, so that two who ask at once do not take each other for the owner.
        match File::open(self.folder.join(id)).map(|file| file.try_lock_shared()) {
            Ok(Ok(())) => false,
            Ok(Err(_)) => true,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Clears the files of dead owners away.
    pub(super) fn clear_dead(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        for entry in entries.flatten() {
            if entry.file_name().to_str().is_none_or(|id| id == self.id()) {
                continue;
            }
            // The lock is held while the name goes, so that no living owner loses its file.
            if let Ok(file) = File::open(entry.path())
                && file.try_lock().is_ok()
            {
                let _ = fs::remove_file(entry.path());
            }
        }
    }
}

impl Drop for Owners {
    fn drop(&mut self) {
        if let Some(own) = &self.own {
            let _ = fs::remove_file(self.folder.join(&own.id));
        }
    }
}

fn same_file(there: &fs::Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|ours| ours.ino() == there.ino() && ours.dev() == there.dev())
}

/// Asks once for each owner: a list names few owners and many sessions.
pub(super) struct Living<'a> {
    owners: &'a Owners,
    known: HashMap<String, bool>,
}

impl<'a> Living<'a> {
    /// Knows nothing yet.
    pub(super) fn new(owners: &'a Owners) -> Self {
        Self { owners, known: HashMap::new() }
    }

    /// Whether another process of this name lives.
    pub(super) fn elsewhere(&mut self, id: &str) -> bool {
        if let Some(&known) = self.known.get(id) {
            return known;
        }
        let lives = self.owners.lives_elsewhere(id);
        self.known.insert(id.to_owned(), lives);
        lives
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_lives_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let one = Owners::enter(folder.path()).unwrap();
        let two = Owners::enter(folder.path()).unwrap();
        assert_ne!(one.id(), two.id());
        assert!(two.lives_elsewhere(one.id()));
        assert!(!two.lives_elsewhere(two.id()), "it lives here, not elsewhere");
        let id = one.id().to_owned();
        drop(one);
        assert!(!two.lives_elsewhere(&id));
    }

    #[test]
    fn only_the_dead_are_cleared_away() {
        let folder = tempfile::tempdir().unwrap();
        let one = Owners::enter(folder.path()).unwrap();
        let two = Owners::enter(folder.path()).unwrap();
        fs::write(folder.path().join("dead"), "").unwrap();
        two.clear_dead();
        assert!(!folder.path().join("dead").exists());
        assert!(two.lives_elsewhere(one.id()));
        assert!(one.lives_elsewhere(two.id()));
    }
}
