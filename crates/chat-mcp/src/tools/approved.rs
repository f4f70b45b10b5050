//! Remembers how each tool was described when the user allowed it, so that a changed one is asked about again, and so
//! is one of which nothing is remembered.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat_core::message::ServerToolChange;
use chat_definitions::Digest;
use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use super::Definition;
use super::change::Described;

/// So many descriptions of one tool are remembered: some servers alternate between two of them.
const MOST: usize = 8;
/// How many bytes of names, hashes and descriptions are remembered. Those go first that were allowed first: a tool that
/// is not remembered is asked about, so that it is never allowed by mistake.
const MOST_BYTES: usize = 8 << 20;
/// The largest file that is read, in bytes. Quotes in JSON take more than what they stand for.
const LARGEST: u64 = 64 << 20;

/// How tools were described when they were allowed. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Approved {
    inner: Arc<Inner>,
    /// Whose servers' tools are meant: a mark of the project; empty if they are the user's.
    owner: String,
}

/// What is remembered of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Approval {
    /// It was allowed as it is.
    Approved,
    /// Nothing.
    New,
    /// It was allowed, and these things are not as they were.
    Changed(Vec<ServerToolChange>),
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    /// None until they are read.
    known: Mutex<Option<Known>>,
}

/// What is remembered of tools, by `server/tool` and the mark of the project.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Known {
    allowed: BTreeMap<String, Remembered>,
}

/// How a tool was described.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Remembered {
    /// Counts up: which tool was allowed first.
    number: u64,
    /// The hashes of its definitions, the newest last.
    hashes: Vec<String>,
    /// The newest.
    last: Described,
}

impl Approved {
    /// What is remembered in this file, which need not exist.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let inner = Inner { path: path.into(), known: Mutex::new(None) };
        Self { inner: Arc::new(inner), owner: String::new() }
    }

    /// The same of the servers of this project; of the user's if there is none.
    pub(crate) fn of(&self, project: Option<&Path>) -> Self {
        let mark =
            |project: &Path| Digest::of([project.as_os_str().as_encoded_bytes()]).to_string();
        Self { inner: Arc::clone(&self.inner), owner: project.map(mark).unwrap_or_default() }
    }

    /// Whether a tool of this server was allowed as it is described now.
    pub(crate) async fn approval(&self, server: &str, tool: &Definition) -> Approval {
        self.load().await;
        let found = {
            let known = self.lock();
            known.as_ref().and_then(|known| known.allowed.get(&self.key(server, tool)).cloned())
        };
        match found {
            None => Approval::New,
            Some(found) if found.hashes.contains(&tool.digest.to_string()) => Approval::Approved,
            Some(found) => Approval::Changed(Described::of(tool).since(&found.last)),
        }
    }

    /// Remembers how a tool is described that was allowed.
    ///
    /// # Errors
    /// It cannot be written, and is not remembered.
    pub(crate) async fn remember(&self, server: &str, tool: &Definition) -> io::Result<()> {
        if self.approval(server, tool).await == Approval::Approved {
            return Ok(());
        }
        let (key, hash) = (self.key(server, tool), tool.digest.to_string());
        let (inner, described) = (Arc::clone(&self.inner), Described::of(tool));
        let writing = spawn_blocking(move || inner.write(|known| known.add(key, hash, described)));
        let known = writing.await.map_err(io::Error::other)??;
        *self.lock() = Some(known);
        Ok(())
    }

    async fn load(&self) {
        if self.lock().is_some() {
            return;
        }
        let inner = Arc::clone(&self.inner);
        let read = spawn_blocking(move || read(&inner.path)).await.unwrap_or_default();
        self.lock().get_or_insert(read);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Known>> {
        self.inner.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, server: &str, tool: &Definition) -> String {
        // No server's name has a slash, and no mark has one.
        format!("{}/{server}/{}", self.owner, tool.tool)
    }
}

/// What the file says; nothing if it cannot be read: then everything is asked about once.
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
    fn add(&mut self, key: String, hash: String, described: Described) {
        let number = self.allowed.values().map(|it| it.number).max().unwrap_or(0).saturating_add(1);
        let mut hashes = self.allowed.remove(&key).map(|it| it.hashes).unwrap_or_default();
        hashes.retain(|known| *known != hash);
        hashes.push(hash);
        if hashes.len() > MOST {
            hashes.remove(0);
        }
        self.allowed.insert(key, Remembered { number, hashes, last: described });
        self.prune();
    }

    /// Drops what was allowed first, until the rest is small enough.
    fn prune(&mut self) {
        let mut bytes: usize = self.allowed.iter().map(|(key, it)| it.bytes(key)).sum();
        while bytes > MOST_BYTES {
            let first = self.allowed.iter().min_by_key(|(_, it)| it.number);
            let Some(first) = first.map(|(key, _)| key.clone()) else { return };
            bytes -= self.allowed.remove(&first).map_or(0, |it| it.bytes(&first));
        }
    }
}

impl Remembered {
    fn bytes(&self, key: &str) -> usize {
        key.len() + self.hashes.iter().map(String::len).sum::<usize>() + self.last.bytes()
    }
}

impl Inner {
    /// Changes the file, which other processes may change, too, and gives what it says then.
    fn write(&self, change: impl FnOnce(&mut Known)) -> io::Result<Known> {
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
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> Definition {
        let tool = json!({ "name": name, "description": description, "inputSchema": {} });
        Definition::of(None, &serde_json::from_value(tool).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_tool_is_changed_if_it_was_allowed_in_another_form_and_new_if_never() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/approved.json");
        let (one, two) = (tool("t", "1"), tool("t", "2"));
        let approved = Approved::new(&path);
        assert_eq!(approved.approval("s", &one).await, Approval::New);
        approved.remember("s", &one).await.unwrap();
        for approved in [approved, Approved::new(&path)] {
            assert_eq!(approved.approval("s", &one).await, Approval::Approved);
            let changed = approved.approval("s", &two).await;
            let diff = "@@ -1 +1 @@\n-1\n+2\n".to_owned();
            let changes = vec![ServerToolChange::Description { diff }];
            assert_eq!(changed, Approval::Changed(changes));
            for other in [approved.approval("s", &tool("u", "1")), approved.approval("r", &one)] {
                assert_eq!(other.await, Approval::New);
            }
            let of_project = approved.of(Some(Path::new("/projects/app")));
            assert_eq!(of_project.approval("s", &one).await, Approval::New);
        }
        Approved::new(&path).remember("s", &two).await.unwrap();
        for tool in [&one, &two] {
            assert_eq!(Approved::new(&path).approval("s", tool).await, Approval::Approved);
        }
    }

    #[tokio::test]
    async fn a_damaged_or_huge_file_is_as_none() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("approved.json");
        let one = tool("t", "1");
        for huge in [false, true] {
            fs::write(&path, "{").unwrap();
            if huge {
                File::options().write(true).open(&path).unwrap().set_len(LARGEST).unwrap();
            }
            let approved = Approved::new(&path);
            assert_eq!(approved.approval("s", &one).await, Approval::New);
            approved.remember("s", &one).await.unwrap();
            assert_eq!(Approved::new(&path).approval("s", &one).await, Approval::Approved);
        }
    }

    #[tokio::test]
    async fn what_cannot_be_written_is_not_remembered_and_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let (state, one) = (folder.path().join("state"), tool("t", "1"));
        fs::write(&state, "a file in the way").unwrap();
        let approved = Approved::new(state.join("approved.json"));
        for _ in 0..2 {
            approved.remember("s", &one).await.unwrap_err();
            assert_eq!(approved.approval("s", &one).await, Approval::New);
        }
        fs::remove_file(&state).unwrap();
        approved.remember("s", &one).await.unwrap();
        assert_eq!(approved.approval("s", &one).await, Approval::Approved);
    }

    #[test]
    fn those_are_forgotten_that_were_allowed_first() {
        let mut known = Known::default();
        let long = "x".repeat(4000);
        for number in 0..3000 {
            // The names come in the opposite order.
            let described = Described::of(&tool("t", &long));
            known.add(format!("/s/{:04}", 9999 - number), "hash".to_owned(), described);
        }
        let kept = known.allowed.len();
        assert!((1000..3000).contains(&kept), "{kept}");
        assert!(known.allowed.contains_key("/s/7000") && !known.allowed.contains_key("/s/9999"));
    }
}
