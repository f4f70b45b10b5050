//! Decides what tools may do: by rules and mode, and by asking the user where these do not decide.

use std::sync::Arc;

use chat_permission::path::Project;
use chat_permission::{
    Action, Decision, Effect, Entry, Mode, Request, Rule, Scope, decide, decide_all,
};
use tokio_util::sync::CancellationToken;

use super::Session;
use super::parts::pending_approvals::{Answered, PendingApproval, PendingApprovals};
use super::parts::permission_rules::{action, scope, target};
use crate::error::Result;
use crate::event::SessionEvent;
use crate::message::{
    Answer, ApprovalId, ApprovalKind, ApprovalRequest, AskReason, Form, FormAnswer,
    PermissionRequest, Preview, Question, ToolCall,
};
use crate::store::SessionPatch;
use crate::tool::{Denied, PermissionCheck, PermissionGrant};

/// What was decided without asking.
enum Judged {
    Decided(Result<PermissionGrant, Denied>),
    Open(PermissionRequest),
}

/// Rules, and what they came to when they were followed through a folder's links.
pub(super) struct Followed {
    of: Vec<Entry>,
    to: Vec<Entry>,
}

/// Takes what waits away again, however the waiting ends.
struct Waits<'a> {
    approvals: &'a Approvals<'a>,
    id: ApprovalId,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.approvals.change(|approvals| approvals.remove(self.id).map(|event| ((), event)));
    }
}

/// Decides what a session's tools may do, and keeps its remembered rules. From [`Session::approvals`].
pub(crate) struct Approvals<'a> {
    session: &'a Session,
}

impl Session {
    /// A view of what its tools may do, and of what waits for the user.
    pub(crate) fn approvals(&self) -> Approvals<'_> {
        Approvals { session: self }
    }
}

impl Approvals<'_> {
    /// Judges a wish, and asks the user where neither a rule nor the mode settles it.
    pub(super) async fn permit(
        &self,
        call: &ToolCall,
        check: PermissionCheck,
        project: Option<&Arc<Project>>,
        cancel: &CancellationToken,
    ) -> Result<PermissionGrant, Denied> {
        match self.judge(&check.requests, check.preview, project) {
            Judged::Decided(grant) => grant,
            Judged::Open(asked) => {
                let what = ApprovalKind::Permission(asked);
                let about = Some((check.requests, project.cloned()));
                match self.wait_for(call, what, about, cancel).await {
                    Answered::Granted(grant) => Ok(grant),
                    // A text is no permission.
                    Answered::Text(message) => Err(Denied::ByPerson { message: Some(message) }),
                    Answered::Form(_) => Err(Denied::ByPerson { message: None }),
                    Answered::Denied(denied) => Err(denied),
                }
            }
        }
    }

    /// What rules and mode say of something; nobody is asked. `followed` keeps what the rules
    /// came to in the folder for whoever asks of many files at once.
    pub(super) fn decides(
        &self,
        request: &Request,
        project: Option<&Arc<Project>>,
        followed: &mut Option<Followed>,
    ) -> Decision {
        let (rules, mode) = self.session.rules(project);
        let known = followed.take().filter(|followed| followed.of == rules);
        let known = known.unwrap_or_else(|| Followed {
            to: project
                .map_or_else(|| rules.clone(), |project| project.follow_denied(rules.clone())),
            of: rules,
        });
        let decision = decide(&known.to, mode, request);
        *followed = Some(known);
        decision
    }

    /// Asks the person a question of the model's.
    pub(super) async fn ask(
        &self,
        call: &ToolCall,
        question: Question,
        cancel: &CancellationToken,
    ) -> Result<String, Denied> {
        match self.wait_for(call, ApprovalKind::Question(question), None, cancel).await {
            Answered::Text(answer) => Ok(answer),
            Answered::Granted(_) | Answered::Form(_) => Err(Denied::ByPerson { message: None }),
            Answered::Denied(denied) => Err(denied),
        }
    }

    /// Asks the user to fill in a form of a server. Nobody is asked in a mode that never asks.
    pub(super) async fn fill(
        &self,
        call: &ToolCall,
        form: Form,
        project: Option<&Arc<Project>>,
        cancel: &CancellationToken,
    ) -> Result<FormAnswer, Denied> {
        if self.session.rules(project).1 == Mode::Unattended {
            return Err(Denied::Nobody);
        }
        match self.wait_for(call, ApprovalKind::Form(form), None, cancel).await {
            Answered::Form(answer) => Ok(answer),
            // Whoever says no to all that is asked sends nothing either.
            Answered::Denied(Denied::ByPerson { .. })
            | Answered::Granted(_)
            | Answered::Text(_) => Ok(FormAnswer::Declined),
            Answered::Denied(denied) => Err(denied),
        }
    }

    /// Asks the person whether to go on after so many rounds of tools, the last of which ended with
    /// this call.
    pub(super) async fn ask_to_go_on(
        &self,
        call: &ToolCall,
        rounds: u32,
        cancel: &CancellationToken,
    ) -> bool {
        let answered = self.wait_for(call, ApprovalKind::GoOn { rounds }, None, cancel).await;
        matches!(answered, Answered::Granted(_))
    }

    fn judge(
        &self,
        requests: &[Request],
        preview: Preview,
        project: Option<&Arc<Project>>,
    ) -> Judged {
        let (rules, mode) = self.rules_of(project);
        match decide_all(&rules, mode, requests) {
            Decision::Pass => Judged::Decided(Ok(PermissionGrant::ByRule)),
            Decision::Refuse { why, allowed_by } => {
                Judged::Decided(Err(Denied::ByRule { why, allowed_by }))
            }
            Decision::Ask { reasons, always } => Judged::Open(PermissionRequest {
                // Nothing asks for nothing: that passes.
                action: requests.first().map_or(Action::Read, action),
                target: requests.first().map(target).unwrap_or_default(),
                preview,
                reasons: reasons
                    .into_iter()
                    .map(|why| AskReason { scope: scope(&rules, &why), why })
                    .collect(),
                always,
            }),
        }
    }

    /// The rules that hold in a folder, followed through its links as they are now, and the mode. It looks
    /// at the disk, so nothing is locked meanwhile.
    fn rules_of(&self, project: Option<&Arc<Project>>) -> (Vec<Entry>, Mode) {
        let (rules, mode) = self.session.rules(project);
        match project {
            Some(project) => (project.follow_denied(rules), mode),
            None => (rules, mode),
        }
    }

    async fn wait_for(
        &self,
        call: &ToolCall,
        what: ApprovalKind,
        about: Option<(Vec<Request>, Option<Arc<Project>>)>,
        cancel: &CancellationToken,
    ) -> Answered {
        let id = ApprovalId::generate();
        let ask =
            ApprovalRequest { id, call: call.id.clone(), tool: call.name.clone(), kind: what };
        let (pending, answered) = PendingApproval::new(ask, about);
        self.change(|approvals| Some(((), approvals.add(pending))));
        let _waits = Waits { approvals: self, id };
        // Rules or the mode may have changed since it was judged.
        self.rejudge();
        tokio::select! {
            biased;
            () = cancel.cancelled() => Answered::Denied(Denied::Stopped),
            answered = answered => answered.unwrap_or(Answered::Denied(Denied::Stopped)),
        }
    }

    /// Stores rules for this session alone.
    pub(crate) async fn remember(&self, effect: Effect, rules: Vec<Rule>) -> Result<()> {
        let _gate = self.session.gate.lock().await;
        let mut known = self.session.lock().record.rules.clone();
        known.retain(|entry| !rules.contains(&entry.rule));
        let new = rules.into_iter().map(|rule| Entry { rule, effect, scope: Scope::Session });
        known.extend(new);
        self.session
            .patch_claimed(SessionPatch { rules: Some(known), ..SessionPatch::default() })
            .await
    }

    /// The rules of this session alone.
    pub(crate) fn rules(&self) -> Vec<Entry> {
        self.session.lock().record.rules.clone()
    }

    /// Takes a rule of this session back. Says whether it was there.
    pub(crate) async fn forget(&self, rule: &Rule) -> Result<bool> {
        let _gate = self.session.gate.lock().await;
        let known = self.session.lock().record.rules.clone();
        let kept: Vec<_> = known.iter().filter(|entry| entry.rule != *rule).cloned().collect();
        let was_there = kept.len() < known.len();
        if was_there {
            let patch = SessionPatch { rules: Some(kept), ..SessionPatch::default() };
            self.session.patch_claimed(patch).await?;
        }
        Ok(was_there)
    }

    /// Whether what waits can be answered like this. None where it waits no longer.
    pub(crate) fn is_covered_by(&self, id: ApprovalId, answer: &Answer) -> Option<bool> {
        self.session.lock().pending_approvals.is_covered_by(id, answer)
    }

    /// Whether the answer fits what a form asks for, if that waits. None where nothing waits any more.
    pub(crate) fn fits(&self, id: ApprovalId, answer: &Answer) -> Option<bool> {
        self.session.lock().pending_approvals.fits(id, answer)
    }

    /// Takes what waits, to answer it: nothing else settles it meanwhile.
    pub(crate) fn take(&self, id: ApprovalId) -> Option<PendingApproval> {
        self.change(|approvals| approvals.take(id))
    }

    /// Has it wait again: it could not be answered.
    pub(crate) fn put_back(&self, pending: PendingApproval) {
        self.change(|approvals| approvals.put_back(pending).map(|event| ((), event)));
        self.rejudge();
    }

    /// Rules or the mode changed: what they decide now waits no longer.
    pub(crate) fn rejudge(&self) {
        let project = {
            let state = self.session.lock();
            if state.pending_approvals.is_empty() {
                return;
            }
            state.pending_approvals.project()
        };
        let (rules, mode) = self.rules_of(project.as_ref());
        let settled = self.change(|approvals| approvals.judge(&rules, mode));
        for (pending, answered) in settled.into_iter().flatten() {
            // Nobody listens any more where the request ended meanwhile.
            pending.send(answered);
        }
    }

    /// Changes what waits for the user, and notifies watchers.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut PendingApprovals) -> Option<(T, SessionEvent)>,
    ) -> Option<T> {
        let what = {
            let mut state = self.session.lock();
            let (what, event) = change(&mut state.pending_approvals)?;
            let asks = state.pending_approvals.asks();
            state.tool_calls.wait_for(&asks);
            state.tell(event);
            self.session.services.asks.set(&self.session.fid, asks, &self.session.services.hub);
            what
        };
        self.session.tell_changed();
        self.store_whether_asks();
        Some(what)
    }

    /// Lets other processes know whether something waits. Not awaited: what is stored last is what is so
    /// then.
    fn store_whether_asks(&self) {
        let services = &self.session.services;
        let (fid, asks) = (self.session.fid.clone(), services.asks.clone());
        let store = services.store.clone();
        services.spawn(async move {
            if let Err(error) = store.note_asks(&fid, move |fid| asks.has(fid)).await {
                tracing::warn!(%error, "other programs do not see that something waits");
            }
        });
    }
}
