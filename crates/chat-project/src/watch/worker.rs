//! Runs the thread that lists, watches and reports.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError};
use std::time::Instant;

use chat_permission::path::Project;
use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::dirty::Dirty;
use super::round::{Round, compare};
use super::{Event, Shared, WatchError, WatchRequest, lock, plan};
use crate::git::{self, Repository};
use crate::tree::{Depth, Folder, Tree, refreshed, walk};

/// Paths that one event names at most; beyond, everything is said to be another.
pub const MAX_CHANGES: usize = 1_000;

/// What wakes the thread.
#[derive(Debug)]
pub(super) enum Message {
    /// What is wanted is another, or nothing is any more.
    Wake,
    /// The system tells of a change.
    System(notify::Result<notify::Event>),
}

pub(super) struct Worker {
    project: Project,
    shared: Arc<Shared>,
    messages: Receiver<Message>,
    most: usize,
    tell: Box<dyn Fn(Event) + Send>,
    watcher: Option<RecommendedWatcher>,
    watched: BTreeSet<PathBuf>,
    /// Git's folders, as far as they are watched.
    git_watched: BTreeSet<PathBuf>,
    git: Option<Repository>,
    wanted: WatchRequest,
    dirty: Dirty,
    round: Round,
    /// The project's folder, open.
    root: Option<File>,
    /// Whether there is nothing left to look at.
    is_gone: bool,
}

impl Worker {
    pub fn new(
        project: Project,
        shared: Arc<Shared>,
        wake: SyncSender<Message>,
        messages: Receiver<Message>,
        most: usize,
        tell: Box<dyn Fn(Event) + Send>,
    ) -> Self {
        let heard = Arc::clone(&shared);
        let watcher = notify::recommended_watcher(move |event| {
            if let Err(TrySendError::Full(_)) = wake.try_send(Message::System(event)) {
                heard.overflow.store(true, Ordering::Relaxed);
            }
        });
        let watcher = watcher.inspect_err(|error| tracing::info!(%error, "nothing is watched"));
        Self {
            project,
            shared,
            messages,
            most,
            tell,
            watcher: watcher.ok(),
            watched: BTreeSet::new(),
            git_watched: BTreeSet::new(),
            git: None,
            wanted: WatchRequest::default(),
            dirty: Dirty::default(),
            round: Round::default(),
            root: None,
            is_gone: false,
        }
    }

    pub fn run(mut self) {
        if self.watcher.is_none() {
            (self.tell)(Event::Error(WatchError::Unwatched));
        }
        self.rescan();
        while !self.is_given_up() && !self.is_gone {
            let due = self.dirty.due().into_iter().chain(self.round.due()).min();
            let message = match due {
                None => self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(due) => {
                    self.messages.recv_timeout(due.saturating_duration_since(Instant::now()))
                }
            };
            match message {
                Ok(Message::System(event)) => self.hear(event),
                Ok(Message::Wake) | Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.shared.overflow.swap(false, Ordering::Relaxed) {
                self.dirty.everything();
            }
            self.update_request();
            let now = Instant::now();
            if self.dirty.due().is_some_and(|due| due <= now) {
                self.process_dirty();
            }
            if self.round.due().is_some_and(|due| due <= now)
                && let Some(root) = &self.root
            {
                self.round.run(root, &mut self.dirty);
            }
        }
    }

    fn is_given_up(&self) -> bool {
        self.shared.given_up.load(Ordering::Relaxed)
    }

    fn tree(&self) -> Arc<Tree> {
        Arc::clone(&lock(&self.shared.tree))
    }

    fn publish(&self, tree: Arc<Tree>) {
        *lock(&self.shared.tree) = tree;
    }

    /// The folder is gone, or another has its name: it is not looked at any more.
    fn gone(&mut self) {
        self.is_gone = true;
        (self.tell)(Event::Error(WatchError::Gone));
    }

    fn hear(&mut self, event: notify::Result<notify::Event>) {
        match event {
            Ok(event) => {
                let git = self.git.as_ref().map(Repository::folders).unwrap_or_default();
                self.dirty.event(&event, self.project.root(), &git);
            }
            Err(error) => {
                tracing::info!(%error, "a watch failed");
                self.dirty.everything();
            }
        }
    }

    /// Lists everything, and tells so.
    fn rescan(&mut self) {
        let first = self.root.is_none();
        let walked = {
            let begun = |tree| {
                if first {
                    self.publish(Arc::new(tree));
                    (self.tell)(Event::Rescanned);
                }
            };
            walk(&self.project, &self.shared.given_up, begun)
        };
        match walked {
            Ok(Some(tree)) => self.publish(Arc::new(tree)),
            // Given up.
            Ok(None) => return,
            Err(error) => {
                tracing::info!(%error, "a project cannot be listed");
                return self.gone();
            }
        }
        // It is told before it is watched, which takes a while where there are many folders: what changes in
        // between is noticed then.
        (self.tell)(Event::Rescanned);
        self.root = File::open(self.project.root()).ok();
        self.git = git::find(&self.project).ok().flatten();
        self.watch();
        (self.tell)(Event::Git);
    }

    fn update_request(&mut self) {
        let wanted = lock(&self.shared.wanted).clone();
        if wanted == self.wanted {
            return;
        }
        let again = wanted.rescans != self.wanted.rescans;
        self.wanted = wanted;
        if again {
            self.dirty.everything();
        } else {
            self.watch();
        }
    }

    /// Looks at what is dirty, and tells what came of it.
    fn process_dirty(&mut self) {
        let dirty = std::mem::take(&mut self.dirty);
        if dirty.all {
            return self.rescan();
        }
        if !self.project.root().is_dir() {
            return self.gone();
        }
        let old = self.tree();
        let new = if dirty.folders.is_empty() {
            Arc::clone(&old)
        } else {
            let new = refreshed(&old, &self.project, &dirty.folders, &self.shared.given_up);
            Arc::new(new)
        };
        let mut paths = differing(&old, &new, &dirty.folders);
        // What is ignored was never there.
        let is_known = |path: &PathBuf| old.kind(path).is_some() || new.kind(path).is_some();
        paths.extend(dirty.touched.into_iter().filter(is_known));
        self.publish(new);
        if !dirty.folders.is_empty() {
            self.watch();
        }
        if dirty.git {
            self.git = git::find(&self.project).ok().flatten();
            self.watch();
        }
        if paths.len() > MAX_CHANGES {
            (self.tell)(Event::Rescanned);
        } else if !paths.is_empty() {
            (self.tell)(Event::Changed { paths: paths.into_iter().collect() });
        }
        if dirty.git {
            (self.tell)(Event::Git);
        }
    }

    /// Watches what is to be watched, and has the rest asked.
    fn watch(&mut self) {
        let Some(root) = self.root.as_ref() else { return };
        let all = plan::folders(&lock(&self.shared.tree));
        let most = if self.watcher.is_some() { self.most } else { 0 };
        let mut chosen = plan::plan(&all, &self.wanted, &self.watched, most);
        let git: BTreeSet<PathBuf> =
            self.git.as_ref().map(Repository::watched).unwrap_or_default().into_iter().collect();
        let mut fresh = BTreeSet::new();
        if let Some(watcher) = &mut self.watcher {
            let base = self.project.root();
            for path in self.watched.difference(&chosen) {
                // It may be gone.
                let _ = watcher.unwatch(&base.join(path));
            }
            for path in self.git_watched.difference(&git) {
                let _ = watcher.unwatch(path);
            }
            self.git_watched.retain(|path| git.contains(path));
            for path in git.difference(&self.git_watched.clone()) {
                if watcher.watch(path, RecursiveMode::NonRecursive).is_ok() {
                    self.git_watched.insert(path.clone());
                }
            }
            for path in chosen.clone().difference(&self.watched) {
                let watching = watcher.watch(&base.join(path), RecursiveMode::NonRecursive);
                if let Err(error) = watching {
                    chosen.remove(path);
                    if matches!(error.kind, notify::ErrorKind::MaxFilesWatch) {
                        // The system has no more: what is watched stays, the rest is asked.
                        self.most = chosen.len().min(self.watched.len() + fresh.len());
                        chosen.retain(|path| self.watched.contains(path) || fresh.contains(path));
                        break;
                    }
                } else {
                    fresh.insert(path.clone());
                }
            }
        } else {
            chosen.clear();
        }
        self.watched = chosen;
        // One that could not be read has nothing to be compared with.
        let (watched, asked): (Vec<_>, Vec<_>) = all
            .into_iter()
            .filter(|(_, known)| known.inode != 0)
            .partition(|(path, _)| self.watched.contains(path));
        // What changed between the walk and the watch was told by nobody.
        for (path, known) in watched.iter().filter(|(path, _)| fresh.contains(path)) {
            compare(root, path, *known, &mut self.dirty);
        }
        let is_asked =
            |file: &&PathBuf| !file.parent().is_some_and(|folder| self.watched.contains(folder));
        let files = self.wanted.open.iter().filter(is_asked).cloned().collect();
        let git = git.difference(&self.git_watched);
        let git = git.flat_map(|folder| [folder.clone(), folder.join("HEAD")]).collect();
        self.round.ask(asked, files, git, root);
    }
}

/// What differs between two trees in folders that were looked at.
fn differing(old: &Tree, new: &Tree, folders: &BTreeMap<PathBuf, Depth>) -> BTreeSet<PathBuf> {
    let mut paths = BTreeSet::new();
    for path in folders.keys() {
        match (old.folder(path), new.folder(path)) {
            (Some(old), Some(new)) if !Arc::ptr_eq(old, new) => {
                compare_names(path, old, new, &mut paths);
            }
            _ => {}
        }
    }
    paths
}

fn compare_names(path: &Path, old: &Folder, new: &Folder, paths: &mut BTreeSet<PathBuf>) {
    for (one, other) in [(old, new), (new, old)] {
        for entry in one.entries() {
            let same = other.position(entry.name).and_then(|place| other.get(place));
            if same
                .is_none_or(|same| same.kind != entry.kind || !is_alike(same.folder, entry.folder))
            {
                paths.insert(path.join(entry.name));
            }
        }
    }
}

/// Whether two folders have the same below them, as far as their times tell.
fn is_alike(one: Option<&Arc<Folder>>, other: Option<&Arc<Folder>>) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return true };
    let told = |folder: &Folder| (folder.files(), folder.folders(), folder.stamp.inode);
    Arc::ptr_eq(one, other) || told(one) == told(other)
}
