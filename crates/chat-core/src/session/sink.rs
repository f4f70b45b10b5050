//! The session as the place where a reply goes, and as running tools see it.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use chat_journal::Origin;
use chat_permission::path::Project;
use chat_permission::{Decision, Mode, Why};
use tokio_util::sync::CancellationToken;

use super::asking::Followed;
use super::turn::TurnId;
use super::{Session, World};
use crate::agent::{ReplyEnd, ReplySink, TurnContext, TurnProgress};
use crate::client::{Capabilities, Delta, Room};
use crate::error::{Kind, Result};
use crate::event::{SessionEvent, Stage};
use crate::message::{
    Message, MessageId, ModelRef, Options, Part, Question, Todo, ToolCall, Usage,
};
use crate::settings::ToolSettings;
use crate::tool::{Changes, Denied, Leave, Registry, ToolContext, ToolHost, Wish};

/// The tools that there are to offer with these settings. A conversation without a project is
/// given some only where the person set up a search of the web.
pub(super) fn offered(world: &World, with_project: bool) -> Registry {
    let settings = &world.clients.settings().tools;
    world.tools.only(|tool| {
        let fits = with_project || (settings.search.is_some() && !tool.info().needs_project);
        fits && tool.is_set_up(settings)
    })
}

/// The session as a handler sees it.
pub(super) struct Sink {
    pub session: Arc<Session>,
    pub turn: TurnId,
    pub model: ModelRef,
    pub agent: String,
    pub project: Option<Arc<Project>>,
    pub capabilities: Capabilities,
    /// The message of the person that is answered.
    pub asked: Option<MessageId>,
}

impl Sink {
    /// The tools that the session can offer with these settings.
    pub(super) fn tools(&self, settings: &ToolSettings) -> Registry {
        if self.capabilities.tools == Some(false) {
            return Registry::default();
        }
        let plans = self.session.lock().record.mode == Mode::Plan;
        offered(&self.session.world, self.project.is_some())
            .only(|tool| settings.is_on(&self.agent, tool.info().name()))
            .only(|tool| !plans || tool.info().kind.in_plan_mode())
    }

    /// The keeper of what a call does to the project's files.
    fn changes(&self, call: &ToolCall) -> Changes {
        let Some(project) = &self.project else { return Changes::default() };
        let origin = Origin {
            session: self.session.fid.to_string(),
            message: self.asked.map(|asked| asked.to_string()).unwrap_or_default(),
            call: call.id.as_str().to_owned(),
        };
        let session = Arc::downgrade(&self.session);
        let journals = Arc::clone(&self.session.world.journals);
        Changes::new(journals, Arc::clone(project), origin, move || {
            if let Some(session) = session.upgrade() {
                session.changed_files();
            }
        })
    }
}

/// The session as a running tool sees it.
struct Host {
    session: Arc<Session>,
    turn: TurnId,
    call: ToolCall,
    project: Option<Arc<Project>>,
    cancel: CancellationToken,
    /// The rules as this call goes by them.
    followed: Mutex<Option<Followed>>,
}

impl Host {
    fn decides(&self, request: &chat_permission::Request) -> Decision {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        self.session.decides(request, self.project.as_ref(), &mut followed)
    }
}

#[async_trait]
impl ToolHost for Host {
    async fn permit(&self, wish: Wish) -> Result<Leave, Denied> {
        self.session.permit(&self.call, wish, self.project.as_ref(), &self.cancel).await
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

    async fn ask(&self, question: Question) -> Result<String, Denied> {
        self.session.ask(&self.call, question, &self.cancel).await
    }

    fn on_output(&self, tail: &str, bytes: u64) {
        self.session.on_output(self.turn, &self.call, tail, bytes);
    }

    fn on_todos(&self, todos: Vec<Todo>) {
        if let Some(mut state) = self.session.lock_turn(self.turn) {
            state.tell(SessionEvent::TodosChanged { todos });
        }
    }
}

#[async_trait]
impl ReplySink for Sink {
    fn context(&self) -> TurnContext {
        let settings = self.session.world.clients.settings();
        TurnContext {
            tools: self.tools(&settings.tools),
            settings: Arc::new(settings.tools.clone()),
            history: self.session.lock().transcript.history(),
            compact_at: settings.chat.compact_at,
        }
    }

    async fn room(&self, options: &Options, tokens: u64) -> Room {
        let room = self.session.world.clients.room(&self.model, options, tokens).await;
        self.session.measured(room.clone(), options);
        room
    }

    fn is_watched(&self) -> bool {
        self.session.lock().is_watched()
    }

    fn apply(&self, delta: &Delta) {
        self.session.apply(self.turn, delta);
    }

    fn reply(&self) -> (Vec<Part>, Usage) {
        self.session.open_reply(self.turn)
    }

    fn progress(&self, progress: TurnProgress) {
        let stage = match progress {
            TurnProgress::Waiting => return self.session.on_waiting(self.turn),
            TurnProgress::Notice(error) => {
                return self.session.notice(error.on(&self.model.connection));
            }
            TurnProgress::Preparing(what) => Stage::Preparing(what),
            TurnProgress::RateLimited(until) => Stage::RateLimited { until },
            TurnProgress::LooksLikeLoop(true) => Stage::Looping,
            TurnProgress::LooksLikeLoop(false) => Stage::Streaming,
            TurnProgress::Compacting => Stage::Compacting,
        };
        self.session.set_stage(self.turn, stage);
    }

    async fn end_reply(&self, mut end: ReplyEnd) -> Arc<Message> {
        if let Some(error) = &mut end.error {
            error.connection.get_or_insert_with(|| self.model.connection.clone());
            if matches!(error.kind, Kind::Unauthorized { .. }) {
                self.session.world.clients.forget_key(&self.model.connection);
            }
            if let Kind::InputTooLong { largest, .. } = &mut error.kind {
                *largest =
                    largest.or_else(|| self.session.world.clients.longest_window(&self.model));
            }
        }
        self.session.end_reply(self.turn, end).await
    }

    fn tool_started(&self, call: &ToolCall, cancel: &CancellationToken) -> ToolContext {
        self.session.set_stage(self.turn, Stage::RunningTools);
        self.session.tool_started(self.turn, call);
        let host = Host {
            session: Arc::clone(&self.session),
            turn: self.turn,
            call: call.clone(),
            project: self.project.clone(),
            cancel: cancel.clone(),
            followed: Mutex::default(),
        };
        ToolContext {
            cancel: cancel.clone(),
            call: call.id.clone(),
            project: self.project.clone(),
            memory: Arc::clone(&self.session.memory),
            outputs: self.session.world.outputs.join(self.session.fid.as_str()),
            settings: Arc::new(self.session.world.clients.settings().tools.clone()),
            sees: self.capabilities.vision != Some(false),
            most: self.session.result_bytes(),
            host: Arc::new(host),
            changes: self.changes(call),
            asked: Arc::default(),
        }
    }

    async fn tool_finished(&self, call: &ToolCall, result: &Arc<Message>, store: bool) {
        self.session.set_stage(self.turn, Stage::RunningTools);
        self.session.tool_finished(self.turn, call, result);
        if store {
            self.session.keep_result(Arc::clone(result)).await;
        }
    }

    async fn begin_next(&self, results: &[Arc<Message>], goes_on: bool) -> Result<()> {
        self.session.add_results(results, goes_on.then(|| self.model.clone())).await
    }

    async fn add_marker(&self, marker: Message) -> Result<()> {
        self.session.add_marker(self.turn, marker, self.model.clone()).await
    }

    async fn ask_to_continue(
        &self,
        call: &ToolCall,
        rounds: u32,
        cancel: &CancellationToken,
    ) -> bool {
        self.session.ask_to_go_on(call, rounds, cancel).await
    }
}
