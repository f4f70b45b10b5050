//! Defines a lock between processes.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::Error;

/// The file whose lock is held while the journal is read or written. It is never replaced.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
}

/// The lock, held until this is dropped.
#[derive(Debug)]
pub struct LockGuard<'a>(&'a File);

impl Lock {
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(Error::io(path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Waits until no other process holds it. The lock is released when its process ends, however
    /// it ends.
    pub fn hold(&self) -> Result<LockGuard<'_>, Error> {
        self.file.lock().map_err(Error::io(&self.path))?;
        Ok(LockGuard(&self.file))
    }
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        // It is released in any case when the file is closed.
        let _ = self.0.unlock();
    }
}
