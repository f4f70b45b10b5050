//! Asks the model for a better title than what the person said first.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Session;
use super::parts::title::{QUESTION, from_response};
use super::turn::RunningTurn;
use crate::agent::outgoing;
use crate::chat::Chat;
use crate::client::{Priority, ToolChoice};
use crate::error::Result;
use crate::message::{Message, ModelRef, Part, Role, Thinking};
use crate::store::SessionPatch;

/// The most tokens that a title may cost.
const TOKENS: u32 = 40;

impl RunningTurn {
    /// Asks for a better title in the background, after the first reply. A new request ends the
    /// asking: it must not wait behind it.
    pub(super) fn ask_for_title(&self, model: &ModelRef) {
        if !self.session.services.better_titles
            || !self.session.services.clients.settings().chat.better_titles
        {
            return;
        }
        let (messages, cancel) = {
            let mut state = self.session.lock();
            let branch = state.transcript.branch().unwrap_or_default();
            let said = branch.iter().filter(|m| m.role == Role::User).count();
            // An agent is called by its name.
            let has_title = state.record.titled_by_person || state.record.name.is_some();
            if has_title || state.is_halted() || said != 1 {
                return;
            }
            state.titling = CancellationToken::new();
            let project = state.record.project.as_deref();
            let agent = self.session.services.agent(&state.record.agent, project);
            let Ok(agent) = agent else { return };
            (agent.build_messages(&branch, state.last_usage.surroundings()), state.titling.clone())
        };
        let (session, model) = (Arc::clone(&self.session), model.clone());
        self.session.services.spawn(async move {
            let asked = title_of(&session, messages, &model, &cancel);
            let title = tokio::select! {
                biased;
                () = cancel.cancelled() => return,
                title = asked => title,
            };
            cancel.cancel();
            match title {
                Ok(Some(title)) => {
                    let patch =
                        SessionPatch { title: Some((title, false)), ..SessionPatch::default() };
                    if let Err(error) = session.patch(patch).await {
                        tracing::warn!(%error, "the better title was not stored");
                    }
                }
                Ok(None) => {}
                // The first title is good enough.
                Err(error) => tracing::debug!(kind = error.kind.name(), "no better title"),
            }
        });
    }
}

/// The title that the model gives a conversation, where it gives one.
async fn title_of(
    session: &Arc<Session>,
    mut messages: Vec<Arc<Message>>,
    model: &ModelRef,
    cancel: &CancellationToken,
) -> Result<Option<String>> {
    let requester = session.requester(Priority::Background);
    let client = session.services.clients.client(model, requester).await?;
    let usage = session.services.clients.usage(model);
    let known = session.lock().record.options.clone();
    // A model that thinks would spend on that what a title may cost.
    let thinks = messages.iter().flat_map(|message| &message.parts);
    let thinks = thinks.into_iter().any(|part| matches!(part, Part::Thinking { .. }));
    let thinking = if thinks { Thinking::Off } else { Thinking::Default };
    // The window must stay as it was, or Ollama loads the model again.
    let options = known.or(&usage.options).for_own_request(TOKENS);
    let reply = messages.last().map(|message| message.plain_text()).unwrap_or_default();
    messages.push(Arc::new(Message::text(Role::User, None, QUESTION)));
    // The tools stand at the prompt's beginning, which the server knows.
    let tools = session.lock().last_usage.surroundings().tools.specs();
    let mut chat = Chat::new(client, model.model.clone())
        .tools(tools, ToolChoice::None)
        .options(options)
        .thinking(thinking);
    let response = chat.send(outgoing(&messages), cancel, &mut |_| {}).await?;
    Ok(from_response(&response, &reply))
}
