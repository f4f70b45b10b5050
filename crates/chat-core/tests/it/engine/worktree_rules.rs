//! Rules of a project in the worktrees that are made from it.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use async_trait::async_trait;
use chat_core::manager::{NewAgent, NewWorktree};
use chat_core::message::{ChatRequest, Fid, Part, ToolSpec};
use chat_core::permission::{Effect, Request};
use chat_core::settings::{ConnectionKind, Folders, Remembered};
use chat_core::tool::{Registry, Tool, ToolContext, ToolFailure, ToolInfo, ToolKind, ToolOutput};
use chat_testkit::server::{Script, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::definitions::write;
use super::world::{World, request, timeouts};

/// Says whether a file may be read with nobody asked.
struct Look(ToolInfo);

#[async_trait]
impl Tool for Look {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, arguments: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let path = context.project()?.resolve(arguments["path"].as_str().unwrap());
        let path = path.map_err(|error| ToolFailure::new(error.to_string()))?;
        let passes = context.host.passes(&Request::Read { path });
        Ok(ToolOutput::text(if passes { "passes" } else { "asks" }))
    }
}

fn tools() -> Registry {
    let info = ToolInfo::foreign(ToolSpec {
        name: "look".to_owned(),
        description: "For tests".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": { "path": { "type": "string" } },
            "required": ["path"],
            "additionalProperties": false,
        }),
    });
    let look: Arc<dyn Tool> = Arc::new(Look(ToolInfo { kind: ToolKind::Reads, ..info }));
    [look].into_iter().collect()
}

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// Has a session look at a file, and gives what it found.
async fn look(world: &mut World, server: &Server, fid: &Fid, path: &Path) -> String {
    server.push(Script::new().tool_call("c", "look", json!({ "path": path })));
    server.push(Script::new().text("Done."));
    world.open(fid).await;
    world.say_and_wait(fid, "Look").await;
    let messages = world.manager.sessions().transcript(fid).await.unwrap();
    let mut results =
        messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::ToolResult(result) => Some(result.text.clone()),
            _ => None,
        });
    results.next_back().unwrap()
}

#[tokio::test]
async fn what_a_project_allows_is_not_allowed_in_its_worktree_once_the_agents_chat_is_gone() {
    let server = Server::start();
    let mut world = World::with_tools(&server, ConnectionKind::OpenAi, timeouts(), tools()).await;
    let folder = TempDir::new().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (project, outside) = (root.join("project"), root.join("outside"));
    fs::create_dir(&project).unwrap();
    fs::write(&outside, "").unwrap();
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let rule = Remembered {
        rule: format!("read:{}", outside.display()).parse().unwrap(),
        effect: Effect::Allow,
        project: Some(project.clone()),
    };
    world.manager.settings().change(|it| it.permissions.remember(rule)).await.unwrap();
    server.push(Script::new().text("Hello."));
    let begins = ChatRequest { project: Some(project), ..request(None, "Hello") };
    let top = world.manager.send(begins).await.unwrap().fid;
    world.open(&top).await;
    world.events.finished(&top).await;
    let below = NewAgent {
        parent: Some(top.clone()),
        name: Some("below".to_owned()),
        worktree: Some(NewWorktree::default()),
        ..NewAgent::default()
    };
    let below = world.manager.agents().create(below).await.unwrap().meta.fid;
    assert_eq!(look(&mut world, &server, &below, &outside).await, "passes");

    // The chat is gone, and its agent is not: a damaged disk took its row, say.
    let database = Folders::below(world.folder.path()).database();
    let database = rusqlite::Connection::open(database).unwrap();
    database.execute("UPDATE sessions SET deleted = 1 WHERE fid = ?1", [top.as_str()]).unwrap();
    drop(database);
    let mut world = world.restart_with(tools()).await;
    assert_eq!(look(&mut world, &server, &below, &outside).await, "asks");
}

#[tokio::test]
async fn definitions_of_a_worktree_that_were_loaded_are_given_without_a_look_at_the_disk() {
    let world = World::empty(timeouts()).await;
    let folder = TempDir::new().unwrap();
    let project = folder.path().canonicalize().unwrap();
    write(&project, ".natter/agents/builder.md", "---\nmode: auto\n---\nBuild.");
    git(&project, &["init", "-q", "-b", "main"]);
    git(&project, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let definitions = world.manager.definitions();
    let seen = definitions.of_project(Some(&project)).await.project.clone().unwrap();
    definitions.trust(&seen).await.unwrap();
    let worktrees = world.manager.worktrees();
    let created = worktrees.create(&project, "one", NewWorktree::default()).await.unwrap().worktree;
    let in_worktree = created.project();
    definitions.of_project(Some(&in_worktree)).await;
    let has_builder = || {
        let kinds = world.manager.agent_kinds().of_project(Some(&in_worktree));
        kinds.iter().any(|kind| kind.name == "builder")
    };
    assert!(has_builder());
    // Its record is gone with it.
    fs::remove_dir_all(created.folder().parent().unwrap()).unwrap();
    assert!(has_builder());
}
