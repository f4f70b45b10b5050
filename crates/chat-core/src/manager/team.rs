//! Has the tools of sessions work with the other agents of their trees.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{Fid, Inner, Kind, Manager, NewAgent, Result};
use crate::message::{AgentReport, AgentState, ChatRequest, Content, FromAgent, ModelRef};
use crate::session::{Clients as _, Place, Session, Teams, WaitsFor};
use crate::settings::AgentSettings;
use crate::tool::{AgentTask, MAIN, Team, TeamError};

/// How long a stopped agent has to store what it has, before its report is made without.
const LAST_WORD: Duration = Duration::from_millis(700);

impl Manager {
    /// Lets tools reach the agents of their session's tree, and has the chats hear of agents that an
    /// earlier start of the program left in the background.
    pub(super) fn form_teams(&self) {
        let host = Arc::new(Host(Arc::downgrade(&self.inner)));
        // It is started once.
        let _ = self.inner.shared.teams.set(host);
        let this = self.clone();
        self.inner.shared.runtime.spawn(async move {
            if let Err(error) = this.report_left_over().await {
                tracing::warn!(%error, "agents that were interrupted were not reported");
            }
        });
    }

    async fn report_left_over(&self) -> Result<()> {
        for record in self.inner.shared.store.unreported().await? {
            let agent = self.session(&record.fid).await?;
            if agent.is_busy() {
                continue;
            }
            if let Some(parent) = &record.parent {
                // The user decides when it goes on.
                self.session(parent).await?.receive(agent.report().await?, false).await?;
            }
        }
        Ok(())
    }

    /// Once the agent's work has ended, has its parent hear of it, unless somebody waits for it. It has
    /// its place until then.
    fn report_when_idle(&self, parent: Arc<Session>, agent: Arc<Session>, place: Option<Place>) {
        let shared = Arc::clone(&self.inner.shared);
        self.inner.shared.spawn(async move {
            agent.idle().await;
            drop(place);
            // Whoever waits reports it. Where the program ends, the next start does.
            if agent.tree().is_waited_for(agent.fid()) || agent.is_halted() {
                return;
            }
            let wake = shared.clients.settings().agents.wake;
            let reported = match agent.report().await {
                Ok(report) => parent.receive(report, wake).await,
                Err(error) => Err(error),
            };
            if let Err(error) = reported {
                tracing::warn!(%error, "the report of an agent waits for the next start");
            }
        });
    }
}

struct Host(Weak<Inner>);

impl Teams for Host {
    fn team(&self, member: &Fid) -> Arc<dyn Team> {
        Arc::new(Member { inner: Weak::clone(&self.0), fid: member.clone() })
    }
}

/// A session among the agents of its tree.
struct Member {
    inner: Weak<Inner>,
    fid: Fid,
}

/// A session at work with its team.
struct Desk {
    manager: Manager,
    me: Arc<Session>,
    settings: AgentSettings,
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

impl Member {
    async fn desk(&self) -> Result<Desk, TeamError> {
        let manager = Manager::upgrade(&self.inner).ok_or(TeamError::Ending)?;
        let me = manager.session(&self.fid).await?;
        let settings = manager.inner.shared.clients.settings().agents;
        Ok(Desk { manager, me, settings })
    }
}

impl Desk {
    /// What the session is called in its tree.
    fn own_name(&self) -> String {
        self.me.placeholder().name.clone().unwrap_or_else(|| MAIN.to_owned())
    }

    /// The other sessions of the tree, each with its name.
    async fn others(&self) -> Result<Vec<(String, Fid)>, TeamError> {
        let tree = self.manager.inner.shared.store.agent_tree(self.me.fid()).await?;
        let others = tree.into_iter().filter(|member| member.fid != *self.me.fid());
        let named = others.map(|member| {
            let name = member.name.clone().unwrap_or_else(|| MAIN.to_owned());
            (name, member.meta.fid)
        });
        Ok(named.collect())
    }

    async fn find(&self, name: &str) -> Result<Arc<Session>, TeamError> {
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
    async fn find_not_above(&self, name: &str) -> Result<Arc<Session>, TeamError> {
        let agent = self.find(name).await?;
        if self.me.works_for(agent.fid()) {
            return Err(TeamError::Above { name: name.to_owned() });
        }
        Ok(agent)
    }

    async fn find_below(&self, name: &str) -> Result<Arc<Session>, TeamError> {
        let agent = self.find(name).await?;
        if !agent.works_for(self.me.fid()) {
            return Err(TeamError::NotYours { name: name.to_owned() });
        }
        Ok(agent)
    }

    async fn make(&self, new: AgentTask) -> Result<Arc<Session>, TeamError> {
        let AgentSettings { depth, per_session, .. } = self.settings;
        if self.me.depth() >= depth {
            return Err(TeamError::TooDeep { depth });
        }
        // Until it is stored, so that two at once are counted one after the other.
        let _making = self.me.tree().making.lock().await;
        let tree = self.manager.inner.shared.store.agent_tree(self.me.fid()).await?;
        let mine = |member: &&crate::store::SessionRecord| {
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
            agent: new.agent,
            model,
            show: false,
        };
        let made = self.manager.create_agent(new).await.map_err(|error| match error.kind {
            Kind::AgentMissing { name } => {
                let kinds = self.manager.agent_kinds().list();
                TeamError::NoKind { name, known: kinds.into_iter().map(|kind| kind.name).collect() }
            }
            Kind::OutsideParent { path } => TeamError::NoFolder { path },
            _ => error.into(),
        })?;
        Ok(self.manager.session(&made.fid).await?)
    }

    /// A model by its name, with its connection or on the session's own.
    fn model(&self, name: &str) -> ModelRef {
        let own = self.me.placeholder().model.clone();
        let has = |connection: &str| self.manager.inner.connections.has(connection);
        match (name.split_once('/'), own) {
            (Some((connection, model)), _) if has(connection) => ModelRef::new(connection, model),
            (_, Some(own)) => ModelRef::new(own.connection, name),
            (Some((connection, model)), None) => ModelRef::new(connection, model),
            (None, None) => ModelRef::new("", name),
        }
    }

    /// A place for the agent to work: waits for one where the session works for nobody, so that agents
    /// never wait for a place that they hold themselves.
    async fn place(&self, agent: &Session, cancel: &CancellationToken) -> Result<Place, TeamError> {
        let most = self.settings.at_once;
        let tree = self.me.tree();
        let all_busy = TeamError::AllBusy { most };
        if self.me.depth() > 0 {
            return tree.try_place(agent.fid(), most as usize).ok_or(all_busy);
        }
        let limit = self.limit();
        let place = tokio::time::timeout(limit, tree.place(agent.fid(), most as usize));
        match cancel.run_until_cancelled(place).await {
            Some(Ok(place)) => Ok(place),
            Some(Err(_)) => Err(all_busy),
            None => Err(TeamError::Ending),
        }
    }

    /// How long anything is waited for at most.
    fn limit(&self) -> Duration {
        Duration::from_secs(u64::from(self.settings.minutes.max(1)) * 60)
    }

    fn said(&self, text: &str) -> ChatRequest {
        let from = FromAgent::Message { name: self.own_name() };
        ChatRequest { content: Content::text(text).from_agent(from), ..ChatRequest::default() }
    }

    /// Gives the agent something to do, and waits for what comes of it.
    async fn have_answer(
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
    async fn report_later(
        &self,
        agent: &Arc<Session>,
        place: Option<Place>,
    ) -> Result<(), TeamError> {
        self.manager.inner.shared.store.set_reports(agent.fid(), true).await?;
        self.manager.report_when_idle(Arc::clone(&self.me), Arc::clone(agent), place);
        Ok(())
    }

    async fn waits_for(&self, agents: &[&Arc<Session>]) -> Result<WaitsFor, TeamError> {
        let whom: Vec<_> = agents.iter().map(|agent| agent.fid().clone()).collect();
        match self.me.tree().wait_for(self.me.fid(), &whom) {
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

#[async_trait]
impl Team for Member {
    async fn start(
        &self,
        new: AgentTask,
        cancel: &CancellationToken,
    ) -> Result<AgentReport, TeamError> {
        let desk = self.desk().await?;
        let (task, background) = (new.task.clone(), new.background);
        let agent = desk.make(new).await?;
        let Some(task) = task.filter(|task| !task.trim().is_empty()) else {
            return Ok(agent.short_report());
        };
        if !background {
            return desk.have_answer(agent, &task, cancel).await;
        }
        let place = desk.place(&agent, cancel).await?;
        agent.send(desk.said(&task)).await?;
        let report = agent.short_report();
        desk.report_later(&agent, Some(place)).await?;
        Ok(report)
    }

    async fn ask(
        &self,
        name: &str,
        message: &str,
        cancel: &CancellationToken,
    ) -> Result<AgentReport, TeamError> {
        let desk = self.desk().await?;
        let agent = desk.find_not_above(name).await?;
        desk.have_answer(agent, message, cancel).await
    }

    async fn tell(
        &self,
        name: &str,
        message: &str,
        interrupt: bool,
    ) -> Result<AgentReport, TeamError> {
        let desk = self.desk().await?;
        let agent = desk.find(name).await?;
        if desk.me.works_for(agent.fid()) {
            // It goes on with that by itself, once it can.
            agent.send(desk.said(message)).await?;
            return Ok(agent.short_report());
        }
        let works = agent.works_for(desk.me.fid());
        if interrupt && works {
            agent.stop();
            let _ = tokio::time::timeout(desk.limit(), agent.idle()).await;
        }
        let most = desk.settings.at_once;
        let place = agent.tree().try_place(agent.fid(), most as usize);
        let place = place.ok_or(TeamError::AllBusy { most })?;
        agent.set_closed(false).await?;
        agent.send(desk.said(message)).await?;
        let report = agent.short_report();
        if works {
            desk.report_later(&agent, Some(place)).await?;
        }
        Ok(report)
    }

    async fn wait(
        &self,
        names: Option<&[String]>,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Vec<AgentReport>, TeamError> {
        let desk = self.desk().await?;
        let mut agents = Vec::new();
        match names {
            Some(names) => {
                for name in names {
                    agents.push(desk.find_not_above(name).await?);
                }
            }
            None => {
                for (_, fid) in desk.others().await? {
                    let other = desk.manager.session(&fid).await?;
                    let of_me = other.works_for(desk.me.fid());
                    if of_me && other.is_busy_or_begins_next() {
                        agents.push(other);
                    }
                }
            }
        }
        let waits = desk.waits_for(&agents.iter().collect::<Vec<_>>()).await?;
        let all = futures_util::future::join_all(agents.iter().map(|agent| agent.idle()));
        let limit = limit.min(desk.limit());
        let waited = cancel.run_until_cancelled(tokio::time::timeout(limit, all)).await;
        let mut reports = Vec::with_capacity(agents.len());
        let mut later = Vec::new();
        for agent in &agents {
            let report = agent.report().await?;
            let ended = !matches!(report.state, AgentState::Working | AgentState::NeedsUser);
            if ended && waited.is_some() {
                // It is told here.
                desk.manager.inner.shared.store.set_reports(agent.fid(), false).await?;
            } else if agent.works_for(desk.me.fid()) {
                // Its end may come while this still counts as waiting.
                later.push(Arc::clone(agent));
            }
            reports.push(report);
        }
        drop(waits);
        for agent in later {
            desk.manager.report_when_idle(Arc::clone(&desk.me), agent, None);
        }
        Ok(reports)
    }

    async fn list(&self) -> Result<Vec<AgentReport>, TeamError> {
        let desk = self.desk().await?;
        let mut reports = Vec::new();
        for (_, fid) in desk.others().await? {
            reports.push(desk.manager.session(&fid).await?.short_report());
        }
        Ok(reports)
    }

    async fn close(&self, name: &str) -> Result<AgentReport, TeamError> {
        let desk = self.desk().await?;
        let agent = desk.find_below(name).await?;
        desk.manager.close_agents(agent.fid()).await?;
        Ok(agent.report().await?)
    }
}
