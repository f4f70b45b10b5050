//! For which folder an answer is stored, and which folder's rules hold.

use chat_core::manager::SessionChange;
use chat_core::message::Answer;
use chat_core::permission::{Effect, Mode, Scope};
use chat_core::settings::Remembered;
use chat_testkit::server::{Script, Server};
use tempfile::TempDir;

use super::permissions::{Scene, touches};

#[tokio::test]
async fn leave_everywhere_for_a_file_of_the_project_is_of_that_project() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.answer(&fid, Answer::Allow(Some(Scope::Everywhere))).await;
    scene.world.events.finished(&fid).await;
    let rules = scene.world.manager.settings().permissions.rules.clone();
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
    manager.change_settings(move |it| it.permissions.remember(rule)).await.unwrap();
    let fid = scene.ask(Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let project = Some(Some(other.path().to_owned()));
    let change = SessionChange { project, ..SessionChange::default() };
    manager.change_session(&fid, change).await.unwrap();
    assert_eq!(manager.asks(&fid).len(), 1, "it is about a file of the first folder");
    scene.answer(&fid, Answer::Allow(Some(Scope::Project))).await;
    scene.world.events.finished(&fid).await;
    let rules = manager.settings().permissions.rules.clone();
    assert_eq!(rules[1].project, Some(scene.root()));
}
