//! Tests which tools a session is offered.

use std::sync::Arc;

use async_trait::async_trait;
use chat_core::message::{Question, Todo, ToolCallId};
use chat_core::tool::{
    Changes, Denied, PermissionCheck, PermissionGrant, SourceScope, ToolContext, ToolHost,
    ToolSource,
};
use chat_mcp::tools::FIND_TOOLS;
use chat_permission::{Request, Why};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{configured, key, scripted};

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

/// A session without a user: nothing is allowed.
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
