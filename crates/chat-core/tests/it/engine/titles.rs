//! Better titles, asked of the model in the background.

use chat_core::message::{ChatRequest, Options, ReplySchema};
use chat_testkit::server::{Gate, Script, Server};
use serde_json::json;

use super::world::{Mirror, World, request};

async fn world_with_titles(server: &Server) -> World {
    let world = World::new(server).await;
    world.manager.settings().change(|settings| settings.chat.better_titles = true).await.unwrap();
    world
}

#[tokio::test]
async fn a_better_title_is_asked_for_as_a_continuation_of_the_same_messages() {
    let server = Server::start();
    server.push(Script::new().text("Because of the air."));
    server.push(Script::new().text("\"Blue Sky\""));
    let mut world = world_with_titles(&server).await;
    let fid = world.ask("Why is the sky blue?").await.fid;
    world.events.finished(&fid).await;
    world.events.until(|mirror| mirror.rows[&fid].title == "Blue Sky").await;
    let chats = server.chats();
    let first = chats[0].body["messages"].as_array().unwrap().clone();
    let second = chats[1].body["messages"].as_array().unwrap().clone();
    assert_eq!(second[..first.len()], first[..]);
    assert_eq!(second[first.len()]["content"], "Because of the air.");
    assert_eq!(chats[0].body["options"]["num_ctx"], chats[1].body["options"]["num_ctx"]);
    // It belongs to no transcript.
    assert_eq!(world.transcript(&fid).await.len(), 2);
    // And is asked for once.
    world.say_and_wait(&fid, "more").await;
    world.manager.shutdown().await;
    assert_eq!(server.chats().len(), 3);
}

#[tokio::test]
async fn asking_for_a_title_delays_no_reply_and_fails_none() {
    let server = Server::start();
    let never = Gate::new();
    server.push(Script::new().text("first"));
    server.push(Script::new().gate_first(&never));
    let mut world = world_with_titles(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    server.wait_for_chats(2).await;
    world.say_and_wait(&fid, "two").await;
    assert_eq!(world.events.last_text(&fid), "You said: two");
    assert_eq!(world.manager.sessions().list().await.unwrap()[0].title, "one");
}

#[tokio::test]
async fn a_model_that_thinks_is_told_not_to_think_about_a_title() {
    let server = Server::start();
    server.push(Script::new().thinking("hm").text("Because of the air."));
    server.push(Script::new().text("Blue Sky"));
    let mut world = world_with_titles(&server).await;
    let fid = world.ask("Why is the sky blue?").await.fid;
    world
        .events
        .until(|mirror| mirror.rows.get(&fid).is_some_and(|row| row.title == "Blue Sky"))
        .await;
    assert!(server.chats()[0].body.get("think").is_none());
    assert_eq!(server.chats()[1].body["think"], false);
}

#[tokio::test]
async fn a_title_is_asked_for_without_what_the_user_wants_of_replies() {
    let server = Server::start();
    server.push(Script::new().text("Because of the air."));
    server.push(Script::new().text("Blue Sky"));
    let mut world = world_with_titles(&server).await;
    let schema = ReplySchema::try_from(r#"{"type":"object"}"#.to_owned()).unwrap();
    let options =
        Options { stop: vec!["END".to_owned()], schema: Some(schema), ..Options::default() };
    let asked = ChatRequest { options, ..request(None, "Why is the sky blue?") };
    let fid = world.manager.send(asked).await.unwrap().fid;
    let is_titled =
        |mirror: &Mirror| mirror.rows.get(&fid).is_some_and(|row| row.title == "Blue Sky");
    world.events.until(is_titled).await;
    let [first, second] = [0, 1].map(|at| server.chats()[at].body.clone());
    assert_eq!((&first["options"]["stop"], first["format"].is_object()), (&json!(["END"]), true));
    assert!(second["options"].get("stop").is_none() && second.get("format").is_none(), "{second}");
}

#[tokio::test]
async fn a_failed_title_leaves_the_first_one() {
    let server = Server::start();
    server.push(Script::new().text("first"));
    server.push(Script::status(500, r#"{"error":"out of memory"}"#));
    let mut world = world_with_titles(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    server.wait_for_end(1).await;
    world.manager.shutdown().await;
    assert_eq!(world.events.rows[&fid].title, "one");
    assert!(world.events.notices.is_empty());
}
