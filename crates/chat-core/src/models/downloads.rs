//! Keeps the list of downloads: those that run here, those that can be resumed, and those that
//! another program runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::download::{self, DownloadFolder, DownloadPlan, Ended, Job, Progress};
use super::hub::{Hub, RemoteModel};
use super::library::{Installed, Library};
use crate::error::{Error, Kind, Result};
use crate::settings::watch::Watch;

pub use super::download::Stage as DownloadStage;

/// Another program's download is checked again after this time: nothing reports its progress.
const AGAIN: Duration = Duration::from_secs(2);

/// What somebody hears of it.
pub(crate) enum DownloadNews {
    /// A download began, went on, or ended.
    Downloads,
    /// A model arrived.
    Library,
}

/// A model on its way here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Download {
    /// Its id: the same each time the same file is downloaded.
    pub id: String,
    /// What the model is to be called.
    pub name: String,
    /// Where it comes from, `owner/name`.
    pub repository: String,
    /// The file there; the first, where there are several.
    pub file: String,
    /// How many bytes are here.
    pub received: u64,
    /// How many there are.
    pub total: u64,
    /// How it stands.
    pub state: DownloadState,
}

/// How a download stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DownloadState {
    /// It is at work.
    Running {
        /// At what.
        stage: DownloadStage,
        /// How many bytes come in a second, over the last few.
        speed: Option<u64>,
    },
    /// It waits to be gone on with: somebody paused it, or the program ended.
    Paused,
    /// It failed; it can be tried again, and goes on from what had arrived.
    Failed(Error),
    /// Another program downloads it.
    Elsewhere,
    /// The model is here, under this name.
    Done {
        /// Its name in the library.
        model: String,
    },
}

/// The list of downloads. Dropping it stops them; what had arrived stays.
pub(crate) struct Downloader {
    hub: Arc<Hub>,
    library: Library,
    runtime: tokio::runtime::Handle,
    tell: Arc<dyn Fn(DownloadNews) + Send + Sync>,
    entries: Mutex<Vec<Entry>>,
    closing: CancellationToken,
    tasks: TaskTracker,
    /// Set while a notification is pending.
    looking: Arc<AtomicBool>,
    watch: OnceLock<Option<Watch>>,
}

struct Entry {
    folder: DownloadFolder,
    plan: DownloadPlan,
    state: EntryState,
}

enum EntryState {
    Running { progress: Arc<Progress>, stop: CancellationToken },
    Paused,
    Failed(Error),
    Done { model: String },
}

impl Drop for Downloader {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

impl Downloader {
    /// The downloads of a library. `tell` is called whenever there is something new.
    pub fn new(
        hub: Arc<Hub>,
        library: Library,
        tell: impl Fn(DownloadNews) + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self {
            hub,
            library,
            runtime: tokio::runtime::Handle::current(),
            tell: Arc::new(tell),
            entries: Mutex::default(),
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
            looking: Arc::default(),
            watch: OnceLock::new(),
        })
    }

    pub fn hub(&self) -> &Arc<Hub> {
        &self.hub
    }

    /// All downloads as they stand, those of other programs too. Looks at the disk.
    pub fn list(&self) -> Vec<Download> {
        let mut entries = self.lock();
        // Read under the lock: what ends meanwhile would be taken for one that waits.
        let on_disk = DownloadFolder::all(&self.library);
        // What another program brought to its end or threw away is no more.
        entries.retain(|entry| {
            !matches!(entry.state, EntryState::Paused | EntryState::Failed(_))
                || on_disk.iter().any(|(folder, _)| *folder == entry.folder)
        });
        for (folder, plan) in on_disk {
            let known = entries.iter_mut().find(|entry| entry.folder == folder);
            match known {
                Some(Entry { state: EntryState::Done { .. }, .. }) | None => {
                    entries.retain(|entry| entry.folder != folder);
                    entries.push(Entry { folder, plan, state: EntryState::Paused });
                }
                Some(entry) => entry.plan = plan,
            }
        }
        let all: Vec<_> = entries.iter().map(Entry::download).collect();
        drop(entries);
        let elsewhere = all.iter().any(|it| it.state == DownloadState::Elsewhere);
        if elsewhere || DownloadFolder::is_one_begun(&self.library) {
            refresh_later(&self.runtime, &self.closing, &self.looking, &self.tell);
        }
        all
    }

    /// Hears from now on of the downloads that other programs begin and end.
    pub fn follow(&self) {
        let (runtime, closing) = (self.runtime.clone(), self.closing.clone());
        let (looking, tell) = (Arc::clone(&self.looking), Arc::clone(&self.tell));
        self.watch.get_or_init(|| {
            let folder = DownloadFolder::folder(&self.library).inspect_err(
                |error| tracing::warn!(%error, "downloads of other programs are not heard of"),
            );
            Watch::new(&folder.ok()?, move || refresh_later(&runtime, &closing, &looking, &tell))
        });
    }

    /// Starts or resumes the download of a model that the site has just listed. Gives its
    /// id. One that is installed already is done at once. Looks at the disk.
    pub fn start(self: &Arc<Self>, model: RemoteModel) -> Result<String> {
        let folder = DownloadFolder::of(&self.library, &model);
        let name = download::name_for(&model);
        if let Some(there) = self.library.downloaded(&model)? {
            // A plan may be left of it, where a program ended before it had cleared up.
            if folder.plan().is_ok()
                && let Ok(_lock) = folder.lock()
            {
                folder.clear()?;
            }
            let (id, plan) = (folder.id().to_owned(), DownloadPlan::new(there.name.clone(), model));
            let mut entries = self.lock();
            entries.retain(|entry| entry.folder != folder);
            entries.push(Entry { folder, plan, state: EntryState::Done { model: there.name } });
            drop(entries);
            (self.tell)(DownloadNews::Downloads);
            return Ok(id);
        }
        folder.prepare(&DownloadPlan::new(name, model.clone()))?;
        self.run(folder, Some(model))
    }

    /// Goes on with a download that is paused or failed. Does nothing where it runs.
    ///
    /// # Errors
    /// `ModelStorage` where there is no such download any more.
    pub fn resume(self: &Arc<Self>, id: &str) -> Result<()> {
        let folder = self.folder(id).ok_or(Kind::ModelStorage)?;
        self.run(folder, None).map(drop)
    }

    /// Stops a download; what had arrived stays.
    pub fn pause(&self, id: &str) {
        let mut entries = self.lock();
        if let Some(entry) = entries.iter_mut().find(|entry| entry.folder.id() == id)
            && let EntryState::Running { stop, .. } = &entry.state
        {
            // The task marks it as paused when it has let go of its file.
            stop.cancel();
        }
    }

    /// Stops a download and throws away what had arrived. One that is done is only forgotten.
    ///
    /// # Errors
    /// `DownloadElsewhere` where another program downloads it; `ModelStorage`, `ReadOnly`.
    pub async fn cancel(&self, id: &str) -> Result<()> {
        self.pause(id);
        self.settled(id).await;
        let folder = self.folder(id);
        if let Some(folder) = folder {
            let clearing = tokio::task::spawn_blocking(move || {
                // With the lock in hand nobody writes there.
                match folder.lock() {
                    // Another program threw it away just now.
                    Err(_) if folder.plan().is_err() => Ok(()),
                    lock => lock.and_then(|_lock| folder.clear()),
                }
            });
            clearing.await.unwrap_or_else(|_| Err(Kind::Internal.into()))?;
        }
        self.lock().retain(|entry| entry.folder.id() != id);
        (self.tell)(DownloadNews::Downloads);
        Ok(())
    }

    /// Stops all of them and waits until each has let go of its file.
    pub async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Waits until a download that was asked to stop has closed its file. One that was not asked
    /// so is not waited for.
    pub async fn settled(&self, id: &str) {
        let stopping = |entry: &Entry| match &entry.state {
            EntryState::Running { progress, stop } if stop.is_cancelled() => {
                Some(Arc::clone(progress))
            }
            _ => None,
        };
        let found = self.lock().iter().find(|entry| entry.folder.id() == id).and_then(stopping);
        if let Some(progress) = found {
            progress.ended().await;
        }
    }

    /// The id that the download of a model has.
    pub fn id_of(&self, model: &RemoteModel) -> String {
        DownloadFolder::of(&self.library, model).id().to_owned()
    }

    fn folder(&self, id: &str) -> Option<DownloadFolder> {
        let known =
            self.lock().iter().find(|entry| entry.folder.id() == id).map(|e| e.folder.clone());
        let on_disk = || DownloadFolder::all(&self.library).into_iter().map(|(folder, _)| folder);
        known.filter(|folder| folder.plan().is_ok()).or_else(|| on_disk().find(|p| p.id() == id))
    }

    fn run(self: &Arc<Self>, folder: DownloadFolder, fresh: Option<RemoteModel>) -> Result<String> {
        let id = folder.id().to_owned();
        let mut entries = self.lock();
        let running = |entry: &Entry| {
            entry.folder == folder && matches!(entry.state, EntryState::Running { .. })
        };
        if entries.iter().any(running) {
            return Ok(id);
        }
        let plan = folder.plan()?;
        let tell = Arc::clone(&self.tell);
        let progress = Arc::new(Progress::new(move || tell(DownloadNews::Downloads)));
        let stop = self.closing.child_token();
        let state = EntryState::Running { progress: Arc::clone(&progress), stop: stop.clone() };
        entries.retain(|entry| entry.folder != folder);
        entries.push(Entry { folder: folder.clone(), plan, state });
        drop(entries);
        let job = Job {
            hub: Arc::clone(&self.hub),
            library: self.library.clone(),
            folder: folder.clone(),
            progress: Arc::clone(&progress),
            stop,
        };
        let (weak, tell) = (Arc::downgrade(self), Arc::clone(&self.tell));
        self.tasks.spawn_on(
            async move {
                let ended = job.run(fresh).await;
                if let Some(this) = weak.upgrade() {
                    this.take_end(&folder, ended);
                }
                progress.end();
                tell(DownloadNews::Downloads);
            },
            &self.runtime,
        );
        (self.tell)(DownloadNews::Downloads);
        Ok(id)
    }

    fn take_end(&self, folder: &DownloadFolder, ended: Result<Installed, Ended>) {
        let mut arrived = false;
        let mut entries = self.lock();
        if let Some(entry) = entries.iter_mut().find(|entry| entry.folder == *folder) {
            if let Ok(plan) = folder.plan() {
                entry.plan = plan;
            }
            entry.state = match ended {
                Ok(model) => {
                    arrived = true;
                    EntryState::Done { model: model.name }
                }
                Err(Ended::Stopped) => EntryState::Paused,
                Err(Ended::Failed(error)) => {
                    tracing::warn!(%error, "a download failed");
                    EntryState::Failed(error)
                }
            };
        }
        drop(entries);
        if arrived {
            (self.tell)(DownloadNews::Library);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Notifies after a short while that there may be something new, once for all callers until then.
fn refresh_later(
    runtime: &tokio::runtime::Handle,
    closing: &CancellationToken,
    looking: &Arc<AtomicBool>,
    tell: &Arc<dyn Fn(DownloadNews) + Send + Sync>,
) {
    if looking.swap(true, Ordering::AcqRel) {
        return;
    }
    let (looking, tell) = (Arc::clone(looking), Arc::clone(tell));
    runtime.spawn(closing.clone().run_until_cancelled_owned(async move {
        tokio::time::sleep(AGAIN).await;
        looking.store(false, Ordering::Release);
        tell(DownloadNews::Downloads);
    }));
}

impl Entry {
    fn download(&self) -> Download {
        let model = &self.plan.model;
        let (received, total, state) = match &self.state {
            EntryState::Running { progress, .. } => {
                let look = progress.snapshot();
                let state = DownloadState::Running { stage: look.stage, speed: look.speed };
                (look.received, model.size(), state)
            }
            EntryState::Done { model: name } => {
                (model.size(), model.size(), DownloadState::Done { model: name.clone() })
            }
            EntryState::Failed(error) => {
                let state = DownloadState::Failed(error.clone());
                (self.folder.received(&self.plan), model.size(), state)
            }
            EntryState::Paused => {
                let taken = self.folder.is_taken();
                let state = if taken { DownloadState::Elsewhere } else { DownloadState::Paused };
                (self.folder.received(&self.plan), model.size(), state)
            }
        };
        Download {
            id: self.folder.id().to_owned(),
            name: self.plan.name.clone(),
            repository: model.repository.clone(),
            file: model.file.clone(),
            received,
            total,
            state,
        }
    }
}

impl std::fmt::Debug for Downloader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Downloader").finish_non_exhaustive()
    }
}
