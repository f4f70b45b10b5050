//! Remembers in a file which definitions of which projects are trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::texts::{self, Before, Kept};
use super::{ProjectDefinitions, ProjectItem};
use crate::Digest;

/// Bytes of the file that are read.
const LARGEST: u64 = 16 * 1024 * 1024;
/// Projects that are remembered, those that were trusted last.
const MOST: usize = 1_000;

/// A JSON file that remembers what is trusted. It is read whenever it is needed, so that several processes can use
/// it. What is damaged in it counts as not trusted, and is dropped when something is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
}

/// A project in the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Trusted {
    /// Its real path; a path that is not UTF-8 as `bytes:` and hexadecimal digits.
    root: String,
    /// The hash of all.
    hash: String,
    /// The hashes of its definitions.
    items: Vec<String>,
    /// Their files. Earlier versions of the program wrote none.
    #[serde(default)]
    files: Vec<TrustedFile>,
}

/// A file of a definition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct TrustedFile {
    /// Its absolute path, as that of the project.
    path: String,
    /// The hash of the definition.
    hash: String,
}

/// The trust in a project that was taken back, so that it can be given again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenTrust {
    project: Trusted,
    texts: Vec<Kept>,
}

impl ForgottenTrust {
    /// The project's real path.
    pub fn root(&self) -> Option<PathBuf> {
        path(&self.project.root)
    }

    /// Whether a definition was trusted as it is.
    pub fn has(&self, item: &ProjectItem) -> bool {
        self.project.items.contains(&item.digest.to_string())
    }
}

#[derive(Serialize)]
struct Contents<'a> {
    version: u32,
    projects: &'a [Trusted],
}

impl TrustStore {
    /// The store in this file, which need not exist. It and its folder are created when something is trusted.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The hashes of what is trusted in the project of this real path. Blocks.
    pub fn trusted(&self, root: &Path) -> BTreeSet<Digest> {
        let root = key(root);
        let projects = self.read();
        let items = projects.iter().filter(|project| project.root == root);
        items.flat_map(|project| &project.items).filter_map(|item| item.parse().ok()).collect()
    }

    /// The files of what is trusted in the project of this real path, by their absolute paths. Blocks.
    pub(crate) fn files(&self, root: &Path) -> BTreeMap<PathBuf, Before> {
        let root = key(root);
        let projects = self.read().into_iter().filter(|project| project.root == root);
        let files = projects.flat_map(|project| project.files);
        let file = |file: TrustedFile| {
            // A hash is a name of a file, and nothing else.
            let hash: Digest = file.hash.parse().ok()?;
            Some((path(&file.path)?, Before::new(&self.texts(), hash)))
        };
        files.filter_map(file).collect()
    }

    /// The folder with the texts that were trusted, by their hashes.
    fn texts(&self) -> PathBuf {
        self.path.with_extension("texts")
    }

    /// The real paths of the projects of which something is trusted, sorted. Blocks.
    pub fn projects(&self) -> Vec<PathBuf> {
        let projects = self.read().into_iter().filter(|project| !project.items.is_empty());
        let mut roots: Vec<PathBuf> = projects.filter_map(|project| path(&project.root)).collect();
        roots.sort();
        roots.dedup();
        roots
    }

    /// Trusts a project's definitions exactly as they are here; earlier versions are not trusted any more. Their texts
    /// are kept next to the file where that is possible, so that changes can be shown later. Blocks.
    ///
    /// # Errors
    /// The file cannot be written; it stays as it was.
    pub fn trust(&self, definitions: &ProjectDefinitions) -> io::Result<()> {
        let project = Trusted {
            root: key(&definitions.root),
            hash: definitions.digest.to_string(),
            items: definitions.items.iter().map(|item| item.digest.to_string()).collect(),
            files: definitions.items.iter().map(file).collect(),
        };
        self.put(project, &texts::of(&definitions.items))
    }

    /// Trusts exactly these things of a project, of which only the hashes are known: what is no definition has a store
    /// in a file of its own. Blocks.
    ///
    /// # Errors
    /// The file cannot be written; it stays as it was.
    pub fn trust_hashes(&self, root: &Path, hashes: &BTreeSet<Digest>) -> io::Result<()> {
        let project = Trusted {
            root: key(root),
            hash: Digest::of_all(hashes.iter().copied()).to_string(),
            items: hashes.iter().map(Digest::to_string).collect(),
            files: Vec::new(),
        };
        self.put(project, &[])
    }

    /// Remembers a project in place of what is known of it.
    fn put(&self, project: Trusted, texts: &[Kept]) -> io::Result<()> {
        self.change(texts, |projects| {
            projects.retain(|known| known.root != project.root);
            projects.push(project);
            let surplus = projects.len().saturating_sub(MOST);
            projects.drain(..surplus);
        })
    }

    /// Forgets a project, so that its definitions are not trusted. Gives what [`restore`](Self::restore) takes, if
    /// anything was trusted. Blocks.
    ///
    /// # Errors
    /// The file cannot be written; it stays as it was.
    pub fn forget(&self, root: &Path) -> io::Result<Option<ForgottenTrust>> {
        let root = key(root);
        let mut forgotten = None;
        self.change(&[], |projects| {
            let gone = projects.extract_if(.., |known| known.root == root);
            forgotten = gone.last().map(|project| {
                let texts = texts::read(&self.texts(), &project.items);
                ForgottenTrust { project, texts }
            });
        })?;
        Ok(forgotten)
    }

    /// Trusts again what was forgotten, as it was then. What has been trusted in that project since stays. Blocks.
    ///
    /// # Errors
    /// The file cannot be written; it stays as it was.
    pub fn restore(&self, forgotten: &ForgottenTrust) -> io::Result<()> {
        self.change(&forgotten.texts, |projects| {
            if projects.iter().all(|known| known.root != forgotten.project.root) {
                projects.push(forgotten.project.clone());
            }
        })
    }

    /// Changes the file under its lock. These texts are kept where that is possible, and those to which nothing refers
    /// any more are removed.
    fn change(&self, texts: &[Kept], change: impl FnOnce(&mut Vec<Trusted>)) -> io::Result<()> {
        let folder = self.path.parent().ok_or(ErrorKind::InvalidInput)?;
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let mut lock = self.path.clone().into_os_string();
        lock.push(".lock");
        let lock =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock)?;
        lock.lock()?;
        let old = self.read();
        let mut projects = old.clone();
        change(&mut projects);
        if projects == old && texts.is_empty() {
            return Ok(());
        }
        // Whenever it ends, the texts to which the file refers are there: they come before, and go after.
        let folder_of_texts = self.texts();
        let warn = |error: io::Error| tracing::warn!("{}: {error}", folder_of_texts.display());
        texts::write(&folder_of_texts, texts).unwrap_or_else(warn);
        if projects != old {
            self.write(folder, &projects)?;
        }
        let hashes = projects.iter().flat_map(|it| &it.items).map(String::as_str).collect();
        texts::prune(&folder_of_texts, &hashes).unwrap_or_else(warn);
        Ok(())
    }

    /// Replaces the file, which is in this folder.
    fn write(&self, folder: &Path, projects: &[Trusted]) -> io::Result<()> {
        let contents = Contents { version: 1, projects };
        // A temporary file of this crate is readable by its owner alone.
        let mut file = tempfile::Builder::new().prefix(".natter-").tempfile_in(folder)?;
        serde_json::to_writer_pretty(&mut file, &contents)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        File::open(folder)?.sync_all()
    }

    /// The projects in the file, without those that are damaged.
    fn read(&self) -> Vec<Trusted> {
        let bytes = match self.bytes() {
            Ok(bytes) => bytes,
            Err(error) => {
                if error.kind() != ErrorKind::NotFound {
                    tracing::warn!("{}: {error}", self.path.display());
                }
                return Vec::new();
            }
        };
        let projects = match serde_json::from_slice::<Value>(&bytes) {
            Ok(mut contents) => contents.get_mut("projects").map(Value::take),
            Err(error) => {
                tracing::warn!("{} is damaged: {error}", self.path.display());
                None
            }
        };
        let Some(Value::Array(projects)) = projects else { return Vec::new() };
        projects.into_iter().filter_map(|project| serde_json::from_value(project).ok()).collect()
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if !fs::metadata(&self.path)?.is_file() {
            return Err(ErrorKind::InvalidInput.into());
        }
        File::open(&self.path)?.take(LARGEST).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

/// An item's file, as it is remembered.
fn file(item: &ProjectItem) -> TrustedFile {
    TrustedFile { path: key(&item.path), hash: item.digest.to_string() }
}

/// Before the bytes of a path that is not UTF-8. Real paths begin with a slash.
const BYTES: &str = "bytes:";

/// A path in the file.
pub(super) fn key(path: &Path) -> String {
    let path: OsString = path.into();
    path.into_string().unwrap_or_else(|path| {
        path.as_bytes().iter().fold(BYTES.to_owned(), |mut key, byte| {
            let _ = write!(key, "{byte:02x}");
            key
        })
    })
}

/// The path of a [`key`]; none if it is damaged.
pub(super) fn path(key: &str) -> Option<PathBuf> {
    let Some(digits) = key.strip_prefix(BYTES) else { return Some(PathBuf::from(key)) };
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes.filter(|_| rest.is_empty()).map(|bytes| PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests;
