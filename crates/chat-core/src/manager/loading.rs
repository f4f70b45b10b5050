//! Loads sessions, and keeps those that are open or at work.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

use super::{Fid, Kind, Manager, Result, Session, Sessions};

impl Sessions {
    /// Removes what the commands of a killed program left in a project, in which a chat may be begun
    /// now. Once in each, and in the background; a project whose stored chats are opened is cleared
    /// without it. What a running command needs stays.
    pub fn clear_left_overs(&self, project: &Path) {
        self.0.clear_projects(std::iter::once(project.to_owned()));
    }
}

impl Manager {
    /// A session, loaded where it is not, with those that it works for.
    pub(super) async fn session(&self, fid: &Fid) -> Result<Arc<Session>> {
        if let Some(session) = self.loaded(fid) {
            return Ok(session);
        }
        let store = &self.inner.shared.store;
        let mut records = vec![store.session(fid).await?];
        let mut parent = None;
        while let Some(above) = records.last().and_then(|record| record.parent.clone()) {
            parent = self.loaded(&above);
            // A damaged file may name a session as one of its own.
            if parent.is_some() || records.iter().any(|record| record.fid == above) {
                break;
            }
            match store.session(&above).await {
                Ok(record) => records.push(record),
                // It was deleted, and this one was not.
                Err(error) if matches!(error.kind, Kind::SessionNotFound { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        let mut waiting = Vec::with_capacity(records.len());
        for record in &records {
            waiting.push(store.waiting(&record.fid).await?);
        }
        let mut sessions = self.sessions_lock();
        // Those that nobody needs are found again in the store. One that is in other hands may be
        // about to begin something.
        sessions.retain(|_, session| Arc::strong_count(session) > 1 || !session.is_at_rest());
        let mut session = parent;
        for (record, waiting) in records.into_iter().zip(waiting).rev() {
            let fid = record.fid.clone();
            let shared = &self.inner.shared;
            let above = session.take();
            let known = sessions.entry(fid);
            session = Some(Arc::clone(
                known.or_insert_with(|| Session::new(Arc::clone(shared), above, record, waiting)),
            ));
        }
        drop(sessions);
        let session = session.ok_or_else(|| Kind::SessionNotFound { fid: fid.to_string() })?;
        self.clear_left_overs(&session);
        Ok(session)
    }

    /// Removes what the commands of a killed program left in the projects of a session's tree. Once in
    /// each, and in the background. The tree is always read: other chats work in the same project, with
    /// agents in other ones.
    fn clear_left_overs(&self, session: &Session) {
        if self.inner.services.left_overs.is_none() {
            return;
        }
        let (this, fid, own) = (self.clone(), session.fid().clone(), session.project());
        self.inner.shared.spawn(async move {
            let shared = &this.inner.shared;
            let tree = shared.store.agent_tree(&fid).await.unwrap_or_default();
            let others = tree.into_iter().filter_map(|member| member.meta.project);
            this.clear_projects(own.into_iter().chain(others));
        });
    }

    /// The same in these projects.
    fn clear_projects(&self, projects: impl Iterator<Item = PathBuf>) {
        let Some(left_overs) = self.inner.services.left_overs.clone() else { return };
        let projects: Vec<_> = projects.filter(|project| self.is_new_project(project)).collect();
        if projects.is_empty() {
            return;
        }
        let shared = &self.inner.shared;
        let clear = move || projects.iter().for_each(|project| left_overs.clear(project));
        shared.tasks.spawn_blocking_on(clear, &shared.runtime);
    }

    /// Whether nobody asked this for the project before.
    fn is_new_project(&self, project: &Path) -> bool {
        let mut cleared = self.inner.cleared.lock().unwrap_or_else(PoisonError::into_inner);
        cleared.insert(project.to_owned())
    }

    pub(super) fn loaded(&self, fid: &Fid) -> Option<Arc<Session>> {
        self.sessions_lock().get(fid).cloned()
    }

    pub(super) fn register(&self, session: &Arc<Session>) {
        self.sessions_lock().insert(session.fid().clone(), Arc::clone(session));
        self.clear_left_overs(session);
    }

    pub(super) fn sessions_lock(&self) -> MutexGuard<'_, HashMap<Fid, Arc<Session>>> {
        self.inner.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
