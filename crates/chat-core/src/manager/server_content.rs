//! Gets what MCP servers have for the user: resources to attach to messages, and prompts to send.

mod parts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio_util::task::AbortOnDropHandle;

use self::parts::Converted;
use super::{Error, Kind, Manager, Result};
use crate::error::{ServerFailure, ServerFault, ServerItem};
use crate::message::{AtResource, Attachment, ChatRequest, Content, Context, Mention};
use crate::tool::{ServerContext, ServerOffer, TypedArgument};

/// How long a server may take, with its start: some are downloaded first.
const LONGEST: Duration = Duration::from_secs(90);

/// How long completing a value may take: longer, and it is typed by then.
const COMPLETE: Duration = Duration::from_secs(5);

/// What MCP servers have for the user. From [`Manager::server_content`].
#[derive(Clone, Debug)]
pub struct ServerContent(pub(super) Manager);

/// What goes with a message for a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromptContent {
    /// What its messages say.
    pub text: String,
    /// The pictures in them.
    pub pictures: Vec<Attachment>,
}

impl ServerContent {
    /// The servers that are in use in a project, or in chats without one, each with what is known of it. Starts none,
    /// and is cheap.
    pub fn known(&self, project: Option<&Path>) -> Vec<Arc<ServerOffer>> {
        self.source().map(|source| source.known(project)).unwrap_or_default()
    }

    /// What a server's name and a URI lead to, for [`at_words`](crate::message::at_words).
    pub fn resource(&self, project: Option<&Path>, server: &str, uri: &str) -> Option<AtResource> {
        let offer = self.known(project).into_iter().find(|offer| offer.server == server)?;
        let listed = offer.resources.iter().flatten().find(|entry| entry.uri == uri);
        let listed = listed.filter(|entry| !entry.is_template);
        Some(listed.map_or(AtResource::Unlisted, |entry| AtResource::Listed(entry.title.clone())))
    }

    /// Asks a server for its resources and prompts, and starts it where it is not running. Dropping the future gives
    /// the asking up.
    ///
    /// # Errors
    /// `ServerContext`.
    pub async fn ask(&self, project: Option<&Path>, server: &str) -> Result<Arc<ServerOffer>> {
        let (project, name) = (project.map(Path::to_owned), server.to_owned());
        self.bounded(server, ServerItem::List, move |source| async move {
            source.ask(project.as_deref(), &name).await
        })
        .await
    }

    /// Gets a prompt of a server, to be sent with a request.
    ///
    /// # Errors
    /// `ServerContext`, and `SessionNotFound`.
    pub async fn prompt(
        &self,
        request: &ChatRequest,
        server: &str,
        prompt: &str,
        arguments: BTreeMap<String, String>,
    ) -> Result<PromptContent> {
        let project = self.0.context().project(request).await?;
        let item = ServerItem::Prompt(prompt.to_owned());
        let (name, wanted) = (server.to_owned(), prompt.to_owned());
        let messages = self
            .bounded(server, item.clone(), move |source| async move {
                source.prompt(project.as_deref(), &name, &wanted, arguments).await
            })
            .await?;
        let Converted { text, pictures } = parts::of_messages(messages).await;
        if text.is_empty() && pictures.is_empty() {
            return Err(failed(server, item, ServerFault::Empty));
        }
        Ok(PromptContent { text, pictures })
    }

    /// The values that an argument of a prompt may have that begin like what is typed; none where nobody knows.
    /// Dropping the future gives the asking up.
    pub async fn complete(&self, project: Option<&Path>, typed: TypedArgument) -> Vec<String> {
        let Some(source) = self.source().cloned() else { return Vec::new() };
        let project = project.map(Path::to_owned);
        // The clock is that of the runtime: whoever asks may be outside of it.
        let asking = self.0.inner.shared.runtime.spawn(async move {
            tokio::time::timeout(COMPLETE, source.complete(project.as_deref(), typed)).await
        });
        AbortOnDropHandle::new(asking).await.ok().and_then(Result::ok).unwrap_or_default()
    }

    /// Reads the resources that a message mentions and that were not read yet. Their pictures are attached to it.
    pub(super) async fn read_mentioned(
        &self,
        project: Option<PathBuf>,
        content: &mut Content,
        context: &mut Context,
    ) -> Result<()> {
        for mention in &mut context.mentions {
            let Mention::Resource { server, uri, text: text @ None, .. } = mention else {
                continue;
            };
            let read = self.read(project.clone(), server, uri).await?;
            *text = Some(read.text);
            for picture in read.pictures {
                if !content.attachments.contains(&picture) {
                    content.attachments.push(picture);
                }
            }
        }
        Ok(())
    }

    async fn read(&self, project: Option<PathBuf>, server: &str, uri: &str) -> Result<Converted> {
        let item = ServerItem::Resource(uri.to_owned());
        let (name, wanted) = (server.to_owned(), uri.to_owned());
        let read = self
            .bounded(server, item.clone(), move |source| async move {
                source.read(project.as_deref(), &name, &wanted).await
            })
            .await?;
        let read = parts::of(read).await;
        if read.text.is_empty() && read.pictures.is_empty() {
            return Err(failed(server, item, ServerFault::Empty));
        }
        Ok(read)
    }

    /// Asks within the time that a server may take.
    async fn bounded<T: Send + 'static, Asking>(
        &self,
        server: &str,
        item: ServerItem,
        ask: impl FnOnce(Arc<dyn ServerContext>) -> Asking,
    ) -> Result<T>
    where
        Asking: Future<Output = Result<T, ServerFault>> + Send + 'static,
    {
        let Some(source) = self.source() else {
            return Err(failed(server, item, ServerFault::Unknown));
        };
        let asking = ask(Arc::clone(source));
        let asking = async move { tokio::time::timeout(LONGEST, asking).await };
        let asking = AbortOnDropHandle::new(self.0.inner.shared.runtime.spawn(asking));
        let answer = asking.await.map_err(|_| Kind::Internal)?;
        answer.unwrap_or(Err(ServerFault::TimedOut)).map_err(|why| failed(server, item, why))
    }

    fn source(&self) -> Option<&Arc<dyn ServerContext>> {
        self.0.inner.services.server_context.as_ref()
    }
}

fn failed(server: &str, item: ServerItem, why: ServerFault) -> Error {
    let failure = Box::new(ServerFailure { server: server.to_owned(), item, why });
    Kind::ServerContext { failure }.into()
}
