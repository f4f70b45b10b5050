//! The way to a server: what a connection says of headers and proxies.

use chat_core::client::connect;
use chat_core::error::Kind;
use chat_core::settings::{Connection, HeaderSource};
use chat_testkit::server::{Model, Script, Server};

use crate::wire::{ANTHROPIC, OLLAMA, OPENAI, ask, connection, hello, timeouts};

#[tokio::test]
async fn a_connections_headers_go_with_every_request_and_into_no_error() {
    for kind in [OLLAMA, OPENAI, ANTHROPIC] {
        let server = Server::start();
        let headers = [("X-Team", "blue-s3cret-team"), ("anthropic-version", "2099-01-01")];
        let headers =
            headers.map(|(name, value)| (name.to_owned(), HeaderSource::Value(value.to_owned())));
        let connection = Connection { headers: headers.into(), ..connection(&server.url()) };
        let client = connect(&connection, kind, None, timeouts()).unwrap();
        client.models().await.unwrap();
        server.push(Script::status(400, r#"{"error":{"message":"no blue-s3cret-team here"}}"#));
        let (_, error) = ask(&*client, hello()).await;
        let error = error.unwrap();
        assert!(!format!("{error:?} {client:?}").contains("s3cret"), "{error:?} {client:?}");
        for request in server.requests() {
            assert_eq!(request.headers["x-team"], "blue-s3cret-team", "{}", request.path);
            assert_eq!(
                request.headers["anthropic-version"], "2099-01-01",
                "theirs goes before ours"
            );
        }
    }
}

#[tokio::test]
async fn a_connections_proxy_is_asked_for_its_server() {
    // A server answers what it is asked as a proxy, too.
    let proxy = Server::start().with_models([Model::new("behind")]);
    let through = |chosen: &str| Connection {
        proxy: Some(chosen.to_owned()),
        ..connection("http://llm.invalid/v1")
    };
    let client = connect(&through(&proxy.url()), OPENAI, None, timeouts()).unwrap();
    assert_eq!(client.models().await.unwrap()[0].name, "behind");
    assert_eq!(proxy.requests()[0].headers["host"], "llm.invalid");
    let client = connect(&through("none"), OPENAI, None, timeouts()).unwrap();
    let host = "llm.invalid".to_owned();
    assert_eq!(client.models().await.unwrap_err().kind, Kind::UnknownHost { host });
    let client = connect(&through("nonsense"), OPENAI, None, timeouts()).unwrap();
    let error = client.models().await.unwrap_err();
    assert_eq!((error.kind, error.connection.as_deref()), (Kind::InvalidProxy, Some("here")));
}
