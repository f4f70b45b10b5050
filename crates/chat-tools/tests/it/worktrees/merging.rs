//! What a merge of an agent's work asks, and what it does not.

use chat_core::message::Answer;
use chat_core::permission::Mode;
use chat_testkit::server::{Script, Server};
use serde_json::json;

use super::world::{answer, asked, call, command, finish, fixed, git, read, world, write};

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

#[tokio::test]
async fn the_agent_of_a_worktree_whose_folder_was_deleted_is_closed_once_its_branch_is_merged() {
    let server = Server::start();
    let mut world = world(&server, Mode::Edits).await;
    let project = world.project.path().to_owned();
    fixed(&server, "one\n2\nthree\n");
    finish(&server, "c2", "commit");
    server.push(Script::new().text("It is committed."));
    let fid = world.ask("Have it fixed").await;
    world.finished(&fid).await;
    let rows = world.manager.worktrees().list().await.unwrap();
    std::fs::remove_dir_all(&rows[0].path).unwrap();

    finish(&server, "c3", "merge");
    server.push(Script::new().text("It is merged."));
    world.say(&fid, "Merge it").await;
    let ask = asked(&mut world, &fid).await;
    let text = command(&ask);
    assert!(text.contains("was deleted. The branch stays after the merge.\n"), "{text}");
    answer(&world, &ask, Answer::Allow(None)).await;
    world.finished(&fid).await;
    let result = world.results(&fid).await.pop().unwrap();
    assert!(!result.failed && result.text.contains("its agent is closed"), "{result:?}");
    assert_eq!(read(&project, "a"), "one\n2\nthree\n");
    assert_eq!(git(&project, &["rev-list", "--count", "natter/fixer"]), "2");
    let fixer = world.manager.agents().find_by_name(&fid, "fixer").await.unwrap().unwrap();
    assert!(fixer.closed, "{fixer:?}");
    assert_eq!(world.manager.worktrees().list().await.unwrap(), []);
}
