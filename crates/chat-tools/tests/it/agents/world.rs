//! An engine with all tools in a project, and what the tests of agents ask of it.

use std::collections::VecDeque;
use std::sync::Arc;

use chat_core::agent::AgentRegistry;
use chat_core::event::{Event, StopReason, Subscription};
use chat_core::manager::{Manager, StartOptions};
use chat_core::message::{
    AgentReport, ChatRequest, Content, Fid, Message, ModelRef, Part, ToolResult, ToolView,
};
use chat_core::settings::{AgentSettings, Connection, ConnectionKind, Folders, KeySource};
use chat_testkit::server::{PATIENCE, Recorded, Script, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

/// An engine with all tools, and a project.
pub struct World {
    pub manager: Manager,
    pub events: Subscription,
    pub folder: TempDir,
    pub project: TempDir,
    /// What was told and not looked at yet.
    pending: VecDeque<Event>,
}

impl World {
    pub async fn new(server: &Server) -> Self {
        let (folder, project) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let (manager, events) = start(&folder).await;
        let connection = Connection {
            name: "test".to_owned(),
            kind: Some(ConnectionKind::OpenAi),
            url: server.url(),
            key: KeySource::None,
            models: Vec::new(),
            requests: None,
            ..Connection::default()
        };
        let settings = manager.settings();
        let change = settings.change(move |settings| {
            settings.connections.push(connection);
            settings.chat.better_titles = false;
            settings.chat.find_local_servers = false;
        });
        change.await.unwrap();
        Self { manager, events, folder, project, pending: VecDeque::new() }
    }

    pub async fn limit(&self, change: impl FnOnce(&mut AgentSettings) + Send + 'static) {
        self.manager.settings().change(|settings| change(&mut settings.agents)).await.unwrap();
    }

    pub async fn restart(self) -> Self {
        self.manager.shutdown().await;
        let Self { folder, project, .. } = self;
        let (manager, events) = start(&folder).await;
        Self { manager, events, folder, project, pending: VecDeque::new() }
    }

    pub async fn ask(&self, text: &str) -> Fid {
        let request = ChatRequest {
            model: Some(ModelRef::new("test", "scripted")),
            content: Content::text(text),
            project: Some(self.project.path().to_owned()),
            ..ChatRequest::default()
        };
        self.manager.send(request).await.unwrap().fid
    }

    pub async fn say(&self, fid: &Fid, text: &str) {
        let session = Some(fid.clone());
        let content = Content::text(text);
        let request = ChatRequest { session, content, ..ChatRequest::default() };
        self.manager.send(request).await.unwrap();
    }

    /// Waits until something happened.
    pub async fn until<T>(&mut self, mut wanted: impl FnMut(&Event) -> Option<T>) -> T {
        let wait = async {
            loop {
                while let Some(event) = self.pending.pop_front() {
                    if let Some(found) = wanted(&event) {
                        return found;
                    }
                }
                self.pending.extend(self.events.next().await.unwrap());
            }
        };
        tokio::time::timeout(PATIENCE, wait).await.unwrap()
    }

    pub async fn finished(&mut self, of: &Fid) -> StopReason {
        self.until(|event| match event {
            Event::RequestFinished { fid, reason, .. } if fid == of => Some(*reason),
            _ => None,
        })
        .await
    }

    pub async fn messages(&self, fid: &Fid) -> Vec<Arc<Message>> {
        self.manager.sessions().transcript(fid).await.unwrap()
    }

    pub async fn results(&self, fid: &Fid) -> Vec<ToolResult> {
        let messages = self.messages(fid).await;
        let parts = messages.iter().flat_map(|message| message.parts.clone());
        parts
            .filter_map(|part| match part {
                Part::ToolResult(result) => Some(result),
                _ => None,
            })
            .collect()
    }

    /// Waits until the agent of this name has said so much.
    pub async fn shows(&mut self, name: &str, fid: &Fid, text: &str) {
        let agents = self.manager.agents();
        let agent = loop {
            if let Some(agent) = agents.find_by_name(fid, name).await.unwrap() {
                break agent.meta.fid;
            }
            self.until(|_| Some(())).await;
        };
        self.manager.sessions().open(&agent, 10, &self.events).await.unwrap();
        while last_text(&self.messages(&agent).await) != text {
            self.until(|_| Some(())).await;
        }
    }

    pub async fn agent(&self, fid: &Fid, name: &str) -> Fid {
        let found = self.manager.agents().find_by_name(fid, name).await.unwrap();
        found.unwrap_or_else(|| panic!("there is no {name}")).meta.fid
    }
}

pub async fn start(folder: &TempDir) -> (Manager, Subscription) {
    let options = StartOptions {
        agents: AgentRegistry::built_in(),
        tools: chat_tools::all().into_iter().collect(),
        ..StartOptions::new(Folders::below(folder.path()))
    };
    let manager = Manager::start(options).await.unwrap();
    let events = manager.subscribe();
    (manager, events)
}

pub fn spawn(id: &str, arguments: Value) -> Script {
    Script::new().tool_call(id, "spawn_agent", arguments)
}

pub fn task(name: &str, task: &str) -> Value {
    json!({ "name": name, "task": task })
}

pub fn reports(result: &ToolResult) -> &[AgentReport] {
    match &result.view {
        Some(ToolView::Agents { agents }) => agents,
        other => panic!("{other:?}"),
    }
}

pub fn last_text(messages: &[Arc<Message>]) -> String {
    messages.last().map(|message| message.plain_text()).unwrap_or_default()
}

/// The names of the tools that a request offers.
pub fn offered(request: &Recorded) -> Vec<String> {
    let tools = request.body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}
