//! Words what agents that work for a chat do.

use chat_core::message::{AgentReport, AgentState, FromAgent};
use gettextrs::gettext;

use super::{fill, one_line};

/// What an agent does, or how its work ended, in a line.
pub fn agent_line(report: &AgentReport) -> String {
    let sentence = match report.state {
        AgentState::Idle => gettext("{name} has no task yet"),
        AgentState::Working => gettext("{name} is working"),
        AgentState::NeedsUser => gettext("{name} is waiting for you"),
        AgentState::Done => gettext("{name} is done"),
        AgentState::Failed => gettext("{name} failed"),
        AgentState::Stopped => gettext("{name} was stopped"),
        AgentState::Limit => gettext("{name} reached a limit"),
        AgentState::Interrupted => gettext("{name} was interrupted"),
    };
    fill(&sentence, &[("name", &one_line(&report.name))])
}

/// The same in a word or two, next to its name.
pub fn agent_state(state: AgentState) -> String {
    match state {
        AgentState::Idle => gettext("no task yet"),
        AgentState::Working => gettext("working"),
        AgentState::NeedsUser => gettext("waiting for you"),
        AgentState::Done => gettext("done"),
        AgentState::Failed => gettext("failed"),
        AgentState::Stopped => gettext("stopped"),
        AgentState::Limit => gettext("reached a limit"),
        AgentState::Interrupted => gettext("interrupted"),
    }
}

/// Which agent speaks in a message.
pub fn from_agent(agent: &FromAgent) -> String {
    match agent {
        FromAgent::Message { name } => {
            fill(&gettext("From agent {name}"), &[("name", &one_line(name))])
        }
        FromAgent::Report(report) => agent_line(report),
    }
}
