//! What a row says about its chat beyond the title: a word and a mark, never colour alone.

use chat_core::event::{SessionPlaceholder, Status};
use chat_core::message::ReplyFailure;
use gettextrs::gettext;

/// A chat's state as it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatStatus {
    Plain,
    Asks,
    Waiting,
    Answering,
    InUse,
    /// The reply failed; whether the person has looked at that.
    Failed {
        seen: bool,
    },
    /// The reply was interrupted; whether the person has looked at that.
    Interrupted {
        seen: bool,
    },
    Unread,
}

impl ChatStatus {
    /// What matters most about a chat.
    pub(super) fn of(session: &SessionPlaceholder) -> Self {
        match session.status {
            Status::NeedsInput => Self::Asks,
            Status::Waiting => Self::Waiting,
            Status::Answering => Self::Answering,
            Status::Idle if session.in_use => Self::InUse,
            Status::Idle => match session.trouble {
                Some(ReplyFailure::Failed) => Self::Failed { seen: !session.unread },
                Some(ReplyFailure::Interrupted) => Self::Interrupted { seen: !session.unread },
                None if session.unread => Self::Unread,
                None => Self::Plain,
            },
        }
    }

    pub(super) fn word(self) -> Option<String> {
        match self {
            Self::Plain => None,
            Self::Asks => Some(gettext("Needs your answer")),
            Self::Waiting => Some(gettext("Waiting")),
            Self::Answering => Some(gettext("Replying…")),
            Self::InUse => Some(gettext("Open in another program")),
            Self::Failed { .. } => Some(gettext("Reply failed")),
            Self::Interrupted { .. } => Some(gettext("Reply interrupted")),
            Self::Unread => Some(gettext("New reply")),
        }
    }

    pub(super) fn icon(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Asks => Some("dialog-question-symbolic"),
            Self::Waiting | Self::Answering => Some("content-loading-symbolic"),
            Self::InUse => Some("changes-prevent-symbolic"),
            Self::Failed { .. } | Self::Interrupted { .. } => Some("dialog-warning-symbolic"),
            Self::Unread => Some("natter-unread-symbolic"),
        }
    }

    /// The style class of its mark.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Plain | Self::InUse => "plain",
            Self::Failed { seen: true } | Self::Interrupted { seen: true } => "looked-at",
            Self::Asks => "asks",
            Self::Waiting => "waiting",
            Self::Answering => "busy",
            Self::Failed { .. } | Self::Interrupted { .. } => "failed",
            Self::Unread => "unread",
        }
    }
}

#[cfg(test)]
mod tests {
    use chat_core::message::{Fid, SessionMeta};

    use super::*;

    #[test]
    fn trouble_is_red_until_it_was_looked_at_and_stays_named() {
        for (trouble, word) in [
            (ReplyFailure::Failed, "Reply failed"),
            (ReplyFailure::Interrupted, "Reply interrupted"),
        ] {
            for (unread, class) in [(true, "failed"), (false, "looked-at")] {
                let shown = ChatStatus::of(&SessionPlaceholder {
                    meta: SessionMeta {
                        fid: Fid::new("2026-01-15-14-30-45"),
                        unread,
                        trouble: Some(trouble),
                        ..SessionMeta::default()
                    },
                    status: Status::Idle,
                });
                assert_eq!(shown.class(), class);
                assert_eq!(shown.word().as_deref(), Some(word));
                assert_eq!(shown.icon(), Some("dialog-warning-symbolic"));
            }
        }
    }
}
