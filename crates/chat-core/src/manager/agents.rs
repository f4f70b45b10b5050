//! Starts, finds, lists, interrupts and closes agents.
//!
//! An agent is a session with a name. Those that one session started, and those that they started, are
//! its tree. Which of them is shown is a front end's affair.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use chat_permission::path::Project;
use chat_permission::{Effect, Entry};

use super::{Event, Fid, Kind, Manager, Result, SessionPlaceholder};
use crate::message::{ModelRef, SessionMeta};
use crate::session::Session;
use crate::store::{NewSession, SessionRecord};
use crate::tool::NewWorktree;

/// The longest name of an agent, in characters.
const LONGEST_NAME: usize = 40;

/// What an agent is made with. Unset fields are those of its parent, or of a new chat.
#[derive(Clone, Debug, Default)]
pub struct NewAgent {
    /// The session that it works for; none for an agent with a tree of its own.
    pub parent: Option<Fid>,
    /// What it is called. Another in its tree with that name has it get a number: `explorer-2`.
    pub name: Option<String>,
    /// The folder that its work is about: one in its parent's project, relative to that or absolute.
    /// Without a parent the project itself.
    pub path: Option<PathBuf>,
    /// A worktree of its parent's project that is made for it: it works there instead.
    pub worktree: Option<NewWorktree>,
    /// The kind of agent.
    pub agent: Option<String>,
    /// The model.
    pub model: Option<ModelRef>,
    /// Whether front ends should show it: [`Event::ShowRequested`].
    pub show: bool,
}

/// The agents. From [`Manager::agents`].
///
/// What they do comes as events, like that of any session: those that are made as
/// [`Event::SessionAdded`], status, errors and closing as [`Event::SessionChanged`], questions as
/// [`Event::ApprovalsChanged`], plans as
/// [`SessionEvent::TodosChanged`](crate::event::SessionEvent::TodosChanged), ends as
/// [`Event::RequestFinished`].
#[derive(Clone, Debug)]
pub struct Agents(pub(super) Manager);

impl Agents {
    /// Makes an agent that waits for its first message ([`Manager::send`]).
    ///
    /// # Errors
    /// `SessionNotFound` for the parent, `AgentMissing`, `ConnectionMissing`, `OutsideParent` where its
    /// folder is not in its parent's project, `Worktree`, and the store's.
    pub async fn create(&self, new: NewAgent) -> Result<SessionPlaceholder> {
        let this = self.0.clone();
        self.0.run(async move { this.create_agent(new).await }).await
    }

    /// Opens an agent again that was closed. One that is open stays so.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn resume(&self, fid: &Fid, show: bool) -> Result<SessionPlaceholder> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                session.set_closed(false).await?;
                if show {
                    this.inner.shared.hub.tell(&Event::ShowRequested { fid });
                }
                Ok(session.placeholder())
            })
            .await
    }

    /// The agent of this name in the tree of a session.
    ///
    /// # Errors
    /// `SessionNotFound` for the session, and the store's.
    pub async fn find_by_name(
        &self,
        member: &Fid,
        name: &str,
    ) -> Result<Option<SessionPlaceholder>> {
        let all = self.list(Some(member)).await?;
        Ok(all.into_iter().find(|agent| agent.name.as_deref() == Some(name)))
    }

    /// The agents in the tree of a session, each after the one it works for; without a session all
    /// that there are, the one that was last active first. Closed ones, too.
    ///
    /// # Errors
    /// `SessionNotFound` for the session, and the store's.
    pub async fn list(&self, member: Option<&Fid>) -> Result<Vec<SessionPlaceholder>> {
        let (this, member) = (self.0.clone(), member.cloned());
        self.0
            .run(async move {
                let store = &this.inner.shared.store;
                let records = match &member {
                    Some(member) => store.agent_tree(member).await?,
                    None => store.sessions().await?,
                };
                let agents = records.into_iter().filter(|record| record.name.is_some());
                Ok(agents.map(|record| this.row(record)).collect())
            })
            .await
    }

    /// Stops what an agent does, but not those that work for it in the background. What had arrived
    /// stays.
    pub fn interrupt(&self, fid: &Fid) {
        self.0.sessions().stop(fid);
    }

    /// Stops all that work for a session, and for those, but not the session itself. What had arrived
    /// stays.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn interrupt_all(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let mut known = HashSet::new();
                loop {
                    let mut below = this.inner.shared.store.below(&fid).await?.split_off(1);
                    below.retain(|agent| known.insert(agent.clone()));
                    // Until none was started meanwhile by one that was not stopped yet.
                    if below.is_empty() {
                        return Ok(());
                    }
                    for agent in below.iter().filter_map(|agent| this.loaded(agent)) {
                        agent.stop();
                    }
                }
            })
            .await
    }

    /// Waits until a session is not at work and nothing in its tree will have it go on by itself: no agent
    /// works for it in the background, and all reports have been answered, where the settings say so.
    ///
    /// # Errors
    /// `SessionNotFound`, also where it is deleted meanwhile, and the store's.
    pub async fn at_rest(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                loop {
                    let changed = session.tree().changed();
                    tokio::pin!(changed);
                    // From here on no change is missed.
                    changed.as_mut().enable();
                    session.idle().await;
                    if session.tree().awaits_ends() {
                        changed.await;
                        continue;
                    }
                    // Behind the gate the end of its last request has been told.
                    drop(session.gate_of_living().await?);
                    if !session.is_busy_or_begins_next() {
                        return Ok(());
                    }
                }
            })
            .await
    }

    /// Stops an agent and all that work for it, waits until they have ended, and closes them. Their
    /// transcripts stay.
    ///
    /// # Errors
    /// `SessionNotFound`, `SessionInUse` where another process runs one of them, and the store's: none is
    /// closed then.
    pub async fn close(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.close_agents(&fid).await }).await
    }

    /// Stops and closes all agents of the tree of a session, but not the session at its top.
    ///
    /// # Errors
    /// As [`close`](Self::close).
    pub async fn close_all(&self, member: &Fid) -> Result<()> {
        let (this, member) = (self.0.clone(), member.clone());
        self.0.run(async move { this.close_tree(&member).await }).await
    }
}

impl Manager {
    pub(super) async fn create_agent(&self, new: NewAgent) -> Result<SessionPlaceholder> {
        let Some(worktree) = self.worktree_for_agent(&new).await? else {
            return self.create_agent_in(new, None).await;
        };
        let created = self.create_agent_in(new, Some(worktree.project())).await;
        if created.is_err() {
            self.undo_worktree(worktree).await;
        }
        created
    }

    /// Creates an agent that works in this project, or else in its parent's.
    async fn create_agent_in(
        &self,
        new: NewAgent,
        project: Option<PathBuf>,
    ) -> Result<SessionPlaceholder> {
        let shared = &self.inner.shared;
        let parent = match &new.parent {
            Some(parent) => Some(self.session(parent).await?),
            None => None,
        };
        // Behind the parent's gate: once that is halted to be deleted, nobody begins to work for it.
        let gate = match &parent {
            Some(parent) => Some(parent.gate_of_living().await?),
            None => None,
        };
        // Without a worktree one project for all: the same rules, the same guarded files, one journal of
        // changes.
        let project = project.or_else(|| match &parent {
            Some(parent) => parent.project(),
            None => new.path.clone(),
        });
        shared.definitions.load(project.as_deref()).await;
        let show = new.show;
        let new = self.new_agent(new, parent.as_deref(), project)?;
        let record = shared.store.create(new, Vec::new()).await?;
        // Nothing is at work in it.
        shared.store.release(&record.fid).await?;
        drop(gate);
        let fid = record.fid.clone();
        let row = SessionPlaceholder::from(record.meta);
        shared.hub.tell(&Event::SessionAdded(row.clone()));
        if show {
            shared.hub.tell(&Event::ShowRequested { fid });
        }
        Ok(row)
    }

    /// What is stored of a new agent.
    fn new_agent(
        &self,
        new: NewAgent,
        parent: Option<&Session>,
        project: Option<PathBuf>,
    ) -> Result<NewSession> {
        let shared = &self.inner.shared;
        let settings = shared.clients.settings();
        let parent = parent.map(Session::record);
        let of_parent = parent.as_ref().map(|parent| parent.agent.clone());
        let agent = new.agent.or(of_parent).unwrap_or_else(|| settings.chat.agent.clone());
        let agent = shared.agent(&agent, project.as_deref())?;
        let is_other = parent.as_ref().is_none_or(|parent| parent.agent != agent.name());
        let inherited = parent.as_ref().and_then(|parent| parent.model.clone());
        let inherited = inherited.or_else(|| shared.clients.default_model());
        // What the user chose for the parent was chosen for its kind of agent.
        let of_agent = agent.model().filter(|_| is_other);
        let of_agent = of_agent.map(|name| shared.model_named(name, inherited.as_ref()));
        let model = new.model.or(of_agent).or(inherited);
        if let Some(model) = &model
            && !shared.clients.has(&model.connection)
        {
            return Err(Kind::ConnectionMissing { name: model.connection.clone() }.into());
        }
        let name = new.name.as_deref().and_then(agent_name);
        let name = name.unwrap_or_else(|| agent.name().to_owned());
        let meta = SessionMeta {
            name: Some(name),
            agent: agent.name().to_owned(),
            model,
            ..SessionMeta::default()
        };
        let Some(parent) = parent else {
            let mode = settings.permissions.mode;
            let meta = SessionMeta { project, mode, ..meta };
            return Ok(NewSession { meta, ..NewSession::default() });
        };
        let folder = match new.path {
            Some(path) => Some(self.folder_in(&path, project.as_deref())?),
            None => parent.folder.clone(),
        };
        // What was allowed for the parent's chat was allowed for that one alone. What was denied there
        // stays denied, also where the parent is gone or moves to another project.
        let denied = parent.rules.iter().filter(|entry| entry.effect == Effect::Deny);
        let rules: Vec<Entry> = denied.cloned().collect();
        let meta = SessionMeta {
            parent: Some(parent.fid.clone()),
            folder: folder.filter(|folder| folder != Path::new("")),
            project,
            thinking: parent.thinking,
            options: if is_other {
                agent.options().or(&parent.options)
            } else {
                parent.options.clone()
            },
            mode: parent.mode,
            ..meta
        };
        Ok(NewSession { meta, rules, ..NewSession::default() })
    }

    /// The folder of this path, relative to the project in which it must lie.
    fn folder_in(&self, path: &Path, project: Option<&Path>) -> Result<PathBuf> {
        let outside = || Kind::OutsideParent { path: path.to_owned() };
        let project = project.ok_or_else(outside)?;
        let own = &self.inner.shared.path_environment;
        let project = Project::open(project, own).map_err(|_| outside())?;
        let resolved = project.root().join(path).canonicalize().map_err(|_| outside())?;
        let relative = resolved.strip_prefix(project.root()).map_err(|_| outside())?;
        if !resolved.is_dir() {
            return Err(outside().into());
        }
        Ok(relative.to_owned())
    }

    /// A session as a row of the list, as it is now.
    pub(super) fn row(&self, record: SessionRecord) -> SessionPlaceholder {
        match self.loaded(&record.fid) {
            Some(session) => session.placeholder(),
            None => record.meta.into(),
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
