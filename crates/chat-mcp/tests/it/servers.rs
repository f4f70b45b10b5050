//! Tests servers as they are configured: from the file to their tools, and through their end.

mod files;
mod slow;

use std::path::Path;
use std::time::Duration;

use chat_core::settings::Folders;
use chat_mcp::client::Fault;
use chat_mcp::connection::{StartFault, State};
use chat_mcp::servers::{ServerKey, Servers, ServersOptions};
use chat_sandbox::Preference;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::server::{Behavior, Server, location, page};

/// Far more than anything takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// The servers of a file, with the folder that has it.
async fn configured(servers: &Value) -> (TempDir, Servers) {
    let folder = tempfile::tempdir().unwrap();
    let found = below(folder.path());
    let path = found.file().path().to_owned();
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, json!({ "mcpServers": servers }).to_string()).unwrap();
    found.refresh(None).await;
    (folder, found)
}

fn below(folder: &Path) -> Servers {
    let options = ServersOptions::new(Folders::below(folder), Handle::current());
    Servers::new(ServersOptions { home: folder.to_owned(), ..options })
}

fn scripted(arguments: &[&str]) -> Value {
    let command = chat_testkit::mcp::scripted(arguments);
    json!({ "command": command[0], "args": command[1..], "natter": { "sandbox": false } })
}

fn key(name: &str) -> ServerKey {
    ServerKey::of_user(name)
}

/// Waits until a server is like this.
async fn until(servers: &Servers, name: &str, holds: impl Fn(&State) -> bool) {
    let mut changes = servers.changes();
    let waiting = async {
        while !holds(&servers.status(&key(name)).unwrap().state) {
            changes.changed().await.unwrap();
        }
    };
    timeout(PATIENCE, waiting).await.expect("the server never was like this");
}

#[tokio::test]
async fn a_program_starts_when_it_is_needed_and_ends_when_it_is_stopped() {
    let (_folder, servers) = configured(&json!({ "notes": scripted(&["good"]) })).await;
    assert_eq!(servers.status(&key("notes")).unwrap().state, State::Stopped);
    servers.start(&key("notes")).await.unwrap().unwrap();
    let status = servers.status_with_tools(&key("notes")).await.unwrap();
    assert_eq!(status.state, State::Running);
    assert!(status.tools.unwrap().iter().any(|tool| tool.name == "echo"));
    servers.stop(&key("notes")).await;
    assert_eq!(servers.status(&key("notes")).unwrap().state, State::Stopped);
    assert_eq!(servers.start(&key("other")).await, None);
}

#[tokio::test]
async fn tools_are_known_in_the_next_run_without_a_start() {
    let (folder, servers) = configured(&json!({ "notes": scripted(&["good"]) })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    let tools = servers.status_with_tools(&key("notes")).await.unwrap().tools.unwrap();
    let kept = Folders::below(folder.path()).state.join("mcp/notes.tools.json");
    chat_testkit::ui::until("the tools to be kept", || async { Ok(kept.is_file().then_some(())) })
        .await
        .unwrap();
    drop(servers);
    let later = below(folder.path());
    later.refresh(None).await;
    let status = later.status_with_tools(&key("notes")).await.unwrap();
    assert_eq!((status.state, status.tools.unwrap()), (State::Stopped, tools));
}

#[tokio::test]
async fn a_program_that_dies_is_started_again() {
    let (_folder, servers) = configured(&json!({ "notes": scripted(&["good"]) })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    servers.restart(&key("notes"));
    until(&servers, "notes", |state| matches!(state, State::Starting)).await;
    until(&servers, "notes", |state| matches!(state, State::Running)).await;
}

#[tokio::test]
async fn a_server_starts_as_its_file_has_it_now() {
    let (_folder, servers) = configured(&json!({ "notes": scripted(&["dies-at-start"]) })).await;
    servers.start(&key("notes")).await.unwrap().unwrap_err();
    let mended = json!({ "mcpServers": { "notes": scripted(&["good"]) } });
    std::fs::write(servers.file().path(), mended.to_string()).unwrap();
    servers.start(&key("notes")).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_does_not_start_says_why() {
    let none = json!({ "command": "natter-has-no-such-program" });
    let (_folder, servers) = configured(&json!({ "none": none })).await;
    let fault = servers.start(&key("none")).await.unwrap().unwrap_err();
    let program = "natter-has-no-such-program".to_owned();
    let sandbox = chat_sandbox::Sandbox::probe(Preference::Best).await;
    let has_sandbox = sandbox.enforcement() != chat_sandbox::Enforcement::None;
    let expected = if has_sandbox { StartFault::NoProgram(program) } else { StartFault::NoSandbox };
    assert_eq!(fault, expected);
}

#[tokio::test]
async fn the_user_signs_in_to_a_server_at_an_address_once() {
    let behavior = Behavior { wants_token: true, expires_in: 3600, ..Behavior::default() };
    let server = Server::start(behavior).await;
    let url = server.endpoint().url.expose().to_owned();
    let (folder, servers) = configured(&json!({ "issues": { "url": url } })).await;
    let fault = servers.start(&key("issues")).await.unwrap().unwrap_err();
    assert!(matches!(fault, StartFault::Client(Fault::Unauthorized(_))), "{fault:?}");
    assert!(!servers.status(&key("issues")).unwrap().is_signed_in);

    let pending = servers.begin_sign_in(&key("issues")).await.unwrap().unwrap();
    let url = pending.url().to_owned();
    let browsing = async { page(&location(&url).await).await };
    let (finished, (status, _)) = tokio::join!(pending.finish(), browsing);
    assert_eq!((finished, status), (Ok(()), 200));
    servers.start(&key("issues")).await.unwrap().unwrap();
    assert!(servers.status(&key("issues")).unwrap().is_signed_in);
    assert!(servers.begin_sign_in(&key("issues")).await.is_none(), "it wants nothing now");

    servers.restart(&key("issues"));
    servers.start(&key("issues")).await.unwrap().unwrap();
    assert_eq!(server.asked("/authorize").len(), 1, "the token is still known");

    servers.sign_out(&key("issues")).await.unwrap();
    assert!(!servers.status(&key("issues")).unwrap().is_signed_in);
    let fault = servers.start(&key("issues")).await.unwrap().unwrap_err();
    assert!(matches!(fault, StartFault::Client(Fault::Unauthorized(_))), "{fault:?}");
    drop(folder);
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_tried_again() {
    let url = "http://127.0.0.1:9/mcp";
    let (_folder, servers) = configured(&json!({ "issues": { "url": url } })).await;
    let issues = key("issues");
    let starting = servers.start(&issues);
    let watching = until(&servers, "issues", |state| {
        matches!(state, State::Failed { is_retried: true, why: StartFault::Client(Fault::Http(_)) })
    });
    tokio::select! {
        started = starting => panic!("{started:?}"),
        () = watching => (),
    }
}
