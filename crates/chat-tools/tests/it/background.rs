//! Tests commands in the background: read, stopped, and never left behind.

use std::sync::Arc;
use std::time::Duration;

use chat_core::message::{CommandExit, ToolView};
use chat_core::tool::Memory;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::processes;
use crate::world::World;

/// A world with a command in the background, `out1`, that has written “ready” and sleeps.
async fn world() -> (World, String) {
    let world = World::new();
    world.host.allows();
    let seconds = processes::seconds();
    let command = format!("echo ready; sleep {seconds}");
    let output =
        world.call("run_command", json!({ "command": command, "background": true })).await.unwrap();
    assert!(output.text.starts_with("Running in the background as out1"), "{}", output.text);
    assert!(matches!(output.view, Some(ToolView::Ran { exit: None, output: Some(_), .. })));
    processes::wait(&seconds, true).await;
    (world, seconds)
}

#[tokio::test]
async fn what_it_writes_is_read_once_and_it_is_stopped() {
    let (world, seconds) = world().await;
    assert!(world.context.memory.is_busy());
    // The command sleeps already; what it wrote before comes by a pipe.
    loop {
        match &*world.says("read_output", json!({ "id": "out1" })).await {
            "Still running. No new output." => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            read => break assert_eq!(read, "Still running.\nready"),
        }
    }
    assert_eq!(
        world.says("read_output", json!({ "id": "out1" })).await,
        "Still running. No new output."
    );
    let output = world.call("stop_command", json!({ "id": "out1" })).await.unwrap();
    assert!(output.text.starts_with("Stopped, after "), "{}", output.text);
    assert!(matches!(output.view, Some(ToolView::Ran { exit: Some(CommandExit::Stopped), .. })));
    assert!(!processes::sleeps(&seconds));
    assert!(!world.context.memory.is_busy());
    // Its output and its end can still be had.
    assert!(world.says("read_output", json!({ "id": "out1" })).await.starts_with("Stopped"));
    assert_eq!(world.says("fetch_output", json!({ "id": "out1" })).await, "1\tready\n");
}

#[tokio::test]
async fn it_ends_with_the_request_that_began_it_where_that_is_stopped() {
    let (world, seconds) = world().await;
    world.context.cancel.cancel();
    processes::wait(&seconds, false).await;
}

#[tokio::test]
async fn another_request_that_is_stopped_leaves_it_alone() {
    let (mut world, seconds) = world().await;
    let began = std::mem::replace(&mut world.context.cancel, CancellationToken::new());
    world.context.cancel.cancel();
    assert!(world.says("read_output", json!({ "id": "out1" })).await.starts_with("Still running"));
    assert!(processes::sleeps(&seconds));
    began.cancel();
    processes::wait(&seconds, false).await;
}

#[tokio::test]
async fn it_ends_with_the_session() {
    let (mut world, seconds) = world().await;
    world.context.memory = Arc::new(Memory::default());
    processes::wait(&seconds, false).await;
}

#[tokio::test]
async fn an_end_by_itself_is_told() {
    let world = World::new();
    world.host.allows();
    world.says("run_command", json!({ "command": "echo done; exit 4", "background": true })).await;
    while world.context.memory.is_busy() {
        tokio::task::yield_now().await;
    }
    // Busy until just before its end is known.
    let said = world.says("stop_command", json!({ "id": "out1" })).await;
    assert!(said.starts_with("Exit status 4, after ") && said.ends_with("\ndone"), "{said}");
}

#[tokio::test]
async fn a_name_that_is_unknown_is_answered_with_those_that_are() {
    let world = World::new();
    let said = world.fails("read_output", json!({ "id": "out1" })).await;
    assert_eq!(said, "There is no background command “out1”. None was started.");
    world.host.allows();
    world.says("run_command", json!({ "command": "true", "background": true })).await;
    let said = world.fails("stop_command", json!({ "id": "../out1" })).await;
    assert_eq!(said, "There is no background command “../out1”. The only one is out1.");
}

#[tokio::test]
async fn of_one_that_is_forgotten_the_output_is_left() {
    let (mut world, _) = world().await;
    world.call("stop_command", json!({ "id": "out1" })).await.unwrap();
    // The chat was let go of, or the program began again.
    world.context.memory = Arc::new(Memory::default());
    let said = world.fails("read_output", json!({ "id": "out1" })).await;
    assert!(
        said.starts_with("“out1” is no longer running") && said.contains("fetch_output"),
        "{said}"
    );
    assert_eq!(world.says("fetch_output", json!({ "id": "out1" })).await, "1\tready\n");
}

#[tokio::test]
async fn of_many_that_have_ended_the_newest_are_known() {
    let world = World::new();
    world.host.allows();
    for number in 1..=34 {
        let begun = json!({ "command": "echo x", "background": true });
        world.says("run_command", begun).await;
        world.says("stop_command", json!({ "id": format!("out{number}") })).await;
    }
    assert!(world.fails("read_output", json!({ "id": "out1" })).await.contains("fetch_output"));
    world.says("read_output", json!({ "id": "out3" })).await;
}
