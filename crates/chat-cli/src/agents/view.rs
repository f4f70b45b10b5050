//! Describes an agent in a line of text or of JSON.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use chat_core::event::{SessionPlaceholder, Status};
use chat_core::message::{AgentState, Fid, Message, Part, ReplyFailure, Role, Usage};
use chat_core::tool::Toolbox;
use chat_presentation::words::{self, Progress};
use jiff::Timestamp;
use serde::Serialize;

use crate::say;

/// What an agent does, or how its last work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It waits for its first task.
    Idle,
    /// It works, here or in another program.
    Working,
    /// It waits for the user.
    NeedsUser,
    /// It has done what it was asked.
    Done,
    /// Its last reply was stopped.
    Stopped,
    /// Its last reply reached a limit of length.
    Limit,
    /// Its last reply failed.
    Failed,
    /// Its last reply was interrupted.
    Interrupted,
    /// It was closed.
    Closed,
    /// It was deleted while the list was watched.
    Deleted,
}

impl State {
    /// The state of an agent, from its row and whether anything was said in it.
    pub fn of(session: &SessionPlaceholder, has_messages: bool) -> Self {
        match session.status {
            Status::NeedsInput => Self::NeedsUser,
            Status::Waiting | Status::Answering => Self::Working,
            Status::Idle if session.in_use && session.asks => Self::NeedsUser,
            // One that is being made has no task yet.
            Status::Idle if session.in_use && has_messages => Self::Working,
            Status::Idle if session.closed => Self::Closed,
            Status::Idle => match (session.ended, session.trouble) {
                (Some(ended), _) => ended.into(),
                (None, Some(ReplyFailure::Failed)) => Self::Failed,
                (None, Some(ReplyFailure::Interrupted)) => Self::Interrupted,
                (None, None) if has_messages => Self::Done,
                (None, None) => Self::Idle,
            },
        }
    }

    /// The same in a word or two.
    pub fn words(self) -> String {
        match self {
            Self::Idle => words::agent_state(AgentState::Idle),
            Self::Working => words::agent_state(AgentState::Working),
            Self::NeedsUser => words::agent_state(AgentState::NeedsUser),
            Self::Done => words::agent_state(AgentState::Done),
            Self::Stopped => words::agent_state(AgentState::Stopped),
            Self::Limit => words::agent_state(AgentState::Limit),
            Self::Failed => words::agent_state(AgentState::Failed),
            Self::Interrupted => words::agent_state(AgentState::Interrupted),
            Self::Closed => say::agent_closed(),
            Self::Deleted => say::agent_deleted(),
        }
    }
}

impl From<AgentState> for State {
    fn from(state: AgentState) -> Self {
        match state {
            AgentState::Idle => Self::Idle,
            AgentState::Working => Self::Working,
            AgentState::NeedsUser => Self::NeedsUser,
            AgentState::Done => Self::Done,
            AgentState::Failed => Self::Failed,
            AgentState::Stopped => Self::Stopped,
            AgentState::Limit => Self::Limit,
            AgentState::Interrupted => Self::Interrupted,
        }
    }
}

/// What an agent does, and what its work cost.
#[derive(Clone, Debug)]
pub struct Work {
    state: State,
    /// The tool that runs now, in words.
    doing: Option<String>,
    /// Since when it works on what it was asked last.
    since: Option<Timestamp>,
    /// What all its replies cost, as far as servers say that.
    usage: Usage,
}

impl Work {
    /// What can be read of it in its row and its messages.
    pub fn of(session: &SessionPlaceholder, messages: &[Arc<Message>], tools: &Toolbox) -> Self {
        let state = State::of(session, !messages.is_empty());
        let works = matches!(state, State::Working | State::NeedsUser);
        let asked = messages.iter().rfind(|message| message.role == Role::User);
        let usage = messages.iter().filter_map(|message| message.usage.as_ref());
        Self {
            state,
            doing: if works { doing(messages, state, tools) } else { None },
            since: asked.map(|asked| asked.time).filter(|_| works),
            usage: usage.fold(Usage::default(), |all, usage| all.and(usage)),
        }
    }

    /// The last that is known of an agent that was deleted.
    pub fn deleted(self) -> Self {
        Self { state: State::Deleted, doing: None, since: None, ..self }
    }

    /// The line of an agent: `explorer · just-ask · Ollama/qwen3:8b · working · Running cargo test`.
    pub fn line(&self, session: &SessionPlaceholder) -> String {
        let mut facts = vec![words::one_line(session.name.as_deref().unwrap_or_default())];
        facts.push(words::one_line(&session.agent));
        facts.extend(session.model.as_ref().map(|model| words::one_line(&model.to_string())));
        facts.push(self.state.words());
        facts.extend(self.doing.clone());
        facts.extend(self.tokens().map(say::tokens));
        facts.extend(self.time().map(words::short_time));
        facts.join(" · ")
    }

    fn tokens(&self) -> Option<u64> {
        let Usage { prompt_tokens, completion_tokens, .. } = self.usage;
        (prompt_tokens.is_some() || completion_tokens.is_some())
            .then(|| prompt_tokens.unwrap_or_default() + completion_tokens.unwrap_or_default())
    }

    /// How long it works by now, or how long its replies took.
    fn time(&self) -> Option<Duration> {
        match self.since {
            Some(since) => Timestamp::now().duration_since(since).try_into().ok(),
            None => self.usage.total_ms.map(Duration::from_millis),
        }
    }
}

/// The last of the calls that have no result yet.
fn doing(messages: &[Arc<Message>], state: State, tools: &Toolbox) -> Option<String> {
    let reply = messages.iter().rposition(|message| message.role == Role::Assistant)?;
    let results = messages[reply..].iter().flat_map(|message| &message.parts);
    let ended: HashSet<_> = results
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some(&result.call),
            _ => None,
        })
        .collect();
    let running = messages[reply].tool_calls().filter(|call| !ended.contains(&call.id)).last()?;
    let waits = state == State::NeedsUser;
    Some(words::tool_line(tools, running, if waits { Progress::Asking } else { Progress::Running }))
}

/// An agent as JSON.
#[derive(Serialize)]
pub struct AgentView<'a> {
    fid: &'a str,
    /// The chat or the agent that it works for.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    name: &'a str,
    /// What kind of agent it is.
    agent: &'a str,
    model: Option<String>,
    state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    doing: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<Timestamp>,
    usage: &'a Usage,
    created: Timestamp,
    updated: Timestamp,
}

impl<'a> AgentView<'a> {
    /// The agent as it is now.
    pub fn new(session: &'a SessionPlaceholder, work: &'a Work) -> Self {
        Self {
            fid: session.fid.as_str(),
            parent: session.parent.as_ref().map(Fid::as_str),
            name: session.name.as_deref().unwrap_or_default(),
            agent: &session.agent,
            model: session.model.as_ref().map(ToString::to_string),
            state: work.state,
            doing: work.doing.as_deref(),
            since: work.since,
            usage: &work.usage,
            created: session.created,
            updated: session.updated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_of_another_program_works_once_it_has_a_task_and_may_wait_for_the_user() {
        let mut agent = SessionPlaceholder::default();
        agent.meta.in_use = true;
        assert_eq!(State::of(&agent, false), State::Idle);
        assert_eq!(State::of(&agent, true), State::Working);
        agent.meta.asks = true;
        assert_eq!(State::of(&agent, true), State::NeedsUser);
    }

    #[test]
    fn an_agent_whose_last_reply_was_cut_off_is_not_done() {
        let mut agent = SessionPlaceholder::default();
        assert_eq!(State::of(&agent, false), State::Idle);
        for (ended, state) in [
            (AgentState::Done, State::Done),
            (AgentState::Stopped, State::Stopped),
            (AgentState::Limit, State::Limit),
            (AgentState::Failed, State::Failed),
        ] {
            agent.ended = Some(ended);
            assert_eq!(State::of(&agent, true), state);
        }
        agent.meta.closed = true;
        assert_eq!(State::of(&agent, true), State::Closed);
    }
}
