//! A program that is killed while a call has what an agent reports, but no result yet: the next start still tells it.

use std::sync::Arc;

use async_trait::async_trait;
use chat_core::agent::{AgentRegistry, CODE_ASSISTANT};
use chat_core::manager::{Manager, StartOptions};
use chat_core::message::{AgentReport, AgentState, ChatRequest, Fid, FromAgent, ToolSpec};
use chat_core::settings::{ConnectionKind, Folders};
use chat_core::tool::{AgentTask, Registry, Tool, ToolContext, ToolFailure, ToolInfo, ToolOutput};
use chat_testkit::server::{PATIENCE, Script, Server};
use rstest::rstest;
use serde_json::{Value, json};

use super::world::{Mirror, World, request, timeouts};
use crate::another::{self, Talking, say};

/// Has an agent look, says what it reports, and never ends.
struct Gather(ToolInfo);

#[async_trait]
impl Tool for Gather {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let background = given["background"] == true;
        let task = AgentTask {
            task: Some("Look at a".to_owned()),
            name: Some("explorer".to_owned()),
            background,
            ..AgentTask::default()
        };
        let team = context.team()?;
        let mut report = team.start(task, &context.cancel).await?;
        if background {
            let names = ["explorer".to_owned()];
            report = team.wait(Some(&names), PATIENCE, &context.cancel).await?.remove(0);
        }
        say(&report.text);
        std::future::pending().await
    }
}

fn tools() -> Registry {
    let spec = ToolSpec {
        name: "gather".to_owned(),
        description: "Has an agent look.".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "background": { "type": "boolean" } },
            "required": ["background"],
        }),
    };
    let tool: Arc<dyn Tool> = Arc::new(Gather(ToolInfo::foreign(spec)));
    [tool].into_iter().collect()
}

#[tokio::test]
#[ignore = "run by another test, in a process of its own"]
async fn gathers_until_it_is_killed() {
    let options = StartOptions {
        timeouts: timeouts(),
        tools: tools(),
        agents: AgentRegistry::built_in(),
        ..StartOptions::new(Folders::below(another::folder()))
    };
    let manager = Manager::start(options).await.unwrap();
    let mut events = Mirror::new(manager.subscribe());
    let project = another::folder().join("project");
    std::fs::create_dir(&project).unwrap();
    let asked = ChatRequest {
        agent: Some(CODE_ASSISTANT.to_owned()),
        project: Some(project),
        ..request(None, "Have it looked at")
    };
    manager.send(asked).await.unwrap();
    loop {
        events.step().await;
    }
}

#[rstest]
#[case::asked(false)]
#[case::waited_for(true)]
#[tokio::test]
async fn what_a_call_had_heard_is_told_once_after_a_kill(#[case] background: bool) {
    let server = Server::start();
    let world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let folder = Arc::clone(&world.folder);
    world.manager.shutdown().await;
    drop(world);
    let call = Script::new().tool_call("c1", "gather", json!({ "background": background }));
    server.when("Have it looked at", call);
    server.when("Look at a", Script::new().text("A is fine."));
    let mut program =
        Talking::start("engine::killed_agents::gathers_until_it_is_killed", folder.path());
    assert_eq!(program.hear().unwrap(), "A is fine.");
    program.kill();

    let mut world = World::start(folder).await;
    let rows = world.manager.sessions().list().await.unwrap();
    let chat = rows.iter().find(|row| row.parent.is_none()).unwrap().fid.clone();
    let reports = loop {
        let reports = waiting(&mut world, &chat).await;
        if !reports.is_empty() {
            break reports;
        }
        world.events.step().await;
    };
    let told: Vec<_> = reports.iter().map(|told| (told.text.as_str(), told.state)).collect();
    assert_eq!(told, [("A is fine.", AgentState::Done)]);
    // The next start does not tell it a second time.
    let mut world = world.restart().await;
    assert_eq!(waiting(&mut world, &chat).await, reports);
    server.when("A is fine.", Script::new().text("Good."));
    world.manager.sessions().send_waiting(&chat).await.unwrap();
    world.events.finished(&chat).await;
    assert_eq!(world.transcript(&chat).await.last().unwrap().1, "Good.");
    let sent = server.chats().last().unwrap().body["messages"].to_string();
    assert_eq!(sent.matches("A is fine.").count(), 1, "{sent}");
    assert_eq!(waiting(&mut world, &chat).await, []);
}

/// The reports that wait in a chat.
async fn waiting(world: &mut World, chat: &Fid) -> Vec<AgentReport> {
    let queue = world.open(chat).await.queue;
    let reports = queue.into_iter().filter_map(|queued| match queued.content.agent? {
        FromAgent::Report(report) => Some(*report),
        FromAgent::Message { .. } => None,
    });
    reports.collect()
}
