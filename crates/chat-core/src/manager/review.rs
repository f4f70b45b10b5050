//! Reviews the changes that tools made in a session's project, and undoes them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_journal::{
    Error as JournalError, FileChange, Journal, Restored, ReviewOutcome, ReviewScope, Seq,
};
use chat_permission::ResolvedPath;
use chat_permission::path::Project;

use super::{Fid, Kind, Manager, Result};
use crate::message::{Content, MessageId, Role};
use crate::session::Session;

/// The review of what tools changed in a session's project, and the way back. From [`Manager::review`].
#[derive(Clone, Debug)]
pub struct ChangeReview(pub(super) Manager);

impl ChangeReview {
    /// What a session, and those that work for it in its project, changed that nobody reviewed yet, by paths.
    ///
    /// # Errors
    /// `SessionNotFound`, `NoReview`, `ReviewFailed`, `ProjectMissing`.
    pub async fn changes(&self, fid: &Fid) -> Result<Vec<FileChange>> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                let review = session.review();
                Ok(review.read(Journal::changes).await?.unwrap_or_default())
            })
            .await
    }

    /// Accepts a file's changes or some of its hunks, or everything where no file is named: they
    /// need no review any more. No file is written.
    ///
    /// # Errors
    /// As for [`changes`](Self::changes).
    pub async fn accept(
        &self,
        fid: &Fid,
        what: Option<(PathBuf, ReviewScope)>,
    ) -> Result<ReviewOutcome> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                let act = move |journal: &Journal, sessions: &[String]| match &what {
                    Some((path, part)) => journal.accept(sessions, path, part),
                    None => journal.accept_all(sessions),
                };
                Ok(this.change_files(&session, act).await?.unwrap_or_default())
            })
            .await
    }

    /// Rejects a file's changes or some of its hunks, or everything where no file is named: just
    /// these are undone on disk. A file in which that cannot be done is left alone, and the answer
    /// names it. The model reads of it with the user's next message.
    ///
    /// # Errors
    /// As for [`changes`](Self::changes).
    pub async fn reject(
        &self,
        fid: &Fid,
        what: Option<(PathBuf, ReviewScope)>,
    ) -> Result<ReviewOutcome> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                let act = move |journal: &Journal, sessions: &[String]| match &what {
                    Some((path, part)) => journal.reject(sessions, path, part),
                    None => journal.reject_all(sessions),
                };
                Ok(this.change_files(&session, act).await?.unwrap_or_default())
            })
            .await
    }

    /// Takes an [`accept`](Self::accept) or a [`reject`](Self::reject) back, by the number in its answer
    /// ([`ReviewOutcome::undo`]): what was rejected lies on disk again, what was accepted is to be reviewed
    /// again. Where that cannot be, since it was changed too much, the file is left alone and named.
    ///
    /// # Errors
    /// `NothingChanged` where there is no such answer any more, and as for [`changes`](Self::changes).
    pub async fn undo_answer(&self, fid: &Fid, answer: Seq) -> Result<ReviewOutcome> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                let act =
                    move |journal: &Journal, sessions: &[String]| journal.undo(sessions, answer);
                let undone = this.change_files(&session, act).await?;
                undone.ok_or_else(|| Kind::NothingChanged.into())
            })
            .await
    }

    /// Does what the person does to a file of a project in the front end itself, as its editor saves
    /// one: `act` writes. No command of a model's that runs meanwhile is taken for its doer, so that it
    /// is never offered to be rejected. Blocks for as long as `act` does, and for single files that
    /// tools are writing: to be called where that is allowed. `path` is counted from the project on.
    pub fn saved_by_person<T>(&self, project: &Path, path: &Path, act: impl FnOnce() -> T) -> T {
        let shared = &self.0.inner.shared;
        let Ok(project) = Project::open(project, &shared.path_environment) else { return act() };
        // Where it leads: the journal knows no other name.
        let resolved = project.resolve_path(path);
        match resolved.as_ref().ok().and_then(ResolvedPath::relative) {
            Some(path) => shared.journals.by_person(&project, path, act),
            None => act(),
        }
    }

    /// The same where the person decided that their text replaces what became of a file since they read it, which
    /// was `seen`: what sessions changed in it since is reported to their models as rejected, and needs no review.
    pub fn overwritten_by_person<T>(
        &self,
        project: &Path,
        path: &Path,
        seen: &[u8],
        act: impl FnOnce() -> T,
    ) -> T {
        let shared = &self.0.inner.shared;
        let Ok(opened) = Project::open(project, &shared.path_environment) else { return act() };
        let resolved = opened.resolve_path(path);
        let Some(path) = resolved.as_ref().ok().and_then(ResolvedPath::relative) else {
            return act();
        };
        let done = shared.journals.overwritten_by_person(&opened, path, seen, act);
        let sessions: Vec<_> = self.0.sessions_lock().values().cloned().collect();
        for session in sessions.iter().filter(|one| one.project().as_deref() == Some(project)) {
            session.review().tell_changed();
        }
        done
    }

    /// Takes back what a session, and those that work for it in its project, did to files since it got this
    /// message. What people and other sessions changed since stays; where it cannot, the file is left
    /// alone and named.
    ///
    /// # Errors
    /// `NothingChanged` where no file was changed since, `SessionAtWork` while the session works, `AgentAtWork`
    /// while one of the others does, and as for [`changes`](Self::changes).
    pub async fn restore_files(&self, fid: &Fid, message: MessageId) -> Result<Restored> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                let restoring = async {
                    let branch = session.load().await?;
                    // A request that changed nothing has no checkpoint: the next one's is the same.
                    let since = branch.iter().skip_while(|one| one.id != message);
                    let asked = since.filter(|one| one.role == Role::User);
                    let asked: Vec<_> = asked.map(|one| one.id.to_string()).collect();
                    let own = fid.to_string();
                    let act = move |journal: &Journal, sessions: &[String]| {
                        let made = journal.checkpoints(&own)?;
                        let made = made.iter().find(|made| asked.contains(&made.message));
                        made.map(|made| journal.restore(sessions, made.seq)).transpose()
                    };
                    let restored = this.change_files(&session, act).await?.flatten();
                    restored.ok_or_else(|| Kind::NothingChanged.into())
                };
                this.while_resting(&session, restoring).await
            })
            .await
    }

    /// Takes a [`restore_files`](Self::restore_files) back.
    ///
    /// # Errors
    /// `SessionAtWork` while the session works, `AgentAtWork` while one that works for it in its project does,
    /// and as for [`changes`](Self::changes).
    pub async fn undo_restore(&self, fid: &Fid, restored: Seq) -> Result<Restored> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                let own = fid.to_string();
                let act =
                    move |journal: &Journal, _: &[String]| journal.undo_restore(&own, restored);
                let undoing = this.change_files(&session, act);
                let restored = this.while_resting(&session, undoing).await?;
                restored.ok_or_else(|| Kind::NothingChanged.into())
            })
            .await
    }

    /// Brings the conversation back to before a message of the person, and gives what it said, for
    /// the composer. Later messages are not lost: they stay on another branch.
    ///
    /// # Errors
    /// `SessionNotFound`, `SessionAtWork`, `SessionInUse`, `NothingToSend` where it is no message of the
    /// person in the shown branch, and the store's.
    pub async fn rewind(&self, fid: &Fid, message: MessageId) -> Result<Content> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.session(&fid).await?.review().rewind(message).await }).await
    }
}

impl Manager {
    /// The sessions of a session's tree that work in its project, as far as they are loaded.
    fn members_in_project(&self, session: &Arc<Session>) -> Vec<Arc<Session>> {
        let project = session.project();
        let is_one = |one: &&Arc<Session>| {
            Arc::ptr_eq(one.tree(), session.tree()) && one.project() == project
        };
        // One that waits for its own lock must not hold this one.
        let all: Vec<_> = self.sessions_lock().values().cloned().collect();
        all.iter().filter(is_one).cloned().collect()
    }

    /// Changes something with the journal of a session's project. All of its tree that work there hear of it,
    /// since their reviews overlap.
    async fn change_files<T: Send + 'static>(
        &self,
        session: &Arc<Session>,
        change: impl FnOnce(&Journal, &[String]) -> std::result::Result<T, JournalError>
        + Send
        + 'static,
    ) -> Result<Option<T>> {
        session.review().change(self.members_in_project(session), change).await
    }

    /// Runs something while a session, and all that work for it, are at rest. What would begin in them waits until
    /// it is done.
    ///
    /// # Errors
    /// `SessionAtWork`, or `AgentAtWork` where one that works for the session in its project is at work: nothing is
    /// run then. The store's, and those of what is run.
    async fn while_resting<T>(
        &self,
        session: &Arc<Session>,
        act: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let mut members = self.session_and_agents(session).await?;
        loop {
            // In the order of a deletion, which holds them all as well, so that neither blocks the other.
            let mut gates = Vec::with_capacity(members.len());
            for member in &members {
                gates.push(member.gate().await);
            }
            must_rest(session, &members)?;
            // An agent is created behind the gate of its parent: from here on there are no new ones.
            let now = self.session_and_agents(session).await?;
            let is_known = |one: &Arc<Session>| members.iter().any(|it| Arc::ptr_eq(it, one));
            if now.iter().all(is_known) {
                return act.await;
            }
            drop(gates);
            members = now;
        }
    }

    /// A session and all that work for it, loaded where they are not, each after the one it works for.
    async fn session_and_agents(&self, session: &Arc<Session>) -> Result<Vec<Arc<Session>>> {
        let mut found = vec![Arc::clone(session)];
        for fid in self.inner.shared.store.below(session.fid()).await?.iter().skip(1) {
            match self.session(fid).await {
                Ok(agent) => found.push(agent),
                // It was deleted.
                Err(error) if matches!(error.kind, Kind::SessionNotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

/// # Errors
/// `SessionAtWork`, or `AgentAtWork` where one of the others that work in the session's project is at work.
fn must_rest(session: &Arc<Session>, members: &[Arc<Session>]) -> Result<()> {
    if session.is_busy_or_begins_next() {
        return Err(Kind::SessionAtWork.into());
    }
    let project = session.project();
    let is_at_work = |one: &&Arc<Session>| one.project() == project && one.is_busy_or_begins_next();
    match members.iter().find(is_at_work) {
        Some(agent) => {
            let name = agent.record().meta.name.clone().unwrap_or_default();
            Err(Kind::AgentAtWork { name }.into())
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use chat_journal::Origin;
    use futures_util::FutureExt as _;

    use super::*;
    use crate::agent::AgentRegistry;
    use crate::manager::{NewAgent, StartOptions};
    use crate::message::{Message, SessionMeta};
    use crate::settings::Folders;
    use crate::store::NewSession;

    /// How long the test waits before it fails.
    const PATIENCE: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn nothing_begins_in_a_chat_and_its_agents_while_files_are_restored() {
        let (folder, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let options = StartOptions {
            agents: AgentRegistry::built_in(),
            ..StartOptions::new(Folders::below(folder.path()))
        };
        let manager = Manager::start(options).await.unwrap();
        let shared = &manager.inner.shared;
        let root = project.path().canonicalize().unwrap();
        let (agent, project) = ("just-ask".to_owned(), Some(root.clone()));
        let meta = SessionMeta { agent, project, ..SessionMeta::default() };
        let new = NewSession { meta, ..NewSession::default() };
        let asked = Arc::new(Message::text(Role::User, None, "Do it"));
        let message = asked.id;
        let fid = shared.store.create(new, vec![asked]).await.unwrap().meta.fid;
        shared.store.release(&fid).await.unwrap();
        let new = NewAgent { parent: Some(fid.clone()), ..NewAgent::default() };
        let agent = manager.agents().create(new).await.unwrap().meta.fid;
        let opened = Project::open(&root, &shared.path_environment).unwrap();
        let journal = shared.journals.of(&opened).unwrap();
        journal.checkpoint(fid.as_str(), &message.to_string()).unwrap();
        let origin = Origin { session: fid.to_string(), ..Origin::default() };
        let write = || std::fs::write(root.join("a"), "a");
        journal.by_tool(&origin, None, "a".as_ref(), write).unwrap().0.unwrap();

        // The journal waits for the editor, which saves a file.
        let (begins, begun) = mpsc::channel();
        let (ends, ended) = mpsc::channel();
        let saving = std::thread::spawn({
            let (review, root) = (manager.review(), root.clone());
            move || {
                review.saved_by_person(&root, Path::new("b"), || {
                    begins.send(()).unwrap();
                    ended.recv().unwrap();
                });
            }
        });
        begun.recv().unwrap();
        let review = manager.review();
        let of = fid.clone();
        let restoring = tokio::spawn(async move { review.restore_files(&of, message).await });
        for fid in [&fid, &agent] {
            let session = manager.session(fid).await.unwrap();
            let is_held = async {
                while let Some(gate) = session.gate().now_or_never() {
                    drop(gate);
                    tokio::task::yield_now().await;
                }
            };
            tokio::time::timeout(PATIENCE, is_held).await.unwrap();
        }
        ends.send(()).unwrap();
        restoring.await.unwrap().unwrap();
        saving.join().unwrap();
        assert!(!root.join("a").exists());
        let session = manager.session(&agent).await.unwrap();
        assert!(session.gate().now_or_never().is_some());
    }
}
