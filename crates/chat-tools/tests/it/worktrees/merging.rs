//! What a merge of an agent's work asks, and what it does not.

use chat_core::message::Answer;
use chat_core::permission::Mode;
use chat_testkit::server::{Script, Server};
use serde_json::json;

use super::world::{answer, asked, call, finish, fixed, git, read, world, write};

#[tokio::test]
async fn what_is_written_while_the_user_is_asked_is_neither_committed_nor_merged() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let project = world.project.path().to_owned();
    fixed(&server, "one\n2\nthree\n");
    finish(&server, "c2", "merge");
    server.push(Script::new().text("It was not merged."));
    let fid = world.ask("Have it fixed").await;
    let ask = asked(&mut world, &fid).await;
    let rows = world.manager.worktrees().list().await.unwrap();
    write(&rows[0].path, "more", "more\n");
    answer(&world, &ask, Answer::Allow(None)).await;
    world.finished(&fid).await;
    let result = world.results(&fid).await.pop().unwrap();
    assert!(result.failed && result.text.contains("changed meanwhile"), "{result:?}");
    assert_eq!(git(&project, &["rev-list", "--count", "natter/fixer"]), "1");
    assert_eq!(read(&project, "a"), "one\ntwo\nthree\n");
}

#[tokio::test]
async fn a_merge_of_nothing_is_not_asked_about() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    server.push(call("c1", "spawn_worktree", json!({ "name": "fixer", "task": "Look at a" })));
    server.push(Script::new().text("All is well."));
    finish(&server, "c2", "merge");
    server.push(Script::new().text("There was nothing."));
    let fid = world.ask("Have it looked at").await;
    world.finished(&fid).await;
    let result = world.results(&fid).await.pop().unwrap();
    assert!(!result.failed, "{result:?}");
    assert!(result.text.starts_with("There is nothing to merge: main has all of it"), "{result:?}");
    assert_eq!(world.manager.worktrees().list().await.unwrap().len(), 1);
}
