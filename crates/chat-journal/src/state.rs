//! Holds a journal's state in memory, and stores and loads contents in the shadow repository.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;

use chat_permission::path::Project;

use crate::direct_edits::DirectEdits;
use crate::entry::EntryKind;
use crate::git::Git;
use crate::lock::Lock;
use crate::log::Log;
use crate::manifest::Manifest;
use crate::node::{Id, Node, State, StoredNode};
use crate::open_changes::OpenChanges;
use crate::{Error, Limits};

/// How many bytes of contents are cached in memory, so that what was just written need not be read
/// back.
const CACHE_BYTES: usize = 48 * 1024 * 1024;
/// How many packs there may be before they are joined.
const PACKS: usize = 40;

/// The state of a journal. Use it only under the lock.
#[derive(Debug)]
pub struct Inner {
    pub project: Project,
    pub folder: PathBuf,
    pub limits: Limits,
    pub git: Git,
    pub log: Log,
    pub manifest: Arc<Manifest>,
    /// The last tree, and its manifest.
    pub rooted: Option<(Id, Arc<Manifest>)>,
    /// How far each session's review was computed.
    pub open_changes: HashMap<String, (OpenChanges, usize)>,
    /// What is certainly in the repository.
    pub stored: HashSet<Id>,
    pub held: ContentCache,
    /// Edits that are not in the log yet.
    pub direct_edits: Arc<DirectEdits>,
}

impl Inner {
    pub fn open(project: Project, folder: PathBuf, limits: Limits) -> Result<(Self, Lock), Error> {
        let lock = Lock::open(&folder.join("lock"))?;
        let held = lock.hold()?;
        let git = Git::open(&folder.join("git"), project.root())?;
        let mut log = Log::new(folder.join("log"));
        log.sync()?;
        let (manifest, tree) =
            Manifest::load(&folder.join("stat"), log.generation()).unwrap_or_default();
        let manifest = Arc::new(manifest);
        let rooted = tree.map(|tree| (tree, Arc::clone(&manifest)));
        let inner = Self {
            project,
            folder,
            limits,
            git,
            log,
            manifest,
            rooted,
            open_changes: HashMap::new(),
            stored: HashSet::new(),
            held: ContentCache::default(),
            direct_edits: Arc::default(),
        };
        drop(held);
        Ok((inner, lock))
    }

    /// Reads what other processes have done since.
    pub fn sync(&mut self) -> Result<(), Error> {
        if self.log.sync()? {
            // Unreferenced contents may be gone from the repository.
            self.open_changes.clear();
            self.stored.clear();
            self.rooted = None;
        }
        Ok(())
    }

    /// Stores contents in the repository, unless they are there, and waits until they are on disk.
    pub fn store<'a>(&mut self, nodes: impl IntoIterator<Item = &'a Node>) -> Result<(), Error> {
        let mut import = None;
        let mut ids = Vec::new();
        for node in nodes {
            let id = Id::of(&node.bytes);
            self.held.put(id, Arc::clone(&node.bytes));
            if self.stored.contains(&id) || ids.contains(&id) {
                continue;
            }
            if import.is_none() {
                import = Some(self.git.import()?);
            }
            if let Some(import) = &mut import {
                import.blob(&node.bytes);
            }
            ids.push(id);
        }
        if let Some(import) = import {
            import.finish(None)?;
            self.stored.extend(ids);
            self.gather();
        }
        Ok(())
    }

    fn gather(&self) {
        if self.git.packs() > PACKS
            && let Err(error) = self.git.gather()
        {
            tracing::warn!(%error, "the journal's packs were not gathered");
        }
    }

    /// Loads contents into memory with a single request to git. Missing ones are reported.
    pub fn load(
        &mut self,
        wanted: impl IntoIterator<Item = StoredNode>,
    ) -> Result<Contents, Error> {
        let mut contents = Contents(HashMap::new());
        let mut missing = Vec::new();
        let mut asked = HashSet::new();
        for StoredNode { id, .. } in wanted {
            match self.held.get(id) {
                Some(bytes) => drop(contents.0.insert(id, bytes)),
                None if asked.insert(id) => missing.push(id),
                None => {}
            }
        }
        if missing.is_empty() {
            return Ok(contents);
        }
        let found = self.git.read(&missing)?;
        if let Some(lost) = missing.iter().find(|id| !found.contains_key(id)) {
            return Err(Error::Lost(lost.to_string()));
        }
        for (&id, bytes) in &found {
            self.held.put(id, Arc::clone(bytes));
        }
        contents.0.extend(found);
        Ok(contents)
    }

    /// Appends entries, once their contents are stored.
    pub fn append(&mut self, happened: Vec<EntryKind>) -> Result<(), Error> {
        self.log.append(happened)
    }
}

/// Contents by their ids.
#[derive(Debug)]
pub struct Contents(HashMap<Id, Arc<[u8]>>);

impl Contents {
    /// The state for a log entry; it must have been requested before.
    pub fn state(&self, kept: Option<StoredNode>) -> State {
        let StoredNode { mode, id, permissions, .. } = kept?;
        let bytes = self.0.get(&id).map(Arc::clone)?;
        Some(Node { mode, bytes, permissions })
    }
}

/// The most recently used contents.
#[derive(Debug, Default)]
pub struct ContentCache {
    contents: HashMap<Id, Arc<[u8]>>,
    order: VecDeque<Id>,
    size: usize,
}

impl ContentCache {
    pub fn get(&self, id: Id) -> Option<Arc<[u8]>> {
        self.contents.get(&id).map(Arc::clone)
    }

    pub fn put(&mut self, id: Id, bytes: Arc<[u8]>) {
        if bytes.len() > CACHE_BYTES / 4 || self.contents.contains_key(&id) {
            return;
        }
        self.size += bytes.len();
        self.contents.insert(id, bytes);
        self.order.push_back(id);
        while self.size > CACHE_BYTES {
            let Some(oldest) = self.order.pop_front() else { break };
            if let Some(bytes) = self.contents.remove(&oldest) {
                self.size -= bytes.len();
            }
        }
    }
}
