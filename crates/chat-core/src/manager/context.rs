//! What fills a model's window: measured, shown, and made shorter.

use super::{Fid, Manager, Result};
use crate::message::{AtWords, ChatRequest, Meter, PromptPreview};
use crate::session::{Session, at_words};

impl Manager {
    /// How full the window of a session's model is, and what the chat cost. Those who watch the
    /// session hear of changes by [`SessionEvent::MeterChanged`](crate::event::SessionEvent::MeterChanged), when a
    /// message ended or went out. Asks a server for its window and tools where nobody knows them.
    ///
    /// # Errors
    /// `SessionNotFound`, `NoModel`, `AgentMissing`, `ProjectMissing`, and the store's.
    pub async fn meter(&self, fid: &Fid) -> Result<Meter> {
        let (this, fid) = (self.clone(), fid.clone());
        self.run(async move { this.session(&fid).await?.meter().await }).await
    }

    /// What the `@` words of a text point at, in the project that a request is for; nothing where it has none.
    ///
    /// # Errors
    /// `SessionNotFound`.
    pub async fn at_words(&self, request: &ChatRequest, text: &str) -> Result<AtWords> {
        let (this, text) = (self.clone(), text.to_owned());
        let (session, project) = (request.session.clone(), request.project.clone());
        self.run(async move {
            let project = match (project, session) {
                (Some(project), _) => Some(project),
                (None, Some(fid)) => this.session(&fid).await?.project(),
                (None, None) => None,
            };
            let Some(project) = project else { return Ok(AtWords::default()) };
            Ok(at_words(&this.inner.world, project, text).await)
        })
        .await
    }

    /// The whole of what would go out for a request, to be read. Nothing is stored or sent.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub async fn preview(&self, request: ChatRequest) -> Result<PromptPreview> {
        let this = self.clone();
        self.run(async move {
            let session = match &request.session {
                Some(fid) => this.session(fid).await?,
                None => Session::sketch(&this.inner.world, &request),
            };
            session.preview(&request).await
        })
        .await
    }

    /// Has the model sum up all but the newest turn of a chat. The messages stay; from the next
    /// request on the summary goes out in their place. Says whether there was anything to sum up. Does
    /// nothing while a request is at work; [`stop`](Self::stop) ends it.
    ///
    /// # Errors
    /// As [`send`](Self::send), and what the model's server says.
    pub async fn compact(&self, fid: &Fid) -> Result<bool> {
        let (this, fid) = (self.clone(), fid.clone());
        self.run(async move { this.session(&fid).await?.compact().await }).await
    }

    /// Takes the last shortening of a chat back: from the next request on all goes out as before it.
    /// Says whether there was one. Does nothing while a request is at work.
    ///
    /// # Errors
    /// `SessionNotFound`, `SessionInUse`, and the store's.
    pub async fn undo_compaction(&self, fid: &Fid) -> Result<bool> {
        let (this, fid) = (self.clone(), fid.clone());
        self.run(async move { this.session(&fid).await?.undo_compaction().await }).await
    }
}
