//! Finds, makes and asks the agents of a session's tree for one call of a tool.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::super::{Fid, Kind, Manager, NewAgent};
use super::calls::Answer;
use crate::message::{
    AgentReport, AgentState, ChatRequest, Content, FromAgent, MessageId, ModelRef,
};
use crate::session::{AgentsAtWork, Claims, Place, Session, WaitsFor};
use crate::settings::AgentSettings;
use crate::store::{OwedReport, SessionRecord};
use crate::tool::{AgentTask, MAIN, TeamError};

/// A session at work with its team.
pub(super) struct Desk {
    pub manager: Manager,
    pub me: Arc<Session>,
    pub settings: AgentSettings,
    /// Is told of the agents that work for the call.
    pub at_work: AgentsAtWork,
}

/// A message that an agent was given.
pub(super) struct Given {
    pub id: MessageId,
    /// Whether it waits until the agent is free.
    pub queued: bool,
    /// The report that the agent owes on it.
    pub report: Option<MessageId>,
    /// Has that told by nothing else, where a call waits for it.
    pub claims: Claims,
}

/// How what comes of a message to an agent is heard of.
#[derive(Clone, Copy)]
pub(super) enum Hears<'a> {
    /// Not at all.
    Nobody,
    /// By the result of the call.
    ByCall,
    /// By a message to this session.
    ByMessage(&'a Session),
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
        let AgentSettings { depth, per_session, at_once, .. } = self.settings;
        if self.me.depth() >= depth {
            return Err(TeamError::TooDeep { depth });
        }
        // An agent waits for no place: see `place`.
        let waits = new.task.is_none() || self.me.depth() == 0;
        if !waits && !self.me.tree().has_place(at_once as usize) {
            return Err(TeamError::AllBusy { most: at_once });
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
            Kind::AgentMissing { name, why } => {
                let project = self.me.project();
                let kinds = self.manager.agent_kinds().of_project(project.as_deref());
                let known = kinds.into_iter().map(|kind| kind.name).collect();
                TeamError::NoKind { name, why, known }
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
    fn free_place(&self, agent: &Session) -> Result<Place, TeamError> {
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
            None => Err(TeamError::Stopped),
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

    /// Starts an agent, and waits for it where it has a task and does not work in the background.
    pub(super) async fn start(
        &self,
        new: AgentTask,
        cancel: &CancellationToken,
    ) -> Result<Answer<AgentReport>, TeamError> {
        let task = new.task.filter(|task| !task.trim().is_empty());
        let (background, has_worktree) = (new.background, new.worktree.is_some());
        let agent = self.make(AgentTask { task: task.clone(), ..new }).await?;
        (self.at_work)(vec![agent.fid().clone()]);
        let Some(task) = task else {
            return Ok(agent.short_report().into());
        };
        let begun = if background {
            self.begin(&agent, &task, cancel).await
        } else {
            self.have_answer(&agent, &task, cancel).await
        };
        if begun.is_err() {
            self.undo(&agent, has_worktree).await;
        }
        begun
    }

    /// Has a new agent work in the background.
    async fn begin(
        &self,
        agent: &Arc<Session>,
        task: &str,
        cancel: &CancellationToken,
    ) -> Result<Answer<AgentReport>, TeamError> {
        let place = self.place(agent, cancel).await?;
        self.give(agent, task, Hears::ByMessage(&self.me)).await?;
        let report = agent.short_report();
        self.manager.report_to_parent(Arc::clone(agent), Some(place));
        Ok(report.into())
    }

    /// Closes a new agent that could not begin, and removes the worktree that was made for it. One that
    /// the user gave something to do meanwhile stays.
    async fn undo(&self, agent: &Arc<Session>, has_worktree: bool) {
        let waiting = self.manager.inner.shared.store.waiting(agent.fid()).await;
        let is_new = agent.short_report().state == AgentState::Idle;
        if !is_new || !waiting.is_ok_and(|waiting| waiting.is_empty()) {
            return;
        }
        if let Err(error) = self.manager.close_agents(agent.fid()).await {
            tracing::warn!(%error, "an agent that could not begin is not closed");
            return;
        }
        let Some(project) = agent.project().filter(|_| has_worktree) else { return };
        match self.manager.worktrees().containing(&project).await {
            Ok(Some(worktree)) => self.manager.undo_worktree(worktree).await,
            Ok(None) => {}
            Err(error) => tracing::warn!(%error, "the worktree of a closed agent stays"),
        }
    }

    /// Sends an agent a message. Where it begins with that, or works for the session, its end is reported.
    pub(super) async fn tell(
        &self,
        name: &str,
        message: &str,
        interrupt: bool,
    ) -> Result<AgentReport, TeamError> {
        let agent = self.find(name).await?;
        self.must_have_its_worktree(name, &agent).await?;
        let is_above = self.me.works_for(agent.fid());
        let works = agent.works_for(self.me.fid());
        if interrupt && works {
            agent.stop();
            let _ = tokio::time::timeout(self.limit(), agent.idle()).await;
        }
        // The session at the top works for the user alone.
        let begins = agent.depth() > 0 && !agent.is_busy_or_begins_next();
        let place = (begins || works).then(|| self.free_place(&agent)).transpose()?;
        // Whoever gave it work hears of its end, or for one above whoever that works for.
        let above = agent.parent().filter(|_| is_above);
        let to = Arc::clone(above.unwrap_or(&self.me));
        let hears = if place.is_some() { Hears::ByMessage(&to) } else { Hears::Nobody };
        self.give(&agent, message, hears).await?;
        let report = agent.short_report();
        if place.is_some() {
            self.manager.report_when_idle(to, agent, place, false);
        }
        Ok(report)
    }

    /// Gives the agent something to do. The report that it owes on that is stored before it can begin.
    pub(super) async fn give(
        &self,
        agent: &Arc<Session>,
        text: &str,
        hears: Hears<'_>,
    ) -> Result<Given, TeamError> {
        let store = &self.manager.inner.shared.store;
        let _undisturbed = agent.undisturbed().await;
        if !self.me.works_for(agent.fid()) {
            agent.set_closed(false).await?;
        }
        // What came of its last work is told before something new comes of it.
        agent.hand_in_undisturbed(&self.me, false).await?;
        let (id, report) = (MessageId::new(), MessageId::new());
        let mut claims = self.me.tree().claims();
        let (to, by_call) = match hears {
            Hears::Nobody => (None, false),
            Hears::ByCall => (Some(self.me.fid()), true),
            Hears::ByMessage(to) => (Some(to.fid()), false),
        };
        if by_call {
            claims.add(&[report]);
        }
        if let Some(to) = to.cloned() {
            store
                .owe_report(agent.fid(), OwedReport { id: report, to, about: Some(id), by_call })
                .await?;
        }
        let report = to.map(|_| report);
        match agent.send_as(id, self.said(text)).await {
            Ok(queued) => Ok(Given { id, queued, report, claims }),
            Err(error) => {
                store.forget_owed(Vec::from_iter(report)).await?;
                Err(error.into())
            }
        }
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
