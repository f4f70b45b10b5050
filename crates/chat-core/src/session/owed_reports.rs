//! Hands the reports that an agent owes to the sessions that are to hear of its work.

use std::collections::HashSet;

use crate::error::Result;
use crate::message::{
    AgentReport, AgentState, ChatRequest, Content, Fid, FromAgent, MessageId, Part, Queued, Role,
};
use crate::store::{OwedReport, ReportDelivery};

use super::Session;
use super::agent_report::end_of_turn;
use super::parts::queue::Waiting;
use super::tree::Claims;

/// What came of one turn of an agent, and the reports that it owes on that to one session.
pub(crate) struct Completion {
    /// The reports, the oldest first.
    pub owed: Vec<OwedReport>,
    /// What came of the turn, with their ids.
    pub report: AgentReport,
    /// Whether it has begun.
    begun: bool,
    /// Whether it has not, and its message still waits in the agent: what comes of that is still to be reported.
    pub waits: bool,
}

impl Completion {
    /// Whether only results of calls were to carry it, and the work did not end: who called is interrupted, too.
    fn ends_with_its_calls(&self) -> bool {
        let by_call = self.owed.iter().all(|owed| owed.by_call);
        by_call && (!self.begun || self.report.state == AgentState::Interrupted)
    }
}

/// A report that is to be handed in.
struct Due {
    report: AgentReport,
    /// Whether it says only that the agent was stopped before it began, so that the report is still owed.
    is_notice: bool,
}

/// What came of the attempt to hand reports in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandIn {
    /// They wait in the session now.
    Delivered,
    /// The session does not have to hear of anything any more.
    NotOwed,
    /// The agent is at work.
    AtWork,
    /// The session waits for the agent itself, or one of them is halted, until their tree
    /// [changes](super::Tree::changed).
    Later,
    /// All that is left is about messages that still wait in the agent, until somebody sends them or takes them back.
    Waiting,
}

impl Session {
    /// What came of the turns that it owes this session reports on, the oldest first. Where it is at work, that is
    /// what the reports say.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn completions(&self, to: &Fid) -> Result<Vec<Completion>> {
        let owed = self.services.store.owed_reports(&self.fid).await?;
        let owed: Vec<_> = owed.into_iter().filter(|owed| owed.to == *to).collect();
        if owed.is_empty() {
            return Ok(Vec::new());
        }
        // Read first: what begins meanwhile is in the branch.
        let waiting: HashSet<_> = self.lock().queue.queued().into_iter().map(|it| it.id).collect();
        let branch = self.transcript().await?;
        let mut turns: Vec<(Option<usize>, Vec<OwedReport>)> = Vec::new();
        for owed in owed {
            let end = end_of_turn(&branch, owed.about);
            let same = turns.iter_mut().find(|(other, _)| end.is_some() && *other == end);
            match same {
                Some((_, turn)) => turn.push(owed),
                None => turns.push((end, vec![owed])),
            }
        }
        let completion = |(end, owed): (Option<usize>, Vec<OwedReport>)| {
            let about = owed.iter().find_map(|owed| owed.about);
            let ids = owed.iter().map(|owed| owed.id).collect();
            let report = AgentReport { ids, ..self.report_on(&branch, about) };
            let begun = end.is_some();
            let waits = !begun && about.is_some_and(|about| waiting.contains(&about));
            Completion { owed, report, begun, waits }
        };
        Ok(turns.into_iter().map(completion).collect())
    }

    /// Whether its last work is on a message of the agent of this name.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn was_last_given_by(&self, name: &str) -> Result<bool> {
        let branch = self.transcript().await?;
        let last = branch.iter().rfind(|message| message.role == Role::User);
        let is_from = |part: &Part| matches!(part, Part::FromAgent(FromAgent::Message { name: from }) if from == name);
        Ok(last.is_some_and(|last| last.parts.iter().any(is_from)))
    }

    /// Hands what came of its work to this session, if that still has to hear of it and nothing stands
    /// against that. `left_over` reports are those of an earlier start of the program.
    ///
    /// # Errors
    /// The store's: they are still owed.
    pub(crate) async fn hand_in(&self, to: &Session, left_over: bool) -> Result<HandIn> {
        let _undisturbed = self.undisturbed().await;
        if self.tree.waits(&to.fid, &self.fid) && self.owes_reports_to(to).await? {
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
        if !self.owes_reports_to(to).await? {
            return Ok(HandIn::NotOwed);
        }
        if self.is_halted() {
            return Ok(HandIn::Later);
        }
        let (mut claims, mut due) = (self.tree.claims(), Vec::new());
        let (mut is_held, mut waits, mut noticed) = (false, false, Vec::new());
        for completion in self.completions(&to.fid).await? {
            if completion.report.state.is_at_work() {
                return Ok(HandIn::AtWork);
            }
            let Completion { report, begun, waits: is_waiting, .. } = &completion;
            let ids = report.ids.clone();
            let is_noticed = ids.iter().any(|id| self.tree.is_noticed(*id));
            let is_claimed = ids.iter().any(|id| self.tree.is_claimed(*id));
            // One that was taken back after it was noticed has no report of its own.
            let is_over = is_noticed && !begun && !is_waiting && !is_claimed;
            if is_over || (left_over && completion.ends_with_its_calls()) {
                self.services.store.forget_owed(ids).await?;
            } else if *is_waiting && !is_claimed {
                waits = true;
                // The user knows what an earlier start left.
                if !left_over && !is_noticed {
                    noticed.extend(ids);
                    due.push(Due { report: completion.report, is_notice: true });
                }
            } else if claims.add(&ids) {
                due.push(Due { report: completion.report, is_notice: false });
            } else {
                // Of what a call that has ended carries nothing is left to hear.
                is_held |= ids.iter().any(|id| !self.tree.is_carried(*id));
            }
        }
        let handed_in = match (due.is_empty(), is_held) {
            (false, _) => to.receive(due, claims, left_over).await?,
            (true, true) => HandIn::Later,
            (true, false) => HandIn::NotOwed,
        };
        if handed_in == HandIn::Delivered {
            self.tree.note_noticed(noticed);
        }
        let is_rest = waits && handed_in == HandIn::NotOwed;
        Ok(if is_rest { HandIn::Waiting } else { handed_in })
    }

    async fn owes_reports_to(&self, to: &Session) -> Result<bool> {
        let owed = self.services.store.owed_reports(&self.fid).await?;
        Ok(owed.iter().any(|owed| owed.to == to.fid))
    }

    /// Has what came of an agent's work wait here, as far as nobody was told of it.
    async fn receive(&self, due: Vec<Due>, claims: Claims, left_over: bool) -> Result<HandIn> {
        let waits = |Due { mut report, is_notice }: Due| {
            let owed = report.ids.clone();
            if is_notice {
                report.ids = Vec::new();
            }
            let id = report.ids.first().copied().unwrap_or_else(MessageId::new);
            let content = Content::default().from_agent(FromAgent::Report(Box::new(report)));
            let request = ChatRequest { content, ..ChatRequest::default() };
            (owed, is_notice, Waiting { id, request })
        };
        let reports: Vec<_> = due.into_iter().map(waits).collect();
        let delivery = |(owed, is_notice, waiting): &(Vec<MessageId>, bool, Waiting)| {
            let (owed, stays_owed) = (owed.clone(), *is_notice);
            ReportDelivery { owed, stays_owed, message: waiting.queued() }
        };
        let deliveries = reports.iter().map(delivery).collect();
        let _gate = self.gate.lock().await;
        if self.is_halted() {
            return Ok(HandIn::Later);
        }
        let store = &self.services.store;
        let delivered = store.deliver_reports(&self.fid, deliveries, left_over).await?;
        let mut state = self.lock();
        for (_, _, waiting) in reports {
            if delivered.contains(&waiting.id) {
                let event = state.queue.push(waiting);
                state.tell(event);
            }
        }
        drop(state);
        // While the gate is held: what is claimed is not shown as waiting.
        drop(claims);
        Ok(if delivered.is_empty() { HandIn::NotOwed } else { HandIn::Delivered })
    }

    /// Takes the reports of an agent that still wait here, for the result of a call to carry them. They stay in the
    /// store until that is stored. [`show_waiting`](Self::show_waiting) takes it back once they are not claimed.
    pub(crate) async fn claim_waiting(&self, agent: &Fid, claims: &mut Claims) -> Vec<AgentReport> {
        let _gate = self.gate.lock().await;
        let mut state = self.lock();
        let mut reports = Vec::new();
        for queued in state.queue.queued() {
            let Some(report) = report_in(&queued).filter(|report| report.session == *agent) else {
                continue;
            };
            if claims.add(&[queued.id]) {
                reports.push(AgentReport { ids: vec![queued.id], ..report.clone() });
            }
        }
        if !reports.is_empty() {
            let ids: Vec<_> = reports.iter().flat_map(|report| report.ids.clone()).collect();
            let event = state.queue.took(&ids);
            state.tell(event);
        }
        reports
    }

    /// Shows what waits here as the store has it.
    ///
    /// # Errors
    /// The store's.
    pub(crate) async fn show_waiting(&self) -> Result<()> {
        let _gate = self.gate.lock().await;
        self.take_waiting().await
    }

    /// Takes the reports back that still wait here and say that this agent was interrupted: it continues.
    ///
    /// # Errors
    /// The store's: they wait on.
    pub(crate) async fn withdraw_interrupted(&self, agent: &Fid) -> Result<()> {
        let is_old = |it: &AgentReport| it.session == *agent && it.state == AgentState::Interrupted;
        let waiting = self.lock().queue.queued();
        for queued in waiting.iter().filter(|queued| report_in(queued).is_some_and(is_old)) {
            self.unqueue(queued.id).await?;
        }
        Ok(())
    }
}

/// The report of an agent that waits.
fn report_in(queued: &Queued) -> Option<&AgentReport> {
    match &queued.content.agent {
        Some(FromAgent::Report(report)) => Some(report),
        _ => None,
    }
}
