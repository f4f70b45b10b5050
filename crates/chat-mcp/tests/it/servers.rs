//! Tests servers as they are configured: from the file to their tools, and through their end.

mod slow;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use chat_core::error::ServerFault;
use chat_core::settings::Folders;
use chat_core::tool::{ServerContext, SourceScope, ToolSource};
use chat_mcp::client::Fault;
use chat_mcp::config::{self, Change, HttpServer, ServerConfig, Template, Transport};
use chat_mcp::connection::{StartFault, State};
use chat_mcp::http::HttpFault;
use chat_mcp::servers::{ServerKey, Servers, ServersOptions};
use chat_mcp::tools::FIND_TOOLS;
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
    let status = servers.status(&key("notes")).unwrap();
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
    let tools = servers.status(&key("notes")).unwrap().tools.unwrap();
    let kept = Folders::below(folder.path()).state.join("mcp/notes.tools.json");
    chat_testkit::ui::until("the tools to be kept", || async { Ok(kept.is_file().then_some(())) })
        .await
        .unwrap();
    drop(servers);
    let later = below(folder.path());
    later.refresh(None).await;
    let status = later.status(&key("notes")).unwrap();
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
    let switched = |is_on: bool| {
        let status = servers.status(&key("notes")).unwrap();
        let tools = status.tools.unwrap();
        let echo = tools.iter().find(|tool| tool.name == "echo").unwrap();
        assert_eq!((status.state, echo.is_on), (State::Running, is_on));
        status.bytes
    };
    let all = switched(true);
    edit(&servers, "notes", |config| {
        config.options.disabled_tools.push("echo".to_owned());
        config.options.time_limit = Some(Duration::from_secs(7));
    })
    .await;
    assert!(switched(false) < all);
    let server = servers.status(&key("notes")).unwrap().server;
    assert_eq!(Some(&server), servers.config().server("notes"));
    edit(&servers, "notes", |config| config.options.disabled_tools.clear()).await;
    assert_eq!(switched(true), all);
    edit(&servers, "notes", |config| config.options.network = true).await;
    assert_eq!(servers.status(&key("notes")).unwrap().state, State::Stopped);
}

#[tokio::test]
async fn tools_that_take_more_than_their_share_are_looked_for() {
    let (_folder, servers) = configured(&json!({ "notes": scripted(&["good"]) })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    let memory = Arc::default();
    let offered = |window, percent| {
        let scope = SourceScope { project: None, memory: &memory, window, percent };
        let tools = servers.tools(scope);
        let has = |name: &str| tools.names().any(|other| other == name);
        assert_ne!(has("notes__echo"), has(FIND_TOOLS));
        has("notes__echo")
    };
    let bytes = servers.status(&key("notes")).unwrap().bytes;
    // A token is four bytes.
    let window = u32::try_from(bytes.div_ceil(4)).unwrap() * 2;
    assert!(offered(Some(window), 50) && !offered(Some(window), 49));
    assert!(offered(Some(window / 2), 100) && offered(Some(window / 2), 1000));
    assert!(!offered(None, 0) && offered(None, 100));
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

    sign_in(&servers, "issues").await;
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

/// Signs in to a server that wants it, and starts it.
async fn sign_in(servers: &Servers, name: &str) {
    assert!(wants_sign_in(servers, name).await);
    let pending = servers.begin_sign_in(&key(name)).await.unwrap().unwrap();
    let url = pending.url().to_owned();
    let browsing = async { page(&location(&url).await).await };
    let (finished, (status, _)) = tokio::join!(pending.finish(), browsing);
    assert_eq!((finished, status), (Ok(()), 200));
    servers.start(&key(name)).await.unwrap().unwrap();
}

/// Starts a server. Whether it wants the user to sign in.
async fn wants_sign_in(servers: &Servers, name: &str) -> bool {
    match servers.start(&key(name)).await.unwrap() {
        Ok(()) => false,
        Err(StartFault::Client(Fault::Unauthorized(_))) => true,
        Err(fault) => panic!("{fault:?}"),
    }
}

#[tokio::test]
async fn a_sign_in_ends_with_the_server_or_its_address_and_not_with_its_name() {
    let behavior = Behavior { wants_token: true, expires_in: 3600, ..Behavior::default() };
    let server = Server::start(behavior).await;
    let at = |name: &str, more: &str| {
        let url = format!("{}{more}", server.endpoint().url.expose());
        let url = Template::parse(&url).unwrap();
        let transport = Transport::Http(HttpServer { url, headers: BTreeMap::new() });
        config::Server { name: name.to_owned(), config: ServerConfig::new(transport) }
    };
    let (_folder, servers) = configured(&json!({})).await;
    let change = async |change| servers.change(change).await.unwrap();
    let replace =
        async |name: &str, server| change(Change::Replace { name: name.to_owned(), server }).await;

    change(Change::Add(at("issues", ""))).await;
    sign_in(&servers, "issues").await;
    replace("issues", at("tickets", "")).await;
    assert!(!wants_sign_in(&servers, "tickets").await);

    replace("tickets", at("tickets", "?team=a")).await;
    replace("tickets", at("tickets", "")).await;
    sign_in(&servers, "tickets").await;

    change(Change::Remove { name: "tickets".to_owned() }).await;
    change(Change::Add(at("tickets", ""))).await;
    sign_in(&servers, "tickets").await;

    let switched = |disabled| Change::SetDisabled { name: "tickets".to_owned(), disabled };
    change(switched(true)).await;
    servers.sign_out(&key("tickets")).await.unwrap();
    change(switched(false)).await;
    assert!(wants_sign_in(&servers, "tickets").await);
}

#[tokio::test]
async fn a_server_that_runs_and_wants_more_can_be_signed_in_to() {
    let behavior = Behavior {
        wants_token: true,
        expires_in: 3600,
        call_scope: Some("write"),
        ..Behavior::default()
    };
    let server = Server::start(behavior).await;
    let url = server.endpoint().url.expose().to_owned();
    let (_folder, servers) = configured(&json!({ "issues": { "url": url } })).await;
    sign_in(&servers, "issues").await;
    let status = || servers.status(&key("issues")).unwrap();
    assert!(!status().wants_sign_in && servers.begin_sign_in(&key("issues")).await.is_none());

    let mut changes = servers.changes();
    let read = || servers.read(None, "issues", "note://today");
    assert_eq!(read().await.unwrap_err(), ServerFault::SignIn);
    let waiting = async {
        while !status().wants_sign_in {
            changes.changed().await.unwrap();
        }
    };
    timeout(PATIENCE, waiting).await.expect("nobody said that the user must sign in");
    assert_eq!(status().state, State::Running);
    let pending = servers.begin_sign_in(&key("issues")).await.unwrap().unwrap();
    let url = pending.url().to_owned();
    let browsing = async { page(&location(&url).await).await };
    let (finished, _) = tokio::join!(pending.finish(), browsing);
    finished.unwrap();
    servers.restart(&key("issues"));
    servers.start(&key("issues")).await.unwrap().unwrap();
    assert!(!status().wants_sign_in);
    read().await.unwrap();
}

#[tokio::test]
async fn two_runs_renew_a_token_one_after_the_other() {
    let behavior = Behavior { wants_token: true, expires_in: 3600, ..Behavior::default() };
    let server = Server::start(behavior).await;
    let url = server.endpoint().url.expose().to_owned();
    let (folder, one) = configured(&json!({ "issues": { "url": url } })).await;
    sign_in(&one, "issues").await;
    let other = below(folder.path());
    other.start(&key("issues")).await.unwrap().unwrap();
    for _ in 0..5 {
        // Each token for renewing another is taken once.
        server.forget_tokens();
        let read = |servers: &Servers| {
            let servers = servers.clone();
            async move { servers.read(None, "issues", "note://today").await }
        };
        let (read_by_one, read_by_other) = tokio::join!(read(&one), read(&other));
        read_by_one.unwrap();
        read_by_other.unwrap();
    }
    assert_eq!(server.asked("/authorize").len(), 1);
}

#[tokio::test]
async fn nobody_signs_in_to_a_server_whose_entry_says_who_the_user_is() {
    let behavior = Behavior { wants_token: true, ..Behavior::default() };
    let server = Server::start(behavior).await;
    let url = server.endpoint().url.expose().to_owned();
    let issues = json!({ "url": url, "headers": { "authorization": "Bearer wrong" } });
    let (_folder, servers) = configured(&json!({ "issues": issues })).await;
    let fault = servers.start(&key("issues")).await.unwrap().unwrap_err();
    assert_eq!(fault, StartFault::Client(Fault::Http(HttpFault::Status(401))));
    assert!(!servers.status(&key("issues")).unwrap().wants_sign_in);
    assert!(servers.begin_sign_in(&key("issues")).await.is_none());
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
