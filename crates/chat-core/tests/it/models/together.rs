//! Several downloads, and several programs.

use chat_core::error::Kind;
use chat_core::event::Event;
use chat_core::models::DownloadState;
use chat_gguf::write::Writer;
use chat_testkit::hub::Fault;

use super::world::{FILE, LONG, REPOSITORY, World, until};

#[tokio::test(flavor = "multi_thread")]
async fn several_come_at_once() {
    let world = World::start().await;
    let mut ids = Vec::new();
    for n in 0..4_u8 {
        let file = format!("model{n}.gguf");
        world.hub.put("ada/many", &file, Writer::tiny("Many", 1 << 20).filled_with(n).bytes());
        let model = world.manager.repositories().model("ada/many", &file).await.unwrap();
        ids.push(world.manager.downloads().start(model).await.unwrap());
    }
    for id in &ids {
        world.until_done(id).await;
    }
    let names: Vec<_> =
        world.manager.local_models().list().await.unwrap().into_iter().map(|m| m.name).collect();
    assert_eq!(names, ["model0", "model1", "model2", "model3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_programs_do_not_write_one_file() {
    let world = World::start().await;
    world.hub.fail([Fault::StallAfter(2_000_000)]);
    let id = world.begin().await;
    world.until(&id, |download| download.received >= 1_048_576).await;

    let other = world.another().await;
    let seen = other.downloads().list().into_iter().find(|download| download.id == id).unwrap();
    assert_eq!(seen.state, DownloadState::Elsewhere);
    let refused = other.downloads().cancel(&id).await.unwrap_err();
    let elsewhere = Kind::DownloadElsewhere { file: FILE.to_owned() };
    assert_eq!(refused.kind, elsewhere);
    let model = other.repositories().model(REPOSITORY, FILE).await.unwrap();
    assert_eq!(other.downloads().start(model).await.unwrap(), id);
    let failed = until(&other, &id, |d| matches!(d.state, DownloadState::Failed(_))).await;
    assert!(matches!(failed.state, DownloadState::Failed(e) if e.kind == elsewhere));

    // The other program hears of the model when it is there.
    let mut events = other.subscribe();
    world.hub.go_on();
    world.until_done(&id).await;
    assert_eq!(world.hub.fetches().len(), 1);
    let heard = async {
        loop {
            let batch = events.next().await.unwrap();
            if batch.iter().any(|event| matches!(event, Event::ModelsChanged)) {
                return;
            }
        }
    };
    tokio::time::timeout(LONG, heard).await.unwrap();
    assert_eq!(other.local_models().library().find("tiny").unwrap(), world.installed("tiny"));
    assert_eq!(other.downloads().list(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_becomes_of_another_programs_download_is_heard() {
    let world = World::start().await;
    let other = world.another().await;
    world.hub.fail([Fault::StallAfter(2_000_000)]);
    let id = world.begin().await;
    // Nobody asks: it is told that there is something new.
    until(&other, &id, |download| download.state == DownloadState::Elsewhere).await;
    world.manager.downloads().pause(&id);
    until(&other, &id, |download| download.state == DownloadState::Paused).await;
}
