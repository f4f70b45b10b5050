//! Finds, lists, opens and changes sessions.

use std::path::Path;
use std::sync::Arc;

use super::{
    EmptySession, Fid, Manager, Message, MessageId, Page, Result, SessionChange,
    SessionPlaceholder, Snapshot, Subscription,
};
use crate::agent::{CODE_ASSISTANT, DEFAULT};
use crate::message::SessionMeta;
use crate::session::Clients as _;
use crate::store::{SearchFilter, SearchResults, SessionPatch, SessionRecord};

/// The sessions: listed, searched, opened, changed, and their requests. From [`Manager::sessions`].
#[derive(Clone, Debug)]
pub struct Sessions(pub(super) Manager);

impl Sessions {
    /// All sessions, newest first.
    pub async fn list(&self) -> Result<Vec<SessionPlaceholder>> {
        let this = self.0.clone();
        self.0
            .run(async move {
                let records = this.inner.shared.store.sessions().await?;
                this.remember_first(&records);
                this.remember_last_used(&records).await;
                let rows = records.into_iter().map(|record| match this.loaded(&record.fid) {
                    Some(session) => session.placeholder(),
                    None => record.meta.into(),
                });
                Ok(rows.collect())
            })
            .await
    }

    /// Sessions that hold the text, best first. Dropping the future breaks the search off.
    pub async fn search(&self, text: &str, limit: usize) -> Result<SearchResults> {
        // Bound to no runtime, and so to nobody but the caller.
        self.0.inner.shared.store.search(text, limit).await
    }

    /// The same among the sessions that pass a filter. Without a text these are all of them, newest first.
    pub async fn search_filtered(
        &self,
        text: &str,
        filter: SearchFilter,
        limit: usize,
    ) -> Result<SearchResults> {
        self.0.inner.shared.store.search_filtered(text, filter, limit).await
    }

    /// Opens a session: the last `limit` messages, and from then on, without a gap, its events in
    /// the subscription. A subscription may watch several sessions.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn open(
        &self,
        fid: &Fid,
        limit: usize,
        subscription: &Subscription,
    ) -> Result<Snapshot> {
        let (this, fid) = (self.0.clone(), fid.clone());
        let mailbox = Arc::clone(subscription.mailbox());
        self.0.run(async move { this.session(&fid).await?.open(limit, &mailbox).await }).await
    }

    /// Ends the watching of a session.
    pub fn close(&self, fid: &Fid, subscription: &Subscription) {
        if let Some(session) = self.0.loaded(fid) {
            session.close(subscription.mailbox());
        }
    }

    /// The `limit` messages of the shown branch before this one.
    pub async fn earlier(&self, fid: &Fid, before: MessageId, limit: usize) -> Result<Page> {
        let (store, fid) = (self.0.inner.shared.store.clone(), fid.clone());
        self.0.run(async move { store.page(&fid, Some(before), limit).await }).await
    }

    /// The whole shown branch, oldest first, a reply being written as far as it has come.
    pub async fn transcript(&self, fid: &Fid) -> Result<Vec<Arc<Message>>> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.transcript().await }).await
    }

    /// Gives a session a title of the person's choice. An empty one changes nothing.
    pub async fn rename(&self, fid: &Fid, title: &str) -> Result<()> {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() {
            return Ok(());
        }
        self.patch(fid, SessionPatch { title: Some((title, true)), ..SessionPatch::default() })
            .await
    }

    /// Changes a session's agent, model, thinking or options; the next request uses them.
    pub async fn change(&self, fid: &Fid, change: SessionChange) -> Result<()> {
        self.patch(fid, SessionPatch { change, ..SessionPatch::default() }).await?;
        // Also in those that work for it.
        self.0.rejudge();
        Ok(())
    }

    /// The person has looked at the session.
    pub async fn mark_read(&self, fid: &Fid) -> Result<()> {
        self.patch(fid, SessionPatch { unread: Some(false), ..SessionPatch::default() }).await
    }

    /// Stops the request at work and all that belongs to it. What had arrived stays.
    pub fn stop(&self, fid: &Fid) {
        if let Some(session) = self.0.loaded(fid) {
            session.stop();
        }
    }

    /// Stops the request at work, as [`stop`](Self::stop) does, and waits until it has ended.
    pub async fn stop_and_wait(&self, fid: &Fid) {
        if let Some(session) = self.0.loaded(fid) {
            session.stop_and_wait().await;
        }
    }

    /// Waits until all that was said in a session is on disk. A program that ends behind a reply does.
    ///
    /// # Errors
    /// Why it is not, where the store refuses it for seconds.
    pub async fn stored(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                match this.loaded(&fid) {
                    Some(session) => session.stored().await,
                    None => Ok(()),
                }
            })
            .await
    }

    /// The sessions that have a request at work.
    pub fn busy(&self) -> Vec<Fid> {
        let sessions = self.0.sessions_lock();
        sessions
            .iter()
            .filter(|(_, session)| session.is_busy_or_begins_next())
            .map(|(fid, _)| fid.clone())
            .collect()
    }

    /// What a new chat begins with.
    pub fn empty(&self) -> EmptySession {
        let settings = self.0.settings().current();
        let model = self.0.inner.connections.default_model_now();
        let usage = model.as_ref().map(|model| self.0.inner.connections.usage(model));
        let usage = usage.unwrap_or_default();
        EmptySession {
            temporary: false,
            agent: settings.chat.agent.clone(),
            model,
            thinking: usage.thinking,
            options: usage.options,
            instructions: None,
            project: None,
            mode: settings.permissions.mode,
        }
    }

    /// The agent that a new chat in a project begins with: the one that worked there last, else the code assistant,
    /// unless another agent is set for all new chats.
    pub async fn agent_for(&self, project: &Path) -> String {
        let (this, project) = (self.0.clone(), project.to_owned());
        let folder = project.clone();
        let last = self
            .0
            .run(async move {
                this.inner.definitions.load(Some(project.clone())).await;
                let records = this.inner.shared.store.sessions().await?;
                let there = records
                    .into_iter()
                    .filter(|it| it.parent.is_none() && it.project.as_deref() == Some(&project));
                Ok(there.max_by_key(|record| record.updated).map(|record| record.meta.agent))
            })
            .await;
        let is_there = |agent: &str| self.0.inner.shared.agent(agent, Some(&folder)).is_ok();
        if let Ok(Some(agent)) = last
            && is_there(&agent)
        {
            return agent;
        }
        let set = self.0.settings().current().chat.agent.clone();
        if set == DEFAULT && is_there(CODE_ASSISTANT) { CODE_ASSISTANT.to_owned() } else { set }
    }

    pub(super) async fn patch(&self, fid: &Fid, patch: SessionPatch) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.patch(patch).await }).await
    }
}

impl Manager {
    /// The model of the newest chat is the one to begin with, unless it failed there: a name typed
    /// wrong must not fail all chats to come. A model that an agent's file names is no choice of the user's.
    pub(super) async fn remember_last_used(&self, records: &[SessionRecord]) {
        // An agent has the model that its parent chose for it.
        let chats = || records.iter().filter(|record| record.parent.is_none());
        let well = chats().filter(|record| record.trouble.is_none());
        let mut newest = None;
        for record in well.chain(chats()).filter(|record| record.model.is_some()) {
            if !self.has_model_of_agent(record).await {
                newest.clone_from(&record.model);
                break;
            }
        }
        self.inner.connections.set_last_used(newest);
    }

    /// A message was sent with the model of this chat: the next new chat begins with it, where the user
    /// chose it.
    pub(super) async fn remember_model(&self, chat: &SessionMeta, is_chosen: bool) {
        if is_chosen || !self.has_model_of_agent(chat).await {
            self.inner.connections.set_last_used(chat.model.clone());
        }
    }

    /// Whether the model of a chat is the one that its agent's file names.
    pub(super) async fn has_model_of_agent(&self, chat: &SessionMeta) -> bool {
        let Some(model) = &chat.model else { return false };
        let (services, project) = (&self.inner.shared, chat.project.as_deref());
        if services.agent(&chat.agent, project).is_err() {
            services.definitions.load(project).await;
        }
        let agent = services.agent(&chat.agent, project);
        let named = |name: &str| services.model_named(name, Some(model)) == *model;
        agent.is_ok_and(|agent| agent.model().is_some_and(named))
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

    use super::*;
    use crate::manager::StartOptions;
    use crate::message::SessionMeta;
    use crate::settings::Folders;
    use crate::store::NewSession;

    fn titled(title: &str) -> SessionPatch {
        SessionPatch { title: Some((title.to_owned(), true)), ..SessionPatch::default() }
    }

    async fn start(folder: &std::path::Path) -> Manager {
        let options = StartOptions {
            agents: crate::agent::AgentRegistry::built_in(),
            ..StartOptions::new(Folders::below(folder))
        };
        Manager::start(options).await.unwrap()
    }

    fn new(project: Option<std::path::PathBuf>) -> NewSession {
        let (title, agent) = ("New".to_owned(), "just-ask".to_owned());
        let meta = SessionMeta { title, agent, project, ..SessionMeta::default() };
        NewSession { meta, ..NewSession::default() }
    }

    /// A session that changed a file of its project, and the project's journal.
    async fn changed(manager: &Manager, new: NewSession) -> (Fid, chat_journal::Journal) {
        let shared = &manager.inner.shared;
        let root = new.meta.project.clone().unwrap();
        let fid = shared.store.create(new, Vec::new()).await.unwrap().meta.fid;
        let opened = chat_permission::path::Project::open(&root, &shared.path_environment).unwrap();
        let journal = shared.journals.of(&opened).unwrap();
        let origin =
            chat_journal::Origin { session: fid.to_string(), ..chat_journal::Origin::default() };
        let write = || std::fs::write(root.join(fid.as_str()), "a");
        journal.by_tool(&origin, None, fid.as_str().as_ref(), write).unwrap().0.unwrap();
        shared.store.release(&fid).await.unwrap();
        (fid, journal)
    }

    #[tokio::test]
    async fn what_temporary_sessions_changed_is_recorded_until_the_end() {
        let (folder, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let manager = start(folder.path()).await;
        let new = |temporary| NewSession { temporary, ..new(Some(project.path().to_owned())) };
        let (kept, _) = changed(&manager, new(false)).await;
        let (deleted, _) = changed(&manager, new(true)).await;
        let (open, journal) = changed(&manager, new(true)).await;
        manager.sessions().delete(&deleted).await.unwrap();
        let known =
            |fids: [&Fid; 3]| fids.map(|fid| journal.changes(&[fid.as_str()]).unwrap().len());
        assert_eq!(known([&kept, &deleted, &open]), [1, 1, 1]);
        manager.shutdown().await;
        assert_eq!(known([&kept, &deleted, &open]), [1, 0, 0]);
        let mut folders = vec![folder.path().join("state")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().flatten() {
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                } else if entry.file_name() == "log" {
                    let log = std::fs::read_to_string(entry.path()).unwrap();
                    assert!(log.contains(kept.as_str()) && !log.contains("temporary"), "{log}");
                }
            }
        }
    }

    #[tokio::test]
    async fn what_a_session_changed_is_forgotten_when_it_is_gone_for_good() {
        let (folder, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let manager = start(folder.path()).await;
        let shared = &manager.inner.shared;
        let (fid, journal) = changed(&manager, new(Some(project.path().to_owned()))).await;
        let day = std::time::Duration::from_hours(24);
        for (deleted, age, open) in [(false, None, 1), (true, Some(day), 1), (true, None, 0)] {
            if deleted {
                manager.sessions().delete(&fid).await.unwrap();
            }
            shared.purge(age.unwrap_or_default()).await.unwrap();
            assert_eq!(journal.changes(&[fid.as_str()]).unwrap().len(), open);
            if open == 1 && deleted {
                manager.sessions().restore(&fid).await.unwrap();
            }
        }
        assert!(manager.sessions().restore(&fid).await.is_err());
    }

    #[tokio::test]
    async fn of_two_changes_the_one_stored_last_is_the_one_that_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let manager = start(folder.path()).await;
        let store = &manager.inner.shared.store;
        let fid = store.create(new(None), Vec::new()).await.unwrap().meta.fid;
        let session = manager.session(&fid).await.unwrap();
        let gate = session.gate().await;
        let mut first = pin!(session.patch(titled("first")));
        let mut second = pin!(session.patch(titled("second")));
        poll_fn(|context| {
            assert!(first.as_mut().poll(context).is_pending());
            assert!(second.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        // Without the gate, both would be stored once this is, and the one polled last would be known.
        store.patch(&fid, SessionPatch::default()).await.unwrap();
        drop(gate);
        let (second, first) = tokio::join!(biased; second, first);
        first.and(second).unwrap();
        let stored = store.session(&fid).await.unwrap().meta.title;
        assert_eq!((stored.as_str(), session.placeholder().meta.title), ("second", stored.clone()));
    }
}
