//! What tools do for the person: commands in the background, what keeps these in bounds, and pages of the web.

use tokio_util::task::AbortOnDropHandle;

use super::{Fid, Manager, Result};
use crate::error::{Error, Feature, Kind};
use crate::message::BackgroundCommand;
use crate::tool::Bounds;

impl Manager {
    /// The commands that run in the background of a session, the oldest first; also where nobody
    /// watches it. [`SessionEvent::CommandsChanged`](crate::event::SessionEvent::CommandsChanged) tells of changes.
    pub fn commands(&self, fid: &Fid) -> Vec<BackgroundCommand> {
        self.loaded(fid).map(|session| session.commands()).unwrap_or_default()
    }

    /// How many commands run in the background, of all sessions.
    pub fn background_commands(&self) -> usize {
        let sessions: Vec<_> = self.sessions_lock().values().cloned().collect();
        sessions.iter().map(|session| session.commands().len()).sum()
    }

    /// Ends a command in the background with all of its processes, and waits until they are gone.
    /// Says whether it still ran.
    ///
    /// # Errors
    /// `Internal`.
    pub async fn end_command(&self, fid: &Fid, id: &str) -> Result<bool> {
        let (session, id) = (self.loaded(fid), id.to_owned());
        self.run(async move {
            match session {
                Some(session) => Ok(session.end_command(&id).await),
                None => Ok(false),
            }
        })
        .await
    }

    /// What keeps the commands of tools in bounds on this machine; none where no tool runs any.
    /// Found out once, which takes some tens of milliseconds, and at most seconds.
    ///
    /// # Errors
    /// `Internal`.
    pub async fn bounds(&self) -> Result<Option<Bounds>> {
        let Some(report) = self.inner.services.bounds.clone() else { return Ok(None) };
        self.run(async move { Ok(Some(report.bounds().await)) }).await
    }

    /// The text of a page that the person names, for [`Mention::Page`](crate::message::Mention). It is
    /// fetched as a tool would, within the same limits, and without a question: they asked for it.
    /// Dropping the future ends the fetching.
    ///
    /// # Errors
    /// `PageNotFetched`, and `Unsupported` where nothing fetches pages.
    pub async fn page(&self, url: &str) -> Result<String> {
        let Some(pages) = self.inner.services.pages.clone() else {
            return Err(Error::new(Kind::Unsupported { feature: Feature::Tools }));
        };
        let (url, settings) = (url.to_owned(), self.settings().current());
        let fetching =
            self.inner.world.runtime.spawn(async move { pages.read(&url, &settings.tools).await });
        AbortOnDropHandle::new(fetching).await.unwrap_or_else(|_| Err(Kind::Internal.into()))
    }
}
