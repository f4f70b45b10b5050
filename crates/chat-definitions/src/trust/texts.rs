//! Keeps the texts that were trusted, so that it can be shown what has changed since.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ProjectItem;
use crate::Digest;

/// Bytes of a text that are read. No definition has more.
const LARGEST: u64 = 256 * 1024;

/// Keeps the texts of these definitions in a folder, and removes those whose hashes are not trusted any more.
pub(super) fn keep(
    folder: &Path,
    items: &[ProjectItem],
    trusted: &BTreeSet<&str>,
) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(|name| trusted.contains(name)) {
            fs::remove_file(entry.path())?;
        }
    }
    for item in items {
        // A temporary file of this crate is readable by its owner alone.
        let mut file = tempfile::Builder::new().prefix(".natter-").tempfile_in(folder)?;
        file.write_all(item.text.as_bytes())?;
        file.persist(folder.join(item.digest.to_string())).map_err(|error| error.error)?;
    }
    Ok(())
}

/// A version of a definition that was trusted, whose text may be kept.
#[derive(Clone, Debug)]
pub(crate) struct Before(PathBuf);

impl Before {
    /// The version of this hash, in the folder of texts.
    pub fn new(folder: &Path, hash: Digest) -> Self {
        Self(folder.join(hash.to_string()))
    }

    /// Its text, if it is kept. Blocks.
    pub fn text(&self) -> Option<Arc<str>> {
        let mut text = String::new();
        File::open(&self.0).ok()?.take(LARGEST).read_to_string(&mut text).ok()?;
        Some(text.into())
    }
}
