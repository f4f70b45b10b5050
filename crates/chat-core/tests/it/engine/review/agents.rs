//! What agents change in the project of the chat above them: reviewed and undone from there, and from their own chats.

use std::path::PathBuf;

use chat_core::error::Kind;
use chat_core::event::{Event, SessionEvent};
use chat_core::message::DeleteScope;
use chat_core::review::ReviewScope;
use chat_testkit::server::{Gate, Script};

use super::{LINES, Scene};

#[tokio::test]
async fn what_agents_change_is_reviewed_from_the_chat_above_them_and_from_their_own() {
    let mut scene = Scene::new().await;
    scene.write("a.txt", LINES);
    let fid = scene.ask(None, &[]).await;
    let agent = scene.agent(&fid).await;
    let other = scene.agent(&fid).await;
    let mut watcher = scene.world.manager.subscribe();
    scene.world.manager.sessions().open(&fid, 1, &watcher).await.unwrap();
    scene.ask(Some(&agent), &[("a.txt", "one\n"), ("new.txt", "n\n")]).await;
    let hears = |event: &Event| match event {
        Event::Session { fid: of, event, .. } => {
            *of == fid && matches!(event, SessionEvent::FilesChanged)
        }
        _ => false,
    };
    while !watcher.next().await.unwrap().iter().any(hears) {}
    scene.ask(Some(&other), &[("other.txt", "o\n")]).await;
    assert_eq!(scene.paths(&fid).await, ["a.txt", "new.txt", "other.txt"]);
    assert_eq!(scene.paths(&agent).await, ["a.txt", "new.txt"]);
    let changes = scene.world.manager.review().changes(&fid).await.unwrap();
    assert_eq!([&changes[0].session, &changes[2].session], [agent.as_str(), other.as_str()]);
    // An answer in one of them holds in the other, and so does taking it back.
    let of = |path: &str| Some((PathBuf::from(path), ReviewScope::File));
    scene.world.manager.review().accept(&agent, of("new.txt")).await.unwrap();
    assert_eq!(scene.paths(&fid).await, ["a.txt", "other.txt"]);
    let answer = scene.world.manager.review().reject(&fid, None).await.unwrap().undo.unwrap();
    assert_eq!((scene.read("a.txt"), scene.read("other.txt")), (LINES.into(), "(gone)".into()));
    assert!(scene.paths(&agent).await.is_empty());
    scene.world.manager.review().undo_answer(&fid, answer).await.unwrap();
    assert_eq!((scene.read("a.txt"), scene.read("other.txt")), ("one\n".into(), "o\n".into()));
    // The model of the chat above hears of what was rejected, too.
    scene.world.manager.review().reject(&fid, of("a.txt")).await.unwrap();
    for fid in [&fid, &agent] {
        scene.ask(Some(fid), &[]).await;
        let sent = scene.last_sent();
        assert!(sent.contains("The user rejected these changes of yours"), "{sent}");
        assert!(sent.contains("a.txt"), "{sent}");
    }
}

#[tokio::test]
async fn undoing_a_turn_undoes_what_agents_did_in_it_also_after_a_restart() {
    let mut scene = Scene::new().await;
    scene.write("a.txt", LINES);
    scene.write("mine.txt", "mine\n");
    // The chat itself changes nothing.
    let fid = scene.ask(None, &[]).await;
    let agent = scene.agent(&fid).await;
    scene.ask(Some(&agent), &[("a.txt", "one\n")]).await;
    scene.ask(Some(&fid), &[]).await;
    scene.ask(Some(&agent), &[("a.txt", "two\n"), ("new.txt", "n\n")]).await;
    scene.write("mine.txt", "mine, changed\n");
    let said = scene.said(&fid).await;
    let restored = scene.world.manager.review().restore_files(&fid, said[1]).await.unwrap();
    assert_eq!((scene.read("a.txt"), scene.read("new.txt")), ("one\n".into(), "(gone)".into()));
    scene.world.manager.review().undo_restore(&fid, restored.seq).await.unwrap();
    assert_eq!((scene.read("a.txt"), scene.read("new.txt")), ("two\n".into(), "n\n".into()));

    let Scene { server, world, project, meanwhile } = scene;
    let world = world.restart().await;
    let scene = Scene { server, world, project, meanwhile };
    assert_eq!(scene.paths(&fid).await, ["a.txt", "new.txt"]);
    scene.world.manager.review().restore_files(&fid, said[0]).await.unwrap();
    assert_eq!((scene.read("a.txt"), scene.read("new.txt")), (LINES.into(), "(gone)".into()));
    assert_eq!(scene.read("mine.txt"), "mine, changed\n");
    assert!(scene.paths(&fid).await.is_empty());
}

#[tokio::test]
async fn what_agents_do_after_a_message_was_deleted_belongs_to_the_one_before_it() {
    let mut scene = Scene::new().await;
    scene.write("a.txt", LINES);
    let fid = scene.ask(None, &[]).await;
    scene.ask(Some(&fid), &[]).await;
    let agent = scene.agent(&fid).await;
    let said = scene.said(&fid).await;
    let messages = scene.world.manager.messages();
    messages.delete(&fid, said[1], DeleteScope::Message).await.unwrap();
    scene.ask(Some(&agent), &[("a.txt", "one\n")]).await;
    scene.world.manager.review().restore_files(&fid, said[0]).await.unwrap();
    assert_eq!(scene.read("a.txt"), LINES);
}

#[tokio::test]
async fn undoing_in_an_agents_chat_leaves_what_others_did() {
    let mut scene = Scene::new().await;
    scene.write("a.txt", LINES);
    let fid = scene.ask(None, &[("before.txt", "b\n")]).await;
    let agent = scene.agent(&fid).await;
    scene.ask(Some(&agent), &[("a.txt", &LINES.replace("2\n", "two\n"))]).await;
    let both = LINES.replace("2\n", "two\n").replace("8\n", "eight\n");
    scene.ask(Some(&fid), &[("a.txt", &both)]).await;
    let said = scene.said(&agent).await;
    scene.world.manager.review().restore_files(&agent, said[0]).await.unwrap();
    assert_eq!(scene.read("a.txt"), LINES.replace("8\n", "eight\n"));
    assert_eq!(scene.read("before.txt"), "b\n");
    // Where another wrote over the same lines, nothing is done, and the file is named.
    scene.ask(Some(&agent), &[("a.txt", "one\n")]).await;
    scene.ask(Some(&fid), &[("a.txt", "mine\n")]).await;
    let said = scene.said(&agent).await;
    let restored = scene.world.manager.review().restore_files(&agent, said[1]).await.unwrap();
    assert_eq!(restored.conflicts.len(), 1, "{restored:?}");
    assert_eq!(scene.read("a.txt"), "mine\n");
}

#[tokio::test]
async fn while_an_agent_works_the_chat_above_it_restores_nothing() {
    let mut scene = Scene::new().await;
    let fid = scene.ask(None, &[("a.txt", "one\n")]).await;
    let agent = scene.agent(&fid).await;
    let gate = Gate::new();
    scene.server.push(Script::new().text("Well").gate(&gate).text("."));
    scene.world.open(&agent).await;
    scene.world.say(&agent, "Go").await;
    gate.reached().await;
    let said = scene.said(&fid).await;
    let error = scene.world.manager.review().restore_files(&fid, said[0]).await.unwrap_err();
    assert_eq!(error.kind, Kind::AgentAtWork { name: "helper".to_owned() });
    assert_eq!(scene.read("a.txt"), "one\n");
    gate.open();
    scene.world.events.finished(&agent).await;
    scene.world.manager.review().restore_files(&fid, said[0]).await.unwrap();
    assert_eq!(scene.read("a.txt"), "(gone)");
}
