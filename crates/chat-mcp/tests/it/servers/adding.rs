//! Tests adding servers, with their secrets.

use std::collections::BTreeSet;
use std::path::Path;

use chat_mcp::config::{SecretText, Server as Configured, WriteError};
use chat_mcp::import::read_pasted;
use chat_mcp::servers::{AddError, NewServer};
use serde_json::json;

use super::configured;

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
