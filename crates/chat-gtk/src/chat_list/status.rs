//! Defines the status of a chat in its row: a word and a symbol, never colour alone.

use chat_core::event::{SessionPlaceholder, Status};
use chat_core::message::ReplyFailure;
use chat_presentation::words::fill;
use gettextrs::{gettext, ngettext};

use super::families::AgentsBelow;

/// A chat's state as its row shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatStatus {
    Plain,
    Asks,
    Waiting,
    Answering,
    InUse,
    /// The reply failed; whether the user has seen that.
    Failed {
        seen: bool,
    },
    /// The reply was interrupted; whether the user has seen that.
    Interrupted {
        seen: bool,
    },
    Unread,
    /// So many of its agents wait for the user.
    AgentsAsk(u32),
    /// So many of its agents work.
    AgentsWork(u32),
    /// So many of its agents were interrupted.
    AgentsInterrupted(u32),
}

impl ChatStatus {
    /// The most important state of a chat.
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

    /// The same of a chat with agents, which do this. What wants the user comes first.
    pub(super) fn with_agents(self, below: AgentsBelow) -> Self {
        match self {
            Self::Asks | Self::InUse => self,
            _ if below.asking > 0 => Self::AgentsAsk(below.asking),
            Self::Failed { .. } | Self::Interrupted { .. } => self,
            _ if below.working > 0 => Self::AgentsWork(below.working),
            Self::Plain if below.interrupted > 0 => Self::AgentsInterrupted(below.interrupted),
            _ => self,
        }
    }

    pub(super) fn word(self) -> Option<String> {
        match self {
            Self::Plain => None,
            Self::Asks => Some(gettext("Needs your answer")),
            Self::Waiting => Some(gettext("Waiting")),
            Self::Answering => Some(gettext("Replying…")),
            Self::InUse => Some(gettext("Open elsewhere")),
            Self::Failed { .. } => Some(gettext("Reply failed")),
            Self::Interrupted { .. } => Some(gettext("Reply interrupted")),
            Self::Unread => Some(gettext("New reply")),
            Self::AgentsAsk(n) => {
                Some(count(&ngettext("{n} agent needs you", "{n} agents need you", n), n))
            }
            Self::AgentsWork(n) => {
                Some(count(&ngettext("{n} agent working", "{n} agents working", n), n))
            }
            Self::AgentsInterrupted(n) => {
                Some(count(&ngettext("{n} agent interrupted", "{n} agents interrupted", n), n))
            }
        }
    }

    /// What a row is called: its title, and what is said about the chat.
    pub(super) fn spoken(self, title: &str) -> String {
        let text = match self {
            Self::Plain => return title.to_owned(),
            Self::Asks => gettext("{title}, needs your answer"),
            Self::Waiting => gettext("{title}, waiting"),
            Self::Answering => gettext("{title}, replying"),
            Self::InUse => gettext("{title}, open elsewhere"),
            Self::Failed { .. } => gettext("{title}, reply failed"),
            Self::Interrupted { .. } => gettext("{title}, reply interrupted"),
            Self::Unread => gettext("{title}, new reply"),
            Self::AgentsAsk(_) | Self::AgentsWork(_) | Self::AgentsInterrupted(_) => {
                let word = self.word().unwrap_or_default();
                return [title, &word].join(", ");
            }
        };
        fill(&text, &[("title", title)])
    }

    pub(super) fn icon(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Asks | Self::AgentsAsk(_) => Some("dialog-question-symbolic"),
            Self::Waiting | Self::Answering | Self::AgentsWork(_) => {
                Some("content-loading-symbolic")
            }
            Self::InUse => Some("changes-prevent-symbolic"),
            Self::Failed { .. } | Self::Interrupted { .. } | Self::AgentsInterrupted(_) => {
                Some("dialog-warning-symbolic")
            }
            Self::Unread => Some("natter-unread-symbolic"),
        }
    }

    /// The CSS class of its symbol.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Plain | Self::InUse => "plain",
            Self::Failed { seen: true }
            | Self::Interrupted { seen: true }
            | Self::AgentsInterrupted(_) => "looked-at",
            Self::Asks | Self::AgentsAsk(_) => "asks",
            Self::Waiting => "waiting",
            Self::Answering | Self::AgentsWork(_) => "busy",
            Self::Failed { .. } | Self::Interrupted { .. } => "failed",
            Self::Unread => "unread",
        }
    }
}

fn count(text: &str, n: u32) -> String {
    fill(text, &[("n", &n.to_string())])
}

#[cfg(test)]
mod tests {
    use chat_core::message::{Fid, SessionMeta};

    use super::*;

    #[test]
    fn a_folded_chat_says_what_its_agents_do_unless_it_needs_the_user_itself() {
        let works = AgentsBelow { count: 3, working: 2, asking: 0, interrupted: 1 };
        let asks = AgentsBelow { asking: 1, ..works };
        let word = |status: ChatStatus, below| status.with_agents(below).word();
        assert_eq!(word(ChatStatus::Plain, works).as_deref(), Some("2 agents working"));
        assert_eq!(word(ChatStatus::Answering, asks).as_deref(), Some("1 agent needs you"));
        assert_eq!(word(ChatStatus::Asks, asks), ChatStatus::Asks.word());
        let failed = ChatStatus::Failed { seen: false };
        assert_eq!(word(failed, works), failed.word());
        let rest = AgentsBelow { working: 0, ..works };
        assert_eq!(word(ChatStatus::Plain, rest).as_deref(), Some("1 agent interrupted"));
        assert_eq!(word(ChatStatus::Plain, AgentsBelow::default()), None);
    }

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
                    activity: None,
                });
                assert_eq!(shown.class(), class);
                assert_eq!(shown.word().as_deref(), Some(word));
                assert_eq!(shown.spoken("Work"), format!("Work, {}", word.to_lowercase()));
                assert_eq!(shown.icon(), Some("dialog-warning-symbolic"));
            }
        }
    }
}
