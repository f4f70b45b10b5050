//! Measures and previews the context window of a session, and compacts the conversation.

use std::path::PathBuf;

use tokio_util::task::AbortOnDropHandle;

use super::{Error, Fid, Kind, Manager, Result};
use crate::error::Feature;
use crate::message::{AtWords, ChatRequest, ContextUsage, PromptPreview};
use crate::session::{Session, at_words};

/// What goes out to a session's model, and how full its window is. From [`Manager::context`].
#[derive(Clone, Debug)]
pub struct SessionContext(pub(super) Manager);

impl SessionContext {
    /// How full the window of a session's model is, and what the chat cost. Those who watch the
    /// session hear of changes by [`SessionEvent::ContextUsageChanged`](crate::event::SessionEvent::ContextUsageChanged), when a
    /// message ended or went out. Asks a server for its window and tools where nobody knows them.
    ///
    /// # Errors
    /// `SessionNotFound`, `NoModel`, `AgentMissing`, `ProjectMissing`, and the store's.
    pub async fn usage(&self, fid: &Fid) -> Result<ContextUsage> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.context_usage().current().await }).await
    }

    /// What the `@` words of a text point at, in the project that a request is for, and at the servers in use there.
    ///
    /// # Errors
    /// `SessionNotFound`.
    pub async fn at_words(&self, request: &ChatRequest, text: &str) -> Result<AtWords> {
        let (this, text) = (self.0.clone(), text.to_owned());
        let project = self.project(request).await?;
        self.0
            .run(async move {
                let (servers, of) = (this.server_content(), project.clone());
                let resource =
                    move |server: &str, uri: &str| servers.resource(of.as_deref(), server, uri);
                Ok(at_words(&this.inner.shared, project, text, resource).await)
            })
            .await
    }

    /// The project that a request is for.
    ///
    /// # Errors
    /// `SessionNotFound`.
    pub async fn project(&self, request: &ChatRequest) -> Result<Option<PathBuf>> {
        let this = self.0.clone();
        match (request.project.clone(), request.session.clone()) {
            (Some(project), _) => Ok(Some(project)),
            (None, Some(fid)) => {
                self.0.run(async move { Ok(this.session(&fid).await?.project()) }).await
            }
            (None, None) => Ok(None),
        }
    }

    /// The text of a page that the person names, for [`Mention::Page`](crate::message::Mention). It is
    /// fetched as a tool would, within the same limits, and without a question: they asked for it.
    /// Dropping the future ends the fetching.
    ///
    /// # Errors
    /// `PageNotFetched`, and `Unsupported` where nothing fetches pages.
    pub async fn page(&self, url: &str) -> Result<String> {
        let Some(pages) = self.0.inner.services.pages.clone() else {
            return Err(Error::new(Kind::Unsupported { feature: Feature::Tools }));
        };
        let (url, settings) = (url.to_owned(), self.0.settings().current());
        let fetching = self
            .0
            .inner
            .shared
            .runtime
            .spawn(async move { pages.read(&url, &settings.tools).await });
        AbortOnDropHandle::new(fetching).await.unwrap_or_else(|_| Err(Kind::Internal.into()))
    }

    /// The whole of what would go out for a request, to be read. Nothing is stored or sent.
    ///
    /// # Errors
    /// As [`Manager::send`].
    pub async fn preview(&self, request: ChatRequest) -> Result<PromptPreview> {
        let this = self.0.clone();
        self.0
            .run(async move {
                let session = match &request.session {
                    Some(fid) => this.session(fid).await?,
                    None => Session::sketch(&this.inner.shared, &request),
                };
                session.context_usage().preview(&request).await
            })
            .await
    }

    /// Has the model sum up all but the newest turn of a chat. The messages stay; from the next
    /// request on the summary goes out in their place. Says whether there was anything to sum up. Does
    /// nothing while a request is at work; [`Sessions::stop`](super::Sessions::stop) ends it.
    ///
    /// # Errors
    /// As [`Manager::send`], and what the model's server says.
    pub async fn compact(&self, fid: &Fid) -> Result<bool> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.compact().await }).await
    }

    /// Takes the last shortening of a chat back: from the next request on all goes out as before it.
    /// Says whether there was one. Does nothing while a request is at work.
    ///
    /// # Errors
    /// `SessionNotFound`, `SessionInUse`, and the store's.
    pub async fn undo_compaction(&self, fid: &Fid) -> Result<bool> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.undo_compaction().await }).await
    }
}
