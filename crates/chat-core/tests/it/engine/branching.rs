//! Editing, regenerating, forking, deleting and continuing: each makes a branch, and nothing is lost.

use std::sync::Arc;

use chat_core::error::Kind;
use chat_core::event::StopReason;
use chat_core::manager::Regenerate;
use chat_core::message::{
    Attachment, ChatRequest, Content, DeleteScope, Ending, Fid, Message, MessageId, Role,
};
use chat_testkit::server::{Model, Script, Server};

use super::world::{CONNECTION, World, request};

/// A chat in which these questions were answered.
async fn chat(server: &Server, pairs: &[(&str, &str)]) -> (World, Fid) {
    for (_, answer) in pairs {
        server.push(Script::new().text(answer));
    }
    let mut world = World::new(server).await;
    let (fid, _) = world.ask_and_wait(pairs[0].0).await;
    for (question, _) in &pairs[1..] {
        world.say_and_wait(&fid, question).await;
    }
    (world, fid)
}

async fn messages(world: &World, fid: &Fid) -> Vec<Arc<Message>> {
    world.manager.sessions().transcript(fid).await.unwrap()
}

async fn said(world: &World, fid: &Fid) -> Vec<String> {
    messages(world, fid).await.iter().map(|message| message.plain_text()).collect()
}

async fn id(world: &World, fid: &Fid, at: usize) -> MessageId {
    messages(world, fid).await[at].id
}

#[tokio::test]
async fn an_edited_message_is_sent_on_a_branch_of_its_own_and_the_old_one_stays() {
    let server = Server::start();
    let (mut world, fid) = chat(&server, &[("one", "1"), ("two", "2"), ("three", "3")]).await;
    let first = id(&world, &fid, 0).await;
    let second = id(&world, &fid, 2).await;
    server.push(Script::new().text("II"));
    let api = world.manager.messages();
    let edited = api.edit(&fid, second, request(Some(&fid), "zwei")).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    assert!(world.events.resets.contains(&fid), "another branch is shown");
    assert_eq!(said(&world, &fid).await, ["one", "1", "zwei", "II"]);
    assert_eq!(server.chats()[3].texts_of("user"), ["one", "zwei"]);
    assert_eq!(api.branches(&fid).await.unwrap(), [vec![second, edited]]);

    // The choice of a branch survives a restart.
    assert!(api.show_branch(&fid, second).await.unwrap());
    let mut world = world.restart().await;
    assert_eq!(said(&world, &fid).await, ["one", "1", "two", "2", "three", "3"]);

    // The first message, too.
    world.open(&fid).await;
    server.push(Script::new().text("I"));
    let api = world.manager.messages();
    api.edit(&fid, first, request(Some(&fid), "eins")).await.unwrap();
    world.events.finished(&fid).await;
    assert_eq!(said(&world, &fid).await, ["eins", "I"]);
    assert_eq!(server.chats()[4].texts_of("user"), ["eins"]);
}

#[tokio::test]
async fn an_edit_begins_with_all_that_was_sent() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let image = Attachment::Image { mime: "image/png".into(), data: [1, 2, 3].into() };
    let file = Attachment::File { name: "a.txt".into(), text: "alpha".into() };
    let content = Content { attachments: vec![image, file], ..Content::text("look") };
    let first = ChatRequest { content: content.clone(), ..request(None, "") };
    let fid = world.manager.send(first).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    let asked = id(&world, &fid, 0).await;
    let api = world.manager.messages();
    assert_eq!(api.content(&fid, asked).await.unwrap(), content);
    let reply = id(&world, &fid, 1).await;
    let refused = api.content(&fid, reply).await.unwrap_err();
    assert_eq!(refused.kind, Kind::NothingToSend, "it is not the user's");
    let empty = api.edit(&fid, asked, request(Some(&fid), " ")).await.unwrap_err();
    assert_eq!(empty.kind, Kind::NothingToSend);
}

#[tokio::test]
async fn a_message_is_not_edited_or_deleted_while_a_reply_is_written() {
    let server = Server::start();
    let (mut world, fid, gate) = World::in_mid_reply(&server).await;
    let asked = id(&world, &fid, 0).await;
    let api = world.manager.messages();
    let refused = api.edit(&fid, asked, request(Some(&fid), "other")).await.unwrap_err();
    assert_eq!(refused.kind, Kind::SessionAtWork);
    let refused = api.delete(&fid, asked, DeleteScope::Message).await.unwrap_err();
    assert_eq!(refused.kind, Kind::SessionAtWork);
    gate.open();
    world.events.finished(&fid).await;
}

#[tokio::test]
async fn a_message_is_edited_once_the_reply_has_been_stopped() {
    let server = Server::start();
    let (mut world, fid, _gate) = World::in_mid_reply(&server).await;
    let asked = id(&world, &fid, 0).await;
    world.manager.sessions().stop_and_wait(&fid).await;
    server.push(Script::new().text("another reply"));
    let api = world.manager.messages();
    let edited = api.edit(&fid, asked, request(Some(&fid), "other")).await.unwrap();
    world.events.finished(&fid).await;
    assert_eq!(id(&world, &fid, 0).await, edited);
    world.manager.sessions().stop_and_wait(&fid).await;
}

#[tokio::test]
async fn any_reply_is_written_again_with_another_model() {
    let server = Server::start().with_models([Model::new("scripted"), Model::new("other")]);
    let (mut world, fid) = chat(&server, &[("one", "1"), ("two", "2")]).await;
    let reply = id(&world, &fid, 1).await;
    server.push(Script::new().text("I"));
    let model = chat_core::message::ModelRef::new(CONNECTION, "other");
    let with = Regenerate { model: Some(model.clone()), ..Regenerate::default() };
    let api = world.manager.messages();
    api.regenerate(&fid, reply, with).await.unwrap();
    world.events.finished(&fid).await;
    assert_eq!(said(&world, &fid).await, ["one", "I"]);
    let sent = server.chats().pop().unwrap();
    assert_eq!(
        (sent.body["model"].as_str(), sent.texts_of("user")),
        (Some("other"), vec!["one".into()])
    );
    assert_eq!(messages(&world, &fid).await[1].model, Some(model));
    let branches = api.branches(&fid).await.unwrap();
    assert_eq!(branches, [vec![reply, id(&world, &fid, 1).await]]);
    assert!(api.show_branch(&fid, reply).await.unwrap());
    assert_eq!(said(&world, &fid).await, ["one", "1", "two", "2"]);
}

#[tokio::test]
async fn a_fork_has_the_same_messages_and_goes_its_own_way() {
    let server = Server::start();
    let (mut world, fid) = chat(&server, &[("one", "1"), ("two", "2"), ("three", "3")]).await;
    let asked = id(&world, &fid, 3).await;
    let fork = world.manager.messages().fork(&fid, asked).await.unwrap();
    assert_eq!(said(&world, &fork).await, ["one", "1", "two", "2"]);
    let (old, new) = (messages(&world, &fid).await, messages(&world, &fork).await);
    for (old, new) in old.iter().zip(&new) {
        let copy = Message { id: old.id, parent: old.parent, ..Message::clone(new) };
        assert_eq!(copy, **old);
        assert_ne!(old.id, new.id);
    }
    world.events.until(|mirror| mirror.rows.contains_key(&fork)).await;
    let (row, origin) = (&world.events.rows[&fork], &world.events.rows[&fid]);
    assert_eq!((&row.title, &row.model), (&origin.title, &origin.model));
    let listed = world.manager.sessions().list().await.unwrap();
    assert_eq!(listed[0].fid, fork, "it is the newest");
    server.push(Script::new().text("III"));
    world.open(&fork).await;
    world.say_and_wait(&fork, "drei").await;
    assert_eq!(server.chats().pop().unwrap().texts_of("user"), ["one", "two", "drei"]);
    assert_eq!(said(&world, &fid).await.len(), 6, "the old chat stays");
}

#[tokio::test]
async fn a_deleted_message_goes_with_its_reply_and_comes_back_as_it_was() {
    let server = Server::start();
    let (mut world, fid) = chat(&server, &[("one", "1"), ("unusual", "2"), ("three", "3")]).await;
    let before = messages(&world, &fid).await;
    let found = async |world: &World| {
        !world.manager.sessions().search("unusual", 9).await.unwrap().hits.is_empty()
    };
    assert!(found(&world).await);
    let api = world.manager.messages();
    let deleted = api.delete(&fid, before[2].id, DeleteScope::Message).await.unwrap();
    assert_eq!(said(&world, &fid).await, ["one", "1", "three", "3"]);
    assert!(!found(&world).await);
    world.say_and_wait(&fid, "four").await;
    assert_eq!(server.chats().pop().unwrap().texts_of("user"), ["one", "three", "four"]);

    api.restore(&fid, deleted).await.unwrap();
    let after = messages(&world, &fid).await;
    assert_eq!(after[..6], before[..]);
    assert_eq!(after.len(), 8, "what was said since then stays");
    assert!(found(&world).await);
    let world = world.restart().await;
    assert_eq!(messages(&world, &fid).await, after);
}

#[tokio::test]
async fn two_deletions_are_taken_back_from_the_older_one_on() {
    let server = Server::start();
    let (world, fid) = chat(&server, &[("one", "1"), ("two", "2")]).await;
    let before = messages(&world, &fid).await;
    let api = world.manager.messages();
    let reply = api.delete(&fid, before[3].id, DeleteScope::Message).await.unwrap();
    let question = api.delete(&fid, before[2].id, DeleteScope::Message).await.unwrap();
    api.restore(&fid, reply).await.unwrap();
    assert_eq!(said(&world, &fid).await, ["one", "1", "2"]);
    api.restore(&fid, question).await.unwrap();
    assert_eq!(messages(&world, &fid).await, before);
}

#[tokio::test]
async fn a_deleted_branch_shows_the_one_before_it() {
    let server = Server::start();
    let (mut world, fid) = chat(&server, &[("one", "1"), ("two", "2")]).await;
    let before = messages(&world, &fid).await;
    server.push(Script::new().text("I"));
    let api = world.manager.messages();
    api.regenerate(&fid, before[1].id, Regenerate::default()).await.unwrap();
    world.events.finished(&fid).await;
    let again = id(&world, &fid, 1).await;
    let deleted = api.delete(&fid, again, DeleteScope::Branch).await.unwrap();
    assert_eq!(messages(&world, &fid).await, before, "the other reply is shown again");
    assert!(api.branches(&fid).await.unwrap().is_empty());
    api.restore(&fid, deleted).await.unwrap();
    assert_eq!(said(&world, &fid).await, ["one", "I"]);

    let all = api.delete(&fid, before[0].id, DeleteScope::Branch).await.unwrap();
    assert!(said(&world, &fid).await.is_empty());
    let world = world.restart().await;
    assert!(said(&world, &fid).await.is_empty());
    world.manager.messages().restore(&fid, all).await.unwrap();
    assert_eq!(said(&world, &fid).await, ["one", "I"]);
}

#[tokio::test]
async fn deleting_a_reply_leaves_the_question_and_what_came_after_it() {
    let server = Server::start();
    let (mut world, fid) = chat(&server, &[("one", "1"), ("two", "2")]).await;
    let reply = id(&world, &fid, 1).await;
    world.manager.messages().delete(&fid, reply, DeleteScope::Message).await.unwrap();
    assert_eq!(said(&world, &fid).await, ["one", "two", "2"]);
    world.say_and_wait(&fid, "three").await;
    assert_eq!(server.chats().pop().unwrap().texts_of("user"), ["one\n\ntwo", "three"]);
}

#[tokio::test]
async fn a_reply_goes_on_where_it_was_cut_and_both_are_one_for_the_model() {
    let server = Server::start();
    server.push(Script::new().text("The quick brown fox jumps over the").cut());
    server.push(Script::new().text("brown fox jumps over the").text(" lazy dog").cut());
    server.push(Script::new().text(" and sleeps."));
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("Tell me").await;
    for _ in 0..2 {
        world.manager.messages().resume(&fid).await.unwrap();
        world.events.finished(&fid).await;
        world = world.restart().await;
        world.open(&fid).await;
    }
    let all = messages(&world, &fid).await;
    let texts: Vec<_> = all.iter().map(|message| message.plain_text()).collect();
    assert_eq!(
        texts,
        ["Tell me", "The quick brown fox jumps over the", " lazy dog", " and sleeps."],
        "what was repeated is left out, and the request to go on is not stored"
    );
    assert_eq!(all[2].continues, Some(all[1].id));
    assert_eq!(all[3].continues, Some(all[2].id));
    assert_eq!(all[3].ended, Some(Ending::Complete));
    let second = &server.chats()[2];
    assert_eq!(second.texts_of("assistant"), ["The quick brown fox jumps over the lazy dog"]);
    let asked = second.texts_of("user");
    assert!(
        asked.len() == 2 && asked[1].contains("Continue exactly where it stopped"),
        "{asked:?}"
    );
    world.say_and_wait(&fid, "Thanks").await;
    let next = server.chats().pop().unwrap();
    assert_eq!(
        next.texts_of("assistant"),
        ["The quick brown fox jumps over the lazy dog and sleeps."]
    );
    assert_eq!(next.texts_of("user"), ["Tell me", "Thanks"]);
}

#[tokio::test]
async fn a_reply_that_was_cut_in_a_code_block_goes_on_in_it() {
    let server = Server::start();
    server.push(Script::new().text("Here:\n```rust\nlet x = ").cut());
    server.push(Script::new().text("```rust\n").text("5;\n```\nDone."));
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("code").await;
    world.manager.messages().resume(&fid).await.unwrap();
    world.events.finished(&fid).await;
    assert!(server.chats()[1].texts_of("user")[1].contains("inside a code block"));
    assert_eq!(said(&world, &fid).await.concat(), "codeHere:\n```rust\nlet x = 5;\n```\nDone.");
    assert_eq!(world.events.last_text(&fid), "5;\n```\nDone.", "watchers saw the same");
}

#[tokio::test]
async fn what_is_held_back_of_a_continuation_is_not_lost_when_it_is_cut_again() {
    let server = Server::start();
    server.push(Script::new().text("The quick brown fox jumps over the").cut());
    // It looks like a repetition until more comes.
    server.push(Script::new().text("quick brown fox jumps").cut());
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("Tell me").await;
    world.manager.messages().resume(&fid).await.unwrap();
    world.events.finished(&fid).await;
    assert_eq!(said(&world, &fid).await[2], "quick brown fox jumps");
    assert_eq!(world.events.last_text(&fid), "quick brown fox jumps");
    assert_eq!(messages(&world, &fid).await[2].role, Role::Assistant);
}
