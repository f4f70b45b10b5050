//! Defines what is said of an agent that works for a chat: what it does, or how its work ended. Data
//! and words alone, for the chat list and for the cards of calls.

use std::sync::Arc;
use std::time::Duration;

use chat_core::event::{SessionPlaceholder, Status};
use chat_core::message::{AgentState, ReplyFailure, ToolCall};
use chat_core::tool::Toolbox;
use chat_presentation::words::{Progress, fill, tool_line, work_time};
use gettextrs::gettext;
use jiff::Timestamp;

/// Between what an agent does and for how long.
const BETWEEN: &str = " · ";

/// What an agent does, or how its work ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum AgentStatus {
    /// It waits for its first task.
    NoTask,
    /// It works, and no tool runs.
    Works,
    /// It runs this tool.
    Runs(Arc<ToolCall>),
    /// It waits for the user.
    NeedsUser,
    /// Another program works in it.
    InUse,
    Done,
    Stopped,
    Limit,
    Failed,
    Interrupted,
    /// It was closed.
    Closed,
    /// Its work ended, and nobody knows how.
    Ended,
}

impl AgentStatus {
    /// What this agent does, or how its last work ended.
    pub(crate) fn of(agent: &SessionPlaceholder) -> Self {
        match agent.status {
            Status::NeedsInput => return Self::NeedsUser,
            Status::Waiting | Status::Answering => {
                let call = agent.activity.as_ref().and_then(|activity| activity.call.clone());
                return call.map_or(Self::Works, Self::Runs);
            }
            Status::Idle => {}
        }
        if agent.in_use {
            return Self::InUse;
        }
        match (agent.ended, agent.trouble) {
            (Some(ended), _) if !ended.is_well() => Self::ended(ended),
            (None, Some(ReplyFailure::Interrupted)) => Self::Interrupted,
            (None, Some(ReplyFailure::Failed)) => Self::Failed,
            _ if agent.closed => Self::Closed,
            (Some(ended), _) => Self::ended(ended),
            (None, None) if agent.updated <= agent.created => Self::NoTask,
            (None, None) => Self::Ended,
        }
    }

    /// How the work of an agent ended, where nothing else is known of it.
    pub(crate) fn ended(state: AgentState) -> Self {
        match state {
            AgentState::Idle => Self::NoTask,
            // What it does since nobody knows.
            AgentState::Working | AgentState::NeedsUser => Self::Ended,
            AgentState::Done => Self::Done,
            AgentState::Failed => Self::Failed,
            AgentState::Stopped => Self::Stopped,
            AgentState::Limit => Self::Limit,
            AgentState::Interrupted => Self::Interrupted,
        }
    }

    /// Whether it works, or waits for the user to go on.
    pub(crate) fn is_at_work(&self) -> bool {
        matches!(self, Self::Works | Self::Runs(_) | Self::NeedsUser)
    }

    /// The same in words; none where there is nothing to say.
    pub(crate) fn words(&self, tools: &Toolbox) -> Option<String> {
        Some(match self {
            Self::NoTask => gettext("No task yet"),
            Self::Works => gettext("Working…"),
            Self::Runs(call) => tool_line(tools, call, Progress::Running),
            Self::NeedsUser => gettext("Waiting for you"),
            Self::InUse => gettext("Open elsewhere"),
            Self::Done => gettext("Done"),
            Self::Stopped => gettext("Stopped"),
            Self::Limit => gettext("Reached a limit"),
            Self::Failed => gettext("Failed"),
            Self::Interrupted => gettext("Interrupted"),
            Self::Closed => gettext("Closed"),
            Self::Ended => return None,
        })
    }

    /// Its symbol; none where the words say enough.
    pub(crate) fn icon(&self) -> Option<&'static str> {
        match self {
            Self::NeedsUser => Some("dialog-question-symbolic"),
            Self::Works | Self::Runs(_) => Some("content-loading-symbolic"),
            Self::InUse => Some("changes-prevent-symbolic"),
            Self::Failed | Self::Interrupted | Self::Limit => Some("dialog-warning-symbolic"),
            Self::NoTask | Self::Done | Self::Stopped | Self::Closed | Self::Ended => None,
        }
    }

    /// The CSS class of its symbol.
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::NeedsUser => "asks",
            Self::Works | Self::Runs(_) => "busy",
            Self::Failed | Self::Interrupted | Self::Limit => "looked-at",
            _ => "plain",
        }
    }
}

/// What an agent does and for how long: “Running cargo test · 2 min”.
pub(crate) fn status_line(
    agent: &SessionPlaceholder,
    status: &AgentStatus,
    tools: &Toolbox,
    now: Timestamp,
) -> Option<String> {
    let words = status.words(tools)?;
    let time = time_at_work(agent, status, now);
    Some(time.map_or(words.clone(), |time| [words, time].join(BETWEEN)))
}

/// How long an agent has been at work, in words; none of one that is not, or has just begun.
pub(crate) fn time_at_work(
    agent: &SessionPlaceholder,
    status: &AgentStatus,
    now: Timestamp,
) -> Option<String> {
    let since = agent.activity.as_ref().filter(|_| status.is_at_work())?.since;
    work_time(Duration::try_from(now.duration_since(since)).ok()?)
}

/// What an agent is called for screen readers: its name, and what it does.
pub(crate) fn spoken(name: &str, line: Option<&str>) -> String {
    match line {
        Some(line) => {
            let text = gettext("Agent {name}: {status}");
            fill(&text, &[("name", name), ("status", line)])
        }
        None => fill(&gettext("Agent {name}"), &[("name", name)]),
    }
}

#[cfg(test)]
mod tests {
    use chat_core::event::AgentActivity;
    use chat_core::message::{SessionMeta, ToolCallId};
    use chat_core::tool::Registry;
    use jiff::ToSpan;
    use serde_json::json;

    use super::*;

    fn agent(status: Status) -> SessionPlaceholder {
        let created = Timestamp::UNIX_EPOCH;
        let meta = SessionMeta { created, updated: created + 1.second(), ..SessionMeta::default() };
        SessionPlaceholder { meta, status, activity: None }
    }

    fn line(agent: &SessionPlaceholder, minutes: i64) -> Option<String> {
        let tools = chat_tools::all().into_iter().collect::<Registry>().toolbox();
        let now = Timestamp::UNIX_EPOCH + minutes.minutes();
        status_line(agent, &AgentStatus::of(agent), &tools, now)
    }

    #[test]
    fn an_agent_at_work_says_what_it_runs_and_for_how_long() {
        let arguments = json!({ "command": "cargo test" });
        let call = ToolCall::new(ToolCallId::new("c1"), "run_command", arguments);
        let activity =
            AgentActivity { since: Timestamp::UNIX_EPOCH, call: Some(Arc::new(call)), tokens: 0 };
        let mut works = SessionPlaceholder { activity: Some(activity), ..agent(Status::Answering) };
        assert_eq!(line(&works, 0).as_deref(), Some("Running cargo test"));
        assert_eq!(line(&works, 2).as_deref(), Some("Running cargo test · 2 min"));
        works.status = Status::NeedsInput;
        assert_eq!(line(&works, 2).as_deref(), Some("Waiting for you · 2 min"));
        works.activity.as_mut().unwrap().call = None;
        works.status = Status::Waiting;
        assert_eq!(line(&works, 0).as_deref(), Some("Working…"));
    }

    #[test]
    fn no_end_that_was_no_success_is_called_one() {
        let mut idle = agent(Status::Idle);
        assert_eq!(AgentStatus::of(&idle), AgentStatus::Ended, "nobody knows how");
        for (ended, status) in [
            (AgentState::Done, AgentStatus::Done),
            (AgentState::Stopped, AgentStatus::Stopped),
            (AgentState::Limit, AgentStatus::Limit),
            (AgentState::Failed, AgentStatus::Failed),
        ] {
            idle.ended = Some(ended);
            assert_eq!(AgentStatus::of(&idle), status);
        }
        idle.closed = true;
        assert_eq!(AgentStatus::of(&idle), AgentStatus::Failed);
        idle.ended = Some(AgentState::Done);
        assert_eq!(AgentStatus::of(&idle), AgentStatus::Closed);
        let mut new = agent(Status::Idle);
        new.trouble = Some(ReplyFailure::Interrupted);
        assert_eq!(AgentStatus::of(&new), AgentStatus::Interrupted);
        new.trouble = None;
        new.updated = new.created;
        assert_eq!(AgentStatus::of(&new), AgentStatus::NoTask);
    }
}
