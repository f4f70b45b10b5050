//! Asks the engine for what the person wants of a stored chat besides sending: another reply, earlier messages,
//! an answer to what waits. Shows in the conversation what comes of it.

use std::path::PathBuf;

use chat_core::error::{Error, Kind, Result};
use chat_core::manager::{Manager, Regenerate, SessionChange};
use chat_core::message::{
    Answer, ApprovalId, Attachment, ChatRequest, Content, DeleteScope, DeletedMessages, Fid,
    MessageId, Options, Queued, Thinking,
};
use chat_core::store::Page;
use chat_presentation::slash_commands::{self, SlashCommand};
use chat_presentation::words;

use super::deleted_messages::{DeletedInChat, Undeleted};
use super::handle::Handle;
use super::requests::is_gone;
use super::{PAGE, mention_sources, messages};
use crate::composer::Written;
use crate::conversation::Conversation;

/// What came of a request.
#[derive(Debug)]
pub(super) enum Msg {
    /// Earlier messages were read, or could not be.
    Earlier { fid: Fid, before: MessageId, result: Result<Page> },
    /// Which replies of a chat stand beside each other.
    Siblings { fid: Fid, result: Result<Vec<Vec<MessageId>>> },
    /// What a message says that is to be edited.
    Editing { fid: Fid, message: MessageId, result: Result<Content> },
    /// The edited version of a message was sent, or could not be.
    EditSent { fid: Fid, message: MessageId, result: Result<MessageId> },
    /// Another branch is shown, or the same one still is.
    BranchShown { fid: Fid, result: Result<bool> },
    /// A new chat was made of a part of one.
    Forked { fid: Fid, result: Result<Fid> },
    /// Messages were deleted, or could not be.
    Deleted { fid: Fid, result: Result<DeletedMessages> },
    /// Deleted messages came back, or could not.
    Undeleted(DeletedInChat, Undeleted),
    /// An answer came in time, or did not.
    Answered { fid: Fid, ask: ApprovalId, result: Result<bool> },
    /// A message that waited was taken out of the chat; none was sent meanwhile.
    Unqueued { fid: Fid, before: Option<MessageId>, result: Result<Option<Written>> },
    /// The same of one that is not to be edited.
    Removed { fid: Fid, before: Option<MessageId>, result: Result<Option<Queued>> },
}

/// A message that waited, and was taken out of its chat.
#[derive(Clone, Debug)]
pub struct RemovedMessage {
    fid: Fid,
    queued: Queued,
    /// What waited after it.
    before: Option<MessageId>,
}

/// What is done with what came of a request: most goes back to the composer.
#[derive(Debug)]
pub(super) enum Output {
    /// A message that was taken out of this chat: it can be written again.
    Message(Fid, Written),
    /// The same of one that waited before another one.
    Waiting { fid: Fid, written: Written, before: Option<MessageId> },
    /// What was typed for an answer that nobody waited for any more.
    Words(Option<Fid>, Written),
    /// A new chat was made, to be shown.
    Forked(Fid),
    /// What had the keyboard is gone.
    KeyboardLost,
}

/// The requests of the chat that is shown.
pub(super) struct SessionRequests {
    handle: Handle<Msg>,
    manager: Option<Manager>,
    conversation: Conversation,
}

impl SessionRequests {
    pub(super) fn new(conversation: &Conversation, handle: Handle<Msg>) -> Self {
        Self { handle, manager: None, conversation: conversation.clone() }
    }

    pub(super) fn connect(&mut self, manager: Manager) {
        self.manager = Some(manager);
    }

    /// Stops what the chat does.
    pub(super) fn stop(&self, fid: &Fid) {
        if let Some(manager) = &self.manager {
            manager.sessions().stop(fid);
        }
    }

    /// Stops all agents of a chat.
    pub(super) fn stop_agents(&self, fid: &Fid) {
        self.run(fid.clone(), async move |manager, fid| manager.agents().interrupt_all(&fid).await);
    }

    /// Has the interrupted agents of a chat continue, and the chat with what they report.
    pub(super) fn resume_agents(&self, fid: Fid) {
        self.run(fid, async move |manager, fid| manager.agents().resume_all(&fid).await);
    }

    /// Sends the last request again.
    pub(super) fn retry(&self, fid: Fid) {
        self.run(fid, async move |manager, fid| manager.messages().retry(&fid).await);
    }

    /// Sends the last request again, after this change.
    fn retry_with(&self, fid: Fid, change: SessionChange) {
        self.run(fid, async move |manager, fid| {
            manager.sessions().change(&fid, change).await?;
            manager.messages().retry(&fid).await
        });
    }

    /// Sends the last request again without saying anything about thinking.
    pub(super) fn retry_without_thinking(&self, fid: Fid) {
        let thinking = Some(Thinking::Default);
        self.retry_with(fid, SessionChange { thinking, ..SessionChange::default() });
    }

    /// Makes the chat's window larger and sends again what was too long for it.
    pub(super) fn retry_with_window(&self, fid: Fid, mut options: Options, tokens: u32) {
        options.context_window = Some(tokens);
        self.retry_with(fid, SessionChange { options: Some(options), ..SessionChange::default() });
    }

    /// Lets the model go on where its reply ended.
    pub(super) fn resume(&self, fid: Fid) {
        self.run(fid, async move |manager, fid| manager.messages().resume(&fid).await);
    }

    /// Sends a message that waits now.
    pub(super) fn deliver_now(&self, fid: Fid, id: MessageId) {
        self.run(fid, async move |manager, fid| {
            manager.sessions().deliver_now(&fid, id).await.map(drop)
        });
    }

    /// Has a message that waits go out before another one, or last.
    pub(super) fn move_waiting(&self, fid: Fid, id: MessageId, before: Option<MessageId>) {
        self.run(fid, async move |manager, fid| {
            manager.sessions().move_waiting(&fid, id, before).await.map(drop)
        });
    }

    /// Takes a message that waits out of the chat, and tells so that it can be put back. `before` waits
    /// after it.
    pub(super) fn remove_waiting(&self, fid: Fid, id: MessageId, before: Option<MessageId>) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.sessions().unqueue(&fid, id).await;
            Msg::Removed { fid, before, result }
        });
    }

    /// Has a message wait again that was taken out of its chat.
    pub(super) fn put_back(&self, removed: RemovedMessage) {
        let RemovedMessage { fid, queued, before } = removed;
        self.run(fid, async move |manager, fid| {
            manager.sessions().requeue(&fid, queued, before).await
        });
    }

    /// Asks for a reply again.
    pub(super) fn regenerate(&self, fid: Fid, reply: MessageId, with: Regenerate) {
        self.run(fid, async move |manager, fid| {
            manager.messages().regenerate(&fid, reply, with).await
        });
    }

    /// Reads a message to be edited.
    pub(super) fn begin_edit(&self, fid: Fid, message: MessageId) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.messages().content(&fid, message).await;
            Msg::Editing { fid, message, result }
        });
    }

    /// Sends the edited version of a message, with the text of the command with which it begins. A reply that is being
    /// written is stopped for it.
    pub(super) fn send_edit(
        &self,
        fid: Fid,
        message: MessageId,
        mut request: ChatRequest,
        command: Option<(SlashCommand, String)>,
    ) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let attached = match &command {
                Some((command, arguments)) => {
                    slash_commands::attach(&manager, command, arguments, &mut request).await
                }
                None => Ok(()),
            };
            let result = match attached {
                Ok(()) => {
                    manager.sessions().stop_and_wait(&fid).await;
                    manager.messages().edit(&fid, message, request).await
                }
                Err(error) => Err(error),
            };
            Msg::EditSent { fid, message, result }
        });
    }

    /// Makes a new chat of all up to this message, as a copy of one of this title.
    pub(super) fn fork(&self, fid: Fid, message: MessageId, title: Option<String>) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.messages().fork(&fid, message).await;
            if let (Ok(copy), Some(title)) = (&result, title)
                && let Err(error) = name_copy(&manager, copy, &title).await
            {
                // It has the title of the first one then.
                tracing::warn!(%error, "the new chat was not renamed");
            }
            Msg::Forked { fid, result }
        });
    }

    /// Deletes a message, or all from it on, and tells so that it can be undone.
    pub(super) fn delete(&self, fid: Fid, message: MessageId, scope: DeleteScope) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.messages().delete(&fid, message, scope).await;
            Msg::Deleted { fid, result }
        });
    }

    /// Brings deleted messages back. Where that fails it is told, so that it can be tried again.
    pub(super) fn restore(&self, deleted: DeletedInChat) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let outcome = deleted.restore(&manager).await;
            Msg::Undeleted(deleted, outcome)
        });
    }

    /// Shows the branch of this message.
    pub(super) fn show_branch(&self, fid: Fid, message: MessageId) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.messages().show_branch(&fid, message).await;
            Msg::BranchShown { fid, result }
        });
    }

    /// The person has the chat before them.
    pub(super) fn mark_read(&self, fid: Fid) {
        self.run(fid, async move |manager, fid| manager.sessions().mark_read(&fid).await);
    }

    /// Reads the messages before this one.
    pub(super) fn read_earlier(&self, fid: Fid, before: MessageId) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.sessions().earlier(&fid, before, PAGE).await;
            Msg::Earlier { fid, before, result }
        });
    }

    /// Finds out which replies of the chat stand beside each other.
    pub(super) fn find_siblings(&self, fid: Fid) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.messages().branches(&fid).await;
            Msg::Siblings { fid, result }
        });
    }

    /// Answers what waits.
    pub(super) fn answer(&self, fid: Fid, ask: ApprovalId, answer: Answer) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = manager.permissions().answer(&fid, ask, answer).await;
            Msg::Answered { fid, ask, result }
        });
    }

    /// Takes a message that waits out of the chat, which works in this project, to be edited.
    /// `before` waits after it.
    pub(super) fn unqueue(
        &self,
        fid: Fid,
        id: MessageId,
        before: Option<MessageId>,
        project: Option<PathBuf>,
    ) {
        let Some(manager) = self.manager.clone() else { return };
        self.handle.spawn(async move {
            let result = match manager.sessions().unqueue(&fid, id).await {
                Ok(Some(queued)) => {
                    Ok(Some(mention_sources::written(&manager, project.as_deref(), queued).await))
                }
                Ok(None) => Ok(None),
                Err(error) => Err(error),
            };
            Msg::Unqueued { fid, before, result }
        });
    }

    /// What waits no longer needs no answer; what was typed for one is kept.
    pub(super) fn close_answer(&self, ask: ApprovalId, in_time: bool) -> Option<Output> {
        let (session, text) = self.conversation.answered(ask, in_time)?;
        Some(Output::Words(session, Written::text(text)))
    }

    /// Takes what came of a request while this chat is shown.
    pub(super) fn update(&self, msg: Msg, shown: Option<&Fid>) -> Option<Output> {
        match msg {
            Msg::Earlier { fid, .. } if shown != Some(&fid) => None,
            Msg::Earlier { before, result: Ok(page), .. } => {
                self.conversation.prepend(before, &page);
                None
            }
            Msg::Earlier { before, result: Err(error), .. } => {
                self.conversation.earlier_failed(before);
                self.handle.output(messages::Output::Note(words::sentence(&error)));
                None
            }
            Msg::Siblings { fid, result: Ok(siblings) } => {
                if shown == Some(&fid) {
                    self.conversation.set_siblings(&siblings);
                }
                None
            }
            Msg::Siblings { result: Err(error), .. } => {
                tracing::warn!(%error, "the other replies are unknown");
                None
            }
            Msg::Editing { fid, message, result: Ok(mut content) } => {
                if shown == Some(&fid) {
                    content.text = slash_commands::as_typed(&content);
                    // The text of a command is looked up again when the message is sent.
                    content.attachments.retain(|it| !matches!(it, Attachment::Command(_)));
                    self.conversation.edits().begin(message, content);
                }
                None
            }
            Msg::EditSent { message, result: Ok(_), .. } => {
                self.conversation.edits().end(message);
                None
            }
            Msg::EditSent { fid, message, result: Err(error) } => {
                self.conversation.edits().failed(message);
                self.handle.fail(Some(&fid), error);
                None
            }
            // The conversation is told of the new branch, and gives its button the keyboard.
            Msg::BranchShown { result: Ok(true), .. } => None,
            Msg::BranchShown { fid, result } => {
                if let Err(error) = result
                    && !is_gone(&error)
                {
                    self.handle.fail(Some(&fid), error);
                }
                let is_lost = shown == Some(&fid) && self.conversation.give_up_switch();
                is_lost.then_some(Output::KeyboardLost)
            }
            Msg::Forked { result: Ok(copy), .. } => Some(Output::Forked(copy)),
            Msg::Deleted { fid, result: Ok(deleted) } => {
                let deleted = DeletedInChat::new(fid, deleted);
                self.handle.output(messages::Output::MessagesDeleted(deleted));
                None
            }
            Msg::Undeleted(deleted, outcome) => {
                self.handle.output(deleted.told(outcome));
                None
            }
            Msg::Answered { fid, ask, result } => {
                let kept = self.close_answer(ask, matches!(result, Ok(true)));
                if let Err(error) = result
                    && !is_gone(&error)
                    && !self.is_said_at_question(&fid, ask, &error, shown)
                {
                    self.handle.fail(Some(&fid), error);
                }
                kept
            }
            Msg::Unqueued { fid, before, result: Ok(written) } => {
                written.map(|written| Output::Waiting { fid, written, before })
            }
            Msg::Removed { fid, before, result: Ok(queued) } => {
                // Where it was sent meanwhile, nothing was removed.
                if let Some(queued) = queued {
                    let removed = RemovedMessage { fid, queued, before };
                    self.handle.output(messages::Output::MessageRemoved(removed));
                }
                None
            }
            Msg::Unqueued { fid, result: Err(error), .. }
            | Msg::Editing { fid, result: Err(error), .. }
            | Msg::Forked { fid, result: Err(error) }
            | Msg::Deleted { fid, result: Err(error) }
            | Msg::Removed { fid, result: Err(error), .. } => {
                self.handle.fail(Some(&fid), error);
                None
            }
        }
    }

    /// Whether the question itself says why its answer was refused: it can be changed there.
    fn is_said_at_question(
        &self,
        fid: &Fid,
        ask: ApprovalId,
        error: &Error,
        shown: Option<&Fid>,
    ) -> bool {
        matches!(error.kind, Kind::RuleMismatch | Kind::FormMismatch)
            && shown == Some(fid)
            && self.conversation.refuse_answer(ask, &words::sentence(error))
    }

    fn run<F>(&self, fid: Fid, work: impl FnOnce(Manager, Fid) -> F)
    where
        F: Future<Output = Result<()>> + Send + 'static,
    {
        if let Some(manager) = self.manager.clone() {
            self.handle.run(Some(fid.clone()), work(manager, fid));
        }
    }
}

/// Names a chat as a copy of one of this title.
async fn name_copy(manager: &Manager, copy: &Fid, original: &str) -> Result<()> {
    let all = manager.sessions().list().await?;
    let is_taken = |title: &str| all.iter().any(|other| other.title == title);
    manager.sessions().rename(copy, &words::title_of_copy(original, is_taken)).await
}
