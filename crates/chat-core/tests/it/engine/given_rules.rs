//! Tests rules that come with a message: they hold for the session and, until the program ends, for its agents.

use chat_core::error::Kind;
use chat_core::manager::{NewAgent, SessionChange};
use chat_core::message::{Answer, ChatRequest, Fid, ModelRef};
use chat_core::permission::{Mode, Rule, Scope};
use chat_testkit::server::{Script, Server};

use super::permissions::{Scene, touches};
use super::world::request;

fn below(parent: &Fid) -> NewAgent {
    NewAgent { parent: Some(parent.clone()), ..NewAgent::default() }
}

/// Has the agent touch a file that nobody may be asked about. Says whether it did.
async fn touched(scene: &mut Scene, server: &Server, agent: &Fid, name: &str) -> bool {
    server.push(touches(name, name));
    server.push(Script::new().text("Done."));
    scene.world.say_and_wait(agent, "Touch").await;
    !scene.results(agent).await.last().unwrap().failed
}

#[tokio::test]
async fn what_the_user_gave_for_a_run_holds_for_the_agents_and_answers_do_not() {
    let server = Server::start();
    let mut scene = Scene::new(&server).await;
    // What the user answers in the chat is meant for the chat.
    server.push(touches("answered", "answered"));
    server.push(Script::new().text("Done."));
    let root = scene.root().canonicalize().unwrap();
    let given = ChatRequest {
        project: Some(root.clone()),
        mode: Some(Mode::Ask),
        allow: vec!["write:given".parse().unwrap()],
        ..request(None, "Touch it")
    };
    let manager = scene.world.manager.clone();
    let top = manager.send(given).await.unwrap().fid;
    scene.world.open(&top).await;
    scene.answer(&top, Answer::Allow(Some(Scope::Session))).await;
    scene.world.events.finished(&top).await;

    let agent = manager.agents().create(below(&top)).await.unwrap().meta.fid;
    let lowest = manager.agents().create(below(&agent)).await.unwrap().meta.fid;
    scene.world.open(&lowest).await;
    assert!(touched(&mut scene, &server, &lowest, "given").await);
    assert_eq!(manager.permissions().session_rules(&lowest).await.unwrap(), []);
    server.push(touches("answered", "answered"));
    server.push(Script::new().text("Done."));
    scene.world.say(&lowest, "Touch").await;
    scene.answer(&lowest, Answer::Deny { scope: None, message: None }).await;
    scene.world.events.finished(&lowest).await;

    // Modes narrow it: the agent's own, and that of the chat.
    let mode = |mode| SessionChange { mode: Some(mode), ..SessionChange::default() };
    for planning in [&lowest, &top] {
        manager.sessions().change(planning, mode(Mode::Plan)).await.unwrap();
        assert!(!touched(&mut scene, &server, &lowest, "given").await);
        manager.sessions().change(planning, mode(Mode::Ask)).await.unwrap();
    }
    // A rule that is forgotten in the chat is gone below, too.
    let rule = "write:given".parse().unwrap();
    assert!(manager.permissions().forget_rule(&top, &rule).await.unwrap());
    server.push(touches("given", "given"));
    server.push(Script::new().text("Done."));
    scene.world.say(&lowest, "Touch").await;
    scene.answer(&lowest, Answer::Deny { scope: None, message: None }).await;
    scene.world.events.finished(&lowest).await;
}

#[tokio::test]
async fn what_was_given_for_a_run_ends_with_the_program() {
    let server = Server::start();
    let mut scene = Scene::new(&server).await;
    server.push(Script::new().text("Hello."));
    let outside = tempfile::tempdir().unwrap();
    let file = outside.path().canonicalize().unwrap().join("file");
    let file = file.to_str().unwrap();
    let given = ChatRequest {
        project: Some(scene.root().canonicalize().unwrap()),
        mode: Some(Mode::Unattended),
        allow: vec![format!("write:{file}").parse().unwrap()],
        ..request(None, "Hello")
    };
    let top = scene.world.manager.send(given).await.unwrap().fid;
    scene.world.open(&top).await;
    scene.world.events.finished(&top).await;
    let agent = scene.world.manager.agents().create(below(&top)).await.unwrap().meta.fid;
    scene.world.open(&agent).await;
    assert!(touched(&mut scene, &server, &agent, file).await);
    let mut scene = scene.restart().await;
    scene.world.open(&agent).await;
    assert!(!touched(&mut scene, &server, &agent, file).await);
}

/// A chat in which the user allowed a file, and the rule that came of it.
async fn answered(server: &Server) -> (Scene, Fid, Rule) {
    let mut scene = Scene::new(server).await;
    server.push(touches("answered", "answered"));
    server.push(Script::new().text("Done."));
    let top = scene.ask(Mode::Ask).await;
    scene.answer(&top, Answer::Allow(Some(Scope::Session))).await;
    scene.world.events.finished(&top).await;
    let rules = scene.world.manager.permissions().session_rules(&top).await.unwrap();
    (scene, top, rules[0].rule.clone())
}

/// Has the agent touch the file that was allowed in the chat above it: the user is asked.
async fn asks(scene: &mut Scene, server: &Server, agent: &Fid) {
    server.push(touches("answered", "answered"));
    server.push(Script::new().text("Done."));
    scene.world.say(agent, "Touch").await;
    scene.answer(agent, Answer::Deny { scope: None, message: None }).await;
    scene.world.events.finished(agent).await;
}

#[tokio::test]
async fn what_was_given_to_an_agent_makes_no_answer_above_it_count_for_others() {
    let server = Server::start();
    let (mut scene, top, rule) = answered(&server).await;
    let manager = scene.world.manager.clone();
    let agent = manager.agents().create(below(&top)).await.unwrap().meta.fid;
    let other = manager.agents().create(below(&top)).await.unwrap().meta.fid;
    let lowest = manager.agents().create(below(&agent)).await.unwrap().meta.fid;
    for fid in [&agent, &other, &lowest] {
        scene.world.open(fid).await;
    }
    server.push(Script::new().text("Hello."));
    let given = ChatRequest { allow: vec![rule], ..request(Some(&agent), "Hello") };
    manager.send(given).await.unwrap();
    scene.world.events.finished(&agent).await;
    assert!(touched(&mut scene, &server, &agent, "answered").await);
    assert!(touched(&mut scene, &server, &lowest, "answered").await);
    asks(&mut scene, &server, &other).await;
}

#[tokio::test]
async fn what_comes_with_a_message_that_is_refused_is_not_given() {
    let server = Server::start();
    let (mut scene, top, rule) = answered(&server).await;
    let manager = scene.world.manager.clone();
    let agent = manager.agents().create(below(&top)).await.unwrap().meta.fid;
    scene.world.open(&agent).await;
    let refused = ChatRequest {
        model: Some(ModelRef::new("gone", "model")),
        allow: vec![rule],
        ..request(Some(&top), "Hello")
    };
    let error = manager.send(refused).await.unwrap_err();
    assert_eq!(error.kind, Kind::ConnectionMissing { name: "gone".to_owned() });
    asks(&mut scene, &server, &agent).await;
}
