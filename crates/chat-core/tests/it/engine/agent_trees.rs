//! Agents that work for a session: named, listed, interrupted, closed and deleted with it.

use std::fs;
use std::path::PathBuf;

use chat_core::error::Kind;
use chat_core::event::Event;
use chat_core::manager::{AgentState, NewAgent};
use chat_core::message::{ChatRequest, Fid};
use chat_core::permission::{Effect, Entry, Mode, Scope};
use chat_testkit::server::{Gate, Script, Server};

use super::world::{World, request};

fn named(parent: &Fid, name: &str) -> NewAgent {
    NewAgent { parent: Some(parent.clone()), name: Some(name.to_owned()), ..NewAgent::default() }
}

fn names(agents: &[AgentState]) -> Vec<(&str, bool)> {
    agents.iter().map(|it| (it.session.name.as_deref().unwrap_or_default(), it.open)).collect()
}

/// Waits for an event about agents.
async fn next_about_agents(events: &mut chat_core::event::Subscription) -> Vec<Event> {
    loop {
        let about =
            |event: &Event| matches!(event, Event::AgentOpened { .. } | Event::AgentClosed { .. });
        let events: Vec<_> = events.next().await.unwrap().into_iter().filter(about).collect();
        if !events.is_empty() {
            return events;
        }
    }
}

#[tokio::test]
async fn an_agent_is_named_listed_and_opened_again_after_a_restart() {
    let server = Server::start();
    server.push(Script::new().text("Hello."));
    let mut world = World::new(&server).await;
    let [one, other] = ["one", "other"].map(str::to_owned);
    let fid = world.ask(&one).await.fid;
    world.events.finished(&fid).await;
    server.push(Script::new().text("Hi."));
    let apart = world.ask(&other).await.fid;
    world.events.finished(&apart).await;

    let agents = world.manager.agents();
    let mut events = world.manager.subscribe();
    let first = agents.create(NewAgent { show: true, ..named(&fid, "explorer") }).await.unwrap();
    let opened = next_about_agents(&mut events).await;
    let is_first = |event: &Event| matches!(event, Event::AgentOpened { fid, show: true } if *fid == first.session.fid);
    assert!(opened.iter().any(is_first), "{opened:?}");
    agents.create(named(&fid, "explorer")).await.unwrap();
    agents.create(named(&apart, "explorer")).await.unwrap();
    let tree = agents.list(Some(&fid)).await.unwrap();
    assert_eq!(names(&tree), [("explorer", true), ("explorer-2", true)]);
    assert_eq!(tree[0].session.model, world.manager.sessions().empty().model);
    assert_eq!(agents.list(None).await.unwrap().len(), 3, "the user sees all");
    let found = agents.find_by_name(&first.session.fid, "explorer-2").await.unwrap().unwrap();
    assert_eq!(found, tree[1]);
    assert_eq!(agents.find_by_name(&fid, "nobody").await.unwrap(), None);

    let world = world.restart().await;
    let agents = world.manager.agents();
    let tree = agents.list(Some(&fid)).await.unwrap();
    assert_eq!(names(&tree), [("explorer", false), ("explorer-2", false)]);
    assert!(agents.resume(&first.session.fid, false).await.unwrap().open);
    let tree = agents.list(Some(&fid)).await.unwrap();
    assert_eq!(names(&tree), [("explorer", true), ("explorer-2", false)]);
}

#[tokio::test]
async fn closing_an_agent_ends_its_tree_and_keeps_what_arrived() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let agents = world.manager.agents();
    let top = NewAgent { name: Some("top".to_owned()), ..NewAgent::default() };
    let top = agents.create(top).await.unwrap().session.meta.fid;
    let below = agents.create(named(&top, "below")).await.unwrap().session.meta.fid;
    let gates = [Gate::new(), Gate::new()];
    for (fid, gate) in [&top, &below].into_iter().zip(&gates) {
        server.push(Script::new().text("half").gate(gate));
        world.open(fid).await;
        world.say(fid, "go").await;
        world.events.shows(fid, "half").await;
    }
    let mut events = world.manager.subscribe();
    agents.close(&top).await.unwrap();
    assert!(world.manager.sessions().busy().is_empty());
    assert_eq!(names(&agents.list(Some(&top)).await.unwrap()), [("top", false), ("below", false)]);
    let closed = next_about_agents(&mut events).await;
    assert!(closed.iter().all(|event| matches!(event, Event::AgentClosed { .. })), "{closed:?}");
    for fid in [&top, &below] {
        assert_eq!(world.transcript(fid).await[1].1, "half");
    }
    // It can still be talked to.
    server.push(Script::new().text("again"));
    world.say_and_wait(&below, "more").await;
    assert_eq!(world.transcript(&below).await.last().unwrap().1, "again");
}

#[tokio::test]
async fn interrupting_an_agent_leaves_the_others_at_work() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let agents = world.manager.agents();
    let top = agents.create(NewAgent::default()).await.unwrap().session.meta.fid;
    let below = agents.create(named(&top, "below")).await.unwrap().session.meta.fid;
    let gate = Gate::new();
    for fid in [&top, &below] {
        server.push(Script::new().text("half").gate(&gate).text(" and whole"));
        world.open(fid).await;
        world.say(fid, "go").await;
        world.events.shows(fid, "half").await;
    }
    agents.interrupt(&top);
    world.events.finished(&top).await;
    gate.open();
    world.events.finished(&below).await;
    assert_eq!(world.transcript(&top).await[1].1, "half");
    assert_eq!(world.transcript(&below).await[1].1, "half and whole");
}

#[tokio::test]
async fn a_chat_is_deleted_and_restored_with_its_agents() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("half").gate(&gate));
    let mut world = World::new(&server).await;
    let agents = world.manager.agents();
    let top = agents.create(NewAgent::default()).await.unwrap().session.meta.fid;
    let below = agents.create(named(&top, "below")).await.unwrap().session.meta.fid;
    world.open(&below).await;
    world.say(&below, "go").await;
    world.events.shows(&below, "half").await;
    world.manager.sessions().delete(&top).await.unwrap();
    assert!(world.manager.sessions().list().await.unwrap().is_empty());
    assert!(world.manager.sessions().busy().is_empty());
    assert!(agents.list(None).await.unwrap().is_empty());
    world.manager.sessions().restore(&top).await.unwrap();
    assert_eq!(
        names(&agents.list(Some(&top)).await.unwrap()),
        [("just-ask", false), ("below", false)]
    );
    assert_eq!(world.transcript(&below).await[1].1, "half");
}

#[tokio::test]
async fn an_agent_gets_its_parents_bounds_and_none_of_its_allowances() {
    let server = Server::start();
    server.push(Script::new().text("Hello."));
    let mut world = World::new(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().canonicalize().unwrap().join("project");
    let outside = folder.path().join("outside");
    for folder in [project.join("part"), outside.clone()] {
        fs::create_dir_all(folder).unwrap();
    }
    std::os::unix::fs::symlink(&outside, project.join("away")).unwrap();
    fs::write(project.join("file"), "").unwrap();
    let ask = ChatRequest {
        project: Some(project.clone()),
        mode: Some(Mode::Plan),
        allow: vec!["run:cargo test *".parse().unwrap()],
        ..request(None, "Plan it")
    };
    let fid = world.manager.send(ask).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;

    let agents = world.manager.agents();
    let at = |path: &str| NewAgent { path: Some(PathBuf::from(path)), ..named(&fid, "a") };
    let part = agents.create(at("part")).await.unwrap().session;
    assert_eq!((part.project.clone(), part.mode), (Some(project.join("part")), Mode::Plan));
    let rules = world.manager.permissions().session_rules(&part.fid).await.unwrap();
    let allowed = |entry: &Entry| entry.effect == Effect::Allow || entry.scope != Scope::Session;
    assert!(!rules.iter().any(allowed), "{rules:?}");
    for path in ["..", "away", "file", "missing", "/", "part/../../outside"] {
        let refused = agents.create(at(path)).await.unwrap_err().kind;
        assert_eq!(refused, Kind::OutsideParent { path: path.into() });
    }
    let unknown = NewAgent { agent: Some("nobody".to_owned()), ..named(&fid, "a") };
    let refused = agents.create(unknown).await.unwrap_err().kind;
    assert_eq!(refused, Kind::AgentMissing { name: "nobody".to_owned() });
    assert_eq!(agents.list(Some(&fid)).await.unwrap().len(), 1, "nothing was stored");
}
