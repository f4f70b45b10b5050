//! Builds the user's message with all that goes with it, as it is stored and sent from then on.

use std::path::PathBuf;
use std::sync::Arc;

use super::review::Rejected;
use super::{SessionServices, mentions};
use crate::agent::{Agent, KnownContext, PromptContext, todos};
use crate::message::{
    Attachment, ChatRequest, Ending, FromAgent, Message, MessageId, Part, Role, Todo,
};

/// Builds a user's message from a request.
pub(super) struct UserMessageBuilder<'a> {
    request: &'a ChatRequest,
    project: Option<PathBuf>,
    todos: Vec<Todo>,
    /// What the model already knows.
    known: KnownContext,
    /// What they pointed at.
    gathered: Vec<Part>,
    /// What they rejected of the model's changes, or wanted after all.
    rejected: Rejected,
}

impl<'a> UserMessageBuilder<'a> {
    /// Gathers what the request points at.
    pub(super) async fn gather(
        services: &SessionServices,
        request: &'a ChatRequest,
        project: Option<PathBuf>,
        branch: &[Arc<Message>],
        rejected: Rejected,
    ) -> Self {
        let gathered = mentions::gather(services, project.clone(), &request.context.mentions).await;
        let (todos, known) = (todos(branch), KnownContext::of(branch));
        Self { request, project, todos, known, gathered, rejected }
    }

    /// Builds the message.
    pub(super) fn build(self, agent: &dyn Agent, parent: Option<MessageId>) -> Message {
        let content = &self.request.content;
        let attached = content.attachments.iter().map(|attachment| match attachment.clone() {
            Attachment::Image { mime, data } => Part::Image { mime, data },
            Attachment::File { name, text } => Part::File { name, text },
            Attachment::Command(command) => Part::Command(command),
        });
        let agent_words = content.agent.clone().map(Part::FromAgent);
        let mut parts: Vec<_> = attached.chain(self.gathered).collect();
        let context = PromptContext {
            context: &self.request.context,
            todos: &self.todos,
            rejected: self.rejected.gone.as_deref(),
            regained: self.rejected.back.as_deref(),
            project: self.project.as_deref(),
            known: &self.known,
        };
        let told = agent.context(&context).into_iter();
        parts.extend(told.map(|text| Part::Context { text }));
        // Next to the words, so that it is plain which are meant.
        parts.extend(agent_words);
        if !matches!(content.agent, Some(FromAgent::Report(_))) {
            parts.push(Part::Text(content.text.clone()));
        }
        Message { parts, ended: Some(Ending::Complete), ..Message::text(Role::User, parent, "") }
    }
}
