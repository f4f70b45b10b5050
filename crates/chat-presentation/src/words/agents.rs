//! Words what agents that work for a chat do.

use std::time::Duration;

use chat_core::error::{BudgetLimit, Error, Kind};
use chat_core::message::{AgentReport, AgentState, FromAgent};
use chat_core::tool::MAIN;
use gettextrs::gettext;

use super::{fill, grouped, one_line};

/// What an agent does, or how its work ended, in a line.
pub fn agent_line(report: &AgentReport) -> String {
    if report.state == AgentState::Limit
        && let Some(limit) = report.error.as_ref().and_then(limit)
    {
        let values = [("name", one_line(&report.name)), ("limit", limit)];
        let values = values.each_ref().map(|(key, value)| (*key, value.as_str()));
        return fill(&gettext("{name} reached {limit}"), &values);
    }
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

/// The limit that an agent reached, with its value; none for others.
fn limit(error: &Error) -> Option<String> {
    Some(match error.kind {
        Kind::AgentBudget { limit: BudgetLimit::Tokens(tokens) } => {
            fill(&gettext("the agent token limit ({n})"), &[("n", &grouped(tokens))])
        }
        Kind::AgentBudget { limit: BudgetLimit::Turns(turns) } => {
            fill(&gettext("the agent turn limit ({n})"), &[("n", &turns.to_string())])
        }
        Kind::AgentBudget { limit: BudgetLimit::Minutes(minutes) } => {
            fill(&gettext("the agent time limit ({n} min)"), &[("n", &minutes.to_string())])
        }
        Kind::RoundLimit { rounds } => {
            fill(&gettext("the limit of rounds of tool calls ({n})"), &[("n", &rounds.to_string())])
        }
        _ => return None,
    })
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
        FromAgent::Message { name } if name == MAIN => gettext("From the main chat"),
        FromAgent::Message { name } => {
            fill(&gettext("From agent {name}"), &[("name", &one_line(name))])
        }
        FromAgent::Report(report) => agent_line(report),
    }
}

/// How long an agent has worked, in whole minutes: “2 min”; none before the first is over.
pub fn work_time(time: Duration) -> Option<String> {
    let minutes = time.as_secs() / 60;
    let (hours, rest) = ((minutes / 60).to_string(), (minutes % 60).to_string());
    let values = [("hours", hours.as_str()), ("minutes", rest.as_str())];
    match minutes {
        0 => None,
        1..60 => Some(fill(&gettext("{minutes} min"), &values)),
        _ => Some(fill(&gettext("{hours} h {minutes} min"), &values)),
    }
}

#[cfg(test)]
mod tests {
    use chat_core::message::{Fid, Usage};

    use super::*;

    #[test]
    fn the_chat_at_the_top_is_called_no_agent() {
        let of = |name: &str| from_agent(&FromAgent::Message { name: name.to_owned() });
        assert_eq!(of("main"), "From the main chat");
        assert_eq!(of("names"), "From agent names");
    }

    #[test]
    fn the_line_of_an_agent_names_the_limit_that_it_reached() {
        let of = |kind: Option<Kind>| {
            agent_line(&AgentReport {
                session: Fid::new("f"),
                name: "second".to_owned(),
                agent: "explorer".to_owned(),
                state: AgentState::Limit,
                text: String::new(),
                error: kind.map(Error::new),
                usage: Usage::default(),
                ids: Vec::new(),
            })
        };
        let budget = |limit| Some(Kind::AgentBudget { limit });
        let tokens = of(budget(BudgetLimit::Tokens(2_000_000)));
        assert_eq!(tokens, "second reached the agent token limit (2,000,000)");
        let minutes = of(budget(BudgetLimit::Minutes(60)));
        assert_eq!(minutes, "second reached the agent time limit (60 min)");
        assert_eq!(of(None), "second reached a limit");
    }

    #[test]
    fn a_time_of_work_has_whole_minutes() {
        let of = |seconds| work_time(Duration::from_secs(seconds));
        assert_eq!(of(59), None);
        assert_eq!(of(150).as_deref(), Some("2 min"));
        assert_eq!(of(3720).as_deref(), Some("1 h 2 min"));
    }
}
