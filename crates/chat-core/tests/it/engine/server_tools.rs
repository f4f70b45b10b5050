//! Tools that a source gives while the program runs, such as those of MCP servers.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use chat_core::event::Stage;
use chat_core::manager::{Manager, StartOptions};
use chat_core::message::ToolSpec;
use chat_core::settings::{ConnectionKind, Folders};
use chat_core::tool::{
    Registry, SourceScope, Tool, ToolContext, ToolFailure, ToolInfo, ToolOutput, ToolSource,
};
use chat_testkit::server::{Script, Server};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};

use super::world::{Mirror, World, connection, request, timeouts};

/// A tool of this name, which may read on in long outputs.
struct Named(ToolInfo, bool);

#[async_trait]
impl Tool for Named {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn reads_outputs(&self) -> bool {
        self.1
    }

    async fn run(&self, _: Value, _: ToolContext) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::text("Done."))
    }
}

fn tool(name: &str, reads_outputs: bool) -> Arc<dyn Tool> {
    let parameters = json!({ "type": "object" });
    let spec = ToolSpec { name: name.to_owned(), description: String::new(), parameters };
    Arc::new(Named(ToolInfo::foreign(spec), reads_outputs))
}

/// Has one tool, or none, and counts what it is asked for.
#[derive(Debug, Default)]
struct Source {
    has_tool: bool,
    /// Told when its server starts; none if that runs.
    starts: Option<Notify>,
    prepared: AtomicUsize,
    recalled: AtomicUsize,
    changes: watch::Sender<()>,
}

#[async_trait]
impl ToolSource for Source {
    async fn prepare(&self, _: Option<&Path>, waits_for: &(dyn Fn(Vec<String>) + Sync)) {
        self.prepared.fetch_add(1, Ordering::Relaxed);
        if let Some(starts) = &self.starts {
            waits_for(vec!["wiki".to_owned()]);
            starts.notified().await;
        }
    }

    async fn recall(&self, _: Option<&Path>) {
        self.recalled.fetch_add(1, Ordering::Relaxed);
    }

    fn tools(&self, _: SourceScope<'_>) -> Registry {
        self.known()
    }

    fn known(&self) -> Registry {
        self.has_tool.then(|| tool("wiki__look", false)).into_iter().collect()
    }

    fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    async fn close(&self) {}
}

/// An engine with such a source, and tools of its own.
async fn world(server: &Server, source: Source) -> (World, Arc<Source>) {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let source = Arc::new(source);
    let options = StartOptions {
        timeouts: timeouts(),
        tools: [tool("read_on", true), tool("other", false)].into_iter().collect(),
        tool_source: Some(source.clone()),
        ..StartOptions::new(Folders::below(folder.path()))
    };
    let manager = Manager::start(options).await.unwrap();
    let connection = connection(server, ConnectionKind::Ollama);
    let settings = manager.settings();
    let set_up = settings.change(move |settings| {
        settings.connections.push(connection);
        settings.chat.better_titles = false;
        settings.chat.find_local_servers = false;
    });
    set_up.await.unwrap();
    let events = Mirror::new(manager.subscribe());
    (World { manager, events, folder }, source)
}

/// The tools that the first request offered.
fn offered(server: &Server) -> Vec<String> {
    let body = &server.chats()[0].body;
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let names = tools.iter().filter_map(|tool| tool["function"]["name"].as_str());
    names.map(str::to_owned).collect()
}

#[tokio::test]
async fn servers_are_started_for_a_request_and_not_to_be_measured() {
    let server = Server::start();
    let (mut world, source) = world(&server, Source { has_tool: true, ..Source::default() }).await;
    let preview = world.manager.context().preview(request(None, "Look")).await.unwrap();
    assert!(preview.tools.iter().any(|(name, _)| name == "wiki__look"), "{:?}", preview.tools);
    assert_eq!(source.prepared.load(Ordering::Relaxed), 0);
    assert_eq!(source.recalled.load(Ordering::Relaxed), 1);
    server.push(Script::new().text("Nothing."));
    let (fid, _) = world.ask_and_wait("Look").await;
    let prepared = source.prepared.load(Ordering::Relaxed);
    assert_eq!(prepared, 1);
    world.manager.context().usage(&fid).await.unwrap();
    assert_eq!(source.prepared.load(Ordering::Relaxed), prepared);
}

#[tokio::test]
async fn long_results_can_be_read_on_in_without_a_project_if_servers_may_give_some() {
    for (has_tool, expected) in [(true, &["read_on", "wiki__look"][..]), (false, &[])] {
        let server = Server::start();
        let source = Source { has_tool, ..Source::default() };
        let (mut world, _) = world(&server, source).await;
        server.push(Script::new().text("Nothing."));
        world.ask_and_wait("Look").await;
        assert_eq!(offered(&server), expected);
    }
}

#[tokio::test]
async fn the_servers_that_a_request_waits_for_are_named_until_they_run() {
    let server = Server::start();
    let starts = Some(Notify::new());
    let (mut world, source) = world(&server, Source { starts, ..Source::default() }).await;
    server.push(Script::new().text("Nothing."));
    let fid = world.ask("Look").await.fid;
    let starting = Stage::StartingServers { servers: vec!["wiki".to_owned()] };
    if world.open(&fid).await.stage != starting {
        world.events.until(|mirror| mirror.stages.contains(&starting)).await;
    }
    world.events.stages.clear();
    assert!(server.chats().is_empty());
    source.starts.as_ref().unwrap().notify_one();
    world.events.finished(&fid).await;
    let stages = &world.events.stages;
    assert!(matches!(stages[0], Stage::Waiting { .. }), "then for the model: {stages:?}");
}
