//! Defines what a chat widget shows: a new chat, one that is being read, or an open one.

use std::path::Path;

use chat_core::event::{SessionPlaceholder, Status};
use chat_core::manager::SessionChange;
use chat_core::message::{Fid, ModelRef, Options, Thinking};
use chat_core::permission::Mode;
use chat_core::session::EmptySession;
use gettextrs::gettext;

use super::hint_bar;
use crate::conversation::Output;

#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "there is one in a window")]
pub(super) enum ShownChat {
    New(EmptySession),
    Opening(Fid),
    Open(SessionPlaceholder),
}

impl ShownChat {
    pub(super) fn fid(&self) -> Option<&Fid> {
        match self {
            Self::New(_) => None,
            Self::Opening(fid) => Some(fid),
            Self::Open(session) => Some(&session.fid),
        }
    }

    /// Makes a choice. Whether there is a chat that it can be made for.
    pub(super) fn choose(&mut self, change: SessionChange) -> bool {
        match self {
            Self::New(session) => {
                let SessionChange { agent, model, thinking, options, instructions, project, mode } =
                    change;
                session.agent = agent.unwrap_or(std::mem::take(&mut session.agent));
                session.model = model.or(session.model.take());
                session.thinking = thinking.unwrap_or(session.thinking);
                session.options = options.unwrap_or(std::mem::take(&mut session.options));
                session.instructions = instructions.unwrap_or(session.instructions.take());
                session.project = project.unwrap_or(session.project.take());
                session.mode = mode.unwrap_or(session.mode);
            }
            Self::Opening(_) => return false,
            Self::Open(session) => change.apply(&mut session.meta),
        }
        true
    }

    /// Whether what a conversation tells is to be heard: `session` is the one that it showed. While
    /// another is being read that is still there, and nothing of it may be done to the other.
    pub(super) fn concerns(&self, session: Option<&Fid>, output: &Output) -> bool {
        let of_none = matches!(output, Output::OpenLink(_) | Output::SearchStatus(_));
        of_none || matches!(self, Self::Open(shown) if session == Some(&shown.fid))
    }

    pub(super) fn is_busy(&self) -> bool {
        matches!(self, Self::Open(session) if session.status != Status::Idle)
    }

    pub(super) fn is_in_use(&self) -> bool {
        matches!(self, Self::Open(session) if session.in_use)
    }

    /// Whether a plan may stand at its end that can be started.
    pub(super) fn is_planning(&self) -> bool {
        let can_start = matches!(self, Self::Open(session)
            if session.mode == Mode::Plan && session.project.is_some() && !session.in_use);
        can_start && !self.is_busy()
    }

    /// Whether it is kept in memory alone.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::New(session) => session.temporary,
            Self::Opening(fid) => fid.is_temporary(),
            Self::Open(session) => session.fid.is_temporary(),
        }
    }

    /// What it is called; none while it is being read.
    pub(super) fn title(&self) -> Option<String> {
        match self {
            Self::New(session) if session.temporary => Some(gettext("New Temporary Chat")),
            Self::New(_) => Some(gettext("New Chat")),
            Self::Opening(_) => None,
            Self::Open(session) => Some(session.title.clone()),
        }
    }

    /// Why nothing can be sent in it now.
    pub(super) fn hindrance(&self) -> Option<String> {
        if self.is_in_use() {
            return Some(hint_bar::in_use());
        }
        self.model().is_none().then(|| gettext("Choose a model first"))
    }

    pub(super) fn model(&self) -> Option<&ModelRef> {
        match self {
            Self::New(session) => session.model.as_ref(),
            Self::Opening(_) => None,
            Self::Open(session) => session.model.as_ref(),
        }
    }

    /// Has a chat without a model, such as an imported one, begin with that of new chats. Nothing is stored
    /// before a message is sent.
    pub(super) fn give_model(&mut self, of_new: impl FnOnce() -> Option<ModelRef>) {
        if let Self::Open(session) = self
            && session.model.is_none()
        {
            session.meta.model = of_new();
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

    pub(super) fn is_opening(&self) -> bool {
        matches!(self, Self::Opening(_))
    }

    /// The folder that it works in.
    pub(super) fn project(&self) -> Option<&Path> {
        match self {
            Self::New(session) => session.project.as_deref(),
            Self::Opening(_) => None,
            Self::Open(session) => session.project.as_deref(),
        }
    }

    /// What its tools may do without asking.
    pub(super) fn mode(&self) -> Mode {
        match self {
            Self::New(session) => session.mode,
            Self::Opening(_) => Mode::default(),
            Self::Open(session) => session.mode,
        }
    }

    /// What the model is told in this chat alone.
    pub(super) fn instructions(&self) -> Option<&str> {
        match self {
            Self::New(session) => session.instructions.as_deref(),
            Self::Opening(_) => None,
            Self::Open(session) => session.instructions.as_deref(),
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

#[cfg(test)]
mod tests {
    use chat_core::message::{MessageId, SessionMeta};

    use super::*;
    use crate::conversation::SearchStatus;

    #[test]
    fn a_chat_without_a_model_begins_with_that_of_new_chats() {
        let of_new = ModelRef::new("Ollama", "new");
        let own = ModelRef::new("Ollama", "own");
        for (model, expected) in [(None, &of_new), (Some(own.clone()), &own)] {
            let mut shown = ShownChat::Open(SessionPlaceholder {
                meta: SessionMeta { model, ..SessionMeta::default() },
                status: Status::Idle,
                activity: None,
            });
            shown.give_model(|| Some(of_new.clone()));
            assert_eq!((shown.model(), shown.hindrance()), (Some(expected), None));
        }
    }

    #[test]
    fn what_the_chat_before_tells_is_not_done_to_the_one_that_is_being_read() {
        let (before, now) = (Fid::new("2026-01-15-14-30-45"), Fid::new("2026-01-16-08-00-00"));
        let open = |fid: &Fid| {
            ShownChat::Open(SessionPlaceholder {
                meta: SessionMeta { fid: fid.clone(), ..SessionMeta::default() },
                status: Status::Idle,
                activity: None,
            })
        };
        let of_one = [
            Output::NeedEarlier { before: MessageId::new() },
            Output::Stop,
            Output::Retry,
            Output::Resume,
            Output::Regenerate { reply: MessageId::new(), agent: None },
            Output::Seen,
        ];
        for output in &of_one {
            assert!(open(&before).concerns(Some(&before), output), "{output:?}");
            assert!(!ShownChat::Opening(now.clone()).concerns(Some(&before), output), "{output:?}");
            assert!(!open(&now).concerns(Some(&before), output), "{output:?}");
            assert!(!open(&now).concerns(None, output), "{output:?}");
        }
        let of_none = [
            Output::OpenLink("https://example.org/".to_owned()),
            Output::SearchStatus(SearchStatus::default()),
        ];
        for output in &of_none {
            assert!(ShownChat::Opening(now.clone()).concerns(Some(&before), output), "{output:?}");
        }
    }
}
