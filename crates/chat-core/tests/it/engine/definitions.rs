//! Agents, commands and skills in files: the user's own, and those of projects that the user trusts.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::definitions::{Definitions, ProblemKind};
use chat_core::event::{Event, Subscription};
use chat_core::manager::{Manager, NewAgent};
use chat_core::message::{ChatRequest, ModelRef};
use chat_testkit::server::{Script, Server};
use tempfile::TempDir;

use super::world::{CONNECTION, World, model, request, timeouts};

/// Writes a file below a folder.
pub fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    // In one step, so that nobody reads half of it.
    let new = folder.join("being-written");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

/// Waits until the definitions are like this. The events must have been subscribed to before anything changed.
pub async fn until(
    manager: &Manager,
    events: &mut Subscription,
    project: Option<&Path>,
    is_it: impl Fn(&Definitions) -> bool,
) -> Arc<Definitions> {
    loop {
        let now = manager.definitions().current(project);
        if is_it(&now) {
            return now;
        }
        let is_about = |event: &Event| matches!(event, Event::DefinitionsChanged { project: it } if it.as_deref() == project);
        while !events.next().await.unwrap().iter().any(is_about) {}
    }
}

fn names(definitions: &Definitions) -> Vec<&str> {
    let agents = definitions.agents.iter().map(|agent| agent.name.as_str());
    agents.chain(definitions.commands.iter().map(|command| command.name.as_str())).collect()
}

/// A project with an agent and a command.
fn project() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap();
    write(&path, ".natter/agents/builder.md", "---\nmode: auto\n---\nBuild.");
    write(&path, ".natter/commands/ship.md", "Ship.");
    (folder, path)
}

#[tokio::test]
async fn the_users_own_are_read_live() {
    let world = World::empty(timeouts()).await;
    let mut events = world.manager.subscribe();
    let config = world.folder.path().join("config");
    assert!(world.manager.definitions().current(None).agents.is_empty());

    write(&config, "agents/reviewer.md", "Review.");
    let definitions =
        until(&world.manager, &mut events, None, |now| names(now) == ["reviewer"]).await;
    assert_eq!(definitions.project, None);

    // What is wrong is reported, and the last good version stays.
    write(&config, "agents/reviewer.md", "---\nmode: sometimes\n---\nReview.");
    let broken = until(&world.manager, &mut events, None, |now| !now.problems.is_empty()).await;
    let problem = &broken.problems[0];
    assert_eq!(problem.path, config.join("agents/reviewer.md"));
    assert_eq!(problem.line, Some(2));
    assert!(matches!(problem.kind, ProblemKind::UnknownWord { key: "mode", .. }));
    assert_eq!(names(&broken), ["reviewer"]);

    fs::remove_file(config.join("agents/reviewer.md")).unwrap();
    until(&world.manager, &mut events, None, |now| now.agents.is_empty()).await;
}

#[tokio::test]
async fn a_projects_do_nothing_until_they_are_trusted() {
    let world = World::empty(timeouts()).await;
    let definitions = world.manager.definitions();
    let mut events = world.manager.subscribe();
    let (_folder, project) = project();

    let found = definitions.of_project(Some(&project)).await;
    assert!(names(&found).is_empty());
    let seen = found.project.clone().unwrap();
    let asked: Vec<_> = seen.untrusted().map(|item| item.name.as_str()).collect();
    assert_eq!(asked, ["builder", "ship"]);

    definitions.trust(&seen).await.unwrap();
    assert_eq!(names(&definitions.current(Some(&project))), ["builder", "ship"]);
    assert!(names(&definitions.current(None)).is_empty(), "they are in no other chat");

    // Changed content asks again, and is out of use until then.
    write(&project, ".natter/agents/builder.md", "Build more.");
    let changed = until(&world.manager, &mut events, Some(&project), |now| {
        now.project.as_ref().is_some_and(|project| !project.is_trusted())
    })
    .await;
    assert_eq!(names(&changed), ["ship"]);

    assert_eq!(definitions.trusted().await, std::slice::from_ref(&project));
    definitions.forget(&project).await.unwrap();
    assert!(definitions.trusted().await.is_empty());
    assert!(names(&definitions.current(Some(&project))).is_empty());
}

#[tokio::test]
async fn trust_is_remembered_and_found_by_the_session() {
    let server = Server::start();
    server.push(Script::new().text("Hello."));
    let world = World::new(&server).await;
    let (_folder, project) = project();
    let seen = world.manager.definitions().of_project(Some(&project)).await.project.clone();
    world.manager.definitions().trust(&seen.unwrap()).await.unwrap();

    let ask = ChatRequest { project: Some(project.clone()), ..request(None, "Hi") };
    let fid = world.manager.send(ask).await.unwrap().fid;
    let world = world.restart().await;
    let found = world.manager.definitions().of_session(&fid).await.unwrap();
    assert_eq!(names(&found), ["builder", "ship"]);
}

#[tokio::test]
async fn a_folder_that_is_gone_has_the_users_own() {
    let world = World::empty(timeouts()).await;
    let mut events = world.manager.subscribe();
    write(&world.folder.path().join("config"), "commands/greet.md", "Greet.");
    until(&world.manager, &mut events, None, |now| names(now) == ["greet"]).await;
    let found = world.manager.definitions().of_project(Some(Path::new("/nowhere"))).await;
    assert_eq!(names(&found), ["greet"]);
    assert_eq!(found.project, None);
}

#[tokio::test]
async fn the_model_of_a_file_is_for_agents_of_another_kind_than_their_parent() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let mut events = world.manager.subscribe();
    let config = world.folder.path().join("config");
    write(&config, "agents/reviewer.md", "---\nmodel: test/small\n---\nReview.");
    until(&world.manager, &mut events, None, |now| names(now) == ["reviewer"]).await;
    let agents = world.manager.agents();

    // The user chose a model for this chat.
    server.push(Script::new().text("Fine."));
    let ask = ChatRequest { agent: Some("reviewer".to_owned()), ..request(None, "Review") };
    let fid = world.manager.send(ask).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    let same = NewAgent { parent: Some(fid), ..NewAgent::default() };
    assert_eq!(agents.create(same).await.unwrap().model, Some(model()));

    server.push(Script::new().text("Hello."));
    let (plain, _) = world.ask_and_wait("Hello").await;
    let agent = Some("reviewer".to_owned());
    let other = NewAgent { parent: Some(plain), agent, ..NewAgent::default() };
    let small = ModelRef::new(CONNECTION, "small");
    assert_eq!(agents.create(other).await.unwrap().model, Some(small));
}
