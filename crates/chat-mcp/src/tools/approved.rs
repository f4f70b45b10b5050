//! Remembers how each tool was described when the user allowed it, so that a changed one is asked about again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat_definitions::Digest;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

/// So many descriptions of one tool are remembered: the same server may differ from project to project.
const MOST: usize = 8;
/// So many tools are remembered.
const MOST_TOOLS: usize = 20_000;
/// The largest file that is read, in bytes.
const LARGEST: u64 = 16 << 20;

/// How tools were described when they were allowed. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Approved(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// None until they are read.
    known: Mutex<Option<Known>>,
}

/// The hashes of each tool's definitions, by `server/tool`, the newest last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    tools: BTreeMap<String, Vec<String>>,
}

impl Approved {
    /// What is remembered in this file, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(Arc::new(Inner { path: path.into(), known: Mutex::new(None) }))
    }

    /// Whether the tool was allowed, and is described in another way now.
    pub async fn is_changed(&self, server: &str, tool: &str, digest: &Digest) -> bool {
        self.load().await;
        let known = self.lock();
        let hashes = known.as_ref().and_then(|known| known.tools.get(&key(server, tool)));
        hashes.is_some_and(|hashes| !hashes.contains(&digest.to_string()))
    }

    /// Remembers how a tool is described that was allowed.
    ///
    /// # Errors
    /// It cannot be written: it is remembered as long as Natter runs.
    pub async fn remember(&self, server: &str, tool: &str, digest: &Digest) -> io::Result<()> {
        self.load().await;
        let (key, hash) = (key(server, tool), digest.to_string());
        let is_known = self.lock().as_mut().is_some_and(|known| !known.add(&key, &hash));
        if is_known {
            return Ok(());
        }
        let inner = Arc::clone(&self.0);
        let writing = spawn_blocking(move || {
            inner.write(|known| {
                known.add(&key, &hash);
            })
        });
        writing.await.map_err(io::Error::other)?
    }

    async fn load(&self) {
        if self.lock().is_some() {
            return;
        }
        let inner = Arc::clone(&self.0);
        let read = spawn_blocking(move || read(&inner.path)).await.unwrap_or_default();
        self.lock().get_or_insert(read);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Known>> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(server: &str, tool: &str) -> String {
    // No server's name has a slash.
    format!("{server}/{tool}")
}

/// What the file says; nothing if it cannot be read: then everything is asked about as if for the first time.
fn read(path: &Path) -> Known {
    let is_small =
        |path: &Path| fs::metadata(path).is_ok_and(|it| it.is_file() && it.len() < LARGEST);
    if !is_small(path) {
        return Known::default();
    }
    let text = fs::read(path).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

impl Known {
    /// Whether that is new.
    fn add(&mut self, key: &str, hash: &str) -> bool {
        if self.tools.len() >= MOST_TOOLS && !self.tools.contains_key(key) {
            self.tools.pop_first();
        }
        let hashes = self.tools.entry(key.to_owned()).or_default();
        if hashes.last().is_some_and(|last| last == hash) {
            return false;
        }
        hashes.retain(|known| known != hash);
        hashes.push(hash.to_owned());
        if hashes.len() > MOST {
            hashes.remove(0);
        }
        true
    }
}

impl Inner {
    /// Changes the file, which other processes may change, too.
    fn write(&self, change: impl FnOnce(&mut Known)) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let lock = self.path.with_extension("lock");
        let lock: File =
            OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(lock)?;
        lock.lock()?;
        let mut known = read(&self.path);
        change(&mut known);
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&known)?)?;
        file.as_file().sync_data()?;
        file.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_tool_is_changed_if_it_was_allowed_in_another_form() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/approved.json");
        let (one, two) = (Digest::of([&b"1"[..]]), Digest::of([&b"2"[..]]));
        let approved = Approved::new(&path);
        assert!(!approved.is_changed("s", "t", &one).await, "nobody was asked yet");
        approved.remember("s", "t", &one).await.unwrap();
        for approved in [approved, Approved::new(&path)] {
            assert!(!approved.is_changed("s", "t", &one).await);
            assert!(approved.is_changed("s", "t", &two).await);
            assert!(!approved.is_changed("s", "u", &two).await);
        }
        let other = Approved::new(&path);
        other.remember("s", "t", &two).await.unwrap();
        for digest in [&one, &two] {
            assert!(!Approved::new(&path).is_changed("s", "t", digest).await);
        }
    }

    #[tokio::test]
    async fn a_damaged_file_is_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("approved.json");
        std::fs::write(&path, "{").unwrap();
        let approved = Approved::new(&path);
        let one = Digest::of([&b"1"[..]]);
        assert!(!approved.is_changed("s", "t", &one).await);
        approved.remember("s", "t", &one).await.unwrap();
        assert!(!Approved::new(&path).is_changed("s", "t", &one).await);
    }
}
