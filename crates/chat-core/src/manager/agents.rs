//! Starts, finds, lists, interrupts and closes agents.
//!
//! An agent is a session with a name. Those that one session started, and those that they started, are
//! its tree. Which of them is shown is a front end's affair.

use std::path::{Path, PathBuf};

use chat_permission::path::Project;
use chat_permission::{Effect, Entry};

use super::{Event, Fid, Kind, Manager, Result, SessionPlaceholder};
use crate::message::{ModelRef, SessionMeta};
use crate::store::{NewSession, SessionRecord};

/// The longest name of an agent, in characters.
const LONGEST_NAME: usize = 40;

/// What an agent is made with. Unset fields are those of its parent, or of a new chat.
#[derive(Clone, Debug, Default)]
pub struct NewAgent {
    /// The session that it works for; none for an agent with a tree of its own.
    pub parent: Option<Fid>,
    /// What it is called. Another in its tree with that name has it get a number: `explorer-2`.
    pub name: Option<String>,
    /// The folder to work in: its parent's, or one in that.
    pub path: Option<PathBuf>,
    /// The kind of agent.
    pub agent: Option<String>,
    /// The model.
    pub model: Option<ModelRef>,
    /// Whether front ends should show it: a hint in [`Event::AgentOpened`].
    pub show: bool,
}

/// An agent.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentState {
    /// Its session, with its parent, its name and what it does.
    pub session: SessionPlaceholder,
    /// Whether it is open. A closed one has its transcript, and is opened again by
    /// [`Agents::resume`].
    pub open: bool,
}

/// The agents. From [`Manager::agents`].
///
/// What they do comes as events, like that of any session: status and errors as
/// [`Event::SessionChanged`], questions as [`Event::ApprovalsChanged`], plans as
/// [`SessionEvent::TodosChanged`](crate::event::SessionEvent::TodosChanged), ends as
/// [`Event::RequestFinished`].
#[derive(Clone, Debug)]
pub struct Agents(pub(super) Manager);

impl Agents {
    /// Makes an agent that waits for its first message ([`Manager::send`]).
    ///
    /// # Errors
    /// `SessionNotFound` for the parent, `AgentMissing`, `ConnectionMissing`, `OutsideParent` where its
    /// folder is not in that of its parent, and the store's.
    pub async fn create(&self, new: NewAgent) -> Result<AgentState> {
        let this = self.0.clone();
        self.0.run(async move { this.create_agent(new).await }).await
    }

    /// Opens an agent that is stored, as one that was closed or that an earlier start of the program made.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn resume(&self, fid: &Fid, show: bool) -> Result<AgentState> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                this.open_agent(&fid, show);
                Ok(AgentState { session: session.placeholder(), open: true })
            })
            .await
    }

    /// The agent of this name in the tree of a session.
    ///
    /// # Errors
    /// `SessionNotFound` for the session, and the store's.
    pub async fn find_by_name(&self, member: &Fid, name: &str) -> Result<Option<AgentState>> {
        let all = self.list(Some(member)).await?;
        Ok(all.into_iter().find(|agent| agent.session.name.as_deref() == Some(name)))
    }

    /// The agents in the tree of a session, each after the one it works for; without a session all
    /// that there are, the one that was last active first.
    ///
    /// # Errors
    /// `SessionNotFound` for the session, and the store's.
    pub async fn list(&self, member: Option<&Fid>) -> Result<Vec<AgentState>> {
        let (this, member) = (self.0.clone(), member.cloned());
        self.0
            .run(async move {
                let store = &this.inner.shared.store;
                let records = match &member {
                    Some(member) => store.agent_tree(member).await?,
                    None => store.sessions().await?,
                };
                let agents = records.into_iter().filter(|record| record.name.is_some());
                Ok(agents.map(|record| this.agent_state(record)).collect())
            })
            .await
    }

    /// Stops what an agent does, but not those that work for it. What had arrived stays.
    pub fn interrupt(&self, fid: &Fid) {
        self.0.sessions().stop(fid);
    }

    /// Stops an agent and all that work for it, waits until they have ended, and closes them. Their
    /// transcripts stay.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn close(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                // The parent first: from then on it starts nobody.
                for member in this.inner.shared.store.below(&fid).await? {
                    this.close_agent(&member).await;
                }
                Ok(())
            })
            .await
    }

    /// Closes all agents that are open.
    ///
    /// # Errors
    /// `Internal`.
    pub async fn close_all(&self) -> Result<()> {
        let this = self.0.clone();
        self.0
            .run(async move {
                let open = this.open_agents().clone();
                for fid in open {
                    this.close_agent(&fid).await;
                }
                Ok(())
            })
            .await
    }
}

impl Manager {
    async fn create_agent(&self, new: NewAgent) -> Result<AgentState> {
        let shared = &self.inner.shared;
        let parent = match &new.parent {
            Some(parent) => Some(self.session(parent).await?),
            None => None,
        };
        let parent = parent.map(|parent| parent.record());
        let new = self.new_agent(new, parent.as_ref())?;
        let (record, show) = (shared.store.create(new.0, Vec::new()).await?, new.1);
        // Nothing is at work in it.
        shared.store.release(&record.fid).await?;
        let fid = record.fid.clone();
        shared.hub.tell(&Event::SessionAdded(record.meta.clone().into()));
        self.open_agent(&fid, show);
        Ok(AgentState { session: record.meta.into(), open: true })
    }

    /// What is stored of a new agent, and whether it is to be shown.
    fn new_agent(
        &self,
        new: NewAgent,
        parent: Option<&SessionRecord>,
    ) -> Result<(NewSession, bool)> {
        let shared = &self.inner.shared;
        let settings = shared.clients.settings();
        let of_parent = parent.map(|parent| parent.agent.clone());
        let agent = new.agent.or(of_parent).unwrap_or_else(|| settings.chat.agent.clone());
        let agent = shared.agent(&agent)?;
        let model = new.model.or_else(|| parent.and_then(|parent| parent.model.clone()));
        let model = model.or_else(|| shared.clients.default_model());
        if let Some(model) = &model
            && !shared.clients.has(&model.connection)
        {
            return Err(Kind::ConnectionMissing { name: model.connection.clone() }.into());
        }
        let project = match (new.path, parent) {
            (Some(path), Some(parent)) => Some(self.folder_in(&path, parent.project.as_deref())?),
            (None, Some(parent)) => parent.project.clone(),
            (path, None) => path,
        };
        let name = new.name.as_deref().and_then(agent_name);
        let name = name.unwrap_or_else(|| agent.name().to_owned());
        // What was allowed for the parent's chat was allowed for that one alone; what was denied there
        // holds for all that works for it.
        let denied = |rule: &&Entry| rule.effect == Effect::Deny;
        let rules = parent.map(|parent| parent.rules.iter().filter(denied).cloned().collect());
        let meta = SessionMeta {
            title: name.clone(),
            parent: parent.map(|parent| parent.fid.clone()),
            name: Some(name),
            agent: agent.name().to_owned(),
            model,
            thinking: parent.map(|parent| parent.thinking).unwrap_or_default(),
            options: parent.map(|parent| parent.options.clone()).unwrap_or_default(),
            project,
            mode: parent.map_or(settings.permissions.mode, |parent| parent.mode),
            ..SessionMeta::default()
        };
        Ok((NewSession { meta, rules: rules.unwrap_or_default() }, new.show))
    }

    /// The folder of this path, resolved, where it lies in the one that the parent works in.
    fn folder_in(&self, path: &Path, within: Option<&Path>) -> Result<PathBuf> {
        let outside = || Kind::OutsideParent { path: path.to_owned() };
        let within = within.ok_or_else(outside)?;
        let own = &self.inner.shared.path_environment;
        let parent = Project::open(within, own).map_err(|_| outside())?;
        let resolved = parent.root().join(path).canonicalize().map_err(|_| outside())?;
        if !resolved.is_dir() || !resolved.starts_with(parent.root()) {
            return Err(outside().into());
        }
        Ok(resolved)
    }

    fn agent_state(&self, record: SessionRecord) -> AgentState {
        let open = self.open_agents().contains(&record.fid);
        let session = match self.loaded(&record.fid) {
            Some(session) => session.placeholder(),
            None => record.meta.into(),
        };
        AgentState { session, open }
    }

    fn open_agent(&self, fid: &Fid, show: bool) {
        self.open_agents().insert(fid.clone());
        self.inner.shared.hub.tell(&Event::AgentOpened { fid: fid.clone(), show });
    }

    /// Ends what an agent does, and closes it where it is open.
    async fn close_agent(&self, fid: &Fid) {
        if let Some(session) = self.loaded(fid) {
            session.halt();
            drop(session.halted().await);
            session.go_on();
        }
        self.forget_agent(fid);
    }

    /// The agent is closed.
    pub(super) fn forget_agent(&self, fid: &Fid) {
        if self.open_agents().remove(fid) {
            self.inner.shared.hub.tell(&Event::AgentClosed { fid: fid.clone() });
        }
    }
}

/// A name of letters, digits and dashes; none where nothing of it is left.
fn agent_name(wanted: &str) -> Option<String> {
    let keep = |c: char| if c.is_alphanumeric() || c == '_' { c } else { ' ' };
    let words = wanted.chars().map(keep).collect::<String>();
    let name = words.split_whitespace().collect::<Vec<_>>().join("-");
    let name: String = name.chars().take(LONGEST_NAME).collect();
    Some(name.trim_end_matches('-').to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::agent_name;

    #[test]
    fn a_name_is_one_short_word() {
        assert_eq!(agent_name("Code  Explorer!").as_deref(), Some("Code-Explorer"));
        assert_eq!(agent_name("../a\n`b`").as_deref(), Some("a-b"));
        assert_eq!(agent_name("模型 7").as_deref(), Some("模型-7"));
        assert_eq!(agent_name(&"x".repeat(99)).map(|name| name.len()), Some(40));
        assert_eq!(agent_name(" /-/ "), None);
    }
}
