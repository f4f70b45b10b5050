//! Servers and the files that say which there are: what is read late, and what is broken.

use std::fs;
use std::path::Path;

use chat_core::tool::ToolSource;
use chat_mcp::config::ProblemKind;
use chat_mcp::connection::State;
use chat_mcp::servers::{ServerKey, Servers};
use serde_json::{Value, json};

use super::slow::runs;
use super::{configured, key, scripted, until};

fn write(servers: &Servers, named: &Value) {
    let text = json!({ "mcpServers": named }).to_string();
    fs::write(servers.file().path(), text).unwrap();
}

#[tokio::test]
async fn servers_run_on_while_their_file_is_broken() {
    let named = json!({ "notes": scripted(&["good"]) });
    let (_folder, servers) = configured(&named).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    let is_running = || servers.status(&key("notes")).unwrap().state == State::Running;
    fs::write(servers.file().path(), "{ \"mcpServers\": { \"notes\": {").unwrap();
    servers.refresh(None).await;
    assert!(is_running());
    let config = servers.config();
    assert_eq!(config.problems[0].kind, ProblemKind::Syntax);
    assert!(config.server("notes").is_some());
    write(&servers, &named);
    servers.refresh(None).await;
    assert!(is_running() && servers.config().problems.is_empty());
    write(&servers, &json!({}));
    servers.refresh(None).await;
    assert!(servers.status(&key("notes")).is_none());
}

#[tokio::test]
async fn one_that_another_replaces_has_ended_before_that_begins() {
    // It does not end with its input.
    let mark = format!("replaced {}", std::process::id());
    let before = scripted(&["ignores-end", "--log", &mark]);
    let (_folder, servers) = configured(&json!({ "notes": before })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    assert!(runs(&mark));
    write(&servers, &json!({ "notes": scripted(&["good"]) }));
    servers.start(&key("notes")).await.unwrap().unwrap();
    assert!(!runs(&mark), "both run");
    until(&servers, "notes", |state| *state == State::Running).await;
    // What is removed ends, too, and closing waits for that.
    let mark = format!("removed {}", std::process::id());
    write(&servers, &json!({ "notes": scripted(&["ignores-end", "--log", &mark]) }));
    servers.start(&key("notes")).await.unwrap().unwrap();
    write(&servers, &json!({}));
    servers.refresh(None).await;
    assert!(runs(&mark));
    servers.close().await;
    assert!(!runs(&mark));
}

fn brought(project: &Path, servers: &Servers) -> bool {
    let of_project = ServerKey { project: Some(project.to_owned()), name: "notes".to_owned() };
    servers.status(&of_project).is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_read_before_trust_was_taken_back_does_not_count() {
    let (folder, servers) = configured(&json!({})).await;
    let project = fs::canonicalize(folder.path()).unwrap().join("project");
    fs::create_dir(&project).unwrap();
    let text = json!({ "mcpServers": { "notes": { "command": "notes" } } }).to_string();
    fs::write(project.join(".mcp.json"), text).unwrap();
    for _ in 0..50 {
        let shown = servers.project(&project).await;
        servers.trust(&shown, true).await.unwrap();
        assert!(brought(&project, &servers));
        let readers: Vec<_> = (0..4)
            .map(|_| {
                let (servers, project) = (servers.clone(), project.clone());
                tokio::spawn(async move { servers.refresh(Some(&project)).await })
            })
            .collect();
        servers.forget(&project).await.unwrap();
        for reader in readers {
            reader.await.unwrap();
        }
        assert!(!brought(&project, &servers));
    }
}

#[tokio::test]
async fn how_a_server_is_waits_for_nothing_and_is_told_later() {
    let (_folder, servers) = configured(&json!({ "notes": scripted(&["good"]) })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    let tools = servers.status_with_tools(&key("notes")).await.unwrap().tools.unwrap();
    let again = servers.status(&key("notes")).unwrap().tools.unwrap();
    assert!(std::sync::Arc::ptr_eq(&tools, &again), "nothing is copied");
    // Another way of starting makes it another server, of which nothing is known.
    write(&servers, &json!({ "notes": scripted(&["good", "--tools", "1"]) }));
    servers.refresh(None).await;
    let mut changes = servers.changes();
    assert_eq!(servers.status(&key("notes")).unwrap().tools, None);
    // Its file has no tools that it could have; that is found out beside.
    changes.changed().await.unwrap();
    assert_eq!(servers.status(&key("notes")).unwrap().tools, None);
    servers.start(&key("notes")).await.unwrap().unwrap();
    let more = servers.status_with_tools(&key("notes")).await.unwrap().tools.unwrap();
    assert_eq!(more.len(), tools.len() + 1);
}
