//! The folder that a session works in, and the tools that it brings.

use chat_core::error::Kind;
use chat_core::message::{ChatRequest, Role};
use chat_core::permission::Mode;
use chat_testkit::server::{Gate, Script, Server};

use super::permissions::{Scene, touches};
use super::world::request;

#[tokio::test]
async fn without_a_project_no_tools_are_offered() {
    let server = Server::start();
    let mut scene = Scene::new(&server).await;
    let (fid, _) = scene.world.ask_and_wait("Hello").await;
    assert!(server.chats()[0].body.get("tools").is_none(), "{}", server.chats()[0].body);
    // And with one they are, with a word about where they work.
    let root = scene.root();
    let request = ChatRequest { project: Some(root.clone()), ..request(Some(&fid), "And now?") };
    scene.world.manager.send(request).await.unwrap();
    scene.world.events.finished(&fid).await;
    let body = server.chats()[1].body.clone();
    assert_eq!(body["tools"].as_array().unwrap().len(), 3);
    assert!(body["messages"][0]["content"].as_str().unwrap().contains(root.to_str().unwrap()));
    assert_eq!(scene.world.events.rows[&fid].project, Some(root));
}

#[tokio::test]
async fn a_tool_that_is_switched_off_is_gone_at_the_next_round() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(touches("c1", "new.txt").gate(&gate));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Edits).await;
    gate.reached().await;
    let off = |settings: &mut chat_core::settings::Settings| {
        settings.tools.off.insert("wonder".to_owned());
    };
    scene.world.manager.settings().change(off).await.unwrap();
    gate.open();
    scene.world.events.finished(&fid).await;
    let offered: Vec<_> =
        server.chats().iter().map(|chat| chat.body["tools"].as_array().unwrap().len()).collect();
    assert_eq!(offered, [3, 2]);
}

#[tokio::test]
async fn a_folder_that_is_gone_fails_the_request_and_loses_nothing() {
    let server = Server::start();
    let mut scene = Scene::new(&server).await;
    let gone = scene.root().join("gone");
    let request = ChatRequest { project: Some(gone.clone()), ..request(None, "Look") };
    let fid = scene.world.manager.send(request).await.unwrap().fid;
    scene.world.open(&fid).await;
    let finished = scene.world.events.finished(&fid).await;
    assert_eq!(finished.error.unwrap().kind, Kind::ProjectMissing { path: gone });
    assert_eq!(scene.world.transcript(&fid).await[0], (Role::User, "Look".to_owned()));
}

#[tokio::test]
async fn a_folder_with_natters_own_files_is_refused() {
    let server = Server::start();
    let mut scene = Scene::new(&server).await;
    let above = scene.world.folder.path().to_owned();
    let request = ChatRequest { project: Some(above.clone()), ..request(None, "Look") };
    let fid = scene.world.manager.send(request).await.unwrap().fid;
    scene.world.open(&fid).await;
    let finished = scene.world.events.finished(&fid).await;
    assert_eq!(finished.error.unwrap().kind, Kind::ProjectRefused { path: above });
}
