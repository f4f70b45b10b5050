//! Models come to this machine: from a site on loopback that imitates the real one, with all that
//! can go wrong on the way.

mod faults;
mod full_disk;
mod moving;
mod together;
mod world;

use chat_core::error::Kind;
use chat_core::models::{DownloadState, Source};
use chat_testkit::hub::Fault;

use self::world::{FILE, REPOSITORY, World, model};

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_found_fetched_checked_and_offered() {
    let world = World::start().await;
    world.hub.put(REPOSITORY, "README.md", "Hello");
    let found = world.manager.repositories().search("tiny").await.unwrap();
    assert_eq!(found[0].name, REPOSITORY);
    assert_eq!((found[0].licence.as_deref(), found[0].closed), (Some("apache-2.0"), false));
    let there = world.manager.repositories().models(REPOSITORY).await.unwrap();
    assert_eq!(there.len(), 1);
    assert_eq!((there[0].file.as_str(), there[0].size()), (FILE, model().len() as u64));

    let id = world.begin().await;
    let done = world.until_done(&id).await;
    assert_eq!((done.received, done.name.as_str()), (done.total, "tiny"));
    let installed = world.manager.local_models().library().find("tiny").unwrap();
    assert_eq!(std::fs::read(&installed.path).unwrap(), model());
    assert_eq!(installed.sha256, there[0].parts[0].sha256);
    let from = Source { repository: REPOSITORY.to_owned(), file: FILE.to_owned() };
    assert_eq!((installed.owned, installed.source), (true, Some(from)));
    assert_eq!(world.leftovers(), 0, "no piece is left");

    // The token is for the site, and never for where it leads to.
    for ask in world.hub.asks() {
        let token = (!ask.storage).then(|| "Bearer hf_secret".to_owned());
        assert_eq!(ask.token, token, "{}", ask.path);
    }
    // What is here already is not fetched again.
    let fetched = world.hub.fetches().len();
    let again = world.begin().await;
    assert_eq!((again.as_str(), world.until_done(&again).await.state), (id.as_str(), done.state));
    assert_eq!(world.hub.fetches().len(), fetched);

    world.manager.local_models().remove("tiny").await.unwrap();
    assert!(!installed.path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_the_catalogue_has_its_name_there() {
    let world = World::start().await;
    let offer = chat_core::models::offer("smollm2-135m").unwrap();
    world.hub.put(&offer.repository, &offer.file, model());
    let model = world.manager.repositories().model(&offer.repository, &offer.file).await.unwrap();
    let id = world.manager.downloads().start(model).await.unwrap();
    let done = DownloadState::Done { model: "smollm2-135m".to_owned() };
    assert_eq!(world.until_done(&id).await.state, done);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_connection_is_gone_on_with_where_it_broke() {
    let world = World::start().await;
    world.hub.fail([Fault::CutAfter(1_000_000), Fault::CutAfter(0), Fault::CutAfter(700_000)]);
    let id = world.begin().await;
    world.until_done(&id).await;
    let ranges: Vec<_> = world.hub.fetches().into_iter().map(|ask| ask.range).collect();
    let from = |byte: u32| Some(format!("bytes={byte}-"));
    assert_eq!(ranges, [None, from(1_000_000), from(1_000_000), from(1_700_000)]);
    assert_eq!(std::fs::read(world.installed("tiny").path).unwrap(), model());
}

#[tokio::test(flavor = "multi_thread")]
async fn silence_is_taken_for_a_broken_connection() {
    let world =
        World::with(|options| options.patience = std::time::Duration::from_millis(500)).await;
    world.hub.fail([Fault::StallAfter(1_200_000)]);
    let id = world.begin().await;
    world.until_done(&id).await;
    assert_eq!(world.hub.fetches()[1].range.as_deref(), Some("bytes=1200000-"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_paused_download_goes_on_after_the_program_began_again() {
    let mut world = World::start().await;
    world.hub.fail([Fault::StallAfter(2_000_000)]);
    let id = world.begin().await;
    // Whole pieces are written at once: so far it has come at least.
    world.until(&id, |download| download.received >= 1_048_576).await;
    world.manager.downloads().pause(&id);
    let paused = world.until(&id, |download| download.state == DownloadState::Paused).await;
    assert!(paused.received >= 1_048_576 && paused.received < paused.total);
    assert_eq!(world.manager.local_models().library().list().unwrap(), []);

    world.restart().await;
    let waiting = world.download(&id).unwrap();
    assert_eq!((waiting.state, waiting.received), (DownloadState::Paused, paused.received));
    world.manager.downloads().resume(&id).await.unwrap();
    world.until_done(&id).await;
    let range = world.hub.fetches().pop().unwrap().range;
    assert_eq!(range, Some(format!("bytes={}-", paused.received)));
    assert_eq!(std::fs::read(world.installed("tiny").path).unwrap(), model());
}

#[tokio::test(flavor = "multi_thread")]
async fn going_on_right_after_a_pause_is_not_lost() {
    let world = World::start().await;
    for _ in 0..3 {
        world.hub.fail([Fault::StallAfter(1_200_000)]);
        let id = world.begin().await;
        world.until(&id, |download| download.received >= 1_000_000).await;
        world.manager.downloads().pause(&id);
        world.manager.downloads().resume(&id).await.unwrap();
        world.until_done(&id).await;
        world.manager.local_models().remove("tiny").await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_at_work_when_the_program_ends_waits_for_it() {
    let mut world = World::start().await;
    world.hub.fail([Fault::StallAfter(2_000_000)]);
    let id = world.begin().await;
    world.until(&id, |download| download.received >= 1_048_576).await;
    world.restart().await;
    assert_eq!(world.download(&id).unwrap().state, DownloadState::Paused);
    world.manager.downloads().resume(&id).await.unwrap();
    world.until_done(&id).await;
    assert!(world.hub.fetches().pop().unwrap().range.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_download_leaves_nothing() {
    let world = World::start().await;
    world.hub.fail([Fault::StallAfter(2_000_000)]);
    let id = world.begin().await;
    world.until(&id, |download| download.received >= 1_048_576).await;
    world.manager.downloads().cancel(&id).await.unwrap();
    assert_eq!((world.manager.downloads().list(), world.leftovers()), (Vec::new(), 0));
    let gone = world.manager.downloads().resume(&id).await.unwrap_err();
    assert_eq!(gone.kind, Kind::ModelStorage);
    // Begun again it begins at the beginning.
    let id = world.begin().await;
    world.until_done(&id).await;
    assert_eq!(world.hub.fetches().pop().unwrap().range, None);
    world.manager.downloads().cancel(&id).await.unwrap();
    assert_eq!(world.manager.downloads().list(), []);
    assert!(world.installed("tiny").path.exists(), "a model that is here stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_in_parts_comes_as_one() {
    let world = World::start().await;
    let parts = world::parts();
    for (name, content) in &parts {
        world.hub.put("ada/big", name, content.clone());
    }
    world.hub.pages_of(1);
    world.hub.fail([Fault::CutAfter(500)]);
    let models = world.manager.repositories().models("ada/big").await.unwrap();
    assert_eq!((models.len(), models[0].parts.len()), (1, 2));
    let id = world.manager.downloads().start(models[0].clone()).await.unwrap();
    world.until_done(&id).await;
    let installed = world.installed("big");
    assert_eq!(installed.size, parts.iter().map(|(_, content)| content.len() as u64).sum::<u64>());
    assert_eq!(world.leftovers(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_from_the_site_is_named() {
    let world = World::start().await;
    let kind = |asked: chat_core::error::Result<_>| asked.map(|_| ()).unwrap_err().kind;
    let gone = Kind::RepositoryNotFound { repository: "ada/gone".to_owned() };
    assert_eq!(kind(world.manager.repositories().model("ada/gone", "*").await), gone);
    let other = Kind::RepositoryFileNotFound {
        repository: REPOSITORY.to_owned(),
        file: "*Q8_0.gguf".to_owned(),
    };
    assert_eq!(kind(world.manager.repositories().model(REPOSITORY, "*Q8_0.gguf").await), other);
    for strange in ["", "tiny", "../tiny/x", "a/b/c", "ada/../x"] {
        let kind = kind(world.manager.repositories().model(strange, "*").await);
        assert_eq!(kind, Kind::RepositoryNotFound { repository: strange.to_owned() });
    }
    // One that was there when it was chosen.
    let model = world.manager.repositories().model(REPOSITORY, FILE).await.unwrap();
    world.hub.take(REPOSITORY, FILE);
    let id = world.manager.downloads().start(model).await.unwrap();
    let failed = world.until_failed(&id).await;
    let file =
        Kind::RepositoryFileNotFound { repository: REPOSITORY.to_owned(), file: FILE.to_owned() };
    assert_eq!(failed, file);

    drop(world.hub);
    let unreachable = world.manager.repositories().search("x").await.unwrap_err().kind;
    assert_eq!(unreachable, Kind::HubUnreachable);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_very_file_is_meant_before_others_of_its_name() {
    let world = World::start().await;
    let large = chat_gguf::write::Writer::tiny("Large", 4 << 20).bytes();
    world.hub.put("ada/two", "F16/model.gguf", large);
    world.hub.put("ada/two", "model.gguf", model());
    let meant = world.manager.repositories().model("ada/two", "model.gguf").await.unwrap();
    assert_eq!(meant.file, "model.gguf");
    // What had arrived is gone on with, and not taken for a part of the other.
    world.hub.fail([Fault::CutAfter(1_500_000), Fault::CutAfter(0), Fault::CutAfter(0)]);
    let id = world.manager.downloads().start(meant).await.unwrap();
    assert_eq!(world.until_failed(&id).await, Kind::DownloadInterrupted);
    world.manager.downloads().resume(&id).await.unwrap();
    world.until_done(&id).await;
    assert_eq!(world.hub.fetches().pop().unwrap().range.as_deref(), Some("bytes=1500000-"));
    assert_eq!(std::fs::read(world.installed("model").path).unwrap(), model());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_download_is_never_out_of_sight_while_it_ends() {
    let world = World::start().await;
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            // Others look all the time.
            scope.spawn(|| {
                while !over.load(std::sync::atomic::Ordering::Relaxed) {
                    world.manager.downloads().list();
                }
            });
        }
        tokio::task::block_in_place(|| {
            let all = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                tokio::runtime::Handle::current().block_on(async {
                    for n in 0..40_u8 {
                        let file = format!("model{n}.gguf");
                        let content =
                            chat_gguf::write::Writer::tiny("M", 4_096).filled_with(n).bytes();
                        world.hub.put("ada/many", &file, content);
                        let model =
                            world.manager.repositories().model("ada/many", &file).await.unwrap();
                        let id = world.manager.downloads().start(model).await.unwrap();
                        world.until_done(&id).await;
                    }
                });
            }));
            over.store(true, std::sync::atomic::Ordering::Relaxed);
            all.unwrap();
        });
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_model_is_replaced_by_the_same_one_downloaded_again() {
    let world = World::start().await;
    let id = world.begin().await;
    world.until_done(&id).await;
    let path = world.installed("tiny").path;
    std::fs::write(&path, "GGUF").unwrap();
    assert!(world.manager.local_models().list().await.unwrap()[0].problem.is_some());
    let id = world.begin().await;
    world.until_done(&id).await;
    let all = world.manager.local_models().list().await.unwrap();
    assert_eq!((all.len(), all[0].name.as_str(), &all[0].problem), (1, "tiny", &None));
    assert_eq!(std::fs::read(path).unwrap(), model());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_is_here_already_is_not_fetched_again_after_a_crash() {
    let mut world = World::start().await;
    world.hub.fail([Fault::CutAfter(1_500_000), Fault::CutAfter(0), Fault::CutAfter(0)]);
    let id = world.begin().await;
    world.until_failed(&id).await;
    let plan =
        world.manager.local_models().library().folder().join(format!(".downloads/{id}/plan.json"));
    let content = std::fs::read(&plan).unwrap();
    world.manager.downloads().resume(&id).await.unwrap();
    world.until_done(&id).await;
    let fetched = world.hub.fetches().len();
    // So it is where the program ended between putting the model on the list and clearing up.
    for starts in [false, true] {
        world.restart().await;
        std::fs::create_dir_all(plan.parent().unwrap()).unwrap();
        std::fs::write(&plan, &content).unwrap();
        if starts {
            assert_eq!(world.begin().await, id);
        } else {
            world.manager.downloads().resume(&id).await.unwrap();
        }
        let done = world.until_done(&id).await;
        assert_eq!(done.state, DownloadState::Done { model: "tiny".to_owned() });
        assert_eq!((world.hub.fetches().len(), world.leftovers()), (fetched, 0));
    }
    assert_eq!(world.manager.local_models().library().list().unwrap().len(), 1);
}
