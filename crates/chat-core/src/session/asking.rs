//! What tools ask of the person: judged by rules and mode, and waiting where these do not tell.

use std::path::Path;
use std::sync::Arc;

use chat_permission::path::Project;
use chat_permission::{
    Action, Decision, Effect, Entry, Mode, Request, Rule, Scope, decide, decide_all,
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::parts::asked::{action, scope, target};
use crate::error::Result;
use crate::event::SessionEvent;
use crate::message::{Answer, Ask, AskId, Asked, PermissionRequest, Preview, Question, ToolCall};
use crate::settings::Settings;
use crate::store::SessionPatch;
use crate::tool::{Denied, Leave, Wish};

/// Something that waits for the person.
pub(crate) struct Pending {
    ask: Arc<Ask>,
    /// What is judged again when rules or the mode change; none for a question.
    requests: Option<Vec<Request>>,
    /// The folder that it is about.
    project: Option<Arc<Project>>,
    answer: oneshot::Sender<Answered>,
}

impl Pending {
    /// The rules that an answer stores; none where it is for once.
    pub(crate) fn rules(&self, answer: &Answer) -> Option<(Scope, Effect, Vec<Rule>)> {
        let (scope, effect) = match answer {
            Answer::Allow(scope) => ((*scope)?, Effect::Allow),
            Answer::Deny { scope, .. } => ((*scope)?, Effect::Deny),
            Answer::Remember { effect, scope, rules, .. } => {
                let is_asked = matches!(self.ask.what, Asked::Permission(_));
                return is_asked.then(|| (*scope, *effect, rules.clone()));
            }
            Answer::AllowOutsideSandbox | Answer::Text(_) | Answer::Nobody => return None,
        };
        let Asked::Permission(asked) = &self.ask.what else { return None };
        // Of several things that were asked for at once it is not known which one is meant.
        let is_clear = effect == Effect::Allow || asked.always.len() == 1;
        is_clear.then(|| (scope, effect, asked.always.clone()))
    }

    /// The folder that it is about.
    pub(crate) fn root(&self) -> Option<&Path> {
        self.project.as_ref().map(|project| project.root())
    }

    /// Answers it. Says whether somebody still waited for that.
    pub(crate) fn settle(self, answer: Answer) -> bool {
        let answered = match answer {
            Answer::Allow(_) | Answer::Remember { effect: Effect::Allow, .. } => {
                Answered::Granted(Leave::ByPerson)
            }
            Answer::AllowOutsideSandbox => Answered::Granted(Leave::OutsideSandbox),
            Answer::Deny { message, .. } | Answer::Remember { message, .. } => {
                Answered::Denied(Denied::ByPerson { message })
            }
            Answer::Text(text) => Answered::Said(text),
            Answer::Nobody => Answered::Denied(Denied::Nobody),
        };
        self.answer.send(answered).is_ok()
    }
}

/// What became of something that waited.
enum Answered {
    Granted(Leave),
    Said(String),
    Denied(Denied),
}

/// What was decided without asking.
enum Judged {
    Settled(Result<Leave, Denied>),
    Open(PermissionRequest),
}

/// Rules, and what they came to when they were followed through a folder's links.
pub(super) struct Followed {
    of: Vec<Entry>,
    to: Vec<Entry>,
}

/// Takes what waits away again, however the waiting ends.
struct Waits<'a> {
    session: &'a Session,
    id: AskId,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        let was = {
            let mut state = self.session.lock();
            let before = state.asks.len();
            state.asks.retain(|pending| pending.ask.id != self.id);
            let was = state.asks.len() < before;
            if was {
                state.tell_asks();
            }
            was
        };
        if was {
            self.session.tell_changed();
        }
    }
}

impl Session {
    /// Judges a wish, and asks the person where neither a rule nor the mode tells.
    pub(super) async fn permit(
        &self,
        call: &ToolCall,
        wish: Wish,
        project: Option<&Arc<Project>>,
        cancel: &CancellationToken,
    ) -> Result<Leave, Denied> {
        match self.judge(&wish.requests, wish.preview, project) {
            Judged::Settled(leave) => leave,
            Judged::Open(asked) => {
                let what = Asked::Permission(asked);
                let about = Some((wish.requests, project.cloned()));
                match self.wait_for(call, what, about, cancel).await {
                    Answered::Granted(leave) => Ok(leave),
                    // Words are no leave.
                    Answered::Said(message) => Err(Denied::ByPerson { message: Some(message) }),
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
        let settings = self.world.clients.settings();
        let (rules, mode) = self.lock().rules(&settings, project);
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
        match self.wait_for(call, Asked::Question(question), None, cancel).await {
            Answered::Said(answer) => Ok(answer),
            Answered::Granted(_) => Err(Denied::ByPerson { message: None }),
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
        let answered = self.wait_for(call, Asked::GoOn { rounds }, None, cancel).await;
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
            Decision::Pass => Judged::Settled(Ok(Leave::ByRule)),
            Decision::Refuse { why, allowed_by } => {
                Judged::Settled(Err(Denied::ByRule { why, allowed_by }))
            }
            Decision::Ask { why, always } => Judged::Open(PermissionRequest {
                // Nothing asks for nothing: that passes.
                action: requests.first().map_or(Action::Read, action),
                target: requests.first().map(target).unwrap_or_default(),
                preview,
                scope: scope(&rules, &why),
                why,
                always,
            }),
        }
    }

    /// The rules that hold in a folder, followed through its links as they are now, and the mode. It looks
    /// at the disk, so nothing is locked meanwhile.
    fn rules_of(&self, project: Option<&Arc<Project>>) -> (Vec<Entry>, Mode) {
        let settings = self.world.clients.settings();
        let (rules, mode) = self.lock().rules(&settings, project);
        match project {
            Some(project) => (project.follow_denied(rules), mode),
            None => (rules, mode),
        }
    }

    async fn wait_for(
        &self,
        call: &ToolCall,
        what: Asked,
        about: Option<(Vec<Request>, Option<Arc<Project>>)>,
        cancel: &CancellationToken,
    ) -> Answered {
        let id = AskId::generate();
        let ask = Ask { id, call: call.id.clone(), tool: call.name.clone(), what };
        let (answer, answered) = oneshot::channel();
        let (requests, project) = about.unzip();
        let project = project.flatten();
        {
            let mut state = self.lock();
            state.asks.push(Pending { ask: Arc::new(ask), requests, project, answer });
            state.tell_asks();
        }
        let _waits = Waits { session: self, id };
        self.tell_changed();
        // Rules or the mode may have changed since it was judged.
        self.rejudge();
        tokio::select! {
            biased;
            () = cancel.cancelled() => Answered::Denied(Denied::Stopped),
            answered = answered => answered.unwrap_or(Answered::Denied(Denied::Stopped)),
        }
    }

    /// What waits for the person.
    pub(crate) fn asks(&self) -> Vec<Arc<Ask>> {
        self.lock().asks()
    }

    /// Stores rules for this session alone.
    pub(crate) async fn remember(&self, effect: Effect, rules: Vec<Rule>) -> Result<()> {
        let _gate = self.gate.lock().await;
        let mut known = self.lock().record.rules.clone();
        known.retain(|entry| !rules.contains(&entry.rule));
        let new = rules.into_iter().map(|rule| Entry { rule, effect, scope: Scope::Session });
        known.extend(new);
        self.patch_claimed(SessionPatch { rules: Some(known), ..SessionPatch::default() }).await
    }

    /// The rules of this session alone.
    pub(crate) fn rules(&self) -> Vec<Entry> {
        self.lock().record.rules.clone()
    }

    /// Takes a rule of this session back. Says whether it was there.
    pub(crate) async fn forget(&self, rule: &Rule) -> Result<bool> {
        let _gate = self.gate.lock().await;
        let known = self.lock().record.rules.clone();
        let kept: Vec<_> = known.iter().filter(|entry| entry.rule != *rule).cloned().collect();
        let was_there = kept.len() < known.len();
        if was_there {
            let patch = SessionPatch { rules: Some(kept), ..SessionPatch::default() };
            self.patch_claimed(patch).await?;
        }
        Ok(was_there)
    }

    /// Takes what waits, to answer it: nothing else settles it meanwhile.
    pub(crate) fn take_ask(&self, id: AskId) -> Option<Pending> {
        let mut state = self.lock();
        let place = state.asks.iter().position(|pending| pending.ask.id == id)?;
        let pending = state.asks.remove(place);
        state.tell_asks();
        drop(state);
        self.tell_changed();
        Some(pending)
    }

    /// Has it wait again: it could not be answered.
    pub(crate) fn put_back(&self, pending: Pending) {
        let mut state = self.lock();
        // Nobody listens any more where the request ended meanwhile.
        if !pending.answer.is_closed() {
            state.asks.insert(0, pending);
            state.tell_asks();
        }
        drop(state);
        self.tell_changed();
        self.rejudge();
    }

    /// Rules or the mode changed: what they settle now waits no longer.
    pub(crate) fn rejudge(&self) {
        let project = {
            let state = self.lock();
            if state.asks.is_empty() {
                return;
            }
            // All that waits is of one request, and so of one folder.
            state.asks.iter().find_map(|pending| pending.project.clone())
        };
        let (rules, mode) = self.rules_of(project.as_ref());
        let settled = {
            let mut state = self.lock();
            let mut settled = Vec::new();
            let asks = std::mem::take(&mut state.asks);
            for pending in asks {
                match pending.requests.as_ref().map(|wanted| decide_all(&rules, mode, wanted)) {
                    Some(Decision::Pass) => {
                        settled.push((pending, Answered::Granted(Leave::ByRule)));
                    }
                    Some(Decision::Refuse { why, allowed_by }) => {
                        let denied = Denied::ByRule { why, allowed_by };
                        settled.push((pending, Answered::Denied(denied)));
                    }
                    Some(Decision::Ask { .. }) | None => state.asks.push(pending),
                }
            }
            if !settled.is_empty() {
                state.tell_asks();
            }
            settled
        };
        if settled.is_empty() {
            return;
        }
        self.tell_changed();
        for (pending, answered) in settled {
            // Nobody listens any more where the request ended meanwhile.
            let _ = pending.answer.send(answered);
        }
    }
}

impl super::state::State {
    /// The rules that hold for this session in a request's folder, and its mode. The session may have
    /// another folder by now, for its next request.
    fn rules(&self, settings: &Settings, project: Option<&Arc<Project>>) -> (Vec<Entry>, Mode) {
        let remembered = settings.permissions.entries(project.map(|project| project.root()));
        // Where nobody knows what is denied, nothing that was allowed passes.
        let unread = settings.permissions.are_unread;
        let own = self.record.rules.iter().filter(|it| !unread || it.effect == Effect::Deny);
        let rules = own.cloned().chain(remembered).collect();
        (rules, settings.permissions.most(self.record.mode))
    }

    pub(super) fn asks(&self) -> Vec<Arc<Ask>> {
        self.asks.iter().map(|pending| Arc::clone(&pending.ask)).collect()
    }

    fn tell_asks(&mut self) {
        let asks = self.asks();
        self.round.wait_for(&asks);
        self.tell(SessionEvent::AsksChanged { asks });
    }
}
