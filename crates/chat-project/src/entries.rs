//! Lists the entries of one folder, through the folder itself.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, Dir, FileType};

/// The names in a folder and what they are, a link being a link, in the order of the names' bytes. What vanishes
/// under way is left out, as is the rest once it was given up.
///
/// # Errors
/// The folder cannot be listed.
pub fn entries(folder: impl AsFd, given_up: &AtomicBool) -> io::Result<Vec<(OsString, FileType)>> {
    let found = Dir::read_from(&folder)?;
    let found = found.take_while(|_| !given_up.load(Ordering::Relaxed)).flatten();
    let mut entries: Vec<_> = found
        .filter(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
        .filter_map(|entry| {
            let kind = match entry.file_type() {
                // Not every file system says it at once.
                FileType::Unknown => {
                    let flags = AtFlags::SYMLINK_NOFOLLOW;
                    let found = rustix::fs::statat(&folder, entry.file_name(), flags).ok()?;
                    FileType::from_raw_mode(found.st_mode)
                }
                kind => kind,
            };
            Some((OsStr::from_bytes(entry.file_name().to_bytes()).to_owned(), kind))
        })
        .collect();
    entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(entries)
}
