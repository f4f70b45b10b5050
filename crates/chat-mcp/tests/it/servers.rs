//! Tests servers as they are configured: from the file to their tools, and through their end.

mod adding;
mod files;
mod offered;
mod projects;
mod sign_in;
mod slow;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use chat_core::settings::Folders;
use chat_core::tool::ToolSource;
use chat_mcp::client::Fault;
use chat_mcp::config::{Change, ServerConfig};
use chat_mcp::connection::{StartFault, State};
use chat_mcp::servers::{ServerKey, Servers, ServersOptions};
use chat_sandbox::Preference;
use chat_testkit::processes;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};

use crate::server::{Behavior, Server};

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
async fn a_program_is_started_anew_when_the_user_wants_that() {
    let (_folder, servers) = configured(&json!({ "notes": scripted(&["good"]) })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    servers.restart(&key("notes"));
    until(&servers, "notes", |state| matches!(state, State::Starting)).await;
    until(&servers, "notes", |state| matches!(state, State::Running)).await;
}

/// Changes a server in the file.
async fn edit(servers: &Servers, name: &str, edit: impl FnOnce(&mut ServerConfig)) {
    let mut server = servers.config().server(name).unwrap().clone();
    edit(&mut server.config);
    servers.change(Change::Replace { name: name.to_owned(), server }).await.unwrap();
}

#[tokio::test]
async fn only_what_changes_how_a_server_is_started_ends_it() {
    let (_folder, servers) = configured(&json!({ "notes": scripted(&["good"]) })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    let switched = async |is_on: bool| {
        let status = servers.status_with_tools(&key("notes")).await.unwrap();
        let tools = status.tools.unwrap();
        let echo = tools.iter().find(|tool| tool.name == "echo").unwrap();
        assert_eq!((status.state, echo.is_on), (State::Running, is_on));
        status.bytes
    };
    let all = switched(true).await;
    edit(&servers, "notes", |config| {
        config.options.disabled_tools.push("echo".to_owned());
        config.options.time_limit = Some(Duration::from_secs(7));
    })
    .await;
    assert!(switched(false).await < all);
    let server = servers.status(&key("notes")).unwrap().server;
    assert_eq!(Some(&server), servers.config().server("notes"));
    edit(&servers, "notes", |config| config.options.disabled_tools.clear()).await;
    assert_eq!(switched(true).await, all);
    edit(&servers, "notes", |config| config.options.network = true).await;
    assert_eq!(servers.status(&key("notes")).unwrap().state, State::Stopped);
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
async fn a_program_that_is_killed_comes_back_by_itself_and_no_other_is_touched() {
    // The word by which it is told from other programs.
    let notes = scripted(&["good", "--log", "to-be-killed"]);
    let both = json!({ "notes": notes, "other": scripted(&["good"]) });
    let (_folder, servers) = configured(&both).await;
    for name in ["notes", "other"] {
        servers.start(&key(name)).await.unwrap().unwrap();
    }
    let running = || {
        let mut all = processes::below(std::process::id()).into_iter();
        all.find(|it| it.has_word("to-be-killed")).expect("it runs")
    };
    let killed = running();
    killed.kill();
    until(&servers, "notes", |state| {
        *state == State::Failed { why: StartFault::Ended, is_retried: true }
    })
    .await;
    assert_eq!(servers.status(&key("other")).unwrap().state, State::Running);
    let known = servers.status_with_tools(&key("notes")).await.unwrap().tools;
    assert!(known.is_some(), "they stay known");
    until(&servers, "notes", |state| matches!(state, State::Running)).await;
    assert_ne!(running().id, killed.id);
    assert_eq!(servers.status(&key("notes")).unwrap().trouble, None);
}

#[tokio::test]
async fn a_program_that_does_not_start_is_not_waited_for_again() {
    let (_folder, servers) = configured(&json!({ "notes": scripted(&["dies-at-start"]) })).await;
    // The next tries would take a minute.
    let limit = PATIENCE / 3;
    let fault = timeout(limit, servers.start(&key("notes"))).await.unwrap().unwrap().unwrap_err();
    assert_eq!(fault, StartFault::Ended);
    until(&servers, "notes", |state| matches!(state, State::Starting)).await;
    assert_eq!(servers.status(&key("notes")).unwrap().trouble, Some(StartFault::Ended));
}

#[tokio::test]
async fn requests_wait_once_for_a_server_that_never_answers_and_go_on_without_it() {
    let (_folder, servers) = configured(&json!({ "notes": scripted(&["silent"]) })).await;
    let told = Mutex::new(Vec::new());
    let waits_for = |names| told.lock().unwrap().push(names);
    // Where nothing comes time passes by itself.
    tokio::time::pause();
    let began = Instant::now();
    servers.prepare(None, &waits_for).await;
    assert_eq!(began.elapsed().as_secs(), 20);
    assert_eq!(*told.lock().unwrap(), [["notes"]]);
    let again = Instant::now();
    servers.prepare(None, &waits_for).await;
    assert_eq!(again.elapsed().as_secs(), 0);
    assert_eq!(told.lock().unwrap().len(), 1);
    assert!(ToolSource::known(&servers).is_empty());
}

#[tokio::test]
async fn a_program_that_ends_when_it_is_asked_for_its_revision_is_one_of_the_older() {
    let (_folder, servers) =
        configured(&json!({ "notes": scripted(&["dies-at-discovery"]) })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    let status = servers.status_with_tools(&key("notes")).await.unwrap();
    assert!(status.tools.unwrap().iter().any(|tool| tool.name == "echo"));
}

#[tokio::test]
async fn a_server_that_answers_anything_is_asked_for_its_revision_once() {
    let server = Server::start(Behavior { answers_anything: true, ..Behavior::default() }).await;
    let url = server.endpoint().url.expose().to_owned();
    let (_folder, servers) = configured(&json!({ "issues": { "url": url } })).await;
    servers.start(&key("issues")).await.unwrap().unwrap();
    servers.restart(&key("issues"));
    servers.start(&key("issues")).await.unwrap().unwrap();
    let asked = server.asked("/mcp");
    let times = |method: &str| asked.iter().filter(|asked| asked.body.contains(method)).count();
    assert_eq!((times("server/discover"), times("\"initialize\"")), (1, 2));
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
async fn a_server_that_cannot_be_reached_is_tried_again() {
    let url = "http://127.0.0.1:9/mcp";
    let (_folder, servers) = configured(&json!({ "issues": { "url": url } })).await;
    let fault = servers.start(&key("issues")).await.unwrap().unwrap_err();
    assert!(matches!(fault, StartFault::Client(Fault::Http(_))), "{fault:?}");
    let state = servers.status(&key("issues")).unwrap().state;
    assert_eq!(state, State::Failed { why: fault, is_retried: true });
    until(&servers, "issues", |state| matches!(state, State::Starting)).await;
}

#[tokio::test]
async fn a_program_that_cannot_download_the_server_says_that_it_has_no_network() {
    let sandbox = chat_sandbox::Sandbox::probe(Preference::Best).await;
    if sandbox.enforcement() == chat_sandbox::Enforcement::None {
        return;
    }
    let programs = tempfile::tempdir().unwrap();
    let npx = programs.path().canonicalize().unwrap().join("npx");
    std::fs::write(&npx, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&npx, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (network, expected) in [(false, StartFault::NoNetwork), (true, StartFault::Ended)] {
        let options = json!({ "readFolders": [npx.parent()], "network": network });
        let notes = json!({ "command": npx, "args": ["-y", "notes-server"], "natter": options });
        let (_folder, servers) = configured(&json!({ "notes": notes })).await;
        let fault = servers.start(&key("notes")).await.unwrap().unwrap_err();
        assert_eq!(fault, expected);
    }
}
