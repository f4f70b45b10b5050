//! Tests servers as they are configured: from the file to their tools, and through their end.

mod files;
mod slow;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use chat_core::error::ServerFault;
use chat_core::message::{Question, Todo, ToolCallId};
use chat_core::settings::Folders;
use chat_core::tool::{
    Changes, Denied, PermissionCheck, PermissionGrant, ServerContext, SourceScope, ToolContext,
    ToolHost, ToolSource,
};
use chat_mcp::client::Fault;
use chat_mcp::config::{
    self, Change, HttpServer, SecretText, Server as Configured, ServerConfig, Template, Transport,
    WriteError,
};
use chat_mcp::connection::{StartFault, State};
use chat_mcp::http::HttpFault;
use chat_mcp::import::read_pasted;
use chat_mcp::servers::{AddError, NewServer, ServerKey, Servers, ServersOptions};
use chat_mcp::tools::FIND_TOOLS;
use chat_permission::{Request, Why};
use chat_sandbox::Preference;
use chat_testkit::processes;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

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
    let bytes = servers.status_with_tools(&key("notes")).await.unwrap().bytes;
    // A token is four bytes.
    let window = u32::try_from(bytes.div_ceil(4)).unwrap() * 2;
    assert!(offered(Some(window), 50) && !offered(Some(window), 49));
    assert!(offered(Some(window / 2), 100) && offered(Some(window / 2), 1000));
    assert!(!offered(None, 0) && offered(None, 100));
}

#[tokio::test]
async fn a_tool_that_was_called_stays_offered_where_others_are_looked_for() {
    let (folder, servers) = configured(&json!({ "notes": scripted(&["good"]) })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    servers.recall(None).await;
    let memory = Arc::default();
    let offered = |percent| {
        servers.tools(SourceScope { project: None, memory: &memory, window: None, percent })
    };
    let names = |percent| offered(percent).names().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(names(0), [FIND_TOOLS]);
    let tools = offered(100);
    let context = ToolContext {
        cancel: CancellationToken::new(),
        call: ToolCallId::new("call"),
        project: None,
        memory: Arc::clone(&memory),
        outputs: folder.path().to_owned(),
        settings: Arc::default(),
        sees: false,
        most: 64 * 1024,
        host: Arc::new(Nobody),
        team: None,
        skills: Vec::new(),
        changes: Changes::default(),
        asked: Arc::default(),
    };
    let echo = tools.get("notes__echo").unwrap();
    echo.run(json!({ "message": "hello" }), context).await.unwrap_err();
    assert_eq!(names(0), [FIND_TOOLS, "notes__echo"]);
}

/// Nobody is there to allow anything.
struct Nobody;

#[async_trait]
impl ToolHost for Nobody {
    async fn permit(&self, _: PermissionCheck) -> Result<PermissionGrant, Denied> {
        Err(Denied::Nobody)
    }

    fn refusal(&self, _: &Request) -> Option<Why> {
        None
    }

    fn passes(&self, _: &Request) -> bool {
        false
    }

    async fn ask(&self, _: Question) -> Result<String, Denied> {
        Err(Denied::Nobody)
    }

    fn on_output(&self, _: &str, _: u64) {}

    fn on_todos(&self, _: Vec<Todo>) {}
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
    // Where nothing comes time passes by itself.
    tokio::time::pause();
    let began = Instant::now();
    servers.prepare(None).await;
    assert_eq!(began.elapsed().as_secs(), 20);
    let again = Instant::now();
    servers.prepare(None).await;
    assert_eq!(again.elapsed().as_secs(), 0);
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
    let fault = servers.start(&key("issues")).await.unwrap().unwrap_err();
    assert!(matches!(fault, StartFault::Client(Fault::Http(_))), "{fault:?}");
    let state = servers.status(&key("issues")).unwrap().state;
    assert_eq!(state, State::Failed { why: fault, is_retried: true });
    until(&servers, "issues", |state| matches!(state, State::Starting)).await;
}

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

/// A server that was pasted with a secret and an input.
fn pasted(folder: &Path, name: &str, typed: Option<&str>) -> NewServer {
    let text = r#"{"url": "https://example.org", "headers": {"X-Token": "sk-123456789012345", "A": "${input:in}"}}"#;
    let found = read_pasted(text, folder).servers.remove(0);
    NewServer {
        server: Configured { name: name.to_owned(), config: found.config },
        secrets: if typed.is_some() { found.secrets } else { Vec::new() },
        inputs: vec![("in".to_owned(), typed.map(SecretText::new))],
    }
}

#[tokio::test]
async fn a_server_that_is_not_added_leaves_no_secrets() {
    let (folder, servers) = configured(&json!({})).await;
    std::fs::write(servers.file().path(), "{").unwrap();
    let refused = servers.add(pasted(folder.path(), "a", Some("typed"))).await;
    assert!(matches!(refused, Err(AddError::Write(WriteError::Changed))), "{refused:?}");
    for name in ["in", "X-Token"] {
        assert!(!servers.keys().has(name).await.unwrap(), "{name}");
    }
}

#[tokio::test]
async fn secrets_of_a_new_server_take_names_that_nothing_has() {
    let (folder, servers) = configured(&json!({ "other": { "command": "${keyring:in}" } })).await;
    let own = |name: &str| servers.config().own_secrets(name).into_iter().collect::<Vec<_>>();
    servers.add(pasted(folder.path(), "a", Some("typed"))).await.unwrap();
    assert_eq!(own("a"), ["X-Token", "in-2"]);
    servers.add(pasted(folder.path(), "b", None)).await.unwrap();
    assert_eq!(own("b"), ["in-3"]);
    assert!(!servers.keys().has("in-3").await.unwrap(), "nothing was typed");
    let again = servers.add(pasted(folder.path(), "a", None)).await;
    assert!(matches!(again, Err(AddError::Write(WriteError::NameTaken { .. }))), "{again:?}");
    // What only the keyring has is no free name, either.
    std::fs::write(servers.file().path(), "{}").unwrap();
    servers.refresh(None).await;
    let mut taken = BTreeSet::new();
    let free = servers.free_secret_name("in-2", &mut taken).await.unwrap();
    assert_eq!(free, "in-2-2");
    let next = servers.free_secret_name("in-2", &mut taken).await.unwrap();
    assert_eq!(next, "in-2-3");
}
