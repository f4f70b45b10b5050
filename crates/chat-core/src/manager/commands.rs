//! Manages commands in the background, and reports what confines them.

use super::{Fid, Manager, Result};
use crate::message::BackgroundCommand;
use crate::tool::Bounds;

/// The commands that run in the background. From [`Manager::commands`].
#[derive(Clone, Debug)]
pub struct BackgroundCommands(pub(super) Manager);

impl BackgroundCommands {
    /// The commands that run in the background of a session, the oldest first; also where nobody
    /// watches it. [`SessionEvent::CommandsChanged`](crate::event::SessionEvent::CommandsChanged) reports changes.
    pub fn list(&self, fid: &Fid) -> Vec<BackgroundCommand> {
        self.0.loaded(fid).map(|session| session.commands()).unwrap_or_default()
    }

    /// How many commands run in the background, of all sessions.
    pub fn count(&self) -> usize {
        let sessions: Vec<_> = self.0.sessions_lock().values().cloned().collect();
        sessions.iter().map(|session| session.commands().len()).sum()
    }

    /// Ends a command in the background with all of its processes, and waits until they are gone.
    /// Says whether it still ran.
    ///
    /// # Errors
    /// `Internal`.
    pub async fn end(&self, fid: &Fid, id: &str) -> Result<bool> {
        let (session, id) = (self.0.loaded(fid), id.to_owned());
        self.0
            .run(async move {
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
        let Some(report) = self.0.inner.services.bounds.clone() else { return Ok(None) };
        self.0.run(async move { Ok(Some(report.bounds().await)) }).await
    }
}
