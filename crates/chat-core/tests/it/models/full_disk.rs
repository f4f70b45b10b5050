//! A disk without room, real: before a download, and in the middle of one.

use chat_core::error::Kind;
use chat_core::models::DownloadState;
use chat_gguf::write::Writer;
use chat_testkit::hub::{Fault, Hub};

use super::world::{manager, options, until};
use crate::another;

#[test]
fn too_little_room_is_told_before_and_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    another::run_on_small_disk("models::full_disk::on_a_small_disk", 64, folder.path());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "run by the test above, on a small disk"]
async fn on_a_small_disk() {
    const MEGABYTE: u64 = 1 << 20;
    let folder = another::folder();
    let hub = Hub::start();
    let manager = manager(&folder, &options(&hub)).await;
    hub.put("ada/large", "large.gguf", Writer::tiny("Large", 80 * MEGABYTE).bytes());
    let large = manager.repositories().model("ada/large", "large.gguf").await.unwrap();
    let id = manager.downloads().start(large).await.unwrap();
    let failed = |state: &DownloadState| match state {
        DownloadState::Failed(error) => Some(error.kind.clone()),
        _ => None,
    };
    let ended = until(&manager, &id, |download| failed(&download.state).is_some()).await;
    let kind = failed(&ended.state).unwrap();
    assert!(
        matches!(kind, Kind::DiskTooSmall { needed, free } if needed > 80 * MEGABYTE && free < 64 * MEGABYTE),
        "{kind:?}"
    );
    assert!(hub.fetches().is_empty(), "nothing was fetched in vain");
    manager.downloads().cancel(&id).await.unwrap();

    // There is room at first, and then somebody else takes it.
    let whole = Writer::tiny("Small", 20 * MEGABYTE).bytes();
    hub.put("ada/small", "small.gguf", whole.clone());
    hub.fail([Fault::StallAfter(4 * MEGABYTE as usize)]);
    let small = manager.repositories().model("ada/small", "small.gguf").await.unwrap();
    let id = manager.downloads().start(small).await.unwrap();
    until(&manager, &id, |download| download.received >= 3 * MEGABYTE).await;
    let other = folder.join("other");
    let full = std::fs::write(&other, vec![0; 70 * MEGABYTE as usize]).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    hub.go_on();
    let ended = until(&manager, &id, |download| failed(&download.state).is_some()).await;
    assert_eq!(failed(&ended.state), Some(Kind::DiskFull));
    assert_eq!(manager.local_models().library().list().unwrap(), []);

    // When there is room again it goes on where it was.
    std::fs::remove_file(other).unwrap();
    manager.downloads().resume(&id).await.unwrap();
    let is_over = |state: &DownloadState| {
        matches!(state, DownloadState::Done { .. } | DownloadState::Failed(_))
    };
    let done = until(&manager, &id, |download| is_over(&download.state)).await;
    assert_eq!(done.state, DownloadState::Done { model: "small".to_owned() });
    let range = hub.fetches().pop().unwrap().range.unwrap();
    let from: u64 = range.trim_start_matches("bytes=").trim_end_matches('-').parse().unwrap();
    assert!(from >= 2 * MEGABYTE, "{range}");
    let installed = manager.local_models().library().find("small").unwrap();
    assert_eq!(std::fs::read(installed.path).unwrap(), whole);
    manager.shutdown().await;
}
