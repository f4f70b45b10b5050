//! Downloads one model: fetches it in pieces that survive an interruption, checks it, and only then
//! adds it to the models.
//!
//! What has arrived lies in a hidden folder of its own below the library's, with a plan that says
//! what it is to become. A lock keeps other programs from writing there at the same time.

mod folder;
mod part;
mod progress;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub(super) use self::folder::{DownloadFolder, DownloadPlan};
pub(super) use self::progress::Progress;
pub use self::progress::Stage;
use super::hub::{Hub, RemoteModel};
use super::library::{Installed, Library, Source};
use super::machine::SPARE;
use super::{catalogue, facts, name};
use crate::error::{Error, Kind, Result};

/// Why a download ended without a model.
#[derive(Debug)]
pub(super) enum Ended {
    /// Somebody stopped it: what had arrived is kept.
    Stopped,
    /// It failed. What is sound of what had arrived is kept.
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Ended {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A download and all that it needs.
pub(super) struct Job {
    pub hub: Arc<Hub>,
    pub library: Library,
    pub folder: DownloadFolder,
    pub progress: Arc<Progress>,
    /// Ends it, between two pieces.
    pub stop: CancellationToken,
}

impl Job {
    /// Fetches what the plan says, or goes on with it. `fresh` is what the site has said just now;
    /// where it is none it is asked again, since what is there may have changed.
    pub async fn run(self, fresh: Option<RemoteModel>) -> Result<Installed, Ended> {
        let lock = self.blocking(DownloadFolder::lock).await?;
        self.progress.enter(Stage::Asking);
        let mut plan = self.blocking(DownloadFolder::plan).await?;
        let model = if let Some(model) = fresh {
            model
        } else {
            let asking = self.hub.same_model(&plan.model.repository, &plan.model.file);
            let asked = self.stop.run_until_cancelled(asking).await;
            asked.ok_or(Ended::Stopped)??
        };
        let (library, wanted) = (self.library.clone(), model.clone());
        if let Some(there) = self.blocking(move |_| library.downloaded(&wanted)).await? {
            // The program ended when it was among the models already.
            self.blocking(DownloadFolder::clear).await?;
            return Ok(there);
        }
        if plan.model != model {
            // Another file stands there now: what had arrived is no part of it.
            plan.model = model;
            let changed = plan.clone();
            self.blocking(move |folder| folder.restart(&changed)).await?;
        }
        let names: Vec<String> =
            plan.model.parts.iter().map(|p| p.file_name().to_owned()).collect();
        let arrived = self.blocking(move |folder| folder.arrived(&names)).await?;
        let needed = plan.model.size().saturating_sub(arrived);
        let free = self.blocking(DownloadFolder::free).await?;
        if needed > 0 && needed.saturating_add(SPARE) > free {
            return Err(Kind::DiskTooSmall { needed: needed + SPARE, free }.into());
        }
        let mut hashes = Vec::new();
        for part in &plan.model.parts {
            hashes.push(self.fetch(&plan.model.repository, part).await?);
        }
        self.progress.enter(Stage::Checking);
        let library = self.library.clone();
        let installed = self.blocking(move |folder| folder.finish(&library, &plan, hashes)).await?;
        drop(lock);
        Ok(installed)
    }

    /// Does something with the disk on a thread where it may wait.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&DownloadFolder) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let folder = self.folder.clone();
        let done = tokio::task::spawn_blocking(move || work(&folder)).await;
        done.unwrap_or_else(|_| Err(Kind::Internal.into()))
    }
}

impl DownloadFolder {
    /// Puts the whole and checked files among the models, and clears up.
    fn finish(
        &self,
        library: &Library,
        plan: &DownloadPlan,
        hashes: Vec<String>,
    ) -> Result<Installed> {
        let files = self.unpart(plan)?;
        if let Err(error) = facts::read(&files[0]) {
            // It is just what the site has, and no model.
            if matches!(error.kind, Kind::ModelFile { .. }) {
                self.restart(plan)?;
            }
            return Err(error);
        }
        let source =
            Source { repository: plan.model.repository.clone(), file: plan.model.file.clone() };
        let sha256 = if hashes.len() == 1 { hashes.into_iter().next() } else { None };
        let installed = library.adopt(&files, &[], &plan.name, Some((source, sha256)))?;
        self.clear()?;
        Ok(installed)
    }
}

/// What a model is to be called: as the catalogue has it, else by its file.
pub(super) fn name_for(model: &RemoteModel) -> String {
    let offered = catalogue::catalogue().iter().find(|offer| offer.means(model));
    offered.map_or_else(
        || name::of_file(std::path::Path::new(&model.file)),
        |offer| offer.name.clone(),
    )
}
