//! Tests how agents are stopped, closed and reported, with a scripted client.

mod continuing;
mod faults;
mod interleavings;
mod killed;
mod processes;
mod stopped;
mod worktrees;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::client::{Client, Delta, Finish, ModelInfo, Reply, Request};
use crate::error::Result;
use crate::manager::{Manager, NewAgent, StartOptions};
use crate::message::{
    AgentReport, ChatRequest, Content, Fid, FromAgent, Message, ModelRef, OptionName, Part, Role,
    SessionMeta, ToolCall, ToolCallId, ToolResult, ToolView,
};
use crate::session::Session;
use crate::settings::Folders;
use crate::store::{NewSession, Store};
use crate::tool::{AgentTask, Team, TeamError};

/// How long a test waits for what must come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Answers each request with “reply N”, and ends the answer once it may.
#[derive(Debug, Default)]
struct Scripted {
    count: AtomicUsize,
    /// By words of the user: these answers wait for a permit, or until it is closed.
    held: Mutex<HashMap<String, Arc<Semaphore>>>,
    /// Whether all answers are the same.
    same: AtomicBool,
}

impl Scripted {
    /// Answers to what has these words in it wait.
    fn hold(&self, words: &str) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        self.held.lock().unwrap().insert(words.to_owned(), Arc::clone(&gate));
        gate
    }
}

#[async_trait]
impl Client for Scripted {
    async fn models(&self) -> Result<Vec<ModelInfo>> {
        Ok(Vec::new())
    }

    async fn model(&self, _: &str) -> Result<ModelInfo> {
        Ok(ModelInfo::default())
    }

    fn takes(&self, _option: OptionName) -> bool {
        true
    }

    async fn chat(&self, request: Request) -> Result<Reply> {
        let count = self.count.fetch_add(1, Ordering::SeqCst);
        let asked = request.messages.iter().rfind(|message| message.role == Role::User);
        let asked = asked.map(|message| message.plain_text()).unwrap_or_default();
        let held = self.held.lock().unwrap();
        let gate = held.iter().find(|(words, _)| asked.contains(*words));
        let gate = gate.map(|(_, gate)| Arc::clone(gate));
        drop(held);
        let count = if self.same.load(Ordering::SeqCst) { 0 } else { count };
        let said = stream::iter([Ok(vec![Delta::Text(format!("reply {count} to {asked}"))])]);
        let end = stream::once(async move {
            if let Some(gate) = gate
                && let Ok(permit) = gate.acquire().await
            {
                permit.forget();
            }
            Ok(vec![Delta::Finish(Finish::Stop)])
        });
        Ok(said.chain(end).boxed())
    }
}

/// An engine with a scripted connection.
struct World {
    manager: Manager,
    client: Arc<Scripted>,
}

async fn start(folder: &Path) -> World {
    let manager = Manager::start(StartOptions::new(Folders::below(folder))).await.unwrap();
    let settings = manager.settings();
    let change = settings.change(|settings| {
        settings.chat.better_titles = false;
        settings.chat.find_local_servers = false;
    });
    change.await.unwrap();
    let client = Arc::new(Scripted::default());
    manager.inner.connections.add_scripted("test", Arc::clone(&client) as _);
    World { manager, client }
}

async fn world() -> (TempDir, World) {
    let folder = TempDir::new().unwrap();
    let world = start(folder.path()).await;
    (folder, world)
}

/// Waits until something is so.
async fn until<T>(what: &str, mut so: impl AsyncFnMut() -> Option<T>) -> T {
    let waits = async {
        loop {
            if let Some(found) = so().await {
                return found;
            }
            // Lets the store have the processor.
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, waits).await;
    waited.unwrap_or_else(|_| panic!("this never came: {what}"))
}

impl World {
    async fn chat(&self, connection: &str) -> Fid {
        let meta = SessionMeta {
            title: "chat".to_owned(),
            agent: "just-ask".to_owned(),
            model: Some(ModelRef::new(connection, "scripted")),
            ..SessionMeta::default()
        };
        let store = &self.manager.inner.shared.store;
        let record =
            store.create(NewSession { meta, ..NewSession::default() }, Vec::new()).await.unwrap();
        store.release(&record.fid).await.unwrap();
        record.fid.clone()
    }

    async fn agent(&self, of: &Fid, name: &str) -> Fid {
        let new = NewAgent {
            parent: Some(of.clone()),
            name: Some(name.to_owned()),
            ..NewAgent::default()
        };
        self.manager.agents().create(new).await.unwrap().meta.fid
    }

    async fn agent_of(&self, chat: &Fid, name: &str) -> Fid {
        self.manager.agents().find_by_name(chat, name).await.unwrap().unwrap().meta.fid
    }

    async fn session(&self, fid: &Fid) -> Arc<Session> {
        self.manager.session(fid).await.unwrap()
    }

    fn team(&self, of: &Fid) -> Arc<dyn Team> {
        self.manager.inner.shared.teams.get().unwrap().team(of, Arc::new(|_| {}))
    }

    /// Has the user say something.
    async fn say(&self, fid: &Fid, text: &str) {
        let content = Content::text(text);
        let session = Some(fid.clone());
        let request = ChatRequest { session, content, ..ChatRequest::default() };
        self.manager.send(request).await.unwrap();
    }

    /// Asks in a task of its own.
    fn asks(&self, of: &Fid, name: &str, text: &str) -> Asked<AgentReport> {
        let (team, name, text) = (self.team(of), name.to_owned(), text.to_owned());
        let cancel = CancellationToken::new();
        let token = cancel.clone();
        let task = tokio::spawn(async move { team.ask(&name, &text, &token).await });
        Asked { task, cancel }
    }

    /// The reports that came into a session as messages, and those that wait there.
    async fn messages(&self, fid: &Fid) -> Vec<AgentReport> {
        let report = |from: FromAgent| match from {
            FromAgent::Report(report) => Some(*report),
            FromAgent::Message { .. } => None,
        };
        let transcript = self.session(fid).await.transcript().await.unwrap();
        let parts = transcript.iter().flat_map(|message| message.parts.clone());
        let came = parts.filter_map(|part| match part {
            Part::FromAgent(from) => report(from),
            _ => None,
        });
        let waiting = self.manager.inner.shared.store.waiting(fid).await.unwrap();
        let waits = waiting.into_iter().filter_map(|queued| report(queued.content.agent?));
        came.chain(waits).collect()
    }

    /// Whether an agent owes a report that no result of a call carries.
    async fn owes(&self, fid: &Fid) -> bool {
        let owed = self.manager.inner.shared.store.owed_reports(fid).await.unwrap();
        let tree = Arc::clone(self.session(fid).await.tree());
        owed.iter().any(|owed| !tree.is_carried(owed.id))
    }

    /// Stores the result of a call that told this, as the turn that made the call does.
    async fn keep(&self, fid: &Fid, agents: Vec<AgentReport>) {
        keep(&self.manager.inner.shared.store, fid, agents).await;
    }

    async fn waiting(&self, fid: &Fid) -> usize {
        self.manager.inner.shared.store.waiting(fid).await.unwrap().len()
    }

    /// Waits until a session has said something in its last reply.
    async fn begins(&self, fid: &Fid) {
        let session = self.session(fid).await;
        until("a reply", async || {
            let says = session.report_so_far().text.starts_with("reply");
            (says && session.is_busy()).then_some(())
        })
        .await;
    }
}

async fn keep(store: &Store, fid: &Fid, agents: Vec<AgentReport>) {
    let call = ToolCall::new(ToolCallId::new("c"), "wait_agents", json!({}));
    let view = Some(ToolView::Agents { agents });
    let result = ToolResult { view, ..ToolResult::to(&call, "told", false) };
    store.keep_result(fid, Arc::new(Message::tool_result(result))).await.unwrap();
}

/// A call that runs.
struct Asked<T> {
    task: tokio::task::JoinHandle<Result<T, TeamError>>,
    cancel: CancellationToken,
}

impl<T> Asked<T> {
    async fn answer(self) -> Result<T, TeamError> {
        tokio::time::timeout(PATIENCE, self.task).await.expect("it hangs").unwrap()
    }
}

fn background(name: &str, task: &str) -> AgentTask {
    AgentTask {
        name: Some(name.to_owned()),
        task: Some(task.to_owned()),
        background: true,
        ..AgentTask::default()
    }
}
