//! Brings a project's files and their git status to the main thread.
//!
//! Events are collected and reported once per frame; an idle project causes no wakeups.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::chat_widget::{Finder, Finding, Pointed};
use chat_permission::path::{PathEnvironment, Project};
use chat_project::git::{self, Change, Head};
use chat_project::tree::{Kind, Tree};
use chat_project::{Event, FileMatch, Files, PreferredFiles, kinds, search, symbols};
use gtk::{gio, glib};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Events within this time are reported together.
const TOGETHER: Duration = Duration::from_millis(30);
/// The minimum time between two queries of git.
const GIT_REST: Duration = Duration::from_millis(400);

/// What has changed about a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// Its files have changed.
    Files,
    /// Its git status has changed.
    Git,
    /// The folder cannot be read.
    Gone,
}

/// The git status.
#[derive(Debug, Default)]
pub(crate) struct GitState {
    /// The branch or commit that the next commit goes to.
    pub(crate) head: Option<Head>,
    /// The changed files, by their paths relative to the project.
    pub(crate) files: HashMap<PathBuf, Change>,
    /// The folders that contain some of them.
    pub(crate) folders: HashSet<PathBuf>,
}

/// Receives news about a project.
type Listener = Rc<dyn Fn(News)>;

/// An open project. Dropping it ends all its work.
pub(crate) struct ProjectFiles {
    folder: PathBuf,
    shared: Rc<Shared>,
}

struct Shared {
    project: RefCell<Option<Project>>,
    files: RefCell<Option<Files>>,
    git: RefCell<Rc<GitState>>,
    listeners: RefCell<Vec<Listener>>,
    shown: RefCell<Vec<PathBuf>>,
    open: RefCell<Vec<PathBuf>>,
    asking: Cell<bool>,
    ask_again: Cell<bool>,
    given_up: Arc<AtomicBool>,
}

impl Drop for ProjectFiles {
    fn drop(&mut self) {
        self.shared.given_up.store(true, Ordering::Relaxed);
    }
}

impl std::fmt::Debug for ProjectFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProjectFiles").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl ProjectFiles {
    /// Opens a folder; its files are loaded in the background.
    pub(crate) fn open(folder: &Path) -> Self {
        let shared = Rc::new(Shared {
            project: RefCell::default(),
            files: RefCell::default(),
            git: RefCell::default(),
            listeners: RefCell::default(),
            shown: RefCell::default(),
            open: RefCell::default(),
            asking: Cell::default(),
            ask_again: Cell::default(),
            given_up: Arc::default(),
        });
        let (tell, told) = unbounded_channel();
        let (weak, place) = (Rc::downgrade(&shared), folder.to_owned());
        glib::spawn_future_local(async move {
            let opened = gio::spawn_blocking(move || open(&place, tell)).await;
            let Some(shared) = weak.upgrade() else { return };
            let Ok(Some((project, files))) = opened else {
                shared.tell(News::Gone);
                return;
            };
            files.show(shared.shown.borrow().clone());
            files.opened(shared.open.borrow().clone());
            shared.project.replace(Some(project));
            shared.files.replace(Some(files));
            shared.ask_git();
            drop(shared);
            carry(&weak, told).await;
        });
        Self { folder: folder.to_owned(), shared }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Sets what receives news.
    pub(crate) fn connect(&self, told: impl Fn(News) + 'static) {
        self.shared.listeners.borrow_mut().push(Rc::new(told));
    }

    /// The current files; none if they are not known yet.
    pub(crate) fn tree(&self) -> Option<Arc<Tree>> {
        self.shared.files.borrow().as_ref().map(Files::tree)
    }

    /// The last known git status.
    pub(crate) fn git(&self) -> Rc<GitState> {
        Rc::clone(&self.shared.git.borrow())
    }

    /// Whether this path relative to the project is one of its files.
    pub(crate) fn has_file(&self, path: &Path) -> bool {
        let is_plain =
            path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        is_plain
            && self
                .tree()
                .is_some_and(|tree| matches!(tree.kind(path), Some(Kind::File | Kind::Link)))
    }

    /// Sets which folders are visible, by their paths relative to the project.
    pub(crate) fn set_shown(&self, folders: Vec<PathBuf>) {
        if let Some(files) = self.shared.files.borrow().as_ref() {
            files.show(folders.clone());
        }
        self.shared.shown.replace(folders);
    }

    /// Sets which files are open, by their paths relative to the project.
    pub(crate) fn set_open(&self, open: Vec<PathBuf>) {
        if *self.shared.open.borrow() == open {
            return;
        }
        if let Some(files) = self.shared.files.borrow().as_ref() {
            files.opened(open.clone());
        }
        self.shared.open.replace(open);
    }

    /// One file of each of its most frequent kinds, the most frequent first.
    pub(crate) async fn kinds(&self, most: usize) -> Vec<PathBuf> {
        let Some(tree) = self.tree() else { return Vec::new() };
        gio::spawn_blocking(move || kinds(tree.paths(), most)).await.unwrap_or_default()
    }

    /// Searches for files by letters of their paths, the best first. None if it was cancelled.
    pub(crate) async fn search(
        &self,
        query: String,
        most: usize,
        given_up: Arc<AtomicBool>,
    ) -> Option<Vec<FileMatch>> {
        let tree = self.tree()?;
        let favoured = PreferredFiles::new(self.shared.open.borrow().clone());
        let look = move || search(tree.paths(), &query, &favoured, most, &given_up);
        gio::spawn_blocking(look).await.ok().flatten()
    }
}

/// The maximum number of files suggested after an `@`.
const FILES: usize = 8;
/// The maximum number of folders.
const FOLDERS: usize = 4;
/// The maximum number of definitions.
const SYMBOLS: usize = 8;

impl Finder for ProjectFiles {
    fn files(&self, query: &str, given_up: Arc<AtomicBool>) -> Finding {
        let tree = self.tree();
        let favoured = PreferredFiles::new(self.shared.open.borrow().clone());
        let query = query.to_owned();
        Box::pin(async move {
            let Some(tree) = tree else { return Vec::new() };
            let look = move || {
                let files = search(tree.paths(), &query, &favoured, FILES, &given_up)?;
                // Before anything is typed, the user most likely means an open file, not one of
                // many folders.
                let most = if query.is_empty() { 0 } else { FOLDERS };
                let letters = query.trim_end_matches('/');
                let folders = search(tree.folder_paths(), letters, &favoured, most, &given_up)?;
                // If a folder's name is typed, the folder is meant rather than its content.
                let is_named = |folder: &FileMatch| begins_name_of(&query, &folder.path);
                let (named, folders): (Vec<_>, Vec<_>) = folders.into_iter().partition(is_named);
                let folder = Pointed::Folder;
                let found =
                    named.into_iter().map(folder).chain(files.into_iter().map(Pointed::File));
                Some(found.chain(folders.into_iter().map(folder)).collect())
            };
            gio::spawn_blocking(look).await.ok().flatten().unwrap_or_default()
        })
    }

    fn is_folder(&self, path: &Path) -> bool {
        self.tree().is_some_and(|tree| tree.kind(path) == Some(Kind::Folder))
    }

    fn symbols(&self, query: &str, given_up: Arc<AtomicBool>) -> Finding {
        let (tree, project) = (self.tree(), self.shared.project.borrow().clone());
        let favoured = PreferredFiles::new(self.shared.open.borrow().clone());
        let query = query.to_owned();
        Box::pin(async move {
            let (Some(tree), Some(project)) = (tree, project) else { return Vec::new() };
            let look =
                move || symbols(&project, tree.paths(), &query, &favoured, SYMBOLS, &given_up);
            let found = gio::spawn_blocking(look).await.ok().flatten().unwrap_or_default();
            found.into_iter().map(Pointed::Symbol).collect()
        })
    }
}

/// Whether a folder's name or path begins with the query or equals it, ignoring case.
fn begins_name_of(query: &str, folder: &Path) -> bool {
    let query = query.to_lowercase();
    let name = query.trim_end_matches('/');
    let begins = |part: &Path| {
        let part = part.to_string_lossy().to_lowercase();
        // A single letter begins too many names.
        part == name || name == query && name.len() > 1 && part.starts_with(name)
    };
    !name.is_empty()
        && (begins(folder) || folder.file_name().is_some_and(|name| begins(Path::new(name))))
}

fn open(folder: &Path, tell: UnboundedSender<Event>) -> Option<(Project, Files)> {
    let project = Project::open(folder, &PathEnvironment::default()).ok()?;
    // The receiver may be gone.
    let files = Files::open(project.clone(), move |event| drop(tell.send(event))).ok()?;
    Some((project, files))
}

/// Forwards events as long as the project is open.
async fn carry(shared: &std::rc::Weak<Shared>, mut told: UnboundedReceiver<Event>) {
    while let Some(first) = told.recv().await {
        glib::timeout_future(TOGETHER).await;
        let Some(shared) = shared.upgrade() else { return };
        let (mut files, mut git, mut gone) = (false, false, false);
        for event in std::iter::once(first).chain(std::iter::from_fn(|| told.try_recv().ok())) {
            match event {
                Event::Rescanned | Event::Changed { .. } => (files, git) = (true, true),
                Event::Git => git = true,
                Event::Error(chat_project::WatchError::Gone) => gone = true,
                // Changes are still noticed, a little later.
                Event::Error(_) => {}
            }
        }
        if files {
            shared.tell(News::Files);
        }
        if gone {
            shared.tell(News::Gone);
        }
        if git {
            shared.ask_git();
        }
    }
}

impl Shared {
    fn tell(&self, news: News) {
        let listeners = self.listeners.borrow().clone();
        for listener in listeners {
            listener(news);
        }
    }

    /// Queries git, or queries it once more if a query is running.
    fn ask_git(self: &Rc<Self>) {
        let Some(project) = self.project.borrow().clone() else { return };
        if self.asking.replace(true) {
            self.ask_again.set(true);
            return;
        }
        let (weak, given_up) = (Rc::downgrade(self), Arc::clone(&self.given_up));
        glib::spawn_future_local(async move {
            let ask = move || {
                let repository = git::find(&project).ok().flatten()?;
                Some(state_of(repository.state(&given_up).ok()?))
            };
            let state = gio::spawn_blocking(ask).await.ok().flatten().unwrap_or_default();
            let Some(shared) = weak.upgrade() else { return };
            let before = shared.git.replace(Rc::new(state));
            let now = Rc::clone(&shared.git.borrow());
            if before.head != now.head || before.files != now.files {
                shared.tell(News::Git);
            }
            drop(shared);
            glib::timeout_future(GIT_REST).await;
            let Some(shared) = weak.upgrade() else { return };
            shared.asking.set(false);
            if shared.ask_again.take() {
                shared.ask_git();
            }
        });
    }
}

fn state_of(state: git::State) -> GitState {
    let mut folders = HashSet::new();
    for changed in &state.files {
        let above = changed.path.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty());
        folders.extend(above.map(Path::to_owned));
    }
    let files = state.files.into_iter().map(|changed| (changed.path, changed.change)).collect();
    GitState { head: Some(state.head), files, folders }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_by_its_name_or_its_path() {
        assert!(begins_name_of("src", Path::new("crates/core/src")));
        assert!(begins_name_of("Core/src/", Path::new("core/src")));
        assert!(begins_name_of("sr", Path::new("src")));
        assert!(!begins_name_of("sr/", Path::new("src")));
        assert!(!begins_name_of("s", Path::new("src")));
        assert!(begins_name_of("s", Path::new("s")));
    }
}
