//! Tools of servers as a session has them.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chat_core::message::{Question, Todo, ToolCallId};
use chat_core::settings::Folders;
use chat_core::tool::{
    Changes, Denied, PermissionCheck, PermissionGrant, SourceScope, ToolContext, ToolHost,
    ToolSource,
};
use chat_mcp::servers::{Servers, ServersOptions};
use chat_permission::{Request, Why};
use serde_json::json;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

/// Allows everything.
struct Anything;

#[async_trait]
impl ToolHost for Anything {
    async fn permit(&self, _: PermissionCheck) -> Result<PermissionGrant, Denied> {
        Ok(PermissionGrant::ByPerson)
    }

    fn refusal(&self, _: &Request) -> Option<Why> {
        None
    }

    fn passes(&self, _: &Request) -> bool {
        true
    }

    async fn ask(&self, _: Question) -> Result<String, Denied> {
        Err(Denied::Nobody)
    }

    fn on_output(&self, _: &str, _: u64) {}

    fn on_todos(&self, _: Vec<Todo>) {}
}

/// A call whose result may have so many bytes.
fn context(folder: &Path, most: usize) -> ToolContext {
    ToolContext {
        cancel: CancellationToken::new(),
        call: ToolCallId::new("c1"),
        project: None,
        memory: Arc::default(),
        outputs: folder.join("outputs"),
        settings: Arc::default(),
        sees: false,
        most,
        host: Arc::new(Anything),
        team: None,
        skills: Vec::new(),
        changes: Changes::default(),
        asked: Arc::default(),
    }
}

#[tokio::test]
async fn a_long_result_is_cut_as_other_tools_cut_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let folders = Folders::below(folder.path());
    let command = chat_testkit::mcp::scripted(&["good"]);
    let notes =
        json!({ "command": command[0], "args": command[1..], "natter": { "sandbox": false } });
    std::fs::create_dir_all(&folders.config).unwrap();
    let file = json!({ "mcpServers": { "notes": notes } }).to_string();
    std::fs::write(folders.config.join("mcp.json"), file).unwrap();
    let servers = Servers::new(ServersOptions::new(folders, Handle::current()));
    servers.prepare(None, &|_| {}).await;
    let memory = Arc::default();
    let offered =
        servers.tools(SourceScope { project: None, memory: &memory, window: None, percent: 10 });
    let big = offered.get("notes__big").unwrap();
    let run = async |kilobytes: usize, most: usize| {
        let arguments = json!({ "kilobytes": kilobytes });
        big.run(arguments, context(folder.path(), most)).await.unwrap().text
    };
    assert_eq!(run(1, 2_000).await.len(), 1024);
    let cut = run(3_000, 2_000).await;
    assert!((1_800..2_200).contains(&cut.len()), "{}", cut.len());
    assert!(cut.contains("of 3072 kB"), "{}", &cut[1_800..]);
    let kept = std::fs::read_to_string(folder.path().join("outputs/out1.txt")).unwrap();
    assert!(kept.len() >= 3_000 << 10);
}
