//! Changes the messages of a session: edits, regenerates, continues, deletes, and shows other branches.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Event, Fid, Kind, Manager, Message, MessageId, Result};
use crate::message::{
    ChatRequest, Content, DeleteScope, DeletedMessages, ModelRef, Role, SessionMeta, Thinking,
};
use crate::store::NewSession;

/// The messages of sessions. From [`Manager::messages`].
#[derive(Clone, Debug)]
pub struct Messages(pub(super) Manager);

/// What a reply is written with that is asked for again; unset fields mean the session's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Regenerate {
    /// The model.
    pub model: Option<ModelRef>,
    /// The agent.
    pub agent: Option<String>,
    /// How much to think.
    pub thinking: Option<Thinking>,
}

impl Messages {
    /// What a message of the user's was made from, to be edited. What it mentioned is among the
    /// attachments, as it was then.
    ///
    /// # Errors
    /// `NothingToSend` where it is no message of the user's in the shown branch, `SessionNotFound`, and the
    /// store's.
    pub async fn content(&self, fid: &Fid, message: MessageId) -> Result<Content> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let branch = this.session(&fid).await?.transcript().await?;
                let message = branch.iter().find(|it| it.id == message && it.is_of_user());
                Ok(message.ok_or(Kind::NothingToSend)?.content())
            })
            .await
    }

    /// Sends another version of a message of the user's, on a new branch: the old one and all that came after
    /// it stay in the tree. Gives the id of the new message. The request's session is ignored.
    ///
    /// # Errors
    /// `SessionAtWork`, `NothingToSend` where it is no message of the user's in the shown branch or the new
    /// one is empty, and those of [`Manager::send`].
    pub async fn edit(
        &self,
        fid: &Fid,
        message: MessageId,
        mut request: ChatRequest,
    ) -> Result<MessageId> {
        if request.content.is_empty() {
            return Err(Kind::NothingToSend.into());
        }
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                let ChatRequest { content, context, .. } = &mut request;
                let project = session.project();
                this.server_content().read_mentioned(project, content, context).await?;
                session.edit(message, request).await
            })
            .await
    }

    /// Answers the message of the user's before this reply again, on a new branch; the earlier reply stays in
    /// the tree. Does nothing while a request is at work.
    ///
    /// # Errors
    /// `NothingToSend` where the shown branch has no such reply, and those of [`Manager::send`].
    pub async fn regenerate(&self, fid: &Fid, reply: MessageId, with: Regenerate) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        let Regenerate { model, agent, thinking } = with;
        let request = ChatRequest { model, agent, thinking, ..ChatRequest::default() };
        self.0
            .run(async move { this.session(&fid).await?.regenerate(Some(reply), &request).await })
            .await
    }

    /// The same for the last message of the user's, whether or not it got a reply.
    ///
    /// # Errors
    /// As [`Manager::send`].
    pub async fn retry(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        let request = ChatRequest::default();
        self.0.run(async move { this.session(&fid).await?.regenerate(None, &request).await }).await
    }

    /// Asks the model to go on where its last reply was interrupted or stopped. Does nothing while
    /// a request is at work.
    ///
    /// # Errors
    /// As [`Manager::send`].
    pub async fn resume(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.resume().await }).await
    }

    /// The messages of the user's and the replies that have alternatives, because they were edited or asked for
    /// again: each time all of them, the oldest first.
    pub async fn branches(&self, fid: &Fid) -> Result<Vec<Vec<MessageId>>> {
        let (store, fid) = (self.0.inner.shared.store.clone(), fid.clone());
        self.0.run(async move { store.siblings(&fid).await }).await
    }

    /// Shows the branch that this message is in: from its newest reply back to the beginning. Whether
    /// another was shown before; [`SessionEvent::Reset`](crate::event::SessionEvent::Reset) follows.
    ///
    /// # Errors
    /// `SessionNotFound`, `SessionAtWork`, `SessionInUse`, and the store's.
    pub async fn show_branch(&self, fid: &Fid, message: MessageId) -> Result<bool> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.show_branch(message).await }).await
    }

    /// Makes a new chat of the shown branch up to this message, with the whole reply that it is in. It has the
    /// same model, agent, options, folder and title, and begins now.
    ///
    /// # Errors
    /// `NothingToSend` where the shown branch has no such message or it is still being written,
    /// `SessionNotFound`, and the store's.
    pub async fn fork(&self, fid: &Fid, at: MessageId) -> Result<Fid> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.fork(&fid, at).await }).await
    }

    /// Deletes a message, or all from it on. [`restore`](Self::restore) takes that back.
    ///
    /// # Errors
    /// `SessionAtWork`, `SessionInUse`, `NothingToSend` where there is no such message, `SessionNotFound`, and
    /// the store's.
    pub async fn delete(
        &self,
        fid: &Fid,
        message: MessageId,
        scope: DeleteScope,
    ) -> Result<DeletedMessages> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move { this.session(&fid).await?.delete_messages(message, scope).await })
            .await
    }

    /// Takes a deletion of messages back. What was said since then is a branch of its own.
    ///
    /// # Errors
    /// As [`delete`](Self::delete).
    pub async fn restore(&self, fid: &Fid, deleted: DeletedMessages) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.restore_messages(deleted).await }).await
    }
}

impl Manager {
    async fn fork(&self, fid: &Fid, at: MessageId) -> Result<Fid> {
        let session = self.session(fid).await?;
        let branch = session.transcript().await?;
        let messages = copy_up_to(&branch, at)?;
        let record = session.record();
        let SessionMeta {
            title, agent, model, thinking, options, instructions, project, mode, ..
        } = record.meta;
        let meta = SessionMeta {
            title,
            agent,
            model,
            thinking,
            options,
            instructions,
            project,
            mode,
            ..SessionMeta::default()
        };
        let store = &self.inner.shared.store;
        let copy = store
            .create_copy(
                NewSession { meta, temporary: fid.is_temporary(), ..NewSession::default() },
                messages,
            )
            .await?;
        store.release(&copy.meta.fid).await?;
        let fid = copy.meta.fid.clone();
        self.inner.shared.hub.tell(&Event::SessionAdded(copy.meta.into()));
        Ok(fid)
    }
}

/// Copies of the messages of a branch up to the end of the reply that a message is in, with ids of their own.
fn copy_up_to(branch: &[Arc<Message>], at: MessageId) -> Result<Vec<Arc<Message>>> {
    let place = branch.iter().position(|message| message.id == at).ok_or(Kind::NothingToSend)?;
    let is_reply = |message: &Arc<Message>| matches!(message.role, Role::Assistant | Role::Tool);
    let rest = branch[place..].iter().skip(1).take_while(|it| is_reply(it)).count();
    let end = if is_reply(&branch[place]) { place + rest } else { place };
    let kept = &branch[..=end];
    if kept.iter().any(|message| message.ended.is_none()) {
        return Err(Kind::NothingToSend.into());
    }
    let ids: HashMap<_, _> = kept.iter().map(|it| (it.id, MessageId::new())).collect();
    let new_id = |id: MessageId| ids.get(&id).copied();
    let copies = kept.iter().map(|it| Arc::new(it.copy_as(ids[&it.id], new_id)));
    Ok(copies.collect())
}
