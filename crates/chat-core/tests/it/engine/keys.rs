//! Keys, as requests take them.

use chat_core::error::Kind;
use chat_core::event::StopReason;
use chat_core::settings::{Connection, ConnectionKind, HeaderSource, Key, KeySource};
use chat_testkit::server::Server;

use super::world::{World, connection};
use crate::another;

#[tokio::test]
async fn a_key_that_was_refused_is_taken_anew_for_the_next_request() {
    let server = Server::start().with_key("new");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, "old\n").unwrap();
    let command = format!("cat '{}'", file.display());
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let set = move |settings: &mut chat_core::settings::Settings| {
        settings.connections[0].key = KeySource::Command(command);
    };
    world.manager.settings().change(set).await.unwrap();
    let (fid, finished) = world.ask_and_wait("one").await;
    assert_eq!(
        finished.error.unwrap().kind,
        Kind::Unauthorized { signin_url: None, keyless: false }
    );
    std::fs::write(&file, "new\n").unwrap();
    world.manager.messages().retry(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
}

#[test]
fn a_connection_that_is_renamed_keeps_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = another::command("engine::keys::renames_a_connection", folder.path());
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    another::run(command);
}

#[tokio::test]
#[ignore = "run by another test, away from the person's keyring"]
async fn renames_a_connection() {
    let server = Server::start().with_key("secret");
    let world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let known = connection(&server, ConnectionKind::OpenAi);
    let name = known.name.clone();
    world.manager.connections().save(known, Some(Key::new("secret")), Some(&name)).await.unwrap();
    let known = world.manager.settings().current().connections[0].clone();
    assert_eq!(known.key, KeySource::Keyring);
    let renamed = Connection { name: "renamed".into(), ..known };
    world.manager.connections().save(renamed.clone(), None, Some(&name)).await.unwrap();
    assert_eq!(world.manager.connections().test(&renamed, None).await.unwrap().models.len(), 1);
    // Here the new one lasts for this run alone: what there was is not given up for that.
    let former = Connection { name, ..renamed };
    assert_eq!(world.manager.connections().test(&former, None).await.unwrap().models.len(), 1);
}

#[test]
fn a_connection_whose_key_cannot_be_had_is_not_renamed() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = another::command("engine::keys::renames_without_the_key", folder.path());
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    another::run(command);
}

#[tokio::test]
#[ignore = "run by another test, away from the person's keyring"]
async fn renames_without_the_key() {
    let server = Server::start();
    let world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let set = |settings: &mut chat_core::settings::Settings| {
        settings.connections[0].key = KeySource::Keyring;
    };
    world.manager.settings().change(set).await.unwrap();
    let known = world.manager.settings().current().connections[0].clone();
    let renamed = Connection { name: "renamed".into(), ..known.clone() };
    let connections = world.manager.connections();
    let save = |key| connections.save(renamed.clone(), key, Some(&known.name));
    assert_eq!(save(None).await.unwrap_err().kind, Kind::KeyUnavailable);
    assert_eq!(world.manager.settings().current().connections[0], known, "all is as it was");
    // With a key typed again nothing is lost.
    save(Some(Key::new("new"))).await.unwrap();
    assert_eq!(world.manager.settings().current().connections[0].name, "renamed");
}

#[test]
fn a_header_that_is_written_in_other_letters_keeps_its_value() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = another::command("engine::keys::respells_a_header", folder.path());
    command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    another::run(command);
}

#[tokio::test]
#[ignore = "run by another test, away from the person's keyring"]
async fn respells_a_header() {
    let server = Server::start();
    let world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let known = connection(&server, ConnectionKind::OpenAi);
    let name = known.name.clone();
    let connections = world.manager.connections();
    let value = vec![("X-Team".to_owned(), Key::new("blue"))];
    connections.save_with(known.clone(), None, value, Some(&name)).await.unwrap();
    let headers = [("x-team".to_owned(), HeaderSource::KEYRING)];
    let respelled = Connection { headers: headers.into(), ..known };
    connections.save(respelled.clone(), None, Some(&name)).await.unwrap();
    connections.test(&respelled, None).await.unwrap();
    assert_eq!(server.requests().last().unwrap().headers["x-team"], "blue");
    // One that is gone is gone with its value.
    let without = Connection { headers: [].into(), ..respelled.clone() };
    connections.save(without, None, Some(&name)).await.unwrap();
    let error = connections.test(&respelled, None).await.unwrap_err();
    assert_eq!(error.kind, Kind::KeyUnavailable);
}
