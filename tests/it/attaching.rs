//! Tests files and pictures that go with a message.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use chat_testkit::server::{Model, Protocol, Script, Server};
use chat_testkit::ui::{Desktop, Role, State, containing, named, until};

use crate::stage::{Stage, Window, program};

/// A picture of one red pixel, PNG.
const DOT: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53,
    0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0x00,
    0x00, 0x03, 0x01, 0x01, 0x00, 0xc9, 0xfe, 0x92, 0xef, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];

/// A file on the stage's desktop.
fn file(stage: &Stage, name: &str, bytes: &[u8]) -> Result<PathBuf> {
    let folder = stage.desktop.folder().canonicalize()?.join("home");
    fs::create_dir_all(&folder)?;
    let path = folder.join(name);
    fs::write(&path, bytes)?;
    Ok(path)
}

/// Waits until all chips are read.
async fn is_read(window: &Window) -> Result<()> {
    window.gone(containing("Reading…")).await
}

/// What went out with the last request, as the server got it.
fn asked(stage: &Stage) -> String {
    stage.server.chats().last().map(|request| request.body.to_string()).unwrap_or_default()
}

#[tokio::test]
async fn dropped_files_go_with_the_message_but_for_those_that_were_removed() -> Result<()> {
    let stage = Stage::new().await?;
    let apples = file(&stage, "apples.txt", b"red and ripe")?;
    let pears = file(&stage, "pears.txt", b"green and hard")?;
    let picture = file(&stage, "dot.png", DOT)?;
    let window = stage.ready().await?;
    let message = window.find(named("Message")).await?;
    assert!(message.drop_files(&[&apples, &pears, &picture]).await?);
    window.find(named("Remove dot.png")).await?;
    window.find(containing("apples.txt, 12 bytes, ≈ ")).await?;
    window.click(named("Remove pears.txt")).await?;
    window.gone(named("Remove pears.txt")).await?;
    is_read(&window).await?;
    window.holds("").await?;
    stage.server.push(Script::new().text("Both are red."));
    window.say("What do you see?").await?;
    window.shows("Both are red.").await?;
    let asked = asked(&stage);
    assert!(asked.contains("red and ripe") && !asked.contains("green and hard"), "{asked}");
    assert!(asked.contains("data:image/"), "{asked}");
    // They are shown with the message, and nothing is attached to the next one.
    window.gone(named("Remove apples.txt")).await?;
    window.find(named("Open Image").under("Conversation")).await?;
    window.click(named("Open apples.txt").role(Role::Button)).await?;
    until("the text of the file", || async {
        for text in window.all(named("apples.txt").role(Role::Text)).await {
            if text.text().await? == "red and ripe" {
                return Ok(Some(()));
            }
        }
        Ok(None)
    })
    .await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("apples.txt").role(Role::Text)).await?;
    window.click(named("Open Image").under("Conversation")).await?;
    window.find(named("Fit to Window")).await?;
    window.keys(&["plus", "Escape"]).await?;
    window.gone(named("Fit to Window")).await?;
    window.close().await
}

#[tokio::test]
async fn files_named_on_the_command_line_go_with_a_new_chat() -> Result<()> {
    let stage = Stage::new().await?;
    let apples = file(&stage, "apples.txt", b"red and ripe")?;
    let picture = file(&stage, "dot.png", DOT)?;
    let window = stage.launch(program().arg("--attach").arg(&apples).arg(&picture)).await?;
    window.find(named("scripted")).await?;
    window.find(named("Remove apples.txt")).await?;
    window.find(named("Remove dot.png")).await?;
    is_read(&window).await?;
    stage.server.push(Script::new().text("I see."));
    window.say("Look").await?;
    window.shows("I see.").await?;
    let asked = asked(&stage);
    assert!(asked.contains("red and ripe") && asked.contains("data:image/"), "{asked}");
    window.close().await
}

#[tokio::test]
async fn what_was_attached_is_there_again_after_a_power_cut() -> Result<()> {
    let stage = Stage::new().await?;
    let apples = file(&stage, "apples.txt", b"red and ripe")?;
    let window = stage.launch(program().arg("--attach").arg(&apples)).await?;
    window.find(named("scripted")).await?;
    window.find(named("Remove apples.txt")).await?;
    is_read(&window).await?;
    let kept = stage.folders().state.join("drafts/attachments");
    until("the attachment to be kept", || async {
        let count = fs::read_dir(&kept).map_or(0, Iterator::count);
        Ok((count == 1).then_some(()))
    })
    .await?;
    let pins = stage.folders().state.join("drafts/new.json");
    until("the draft", || async { Ok(pins.exists().then_some(())) }).await?;
    window.kill().await?;
    // What it was made of may be gone by now.
    fs::remove_file(&apples)?;
    let window = stage.ready().await?;
    window.find(named("Remove apples.txt")).await?;
    stage.server.push(Script::new().text("I see."));
    window.say("Look").await?;
    window.shows("I see.").await?;
    assert!(asked(&stage).contains("red and ripe"), "{}", asked(&stage));
    until("the attachment to be removed", || async {
        Ok((fs::read_dir(&kept)?.count() == 0).then_some(()))
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn what_cannot_be_read_is_said_in_a_sentence_and_a_folder_is_offered() -> Result<()> {
    let stage = Stage::new().await?;
    let binary = file(&stage, "program", b"\x7fELF\x02\x01\x01\0\0\0")?;
    let apples = file(&stage, "apples.txt", b"red and ripe")?;
    let garden = stage.project(&[("a.txt", "one\n")])?;
    let window = stage.ready().await?;
    window.type_text("a thought").await?;
    let message = window.find(named("Message")).await?;
    assert!(message.drop_files(&[&binary, &apples]).await?);
    window.find(containing("Can’t attach “program”")).await?;
    window.find(named("Remove apples.txt")).await?;
    window.gone(named("Remove program")).await?;
    window.holds("a thought").await?;
    let message = window.find(named("Message")).await?;
    assert!(message.drop_files(&[&garden]).await?);
    window.find(named("Open the folder “garden” in this chat?")).await?;
    window.gone(named("Remove garden")).await?;
    window.close().await
}

#[tokio::test]
async fn a_model_that_sees_no_pictures_is_told_and_one_that_does_is_offered() -> Result<()> {
    let models = [
        Model::new("blind").capabilities(&["completion", "tools"]),
        Model::new("seeing").capabilities(&["completion", "tools", "vision"]),
    ];
    let server = Server::start().only(Protocol::Ollama).with_models(models);
    let stage = Stage { server, desktop: Desktop::start().await? };
    stage.configure_all(&[("Test", &stage.server.url())])?;
    let picture = file(&stage, "dot.png", DOT)?;
    let window = stage.window().await?;
    window.keys(&["ctrl+m"]).await?;
    window.type_text("blind").await?;
    window.keys(&["Return"]).await?;
    window.find(named("blind")).await?;
    let message = window.find(named("Message").state(State::Focused)).await?;
    assert!(message.drop_files(&[&picture]).await?);
    window.find(named("blind can’t see images.")).await?;
    window.click(named("Use seeing")).await?;
    window.gone(named("Use seeing")).await?;
    stage.server.push(Script::new().text("A dot."));
    is_read(&window).await?;
    window.say("Look").await?;
    window.shows("A dot.").await?;
    assert!(asked(&stage).contains("\"images\""), "{}", asked(&stage));
    window.close().await
}
