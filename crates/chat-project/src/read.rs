//! Reads an untrusted file, up to a limit.

use std::fs::File;
use std::io::{self, Read};

/// The first `most` bytes of a file, and whether there are more.
///
/// # Errors
/// It cannot be read.
pub(crate) fn at_most(file: &File, most: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    let is_more = bytes.len() as u64 > most;
    bytes.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    Ok((bytes, is_more))
}
