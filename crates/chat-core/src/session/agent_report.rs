//! A session as an agent: when its work has ended, and what came of it.

use std::sync::Arc;

use tokio::sync::MutexGuard;
use tokio::sync::futures::Notified;

use super::Session;
use crate::error::{Error, Kind, Result};
use crate::event::Status;
use crate::message::{
    AgentReport, AgentState, ChatRequest, Ending, Fid, Message, MessageId, ReplyFailure, Role,
    Usage,
};
use crate::store::OwedReport;

/// The most bytes of an agent's words that its report has.
const LONGEST: usize = 16 * 1024;

/// What came of a message to an agent.
pub(crate) struct Answered<'a> {
    /// What came of it.
    pub report: AgentReport,
    /// What the agent owes reports on that this is, too: the message, and others that the same turn answers.
    pub owed: Vec<OwedReport>,
    /// Until it is dropped nothing new comes of the agent.
    _undisturbed: MutexGuard<'a, ()>,
}

impl Session {
    /// Whether it works for this one, with nobody in between.
    pub(crate) fn is_child_of(&self, fid: &Fid) -> bool {
        self.parent.as_ref().is_some_and(|parent| parent.fid == *fid)
    }

    /// While the guard lives nobody gives it work, and nobody else takes its report. Whoever needs that
    /// of several takes them in the order of their fids.
    pub(crate) async fn undisturbed(&self) -> MutexGuard<'_, ()> {
        self.assigning.lock().await
    }

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

    /// Resolves once a request has ended.
    pub(crate) fn next_end(&self) -> Notified<'_> {
        self.ended.notified()
    }

    /// Waits until its work has ended, and gives what came of one message.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn answered(&self, asked: MessageId) -> Result<Answered<'_>> {
        loop {
            self.idle().await;
            let undisturbed = self.undisturbed().await;
            let branch = self.transcript().await?;
            let report = self.report_on(&branch, Some(asked));
            if report.state.is_at_work() {
                continue;
            }
            let mut owed = self.services.store.owed_reports(&self.fid).await?;
            let end = end_of_turn(&branch, Some(asked));
            owed.retain(|owed| {
                let is_same = end.is_some() && end_of_turn(&branch, owed.about) == end;
                owed.about == Some(asked) || is_same
            });
            return Ok(Answered { report, owed, _undisturbed: undisturbed });
        }
    }

    /// Whether the request at work was begun by this message.
    pub(crate) fn answers(&self, message: MessageId) -> bool {
        self.lock().begun_by == Some(message)
    }

    /// Why a message that waited here could not be sent.
    pub(crate) fn why_refused(&self, message: MessageId) -> Option<Error> {
        let refused = self.lock().refused.clone()?;
        (refused.0 == message).then_some(refused.1)
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
            ids: Vec::new(),
        }
    }

    /// What it does, or how its last work ended, without what it said.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn state_report(&self) -> Result<AgentReport> {
        let report = self.report_on(&self.transcript().await?, None);
        Ok(AgentReport { text: String::new(), error: None, usage: Usage::default(), ..report })
    }

    /// What it does, or what came of its last work.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn report(&self) -> Result<AgentReport> {
        Ok(self.report_on(&self.transcript().await?, None))
    }

    /// What it does, or what came of the turn in a branch that answers a message; without one, of the last.
    pub(super) fn report_on(
        &self,
        branch: &[Arc<Message>],
        asked: Option<MessageId>,
    ) -> AgentReport {
        let report = self.short_report();
        if report.state.is_at_work() {
            return report;
        }
        let interrupted = self.lock().trouble == Some(ReplyFailure::Interrupted);
        let report = of_branch(branch, asked, report, interrupted);
        let refused = {
            let state = self.lock();
            state.refused.clone().filter(|(message, _)| state.queue.contains(*message))
        };
        // It did not do all that it was given.
        match refused {
            Some((message, error))
                if asked.map_or(report.state.is_well(), |asked| asked == message) =>
            {
                AgentReport { state: AgentState::Failed, error: Some(error), ..report }
            }
            _ => report,
        }
    }

    /// What it had said until it was stopped, where its work has not ended yet.
    pub(crate) fn report_so_far(&self) -> AgentReport {
        let branch = self.lock().transcript.branch().unwrap_or_default();
        let report = of_branch(&branch, None, self.short_report(), false);
        AgentReport { state: AgentState::Stopped, error: None, ..report }
    }

    /// Whether nothing may begin in it any more.
    pub(crate) fn is_halted(&self) -> bool {
        self.lock().is_halted()
    }

    /// Begins a turn with what waits, where nothing is at work and the user did not stop it. Says whether
    /// it did.
    pub(crate) async fn wake(self: &Arc<Self>) -> bool {
        let cancel = self.stopped_from_now();
        let stopped = self.lock().stopped;
        !stopped && self.begin_waiting(cancel).await
    }

    /// Counts a turn that an agent asks for: of another agent, not of the chat at the top, which works for the user.
    ///
    /// # Errors
    /// `AgentBudget`.
    pub(super) fn count_turn(&self, request: &ChatRequest) -> Result<()> {
        if request.content.agent.is_none() {
            return Ok(());
        }
        let limits = self.services.clients.settings().agents;
        let is_agent = self.parent.is_some();
        let counted = self.tree.budget(|budget| {
            if is_agent { budget.begin_turn(&limits) } else { budget.begin_answer(&limits) }
        });
        counted.map_err(|limit| Kind::AgentBudget { limit }.into())
    }
}

/// What came of the last turn in a branch, or of the one that answers `asked`.
fn of_branch(
    branch: &[Arc<Message>],
    asked: Option<MessageId>,
    report: AgentReport,
    interrupted: bool,
) -> AgentReport {
    let at = match asked {
        Some(asked) => branch.iter().position(|message| message.id == asked),
        None => branch.iter().rposition(|message| message.role == Role::User),
    };
    let Some(at) = at else {
        // What it was given never began.
        let state = if asked.is_some() { AgentState::Stopped } else { report.state };
        return AgentReport { state, ..report };
    };
    let turn = turn(&branch[at..]);
    let replies = turn.iter().filter(|message| message.role == Role::Assistant);
    let last = turn.iter().rfind(|message| message.role != Role::Ui);
    let (state, error) = match last {
        Some(last) if last.role == Role::Assistant => ended(last),
        // A command that was cut off has its output as the last message.
        Some(last) if last.ended == Some(Ending::Interrupted) => (AgentState::Interrupted, None),
        _ if interrupted => (AgentState::Interrupted, None),
        _ => (AgentState::Stopped, None),
    };
    let mut texts: Vec<String> = Vec::new();
    let mut looped = false;
    for reply in replies.clone() {
        match texts.last_mut() {
            // Both are one reply. What went round in circles is left out.
            Some(text) if reply.continues.is_some() && !looped => {
                text.push_str(&reply.plain_text());
            }
            _ => texts.push(reply.plain_text()),
        }
        looped = reply.is_loop();
    }
    let round = texts.iter().rposition(|text| !text.trim().is_empty());
    let text = match round {
        // Later rounds say something of their own.
        Some(round) if round > 0 => texts[round].clone(),
        _ => cut_off(branch, at) + &texts.concat(),
    };
    let usage = replies.filter_map(|reply| reply.usage.as_ref());
    let usage = usage.fold(Usage::default(), |all, usage| all.and(usage));
    AgentReport { state, error, usage, text: cut(text.trim()), ..report }
}

/// What had been said of a reply that was cut off, where a message has the model continue it. What went
/// round in circles is left out.
fn cut_off(branch: &[Arc<Message>], mut at: usize) -> String {
    let mut said = String::new();
    while branch[at].continues_reply() {
        let Some(reply) = branch[..at].iter().rfind(|it| it.role == Role::Assistant) else { break };
        if reply.is_loop() {
            break;
        }
        said = reply.plain_text() + &said;
        match branch[..at].iter().rposition(|message| message.role == Role::User) {
            Some(before) => at = before,
            None => break,
        }
    }
    said
}

/// The messages up to the one that began the next turn. Those that came between the rounds of this one
/// follow the results of tools.
fn turn(branch: &[Arc<Message>]) -> &[Arc<Message>] {
    let mut before = Role::User;
    for (index, message) in branch.iter().enumerate() {
        if message.role == Role::User && before == Role::Assistant {
            return &branch[..index];
        }
        if message.role != Role::Ui {
            before = message.role;
        }
    }
    branch
}

/// Where the turn that a message is in ends in a branch; without a message, the last turn. None where the branch does
/// not have it.
pub(super) fn end_of_turn(branch: &[Arc<Message>], about: Option<MessageId>) -> Option<usize> {
    let at = match about {
        Some(about) => branch.iter().position(|message| message.id == about),
        None => branch.iter().rposition(|message| message.role == Role::User),
    }?;
    Some(at + turn(&branch[at..]).len())
}

fn ended(reply: &Message) -> (AgentState, Option<Error>) {
    (AgentState::of_reply(reply.ended, reply.error.as_ref()), reply.error.clone())
}

fn cut(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(LONGEST)];
    format!("{kept}\n(cut here: ask the agent for the rest)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ModelRef, ToolCall, ToolCallId, ToolResult};
    use serde_json::json;

    /// What came of a task after which a call has this end.
    fn state_after(ended: Option<Ending>) -> AgentState {
        let task = Message::text(Role::User, None, "Look");
        let model = ModelRef { connection: "local".to_owned(), model: "small".to_owned() };
        let reply =
            Message { ended: Some(Ending::Complete), ..Message::reply(Some(task.id), model) };
        let call = ToolCall {
            id: ToolCallId::new("c1"),
            name: "run_command".to_owned(),
            arguments: json!({}),
            title: None,
            provider: None,
        };
        let result = ToolResult::to(&call, "so far", true);
        let result = Message { ended, parent: Some(reply.id), ..Message::tool_result(result) };
        let report = AgentReport {
            session: Fid::new("f"),
            ids: Vec::new(),
            name: "second".to_owned(),
            agent: "explorer".to_owned(),
            state: AgentState::Idle,
            text: String::new(),
            error: None,
            usage: Usage::default(),
        };
        of_branch(&[task, reply, result].map(Arc::new), None, report, false).state
    }

    #[test]
    fn an_agent_whose_command_was_cut_off_is_interrupted() {
        assert_eq!(state_after(Some(Ending::Interrupted)), AgentState::Interrupted);
        assert_eq!(state_after(Some(Ending::Complete)), AgentState::Stopped);
    }
}
