//! Tests what servers may send, and where they may lead.

use std::collections::BTreeMap;

use chat_mcp::config::{ResolvedEndpoint, SecretText};
use chat_mcp::http::{HttpClient, HttpFault, transport};
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle};
use tokio::net::TcpListener;

use crate::server::{Behavior, Server, endpoint};

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
