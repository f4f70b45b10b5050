//! Tests what servers may send, and where they may lead.

use std::collections::BTreeMap;
use std::sync::Arc;

use chat_mcp::client::Fault;
use chat_mcp::config::{ResolvedEndpoint, SecretText};
use chat_mcp::http::{HttpClient, HttpFault, transport};
use chat_mcp::oauth::{OAuthFault, SignIn, SignInOptions};
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle};
use tokio::net::TcpListener;

use crate::server::{Behavior, Server, User, Vault, endpoint};

/// Connects; why not, if there is no connection.
async fn connect(endpoint: &ResolvedEndpoint) -> Result<(), Option<HttpFault>> {
    let client = HttpClient::new(endpoint).map_err(Some)?;
    let transport = transport(&client, endpoint, None).map_err(Some)?;
    let mode = ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        legacy_version: Some(ProtocolVersion::V_2025_11_25),
    };
    match serve_client_with_lifecycle((), transport, mode).await {
        Ok(client) => client.cancel().await.map(drop).map_err(|_| None),
        Err(error) => Err(HttpFault::of_connect(&error)),
    }
}

fn with_header(url: &str) -> ResolvedEndpoint {
    let headers = BTreeMap::from([("X-Key".to_owned(), SecretText::new("hunter2"))]);
    ResolvedEndpoint { headers, ..endpoint(url) }
}

fn redirecting(status: u16, to: impl Into<String>) -> Behavior {
    Behavior { redirects: BTreeMap::from([("/old", (status, to.into()))]), ..Behavior::default() }
}

#[tokio::test]
async fn a_redirect_within_the_server_is_followed() {
    let server = Server::start(redirecting(307, "/mcp")).await;
    let endpoint = with_header(&format!("{}/old", server.origin()));
    assert_eq!(connect(&endpoint).await, Ok(()));
    let asked = server.asked("/mcp");
    assert!(asked.iter().all(|asked| asked.headers["x-key"] == "hunter2"), "{asked:?}");
    assert!(asked[0].headers["user-agent"].starts_with("natter/"));
}

#[tokio::test]
async fn a_redirect_elsewhere_is_not_followed() {
    let other = Server::start(Behavior::default()).await;
    for to in [format!("{}/mcp", other.origin()), "http://10.0.0.1/mcp".to_owned()] {
        let server = Server::start(redirecting(307, to)).await;
        let endpoint = with_header(&format!("{}/old", server.origin()));
        assert_eq!(connect(&endpoint).await, Err(Some(HttpFault::RedirectRefused)));
    }
    assert!(other.asked("/mcp").is_empty());
}

#[tokio::test]
async fn endless_redirects_end() {
    let server = Server::start(redirecting(307, "/old")).await;
    let endpoint = endpoint(&format!("{}/old", server.origin()));
    assert_eq!(connect(&endpoint).await, Err(Some(HttpFault::RedirectRefused)));
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_not_read() {
    let body = format!("\"{}\"", "x".repeat(17 << 20));
    let instead = Some((200, body));
    let server = Server::start(Behavior { instead, ..Behavior::default() }).await;
    assert_eq!(connect(&server.endpoint()).await, Err(Some(HttpFault::TooLarge)));
}

#[test]
fn without_certificates_what_needs_none_works() {
    let folder = tempfile::tempdir().unwrap();
    let test = "http::on_a_computer_without_certificates";
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--ignored", "--nocapture"]);
    command.env("SSL_CERT_FILE", folder.path().join("none")).env("SSL_CERT_DIR", folder.path());
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{output:?}");
}

#[tokio::test]
#[ignore = "run by another test, without certificates"]
async fn on_a_computer_without_certificates() {
    let vault = Arc::new(Vault::default());
    let user = async |server: &Server| {
        User::new(server.endpoint(), &vault, None, SignInOptions::default()).await
    };
    let open = Server::start(Behavior::default()).await;
    user(&open).await.connect().await.unwrap();
    let closed = Server::start(Behavior { wants_token: true, ..Behavior::default() }).await;
    let user = user(&closed).await;
    let Err(Fault::Unauthorized(challenge)) = user.connect().await else { panic!() };
    let fault = SignIn::begin(&user.account, &challenge).await.err();
    assert_eq!(fault, Some(OAuthFault::NoTls));
}

#[tokio::test]
async fn why_there_is_no_connection_is_told() {
    for (status, body, fault) in [
        (503, "", HttpFault::Status(503)),
        (404, "", HttpFault::Status(404)),
        (200, "<html>", HttpFault::NotMcp),
    ] {
        let instead = Some((status, body.to_owned()));
        let server = Server::start(Behavior { instead, ..Behavior::default() }).await;
        assert_eq!(connect(&server.endpoint()).await, Err(Some(fault)));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    assert_eq!(connect(&endpoint(&url)).await, Err(Some(HttpFault::Unreachable)));
}
