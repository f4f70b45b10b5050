//! A real repository for agents in worktrees, and what the user is asked about them.

use std::path::Path;
use std::process::Command;

use chat_core::event::{Event, SessionApproval};
use chat_core::message::{Answer, ApprovalKind, Fid, Preview, ToolResult};
use chat_core::permission::{Action, Mode, Why};
use chat_testkit::server::{Script, Server};
use serde_json::{Value, json};

use crate::agents::world::World;

/// Runs git as the user would.
pub fn git(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

pub fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).unwrap();
}

pub fn read(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// An engine, and a project with one commit on `main`, in a mode.
pub async fn world(server: &Server, mode: Mode) -> World {
    let world = World::new(server).await;
    let project = world.project.path();
    git(project, &["init", "-q", "-b", "main"]);
    write(project, "a", "one\ntwo\nthree\n");
    git(project, &["add", "-A"]);
    git(project, &["commit", "-q", "-m", "first"]);
    let settings = world.manager.settings();
    settings.change(move |settings| settings.permissions.mode = mode).await.unwrap();
    world
}

pub fn call(id: &str, tool: &str, arguments: Value) -> Script {
    Script::new().tool_call(id, tool, arguments)
}

/// The scripts of a chat that has `fixer` write this into `a`, as far as its report.
pub fn fixed(server: &Server, text: &str) {
    let task = json!({ "name": "fixer", "task": "Fix a" });
    server.push(call("c1", "spawn_worktree", task));
    server.push(call("r1", "read_file", json!({ "path": "a" })));
    server.push(call("w1", "write_file", json!({ "path": "a", "content": text })));
    server.push(Script::new().text("Fixed."));
}

pub fn finish(server: &Server, id: &str, action: &str) {
    let arguments = json!({ "name": "fixer", "action": action });
    server.push(call(id, "finish_worktree", arguments));
}

/// Waits for the question of a chat.
pub async fn asked(world: &mut World, fid: &Fid) -> SessionApproval {
    let of = |asks: &[SessionApproval]| asks.iter().find(|ask| ask.fid == *fid).cloned();
    if let Some(ask) = of(&world.manager.permissions().pending()) {
        return ask;
    }
    world
        .until(|event| match event {
            Event::ApprovalsChanged { asks } => of(asks),
            _ => None,
        })
        .await
}

pub async fn answer(world: &World, ask: &SessionApproval, answer: Answer) {
    assert!(world.manager.permissions().answer(&ask.fid, ask.ask.id, answer).await.unwrap());
}

/// The command that the user is asked about.
pub fn command(ask: &SessionApproval) -> String {
    let ApprovalKind::Permission(asked) = &ask.ask.kind else { panic!("{ask:?}") };
    let Preview::Command { text, sandboxed: false, .. } = &asked.preview else { panic!("{ask:?}") };
    assert!(asked.action == Action::Run && asked.always.is_empty(), "{asked:?}");
    text.clone()
}

/// The first reason why the user is asked.
pub fn why(ask: &SessionApproval) -> Why {
    let ApprovalKind::Permission(asked) = &ask.ask.kind else { panic!("{ask:?}") };
    asked.reasons[0].why.clone()
}

/// The id of the snapshot that a result names.
pub fn snapshot(result: &ToolResult) -> &str {
    result.text.split("snapshot ").nth(1).unwrap().trim_end_matches('.')
}
