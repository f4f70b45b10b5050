//! A conversation from end to end.

use chat_core::event::{Stage, StopReason};
use chat_core::message::{
    Attachment, ChatRequest, CommandText, Content, Ending, Part, Role, Thinking,
};
use chat_core::settings::ConnectionKind;
use chat_testkit::server::{Gate, Script, Server};
use rstest::rstest;

use super::world::{World, request};

#[rstest]
#[case(ConnectionKind::Ollama)]
#[case(ConnectionKind::OpenAi)]
#[tokio::test]
async fn the_second_request_holds_the_first_answer(#[case] kind: ConnectionKind) {
    let server = Server::start();
    server.push(Script::new().thinking("hm").text("The ").text("first ✓").usage(7, 3));
    server.push(Script::new().text("The second"));
    let mut world = World::of_kind(&server, kind).await;

    let (fid, finished) = world.ask_and_wait("Question one?").await;
    assert_eq!(finished.reason, StopReason::Complete);
    assert_eq!(
        (finished.usage.prompt_tokens, finished.usage.completion_tokens),
        (Some(7), Some(3))
    );
    world.say_and_wait(&fid, "Question two?").await;

    let second = &server.chats()[1];
    assert_eq!(second.texts_of("user"), ["Question one?", "Question two?"]);
    assert_eq!(second.texts_of("assistant"), ["The first ✓"]);
    let told = world.events.texts(&fid);
    assert_eq!(told, world.transcript(&fid).await);
    assert_eq!(told[1], (Role::Assistant, "The first ✓".to_owned()));

    // The program comes back and finds the chat.
    let world = world.restart().await;
    assert_eq!(world.transcript(&fid).await, told);
    let rows = world.manager.sessions().list().await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].title, "Question one?");
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    assert!(
        matches!(&messages[1].parts[0], Part::Thinking { text, took: Some(_), provider: None } if text == "hm")
    );
    assert_eq!(messages[1].ended, Some(Ending::Complete));
}

#[tokio::test]
async fn the_same_history_goes_out_the_same_byte_for_byte() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    world.say_and_wait(&fid, "two").await;
    let mut world = world.restart().await;
    world.open(&fid).await;
    world.say_and_wait(&fid, "three").await;
    let bodies: Vec<_> = server.chats().iter().map(|chat| chat.body["messages"].clone()).collect();
    let (second, third) = (bodies[1].as_array().unwrap(), bodies[2].as_array().unwrap());
    assert_eq!(second[..], third[..second.len()]);
}

#[tokio::test]
async fn who_comes_in_the_middle_misses_nothing_and_hears_nothing_twice() {
    let server = Server::start();
    let (half, end) = (Gate::new(), Gate::new());
    server.push(
        Script::new()
            .thinking("so ")
            .text("first ")
            .gate(&half)
            .text("second ")
            .gate(&end)
            .text("third"),
    );
    let mut world = World::new(&server).await;
    let fid = world.ask("go").await.fid;
    world.events.shows(&fid, "first ").await;

    let mut late = super::world::Mirror::new(world.manager.subscribe());
    let snapshot = world.manager.sessions().open(&fid, 50, &late.subscription).await.unwrap();
    assert_eq!(snapshot.stage, Stage::Streaming);
    late.take_snapshot(&snapshot);
    assert_eq!(late.last_text(&fid), "first ");
    half.open();
    late.shows(&fid, "first second ").await;
    // A slow one takes nothing until the end, and gets the whole all the same.
    end.open();
    world.events.finished(&fid).await;
    late.finished(&fid).await;
    assert_eq!(late.texts(&fid), world.transcript(&fid).await);
    assert_eq!(world.events.last_text(&fid), "first second third");
}

#[tokio::test]
async fn what_was_said_until_a_stop_stays_and_goes_back_to_the_model() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("As far as").gate(&gate).text(" never"));
    let mut world = World::new(&server).await;
    let fid = world.ask("go").await.fid;
    world.events.shows(&fid, "As far as").await;
    world.manager.sessions().stop(&fid);
    let finished = world.events.finished(&fid).await;
    assert_eq!(finished.reason, StopReason::Stopped);
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(messages[1].ended, Some(Ending::Stopped));

    world.say_and_wait(&fid, "and now?").await;
    assert_eq!(server.chats()[1].texts_of("assistant"), ["As far as"]);
}

#[tokio::test]
async fn a_stop_before_the_first_byte_ends_at_once() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().gate_first(&gate).text("late"));
    let mut world = World::new(&server).await;
    let fid = world.ask("go").await.fid;
    server.wait_for_chats(1).await;
    world.manager.sessions().stop(&fid);
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
    assert_eq!(world.say_and_wait(&fid, "again").await.reason, StopReason::Complete);
}

#[tokio::test]
async fn quitting_keeps_what_had_arrived() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("half").gate(&gate));
    let mut world = World::new(&server).await;
    let fid = world.ask("go").await.fid;
    world.events.shows(&fid, "half").await;
    let world = world.restart().await;
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(
        (messages[1].plain_text().as_str(), messages[1].ended),
        ("half", Some(Ending::Stopped))
    );
}

#[tokio::test]
async fn options_and_thinking_reach_the_wire_and_stay_with_the_session() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let mut first = request(None, "one");
    first.thinking = Some(Thinking::High);
    first.options.temperature = Some(0.25);
    first.options.context_window = Some(16_384);
    let fid = world.manager.send(first).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    world.say_and_wait(&fid, "two").await;
    for chat in server.chats() {
        assert_eq!(chat.body["options"]["temperature"], 0.25);
        assert_eq!(chat.body["options"]["num_ctx"], 16_384);
        assert_eq!(chat.body["think"], "high");
    }
}

#[tokio::test]
async fn a_command_stays_as_it_was_typed_and_the_model_reads_what_it_stands_for() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let command = CommandText { name: "fix".to_owned(), text: "Fix issue 12.".to_owned() };
    let attachments = vec![Attachment::Command(command.clone())];
    let content = Content { attachments, ..Content::text("/fix 12") };
    let asked = ChatRequest { content, ..request(None, "") };
    let fid = world.manager.send(asked).await.unwrap().fid;
    world.events.finished(&fid).await;
    world.say_and_wait(&fid, "Thanks").await;
    let expected = format!("{}\n\n/fix 12", command.for_model().trim_end());
    assert_eq!(server.chats()[0].texts_of("user").as_slice(), std::slice::from_ref(&expected));
    assert_eq!(server.chats()[1].texts_of("user"), [expected, "Thanks".to_owned()]);
    let world = world.restart().await;
    assert_eq!(world.transcript(&fid).await[0], (Role::User, "/fix 12".to_owned()));
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(messages[0].parts[0], Part::Command(command));
}
