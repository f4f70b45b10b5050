//! Several sessions: at once, listed, renamed, deleted.

use chat_core::error::Kind;
use chat_core::event::Status;
use chat_core::message::{Fid, ModelRef, ReplyFailure};
use chat_core::models::CONNECTION;
use chat_core::settings::ConnectionKind;
use chat_testkit::server::{Gate, Script, Server};

use super::world::{Mirror, World, connection, model, request};

#[tokio::test]
async fn sessions_work_at_once_and_each_keeps_its_own() {
    let server = Server::start();
    let gates = [Gate::new(), Gate::new()];
    for (name, gate) in ["alpha", "beta"].iter().zip(&gates) {
        let words = (0..50).map(|i| format!("{name}{i} "));
        server.when(name, Script::new().texts(words.clone()).gate(gate).texts(words));
    }
    let mut world = World::new(&server).await;
    let alpha = world.manager.send(request(None, "alpha")).await.unwrap().fid;
    let beta = world.manager.send(request(None, "beta")).await.unwrap().fid;
    let (third, _) = world.ask_and_wait("third").await;
    assert_eq!(world.manager.sessions().busy().len(), 2);
    world.events.until(|mirror| mirror.rows[&alpha].status == Status::Answering).await;
    // Only the one that is watched tells its texts; the mirror panics at any other's.
    for gate in &gates {
        gate.open();
    }
    world.events.finished(&alpha).await;
    world.events.finished(&beta).await;
    let rows = world.manager.sessions().list().await.unwrap();
    for fid in [&alpha, &beta] {
        let row = rows.iter().find(|row| row.fid == *fid).unwrap();
        assert!(row.unread && row.status == Status::Idle, "{row:?}");
    }
    assert!(!rows.iter().find(|row| row.fid == third).unwrap().unread);
    for (index, fid) in [(0, &alpha), (1, &beta)] {
        let sent = server.chats()[index].sent().text;
        assert_eq!(world.transcript(fid).await[1].1, sent);
    }
    world.manager.sessions().mark_read(&alpha).await.unwrap();
    assert!(
        !world.events.rows[&alpha].unread || {
            world.events.until(|mirror| !mirror.rows[&alpha].unread).await;
            true
        }
    );
}

#[tokio::test]
async fn the_list_tells_waiting_from_answering_and_failed_from_interrupted() {
    let server = Server::start();
    let (first, second) = (Gate::new(), Gate::new());
    server.push(Script::new().gate_first(&first).text("half").gate(&second).cut());
    server.push(Script::status(500, r#"{"error":"out of memory"}"#));
    let mut world = World::new(&server).await;
    // Nobody watches it: this is what the list alone hears.
    let fid = world.manager.send(request(None, "go")).await.unwrap().fid;
    let row = |mirror: &Mirror| mirror.rows.get(&fid).map(|row| (row.status, row.trouble));
    world.events.until(|mirror| row(mirror) == Some((Status::Waiting, None))).await;
    first.open();
    world.events.until(|mirror| row(mirror) == Some((Status::Answering, None))).await;
    second.open();
    let cut = Some((Status::Idle, Some(ReplyFailure::Interrupted)));
    world.events.until(|mirror| row(mirror) == cut).await;
    world.manager.send(request(Some(&fid), "again")).await.unwrap();
    let failed = Some((Status::Idle, Some(ReplyFailure::Failed)));
    world.events.until(|mirror| row(mirror) == failed).await;
    // As stored.
    let world = world.restart().await;
    assert_eq!(
        world.manager.sessions().list().await.unwrap()[0].trouble,
        Some(ReplyFailure::Failed)
    );
}

#[tokio::test]
async fn chats_begun_in_one_second_have_ids_of_their_own() {
    let server = Server::start();
    let world = World::new(&server).await;
    let mut fids = Vec::new();
    for _ in 0..5 {
        fids.push(world.manager.send(request(None, "hi")).await.unwrap().fid);
    }
    let mut unique = fids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), fids.len());
}

#[tokio::test]
async fn a_title_of_the_persons_choice_stays() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    world.manager.sessions().rename(&fid, "  My \n title ").await.unwrap();
    world.events.until(|mirror| mirror.rows[&fid].title == "My title").await;
    world.manager.sessions().rename(&fid, "   ").await.unwrap();
    let world = world.restart().await;
    assert_eq!(world.manager.sessions().list().await.unwrap()[0].title, "My title");
}

#[tokio::test]
async fn a_chat_deleted_while_it_streams_is_gone_and_can_be_brought_back() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("half").gate(&gate));
    let mut world = World::new(&server).await;
    let fid = world.ask("go").await.fid;
    world.events.shows(&fid, "half").await;
    world.manager.sessions().delete(&fid).await.unwrap();
    assert!(world.manager.sessions().list().await.unwrap().is_empty());
    let missing = world.manager.send(request(Some(&fid), "more")).await.unwrap_err();
    assert!(matches!(missing.kind, Kind::SessionNotFound { .. }), "{missing:?}");
    assert!(world.manager.sessions().busy().is_empty());

    world.manager.sessions().restore(&fid).await.unwrap();
    assert_eq!(world.transcript(&fid).await[1].1, "half");
    world.open(&fid).await;
    world.events.finished(&fid).await;
    world.say_and_wait(&fid, "more").await;
    assert_eq!(server.chats()[1].texts_of("assistant"), ["half"]);
}

#[tokio::test]
async fn a_search_finds_what_was_said_by_either() {
    let server = Server::start();
    server.push(Script::new().text("Ask the ferryman of 東京都庁."));
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("How do I cross?").await;
    for text in ["ferryman", "東京都", "cross"] {
        let hits = world.manager.sessions().search(text, 10).await.unwrap().hits;
        assert_eq!(hits.iter().map(|hit| &hit.session.fid).collect::<Vec<_>>(), [&fid], "{text}");
    }
    assert!(world.manager.sessions().search("nowhere", 10).await.unwrap().hits.is_empty());
}

#[tokio::test]
async fn an_unknown_session_is_an_error_and_nothing_is_stored() {
    let server = Server::start();
    let world = World::new(&server).await;
    let fid = Fid::new("2020-01-01-00-00-00");
    let error = world.manager.send(request(Some(&fid), "hi")).await.unwrap_err();
    assert!(matches!(error.kind, Kind::SessionNotFound { .. }));
    assert!(world.manager.sessions().list().await.unwrap().is_empty());
    assert_eq!(server.chats().len(), 0);
}

#[tokio::test]
async fn a_chat_whose_connection_is_gone_opens_and_names_it() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    world.manager.connections().remove("test").await.unwrap();
    let mut world = world.restart().await;
    assert_eq!(world.open(&fid).await.messages.len(), 2);
    let error = world.manager.send(request(Some(&fid), "two")).await.unwrap_err();
    assert_eq!(error.kind, Kind::ConnectionMissing { name: "test".into() });
    assert_eq!(world.transcript(&fid).await.len(), 2);
}

#[tokio::test]
async fn a_new_chat_begins_with_the_model_that_was_used_last() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let mut other = connection(&server, ConnectionKind::OpenAi);
    other.name = "other".into();
    world.manager.connections().save(other, None, None).await.unwrap();
    let (fid, _) = world.ask_and_wait("one").await;
    assert_eq!(world.manager.sessions().empty().model, Some(model()));
    let mut elsewhere = request(Some(&fid), "two");
    elsewhere.model = Some(ModelRef::new("other", "scripted"));
    world.manager.send(elsewhere).await.unwrap();
    world.events.finished(&fid).await;
    assert_eq!(world.manager.sessions().empty().model, Some(ModelRef::new("other", "scripted")));
}

#[tokio::test]
async fn connections_that_cannot_be_are_refused() {
    let server = Server::start();
    let world = World::new(&server).await;
    let error = world.manager.connections().remove("nope").await.unwrap_err();
    assert_eq!(error.kind, Kind::ConnectionMissing { name: "nope".into() });
    let mut odd = connection(&server, ConnectionKind::OpenAi);
    (odd.name, odd.url) = ("odd".into(), "not an url".into());
    let error = world.manager.connections().save(odd, None, None).await.unwrap_err();
    assert_eq!(error.kind, Kind::InvalidUrl);
    for name in ["On this computer", " on  THIS\tcomputer "] {
        let mut like_the_engine = connection(&server, ConnectionKind::OpenAi);
        name.clone_into(&mut like_the_engine.name);
        let connections = world.manager.connections();
        for replaces in [None, Some("test")] {
            let saved = connections.save(like_the_engine.clone(), None, replaces).await;
            assert_eq!(saved.unwrap_err().kind, Kind::NameTaken { name: name.trim().into() });
        }
    }
    assert_eq!(world.manager.settings().current().connections.len(), 1);
}

#[tokio::test]
async fn a_connection_in_the_settings_never_takes_the_place_of_the_engine() {
    let server = Server::start();
    let world = World::new(&server).await;
    let manager = &world.manager;
    let mut like_the_engine = connection(&server, ConnectionKind::OpenAi);
    like_the_engine.name = CONNECTION.into();
    let settings = manager.settings();
    settings.change(move |it| it.connections.push(like_the_engine)).await.unwrap();
    manager.connections().settled().await;
    let names: Vec<_> =
        manager.connections().list().into_iter().map(|state| state.connection.name).collect();
    assert_eq!(names, ["test"]);
    let before = server.chats().len();
    let mut meant_for_the_engine = request(None, "secret");
    meant_for_the_engine.model = Some(ModelRef::new(CONNECTION, "scripted"));
    // Whether or not there is an engine, the server gets nothing.
    drop(manager.send(meant_for_the_engine).await);
    manager.shutdown().await;
    assert_eq!(server.chats().len(), before);
}

#[tokio::test]
async fn a_message_takes_a_chat_out_of_the_archive() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    world.manager.sessions().set_archived(&fid, true).await.unwrap();
    world.events.until(|mirror| mirror.rows[&fid].archived.is_some()).await;
    world.say_and_wait(&fid, "two").await;
    world.events.until(|mirror| mirror.rows[&fid].archived.is_none()).await;
    let world = world.restart().await;
    assert_eq!(world.manager.sessions().list().await.unwrap()[0].archived, None);
}

#[tokio::test]
async fn a_chat_is_copied_while_it_is_answered() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("half").gate(&gate));
    let mut world = World::new(&server).await;
    let fid = world.ask("go").await.fid;
    world.events.shows(&fid, "half").await;
    let sessions = world.manager.sessions();
    let copy = sessions.duplicate(&fid, "A copy".to_owned()).await.unwrap();
    world.events.until(|mirror| mirror.rows.contains_key(&copy)).await;
    assert_eq!(world.transcript(&copy).await[0].1, "go");
    gate.open();
    world.events.finished(&fid).await;
    world.open(&copy).await;
    world.say_and_wait(&copy, "more").await;
    assert_eq!(sessions.list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_is_deleted_for_good_is_nowhere() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    let sessions = world.manager.sessions();
    let unknown = sessions.delete_for_good(vec![fid.clone()]).await.unwrap_err();
    assert!(matches!(unknown.kind, Kind::SessionNotFound { .. }), "it is not in the trash");
    sessions.delete(&fid).await.unwrap();
    assert_eq!(sessions.trash().await.unwrap()[0].meta.fid, fid);
    sessions.delete_for_good(vec![fid.clone(), fid.clone()]).await.unwrap();
    assert!(sessions.trash().await.unwrap().is_empty());
    assert!(sessions.restore(&fid).await.is_err());
}
