//! A session as an agent: when its work has ended, what came of it, and how a parent hears of that.

use std::sync::Arc;

use tokio::sync::MutexGuard;

use super::parts::queue::Waiting;
use super::{Owed, Session};
use crate::error::{Error, Kind, Result};
use crate::event::Status;
use crate::message::{
    AgentReport, AgentState, ChatRequest, Content, Fid, FromAgent, Message, MessageId, Queued,
    ReplyFailure, Role, Usage,
};

/// The most bytes of an agent's words that its report has.
const LONGEST: usize = 16 * 1024;

/// What came of a message to an agent.
pub(crate) struct Answered<'a> {
    /// What came of it.
    pub report: AgentReport,
    /// Whether it has what the agent owes a report on, so that nothing else is owed.
    pub has_owed: bool,
    /// Until it is dropped nothing new comes of the agent.
    _undisturbed: MutexGuard<'a, ()>,
}

/// What came of the attempt to hand a report in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandIn {
    /// It waits in the session now.
    Delivered,
    /// The session does not have to hear of it any more.
    NotOwed,
    /// The agent is at work.
    AtWork,
    /// The session waits for the agent itself, or one of them is halted, until their tree
    /// [changes](super::Tree::changed).
    Later,
}

impl Session {
    /// Whether it works for this one, with nobody in between.
    pub(crate) fn is_child_of(&self, fid: &Fid) -> bool {
        self.parent.as_ref().is_some_and(|parent| parent.fid == *fid)
    }

    /// Whether a report that it owes is for this one: its parent, unless another one gave it the work.
    pub(crate) fn reports_to(&self, fid: &Fid) -> bool {
        self.owed().map_or_else(|| self.is_child_of(fid), |owed| owed.to == *fid)
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
            let owed = self.owed().and_then(|owed| owed.message).filter(|owed| *owed != asked);
            let turn_of = |id: MessageId| {
                branch.iter().position(|message| message.id == id).map(|at| turn(&branch[at..]))
            };
            let has = |of: MessageId, other: MessageId| {
                turn_of(of).is_some_and(|turn| turn.iter().any(|message| message.id == other))
            };
            let has_owed = owed.is_none_or(|owed| has(asked, owed) || has(owed, asked));
            return Ok(Answered { report, has_owed, _undisturbed: undisturbed });
        }
    }

    /// The report that it owes, where more is known of it than the store keeps.
    pub(crate) fn owed(&self) -> Option<Owed> {
        self.tree.owed(&self.fid)
    }

    /// Sets [that](Self::owed).
    pub(crate) fn set_owed(&self, owed: Option<Owed>) {
        self.tree.set_owed(&self.fid, owed);
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

    /// What it does, or what came of its last work; of the message that it [owes](Self::owed) a report on,
    /// where that is known.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn report(&self) -> Result<AgentReport> {
        let branch = self.transcript().await?;
        Ok(self.report_on(&branch, self.owed().and_then(|owed| owed.message)))
    }

    fn report_on(&self, branch: &[Arc<Message>], asked: Option<MessageId>) -> AgentReport {
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

    /// Hands what came of its work to this session, if that still has to hear of it and nothing stands
    /// against that. A `left_over` report is one of an earlier start of the program.
    ///
    /// # Errors
    /// The store's: it is still owed.
    pub(crate) async fn hand_in(&self, to: &Session, left_over: bool) -> Result<HandIn> {
        let _undisturbed = self.undisturbed().await;
        if self.tree.waits(&to.fid, &self.fid) && self.owes_report_to(to).await? {
            return Ok(HandIn::Later);
        }
        self.hand_in_undisturbed(to, left_over).await
    }

    /// The same, also where that session waits for it. Nothing may disturb it.
    ///
    /// # Errors
    /// As [`hand_in`](Self::hand_in).
    pub(crate) async fn hand_in_undisturbed(
        &self,
        to: &Session,
        left_over: bool,
    ) -> Result<HandIn> {
        if !self.owes_report_to(to).await? {
            return Ok(HandIn::NotOwed);
        }
        if self.is_halted() {
            return Ok(HandIn::Later);
        }
        let report = self.report().await?;
        if report.state.is_at_work() {
            return Ok(HandIn::AtWork);
        }
        let handed_in = to.receive(report, left_over).await?;
        if handed_in == HandIn::Delivered {
            self.set_owed(None);
        }
        Ok(handed_in)
    }

    async fn owes_report_to(&self, to: &Session) -> Result<bool> {
        Ok(self.reports_to(&to.fid) && self.services.store.owes_report(&self.fid).await?)
    }

    /// Has what came of an agent's work wait here, where nobody was told of it.
    async fn receive(&self, report: AgentReport, left_over: bool) -> Result<HandIn> {
        let agent = report.session.clone();
        let content = Content::default().from_agent(FromAgent::Report(Box::new(report)));
        let request = ChatRequest { content, ..ChatRequest::default() };
        let waiting = Waiting { id: MessageId::new(), request };
        let _gate = self.gate.lock().await;
        if self.is_halted() {
            return Ok(HandIn::Later);
        }
        let store = &self.services.store;
        if !store.deliver_report(&agent, &self.fid, waiting.queued(), left_over).await? {
            return Ok(HandIn::NotOwed);
        }
        let mut state = self.lock();
        let event = state.queue.push(waiting);
        state.tell(event);
        Ok(HandIn::Delivered)
    }

    /// Takes a report back that still waits here: it is told in another way.
    ///
    /// # Errors
    /// The store's: it waits on.
    pub(crate) async fn withdraw_report(&self, report: &AgentReport) -> Result<()> {
        self.withdraw_reports(|it| it == report).await
    }

    /// The same for all that say that this agent was interrupted: it continues.
    ///
    /// # Errors
    /// As [`withdraw_report`](Self::withdraw_report).
    pub(crate) async fn withdraw_interrupted(&self, agent: &Fid) -> Result<()> {
        let is_old = |it: &AgentReport| it.session == *agent && it.state == AgentState::Interrupted;
        self.withdraw_reports(is_old).await
    }

    async fn withdraw_reports(&self, which: impl Fn(&AgentReport) -> bool) -> Result<()> {
        let is_one = |queued: &Queued| matches!(&queued.content.agent, Some(FromAgent::Report(it)) if which(it));
        let waiting = self.lock().queue.queued();
        for queued in waiting.iter().filter(|queued| is_one(queued)) {
            self.unqueue(queued.id).await?;
        }
        Ok(())
    }

    /// Begins a turn with what waits, where nothing is at work and the user did not stop it. Says whether
    /// it did.
    pub(crate) async fn wake(self: &Arc<Self>) -> bool {
        let cancel = self.stopped_from_now();
        let stopped = self.lock().stopped;
        !stopped && self.begin_waiting(cancel).await
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
        _ if interrupted => (AgentState::Interrupted, None),
        _ => (AgentState::Stopped, None),
    };
    let texts: Vec<_> = replies.clone().map(|reply| reply.plain_text()).collect();
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
        let error = reply.error.as_ref().map(|error| &error.kind);
        if matches!(error, Some(Kind::Repetition { .. })) {
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
