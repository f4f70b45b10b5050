//! Keeps the texts that were trusted, and the hashes of the files next to them, so that it can be shown what has changed since.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::store::{key, path};
use super::{ItemKind, ProjectItem};
use crate::Digest;

/// Bytes of a text that are read. No definition has more.
const LARGEST: u64 = 256 * 1024;
/// Bytes of a list of files that are read.
const LARGEST_LIST: u64 = 4 * 1024 * 1024;
/// Ends the name of a list of files, after the hash of the skill.
const LIST: &str = ".files";

/// A kept file: its name in the folder, and its bytes.
pub(super) type Kept = (String, Vec<u8>);

/// What is kept of these definitions.
pub(super) fn of(items: &[ProjectItem]) -> Vec<Kept> {
    let mut kept = Vec::new();
    for item in items {
        let name = item.digest.to_string();
        if item.kind == ItemKind::Skill {
            kept.push((format!("{name}{LIST}"), list(&item.file_hashes)));
        }
        kept.push((name, item.text.as_bytes().to_vec()));
    }
    kept
}

/// What a folder keeps of these hashes, as far as it can be read.
pub(super) fn read(folder: &Path, hashes: &[String]) -> Vec<Kept> {
    // A hash is a name of a file, and nothing else.
    let names = hashes.iter().filter_map(|hash| Some(hash.parse::<Digest>().ok()?.to_string()));
    let both = names.flat_map(|name| [(format!("{name}{LIST}"), LARGEST_LIST), (name, LARGEST)]);
    let kept = |(name, most): (String, u64)| {
        let bytes = bytes(&folder.join(&name), most)?;
        Some((name, bytes))
    };
    both.filter_map(kept).collect()
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
        let name = entry.file_name();
        let hash = name.to_str().map(|name| name.strip_suffix(LIST).unwrap_or(name));
        if !hash.is_some_and(|hash| trusted.contains(hash)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// The hashes of files by their paths, to keep. The slash tells a path from one that is not UTF-8.
fn list(files: &BTreeMap<PathBuf, Digest>) -> Vec<u8> {
    let root = Path::new("/");
    let named = files.iter().map(|(path, digest)| (key(&root.join(path)), digest.to_string()));
    // Texts always become JSON.
    serde_json::to_vec(&named.collect::<BTreeMap<_, _>>()).unwrap_or_default()
}

/// The beginning of a file, if it can be read.
fn bytes(path: &Path, most: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// A version of a definition that was trusted, of which texts and hashes may be kept.
#[derive(Clone, Debug)]
pub(crate) struct Before {
    text: PathBuf,
    files: PathBuf,
}

impl Before {
    /// The version of this hash, in the folder of texts.
    pub fn new(folder: &Path, hash: Digest) -> Self {
        let name = hash.to_string();
        Self { files: folder.join(format!("{name}{LIST}")), text: folder.join(name) }
    }

    /// Its text, if it is kept. Blocks.
    pub fn text(&self) -> Option<Arc<str>> {
        String::from_utf8(bytes(&self.text, LARGEST)?).ok().map(Into::into)
    }

    /// The hashes of the files next to a skill's own by their paths from its folder on, if they are kept. Blocks.
    pub fn files(&self) -> Option<BTreeMap<PathBuf, Digest>> {
        let named: BTreeMap<String, String> =
            serde_json::from_slice(&bytes(&self.files, LARGEST_LIST)?).ok()?;
        let file = |(name, hash): (String, String)| {
            let path = path(&name)?.strip_prefix("/").ok()?.to_owned();
            Some((path, hash.parse().ok()?))
        };
        named.into_iter().map(file).collect()
    }
}
