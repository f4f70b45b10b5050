//! For which folder an answer is stored, and which folder's rules hold.

use std::sync::Arc;

use chat_core::error::Kind;
use chat_core::manager::SessionChange;
use chat_core::message::{Answer, ApprovalRequest, ChatRequest};
use chat_core::permission::{Effect, Entry, Mode, Scope};
use chat_core::settings::Remembered;
use chat_testkit::server::{Script, Server};
use tempfile::TempDir;

use super::permissions::{Scene, touches};
use super::world::request;

#[tokio::test]
async fn leave_everywhere_for_a_file_of_the_project_is_of_that_project() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.answer(&fid, Answer::Allow(Some(Scope::Everywhere))).await;
    scene.world.events.finished(&fid).await;
    let rules = scene.world.manager.settings().current().permissions.rules.clone();
    assert_eq!(rules.len(), 1);
    assert_eq!(rules[0].project, Some(scene.root()));
}

#[tokio::test]
async fn what_runs_goes_by_the_rules_of_its_own_folder_when_the_chat_has_another() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let other = TempDir::new().unwrap();
    let rule = Remembered {
        rule: "write:**".parse().unwrap(),
        effect: Effect::Allow,
        project: Some(other.path().to_owned()),
    };
    let manager = scene.world.manager.clone();
    manager.settings().change(move |it| it.permissions.remember(rule)).await.unwrap();
    let fid = scene.ask(Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let project = Some(Some(other.path().to_owned()));
    let change = SessionChange { project, ..SessionChange::default() };
    manager.sessions().change(&fid, change).await.unwrap();
    assert_eq!(manager.permissions().pending().len(), 1, "it is about a file of the first folder");
    scene.answer(&fid, Answer::Allow(Some(Scope::Project))).await;
    scene.world.events.finished(&fid).await;
    let rules = manager.settings().current().permissions.rules.clone();
    assert_eq!(rules[1].project, Some(scene.root()));
}

#[tokio::test]
async fn rules_that_were_edited_are_stored_instead_of_those_that_were_asked() {
    let server = Server::start();
    for (id, path) in [("c1", "src/a.txt"), ("c2", "src/b.txt"), ("c3", "other.txt")] {
        server.push(touches(id, path));
    }
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    std::fs::create_dir(scene.root().join("src")).unwrap();
    let fid = scene.ask(Mode::Ask).await;
    let rules = vec!["write:./src/**".parse().unwrap()];
    let (effect, scope) = (Effect::Allow, Scope::Session);
    let answer = Answer::Remember { effect, scope, rules: rules.clone(), message: None };
    scene.answer(&fid, answer).await;
    let first = scene.world.events.asks[&fid][0].id;
    let is_another =
        |asks: &Vec<_>| asks.first().is_some_and(|ask: &Arc<ApprovalRequest>| ask.id != first);
    scene.world.events.until(|told| told.asks.get(&fid).is_some_and(is_another)).await;
    // The second passes by the rule; the third is asked, and denied by another.
    let stored = scene.world.manager.permissions().session_rules(&fid).await.unwrap();
    assert_eq!(stored, [Entry::allow(rules[0].clone(), Scope::Session)]);
    let denied = vec!["write:*.txt".parse().unwrap()];
    let message = Some("not here".to_owned());
    let (effect, scope) = (Effect::Deny, Scope::Project);
    scene.answer(&fid, Answer::Remember { effect, scope, rules: denied, message }).await;
    scene.world.events.finished(&fid).await;
    let settings = scene.world.manager.settings().current();
    let known = &settings.permissions.rules[0];
    assert_eq!(known.rule.to_string(), "write:*.txt");
    assert_eq!((known.effect, known.project.clone()), (Effect::Deny, Some(scene.root())));
    let sent = server.chats().pop().unwrap().body.to_string();
    assert!(sent.contains("not here") && sent.matches("touched").count() == 2, "{sent}");
}

#[tokio::test]
async fn a_rule_that_is_not_about_the_question_is_not_stored_and_answers_nothing() {
    let server = Server::start();
    server.push(touches("c1", "src/a.txt"));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    std::fs::create_dir(scene.root().join("src")).unwrap();
    let fid = scene.ask(Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let id = scene.world.events.asks[&fid][0].id;
    let permissions = scene.world.manager.permissions();
    for rules in [&["network:*"][..], &["write:./src/**", "run:*"]] {
        let rules = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let (effect, scope) = (Effect::Allow, Scope::Session);
        let answer = Answer::Remember { effect, scope, rules, message: None };
        let refused = permissions.answer(&fid, id, answer).await.unwrap_err();
        assert_eq!(refused.kind, Kind::RuleMismatch);
    }
    assert!(permissions.session_rules(&fid).await.unwrap().is_empty());
    assert_eq!(permissions.pending().len(), 1, "it waits on");
    assert!(!scene.root().join("src/a.txt").exists());
    scene.answer(&fid, Answer::Allow(None)).await;
    scene.world.events.finished(&fid).await;
}

#[tokio::test]
async fn a_project_is_worked_in_by_who_worked_there_last() {
    let server = Server::start();
    let scene = Scene::new(&server).await;
    let manager = &scene.world.manager;
    assert_eq!(manager.sessions().agent_for(&scene.root()).await, "code-assistant");
    server.push(Script::new().text("Hello."));
    let request = ChatRequest {
        project: Some(scene.root()),
        agent: Some("just-ask".to_owned()),
        ..request(None, "Hello")
    };
    manager.send(request).await.unwrap();
    assert_eq!(manager.sessions().agent_for(&scene.root()).await, "just-ask");
    let other = TempDir::new().unwrap();
    assert_eq!(manager.sessions().agent_for(other.path()).await, "code-assistant");
}
