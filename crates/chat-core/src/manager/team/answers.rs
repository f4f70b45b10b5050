//! Waits for what comes of the work of agents.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::calls::{Answer, Told};
use super::desk::{Desk, Given};
use crate::message::{AgentReport, AgentState, MessageId, Usage};
use crate::session::{Answered, Place, Session, WaitsFor};
use crate::tool::TeamError;

/// How long a stopped agent has to store what it has, before its report is made without.
const LAST_WORD: Duration = Duration::from_millis(700);

impl Desk {
    /// Gives the agent something to do, and waits for what comes of it.
    pub(super) async fn have_answer(
        &self,
        agent: &Arc<Session>,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<Answer<AgentReport>, TeamError> {
        let waits = self.waits_for(&[agent]).await?;
        let place = self.place(agent, cancel).await?;
        let given = self.give(agent, text, None).await?;
        let answered = tokio::select! {
            biased;
            answered = agent.answered(given.id) => answered?,
            () = cancel.cancelled() => return self.stopped(agent, &given, waits, place).await,
            () = tokio::time::sleep(self.limit()) => {
                self.owe(agent, Some(given.id)).await?;
                let report = agent.short_report();
                drop(waits);
                self.manager.report_to_parent(Arc::clone(agent), Some(place));
                return Ok(report.into());
            }
        };
        if given.queued && agent.unqueue(given.id).await?.is_some() {
            // Nothing came of it. What had come of earlier work is no answer.
            let report = answered.report;
            let error = agent.why_refused(given.id).or(report.error);
            let state = if report.state.is_well() { AgentState::Failed } else { report.state };
            let (text, usage) = (String::new(), Usage::default());
            return Ok(AgentReport { state, text, error, usage, ..report }.into());
        }
        self.tell_answer(agent, &given, answered, waits).await
    }

    /// The answer is told by this call. What came of other work is still told by a message.
    async fn tell_answer(
        &self,
        agent: &Arc<Session>,
        given: &Given,
        answered: Answered<'_>,
        waits: WaitsFor,
    ) -> Result<Answer<AgentReport>, TeamError> {
        if answered.has_owed {
            self.told(&[agent]).await?;
        }
        // Another call may have had it wait here before this one got it.
        self.me.withdraw_report(&answered.report).await?;
        let is_own = agent.is_child_of(self.me.fid());
        let told = is_own.then(|| (Arc::clone(agent), Some(given.id)));
        Ok(Answer { value: answered.report, told: Vec::from_iter(told), waits: Some(waits) })
    }

    /// The call was stopped: what its agent has is told, and by a message where that takes longer.
    async fn stopped(
        &self,
        agent: &Arc<Session>,
        given: &Given,
        waits: WaitsFor,
        place: Place,
    ) -> Result<Answer<AgentReport>, TeamError> {
        let withdrawn = given.queued && agent.unqueue(given.id).await?.is_some();
        if !withdrawn {
            // First, so that whatever comes of it is heard of.
            self.owe(agent, Some(given.id)).await?;
        }
        // Those that the session waits for stop with it. What others have an agent do goes on.
        if agent.works_for(self.me.fid()) || agent.answers(given.id) {
            agent.stop();
        }
        if withdrawn {
            // It was at work for something else, which is reported as it would be otherwise.
            drop(waits);
            self.manager.report_to_parent(Arc::clone(agent), Some(place));
            let report = AgentReport { error: None, ..agent.short_report() };
            return Ok(AgentReport { state: AgentState::Stopped, ..report }.into());
        }
        let answered = tokio::time::timeout(LAST_WORD, agent.answered(given.id)).await;
        let answer = match answered {
            Ok(answered) => self.tell_answer(agent, given, answered?, waits).await?,
            Err(_) => agent.report_so_far().into(),
        };
        self.manager.report_to_parent(Arc::clone(agent), Some(place));
        Ok(answer)
    }

    /// Waits for these agents, or for all that work for the session now.
    pub(super) async fn wait(
        &self,
        names: Option<&[String]>,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Answer<Vec<AgentReport>>, TeamError> {
        let (agents, waits) = match names {
            Some(names) => self.claim_named(names).await?,
            None => self.claim_busy().await?,
        };
        (self.at_work)(agents.iter().map(|agent| agent.fid().clone()).collect());
        let all = join_all(agents.iter().map(|agent| agent.idle()));
        let limit = limit.min(self.limit());
        let waited = cancel.run_until_cancelled(tokio::time::timeout(limit, all)).await;
        let is_stopped = waited.is_none();
        if is_stopped {
            self.stop_all(&agents).await?;
        }
        // All have the same order, so that nobody waits here for each other.
        let mut in_order: Vec<_> = agents.iter().collect();
        in_order.sort_unstable_by_key(|agent| agent.fid());
        let mut undisturbed = Vec::with_capacity(agents.len());
        for agent in in_order {
            undisturbed.push(agent.undisturbed().await);
        }
        // All reports are at hand before one counts as told.
        let mut reports = Vec::with_capacity(agents.len());
        let mut ended = Vec::with_capacity(agents.len());
        for agent in &agents {
            let mut report = agent.report().await?;
            if !report.state.is_at_work() {
                ended.push(agent);
            } else if is_stopped && agent.works_for(self.me.fid()) {
                report = agent.report_so_far();
            }
            reports.push(report);
        }
        for report in &reports {
            self.me.withdraw_report(report).await?;
        }
        let told = self.told(&ended).await?;
        Ok(Answer { value: reports, told, waits: Some(waits) })
    }

    async fn claim_named(
        &self,
        names: &[String],
    ) -> Result<(Vec<Arc<Session>>, WaitsFor), TeamError> {
        let mut agents: Vec<Arc<Session>> = Vec::with_capacity(names.len());
        for name in names {
            let agent = self.find_not_above(name).await?;
            if !agents.iter().any(|other| other.fid() == agent.fid()) {
                agents.push(agent);
            }
        }
        let waits = self.waits_for(&agents.iter().collect::<Vec<_>>()).await?;
        Ok((agents, waits))
    }

    async fn claim_busy(&self) -> Result<(Vec<Arc<Session>>, WaitsFor), TeamError> {
        let mut agents = Vec::new();
        for (_, fid) in self.others().await? {
            let other = self.manager.session(&fid).await?;
            if other.works_for(self.me.fid()) {
                agents.push(other);
            }
        }
        // Claimed first: one that ends now is not reported by a message as well.
        let all = self.waits_for(&agents.iter().collect::<Vec<_>>()).await?;
        agents.retain(|agent| agent.is_busy_or_begins_next());
        let waits = self.waits_for(&agents.iter().collect::<Vec<_>>()).await?;
        drop(all);
        Ok((agents, waits))
    }

    /// Stops those of these agents that work for the session.
    async fn stop_all(&self, agents: &[Arc<Session>]) -> Result<(), TeamError> {
        let below = agents.iter().filter(|agent| agent.works_for(self.me.fid()));
        let busy: Vec<_> = below.filter(|agent| agent.is_busy_or_begins_next()).collect();
        for agent in &busy {
            if self.owe(agent, None).await? {
                self.manager.report_to_parent(Arc::clone(agent), None);
            }
            agent.stop();
        }
        let all = join_all(busy.iter().map(|agent| agent.idle()));
        // What takes longer is told by messages.
        let _ = tokio::time::timeout(LAST_WORD, all).await;
        Ok(())
    }

    /// Has the session hear of the agent's end by a message, where it is the agent's parent. Says whether
    /// it would not have before.
    async fn owe(&self, agent: &Session, given: Option<MessageId>) -> Result<bool, TeamError> {
        if !agent.is_child_of(self.me.fid()) {
            return Ok(false);
        }
        Ok(self.manager.owe(agent, given).await?)
    }

    /// The reports of these agents are told by this call. Gives those that reported to the session.
    async fn told(&self, agents: &[&Arc<Session>]) -> Result<Vec<Told>, TeamError> {
        let me = self.me.fid();
        let own: Vec<_> = agents.iter().filter(|agent| agent.reports_to(me)).collect();
        let fids = own.iter().map(|agent| agent.fid().clone()).collect();
        self.manager.inner.shared.store.clear_reports(fids).await?;
        let mut told = Vec::with_capacity(own.len());
        for agent in own {
            told.push((Arc::clone(agent), agent.owed().and_then(|owed| owed.message)));
            agent.set_owed(None);
        }
        Ok(told)
    }
}
