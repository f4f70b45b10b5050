//! Waits for what comes of the work of agents.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio_util::sync::CancellationToken;

use super::calls::{Answer, Carried};
use super::desk::{Desk, Given, Hears};
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
        let given = self.give(agent, text, Hears::ByCall).await?;
        let answered = tokio::select! {
            biased;
            answered = agent.answered(given.id) => answered?,
            () = cancel.cancelled() => return self.stopped(agent, given, waits, place).await,
            () = tokio::time::sleep(self.limit()) => {
                let report = agent.short_report();
                self.owe_by_message(&given).await?;
                drop((waits, given));
                let me = Arc::clone(&self.me);
                self.manager.report_when_idle(me, Arc::clone(agent), Some(place), false);
                return Ok(report.into());
            }
        };
        if given.queued && agent.unqueue(given.id).await?.is_some() {
            self.forget(&given).await?;
            // Nothing came of it. What had come of earlier work is no answer.
            let report = answered.report;
            let error = agent.why_refused(given.id).or(report.error);
            let state = if report.state.is_well() { AgentState::Failed } else { report.state };
            let (text, usage) = (String::new(), Usage::default());
            return Ok(AgentReport { state, text, error, usage, ..report }.into());
        }
        self.tell_answer(agent, given, answered, waits).await
    }

    /// The answer is told by this call, with all that the session is owed on the same turn. What came of other work
    /// is still told by a message.
    async fn tell_answer(
        &self,
        agent: &Arc<Session>,
        given: Given,
        answered: Answered<'_>,
        waits: WaitsFor,
    ) -> Result<Answer<AgentReport>, TeamError> {
        let Given { report: own, mut claims, .. } = given;
        let mut ids = Vec::from_iter(own);
        for owed in answered.owed {
            if owed.to == *self.me.fid() && claims.add(&[owed.id]) {
                ids.push(owed.id);
            }
        }
        // What was delivered just before is told already.
        ids = self.manager.inner.shared.store.still_owed(ids).await?;
        claims.keep(&ids);
        let (to, from) = (Arc::clone(&self.me), vec![Arc::clone(agent)]);
        let carried = Some(Carried { to, from, claims, waits });
        Ok(Answer { value: AgentReport { ids, ..answered.report }, carried })
    }

    /// The call was stopped: what its agent has is told, and by a message where that takes longer.
    async fn stopped(
        &self,
        agent: &Arc<Session>,
        given: Given,
        waits: WaitsFor,
        place: Place,
    ) -> Result<Answer<AgentReport>, TeamError> {
        let withdrawn = given.queued && agent.unqueue(given.id).await?.is_some();
        if withdrawn {
            self.forget(&given).await?;
        } else {
            // First, so that whatever comes of it is heard of.
            self.owe_by_message(&given).await?;
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
        let answer = if let Ok(answered) = answered {
            self.tell_answer(agent, given, answered?, waits).await?
        } else {
            drop((given, waits));
            agent.report_so_far().into()
        };
        let me = Arc::clone(&self.me);
        self.manager.report_when_idle(me, Arc::clone(agent), Some(place), false);
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
        // What came of the work of others was told before, and may be read again.
        let mut is_new = Vec::with_capacity(agents.len());
        for agent in &agents {
            let owes = !agent.completions(self.me.fid()).await?.is_empty();
            is_new.push(owes || agent.is_busy_or_begins_next());
        }
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
        let mut claims = self.me.tree().claims();
        let mut ended = Vec::with_capacity(agents.len());
        for (agent, is_new) in agents.iter().zip(is_new) {
            let last = agent.report().await?;
            if last.state.is_at_work() {
                let is_mine = is_stopped && agent.works_for(self.me.fid());
                let report = if is_mine { agent.report_so_far() } else { last };
                ended.push((agent, Reports::AtWork(report)));
                continue;
            }
            let mut owed = Vec::new();
            // Another call may have told all of it meanwhile.
            let mut is_elsewhere = is_new && agent.was_last_given_by(&self.own_name()).await?;
            for completion in agent.completions(self.me.fid()).await? {
                // Its report comes once that was answered.
                if completion.waits {
                    continue;
                }
                if claims.add(&completion.report.ids) {
                    owed.push(completion.report);
                } else {
                    is_elsewhere = true;
                }
            }
            ended.push((agent, Reports::Ended { owed, last, is_elsewhere }));
        }
        let claimed = ended.iter().flat_map(|(_, reports)| reports.ids()).collect();
        // What was delivered just before is told already, or waits.
        let still = self.manager.inner.shared.store.still_owed(claimed).await?;
        let mut kept = still.clone();
        let mut told = Vec::with_capacity(agents.len());
        for (agent, reports) in ended {
            let (mut owed, last, is_elsewhere) = match reports {
                Reports::AtWork(report) => {
                    told.push(report);
                    continue;
                }
                Reports::Ended { owed, last, is_elsewhere } => (owed, last, is_elsewhere),
            };
            let all = owed.len();
            owed.retain(|report| report.ids.iter().any(|id| still.contains(id)));
            let is_elsewhere = is_elsewhere || owed.len() < all;
            let mut reports = self.me.claim_waiting(agent.fid(), &mut claims).await;
            kept.extend(reports.iter().flat_map(|report| report.ids.clone()));
            reports.extend(owed);
            if reports.is_empty() {
                // What another call tells is not told again.
                let text = if is_elsewhere { String::new() } else { last.text.clone() };
                reports.push(AgentReport { text, ..last });
            }
            told.extend(reports);
        }
        claims.keep(&kept);
        drop(undisturbed);
        let to = Arc::clone(&self.me);
        Ok(Answer { value: told, carried: Some(Carried { to, from: agents, claims, waits }) })
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
            if agent.is_child_of(self.me.fid()) {
                let store = &self.manager.inner.shared.store;
                store.owe_last_work(agent.fid(), self.me.fid()).await?;
                self.manager.report_to_parent(Arc::clone(agent), None);
            }
            agent.stop();
        }
        let all = join_all(busy.iter().map(|agent| agent.idle()));
        // What takes longer is told by messages.
        let _ = tokio::time::timeout(LAST_WORD, all).await;
        Ok(())
    }

    /// The call is over, so that the session hears of what it has given the agent by a message.
    async fn owe_by_message(&self, given: &Given) -> Result<(), TeamError> {
        if let Some(report) = given.report {
            self.manager.inner.shared.store.owe_by_message(report).await?;
        }
        Ok(())
    }

    /// Nothing comes of what it has given the agent.
    async fn forget(&self, given: &Given) -> Result<(), TeamError> {
        self.manager.inner.shared.store.forget_owed(Vec::from_iter(given.report)).await?;
        Ok(())
    }
}

/// What an agent says that is waited for.
enum Reports {
    /// It works on.
    AtWork(AgentReport),
    Ended {
        /// What it owes the session, as far as no other call tells it.
        owed: Vec<AgentReport>,
        /// What came of its last work.
        last: AgentReport,
        /// Whether another call tells some of it.
        is_elsewhere: bool,
    },
}

impl Reports {
    fn ids(&self) -> Vec<MessageId> {
        match self {
            Self::AtWork(_) => Vec::new(),
            Self::Ended { owed, .. } => owed.iter().flat_map(|report| report.ids.clone()).collect(),
        }
    }
}
