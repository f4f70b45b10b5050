//! Lists the pending approvals of all sessions and takes the user's answers.

use std::path::Path;

use chat_permission::{Effect, Entry, Rule, Scope};

use super::{Fid, Kind, Manager, Result};
use crate::event::SessionApproval;
use crate::message::{Answer, ApprovalId};
use crate::session::Session;
use crate::settings::Remembered;

/// The approval requests that wait for the user, and the rules of single sessions. From [`Manager::permissions`].
#[derive(Clone, Debug)]
pub struct Permissions(pub(super) Manager);

impl Permissions {
    /// What waits for the user's answer in any session, also where nobody watches it.
    pub fn pending(&self) -> Vec<SessionApproval> {
        self.0.inner.shared.asks.all()
    }

    /// Answers what waits. An answer for longer is stored first: exactly the rules that the ask
    /// names. Says whether it still waited.
    ///
    /// # Errors
    /// `RuleMismatch` if a rule does not cover the question, `FormMismatch` if what was filled in does not fit
    /// the form, the store's errors, or those of
    /// [`SettingsStore::change`](super::SettingsStore::change): then the question stays.
    pub async fn answer(&self, fid: &Fid, id: ApprovalId, answer: Answer) -> Result<bool> {
        let (this, fid) = (self.clone(), fid.clone());
        self.0
            .run(async move {
                let Some(session) = this.0.loaded(&fid) else { return Ok(false) };
                let approvals = session.approvals();
                // Whoever sees the question keeps it as it is.
                if approvals.is_covered_by(id, &answer) == Some(false) {
                    return Err(Kind::RuleMismatch.into());
                }
                if approvals.fits(id, &answer) == Some(false) {
                    return Err(Kind::FormMismatch.into());
                }
                let Some(pending) = approvals.take(id) else { return Ok(false) };
                if let Some((scope, effect, rules)) = pending.rules(&answer)
                    && let Err(error) =
                        this.remember_answer(&session, pending.root(), scope, effect, rules).await
                {
                    approvals.put_back(pending);
                    return Err(error);
                }
                let waited = pending.resolve(answer);
                // Other requests that the new rules decide.
                this.0.rejudge();
                Ok(waited)
            })
            .await
    }

    /// The rules that hold for one session alone.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn session_rules(&self, fid: &Fid) -> Result<Vec<Entry>> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { Ok(this.session(&fid).await?.approvals().rules()) }).await
    }

    /// Takes a rule of one session back. Says whether it was there.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn forget_rule(&self, fid: &Fid, rule: &Rule) -> Result<bool> {
        let (this, fid, rule) = (self.0.clone(), fid.clone(), rule.clone());
        self.0.run(async move { this.session(&fid).await?.approvals().forget(&rule).await }).await
    }

    async fn remember_answer(
        &self,
        session: &Session,
        project: Option<&Path>,
        scope: Scope,
        effect: Effect,
        rules: Vec<Rule>,
    ) -> Result<()> {
        let project = project.map(Path::to_owned);
        let has_moved = session.placeholder().project != project;
        if scope == Scope::Session && has_moved {
            // It is of the files of a folder that the chat has left.
            let rules = rules.into_iter();
            let rules = rules.filter(|rule| effect == Effect::Deny || !rule.is_of_project());
            return session.approvals().remember(effect, rules.collect()).await;
        }
        if scope == Scope::Session || (scope == Scope::Project && project.is_none()) {
            return session.approvals().remember(effect, rules).await;
        }
        // In a worktree it is about the project that this was made from.
        let worktrees = &self.0.inner.shared.worktrees;
        let worktree = project.as_deref().and_then(|it| worktrees.containing(it).ok().flatten());
        let project = worktree.map(|it| it.parent_project().to_owned()).or(project);
        self.0
            .settings()
            .change(move |settings| {
                for rule in rules {
                    // What is named from the project's folder means another file in any other.
                    let is_local = scope == Scope::Project || rule.is_of_project();
                    let project = project.clone().filter(|_| is_local);
                    settings.permissions.remember(Remembered { rule, effect, project });
                }
            })
            .await
    }
}
