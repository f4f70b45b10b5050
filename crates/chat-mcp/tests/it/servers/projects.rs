//! Tests the servers of projects.

use std::path::{Path, PathBuf};

use chat_mcp::connection::StartFault;
use chat_mcp::servers::{ServerKey, Servers};
use chat_sandbox::Preference;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{below, scripted};

/// A folder with a project in it that brings this server, and the servers of a user with this file.
fn with_project(user: &str, server: &Value) -> (TempDir, PathBuf, Servers) {
    let folder = tempfile::tempdir().unwrap();
    let servers = below(folder.path());
    let path = servers.file().path().to_owned();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, user).unwrap();
    let root = std::fs::canonicalize(folder.path()).unwrap().join("project");
    std::fs::create_dir(&root).unwrap();
    bring(&root, &json!({ "plants": server }));
    (folder, root, servers)
}

fn bring(root: &Path, servers: &Value) {
    let file = json!({ "mcpServers": servers });
    std::fs::write(root.join(".mcp.json"), file.to_string()).unwrap();
}

fn of_project(root: &Path) -> ServerKey {
    ServerKey { project: Some(root.to_owned()), name: "plants".to_owned() }
}

#[tokio::test]
async fn a_name_in_a_broken_file_of_the_users_stays_the_users() {
    let own = r#"{"mcpServers": {"plants": {"command": []}}}"#;
    let (_folder, root, servers) = with_project("{}", &scripted(&["good"]));
    let shown = servers.project(&root).await;
    servers.trust(&shown, true).await.unwrap();
    assert!(servers.status(&of_project(&root)).is_some());
    for broken in [own, "{", r#"{"servers": {}}"#, "7"] {
        std::fs::write(servers.file().path(), broken).unwrap();
        let shown = servers.project(&root).await;
        assert!(!shown.has_untrusted() && shown.taken.contains("plants"), "{broken}");
        assert!(servers.status(&of_project(&root)).is_none(), "{broken}");
    }
    let other = r#"{"mcpServers": {"other": {"command": []}}}"#;
    std::fs::write(servers.file().path(), other).unwrap();
    servers.refresh(Some(&root)).await;
    assert!(servers.status(&of_project(&root)).is_some());
}

#[tokio::test]
async fn only_what_was_asked_is_trusted() {
    let own = json!({ "mcpServers": { "notes": { "command": "mine" } } }).to_string();
    let (_folder, root, servers) = with_project(&own, &scripted(&["good"]));
    let theirs = json!({ "command": "theirs" });
    bring(&root, &json!({ "plants": scripted(&["good"]), "notes": theirs }));
    let shown = servers.project(&root).await;
    let asked: Vec<_> = shown.asked().map(|(server, _)| &*server.name).collect();
    assert_eq!(asked, ["plants"]);
    servers.trust(&shown, true).await.unwrap();
    // The user gives up the name: what nobody saw is not trusted.
    std::fs::write(servers.file().path(), "{}").unwrap();
    let shown = servers.project(&root).await;
    let asked: Vec<_> = shown.asked().map(|(server, _)| &*server.name).collect();
    assert_eq!(asked, ["notes"]);
    servers.trust(&shown, true).await.unwrap();
    let trusted = servers.project(&root).await.starts;
    assert!(trusted.iter().all(|(_, is_trusted)| *is_trusted), "{trusted:?}");
}

#[tokio::test]
async fn a_link_out_of_a_project_grants_nothing() {
    let mut server = scripted(&["good"]);
    server["natter"] = json!({ "sandbox": false, "folders": ["data"] });
    let (folder, root, servers) = with_project("{}", &server);
    std::fs::create_dir(folder.path().join("keys")).unwrap();
    std::os::unix::fs::symlink("../keys", root.join("data")).unwrap();
    let shown = servers.project(&root).await;
    servers.trust(&shown, true).await.unwrap();
    let started = servers.start(&of_project(&root)).await.unwrap();
    assert_eq!(started, Err(StartFault::LeadsOut(root.join("data"))));
}

#[tokio::test]
async fn a_server_of_a_project_starts_in_it_and_may_read_it() {
    let probe = chat_sandbox::Sandbox::probe(Preference::Best).await;
    let command = chat_testkit::mcp::scripted(&["good"]);
    // It does not start without the file, which it finds by a path of the project.
    let script =
        format!("#!/bin/sh\ntest -r data.txt && ! touch new && exec {}\n", command.join(" "));
    let server = json!({ "command": "./tools/server" });
    let (_folder, root, servers) = with_project("{}", &server);
    std::fs::write(root.join("data.txt"), "").unwrap();
    std::fs::create_dir(root.join("tools")).unwrap();
    std::fs::write(root.join("tools/server"), script).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(root.join("tools/server"), mode).unwrap();
    // The scripted server itself is somewhere else.
    let tools = Path::new(&command[0]).parent().unwrap();
    bring(
        &root,
        &json!({ "plants": { "command": "./tools/server", "natter": { "readFolders": [tools] } } }),
    );
    let shown = servers.project(&root).await;
    servers.trust(&shown, true).await.unwrap();
    let started = servers.start(&of_project(&root)).await.unwrap();
    if probe.enforcement() == chat_sandbox::Enforcement::None {
        assert_eq!(started, Err(StartFault::NoSandbox));
    } else {
        assert_eq!(started, Ok(()));
    }
}
