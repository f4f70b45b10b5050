//! Tests signing in to servers, and out.

use std::collections::BTreeMap;

use chat_core::error::ServerFault;
use chat_core::tool::ServerContext;
use chat_mcp::client::Fault;
use chat_mcp::config::{self, Change, HttpServer, ServerConfig, Template, Transport};
use chat_mcp::connection::{StartFault, State};
use chat_mcp::http::HttpFault;
use chat_mcp::servers::Servers;
use serde_json::json;
use tokio::time::timeout;

use super::{PATIENCE, below, configured, key};
use crate::server::{Behavior, Server, location, page};

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
