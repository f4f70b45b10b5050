//! What a chat widget shows: a new chat, one that is being read, or an open one.

use chat_core::event::{SessionPlaceholder, Status};
use chat_core::message::{Fid, ModelRef, Options, Thinking};
use chat_core::session::EmptySession;

#[derive(Debug)]
pub(super) enum Shown {
    New(EmptySession),
    Opening(Fid),
    Open(SessionPlaceholder),
}

impl Shown {
    pub(super) fn fid(&self) -> Option<&Fid> {
        match self {
            Self::New(_) => None,
            Self::Opening(fid) => Some(fid),
            Self::Open(session) => Some(&session.fid),
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Self::Open(session) if session.status != Status::Idle)
    }

    pub(super) fn is_in_use(&self) -> bool {
        matches!(self, Self::Open(session) if session.in_use)
    }

    pub(super) fn title(&self) -> Option<&str> {
        match self {
            Self::Open(session) => Some(&session.title),
            Self::New(_) | Self::Opening(_) => None,
        }
    }

    pub(super) fn model(&self) -> Option<&ModelRef> {
        match self {
            Self::New(session) => session.model.as_ref(),
            Self::Opening(_) => None,
            Self::Open(session) => session.model.as_ref(),
        }
    }

    pub(super) fn agent(&self) -> &str {
        match self {
            Self::New(session) => &session.agent,
            Self::Opening(_) => "",
            Self::Open(session) => &session.agent,
        }
    }

    pub(super) fn thinking(&self) -> Thinking {
        match self {
            Self::New(session) => session.thinking,
            Self::Opening(_) => Thinking::default(),
            Self::Open(session) => session.thinking,
        }
    }

    pub(super) fn options(&self) -> Options {
        match self {
            Self::New(session) => session.options.clone(),
            Self::Opening(_) => Options::default(),
            Self::Open(session) => session.options.clone(),
        }
    }
}
