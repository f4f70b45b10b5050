//! Servers that take long: what is wanted of them is heard all the same.

use std::fs;

use chat_mcp::connection::State;
use chat_mcp::servers::Servers;
use serde_json::json;

use super::{configured, key, scripted};

/// Waits until the server `notes` has written this to its standard error.
async fn logged(servers: &Servers, what: &str) {
    let log = servers.log(&key("notes"));
    let is_there = || fs::read_to_string(&log).is_ok_and(|text| text.contains(what));
    chat_testkit::ui::until("the server to say something", || async {
        Ok(is_there().then_some(()))
    })
    .await
    .unwrap();
}

/// Whether a program with this argument runs.
pub(super) fn runs(argument: &str) -> bool {
    let programs = fs::read_dir("/proc").unwrap().flatten();
    programs.map(|program| program.path().join("cmdline")).any(|path| {
        let arguments = fs::read(path).unwrap_or_default();
        arguments.split(|&byte| byte == 0).any(|found| found == argument.as_bytes())
    })
}

#[tokio::test]
async fn one_that_is_listed_anew_and_hangs_can_be_stopped() {
    let notes = scripted(&["lists-once", "--era", "old"]);
    let (_folder, servers) = configured(&json!({ "notes": notes })).await;
    servers.start(&key("notes")).await.unwrap().unwrap();
    logged(&servers, "asked again").await;
    servers.stop(&key("notes")).await;
    assert_eq!(servers.status(&key("notes")).unwrap().state, State::Stopped);
}

#[tokio::test]
async fn one_that_is_stopped_while_it_starts_has_ended_then() {
    let mark = format!("begins {}", std::process::id());
    let notes = scripted(&["silent", "--log", &mark]);
    let (_folder, servers) = configured(&json!({ "notes": notes })).await;
    let starting = tokio::spawn({
        let servers = servers.clone();
        async move { servers.start(&key("notes")).await }
    });
    logged(&servers, &mark).await;
    assert!(runs(&mark));
    servers.stop(&key("notes")).await;
    assert!(!runs(&mark), "the program still runs");
    assert_eq!(servers.status(&key("notes")).unwrap().state, State::Stopped);
    starting.await.unwrap().unwrap().unwrap_err();
}
