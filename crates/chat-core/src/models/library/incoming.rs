//! Moves files into the library. They are linked or copied first and deleted where they were last,
//! so that whatever fails in between costs nobody a model.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::error::{Kind, Result};
use crate::models::facts::fault_of;
use crate::models::{index, machine};

/// What the folders begin with in which files are gathered, below the library's. Hidden: no model
/// has such a name.
const PREFIX: &str = ".moving-";

/// Files on their way in, all of them on the library's disk. Dropping it deletes what was gathered.
#[derive(Debug)]
pub(super) struct Incoming {
    /// The gathered files, in the order in which they were named.
    pub files: Vec<PathBuf>,
    /// Where they were, and what leads there.
    pub sources: Vec<PathBuf>,
    _folder: TempDir,
    /// Says that somebody is at work there.
    _lock: File,
}

impl Incoming {
    /// Gathers files. Where they lie on another disk they are copied, which takes a while.
    ///
    /// # Errors
    /// `DiskTooSmall` before anything is copied, and those of the disk.
    pub(super) fn gather(library: &Path, named: &[PathBuf]) -> Result<Self> {
        let lock = index::lock(library)?;
        clear(library);
        let made = tempfile::Builder::new().prefix(PREFIX).tempdir_in(library);
        let folder = made.map_err(|error| fault_of(library, &error))?;
        let held = File::open(folder.path()).and_then(|file| file.lock().map(|()| file));
        let held = held.map_err(|error| fault_of(folder.path(), &error))?;
        // The list is free again: copying takes a while.
        drop(lock);
        let (mut files, mut copies, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        let mut needed: u64 = 0;
        for path in named {
            let fault = |error| fault_of(path, &error);
            // Of a link the file is meant: the link alone would lead nowhere from here.
            let real = fs::canonicalize(path).map_err(fault)?;
            let to = folder.path().join(path.file_name().unwrap_or_default());
            if fs::hard_link(&real, &to).is_err() {
                needed += fs::metadata(&real).map_err(fault)?.len();
                copies.push((real.clone(), to.clone()));
            }
            files.push(to);
            if real != *path {
                sources.push(path.clone());
            }
            sources.push(real);
        }
        let free = machine::free_on(folder.path())?;
        if needed > 0 && needed.saturating_add(machine::SPARE) > free {
            return Err(Kind::DiskTooSmall { needed: needed + machine::SPARE, free }.into());
        }
        for (from, to) in copies {
            let copied = fs::copy(&from, &to).and_then(|_| File::open(&to)?.sync_all());
            copied.map_err(|error| fault_of(&from, &error))?;
        }
        Ok(Self { files, sources, _folder: folder, _lock: held })
    }

    /// Deletes the files where they were: they are among the models now. One that cannot be
    /// deleted stays there, and is no harm.
    pub(super) fn delete_sources(self) {
        for path in &self.sources {
            if let Err(error) = fs::remove_file(path) {
                tracing::warn!("{} is here, and stays there too: {error}", path.display());
            }
        }
    }
}

/// Whether a program that ended in the middle may have left something.
pub(super) fn is_left(library: &Path) -> bool {
    leftovers(library).next().is_some()
}

/// Deletes what programs left that ended in the middle. The list must be locked: nobody begins
/// meanwhile.
pub(super) fn clear(library: &Path) {
    for folder in leftovers(library) {
        // Who is at work there holds it.
        if File::open(&folder).is_ok_and(|held| held.try_lock().is_ok())
            && let Err(error) = fs::remove_dir_all(&folder)
        {
            tracing::warn!("{}: {error}", folder.display());
        }
    }
}

fn leftovers(library: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(library).into_iter().flatten().flatten();
    let is_one =
        |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes());
    entries.filter(is_one).map(|entry| entry.path())
}
