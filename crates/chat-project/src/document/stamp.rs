//! Identifies a version of a file.

use std::fs::File;
use std::io::{self, Read};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::Stat;
use sha2::{Digest, Sha256};

/// Nanoseconds: a file system's clock may be as coarse as this (FAT: two seconds), so a file that changed so shortly
/// before it was read may have changed again without its time telling.
const COARSE: i64 = 2_000_000_000;

/// What a file was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    identity: (u64, u64),
    size: i64,
    /// Nanoseconds since 1970.
    modified: i64,
    /// Whether these tell it from every change that came later.
    is_sure: bool,
    hash: [u8; 32],
}

impl Stamp {
    /// Of a file with these contents.
    pub(super) fn new(found: &Stat, contents: &[u8]) -> Self {
        let (identity, size, modified) = identity(found);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let is_sure = (now.as_nanos() as i64).saturating_sub(modified) > COARSE;
        Self { identity, size, modified, is_sure, hash: Sha256::digest(contents).into() }
    }

    /// Whether a file is still this: by what the system says of it, and by its contents where that leaves a doubt.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) fn is_still(&self, file: &File) -> io::Result<bool> {
        let found = identity(&rustix::fs::fstat(file)?);
        if self.is_sure && found == (self.identity, self.size, self.modified) {
            return Ok(true);
        }
        if found.1 != self.size {
            return Ok(false);
        }
        let (mut hash, mut piece) = (Sha256::new(), [0; 16 * 1024]);
        // One that grows meanwhile is not read for ever.
        let mut reader = file.take(self.size as u64 + 1);
        loop {
            match reader.read(&mut piece)? {
                0 => return Ok(<[u8; 32]>::from(hash.finalize()) == self.hash),
                count => hash.update(&piece[..count]),
            }
        }
    }
}

fn identity(found: &Stat) -> ((u64, u64), i64, i64) {
    let modified = found.st_mtime * 1_000_000_000 + found.st_mtime_nsec as i64;
    ((found.st_dev, found.st_ino), found.st_size, modified)
}
