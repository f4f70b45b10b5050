//! What a row says about its chat beyond the title: a word and a mark, never colour alone.

use chat_core::event::{SessionPlaceholder, Status};
use gettextrs::gettext;

/// A chat's state as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Plain,
    Asks,
    Busy,
    InUse,
    Failed,
    Unread,
}

impl Shown {
    /// What matters most about a chat.
    pub(super) fn of(session: &SessionPlaceholder) -> Self {
        match session.status {
            Status::NeedsInput => Self::Asks,
            Status::Waiting | Status::Answering => Self::Busy,
            Status::Idle if session.in_use => Self::InUse,
            Status::Idle if session.trouble.is_some() => Self::Failed,
            Status::Idle if session.unread => Self::Unread,
            Status::Idle => Self::Plain,
        }
    }

    pub(super) fn word(self) -> Option<String> {
        match self {
            Self::Plain => None,
            Self::Asks => Some(gettext("asks you")),
            Self::Busy => Some(gettext("is answering")),
            Self::InUse => Some(gettext("open in another program")),
            Self::Failed => Some(gettext("the reply failed")),
            Self::Unread => Some(gettext("new reply")),
        }
    }

    pub(super) fn icon(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Asks => Some("dialog-question-symbolic"),
            Self::Busy => Some("content-loading-symbolic"),
            Self::InUse => Some("changes-prevent-symbolic"),
            Self::Failed => Some("dialog-warning-symbolic"),
            Self::Unread => Some("natter-unread-symbolic"),
        }
    }

    /// The style class of its mark.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Plain | Self::InUse => "plain",
            Self::Asks => "asks",
            Self::Busy => "busy",
            Self::Failed => "failed",
            Self::Unread => "unread",
        }
    }
}
