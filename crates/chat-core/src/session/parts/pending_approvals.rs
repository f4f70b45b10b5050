//! Defines what waits for the user's answer.

use std::path::Path;
use std::sync::Arc;

use chat_permission::path::Project;
use chat_permission::{Decision, Effect, Entry, Mode, Request, Rule, Scope, covers, decide_all};
use tokio::sync::oneshot;

use crate::event::SessionEvent;
use crate::message::{Answer, ApprovalId, ApprovalKind, ApprovalRequest, FormAnswer};
use crate::tool::{Denied, PermissionGrant};

/// What waits for the person, in the order in which it was asked.
#[derive(Default)]
pub(crate) struct PendingApprovals(Vec<PendingApproval>);

impl PendingApprovals {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What waits, as it is shown.
    pub(crate) fn asks(&self) -> Vec<Arc<ApprovalRequest>> {
        self.0.iter().map(|pending| Arc::clone(&pending.ask)).collect()
    }

    /// The folder that it is about. All that waits is of one request, and so of one folder.
    pub(crate) fn project(&self) -> Option<Arc<Project>> {
        self.0.iter().find_map(|pending| pending.project.clone())
    }

    /// One more waits.
    pub(crate) fn add(&mut self, pending: PendingApproval) -> SessionEvent {
        self.0.push(pending);
        self.changed()
    }

    /// Nobody waits for this answer any more. None where it was answered.
    pub(crate) fn remove(&mut self, id: ApprovalId) -> Option<SessionEvent> {
        self.take(id).map(|(_, event)| event)
    }

    /// Takes one out, to answer it.
    pub(crate) fn take(&mut self, id: ApprovalId) -> Option<(PendingApproval, SessionEvent)> {
        let place = self.0.iter().position(|pending| pending.ask.id == id)?;
        let pending = self.0.remove(place);
        Some((pending, self.changed()))
    }

    /// Whether what waits can be answered like this. None where it waits no longer.
    pub(crate) fn is_covered_by(&self, id: ApprovalId, answer: &Answer) -> Option<bool> {
        let pending = self.0.iter().find(|pending| pending.ask.id == id)?;
        Some(pending.is_covered_by(answer))
    }

    /// Whether the answer fits what a form asks for, if that waits. None where nothing waits any more.
    pub(crate) fn fits(&self, id: ApprovalId, answer: &Answer) -> Option<bool> {
        let pending = self.0.iter().find(|pending| pending.ask.id == id)?;
        Some(pending.fits(answer))
    }

    /// Has one wait again that could not be answered. None where nobody listens any more.
    pub(crate) fn put_back(&mut self, pending: PendingApproval) -> Option<SessionEvent> {
        if pending.answer.is_closed() {
            return None;
        }
        self.0.insert(0, pending);
        Some(self.changed())
    }

    /// Takes out what these rules and this mode decide, with what they come to. None where all of it
    /// waits on.
    pub(crate) fn judge(
        &mut self,
        rules: &[Entry],
        mode: Mode,
    ) -> Option<(Vec<(PendingApproval, Answered)>, SessionEvent)> {
        let mut settled = Vec::new();
        for pending in std::mem::take(&mut self.0) {
            match pending.judge(rules, mode) {
                Some(answered) => settled.push((pending, answered)),
                None => self.0.push(pending),
            }
        }
        (!settled.is_empty()).then(|| (settled, self.changed()))
    }

    fn changed(&self) -> SessionEvent {
        SessionEvent::ApprovalsChanged { asks: self.asks() }
    }
}

/// Something that waits for the person.
pub(crate) struct PendingApproval {
    ask: Arc<ApprovalRequest>,
    /// What is judged again when rules or the mode change; none for a question.
    requests: Option<Vec<Request>>,
    /// The folder that it is about.
    project: Option<Arc<Project>>,
    answer: oneshot::Sender<Answered>,
}

impl PendingApproval {
    /// An ask that waits, and where its answer comes. `about` is what rules and the mode may decide.
    pub(crate) fn new(
        ask: ApprovalRequest,
        about: Option<(Vec<Request>, Option<Arc<Project>>)>,
    ) -> (Self, oneshot::Receiver<Answered>) {
        let (answer, answered) = oneshot::channel();
        let (requests, project) = about.unzip();
        let pending = Self { ask: Arc::new(ask), requests, project: project.flatten(), answer };
        (pending, answered)
    }

    /// What rules and the mode make of it; none where it is still the person's to say.
    fn judge(&self, rules: &[Entry], mode: Mode) -> Option<Answered> {
        match decide_all(rules, mode, self.requests.as_ref()?) {
            Decision::Pass => Some(Answered::Granted(PermissionGrant::ByRule)),
            Decision::Refuse { why, allowed_by } => {
                Some(Answered::Denied(Denied::ByRule { why, allowed_by }))
            }
            Decision::Ask { .. } => None,
        }
    }

    /// Tells what became of it. Says whether somebody still waited for that.
    pub(crate) fn send(self, answered: Answered) -> bool {
        self.answer.send(answered).is_ok()
    }

    /// The rules that an answer stores; none where it is for once.
    pub(crate) fn rules(&self, answer: &Answer) -> Option<(Scope, Effect, Vec<Rule>)> {
        let (scope, effect, rules) = self.named_rules(answer)?;
        let stored = match effect {
            Effect::Allow => rules,
            Effect::Deny => rules.iter().map(Rule::denying).collect(),
        };
        Some((scope, effect, stored))
    }

    /// The rules that an answer is about, as they were asked or written.
    fn named_rules(&self, answer: &Answer) -> Option<(Scope, Effect, Vec<Rule>)> {
        let (scope, effect) = match answer {
            Answer::Allow(scope) => ((*scope)?, Effect::Allow),
            Answer::Deny { scope, .. } => ((*scope)?, Effect::Deny),
            Answer::Remember { effect, scope, rules, .. } => {
                let is_asked = matches!(self.ask.kind, ApprovalKind::Permission(_));
                return is_asked.then(|| (*scope, *effect, rules.clone()));
            }
            Answer::AllowOutsideSandbox | Answer::Text(_) | Answer::Form(_) | Answer::Nobody => {
                return None;
            }
        };
        let ApprovalKind::Permission(asked) = &self.ask.kind else { return None };
        // Of several things that were asked for at once it is not known which one is meant.
        let is_clear = effect == Effect::Allow || asked.always.len() == 1;
        is_clear.then(|| (scope, effect, asked.always.clone()))
    }

    /// Whether each rule that the person wrote is about something that was asked.
    fn is_covered_by(&self, answer: &Answer) -> bool {
        let Answer::Remember { effect, rules, .. } = answer else { return true };
        let requests = self.requests.as_deref().unwrap_or_default();
        rules.iter().all(|rule| covers(rule, *effect, requests))
    }

    /// Whether a form gets what it asks for, or is declined, and nothing else gets what is for a form.
    fn fits(&self, answer: &Answer) -> bool {
        match (&self.ask.kind, answer) {
            (ApprovalKind::Form(form), Answer::Form(FormAnswer::Filled(values))) => {
                form.check(values).is_ok_and(|checked| checked == *values)
            }
            (ApprovalKind::Form(_), answer) => matches!(
                answer,
                Answer::Form(FormAnswer::Declined)
                    | Answer::Deny { scope: None, .. }
                    | Answer::Nobody
            ),
            (_, answer) => !matches!(answer, Answer::Form(_)),
        }
    }

    /// The folder that it is about.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.project.as_ref().map(|project| project.root())
    }

    /// Answers it. Says whether somebody still waited for that.
    pub(crate) fn resolve(self, answer: Answer) -> bool {
        let answered = match answer {
            Answer::Allow(_) | Answer::Remember { effect: Effect::Allow, .. } => {
                Answered::Granted(PermissionGrant::ByPerson)
            }
            Answer::AllowOutsideSandbox => Answered::Granted(PermissionGrant::OutsideSandbox),
            Answer::Deny { message, .. } | Answer::Remember { message, .. } => {
                Answered::Denied(Denied::ByPerson { message })
            }
            Answer::Text(text) => Answered::Text(text),
            Answer::Form(answer) => Answered::Form(answer),
            Answer::Nobody => Answered::Denied(Denied::Nobody),
        };
        self.send(answered)
    }
}

/// What became of something that waited.
pub(crate) enum Answered {
    Granted(PermissionGrant),
    Text(String),
    Form(FormAnswer),
    Denied(Denied),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{PermissionRequest, Preview, ToolCallId};
    use chat_permission::{Action, Why};

    fn waits(host: &str) -> (PendingApproval, ApprovalId, oneshot::Receiver<Answered>) {
        waits_for(Action::Network, host, Vec::new())
    }

    fn waits_for(
        action: Action,
        host: &str,
        always: Vec<Rule>,
    ) -> (PendingApproval, ApprovalId, oneshot::Receiver<Answered>) {
        let id = ApprovalId::generate();
        let what = ApprovalKind::Permission(PermissionRequest {
            action,
            target: host.to_owned(),
            preview: Preview::Target,
            reasons: vec![Why::Mode.into()],
            always,
        });
        let ask = ApprovalRequest {
            id,
            call: ToolCallId::new("c"),
            tool: "fetch".to_owned(),
            kind: what,
        };
        let request =
            Request::Network { host: host.to_owned(), private: false, leads_to: Vec::new() };
        let (pending, answered) = PendingApproval::new(ask, Some((vec![request], None)));
        (pending, id, answered)
    }

    #[test]
    fn what_is_answered_waits_no_longer_and_is_answered_once() {
        let mut approvals = PendingApprovals::default();
        let (pending, id, mut answered) = waits("example.org");
        approvals.add(pending);
        let (pending, _) = approvals.take(id).unwrap();
        assert!(approvals.is_empty() && approvals.remove(id).is_none());
        assert!(pending.resolve(Answer::Allow(None)));
        assert!(matches!(answered.try_recv(), Ok(Answered::Granted(PermissionGrant::ByPerson))));
    }

    #[test]
    fn a_denial_of_a_tool_holds_whatever_its_server_says_of_it() {
        let asked: Rule = "mcp+read-only:github/get_issue".parse().unwrap();
        let (pending, ..) = waits_for(Action::Mcp, "github/get_issue", vec![asked.clone()]);
        let allowed = pending.rules(&Answer::Allow(Some(Scope::Session))).unwrap();
        assert_eq!(allowed, (Scope::Session, Effect::Allow, vec![asked.clone()]));
        let scope = Scope::Everywhere;
        let denials = [
            Answer::Deny { scope: Some(scope), message: None },
            Answer::Remember { effect: Effect::Deny, scope, rules: vec![asked], message: None },
        ];
        let stored: Rule = "mcp:github/get_issue".parse().unwrap();
        for denial in denials {
            let denied = pending.rules(&denial).unwrap();
            assert_eq!(denied, (scope, Effect::Deny, vec![stored.clone()]));
        }
    }

    #[test]
    fn what_nobody_listens_to_any_more_does_not_wait_again() {
        let mut approvals = PendingApprovals::default();
        let (first, ..) = waits("example.org");
        assert!(approvals.put_back(first).is_none(), "its request has ended");
        let (second, _, _listens) = waits("example.org");
        assert!(approvals.put_back(second).is_some() && !approvals.is_empty());
    }

    #[test]
    fn a_rule_settles_what_it_is_about_and_nothing_else() {
        let mut approvals = PendingApprovals::default();
        let (named, _, mut answered) = waits("example.org");
        let (other, other_id, _listens) = waits("example.com");
        approvals.add(named);
        approvals.add(other);
        let rule: Rule = "network:example.org".parse().unwrap();
        let rules = [Entry::allow(rule, Scope::Session)];
        let (settled, event) = approvals.judge(&rules, Mode::Ask).unwrap();
        let SessionEvent::ApprovalsChanged { asks } = event else { panic!("another event") };
        assert_eq!(asks.iter().map(|ask| ask.id).collect::<Vec<_>>(), [other_id]);
        for (pending, what) in settled {
            assert!(pending.send(what));
        }
        assert!(matches!(answered.try_recv(), Ok(Answered::Granted(PermissionGrant::ByRule))));
        assert!(approvals.judge(&rules, Mode::Ask).is_none());
    }
}
