//! Knows what agents do, for the cards of the calls that started or asked them. Plain data.

use std::collections::HashMap;

use chat_core::definitions::Color;
use chat_core::event::{Event, SessionEvent, SessionPlaceholder};
use chat_core::message::{
    AgentReport, AgentState, Fid, FromAgent, Message, Part, ReplyFailure, Usage,
};
use chat_core::tool::Toolbox;
use chat_presentation::words::{fill, grouped, one_line};
use gettextrs::ngettext;
use jiff::Timestamp;

use crate::agent_status::{AgentStatus, status_line};

/// The agents that were heard of.
#[derive(Debug, Default)]
pub struct AgentBook {
    /// The session whose calls are shown.
    session: Option<Fid>,
    agents: HashMap<Fid, SessionPlaceholder>,
    /// The colors of kinds of agents, by their names.
    colors: HashMap<String, Color>,
    /// The tokens that each has spent on its last work, as far as that was heard of.
    spent: HashMap<Fid, u64>,
}

/// What a card says of an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentLine {
    /// Its session.
    pub fid: Fid,
    /// What it is called.
    pub name: String,
    /// What it does, or how its work ended.
    pub status: String,
    /// What it has spent, in words.
    pub spent: String,
    /// The symbol of its status.
    pub icon: Option<&'static str>,
    /// The CSS class of that.
    pub class: &'static str,
    /// The color of its kind.
    pub color: Option<Color>,
    /// Whether its chat can be shown.
    pub is_there: bool,
    /// Whether it can be stopped.
    pub is_at_work: bool,
}

impl AgentBook {
    /// Takes what an event says of an agent, and gives that.
    pub fn take(&mut self, event: &Event) -> Option<Fid> {
        match event {
            Event::SessionAdded(agent) | Event::SessionChanged(agent) => {
                agent.parent.as_ref()?;
                if let Some(activity) = &agent.activity {
                    self.spent.insert(agent.fid.clone(), activity.tokens);
                }
                self.agents.insert(agent.fid.clone(), agent.clone());
                Some(agent.fid.clone())
            }
            Event::SessionRemoved { fid } => self.agents.remove(fid).map(|_| fid.clone()),
            Event::Session { event: SessionEvent::MessageAdded { message }, .. } => {
                let report = reported(message)?;
                self.spent.insert(report.session.clone(), tokens_of(&report.usage));
                Some(report.session.clone())
            }
            _ => None,
        }
    }

    /// Takes what agents that worked in the background reported in these messages, the oldest first.
    /// What events told of them is newer.
    pub fn read_reports<'a>(&mut self, messages: impl DoubleEndedIterator<Item = &'a Message>) {
        for report in messages.rev().filter_map(reported) {
            let tokens = || tokens_of(&report.usage);
            self.spent.entry(report.session.clone()).or_insert_with(tokens);
        }
    }

    /// Takes the agents of the tree of a session, as they were read. What events told of them since
    /// is newer.
    pub fn fill(&mut self, session: &Fid, agents: Vec<SessionPlaceholder>) {
        self.session = Some(session.clone());
        for agent in agents.into_iter().filter(|agent| agent.parent.is_some()) {
            self.agents.entry(agent.fid.clone()).or_insert(agent);
        }
    }

    /// Takes the colors of kinds of agents, by their names. Gives the agents that are known, if any color is
    /// another.
    pub fn set_colors(&mut self, colors: HashMap<String, Color>) -> Vec<Fid> {
        if self.colors == colors {
            return Vec::new();
        }
        self.colors = colors;
        self.agents.keys().cloned().collect()
    }

    /// The agent of this name that works for the session whose calls are shown.
    pub fn named(&self, name: &str) -> Vec<Fid> {
        let mine = self
            .agents
            .values()
            .filter(|agent| agent.parent == self.session && agent.name.as_deref() == Some(name));
        mine.map(|agent| agent.fid.clone()).collect()
    }

    /// How many agents below a chat were interrupted.
    pub fn interrupted_below(&self, top: &Fid) -> u32 {
        let is_below = |agent: &SessionPlaceholder| {
            let up = |fid: &Fid| self.agents.get(fid).and_then(|known| known.parent.clone());
            let mut above = std::iter::successors(agent.parent.clone(), up);
            above.by_ref().take(self.agents.len() + 1).any(|fid| fid == *top)
        };
        let interrupted = self.agents.values().filter(|agent| {
            !agent.status.is_busy()
                && agent.trouble == Some(ReplyFailure::Interrupted)
                && !agent.in_use
                && is_below(agent)
        });
        u32::try_from(interrupted.count()).unwrap_or(u32::MAX)
    }

    /// What a card says of an agent, of which this was reported at the end of the call, if that has
    /// ended; none where nothing is known.
    pub fn line(
        &self,
        fid: &Fid,
        report: Option<&AgentReport>,
        tools: &Toolbox,
        now: Timestamp,
    ) -> Option<AgentLine> {
        let known = self.agents.get(fid);
        let status = known.map(AgentStatus::of);
        // What it did for a call that has ended stands with that, whatever it did since.
        let is_over = |report: &AgentReport| {
            !matches!(report.state, AgentState::Idle | AgentState::Working | AgentState::NeedsUser)
        };
        let is_at_work = status.as_ref().is_some_and(AgentStatus::is_at_work);
        let past = report.filter(|report| (is_over(report) && !is_at_work) || known.is_none());
        let kind = known.map(|known| &known.agent).or_else(|| report.map(|report| &report.agent));
        let color = kind.and_then(|kind| self.colors.get(kind)).copied();
        let (name, status, words, tokens) = match (known, status, past) {
            (Some(known), Some(status), None) => {
                let words = status_line(known, &status, tools, now);
                let tokens = known.activity.as_ref().map(|activity| activity.tokens);
                let tokens = tokens.or_else(|| self.spent.get(fid).copied());
                let name = known.name.as_ref().unwrap_or(&known.title);
                (name.clone(), status, words, tokens)
            }
            (_, _, Some(report)) => {
                let status = AgentStatus::ended(report.state);
                let tokens = Some(tokens_of(&report.usage));
                (report.name.clone(), status.clone(), status.words(tools), tokens)
            }
            _ => return None,
        };
        Some(AgentLine {
            fid: fid.clone(),
            name: one_line(&name),
            status: words.unwrap_or_default(),
            spent: tokens.filter(|tokens| *tokens > 0).map(spent).unwrap_or_default(),
            icon: status.icon(),
            class: status.class(),
            color,
            is_there: known.is_some(),
            is_at_work,
        })
    }
}

/// What an agent reports in a message, if one does.
fn reported(message: &Message) -> Option<&AgentReport> {
    message.parts.iter().find_map(|part| match part {
        Part::FromAgent(FromAgent::Report(report)) => Some(&**report),
        _ => None,
    })
}

/// The tokens that were read and written.
fn tokens_of(usage: &Usage) -> u64 {
    let read = usage.prompt_tokens.unwrap_or_default();
    read.saturating_add(usage.completion_tokens.unwrap_or_default())
}

fn spent(tokens: u64) -> String {
    let count = u32::try_from(tokens).unwrap_or(u32::MAX);
    let text = ngettext("{n} token", "{n} tokens", count);
    fill(&text, &[("n", &grouped(tokens))])
}

#[cfg(test)]
mod tests {
    use chat_core::event::{AgentActivity, Status};
    use chat_core::message::{Role, SessionMeta};

    use super::*;

    fn agent(name: &str, parent: &str, status: Status) -> SessionPlaceholder {
        let meta = SessionMeta {
            fid: Fid::new(name),
            parent: Some(Fid::new(parent)),
            name: Some(name.to_owned()),
            ..SessionMeta::default()
        };
        SessionPlaceholder { meta, status, activity: None }
    }

    fn report(state: AgentState) -> AgentReport {
        AgentReport {
            session: Fid::new("a"),
            name: "a".to_owned(),
            agent: "code".to_owned(),
            state,
            text: String::new(),
            error: None,
            ids: Vec::new(),
            usage: Usage {
                prompt_tokens: Some(12_000),
                completion_tokens: Some(300),
                ..Usage::default()
            },
        }
    }

    /// What is said of the agent "a": its status and what it has spent.
    fn said(book: &AgentBook, report: Option<&AgentReport>) -> Option<(String, String)> {
        let now = Timestamp::UNIX_EPOCH;
        let line = book.line(&Fid::new("a"), report, &Toolbox::default(), now)?;
        Some((line.status, line.spent))
    }

    fn pair(status: &str, spent: &str) -> (String, String) {
        (status.to_owned(), spent.to_owned())
    }

    #[test]
    fn an_agent_at_work_is_shown_as_it_is_and_one_that_ended_as_it_ended() {
        let mut book = AgentBook::default();
        assert_eq!(said(&book, None), None, "nothing is known of it");
        let mut works = agent("a", "chat", Status::Answering);
        let since = Timestamp::UNIX_EPOCH;
        works.activity = Some(AgentActivity { since, call: None, tokens: 1500 });
        book.take(&Event::SessionAdded(works.clone()));
        assert_eq!(said(&book, None), Some(pair("Working…", "1,500 tokens")));
        // It works in the background: the call that started it has ended.
        let started = report(AgentState::Working);
        assert_eq!(said(&book, Some(&started)), Some(pair("Working…", "1,500 tokens")));
        let mut stopped = agent("a", "chat", Status::Idle);
        stopped.ended = Some(AgentState::Stopped);
        book.take(&Event::SessionChanged(stopped));
        assert_eq!(said(&book, Some(&started)), Some(pair("Stopped", "1,500 tokens")));
        let done = report(AgentState::Done);
        assert_eq!(said(&book, Some(&done)), Some(pair("Done", "12,300 tokens")));
        book.take(&Event::SessionRemoved { fid: Fid::new("a") });
        assert_eq!(said(&book, Some(&done)), Some(pair("Done", "12,300 tokens")));
        let line = book.line(&Fid::new("a"), Some(&done), &Toolbox::default(), since).unwrap();
        assert!(!line.is_there && !line.is_at_work);
    }

    #[test]
    fn an_agent_has_the_color_of_its_kind() {
        let mut book = AgentBook::default();
        let mut reviewer = agent("a", "chat", Status::Answering);
        reviewer.agent = "reviewer".to_owned();
        book.take(&Event::SessionAdded(reviewer));
        let color = |book: &AgentBook, report: Option<&AgentReport>| {
            let now = Timestamp::UNIX_EPOCH;
            book.line(&Fid::new("a"), report, &Toolbox::default(), now).unwrap().color
        };
        assert_eq!(color(&book, None), None);
        let [blue, red] = ["blue", "red"].map(|word| word.parse::<Color>().unwrap());
        let colors = HashMap::from([("reviewer".to_owned(), blue), ("code".to_owned(), red)]);
        assert_eq!(book.set_colors(colors.clone()), [Fid::new("a")]);
        assert!(book.set_colors(colors).is_empty());
        assert_eq!(color(&book, None), Some(blue));
        // Of one that is deleted the report tells the kind.
        book.take(&Event::SessionRemoved { fid: Fid::new("a") });
        assert_eq!(color(&book, Some(&report(AgentState::Done))), Some(red));
    }

    #[test]
    fn the_tokens_of_work_in_the_background_stay_on_its_card() {
        let mut message = Message::text(Role::User, None, "It is done");
        let done = FromAgent::Report(Box::new(report(AgentState::Done)));
        message.parts.insert(0, Part::FromAgent(done));
        let mut idle = agent("a", "chat", Status::Idle);
        idle.ended = Some(AgentState::Done);
        let started = report(AgentState::Working);
        // After a restart nobody heard of it but in what it reported.
        let mut book = AgentBook::default();
        book.fill(&Fid::new("chat"), vec![idle.clone()]);
        assert_eq!(said(&book, Some(&started)), Some(pair("Done", "")));
        book.read_reports([&message].into_iter());
        assert_eq!(said(&book, Some(&started)), Some(pair("Done", "12,300 tokens")));
        // The report comes in as a message of the chat.
        let mut book = AgentBook::default();
        book.take(&Event::SessionAdded(idle));
        let event = SessionEvent::MessageAdded { message: message.into() };
        let told = book.take(&Event::Session { fid: Fid::new("chat"), seq: 1, event });
        assert_eq!(told, Some(Fid::new("a")));
        assert_eq!(said(&book, Some(&started)), Some(pair("Done", "12,300 tokens")));
    }

    #[test]
    fn interrupted_agents_are_counted_below_their_chat_alone() {
        let mut book = AgentBook::default();
        let interrupted = |name: &str, parent: &str| {
            let mut agent = agent(name, parent, Status::Idle);
            agent.trouble = Some(ReplyFailure::Interrupted);
            agent
        };
        let chat = Fid::new("chat");
        book.fill(
            &chat,
            vec![
                interrupted("a", "chat"),
                interrupted("b", "a"),
                interrupted("c", "other"),
                agent("d", "chat", Status::Idle),
            ],
        );
        assert_eq!(book.interrupted_below(&chat), 2);
        assert_eq!(book.named("a"), [Fid::new("a")]);
        assert!(book.named("c").is_empty() && book.named("b").is_empty(), "they work for others");
        book.take(&Event::SessionChanged(agent("a", "chat", Status::Waiting)));
        book.fill(&chat, vec![interrupted("a", "chat")]);
        assert_eq!(book.interrupted_below(&chat), 1, "it goes on");
    }
}
