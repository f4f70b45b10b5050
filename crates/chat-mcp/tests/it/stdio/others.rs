//! Servers that others wrote.

use chat_mcp::client::Discovery;
use chat_testkit::mcp::OtherServers;
use rmcp::model::ProtocolVersion;
use serde_json::json;

use super::{Server, call, text, tool_names};

#[tokio::test]
async fn the_server_of_everything_works() {
    let Some(others) = OtherServers::find() else { return };
    let server = Server::connect(&others.everything(&[]), Discovery::Ask).await.unwrap();
    let client = server.client();
    assert_eq!(client.version(), Some(ProtocolVersion::V_2025_11_25));
    let list = client.tools().await.unwrap();
    assert_eq!(list.unreadable, 0);
    assert!(list.tools.len() > 5, "{:?}", list.tools);
    let echo = call(client, "echo", json!({ "message": "hello" })).await.unwrap();
    assert!(text(&echo).contains("hello"), "{echo:?}");
    server.link.close().await;
}

#[tokio::test]
async fn the_server_of_files_reads_in_its_folder_alone() {
    let Some(others) = OtherServers::find() else { return };
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("note");
    std::fs::write(&inside, "a note").unwrap();
    let command = others.filesystem(&[folder.path().to_str().unwrap()]);
    let server = Server::connect(&command, Discovery::Ask).await.unwrap();
    let read = async |path| {
        call(server.client(), "read_text_file", json!({ "path": path })).await.unwrap()
    };
    assert_eq!(text(&read(inside.to_str().unwrap()).await), "a note");
    assert_eq!(read("/etc/hostname").await.is_error, Some(true));
}

#[tokio::test]
async fn the_server_that_remembers_works() {
    let Some(others) = OtherServers::find() else { return };
    let server = Server::connect(&others.memory(), Discovery::Older).await.unwrap();
    assert!(tool_names(server.client()).await.contains(&"read_graph".to_owned()));
}

#[tokio::test]
async fn a_server_with_the_official_sdk_works_in_both_revisions() {
    let Some(others) = OtherServers::find() else { return };
    for (discovery, version) in [
        (Discovery::Ask, ProtocolVersion::V_2026_07_28),
        (Discovery::Older, ProtocolVersion::V_2025_11_25),
    ] {
        let server = Server::connect(&others.tiny(&[]), discovery).await.unwrap();
        let client = server.client();
        assert_eq!(client.version(), Some(version));
        assert!(tool_names(client).await.contains(&"greet".to_owned()));
        let sum = call(client, "add", json!({ "a": 1, "b": 2 })).await.unwrap();
        assert_eq!(text(&sum), "3");
    }
}
