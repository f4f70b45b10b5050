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
        let tools = self.inner.world.tools.clone();
        self.run(async move {
            for tool in tools.all() {
                if let Some(bounds) = tool.bounds().await {
                    return Ok(Some(bounds));
                }
            }
            Ok(None)
        })
        .await
    }

    /// The text of a page that the person names, for [`Mention::Page`](crate::message::Mention). It is
    /// fetched as a tool would, within the same limits, and without a question: they asked for it.
    /// Dropping the future ends the fetching.
    ///
    /// # Errors
    /// `PageNotFetched`, and `Unsupported` where no tool fetches pages.
    pub async fn page(&self, url: &str) -> Result<String> {
        let tools = self.inner.world.tools.clone();
        let (url, settings) = (url.to_owned(), self.settings());
        let fetching = self.inner.world.runtime.spawn(async move {
            for tool in tools.all() {
                if let Some(page) = tool.page(&url, &settings.tools).await {
                    return page;
                }
            }
            Err(Error::new(Kind::Unsupported { feature: Feature::Tools }))
        });
        AbortOnDropHandle::new(fetching).await.unwrap_or_else(|_| Err(Kind::Internal.into()))
    }
}
