//! The session as the place where a reply goes, and as running tools see it.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use chat_journal::Origin;
use chat_permission::path::Project;
use chat_permission::{Action, Decision, Why};
use chat_worktree::WorktreeAccess;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::approvals::Followed;
use super::parts::permission_rules::action;
use super::spending::{Spending, tokens};
use super::turn::RunningTurn;
use crate::agent::{NextReply, ReplyEnd, ReplySink, TurnContext, TurnProgress};
use crate::client::{Capabilities, ContextWindow, Delta};
use crate::error::{Kind, Result};
use crate::event::Stage;
use crate::message::{
    Form, FormAnswer, Message, ModelRef, Options, Part, Question, Todo, ToolCall, Usage,
};
use crate::settings::ToolSettings;
use crate::tool::{
    Changes, Denied, PermissionCheck, PermissionGrant, Registry, Team, ToolContext, ToolHost,
};

/// The session as a handler sees it.
pub(super) struct Sink {
    pub turn: RunningTurn,
    pub model: ModelRef,
    pub agent: String,
    pub project: Option<Arc<Project>>,
    pub capabilities: Capabilities,
    pub spending: Spending,
}

impl Sink {
    /// The tools that the session can offer with these settings.
    pub(super) fn tools(&self, settings: &ToolSettings) -> Registry {
        let project = self.project.as_ref().map(|project| project.root());
        self.turn.session.tools(&self.agent, project, (&self.model, self.capabilities), settings)
    }

    /// The other agents of the session's tree, as a call reaches them.
    fn team(&self, call: &ToolCall) -> Option<Arc<dyn Team>> {
        let teams = self.turn.session.services.teams.get()?;
        let (turn, call) = (self.turn.clone(), call.clone());
        let at_work = Arc::new(move |agents| turn.on_agents(&call, agents));
        Some(teams.team(&self.turn.session.fid, at_work))
    }

    /// The keeper of what a call does to the project's files.
    fn changes(&self, call: &ToolCall) -> Changes {
        let Some(project) = &self.project else { return Changes::default() };
        let session = &self.turn.session;
        let origin = Origin {
            session: session.fid.to_string(),
            message: session.asked().map(|asked| asked.to_string()).unwrap_or_default(),
            call: call.id.as_str().to_owned(),
        };
        let journals = Arc::clone(&session.services.journals);
        let above = session.ancestors_in_project();
        let above: Vec<_> = above.map(Arc::downgrade).collect();
        let watchers = [Arc::downgrade(session)].into_iter().chain(above.iter().cloned());
        let watchers: Vec<_> = watchers.collect();
        let requests = move || {
            let above = above.iter().filter_map(Weak::upgrade);
            let request = |one: Arc<Session>| Some((one.fid.to_string(), one.asked()?.to_string()));
            above.filter_map(request).collect()
        };
        Changes::new(journals, Arc::clone(project), origin, requests, move || {
            for session in watchers.iter().filter_map(Weak::upgrade) {
                session.review().tell_changed();
            }
        })
    }
}

/// The session as a running tool sees it.
struct Host {
    turn: RunningTurn,
    call: ToolCall,
    project: Option<Arc<Project>>,
    cancel: CancellationToken,
    /// The rules as this call goes by them.
    followed: Mutex<Option<Followed>>,
    /// Held while a form of the call waits for the user.
    form: tokio::sync::Mutex<()>,
}

impl Host {
    fn decides(&self, request: &chat_permission::Request) -> Decision {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        self.turn.session.approvals().decides(request, self.project.as_ref(), &mut followed)
    }
}

#[async_trait]
impl ToolHost for Host {
    async fn permit(&self, check: PermissionCheck) -> Result<PermissionGrant, Denied> {
        let actions = || check.requests.iter().map(action);
        let action = actions().find(|action| *action != Action::Read).unwrap_or(Action::Read);
        let approvals = self.turn.session.approvals();
        let grant =
            approvals.permit(&self.call, check, self.project.as_ref(), &self.cancel).await?;
        self.turn.tool_permitted(&self.call, action);
        Ok(grant)
    }

    fn refusal(&self, request: &chat_permission::Request) -> Option<Why> {
        match self.decides(request) {
            Decision::Refuse { why, .. } => Some(why),
            Decision::Pass | Decision::Ask { .. } => None,
        }
    }

    fn passes(&self, request: &chat_permission::Request) -> bool {
        matches!(self.decides(request), Decision::Pass)
    }

    fn worktree_access(&self) -> Result<Option<WorktreeAccess>, String> {
        let Some(project) = &self.project else { return Ok(None) };
        let worktrees = &self.turn.session.services.worktrees;
        let found = worktrees.containing(project.root());
        let access = found.and_then(|it| it.map(|it| worktrees.access(&it)).transpose());
        access.map_err(|error| error.to_string())
    }

    async fn ask(&self, question: Question) -> Result<String, Denied> {
        self.turn.session.approvals().ask(&self.call, question, &self.cancel).await
    }

    async fn fill(&self, form: Form) -> Result<FormAnswer, Denied> {
        let _one = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(Denied::Stopped),
            one = self.form.lock() => one,
        };
        let approvals = self.turn.session.approvals();
        approvals.fill(&self.call, form, self.project.as_ref(), &self.cancel).await
    }

    fn on_output(&self, tail: &str, bytes: u64) {
        self.turn.on_output(&self.call, tail, bytes);
    }

    fn on_todos(&self, todos: Vec<Todo>) {
        if let Some(mut state) = self.turn.lock() {
            let event = state.todos.set(todos);
            state.tell(event);
        }
    }
}

#[async_trait]
impl ReplySink for Sink {
    fn context(&self) -> TurnContext {
        let settings = self.turn.session.services.clients.settings();
        TurnContext {
            tools: self.tools(&settings.tools),
            settings: Arc::new(settings.tools.clone()),
            history: self.turn.session.lock().transcript.request_history(),
            compact_at: settings.chat.compact_at,
        }
    }

    async fn context_window(&self, options: &Options, tokens: u64) -> ContextWindow {
        let context_window =
            self.turn.session.services.clients.context_window(&self.model, options, tokens).await;
        self.turn.session.context_usage().measured_with(context_window.clone(), options);
        context_window
    }

    fn admit_request(&self) -> Result<()> {
        self.spending.reserve()
    }

    fn admit_summary(&self, bytes: u64, tokens: u64) -> Result<()> {
        self.spending.reserve_for(bytes, tokens)
    }

    fn summary_ended(&self, usage: Option<&Usage>) {
        self.spending.settle(usage);
    }

    fn is_watched(&self) -> bool {
        self.turn.session.lock().is_watched()
    }

    fn apply(&self, delta: &Delta) {
        self.turn.apply(delta);
    }

    fn reply(&self) -> (Vec<Part>, Usage) {
        self.turn.open_reply()
    }

    fn progress(&self, progress: TurnProgress) {
        let stage = match progress {
            TurnProgress::Waiting => return self.turn.on_waiting(),
            TurnProgress::Notice(error) => {
                return self.turn.session.notice(error.on(&self.model.connection));
            }
            TurnProgress::Preparing(what) => Stage::Preparing(what),
            TurnProgress::RateLimited(until) => Stage::RateLimited { until },
            TurnProgress::LooksLikeLoop(true) => Stage::Looping,
            TurnProgress::LooksLikeLoop(false) => Stage::Streaming,
            TurnProgress::Compacting => Stage::Compacting,
        };
        self.turn.set_stage(stage);
    }

    async fn end_reply(&self, mut end: ReplyEnd) -> Arc<Message> {
        if let Some(error) = &mut end.error {
            error.connection.get_or_insert_with(|| self.model.connection.clone());
            if matches!(error.kind, Kind::Unauthorized { .. }) {
                self.turn.session.services.clients.forget_key(&self.model.connection);
            }
            if let Kind::InputTooLong { largest, .. } = &mut error.kind {
                *largest = largest
                    .or_else(|| self.turn.session.services.clients.longest_window(&self.model));
            }
        }
        let reply = self.turn.end_reply(end).await;
        self.spending.settle(reply.usage.as_ref());
        self.turn.spent(reply.usage.as_ref().and_then(tokens).unwrap_or_default());
        reply
    }

    fn tool_started(&self, call: &ToolCall, cancel: &CancellationToken) -> ToolContext {
        self.turn.set_stage(Stage::RunningTools);
        self.turn.tool_started(call);
        let host = Host {
            turn: self.turn.clone(),
            call: call.clone(),
            project: self.project.clone(),
            cancel: cancel.clone(),
            followed: Mutex::default(),
            form: tokio::sync::Mutex::default(),
        };
        let most = self.turn.session.lock().last_usage.result_bytes();
        ToolContext {
            cancel: cancel.clone(),
            call: call.id.clone(),
            project: self.project.clone(),
            memory: Arc::clone(&self.turn.session.memory),
            outputs: self.turn.session.services.store.outputs(&self.turn.session.fid),
            settings: Arc::new(self.turn.session.services.clients.settings().tools.clone()),
            sees: self.capabilities.vision != Some(false),
            most,
            host: Arc::new(host),
            skills: self.turn.session.current_skills(),
            team: self.team(call),
            changes: self.changes(call),
            asked: Arc::default(),
        }
    }

    async fn tool_finished(&self, call: &ToolCall, result: &Arc<Message>, store: bool) {
        self.turn.set_stage(Stage::RunningTools);
        self.turn.tool_finished(call, result);
        if store {
            self.turn.keep_result(Arc::clone(result)).await;
        }
    }

    async fn begin_next(
        &self,
        results: &[Arc<Message>],
        next: NextReply,
    ) -> Result<Vec<Arc<Message>>> {
        let reply = (next != NextReply::None).then(|| self.model.clone());
        let steered_by = (next == NextReply::Steerable).then_some(self.agent.as_str());
        self.turn.add_results(results, reply, steered_by).await
    }

    async fn take_steered_back(&self) -> bool {
        self.spending.refused();
        self.turn.take_steered_back(&self.model).await
    }

    async fn add_marker(&self, marker: Message) -> Result<()> {
        self.turn.add_marker(marker, self.model.clone()).await
    }

    async fn ask_to_continue(
        &self,
        call: &ToolCall,
        rounds: u32,
        cancel: &CancellationToken,
    ) -> bool {
        self.turn.session.approvals().ask_to_go_on(call, rounds, cancel).await
    }
}
