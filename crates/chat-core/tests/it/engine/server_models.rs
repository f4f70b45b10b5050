//! Models that a server itself has: fetched, listed while loaded, unloaded and removed.

use chat_core::client::{PullStage, Pulled};
use chat_core::error::{Feature, Kind};
use chat_core::message::ModelRef;
use chat_core::settings::{ConnectionKind, HeaderSource, Settings};
use chat_testkit::server::{End, Gate, Model, Recorded, Script, Server};

use super::world::World;

fn model(name: &str) -> ModelRef {
    ModelRef::new("test", name)
}

/// Waits until the server has said what it is.
async fn known(world: &World) {
    world.manager.connections().refresh();
    world.manager.connections().settled().await;
}

fn names(world: &World) -> Vec<String> {
    world.manager.models().list().into_iter().map(|entry| entry.model.model).collect()
}

#[tokio::test]
async fn a_model_is_fetched_with_progress_and_can_be_talked_to() {
    let server = Server::start();
    let world = World::of_kind(&server, ConnectionKind::Ollama).await;
    known(&world).await;
    assert_eq!(world.manager.server_models().connections(), ["test"]);
    let mut pull = world.manager.server_models().pull(&model("new"));
    let mut reports = Vec::new();
    while let Some(report) = pull.next().await {
        reports.push(report.unwrap());
    }
    let report = |stage, received, total| Pulled { stage, received, total };
    let expected = [
        report(PullStage::Preparing, 0, 0),
        report(PullStage::Fetching, 0, 1_000),
        report(PullStage::Fetching, 400, 1_000),
        report(PullStage::Fetching, 1_000, 1_000),
        report(PullStage::Fetching, 1_024, 1_024),
        report(PullStage::Verifying, 1_024, 1_024),
        report(PullStage::Verifying, 1_024, 1_024),
        report(PullStage::Done, 1_024, 1_024),
    ];
    assert_eq!(reports, expected);
    world.manager.connections().settled().await;
    assert!(names(&world).contains(&"new".to_owned()));

    world.manager.server_models().remove(&model("new")).await.unwrap();
    world.manager.connections().settled().await;
    assert_eq!(names(&world), ["scripted"]);
    let gone = world.manager.server_models().remove(&model("new")).await.unwrap_err();
    assert_eq!(gone.kind, Kind::ModelNotFound { model: "new".to_owned() });
    assert_eq!(gone.connection.as_deref(), Some("test"));
}

#[tokio::test]
async fn a_pull_that_is_dropped_stops_at_the_server_and_one_that_breaks_says_so() {
    let server = Server::start();
    let world = World::of_kind(&server, ConnectionKind::Ollama).await;
    world.manager.connections().settled().await;
    let gate = Gate::new();
    let half = "{\"status\":\"pulling a\",\"digest\":\"a\",\"total\":9,\"completed\":3}\n";
    server.push(Script::new().bytes(half).gate(&gate));
    let mut pull = world.manager.server_models().pull(&model("new"));
    assert_eq!(pull.next().await.unwrap().unwrap().received, 3);
    drop(pull);
    let is_dropped = |it: &Recorded| it.path == "/api/pull" && it.sent().end == End::ClientGone;
    server.wait_for("the end of the pull", |all| all.iter().any(is_dropped)).await;

    let missing = "{\"error\":\"pull model manifest: file does not exist\"}\n";
    for (script, kind) in [
        (Script::new().bytes(half).cut(), Kind::Cut),
        (Script::raw(half), Kind::Cut),
        (Script::raw(missing), Kind::ModelNotFound { model: "new".to_owned() }),
        (Script::status(500, "{\"error\":\"no space\"}"), Kind::ServerFailed),
        (Script::raw("rubbish\n"), Kind::InvalidResponse),
    ] {
        server.push(script);
        let mut pull = world.manager.server_models().pull(&model("new"));
        let mut last = pull.next().await.unwrap();
        while let Some(next) = pull.next().await {
            last = next;
        }
        let error = last.unwrap_err();
        assert_eq!((error.kind, error.connection.as_deref()), (kind, Some("test")));
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_pull_repeats_no_secret() {
    let server = Server::start();
    let world = World::of_kind(&server, ConnectionKind::Ollama).await;
    let value = HeaderSource::Value("blue-s3cret-team".to_owned());
    let set = move |settings: &mut Settings| {
        settings.connections[0].headers.insert("X-Team".to_owned(), value);
    };
    world.manager.settings().change(set).await.unwrap();
    known(&world).await;
    let said =
        "{\"status\":\"pulling manifest\"}\n{\"error\":\"no registry for blue-s3cret-team\"}\n";
    server.push(Script::raw(said));
    let mut pull = world.manager.server_models().pull(&model("new"));
    assert_eq!(pull.next().await.unwrap().unwrap().stage, PullStage::Preparing);
    let detail = pull.next().await.unwrap().unwrap_err().detail.unwrap();
    assert!(detail.starts_with("no registry for") && !detail.contains("s3cret"), "{detail}");
}

#[tokio::test]
async fn loaded_models_are_listed_and_unloaded() {
    let server = Server::start();
    server.set_models([Model::new("scripted"), Model::new("other")]);
    server.set_loaded(&["scripted"]);
    let world = World::of_kind(&server, ConnectionKind::Ollama).await;
    let models = world.manager.server_models();
    let loaded = models.loaded("test").await.unwrap();
    assert_eq!((loaded.len(), &*loaded[0].name, loaded[0].size), (1, "scripted", 98_362_432));
    assert_eq!((loaded[0].until, loaded[0].context_window), (None, Some(32_768)));
    models.unload(&model("scripted")).await.unwrap();
    assert_eq!(models.loaded("test").await.unwrap(), []);
    let gone = models.unload(&model("nobody")).await.unwrap_err();
    assert_eq!(gone.kind, Kind::ModelNotFound { model: "nobody".to_owned() });
}

#[tokio::test]
async fn other_servers_keep_their_models_to_themselves() {
    let server = Server::start();
    let world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    known(&world).await;
    assert!(world.manager.server_models().connections().is_empty());
    let error = world.manager.server_models().loaded("test").await.unwrap_err();
    assert_eq!(error.kind, Kind::Unsupported { feature: Feature::Models });
    let error =
        world.manager.server_models().pull(&model("new")).next().await.unwrap().unwrap_err();
    assert_eq!(error.kind, Kind::Unsupported { feature: Feature::Models });
}
