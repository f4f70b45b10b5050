//! Reviews what the session's tools did to the project's files, and takes it back.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_journal::{Error as JournalError, FileKind, Journal, Rejection};
use chat_permission::path::Project;
use jiff::Timestamp;

use super::Session;
use crate::error::{Error, Kind, NoReview, Result};
use crate::event::SessionEvent;
use crate::message::{Attachment, Content, Message, MessageId, Part, Role};
use crate::store::SessionPatch;

/// How many bytes of rejected changes the model gets.
const REPORT_LIMIT: usize = 8 * 1024;

/// What the user took back of the model's changes, or wanted after all, as patches in the direction in which the
/// model made them.
pub(super) struct Rejected {
    /// What is gone.
    pub gone: Option<String>,
    /// What had been gone, and is there again.
    pub back: Option<String>,
    /// Until when this is; later rejections go with the next message.
    pub until: Timestamp,
}

impl Rejected {
    /// Nothing, until now.
    pub fn nothing() -> Self {
        Self::of(&[], Timestamp::now())
    }

    fn of(rejections: &[Rejection], until: Timestamp) -> Self {
        let (mut gone, mut back) = (String::new(), String::new());
        for rejection in rejections {
            let text = if rejection.undone { &mut back } else { &mut gone };
            let path = rejection.path.display();
            let path = match &rejection.kind {
                FileKind::Created => format!("{path} (new file)"),
                FileKind::Deleted => format!("{path} (deleted)"),
                FileKind::Moved { from } => format!("{path} (moved from {})", from.display()),
                FileKind::Modified => path.to_string(),
            };
            // Writing to a text cannot fail.
            let _ = if text.len() + rejection.diff.len() > REPORT_LIMIT || rejection.diff.is_empty()
            {
                writeln!(text, "{path}")
            } else {
                writeln!(text, "{path}\n{}", rejection.diff.trim_end())
            };
        }
        let some = |text: String| Some(text).filter(|text| !text.is_empty());
        Self { gone: some(gone), back: some(back), until }
    }
}

/// What a session's tools did to its project's files, as the user reviews it. From [`Session::review`].
pub(crate) struct Review<'a> {
    session: &'a Arc<Session>,
}

impl Session {
    /// A view of what its tools did to files, to review it and take it back.
    pub(crate) fn review(self: &Arc<Self>) -> Review<'_> {
        Review { session: self }
    }

    /// The message that is answered: the last one that the model was sent as the user's, as far as it is known.
    pub(super) fn asked(&self) -> Option<MessageId> {
        self.lock().transcript.asked()
    }

    /// Finds out what the sessions that it works for in this project were [asked](Self::asked) last, where
    /// that is not known.
    pub(super) async fn learn_asked_above(&self) {
        for session in self.ancestors_in_project() {
            if session.asked().is_some() {
                continue;
            }
            match self.services.store.last_asked(&session.fid).await {
                Ok(asked) => session.lock().transcript.note_asked(asked),
                Err(error) => tracing::warn!(%error, "what an agent does is not undone above it"),
            }
        }
    }
}

impl Review<'_> {
    /// Notifies watchers that files were changed for this session, or that there is something else to review.
    pub(crate) fn tell_changed(&self) {
        self.session.lock().tell(SessionEvent::FilesChanged);
    }

    /// The sessions whose changes are reviewed with its own, itself first: those that work for it in its
    /// project, also deleted ones, as long as they can come back.
    async fn scope(&self, project: &Path) -> Result<Vec<String>> {
        let all = self.session.services.store.below_in(&self.session.fid, project).await?;
        Ok(all.iter().map(ToString::to_string).collect())
    }

    /// Reads from the journal of the session's project, for the session and those that work for it there:
    /// the session is the first. None where nothing was ever changed there by a tool.
    ///
    /// # Errors
    /// `NoReview`, `ReviewFailed`, `ProjectMissing`.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Journal, &[String]) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<Option<T>> {
        let services = Arc::clone(&self.session.services);
        let folder = self.session.project();
        let folder = folder.ok_or(Kind::NoReview { why: NoReview::NoProject })?;
        let sessions = self.scope(&folder).await?;
        let work = move || {
            let project = Project::open(&folder, &services.path_environment)
                .map_err(|_| Error::from(Kind::ProjectMissing { path: folder }))?;
            if services.journals.is_refused(&project) {
                return Err(Kind::NoReview { why: NoReview::Home }.into());
            }
            let Some(journal) = services.journals.existing(&project).map_err(failed)? else {
                return Ok(None);
            };
            read(&journal, &sessions).map(Some).map_err(failed)
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| Kind::Internal)?
    }

    /// Changes something with the journal of the session's project, and notifies the watchers of these
    /// sessions. None where nothing was ever changed there by a tool.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    pub(crate) async fn change<T: Send + 'static>(
        &self,
        concerned: Vec<Arc<Session>>,
        change: impl FnOnce(&Journal, &[String]) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<Option<T>> {
        self.read(move |journal, sessions| {
            let changed = change(journal, sessions)?;
            // Told there, since nobody may wait for the answer any more.
            for session in &concerned {
                session.review().tell_changed();
            }
            Ok(changed)
        })
        .await
    }

    /// What the person rejected of the session's changes, and of those of its agents, since their last
    /// message in this branch, which told the model of all before it.
    pub(super) async fn rejected(
        &self,
        project: Option<PathBuf>,
        branch: &[Arc<Message>],
    ) -> Rejected {
        // A request to go on says nothing of the person's.
        let says = |one: &&Arc<Message>| {
            one.role == Role::User && one.parts.iter().any(|part| matches!(part, Part::Text(_)))
        };
        let last = branch.iter().rfind(says).map_or(0, |one| one.time.as_millisecond());
        let Some(folder) = project else { return Rejected::nothing() };
        let services = Arc::clone(&self.session.services);
        let own = || vec![self.session.fid.to_string()];
        let sessions = self.scope(&folder).await.unwrap_or_else(|_| own());
        let said: HashSet<String> = branch.iter().map(|one| one.id.to_string()).collect();
        let reading = tokio::task::spawn_blocking(move || {
            let project = Project::open(&folder, &services.path_environment).ok()?;
            // Where nothing was ever changed nothing was rejected.
            let journal = services.journals.existing(&project).ok()??;
            let since = u64::try_from(last).unwrap_or(0);
            journal.rejections(&sessions, since, |message| said.contains(message)).ok()
        });
        let Some((rejections, until)) = reading.await.ok().flatten() else {
            return Rejected::nothing();
        };
        let until = i64::try_from(until).ok().and_then(|at| Timestamp::from_millisecond(at).ok());
        Rejected::of(&rejections, until.unwrap_or_else(Timestamp::now))
    }

    /// Brings the conversation back to before a message of the person, and gives what it said. What
    /// was said since stays in the store, on a branch of its own.
    ///
    /// # Errors
    /// `SessionAtWork`, `SessionInUse`, `NothingToSend` where it is no message of the person, and the store's.
    pub(crate) async fn rewind(&self, message: MessageId) -> Result<Content> {
        let _turn = self.session.admission.lock().await;
        let _gate = self.session.gate.lock().await;
        if self.session.is_busy() {
            return Err(Kind::SessionAtWork.into());
        }
        let branch = self.session.load().await?;
        let asked = branch.iter().find(|one| one.id == message && one.role == Role::User);
        let asked = asked.cloned().ok_or(Kind::NothingToSend)?;
        self.session.services.store.claim(&self.session.fid).await?;
        let patch = SessionPatch { head: Some(asked.parent), ..SessionPatch::default() };
        let patched = self.session.patch_claimed(patch).await;
        self.session.release().await;
        patched?;
        {
            let mut state = self.session.lock();
            (state.trouble, state.ended) = (None, state.record.ended);
            state.transcript.set_head(asked.parent);
            state.tell_reset();
        }
        self.session.tell_changed();
        let text = asked.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.as_str()),
            _ => None,
        });
        let commands = asked.parts.iter().filter_map(|part| match part {
            Part::Command(command) => Some(Attachment::Command(command.clone())),
            _ => None,
        });
        let attachments = commands.collect();
        Ok(Content { attachments, ..Content::text(text.collect::<String>()) })
    }
}

/// Why the journal did not do it.
fn failed(error: JournalError) -> Error {
    match error {
        JournalError::Refused(_) => Kind::NoReview { why: NoReview::Home }.into(),
        JournalError::NoGit => Kind::NoReview { why: NoReview::NoGit }.into(),
        JournalError::NoAnswer(_) => Kind::NothingChanged.into(),
        error => Error::new(Kind::ReviewFailed).with_detail(error.to_string()),
    }
}
