//! Tests that nobody works in the place of a worktree that is gone, also where a new one has its name.

use chat_core::error::{Kind, WorktreeFault};
use chat_core::event::Event;
use chat_core::manager::NewWorktree;
use chat_core::message::{AgentState, Answer};
use chat_core::permission::Mode;
use chat_testkit::server::{Gate, Script, Server};
use serde_json::json;

use super::world::{answer, asked, call, finish, fixed, read, world};
use crate::agents::world::reports;

#[tokio::test]
async fn an_agent_never_works_in_a_worktree_of_another_chat() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    fixed(&server, "one\n2\nthree\n");
    finish(&server, "c2", "merge");
    server.push(Script::new().text("Merged."));
    let first = world.ask("Have it fixed").await;
    let ask = asked(&mut world, &first).await;
    answer(&world, &ask, Answer::Allow(None)).await;
    world.finished(&first).await;

    fixed(&server, "one\n3\nthree\n");
    server.push(Script::new().text("It is fixed."));
    let second = world.ask("Have it fixed again").await;
    world.finished(&second).await;
    let rows = world.manager.worktrees().list().await.unwrap();
    let fixer = world.agent(&second, "fixer").await;
    assert!(rows.len() == 1 && rows[0].sessions == [fixer], "{rows:?}");
    assert_eq!(rows[0].worktree.as_ref().unwrap().branch(), "natter/fixer");

    let message = json!({ "name": "fixer", "message": "Go on" });
    server.push(call("c3", "ask_agent", message.clone()));
    server.push(call("c4", "message_agent", message));
    server.push(call("c5", "list_agents", json!({})));
    finish(&server, "c6", "discard");
    server.push(Script::new().text("It is gone."));
    world.say(&first, "Have it go on").await;
    world.finished(&first).await;
    let results = world.results(&first).await;
    for index in [2, 3, 5] {
        let result = &results[index];
        let text = "The worktree of agent “fixer” is merged into main already, and removed.";
        assert!(result.failed && result.text.contains(text), "{result:?}");
    }
    assert_eq!(results[4].text, "Agent “fixer” is closed.");
    assert_eq!(read(rows[0].worktree.as_ref().unwrap().folder(), "a"), "one\n3\nthree\n");

    // Nor where the user asks it.
    let old = world.agent(&first, "fixer").await;
    world.say(&old, "Go on").await;
    let error = world
        .until(|event| match event {
            Event::RequestFinished { fid, error, .. } if *fid == old => Some(error.clone()),
            _ => None,
        })
        .await;
    let fault = WorktreeFault::Removed { merged_into: Some("main".to_owned()), has_snapshot: true };
    assert_eq!(error.unwrap().kind, Kind::Worktree { fault });
    // When that of the other chat goes, only that chat's agent is closed.
    let worktrees = world.manager.worktrees();
    let removed = worktrees.discard(rows[0].worktree.as_ref().unwrap()).await.unwrap();
    let gone = |has_snapshot| {
        let fault = WorktreeFault::Removed { merged_into: None, has_snapshot };
        Kind::Worktree { fault }
    };
    let why = worktrees.why_missing(&rows[0].path).await.unwrap().unwrap();
    assert_eq!(why.kind, gone(true));
    // Nobody is sent to a snapshot that was deleted.
    worktrees.delete_snapshot(&removed.snapshot.id).await.unwrap();
    let why = worktrees.why_missing(&rows[0].path).await.unwrap().unwrap();
    assert_eq!(why.kind, gone(false));
    assert_eq!(worktrees.why_missing(world.project.path()).await.unwrap(), None);
}

#[tokio::test]
async fn the_work_of_an_agent_that_was_stopped_is_not_shown_as_done() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let gate = Gate::new();
    server.when("Fix a", Script::new().text("I begin").gate(&gate));
    let task = json!({ "name": "fixer", "task": "Fix a", "background": true });
    server.push(call("c1", "spawn_worktree", task));
    server.push(Script::new().text("It works."));
    let fid = world.ask("Have it fixed").await;
    world.finished(&fid).await;
    let fixer = world.agent(&fid, "fixer").await;
    gate.reached().await;
    // The chat answers the report before it is asked again.
    server.push(Script::new().text("It was stopped."));
    world.manager.agents().interrupt(&fixer);
    world.finished(&fid).await;
    finish(&server, "c2", "show");
    server.push(Script::new().text("Nothing."));
    world.say(&fid, "What has it done?").await;
    world.finished(&fid).await;
    let result = world.results(&fid).await.pop().unwrap();
    assert_eq!(reports(&result)[0].state, AgentState::Stopped, "{result:?}");
}

#[tokio::test]
async fn several_worktrees_of_one_name_are_told_apart() {
    let server = Server::start();
    let world = world(&server, Mode::Edits).await;
    let worktrees = world.manager.worktrees();
    let create = async || {
        let new = NewWorktree::default();
        worktrees.create(world.project.path(), "Fix it", new).await.unwrap().worktree
    };
    let first = create().await;
    for name in ["Fix it", "fix-it", "natter/fix-it"] {
        assert_eq!(worktrees.find(name).await.unwrap(), first);
    }
    let second = create().await;
    let several = worktrees.find("fix-it").await.unwrap_err().kind;
    let mut paths = vec![first.folder().to_owned(), second.folder().to_owned()];
    paths.sort();
    let fault = WorktreeFault::Several { name: "fix-it".to_owned(), paths };
    assert_eq!(several, Kind::Worktree { fault });
    assert_eq!(worktrees.find("natter/fix-it-2").await.unwrap(), second);
    for found in [&first, &second] {
        let folder = found.folder().file_name().unwrap().to_str().unwrap();
        assert_eq!(worktrees.find(folder).await.unwrap(), *found);
        assert_eq!(worktrees.find(found.folder().to_str().unwrap()).await.unwrap(), *found);
    }
}
