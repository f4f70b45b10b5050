//! What the user tells the model in all chats, in those of a project, and in one.

use chat_core::manager::SessionChange;
use chat_core::message::ChatRequest;
use chat_testkit::server::Server;
use tempfile::TempDir;

use super::world::{World, request};

/// The instructions in the last request; empty where there are none.
fn sent(server: &Server) -> String {
    let chat = server.chats().last().unwrap().body["messages"][0].clone();
    if chat["role"] != "system" {
        return String::new();
    }
    let text = chat["content"].as_str().unwrap();
    let from = text.find("<instructions>\n").map_or(text.len(), |at| at + "<instructions>\n".len());
    let inside = &text[from..];
    inside[..inside.find("\n</instructions>").unwrap_or_default()].to_owned()
}

#[tokio::test]
async fn they_are_sent_the_most_general_first_and_seen_in_the_prompt() {
    let server = Server::start();
    let folder = TempDir::new().unwrap();
    let project = folder.path().canonicalize().unwrap();
    let mut world = World::new(&server).await;
    world.ask_and_wait("hello").await;
    assert_eq!(sent(&server), "", "nobody said any");

    let root = project.clone();
    let change = move |settings: &mut chat_core::settings::Settings| {
        settings.chat.instructions = "Be brief.".to_owned();
        settings.set_project_instructions(&root, "Use tabs.");
    };
    world.manager.settings().change(change).await.unwrap();
    let first = ChatRequest {
        instructions: Some("Speak German.".to_owned()),
        project: Some(project),
        ..request(None, "hello")
    };
    let preview = world.manager.context().preview(first.clone()).await.unwrap();
    assert!(preview.system.contains("Be brief.\n\nUse tabs.\n\nSpeak German."), "{preview:?}");
    let fid = world.manager.send(first).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    assert_eq!(sent(&server), "Be brief.\n\nUse tabs.\n\nSpeak German.");

    // They are stored.
    let mut world = world.restart().await;
    world.open(&fid).await;
    world.say_and_wait(&fid, "again").await;
    assert_eq!(sent(&server), "Be brief.\n\nUse tabs.\n\nSpeak German.");

    // And gone when the user takes them back, in this chat alone.
    let change = SessionChange { instructions: Some(None), ..SessionChange::default() };
    world.manager.sessions().change(&fid, change).await.unwrap();
    world.say_and_wait(&fid, "and again").await;
    assert_eq!(sent(&server), "Be brief.\n\nUse tabs.");
    world.ask_and_wait("elsewhere").await;
    assert_eq!(sent(&server), "Be brief.");
}
