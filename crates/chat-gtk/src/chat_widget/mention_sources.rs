//! Finds what a person may point at with an `@`: files, folders and definitions of the project, other chats,
//! what changed since the last commit, a page of the web, resources of MCP servers.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin as Pinned;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chat_core::attachment::AttachmentReader;
use chat_core::error::{Error, Result};
use chat_core::event::SessionPlaceholder;
use chat_core::manager::Manager;
use chat_core::message::{AtTarget, Fid, Queued};
use chat_core::tool::ServerOffer;
use chat_project::{FileMatch, SymbolMatch};
use gtk::glib;
use tokio::sync::oneshot;

use super::handle::Handle;
use super::mention_ranking::{self, Gathered};
use crate::composer::{Names, Suggestion, Written};
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

    /// The same files for the conversation.
    pub(super) fn into_known(self) -> Option<conversation::KnownFiles> {
        self.known
    }
}

impl std::fmt::Debug for KnownFiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let folder = self.known.as_ref().map(|(folder, _)| folder);
        f.debug_tuple("KnownFiles").field(&folder).finish()
    }
}

/// What the search brings.
#[derive(Debug)]
pub(super) enum Msg {
    /// This was found in the project for this query.
    Found(String, Vec<Pointed>),
    /// The chats that there are, for this query.
    Chats(String, Vec<SessionPlaceholder>),
    /// A page that is to go along was fetched, or could not be.
    Page { url: String, result: Result<String> },
    /// What a server has that was asked for this.
    Asked { server: String, result: Result<Arc<ServerOffer>> },
}

/// What was found, for the message.
#[derive(Debug)]
pub(super) enum Output {
    /// What may be meant by this query, the best first.
    Suggestions(String, Vec<Suggestion>),
    /// The text of a page that is to go along, or why it could not be had.
    Page { url: String, result: Result<String> },
    /// A server did not say what it has.
    Failed(Error),
}

/// What is looked for, and what was found by now.
pub(super) struct MentionSources {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    known: Option<conversation::KnownFiles>,
    finder: Option<Rc<dyn Finder>>,
    /// The servers that are being asked, and those that did not answer while this name was typed.
    asking: HashSet<String>,
    silent: HashSet<String>,
    gathered: Option<Gathered>,
    given_up: Arc<AtomicBool>,
    /// The pages that are being fetched; what is dropped here is given up.
    pages: HashMap<String, oneshot::Sender<()>>,
}

impl MentionSources {
    pub(super) fn new(handle: Handle<Msg>) -> Self {
        Self {
            handle,
            manager: None,
            known: None,
            finder: None,
            asking: HashSet::new(),
            silent: HashSet::new(),
            gathered: None,
            given_up: Arc::default(),
            pages: HashMap::new(),
        }
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// The project that is shown has these files.
    pub(super) fn set_files(&mut self, files: &KnownFiles) {
        self.known.clone_from(&files.known);
        self.finder.clone_from(&files.finder);
    }

    /// What a name leads to that is written out behind an `@`.
    pub(super) fn names(&self) -> Names {
        let names = match self.known.clone() {
            Some((folder, is_file)) => {
                let finder = self.finder.clone();
                Names::new(folder, move |path| match () {
                    () if is_file(path) => Some(AtTarget::File),
                    () if finder.as_ref().is_some_and(|finder| finder.is_folder(path)) => {
                        Some(AtTarget::Folder)
                    }
                    () => None,
                })
            }
            None => Names::default(),
        };
        let Some(servers) = self.manager.as_ref().map(Manager::server_content) else {
            return names;
        };
        let folder = self.known.as_ref().map(|(folder, _)| folder.clone());
        names.with_resources(move |server, uri| servers.resource(folder.as_deref(), server, uri))
    }

    /// The person types this behind an `@`, or nothing any more. They do it in this chat, which works in
    /// this project.
    pub(super) fn look_for(
        &mut self,
        query: Option<String>,
        fid: Option<&Fid>,
        project: Option<&Path>,
    ) -> Option<Output> {
        self.given_up.store(true, Ordering::Relaxed);
        self.gathered = None;
        let Some(query) = query else {
            self.silent.clear();
            return None;
        };
        let given_up = Arc::<AtomicBool>::default();
        self.given_up = Arc::clone(&given_up);
        // The files of another chat's project are none of this one's.
        let folder = self.known.as_ref().map(|(folder, _)| folder.clone());
        let folder = folder.filter(|folder| project == Some(folder));
        let mut gathered = Gathered::new(query.clone(), fid.cloned(), folder);
        if let Some(manager) = &self.manager {
            gathered =
                gathered.with_secrets(manager.settings().current().permissions.secrets.clone());
            gathered = gathered.with_servers(manager.server_content().known(project));
        }
        self.ask_server(gathered.server(), project);
        let is_name = !gathered.is_address() && gathered.server().is_none();
        let finder = self.finder.clone();
        let finder = finder.filter(|_| is_name && gathered.has_project());
        let manager = self.manager.clone().filter(|_| is_name);
        gathered.awaits(finder.is_some(), manager.is_some());
        if let Some(finder) = finder {
            let files = finder.files(&query, Arc::clone(&given_up));
            let symbols = finder.symbols(&query, Arc::clone(&given_up));
            let (query, handle) = (query.clone(), self.handle.clone());
            glib::spawn_future_local(async move {
                for found in [files, symbols] {
                    let found = found.await;
                    if given_up.load(Ordering::Relaxed) {
                        return;
                    }
                    handle.send(Msg::Found(query.clone(), found));
                }
            });
        }
        if let Some(manager) = manager {
            self.handle.spawn(async move {
                let chats = manager.sessions().list().await.unwrap_or_default();
                Msg::Chats(query, chats)
            });
        }
        let suggestions = suggestions(&gathered);
        self.gathered = Some(gathered);
        suggestions
    }

    pub(super) fn update(&mut self, msg: Msg) -> Option<Output> {
        match msg {
            Msg::Found(query, found) => self.gather(&query, |gathered| gathered.add_found(found)),
            Msg::Chats(query, chats) => self.gather(&query, |gathered| gathered.add_chats(chats)),
            Msg::Asked { server, result: Ok(offer) } => {
                self.asking.remove(&server);
                let gathered = self.gathered.as_mut();
                let gathered =
                    gathered.filter(|it| it.server().is_some_and(|it| it.server == server))?;
                gathered.add_server(offer);
                suggestions(gathered)
            }
            Msg::Asked { server, result: Err(error) } => {
                self.asking.remove(&server);
                self.silent.insert(server);
                Some(Output::Failed(error))
            }
            // Nobody waits for it any more, so nothing is said about it.
            Msg::Page { url, result } => {
                self.pages.remove(&url).map(|_| Output::Page { url, result })
            }
        }
    }

    /// The pages at these addresses are to go along and are not there yet: they are fetched, and no
    /// others any more.
    pub(super) fn fetch_pages(&mut self, wanted: Vec<String>) {
        let Some(manager) = self.manager.clone() else { return };
        self.pages.retain(|url, _| wanted.contains(url));
        for url in wanted {
            if self.pages.contains_key(&url) {
                continue;
            }
            let (guard, given_up) = oneshot::channel();
            self.pages.insert(url.clone(), guard);
            let context = manager.context();
            self.handle.spawn(async move {
                tokio::select! {
                    biased;
                    _ = given_up => None,
                    result = context.page(&url) => Some(Msg::Page { url, result }),
                }
            });
        }
    }

    /// Asks the server that is named what it has, if that is not known: it may have to be started for that.
    fn ask_server(&mut self, offer: Option<&ServerOffer>, project: Option<&Path>) {
        let unasked = offer.filter(|offer| offer.resources.is_none());
        let (Some(offer), Some(manager)) = (unasked, self.manager.clone()) else { return };
        let server = offer.server.clone();
        if self.silent.contains(&server) || !self.asking.insert(server.clone()) {
            return;
        }
        let project = project.map(Path::to_owned);
        self.handle.spawn(async move {
            let result = manager.server_content().ask(project.as_deref(), &server).await;
            Msg::Asked { server, result }
        });
    }

    fn gather(&mut self, query: &str, add: impl FnOnce(&mut Gathered)) -> Option<Output> {
        let gathered = self.gathered.as_mut().filter(|gathered| gathered.query == query)?;
        add(gathered);
        suggestions(gathered)
    }
}

/// What was found by now. All of what comes at once is shown at once.
fn suggestions(gathered: &Gathered) -> Option<Output> {
    gathered
        .is_settled()
        .then(|| Output::Suggestions(gathered.query.clone(), gathered.suggestions()))
}

/// What waited to be sent, as it was written.
pub(super) async fn written(manager: &Manager, project: Option<&Path>, queued: Queued) -> Written {
    let chats = manager.sessions().list().await.unwrap_or_default();
    let written = Written::of(queued.content, queued.context.mentions, |mention| {
        mention_ranking::name(mention, project, &chats)
    });
    written.with_thumbnails(&AttachmentReader::default()).await
}
