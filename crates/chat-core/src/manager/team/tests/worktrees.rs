//! Tests that worktrees are finished whatever comes in between.

use std::process::Command;

use super::*;
use crate::tool::NewWorktree;

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

#[tokio::test]
async fn a_removal_that_nobody_waits_for_goes_on_and_keeps_nobody_halted() {
    let (_folder, world) = world().await;
    let project = TempDir::new().unwrap();
    git(project.path(), &["init", "-q", "-b", "main"]);
    git(project.path(), &["commit", "-q", "--allow-empty", "-m", "first"]);
    let meta = SessionMeta {
        title: "chat".to_owned(),
        agent: "just-ask".to_owned(),
        model: Some(ModelRef::new("test", "scripted")),
        project: Some(project.path().to_owned()),
        ..SessionMeta::default()
    };
    let store = &world.manager.inner.shared.store;
    let record =
        store.create(NewSession { meta, ..NewSession::default() }, Vec::new()).await.unwrap();
    let chat = record.fid.clone();
    store.release(&chat).await.unwrap();
    let new = NewAgent {
        parent: Some(chat.clone()),
        name: Some("a".to_owned()),
        worktree: Some(NewWorktree::default()),
        ..NewAgent::default()
    };
    let a = world.manager.agents().create(new).await.unwrap().meta.fid;
    let session = world.session(&a).await;
    let folder = session.project().unwrap();
    assert!(folder.exists());
    let busy = session.gate_of_living().await.unwrap();
    let worktrees = world.team(&chat).worktrees();
    let mut removal = worktrees.discard("a");
    until("the halt", async || {
        assert!(futures_util::poll!(&mut removal).is_pending());
        session.is_halted().then_some(())
    })
    .await;
    drop((removal, busy));
    until("the end", async || (session.is_closed() && !session.is_halted()).then_some(())).await;
    assert!(!folder.exists());
}
