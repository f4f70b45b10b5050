//! What a person may point at with an `@`: files, folders and definitions of the project, other chats,
//! what changed since the last commit, a page of the web.

use std::collections::HashMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin as Pinned;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chat_core::error::Result;
use chat_core::event::SessionPlaceholder;
use chat_core::manager::Manager;
use chat_core::message::{AtTarget, Queued};
use chat_edge::words;
use chat_project::{FileMatch, SymbolMatch};
use gtk::glib;
use relm4::ComponentSender;
use tokio::sync::oneshot;

use super::suggesting::{self, Gathered};
use super::view::View;
use super::{ChatWidget, Done, Input, Output, Part, Told, done, tell};
use crate::composer::{Names, Written};
use crate::conversation;

/// What was found in a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// A file.
    File(FileMatch),
    /// A folder.
    Folder(FileMatch),
    /// A definition.
    Symbol(SymbolMatch),
}

/// A search on its way. Dropping it ends it.
pub type Finding = Pinned<Box<dyn Future<Output = Vec<Pointed>>>>;

/// Looks in a project for what a person may point at.
pub trait Finder {
    /// Files and folders by letters of their paths, the best first.
    fn files(&self, query: &str, given_up: Arc<AtomicBool>) -> Finding;

    /// Whether a path, from the project on, is one of its folders.
    fn is_folder(&self, path: &Path) -> bool;

    /// Definitions by a part of their names, the best first. This may take two seconds.
    fn symbols(&self, query: &str, given_up: Arc<AtomicBool>) -> Finding;
}

/// The files of a project.
#[derive(Default)]
pub struct KnownFiles {
    known: Option<conversation::KnownFiles>,
    finder: Option<Rc<dyn Finder>>,
}

impl KnownFiles {
    /// Those of a folder; `is_file` says whether a path from there on is one of them.
    pub fn new(folder: PathBuf, is_file: impl Fn(&Path) -> bool + 'static) -> Self {
        Self { known: Some((folder, Rc::new(is_file))), finder: None }
    }

    /// This finds what a person may point at.
    #[must_use]
    pub fn with_finder(mut self, finder: Rc<dyn Finder>) -> Self {
        self.finder = Some(finder);
        self
    }
}

impl std::fmt::Debug for KnownFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let folder = self.known.as_ref().map(|(folder, _)| folder);
        f.debug_tuple("KnownFiles").field(&folder).finish()
    }
}

/// What is looked for, and what was found by now.
#[derive(Default)]
pub(super) struct Pointing {
    folder: Option<PathBuf>,
    finder: Option<Rc<dyn Finder>>,
    gathered: Option<Gathered>,
    given_up: Arc<AtomicBool>,
    /// The pages that are being fetched; what is dropped here is given up.
    pages: HashMap<String, oneshot::Sender<()>>,
}

impl std::fmt::Debug for Pointing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pointing").field("gathered", &self.gathered).finish_non_exhaustive()
    }
}

impl ChatWidget {
    pub(super) fn set_known_files(&mut self, files: KnownFiles, view: &View) {
        self.pointing.folder = files.known.as_ref().map(|(folder, _)| folder.clone());
        let names = files.known.clone().map(|(folder, is_file)| {
            let finder = files.finder.clone();
            let target = move |path: &Path| match () {
                () if is_file(path) => Some(AtTarget::File),
                () if finder.as_ref().is_some_and(|finder| finder.is_folder(path)) => {
                    Some(AtTarget::Folder)
                }
                () => None,
            };
            Names::new(folder, target)
        });
        view.composer.set_names(names);
        self.pointing.finder = files.finder;
        view.conversation.set_files(files.known);
    }

    /// The person types this behind an `@`, or nothing any more.
    pub(super) fn look_for(
        &mut self,
        query: Option<String>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        self.pointing.given_up.store(true, Ordering::Relaxed);
        self.pointing.gathered = None;
        let Some(query) = query else { return };
        let given_up = Arc::<AtomicBool>::default();
        self.pointing.given_up = Arc::clone(&given_up);
        // The files of another chat's project are none of this one's.
        let folder =
            self.pointing.folder.clone().filter(|folder| self.shown.project() == Some(folder));
        let mut gathered = Gathered::new(query.clone(), folder);
        if let Some(manager) = &self.manager {
            gathered =
                gathered.with_secrets(manager.settings().current().permissions.secrets.clone());
        }
        let is_name = !gathered.is_address();
        let finder = self.pointing.finder.clone();
        let finder = finder.filter(|_| is_name && gathered.has_project());
        let manager = self.manager.clone().filter(|_| is_name);
        gathered.awaits(finder.is_some(), manager.is_some());
        if let Some(finder) = finder {
            let files = finder.files(&query, Arc::clone(&given_up));
            let symbols = finder.symbols(&query, Arc::clone(&given_up));
            let (query, input) = (query.clone(), sender.input_sender().clone());
            glib::spawn_future_local(async move {
                for found in [files, symbols] {
                    let found = found.await;
                    if given_up.load(Ordering::Relaxed) {
                        return;
                    }
                    input.emit(Input::Part(Part(Told::Found(query.clone(), found))));
                }
            });
        }
        if let Some(manager) = manager {
            sender.oneshot_command(async move {
                let chats = manager.sessions().list().await.unwrap_or_default();
                done(Done::Chats(query, chats))
            });
        }
        suggest(&gathered, view);
        self.pointing.gathered = Some(gathered);
    }

    pub(super) fn found_came(&mut self, query: &str, found: Vec<Pointed>, view: &View) {
        self.gather(query, view, |gathered| gathered.add_found(found));
    }

    pub(super) fn chats_came(&mut self, query: &str, chats: Vec<SessionPlaceholder>, view: &View) {
        let this = self.shown.fid().cloned();
        self.gather(query, view, |gathered| gathered.add_chats(chats, this.as_ref()));
    }

    fn gather(&mut self, query: &str, view: &View, add: impl FnOnce(&mut Gathered)) {
        let gathered = self.pointing.gathered.as_mut();
        if let Some(gathered) = gathered.filter(|gathered| gathered.query == query) {
            add(gathered);
            suggest(gathered, view);
        }
    }

    /// The pages at these addresses are to go along and are not there yet: they are fetched, and no
    /// others any more.
    pub(super) fn fetch_pages(&mut self, wanted: Vec<String>, sender: &ComponentSender<Self>) {
        let Some(manager) = self.manager.clone() else { return };
        self.pointing.pages.retain(|url, _| wanted.contains(url));
        for url in wanted {
            if self.pointing.pages.contains_key(&url) {
                continue;
            }
            let (guard, given_up) = oneshot::channel();
            self.pointing.pages.insert(url.clone(), guard);
            let context = manager.context();
            sender.oneshot_command(async move {
                tokio::select! {
                    biased;
                    _ = given_up => done(Done::Nothing),
                    result = context.page(&url) => done(Done::Page { url, result }),
                }
            });
        }
    }

    /// A page that is to go along was fetched, or could not be. Of one that nobody waits for any more
    /// nothing is said.
    pub(super) fn page_came(
        &mut self,
        url: &str,
        result: Result<String>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        if self.pointing.pages.remove(url).is_none() {
            return;
        }
        match result {
            Ok(text) => drop(view.composer.page_came(url, Some(text))),
            Err(error) => {
                if view.composer.page_came(url, None) {
                    tell(sender, Output::Note(words::sentence(&error)));
                }
            }
        }
    }
}

fn suggest(gathered: &Gathered, view: &View) {
    // All of what comes at once is shown at once.
    if gathered.is_settled() {
        view.composer.suggest(&gathered.query, gathered.suggestions());
    }
}

/// What waited to be sent, as it was written.
pub(super) async fn written(manager: &Manager, project: Option<&Path>, queued: Queued) -> Written {
    let chats = manager.sessions().list().await.unwrap_or_default();
    Written::of(queued.content, queued.context.mentions, |mention| {
        suggesting::name(mention, project, &chats)
    })
}
