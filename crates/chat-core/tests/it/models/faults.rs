//! A server may send anything: no half file and no other file is ever offered, and what was sound
//! of what had arrived is not fetched again.

use chat_core::error::{FileFault, Kind};
use chat_core::models::DownloadState;
use chat_gguf::write::Writer;
use chat_testkit::hub::Fault;
use rstest::rstest;

use super::world::{FILE, REPOSITORY, World, model};

fn differs() -> Kind {
    Kind::DownloadDiffers { file: FILE.to_owned() }
}

/// After this the download has failed, says so, and brings the model when it is tried again.
#[rstest]
#[case::more_is_promised([Fault::TooLong], differs())]
#[case::less_is_sent([Fault::TooShort], differs())]
#[case::it_does_not_end([Fault::Endless], differs())]
#[case::another_file([Fault::OtherBytes], differs())]
#[case::a_page([Fault::Page], differs())]
#[case::refused([Fault::Status(503), Fault::Status(503)], Kind::HubFailed)]
#[case::too_often([Fault::Status(429), Fault::Status(429)], Kind::HubFailed)]
#[case::broken([Fault::CutAfter(0), Fault::CutAfter(0)], Kind::DownloadInterrupted)]
#[case::forbidden([Fault::Closed], Kind::RepositoryClosed { repository: REPOSITORY.to_owned() })]
#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_answer_is_no_model(
    #[case] faults: impl IntoIterator<Item = Fault>,
    #[case] expected: Kind,
) {
    let world = World::start().await;
    world.hub.fail(faults);
    let id = world.begin().await;
    assert_eq!(world.until_failed(&id).await, expected);
    assert_eq!(world.manager.local_models().library().list().unwrap(), []);
    world.manager.downloads().resume(&id).await.unwrap();
    world.until_done(&id).await;
    assert_eq!(std::fs::read(world.installed("tiny").path).unwrap(), model());
}

/// After this the same download goes on by itself. Half of the file had arrived.
#[rstest]
#[case::no_ranges(Fault::NoRanges, None)]
#[case::not_satisfiable(Fault::NotSatisfiable, None)]
#[case::another_range(Fault::WrongRange, Some(1_500_000))]
#[case::a_link_that_ran_out(Fault::Status(403), Some(1_500_000))]
#[case::refused_once(Fault::Status(500), Some(1_500_000))]
#[tokio::test(flavor = "multi_thread")]
async fn going_on_survives(#[case] fault: Fault, #[case] then: Option<u32>) {
    let world = World::start().await;
    world.hub.fail([Fault::CutAfter(1_500_000), fault.clone()]);
    let id = world.begin().await;
    world.until_done(&id).await;
    assert_eq!(std::fs::read(world.installed("tiny").path).unwrap(), model());
    let fetches = world.hub.fetches();
    assert_eq!(fetches[1].range.as_deref(), Some("bytes=1500000-"));
    match (fault, then) {
        // The whole file came as the answer.
        (Fault::NoRanges, _) => assert_eq!(fetches.len(), 2),
        (_, from) => assert_eq!(fetches[2].range, from.map(|from| format!("bytes={from}-"))),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_in_the_middle_costs_nothing_that_had_arrived() {
    let world = World::start().await;
    world.hub.fail([Fault::CutAfter(1_500_000), Fault::Page]);
    let id = world.begin().await;
    assert_eq!(world.until_failed(&id).await, differs());
    assert_eq!(world.download(&id).unwrap().received, 1_500_000);
    world.manager.downloads().resume(&id).await.unwrap();
    world.until_done(&id).await;
    assert_eq!(world.hub.fetches().pop().unwrap().range.as_deref(), Some("bytes=1500000-"));
}

#[tokio::test(flavor = "multi_thread")]
async fn pieces_that_were_damaged_on_the_disk_are_found_out() {
    let mut world = World::start().await;
    world.hub.fail([Fault::CutAfter(1_500_000), Fault::CutAfter(0), Fault::CutAfter(0)]);
    let id = world.begin().await;
    assert_eq!(world.until_failed(&id).await, Kind::DownloadInterrupted);
    let part = world
        .manager
        .local_models()
        .library()
        .folder()
        .join(format!(".downloads/{id}/{FILE}.part"));
    let mut bytes = std::fs::read(&part).unwrap();
    bytes[1_000_000] ^= 1;
    std::fs::write(&part, bytes).unwrap();
    world.restart().await;
    world.manager.downloads().resume(&id).await.unwrap();
    assert_eq!(world.until_failed(&id).await, differs());
    assert!(!part.exists() && world.manager.local_models().library().list().unwrap().is_empty());
    world.manager.downloads().resume(&id).await.unwrap();
    world.until_done(&id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_replaced_at_the_site_is_begun_anew() {
    let world = World::start().await;
    world.hub.fail([Fault::CutAfter(1_500_000), Fault::CutAfter(0), Fault::CutAfter(0)]);
    let id = world.begin().await;
    world.until_failed(&id).await;
    let other = Writer::tiny("Tiny", 3 << 20).filled_with(7).bytes();
    world.hub.put(REPOSITORY, FILE, other.clone());
    world.manager.downloads().resume(&id).await.unwrap();
    world.until_done(&id).await;
    assert_eq!(world.hub.fetches().pop().unwrap().range, None);
    assert_eq!(std::fs::read(world.installed("tiny").path).unwrap(), other);
}

#[rstest]
#[case::cut(cut(), FileFault::Truncated { expected: model().len() as u64, found: 2_000_000 })]
#[case::corrupt(Writer::tiny("T", 4_096).number("x", 1).number("x", 1).bytes(), FileFault::Corrupt)]
#[case::old(Writer::tiny("T", 4_096).version(1).bytes(), FileFault::Version)]
#[case::huge(Writer::tiny("T", 64).claiming(Some(1 << 60), None).bytes(), FileFault::HeaderTooLarge)]
#[tokio::test(flavor = "multi_thread")]
async fn what_the_site_has_may_be_no_model(#[case] content: Vec<u8>, #[case] fault: FileFault) {
    let world = World::start().await;
    world.hub.put(REPOSITORY, FILE, content);
    let id = world.begin().await;
    let kind = world.until_failed(&id).await;
    assert!(matches!(&kind, Kind::ModelFile { fault: said, .. } if *said == fault), "{kind:?}");
    assert_eq!(world.manager.local_models().library().list().unwrap(), []);
    // Where it has been mended there, it comes.
    world.hub.put(REPOSITORY, FILE, model());
    world.manager.downloads().resume(&id).await.unwrap();
    let done = world.until_done(&id).await;
    assert_eq!(done.state, DownloadState::Done { model: "tiny".to_owned() });
}

fn cut() -> Vec<u8> {
    let mut bytes = model();
    bytes.truncate(2_000_000);
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_not_known_is_told_from_a_repository_that_is_not_there() {
    let world = World::start().await;
    let model = world.manager.repositories().model(REPOSITORY, FILE).await.unwrap();
    world.hub.refuse_tokens();
    let refused = [
        world.manager.repositories().search("tiny").await.map(drop),
        world.manager.repositories().models(REPOSITORY).await.map(drop),
    ];
    for refused in refused {
        assert_eq!(refused.unwrap_err().kind, Kind::HubTokenRefused);
    }
    let id = world.manager.downloads().start(model).await.unwrap();
    assert_eq!(world.until_failed(&id).await, Kind::HubTokenRefused);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_always_begins_anew_is_not_asked_for_ever() {
    let world = World::start().await;
    let again = [Fault::CutAfter(1_000_000), Fault::NotSatisfiable];
    world.hub.fail(again.into_iter().cycle().take(24));
    let id = world.begin().await;
    assert_eq!(world.until_failed(&id).await, Kind::DownloadInterrupted);
    assert!(world.hub.fetches().len() < 6, "{:#?}", world.hub.fetches());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_part_without_the_others_is_no_model_and_is_not_kept() {
    let world = World::start().await;
    let part = Writer::tiny("Part", 4_096).number("split.count", 2).bytes();
    world.hub.put("ada/part", "part.gguf", part.clone());
    let model = world.manager.repositories().model("ada/part", "part.gguf").await.unwrap();
    let id = world.manager.downloads().start(model).await.unwrap();
    let kind = world.until_failed(&id).await;
    assert!(matches!(kind, Kind::ModelFile { fault: FileFault::Alone, .. }), "{kind:?}");
    assert_eq!(world.download(&id).unwrap().received, 0);
}
