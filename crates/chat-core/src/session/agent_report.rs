//! A session as an agent: when its work has ended, what came of it, and how a parent hears of that.

use std::sync::Arc;

use super::Session;
use super::parts::queue::Waiting;
use crate::error::{Error, Kind, Result};
use crate::event::Status;
use crate::message::{
    AgentReport, AgentState, ChatRequest, Content, Ending, FromAgent, Message, MessageId,
    ReplyFailure, Role, Usage,
};

/// The most bytes of an agent's words that its report has.
const LONGEST: usize = 16 * 1024;

impl Session {
    /// Waits until nothing is at work in it, and nothing is about to begin.
    pub(crate) async fn idle(&self) {
        loop {
            let ended = self.ended.notified();
            tokio::pin!(ended);
            // From here on no end is missed.
            ended.as_mut().enable();
            if !self.is_busy_or_begins_next() {
                return;
            }
            ended.await;
        }
    }

    /// What it does, without what it said.
    pub(crate) fn short_report(&self) -> AgentReport {
        let state = self.lock();
        let meta = &state.record.meta;
        let does = match state.status() {
            Status::NeedsInput => AgentState::NeedsUser,
            Status::Waiting | Status::Answering => AgentState::Working,
            Status::Idle => match state.trouble {
                Some(ReplyFailure::Failed) => AgentState::Failed,
                Some(ReplyFailure::Interrupted) => AgentState::Interrupted,
                None if state.record.head.is_some() => AgentState::Done,
                None => AgentState::Idle,
            },
        };
        AgentReport {
            session: meta.fid.clone(),
            name: meta.name.clone().unwrap_or_else(|| crate::tool::MAIN.to_owned()),
            agent: meta.agent.clone(),
            state: does,
            text: String::new(),
            error: None,
            usage: Usage::default(),
        }
    }

    /// What it does, or what came of its last work.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn report(&self) -> Result<AgentReport> {
        let branch = self.transcript().await?;
        let report = self.short_report();
        if matches!(report.state, AgentState::Working | AgentState::NeedsUser) {
            return Ok(report);
        }
        let interrupted = self.lock().trouble == Some(ReplyFailure::Interrupted);
        Ok(of_branch(&branch, report, interrupted))
    }

    /// Whether nothing may begin in it any more.
    pub(crate) fn is_halted(&self) -> bool {
        self.lock().is_halted()
    }

    /// Has what came of an agent's work wait here, where nobody was told of it. Says whether nobody was.
    ///
    /// # Errors
    /// The store's: it is still to be told.
    pub(crate) async fn receive(self: &Arc<Self>, report: AgentReport) -> Result<bool> {
        let agent = report.session.clone();
        let content = Content::default().from_agent(FromAgent::Report(Box::new(report)));
        let request = ChatRequest { content, ..ChatRequest::default() };
        let waiting = Waiting { id: MessageId::new(), request };
        let _gate = self.gate.lock().await;
        if self.is_halted() {
            return Ok(false);
        }
        let store = &self.services.store;
        if !store.deliver_report(&agent, &self.fid, waiting.queued()).await? {
            return Ok(false);
        }
        let mut state = self.lock();
        let event = state.queue.push(waiting);
        state.tell(event);
        Ok(true)
    }

    /// Counts a turn that an agent asks for.
    ///
    /// # Errors
    /// `AgentBudget`.
    pub(super) fn count_turn(&self, request: &ChatRequest) -> Result<()> {
        if request.content.agent.is_none() {
            return Ok(());
        }
        let limits = self.services.clients.settings().agents;
        let counted = self.tree.budget(|budget| budget.begin_turn(&limits));
        counted.map_err(|limit| Kind::AgentBudget { limit }.into())
    }
}

fn of_branch(branch: &[Arc<Message>], report: AgentReport, interrupted: bool) -> AgentReport {
    let asked = branch.iter().rposition(|message| message.role == Role::User);
    let Some(asked) = asked else { return report };
    let replies = branch[asked..].iter().filter(|message| message.role == Role::Assistant);
    let last = branch.iter().rfind(|message| message.role != Role::Ui);
    let (state, error) = match last {
        Some(last) if last.role == Role::Assistant => ended(last),
        _ if interrupted => (AgentState::Interrupted, None),
        _ => (AgentState::Stopped, None),
    };
    let texts = replies.clone().map(|reply| reply.plain_text());
    let text = texts.rev().find(|text| !text.trim().is_empty()).unwrap_or_default();
    let usage = replies.filter_map(|reply| reply.usage.as_ref());
    let usage = usage.fold(Usage::default(), |all, usage| all.and(usage));
    AgentReport { state, error, usage, text: cut(text.trim()), ..report }
}

fn ended(reply: &Message) -> (AgentState, Option<Error>) {
    let state = match reply.ended {
        Some(Ending::Complete) => AgentState::Done,
        Some(Ending::Length) => AgentState::Limit,
        Some(Ending::Stopped) => AgentState::Stopped,
        Some(Ending::Interrupted) | None => AgentState::Interrupted,
        Some(Ending::Failed) => match reply.error.as_ref().map(|error| &error.kind) {
            Some(
                Kind::RoundLimit { .. } | Kind::RepeatedCalls { .. } | Kind::AgentBudget { .. },
            ) => AgentState::Limit,
            _ => AgentState::Failed,
        },
    };
    (state, reply.error.clone())
}

fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(LONGEST)];
    format!("{kept}\n(cut here: ask the agent for the rest)")
}
