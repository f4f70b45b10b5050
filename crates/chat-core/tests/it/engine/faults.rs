//! What goes wrong on the wire: what is told, what is stored, and that the next turn works.

use chat_core::error::{Kind, NoAgent};
use chat_core::event::{Stage, StopReason};
use chat_core::message::{Ending, MessageId, Role};
use chat_core::settings::ConnectionKind;
use chat_testkit::server::{Gate, Script, Server};
use rstest::rstest;

use super::world::{World, impatient, request};

/// The name of the error's kind, how the reply ended, and what of it is kept.
#[rstest]
#[case::unknown_model(
    Script::status(404, r#"{"error":"model 'scripted' not found"}"#),
    "model_not_found",
    Ending::Failed,
    ""
)]
#[case::busy(
    Script::status(
        503,
        r#"{"error":"server busy, please try again.  maximum pending requests exceeded"}"#
    ),
    "busy",
    Ending::Failed,
    ""
)]
#[case::crashed(
    Script::status(500, r#"{"error":"llama runner process has terminated"}"#),
    "server_failed",
    Ending::Failed,
    ""
)]
#[case::too_long(
    Script::status(400, r#"{"error":"the input length exceeds the context length"}"#),
    "input_too_long",
    Ending::Failed,
    ""
)]
#[case::in_mid_stream(Script::new().text("half").error("out of memory"), "server_failed", Ending::Failed, "half")]
#[case::cut(Script::new().text("half").cut(), "cut", Ending::Interrupted, "half")]
#[case::reset(Script::new().text("half").reset(), "cut", Ending::Interrupted, "half")]
#[case::ended_early(Script::new().text("half").end_early(), "cut", Ending::Interrupted, "half")]
#[case::stalled(Script::new().text("half").stall(), "stalled", Ending::Interrupted, "half")]
#[case::no_json(Script::new().text("half").bytes("{nonsense\n"), "invalid_response", Ending::Failed, "half")]
#[case::no_utf8(Script::new().text("half").bytes(&b"{\"message\":{\"content\":\"\xff\xfe\"},\"done\":false}\n"[..]), "invalid_response", Ending::Failed, "half")]
#[case::long_line(Script::new().text("half").long_line(100_000_000), "line_too_long", Ending::Failed, "half")]
#[case::empty(Script::new(), "empty_reply", Ending::Failed, "")]
#[tokio::test]
async fn an_error_is_told_and_stored_and_the_next_turn_works(
    #[case] script: Script,
    #[case] kind: &str,
    #[case] ended: Ending,
    #[case] kept: &str,
) {
    let server = Server::start();
    server.push(script);
    let mut world = World::with_timeouts(&server, ConnectionKind::Ollama, impatient()).await;
    let (fid, finished) = world.ask_and_wait("one").await;
    let error = finished.error.expect("an error");
    assert_eq!(error.kind.name(), kind, "{error:?}");
    assert_eq!(error.connection.as_deref(), Some("test"));
    assert_eq!(
        finished.reason,
        if ended == Ending::Failed { StopReason::Error } else { StopReason::Interrupted }
    );

    let mut world = world.restart().await;
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(messages[1].plain_text(), kept);
    assert_eq!((messages[1].ended, messages[1].error.as_ref()), (Some(ended), Some(&error)));
    assert_eq!(world.manager.sessions().list().await.unwrap()[0].trouble, ended.trouble());

    world.open(&fid).await;
    assert_eq!(world.say_and_wait(&fid, "two").await.reason, StopReason::Complete);
    let next = &server.chats()[1];
    let kept: Vec<_> = [kept].into_iter().filter(|text| !text.is_empty()).collect();
    assert_eq!(next.texts_of("assistant"), kept);
    assert_eq!(world.manager.sessions().list().await.unwrap()[0].trouble, None);
}

#[tokio::test]
async fn a_retry_answers_again_on_a_branch_of_its_own() {
    let server = Server::start();
    server.push(Script::new().text("half").cut());
    server.push(Script::new().text("whole"));
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    world.manager.messages().retry(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    assert!(world.events.resets.contains(&fid), "another branch is shown");
    let expected = [(Role::User, "one".to_owned()), (Role::Assistant, "whole".to_owned())];
    assert_eq!(world.transcript(&fid).await, expected);
    assert_eq!(server.chats()[1].texts_of("assistant"), [""; 0]);
    let world = world.restart().await;
    assert_eq!(world.transcript(&fid).await, expected);
}

#[tokio::test]
async fn a_try_of_which_nothing_came_is_no_version_of_the_reply() {
    let server = Server::start();
    for _ in 0..2 {
        server.push(Script::status(404, r#"{"error":"model 'scripted' not found"}"#));
    }
    server.push(Script::new().text("half").cut());
    server.push(Script::new().text("whole"));
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    for _ in 0..2 {
        world.manager.messages().retry(&fid).await.unwrap();
        world.events.finished(&fid).await;
        assert!(world.manager.messages().branches(&fid).await.unwrap().is_empty());
        assert_eq!(world.transcript(&fid).await.len(), 2);
    }
    // What the model said stays.
    world.manager.messages().retry(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    let versions = world.manager.messages().branches(&fid).await.unwrap();
    assert_eq!(versions.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
    assert!(world.manager.messages().show_branch(&fid, versions[0][0]).await.unwrap());
    let expected = [(Role::User, "one".to_owned()), (Role::Assistant, "half".to_owned())];
    assert_eq!(world.transcript(&fid).await, expected);
    let world = world.restart().await;
    assert_eq!(world.transcript(&fid).await, expected);
    assert_eq!(world.manager.messages().branches(&fid).await.unwrap(), versions);
}

#[tokio::test]
async fn a_reply_that_was_asked_for_again_can_be_shown_and_gone_on_from() {
    let server = Server::start();
    for text in ["first", "more", "second", "third"] {
        server.push(Script::new().text(text));
    }
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    assert!(world.manager.messages().branches(&fid).await.unwrap().is_empty());
    world.say(&fid, "two").await;
    world.events.finished(&fid).await;
    for _ in 0..2 {
        world.manager.messages().retry(&fid).await.unwrap();
        world.events.finished(&fid).await;
    }
    let siblings = world.manager.messages().branches(&fid).await.unwrap();
    let [group] = &siblings[..] else { panic!("{siblings:?}") };
    assert_eq!(group.len(), 3);
    let last = async |world: &World| world.transcript(&fid).await.pop().unwrap().1;
    assert_eq!(last(&world).await, "third");

    assert!(world.manager.messages().show_branch(&fid, group[0]).await.unwrap());
    assert_eq!(last(&world).await, "more");
    // What is shown already, and what is not there, changes nothing.
    assert!(!world.manager.messages().show_branch(&fid, group[0]).await.unwrap());
    assert!(!world.manager.messages().show_branch(&fid, MessageId::new()).await.unwrap());
    let mut world = world.restart().await;
    assert_eq!(last(&world).await, "more");

    // What follows belongs to the branch that is shown, which is whole when one comes back to it.
    server.push(Script::new().text("fourth"));
    world.say(&fid, "three").await;
    world.events.finished(&fid).await;
    assert_eq!(server.chats().pop().unwrap().texts_of("assistant"), ["first", "more"]);
    assert!(world.manager.messages().show_branch(&fid, group[1]).await.unwrap());
    assert_eq!(last(&world).await, "second");
    assert!(world.manager.messages().show_branch(&fid, group[0]).await.unwrap());
    assert_eq!(last(&world).await, "fourth");

    let gate = Gate::new();
    server.push(Script::new().text("now").gate(&gate));
    world.say(&fid, "four").await;
    gate.reached().await;
    let refused = world.manager.messages().show_branch(&fid, group[1]).await.unwrap_err();
    assert_eq!(refused.kind, Kind::SessionAtWork);
    gate.open();
    world.events.finished(&fid).await;
}

#[tokio::test]
async fn a_reply_that_was_cut_can_go_on() {
    let server = Server::start();
    server.push(Script::new().text("The first half").cut());
    server.push(Script::new().text(" and the second."));
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    world.manager.messages().resume(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    let next = &server.chats()[1];
    assert_eq!(next.texts_of("assistant"), ["The first half"]);
    assert_eq!(next.texts_of("user").len(), 2);
    // What the model was told is not stored as the person's words.
    let rest = (Role::Assistant, " and the second.".to_owned());
    assert_eq!(world.transcript(&fid).await[2], rest);
}

#[tokio::test]
async fn too_many_requests_are_waited_for_visibly() {
    let server = Server::start();
    let refused = Script::status(429, r#"{"error":"slow down"}"#);
    server.push(refused.header("Retry-After", "1"));
    server.push(Script::new().text("now"));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let (fid, finished) = world.ask_and_wait("one").await;
    assert_eq!(finished.reason, StopReason::Complete);
    assert_eq!(world.events.last_text(&fid), "now");
    let waited = world.events.stages.iter().any(|stage| matches!(stage, Stage::RateLimited { .. }));
    assert!(waited, "{:?}", world.events.stages);
}

#[tokio::test]
async fn waiting_for_a_rate_limit_can_be_stopped() {
    let server = Server::start();
    server.always(Script::status(429, "{}").header("Retry-After", "3600"));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let fid = world.ask("one").await.fid;
    let limited = |stage: &Stage| matches!(stage, Stage::RateLimited { .. });
    world.events.until(|mirror| mirror.stages.iter().any(limited)).await;
    world.manager.sessions().stop(&fid);
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_and_works_once_it_is() {
    let port = chat_testkit::server::unused_port();
    let server = Server::start();
    let mut world = World::new(&server).await;
    let url = format!("http://127.0.0.1:{port}");
    world
        .manager
        .settings()
        .change(move |settings| settings.connections[0].url = url)
        .await
        .unwrap();
    let (fid, finished) = world.ask_and_wait("one").await;
    assert_eq!(finished.error.unwrap().kind, Kind::Unreachable);
    let _late = Server::start_on(port);
    world.manager.messages().retry(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
}

#[tokio::test]
async fn nothing_is_sent_without_words_or_a_model() {
    let server = Server::start();
    let world = World::new(&server).await;
    let error = world.manager.send(request(None, " \n")).await.unwrap_err();
    assert_eq!(error.kind, Kind::NothingToSend);
    world.manager.connections().remove("test").await.unwrap();
    let mut none = request(None, "hi");
    none.model = None;
    assert_eq!(world.manager.send(none).await.unwrap_err().kind, Kind::NoModel);
    let mut unknown = request(None, "hi");
    unknown.agent = Some("nobody".into());
    let error = world.manager.send(unknown).await.unwrap_err();
    let why = NoAgent::default();
    assert_eq!(error.kind, Kind::AgentMissing { name: "nobody".into(), why });
    assert!(world.manager.sessions().list().await.unwrap().is_empty());
}

/// What llama.cpp's server says while it loads its model (`tools/server/server.cpp`).
const LOADING: &str =
    r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;

#[tokio::test]
async fn a_server_that_loads_its_model_is_waited_for_in_sight() {
    let server = Server::start();
    server.push(Script::status(503, LOADING));
    server.push(Script::new().text("loaded"));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let fid = world.manager.send(request(None, "one")).await.unwrap().fid;
    let snapshot = world.open(&fid).await;
    assert!(matches!(snapshot.stage, Stage::Waiting { .. }), "{:?}", snapshot.stage);
    let finished = world.events.finished(&fid).await;
    assert_eq!((finished.reason, finished.error), (StopReason::Complete, None));
    assert_eq!(world.events.last_text(&fid), "loaded");
    assert_eq!(server.chats().len(), 2, "it was asked again");
}

#[tokio::test]
async fn the_waiting_for_a_server_that_loads_its_model_can_be_stopped() {
    let server = Server::start();
    server.always(Script::status(503, LOADING));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let fid = world.ask("one").await.fid;
    server.wait_for_chats(1).await;
    world.manager.sessions().stop(&fid);
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
    assert!(world.manager.sessions().busy().is_empty());
}

#[tokio::test]
async fn a_server_that_is_merely_busy_is_not_waited_for() {
    let server = Server::start();
    server.push(Script::status(503, r#"{"error":{"code":503,"message":"Slots are busy"}}"#));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let (_, finished) = world.ask_and_wait("one").await;
    assert_eq!(finished.error.unwrap().kind, Kind::Busy);
    assert_eq!(server.chats().len(), 1);
}
