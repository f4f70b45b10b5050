//! Reviews the changes that tools made in a session's project, and undoes them.

use std::path::{Path, PathBuf};

use chat_journal::{FileChange, Journal, Restored, ReviewOutcome, ReviewScope, Seq};
use chat_permission::ResolvedPath;
use chat_permission::path::Project;

use super::{Fid, Kind, Manager, Result};
use crate::message::{Content, MessageId, Role};

/// The review of what tools changed in a session's project, and the way back. From [`Manager::review`].
#[derive(Clone, Debug)]
pub struct ChangeReview(pub(super) Manager);

impl ChangeReview {
    /// What a session changed that nobody reviewed yet, by paths.
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
                let act = move |journal: &Journal, session: &str| match &what {
                    Some((path, part)) => journal.accept(session, path, part),
                    None => journal.accept_all(session),
                };
                Ok(session.review().change(act).await?.unwrap_or_default())
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
                let act = move |journal: &Journal, session: &str| match &what {
                    Some((path, part)) => journal.reject(session, path, part),
                    None => journal.reject_all(session),
                };
                Ok(session.review().change(act).await?.unwrap_or_default())
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
                let act = move |journal: &Journal, session: &str| journal.undo(session, answer);
                let undone = session.review().change(act).await?;
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

    /// Brings the project's files back to how they were when the person sent this message. What
    /// people changed themselves since stays; where it cannot, the file is left alone and named.
    ///
    /// # Errors
    /// `NothingChanged` where no file was changed since, `SessionAtWork` while the session works, and as for
    /// [`changes`](Self::changes).
    pub async fn restore_files(&self, fid: &Fid, message: MessageId) -> Result<Restored> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                if session.is_busy() {
                    return Err(Kind::SessionAtWork.into());
                }
                let branch = session.branch().await?;
                // One may have begun while the branch was waited for.
                if session.is_busy() {
                    return Err(Kind::SessionAtWork.into());
                }
                // A request that changed nothing has no checkpoint: the next one's is the same.
                let since = branch.iter().skip_while(|one| one.id != message);
                let asked = since.filter(|one| one.role == Role::User);
                let asked: Vec<_> = asked.map(|one| one.id.to_string()).collect();
                let act = move |journal: &Journal, session: &str| {
                    let made = journal.checkpoints(session)?;
                    let made = made.iter().find(|made| asked.contains(&made.message));
                    made.map(|made| journal.restore(session, made.seq)).transpose()
                };
                let restored = session.review().change(act).await?.flatten();
                restored.ok_or_else(|| Kind::NothingChanged.into())
            })
            .await
    }

    /// Takes a [`restore_files`](Self::restore_files) back.
    ///
    /// # Errors
    /// `SessionAtWork` while the session works, and as for [`changes`](Self::changes).
    pub async fn undo_restore(&self, fid: &Fid, restored: Seq) -> Result<Restored> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let session = this.session(&fid).await?;
                if session.is_busy() {
                    return Err(Kind::SessionAtWork.into());
                }
                let act =
                    move |journal: &Journal, session: &str| journal.undo_restore(session, restored);
                let restored = session.review().change(act).await?;
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
