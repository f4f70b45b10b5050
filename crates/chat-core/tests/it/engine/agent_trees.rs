//! Agents that work for a session: named, listed, interrupted, closed and deleted with it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use chat_core::error::{Kind, NoAgent};
use chat_core::event::{Event, SessionPlaceholder};
use chat_core::manager::NewAgent;
use chat_core::manager::SessionChange;
use chat_core::message::{
    AgentState, Answer, ChatRequest, Ending, Fid, Message, Role, SessionMeta,
};
use chat_core::permission::{Effect, Mode, Scope};
use chat_core::settings::{Folders, Remembered};
use chat_core::store::{NewSession, Store};
use chat_testkit::server::{Gate, Script, Server};

use super::permissions::{Scene, touches};
use super::world::{World, model, request};

fn named(parent: &Fid, name: &str) -> NewAgent {
    NewAgent { parent: Some(parent.clone()), name: Some(name.to_owned()), ..NewAgent::default() }
}

/// An agent that works for nobody.
fn of_its_own() -> NewAgent {
    NewAgent { model: Some(model()), ..NewAgent::default() }
}

fn names(agents: &[SessionPlaceholder]) -> Vec<(&str, bool)> {
    agents.iter().map(|it| (it.name.as_deref().unwrap_or_default(), it.closed)).collect()
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
    let heard = events.next().await.unwrap();
    let shown = |event: &Event| matches!(event, Event::ShowRequested { fid } if *fid == first.fid);
    assert!(heard.iter().any(shown), "{heard:?}");
    agents.create(named(&fid, "explorer")).await.unwrap();
    agents.create(named(&apart, "explorer")).await.unwrap();
    let tree = agents.list(Some(&fid)).await.unwrap();
    assert_eq!(names(&tree), [("explorer", false), ("explorer-2", false)]);
    assert_eq!(tree[1].title, "explorer-2");
    assert_eq!(tree[0].model, world.manager.sessions().empty().model);
    assert_eq!(agents.list(None).await.unwrap().len(), 3, "the user sees all");
    assert_eq!(world.manager.sessions().agents_below(&fid).await.unwrap(), 2);
    let found = agents.find_by_name(&first.fid, "explorer-2").await.unwrap().unwrap();
    assert_eq!(found, tree[1]);
    assert_eq!(agents.find_by_name(&fid, "nobody").await.unwrap(), None);
    agents.close_all(&fid).await.unwrap();

    let world = world.restart().await;
    let agents = world.manager.agents();
    let tree = agents.list(Some(&fid)).await.unwrap();
    assert_eq!(names(&tree), [("explorer", true), ("explorer-2", true)]);
    assert!(!agents.resume(&first.fid, false).await.unwrap().closed);
    let tree = agents.list(Some(&fid)).await.unwrap();
    assert_eq!(names(&tree), [("explorer", false), ("explorer-2", true)]);
}

#[tokio::test]
async fn closing_an_agent_ends_its_tree_and_keeps_what_arrived() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let agents = world.manager.agents();
    let top = NewAgent { name: Some("top".to_owned()), ..of_its_own() };
    let top = agents.create(top).await.unwrap().meta.fid;
    let below = agents.create(named(&top, "below")).await.unwrap().meta.fid;
    let gates = [Gate::new(), Gate::new()];
    for (fid, gate) in [&top, &below].into_iter().zip(&gates) {
        server.push(Script::new().text("half").gate(gate));
        world.open(fid).await;
        world.say(fid, "go").await;
        world.events.shows(fid, "half").await;
    }
    agents.close(&top).await.unwrap();
    assert!(world.manager.sessions().busy().is_empty());
    assert_eq!(names(&agents.list(Some(&top)).await.unwrap()), [("top", true), ("below", true)]);
    for fid in [&top, &below] {
        world.events.finished(fid).await;
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
    let top = agents.create(of_its_own()).await.unwrap().meta.fid;
    let below = agents.create(named(&top, "below")).await.unwrap().meta.fid;
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
    let top = agents.create(of_its_own()).await.unwrap().meta.fid;
    let below = agents.create(named(&top, "below")).await.unwrap().meta.fid;
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
    // An agent of its own can be deleted, and nobody works for what is deleted.
    world.manager.sessions().delete(&below).await.unwrap();
    let refused = agents.create(named(&below, "a")).await.unwrap_err().kind;
    assert_eq!(refused, Kind::SessionNotFound { fid: below.to_string() });
    assert_eq!(names(&agents.list(Some(&top)).await.unwrap()), [("just-ask", false)]);
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
    let part = agents.create(at("part")).await.unwrap();
    assert_eq!((part.project.as_ref(), part.mode), (Some(&project), Mode::Plan));
    assert_eq!(part.folder.as_deref(), Some("part".as_ref()));
    let rules = world.manager.permissions().session_rules(&part.fid).await.unwrap();
    assert_eq!(rules, [], "rules are not copied");
    for path in ["..", "away", "file", "missing", "/", "part/../../outside"] {
        let refused = agents.create(at(path)).await.unwrap_err().kind;
        assert_eq!(refused, Kind::OutsideParent { path: path.into() });
    }
    let unknown = NewAgent { agent: Some("nobody".to_owned()), ..named(&fid, "a") };
    let refused = agents.create(unknown).await.unwrap_err().kind;
    let why = NoAgent::default();
    assert_eq!(refused, Kind::AgentMissing { name: "nobody".to_owned(), why });
    assert_eq!(agents.list(Some(&fid)).await.unwrap().len(), 1, "nothing was stored");
}

#[tokio::test]
async fn what_is_denied_above_is_denied_below_also_later() {
    let server = Server::start();
    server.push(touches("c1", "own"));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let top = scene.ask(Mode::Ask).await;
    let deny = || Answer::Deny { scope: Some(Scope::Session), message: None };
    scene.answer(&top, deny()).await;
    scene.world.events.finished(&top).await;
    let manager = scene.world.manager.clone();
    let rule = Remembered {
        rule: "write:project".parse().unwrap(),
        effect: Effect::Deny,
        project: Some(scene.root().canonicalize().unwrap()),
    };
    manager.settings().change(|it| it.permissions.remember(rule)).await.unwrap();
    let below = manager.agents().create(named(&top, "below")).await.unwrap().meta.fid;
    let lowest = manager.agents().create(named(&below, "lowest")).await.unwrap().meta.fid;
    scene.world.open(&lowest).await;
    for name in ["own", "project"] {
        server.push(touches(name, name));
        server.push(Script::new().text("Done."));
        // Nobody is asked.
        scene.world.say_and_wait(&lowest, "Touch").await;
        assert!(scene.results(&lowest).await.last().unwrap().failed, "{name}");
    }
    // The user denies something at the top while the agent waits for leave to do the same.
    server.push(touches("later", "later"));
    scene.world.say(&lowest, "Touch").await;
    scene.waits(&lowest, 1).await;
    server.push(touches("later", "later"));
    scene.world.say(&top, "Touch").await;
    server.push(Script::new().text("Done."));
    server.push(Script::new().text("Done."));
    scene.answer(&top, deny()).await;
    scene.world.events.finished(&lowest).await;
    assert!(scene.results(&lowest).await.last().unwrap().failed);
    scene.world.events.finished(&top).await;
    // From then on the top only plans.
    let mode = SessionChange { mode: Some(Mode::Edits), ..SessionChange::default() };
    for fid in [&top, &below, &lowest] {
        manager.sessions().change(fid, mode.clone()).await.unwrap();
    }
    for (mode, passes) in [(Mode::Edits, true), (Mode::Plan, false)] {
        let change = SessionChange { mode: Some(mode), ..SessionChange::default() };
        manager.sessions().change(&top, change).await.unwrap();
        server.push(touches("c", "free"));
        server.push(Script::new().text("Done."));
        scene.world.say_and_wait(&lowest, "Touch").await;
        assert_eq!(scene.results(&lowest).await.last().unwrap().failed, !passes, "{mode}");
    }
}

#[tokio::test]
async fn an_agent_is_restored_with_those_that_it_works_for() {
    let server = Server::start();
    let world = World::new(&server).await;
    let agents = world.manager.agents();
    let top = agents.create(of_its_own()).await.unwrap().meta.fid;
    let below = agents.create(named(&top, "below")).await.unwrap().meta.fid;
    agents.create(named(&top, "other")).await.unwrap();
    let lowest = agents.create(named(&below, "lowest")).await.unwrap().meta.fid;
    let sessions = world.manager.sessions();
    sessions.delete(&lowest).await.unwrap();
    sessions.delete(&top).await.unwrap();
    sessions.restore(&lowest).await.unwrap();
    // Nothing of the tree that was deleted with the chat is lost.
    let tree = agents.list(Some(&lowest)).await.unwrap();
    let mut names: Vec<_> = tree.iter().filter_map(|agent| agent.name.as_deref()).collect();
    names.sort_unstable();
    assert_eq!(names, ["below", "just-ask", "lowest", "other"]);
    // Undoing that of the chat, too, changes nothing.
    sessions.restore(&top).await.unwrap();
    assert_eq!(sessions.list().await.unwrap().len(), 4);
}

#[tokio::test]
async fn an_agent_whose_chat_is_gone_only_reads() {
    let server = Server::start();
    let mut scene = Scene::new(&server).await;
    server.push(Script::new().text("Hello."));
    let top = scene.ask(Mode::Edits).await;
    scene.world.events.finished(&top).await;
    let manager = scene.world.manager.clone();
    let below = manager.agents().create(named(&top, "below")).await.unwrap().meta.fid;
    scene.world.open(&below).await;
    server.push(touches("with", "with"));
    server.push(Script::new().text("Done."));
    scene.world.say_and_wait(&below, "Touch").await;
    assert!(!scene.results(&below).await.last().unwrap().failed);
    // The chat is gone, and its agent is not: a damaged disk took its row, say.
    let database = Folders::below(scene.world.folder.path()).database();
    let database = rusqlite::Connection::open(database).unwrap();
    database.execute("UPDATE sessions SET deleted = 1 WHERE fid = ?1", [top.as_str()]).unwrap();
    drop((database, manager));
    let mut scene = scene.restart().await;
    let manager = scene.world.manager.clone();
    scene.world.open(&below).await;
    let change = SessionChange { mode: Some(Mode::Unattended), ..SessionChange::default() };
    manager.sessions().change(&below, change).await.unwrap();
    server.push(touches("without", "without"));
    server.push(Script::new().text("Done."));
    // Nobody is asked, and nothing is touched.
    scene.world.say_and_wait(&below, "Touch").await;
    assert!(scene.results(&below).await.last().unwrap().failed);
}

#[tokio::test]
async fn how_the_work_of_an_agent_ended_is_known_after_a_restart() {
    let server = Server::start();
    server.push(Script::new().text("Hello."));
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("Hi").await;
    let agents = world.manager.agents();
    let mut fids = Vec::new();
    for name in ["done", "idle", "stopped"] {
        fids.push(agents.create(named(&fid, name)).await.unwrap().meta.fid);
    }
    server.push(Script::new().text("All of it."));
    world.open(&fids[0]).await;
    world.say_and_wait(&fids[0], "go").await;
    let gate = Gate::new();
    server.push(Script::new().text("half").gate(&gate));
    world.open(&fids[2]).await;
    world.say(&fids[2], "go").await;
    world.events.shows(&fids[2], "half").await;
    agents.interrupt(&fids[2]);
    world.events.finished(&fids[2]).await;

    let ended = |tree: Vec<SessionPlaceholder>| {
        let row = |it: SessionPlaceholder| (it.name.clone().unwrap_or_default(), it.ended);
        tree.into_iter().map(row).collect::<Vec<_>>()
    };
    let expected: Vec<_> =
        [("done", Some(AgentState::Done)), ("idle", None), ("stopped", Some(AgentState::Stopped))]
            .map(|(name, ended)| (name.to_owned(), ended))
            .into();
    let now = ended(agents.list(Some(&fid)).await.unwrap());
    assert_eq!(now, expected);
    let world = world.restart().await;
    let later = ended(world.manager.agents().list(Some(&fid)).await.unwrap());
    assert_eq!(later, expected);
    let chats = world.manager.sessions().list().await.unwrap();
    let chat = chats.iter().find(|row| row.fid == fid).unwrap();
    assert_eq!(chat.ended, None, "it is no agent");
}

#[tokio::test]
async fn the_work_of_an_agent_ended_as_before_once_what_came_later_is_taken_back() {
    let server = Server::start();
    server.push(Script::new().text("Hello."));
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("Hi").await;
    let agent = world.manager.agents().create(named(&fid, "fixer")).await.unwrap().meta.fid;
    world.open(&agent).await;
    server.push(Script::new().text("All of it."));
    world.say_and_wait(&agent, "go").await;
    let gate = Gate::new();
    server.push(Script::new().text("half").gate(&gate));
    world.say(&agent, "again").await;
    world.events.shows(&agent, "half").await;
    world.manager.agents().interrupt(&agent);
    world.events.finished(&agent).await;

    let transcript = world.manager.sessions().transcript(&agent).await.unwrap();
    let again = transcript.iter().rfind(|message| message.role == Role::User).unwrap().id;
    world.manager.review().rewind(&agent, again).await.unwrap();
    let ended = async |world: &World| {
        world.manager.agents().list(Some(&fid)).await.unwrap().pop().unwrap().meta.ended
    };
    assert_eq!(ended(&world).await, Some(AgentState::Done));
    let world = world.restart().await;
    assert_eq!(ended(&world).await, Some(AgentState::Done));
}

#[tokio::test]
async fn what_the_program_says_last_does_not_hide_how_an_agent_ended() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&Folders::below(folder.path())).unwrap().store;
    let new = |parent: Option<&Fid>| {
        let meta = SessionMeta { parent: parent.cloned(), ..SessionMeta::default() };
        NewSession { meta, ..NewSession::default() }
    };
    let chat = store.create(new(None), Vec::new()).await.unwrap();
    for (ended, expected) in
        [(Ending::Complete, AgentState::Done), (Ending::Failed, AgentState::Failed)]
    {
        let task = Message::text(Role::User, None, "go");
        let reply = Message::text(Role::Assistant, Some(task.id), "All of it.");
        let reply = Message { ended: Some(ended), ..reply };
        let remark = Message::text(Role::Ui, Some(reply.id), "shorter");
        let last = Message::text(Role::Ui, Some(remark.id), "shorter again");
        let messages = [task, reply, remark, last].map(Arc::new).into();
        let agent = store.create(new(Some(&chat.meta.fid)), messages).await.unwrap();
        assert_eq!(agent.meta.ended, Some(expected));
    }
}
