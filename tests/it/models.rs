//! Tests models on this computer: downloading, adding, showing and removing them.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use chat_core::message::{ModelRef, SessionMeta};
use chat_core::models::{CONNECTION, Library, catalogue};
use chat_core::store::{NewSession, Store};
use chat_gguf::write::Writer;
use chat_testkit::hub::{Fault, Hub};
use chat_testkit::ui::{Role, State, containing, named};

use crate::stage::{Stage, Window, chat, program, real_model};

const REPOSITORY: &str = "ada/nimble-GGUF";
const FILE: &str = "Nimble-Q4_K_M.gguf";
/// Of a file so much arrives before it stalls, in bytes.
const PIECE: usize = 1 << 20;

/// A whole model of three of these pieces.
fn model() -> Vec<u8> {
    Writer::tiny("Nimble", 3 * PIECE as u64).bytes()
}

/// A file of a model in a folder of the person's.
fn file(stage: &Stage, name: &str, content: &[u8]) -> Result<PathBuf> {
    let path = stage.desktop.folder().join(name);
    fs::write(&path, content)?;
    Ok(path)
}

/// Adds the tiny model to this computer. Only the real one has its name: whether it is here.
fn tiny(stage: &Stage) -> Result<bool> {
    let Some(model) = real_model() else { return Ok(false) };
    let added = Library::of(&stage.folders()).add(&model);
    assert_eq!(added.map_err(|error| anyhow!("{error}"))?.name, "smollm2-135m");
    Ok(true)
}

/// Stores a chat with this model on this computer.
async fn before(stage: &Stage, model: &str) -> Result<()> {
    let store = Store::open(&stage.folders())?.store;
    let model = Some(ModelRef::new(CONNECTION, model));
    let meta = SessionMeta { model, ..chat("Before").meta };
    let stored = store.create(NewSession { meta, ..chat("Before") }, Vec::new()).await?;
    store.release(&stored.fid).await?;
    Ok(())
}

/// Starts the program, which takes this for the site that models come from.
async fn window_at(stage: &Stage, hub: &Hub) -> Result<Window> {
    stage.launch(program().env("HF_ENDPOINT", hub.url())).await
}

/// Opens the page with the models by keyboard and from the list of models.
async fn manage(window: &Window) -> Result<()> {
    window.find(named("Message")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.click(named("Manage Models…")).await?;
    window.find(named("On This Computer")).await.map(drop)
}

/// Adds a file in the dialog for that, by keyboard.
async fn add(window: &Window, file: &std::path::Path) -> Result<()> {
    window.click(named("Add a File…")).await?;
    window.find(named("Add Model")).await?;
    // A path that is typed opens the field for it.
    window.type_text(file.to_str().context("a plain path")?).await?;
    window.keys(&["Return"]).await?;
    window.gone(named("Add Model")).await
}

#[tokio::test]
async fn a_file_is_added_where_it_lies_and_one_that_is_no_model_is_named() -> Result<()> {
    let stage = Stage::bare().await?;
    let good = file(&stage, "Nimble-Q4_K_M.gguf", &model())?;
    let bad = file(&stage, "letter.gguf", b"Dear Ada,")?;
    let window = stage.window().await?;
    manage(&window).await?;
    window.find(containing("None yet.")).await?;
    add(&window, &bad).await?;
    window.find(containing("letter.gguf” isn’t a GGUF model")).await?;
    add(&window, &good).await?;
    window.find(named("nimble").under("Installed Models")).await?;
    window.gone(containing("isn’t a GGUF model")).await?;

    // It goes without a question, since its file stays.
    window.click(named("Remove nimble from the list")).await?;
    window.gone(named("nimble").under("Installed Models")).await?;
    assert!(good.exists());
    window.close().await
}

#[tokio::test]
async fn a_model_of_natters_own_is_deleted_after_a_question() -> Result<()> {
    let stage = Stage::bare().await?;
    let own = Library::of(&stage.folders()).take_in(&file(&stage, FILE, &model())?)?;
    assert!(own.path.exists());
    let window = stage.window().await?;
    manage(&window).await?;
    window.click(named("Delete nimble")).await?;
    window.find(containing("Delete “nimble”?")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(containing("Delete “nimble”?")).await?;
    assert!(own.path.exists());
    // With the mouse the button gets the keyboard, too.
    window.find(named("Delete nimble")).await?.click_with_mouse().await?;
    window.find(containing("Delete “nimble”?")).await?;
    window.keys(&["alt+d"]).await?;
    window.gone(named("nimble").under("Installed Models")).await?;
    assert!(!own.path.exists());
    // Who works by keyboard is not sent away.
    window.find(named("Add a File…").state(State::Focused)).await?;
    window.close().await
}

#[tokio::test]
async fn any_model_is_found_at_the_hub_and_its_download_is_paused_and_resumed() -> Result<()> {
    let stage = Stage::bare().await?;
    let hub = Hub::start();
    hub.put(REPOSITORY, FILE, model());
    hub.fail([Fault::StallAfter(PIECE)]);
    let window = window_at(&stage, &hub).await?;
    manage(&window).await?;
    window.find(named("Search Hugging Face").role(Role::Text)).await?.click_with_mouse().await?;
    window.type_text("nimble").await?;
    window.keys(&["Return"]).await?;
    window.find(named(REPOSITORY).under("Search Results")).await?;
    assert!(!hub.asks().iter().any(|ask| ask.path.contains("/tree/")));
    window.keys(&["Tab", "Tab", "Return"]).await?;
    window.click(named(&format!("Download {FILE}"))).await?;

    window.find(containing("1.0 MB of 3.1 MB")).await?;
    window.click(named(&format!("Pause the download of {FILE}"))).await?;
    window.find(containing("Paused at 1.0 MB of 3.1 MB")).await?;
    hub.go_on();
    window.click(named(&format!("Resume the download of {FILE}"))).await?;
    window.find(named("nimble").under("Installed Models")).await?;
    window.find(named("Installed").under("Search Results")).await?;
    let fetches = hub.fetches();
    assert_eq!(fetches.len(), 2);
    assert!(fetches[1].range.as_deref().is_some_and(|range| range != "bytes=0-"), "{fetches:?}");
    window.close().await
}

#[tokio::test]
async fn what_the_hub_cannot_give_is_said_in_place() -> Result<()> {
    let stage = Stage::bare().await?;
    // Nothing is in any of its repositories.
    let hub = Hub::start();
    let window = window_at(&stage, &hub).await?;
    manage(&window).await?;
    window.click(named("Download SmolLM2 360M")).await?;
    window.find(containing("Couldn’t find “").under("Models to Download")).await?;
    window.find(named("Retry the download of SmolLM2 360M")).await?;
    window.find(named("Search Hugging Face").role(Role::Text)).await?.click_with_mouse().await?;
    window.type_text("nimble").await?;
    window.keys(&["Return"]).await?;
    window.find(containing("No results")).await?;
    window.close().await
}

#[tokio::test]
async fn the_first_page_offers_a_model_and_downloads_it_in_place() -> Result<()> {
    let stage = Stage::bare().await?;
    let hub = Hub::start();
    // Which one is offered depends on the machine's memory.
    for offer in catalogue() {
        hub.put(&offer.repository, &offer.file.replace('*', "x"), model());
    }
    hub.fail([Fault::StallAfter(PIECE)]);
    let window = window_at(&stage, &hub).await?;
    let download = window.find(containing("Download ").role(Role::Button)).await?;
    download.click_with_mouse().await?;
    window.find(containing("1.0 MB of 3.1 MB")).await?;
    hub.go_on();
    window.gone(containing("of 3.1 MB")).await?;
    window.gone(containing("B download")).await?;
    window.find(named("On this computer")).await?;
    // Who waited for it can write at once.
    window.writes().await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_with_the_tiny_model_says_that_it_is_one_and_leads_to_better_ones() -> Result<()> {
    let stage = Stage::bare().await?;
    if !tiny(&stage)? {
        return Ok(());
    }
    // The newest chat decides the model to begin with.
    before(&stage, "smollm2-135m").await?;
    stage.configure_all(&[("Test", &stage.server.url())])?;
    let window = stage.window().await?;
    window.find(containing("SmolLM2 135M is a tiny model")).await?;
    window.click(named("Get a Better Model…")).await?;
    window.find(named("Models to Download")).await?;
    // The keyboard is where one is to be had.
    let focused = containing("Download ").role(Role::Button).state(State::Focused);
    window.find(focused.under("Models to Download")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Models to Download")).await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("scripted").under("Models")).await?;
    window.type_text("scripted").await?;
    window.gone(containing("SmolLM2 135M").under("Models")).await?;
    window.keys(&["Return"]).await?;
    window.gone(containing("is a tiny model")).await?;
    window.close().await
}

#[tokio::test]
async fn the_line_about_the_tiny_model_is_closed_for_good_and_no_toast_covers_it() -> Result<()> {
    let stage = Stage::bare().await?;
    if !tiny(&stage)? {
        return Ok(());
    }
    before(&stage, "smollm2-135m").await?;
    let window = stage.window().await?;
    window.open("Before").await?;
    window.keys(&["F10"]).await?;
    window.click(containing("Trash")).await?;
    let toast = window.find(named("Undo")).await?.place().await?;
    let line = window.find(containing("is a tiny model")).await?.place().await?;
    let (above, below) = (toast.1 + toast.3 < line.1, line.1 + line.3 < toast.1);
    assert!(above || below, "{toast:?} covers {line:?}");
    window.click(named("Don’t show the tiny model notice again")).await?;
    window.gone(containing("is a tiny model")).await?;
    window.writes().await?;
    window.close().await?;

    let window = stage.window().await?;
    window.find(containing("135")).await?;
    assert!(!window.has(containing("is a tiny model")).await);
    window.close().await
}

#[tokio::test]
async fn a_model_of_another_program_is_added_with_one_click_where_it_lies() -> Result<()> {
    let stage = Stage::bare().await?;
    let folder = stage.desktop.folder().join("home/.lmstudio/models/ada/nimble-GGUF");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(FILE), model())?;
    let window = stage.window().await?;
    manage(&window).await?;
    window.find(containing("In LM Studio").under("Models from Other Apps")).await?;
    window.click(containing("Add nimble").role(Role::Button)).await?;
    window.find(containing("nimble").role(Role::Label).under("Installed Models")).await?;
    // It is offered no longer.
    window.gone(containing("In LM Studio")).await?;
    assert!(folder.join(FILE).exists());
    window.close().await
}

#[tokio::test]
async fn a_model_that_was_removed_is_not_begun_with() -> Result<()> {
    let stage = Stage::bare().await?;
    before(&stage, "nimble").await?;
    let path = file(&stage, "nimble.gguf", &self::model())?;
    let library = Library::of(&stage.folders());
    assert_eq!(library.add(&path).map_err(|error| anyhow!("{error}"))?.name, "nimble");
    let window = stage.window().await?;
    window.keys(&["ctrl+n"]).await?;
    window.find(named("nimble")).await?;
    library.remove("nimble").map_err(|error| anyhow!("{error}"))?;
    window.find(named("Choose a model")).await?;
    window.close().await?;

    let window = stage.window().await?;
    window.keys(&["ctrl+n"]).await?;
    window.find(named("Choose a model")).await?;
    window.close().await
}
