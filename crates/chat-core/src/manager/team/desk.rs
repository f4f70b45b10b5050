//! Finds, makes and asks the agents of a session's tree for one call of a tool.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::super::{Fid, Kind, Manager, NewAgent};
use crate::message::{AgentReport, ChatRequest, Content, FromAgent, ModelRef};
use crate::session::{Place, Session, WaitsFor};
use crate::settings::AgentSettings;
use crate::store::SessionRecord;
use crate::tool::{AgentTask, MAIN, TeamError};

/// How long a stopped agent has to store what it has, before its report is made without.
const LAST_WORD: Duration = Duration::from_millis(700);

/// A session at work with its team.
pub(super) struct Desk {
    pub manager: Manager,
    pub me: Arc<Session>,
    pub settings: AgentSettings,
}

/// Stops an agent that works for a call alone, unless its work has ended.
struct StopsAgent(Option<Arc<Session>>);

impl Drop for StopsAgent {
    fn drop(&mut self) {
        if let Some(agent) = self.0.take() {
            agent.stop();
        }
    }
}

impl Desk {
    /// What the session is called in its tree.
    pub(super) fn own_name(&self) -> String {
        self.me.placeholder().name.clone().unwrap_or_else(|| MAIN.to_owned())
    }

    /// The other sessions of the tree, each with its name.
    pub(super) async fn others(&self) -> Result<Vec<(String, Fid)>, TeamError> {
        let tree = self.manager.inner.shared.store.agent_tree(self.me.fid()).await?;
        let others = tree.into_iter().filter(|member| member.fid != *self.me.fid());
        let named = others.map(|member| {
            let name = member.name.clone().unwrap_or_else(|| MAIN.to_owned());
            (name, member.meta.fid)
        });
        Ok(named.collect())
    }

    pub(super) async fn find(&self, name: &str) -> Result<Arc<Session>, TeamError> {
        let name = name.trim();
        if name == self.own_name() {
            return Err(TeamError::Oneself);
        }
        let others = self.others().await?;
        let Some((_, fid)) = others.iter().find(|(other, _)| other == name) else {
            let known = others.into_iter().map(|(name, _)| name).collect();
            return Err(TeamError::Unknown { name: name.to_owned(), known });
        };
        Ok(self.manager.session(fid).await?)
    }

    /// An agent of this name that the session does not work for.
    pub(super) async fn find_not_above(&self, name: &str) -> Result<Arc<Session>, TeamError> {
        let agent = self.find(name).await?;
        if self.me.works_for(agent.fid()) {
            return Err(TeamError::Above { name: name.to_owned() });
        }
        Ok(agent)
    }

    pub(super) async fn find_below(&self, name: &str) -> Result<Arc<Session>, TeamError> {
        let agent = self.find(name).await?;
        if !agent.works_for(self.me.fid()) {
            return Err(TeamError::NotYours { name: name.to_owned() });
        }
        Ok(agent)
    }

    pub(super) async fn make(&self, new: AgentTask) -> Result<Arc<Session>, TeamError> {
        let AgentSettings { depth, per_session, .. } = self.settings;
        if self.me.depth() >= depth {
            return Err(TeamError::TooDeep { depth });
        }
        // Until it is stored, so that two at once are counted one after the other.
        let _making = self.me.tree().making.lock().await;
        let tree = self.manager.inner.shared.store.agent_tree(self.me.fid()).await?;
        let mine = |member: &&SessionRecord| {
            member.parent.as_ref() == Some(self.me.fid()) && !member.closed
        };
        if tree.iter().filter(mine).count() >= per_session as usize {
            return Err(TeamError::TooMany { most: per_session });
        }
        let model = new.model.map(|model| self.model(&model));
        let new = NewAgent {
            parent: Some(self.me.fid().clone()),
            name: new.name,
            path: new.path,
            worktree: new.worktree,
            agent: new.agent,
            model,
            show: false,
        };
        let made = self.manager.create_agent(new).await.map_err(|error| match error.kind {
            Kind::AgentMissing { name } => {
                let project = self.me.project();
                let kinds = self.manager.agent_kinds().of_project(project.as_deref());
                TeamError::NoKind { name, known: kinds.into_iter().map(|kind| kind.name).collect() }
            }
            Kind::OutsideParent { path } => TeamError::NoFolder { path },
            Kind::Worktree { .. } => super::worktrees::failed(error),
            _ => error.into(),
        })?;
        Ok(self.manager.session(&made.fid).await?)
    }

    /// A model by its name, with its connection or on the session's own.
    pub(super) fn model(&self, name: &str) -> ModelRef {
        let own = self.me.placeholder().model.clone();
        self.manager.inner.shared.model_named(name, own.as_ref())
    }

    /// A place for the agent to work, if there is one now.
    pub(super) fn free_place(&self, agent: &Session) -> Result<Place, TeamError> {
        let most = self.settings.at_once;
        let place = self.me.tree().try_place(agent.fid(), most as usize);
        place.ok_or(TeamError::AllBusy { most })
    }

    /// A place for the agent to work: waits for one where the session works for nobody, so that agents
    /// never wait for a place that they hold themselves.
    pub(super) async fn place(
        &self,
        agent: &Session,
        cancel: &CancellationToken,
    ) -> Result<Place, TeamError> {
        if self.me.depth() > 0 {
            return self.free_place(agent);
        }
        let most = self.settings.at_once;
        let tree = self.me.tree();
        let all_busy = TeamError::AllBusy { most };
        let limit = self.limit();
        let place = tokio::time::timeout(limit, tree.place(agent.fid(), most as usize));
        match cancel.run_until_cancelled(place).await {
            Some(Ok(place)) => Ok(place),
            Some(Err(_)) => Err(all_busy),
            None => Err(TeamError::Ending),
        }
    }

    /// How long anything is waited for at most.
    pub(super) fn limit(&self) -> Duration {
        Duration::from_secs(u64::from(self.settings.minutes.max(1)) * 60)
    }

    pub(super) fn said(&self, text: &str) -> ChatRequest {
        let from = FromAgent::Message { name: self.own_name() };
        ChatRequest { content: Content::text(text).from_agent(from), ..ChatRequest::default() }
    }

    /// Gives the agent something to do, and waits for what comes of it.
    pub(super) async fn have_answer(
        &self,
        agent: Arc<Session>,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<AgentReport, TeamError> {
        let waits = self.waits_for(&[&agent]).await?;
        let place = self.place(&agent, cancel).await?;
        let was_busy = agent.is_busy_or_begins_next();
        agent.set_closed(false).await?;
        agent.send(self.said(text)).await?;
        // What others have it do goes on.
        let mut stops = StopsAgent((!was_busy).then(|| Arc::clone(&agent)));
        tokio::select! {
            biased;
            () = agent.idle() => {}
            () = cancel.cancelled() => {
                drop(stops);
                // It has ended, or what it had is told all the same.
                let _ = tokio::time::timeout(LAST_WORD, agent.idle()).await;
                drop(waits);
                self.manager.report_when_idle(Arc::clone(&self.me), Arc::clone(&agent), Some(place));
                return Ok(agent.report().await?);
            }
            () = tokio::time::sleep(self.limit()) => {
                stops.0 = None;
                let report = agent.short_report();
                drop(waits);
                self.report_later(&agent, Some(place)).await?;
                return Ok(report);
            }
        }
        stops.0 = None;
        // It is told here.
        self.manager.inner.shared.store.set_reports(agent.fid(), false).await?;
        Ok(agent.report().await?)
    }

    /// Has the session hear of the agent's end by a message.
    pub(super) async fn report_later(
        &self,
        agent: &Arc<Session>,
        place: Option<Place>,
    ) -> Result<(), TeamError> {
        self.report_to(&self.me, agent, place).await
    }

    /// Has this one hear of the agent's end by a message.
    pub(super) async fn report_to(
        &self,
        to: &Arc<Session>,
        agent: &Arc<Session>,
        place: Option<Place>,
    ) -> Result<(), TeamError> {
        self.manager.inner.shared.store.set_reports(agent.fid(), true).await?;
        self.manager.report_when_idle(Arc::clone(to), Arc::clone(agent), place);
        Ok(())
    }

    pub(super) async fn waits_for(&self, agents: &[&Arc<Session>]) -> Result<WaitsFor, TeamError> {
        let targets: Vec<_> = agents.iter().map(|agent| agent.fid().clone()).collect();
        match self.me.tree().wait_for(self.me.fid(), &targets) {
            Ok(waits) => Ok(waits),
            Err(circle) => {
                let others = self.others().await?;
                let name = |fid: &Fid| match others.iter().find(|(_, other)| other == fid) {
                    Some((name, _)) => name.clone(),
                    None => self.own_name(),
                };
                Err(TeamError::Circle { names: circle.iter().map(name).collect() })
            }
        }
    }
}
