//! Defines how a turn begins: with a message, with another version of one, or with a reply to one that is there.

use std::collections::HashSet;

use chat_core::error::{Kind, Result};
use chat_core::manager::Regenerate;
use chat_core::message::{ChatRequest, Fid, MessageId};

use crate::engine::Program;

/// How a turn begins.
#[derive(Clone, Debug)]
pub enum Beginning {
    /// A message is sent.
    Send(ChatRequest),
    /// Another version of a message of the user's is sent.
    Edit { fid: Fid, message: MessageId, request: ChatRequest },
    /// A reply is written again; without one the last message of the user's is answered.
    Regenerate { fid: Fid, reply: Option<MessageId>, with: Regenerate },
    /// The last reply goes on.
    Resume { fid: Fid },
}

/// A turn that has begun.
#[derive(Debug)]
pub(super) struct Begun {
    pub fid: Fid,
    pub follows: Follows,
}

/// What its reply follows.
#[derive(Debug)]
pub(super) enum Follows {
    /// The message that was sent.
    Message(MessageId),
    /// The messages that were there.
    All(HashSet<MessageId>),
}

impl Begun {
    /// The message that was sent.
    pub fn message(&self) -> Option<MessageId> {
        match self.follows {
            Follows::Message(id) => Some(id),
            Follows::All(_) => None,
        }
    }
}

impl Beginning {
    /// Its session, if it has one already.
    pub fn session(&self) -> Option<&Fid> {
        match self {
            Self::Send(request) => request.session.as_ref(),
            Self::Edit { fid, .. } | Self::Regenerate { fid, .. } | Self::Resume { fid } => {
                Some(fid)
            }
        }
    }

    /// Begins it. If its server is unknown, discovers servers first and tries again.
    pub(super) async fn begin(self, program: &Program) -> Result<Begun> {
        match self.clone().try_once(program).await {
            Err(error) if matches!(error.kind, Kind::NoModel | Kind::ConnectionMissing { .. }) => {
                program.discover();
                self.try_once(program).await
            }
            begun => begun,
        }
    }

    async fn try_once(self, program: &Program) -> Result<Begun> {
        let messages = program.manager.messages();
        let (fid, follows) = match self {
            Self::Send(request) => {
                let sent = program.manager.send(request).await?;
                (sent.fid, Follows::Message(sent.message))
            }
            Self::Edit { fid, message, request } => {
                let id = messages.edit(&fid, message, request).await?;
                (fid, Follows::Message(id))
            }
            Self::Regenerate { fid, reply, with } => {
                let there = all(&fid, program).await?;
                match reply {
                    Some(reply) => messages.regenerate(&fid, reply, with).await?,
                    None => messages.retry(&fid).await?,
                }
                (fid, there)
            }
            Self::Resume { fid } => {
                let there = all(&fid, program).await?;
                messages.resume(&fid).await?;
                (fid, there)
            }
        };
        Ok(Begun { fid, follows })
    }
}

/// The messages that a chat shows.
async fn all(fid: &Fid, program: &Program) -> Result<Follows> {
    let messages = program.manager.sessions().transcript(fid).await?;
    Ok(Follows::All(messages.iter().map(|message| message.id).collect()))
}
