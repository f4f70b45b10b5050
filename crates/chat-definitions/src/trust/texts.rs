//! Keeps the texts that were trusted, so that it can be shown what has changed since.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::ProjectItem;
use crate::Digest;

/// Bytes of a text that are read. No definition has more.
const LARGEST: u64 = 256 * 1024;

/// A kept file: its name in the folder, and its bytes.
pub(super) type Kept = (String, Vec<u8>);

/// What is kept of these definitions.
pub(super) fn of(items: &[ProjectItem]) -> Vec<Kept> {
    let text = |item: &ProjectItem| (item.digest.to_string(), item.text.as_bytes().to_vec());
    items.iter().map(text).collect()
}

/// What a folder keeps of these hashes, as far as it can be read.
pub(super) fn read(folder: &Path, hashes: &[String]) -> Vec<Kept> {
    let bytes = |hash: &String| {
        // A hash is a name of a file, and nothing else.
        let name = hash.parse::<Digest>().ok()?.to_string();
        let mut bytes = Vec::new();
        File::open(folder.join(&name)).ok()?.take(LARGEST).read_to_end(&mut bytes).ok()?;
        Some((name, bytes))
    };
    hashes.iter().filter_map(bytes).collect()
}

/// Keeps files in a folder.
pub(super) fn write(folder: &Path, kept: &[Kept]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for (name, bytes) in kept {
        // A temporary file of this crate is readable by its owner alone.
        let mut file = tempfile::Builder::new().prefix(".natter-").tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.persist(folder.join(name)).map_err(|error| error.error)?;
    }
    Ok(())
}

/// Removes what is kept of hashes that are not trusted any more.
pub(super) fn prune(folder: &Path, trusted: &BTreeSet<&str>) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        if !entry.file_name().to_str().is_some_and(|name| trusted.contains(name)) {
            fs::remove_file(entry.path())?;
        }
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
