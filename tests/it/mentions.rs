//! Tests mentions with an `@`, and long pasted texts.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, containing, named, role};
use serde_json::json;

use crate::stage::{Stage, Window, program};

async fn in_project(stage: &Stage, folder: &Path) -> Result<Window> {
    let window = stage.launch(program().arg("--project").arg(folder)).await?;
    window.find(named("scripted")).await?;
    window.find(named("garden").role(Role::Label)).await?;
    window.writes().await?;
    Ok(window)
}

/// What went out with the last request, as the server got it.
fn asked(stage: &Stage) -> String {
    stage.server.chats().last().map(|request| request.body.to_string()).unwrap_or_default()
}

#[tokio::test]
async fn a_file_and_a_definition_go_along_with_the_message_that_names_them() -> Result<()> {
    let stage = Stage::new().await?;
    let source = "fn water() {}\n\nfn harvest_all() {\n    // with both hands\n}\n";
    let files = [("beds/apples.txt", "red and ripe"), ("src/main.rs", source)];
    let folder = stage.project(&files)?;
    let window = in_project(&stage, &folder).await?;
    window.type_text("Look at @Appl").await?;
    window.find(named("beds/apples.txt").under("Suggestions")).await?;
    window.keys(&["Return"]).await?;
    window.holds("Look at @beds/apples.txt ").await?;
    window.find(named("Remove beds/apples.txt")).await?;
    window.type_text("and @harvest").await?;
    window.find(named("harvest_all, src/main.rs:3").under("Suggestions")).await?;
    window.keys(&["Tab"]).await?;
    window.holds("Look at @beds/apples.txt and @harvest_all ").await?;
    stage.server.push(Script::new().text("Both are ripe."));
    window.keys(&["Return"]).await?;
    window.shows("Both are ripe.").await?;
    let asked = asked(&stage);
    assert!(asked.contains("red and ripe"), "{asked}");
    assert!(asked.contains("with both hands"), "{asked}");
    assert!(!asked.contains("fn water"), "{asked}");
    // What was attached is shown with the message, and is not attached to the next one.
    window.find(named("beds/apples.txt").under("Conversation")).await?;
    window.gone(named("Remove beds/apples.txt")).await?;
    window.close().await
}

#[tokio::test]
async fn what_was_taken_away_stays_behind_and_the_sentence_stays_whole() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("apples.txt", "red and ripe")])?;
    let window = in_project(&stage, &folder).await?;
    window.type_text("Is @appl").await?;
    window.find(named("apples.txt").under("Suggestions")).await?;
    window.keys(&["Return"]).await?;
    window.type_text("good?").await?;
    window.click(named("Remove apples.txt")).await?;
    window.holds("Is apples.txt good?").await?;
    window.gone(named("Remove apples.txt")).await?;
    stage.server.push(Script::new().text("It is."));
    window.keys(&["Return"]).await?;
    window.shows("It is.").await?;
    assert!(!asked(&stage).contains("red and ripe"));
    window.close().await
}

#[tokio::test]
async fn the_list_goes_with_esc_and_enter_sends_again() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("apples.txt", "red and ripe")])?;
    let window = in_project(&stage, &folder).await?;
    window.type_text("Write to me @appl").await?;
    window.find(named("apples.txt").under("Suggestions")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("apples.txt").under("Suggestions")).await?;
    stage.server.push(Script::new().text("I shall."));
    window.keys(&["Return"]).await?;
    window.shows("I shall.").await?;
    let asked = asked(&stage);
    assert!(asked.contains("Write to me @appl") && !asked.contains("red and ripe"), "{asked}");
    window.close().await
}

#[tokio::test]
async fn an_earlier_chat_and_a_page_go_along_without_a_project() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    stage.server.push(Script::new().text("Forty-two."));
    window.say("What is the answer?").await?;
    window.shows("Forty-two.").await?;
    window.new_chat().await?;
    window.type_text("@What").await?;
    window.find(named("Chat: What is the answer?").under("Suggestions")).await?;
    window.keys(&["Return"]).await?;
    // Nothing listens there any more: the page cannot be had, and the person is told.
    window.type_text("@http://127.0.0.1:9/page").await?;
    window.find(containing("Fetch http://127.0.0.1:9/page").under("Suggestions")).await?;
    window.keys(&["Return"]).await?;
    window.find(containing("Couldn’t reach 127.0.0.1")).await?;
    stage.server.push(Script::new().text("As I said."));
    window.type_text("Sure?").await?;
    window.keys(&["Return"]).await?;
    window.shows("As I said.").await?;
    assert!(asked(&stage).contains("Forty-two."), "{}", asked(&stage));
    window.close().await
}

#[tokio::test]
async fn a_slow_page_has_its_chip_at_once_and_is_given_up_with_it() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    let server = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/page", server.local_addr()?);
    // It listens, and never answers.
    let given_up = tokio::task::spawn_blocking(move || {
        let (mut asking, _) = server.accept()?;
        std::io::copy(&mut asking.by_ref(), &mut std::io::sink())
    });
    window.type_text(&format!("Read @{address}")).await?;
    window.find(containing("Fetch http").under("Suggestions")).await?;
    window.keys(&["Return"]).await?;
    let name = format!("Remove {address}");
    let chip = || named(&name);
    window.find(chip()).await?;
    window.keys(&["Return"]).await?;
    window.find(containing("The page is still loading")).await?;
    window.click(chip()).await?;
    window.gone(chip()).await?;
    let clicked = Instant::now();
    given_up.await??;
    // Not when the time for a page is over, which is 30 s.
    assert!(clicked.elapsed() < Duration::from_secs(20), "{:?}", clicked.elapsed());
    stage.server.push(Script::new().text("I cannot."));
    window.keys(&["Return"]).await?;
    window.shows("I cannot.").await?;
    window.close().await
}

#[tokio::test]
async fn a_long_text_that_is_pasted_is_an_attachment_and_outlives_the_program() -> Result<()> {
    let stage = Stage::new().await?;
    let log: Vec<_> = (0..120).map(|line| format!("let line = {line}; // of the log\n")).collect();
    let log = log.concat();
    let folder = stage.project(&[("log.rs", &log)])?;
    let window = in_project(&stage, &folder).await?;
    window.keys(&["F8"]).await?;
    window.keys(&["ctrl+p"]).await?;
    window.find(named("Find a File").state(State::Focused)).await?;
    window.type_text("log").await?;
    window.keys(&["Return"]).await?;
    window.find(named("log.rs").role(Role::Text).state(State::Focused)).await?;
    window.keys(&["ctrl+a", "ctrl+c", "ctrl+l"]).await?;
    window.writes().await?;
    window.type_text("Why?").await?;
    window.keys(&["ctrl+v"]).await?;
    window.find(named("Remove Pasted text, 120 lines")).await?;
    window.holds("Why?").await?;
    window.close().await?;

    let window = in_project(&stage, &folder).await?;
    window.holds("Why?").await?;
    window.find(named("Remove Pasted text, 120 lines")).await?;
    stage.server.push(Script::new().text("Because."));
    window.keys(&["Return"]).await?;
    window.shows("Because.").await?;
    assert!(asked(&stage).contains("let line = 119; // of the log"), "{}", asked(&stage));
    window.close().await
}

#[tokio::test]
async fn a_page_that_a_draft_waits_for_is_fetched_when_the_program_is_back() -> Result<()> {
    let stage = Stage::new().await?;
    let drafts = stage.folders().state.join("drafts");
    let address = "http://127.0.0.1:9/page";
    let page = json!({ "Mention": { "Page": { "url": address, "text": "" } } });
    let pins = json!([{ "label": address, "word": format!("@{address}"), "what": page }]);
    fs::create_dir_all(&drafts)?;
    fs::write(drafts.join("new.txt"), format!("Read @{address} "))?;
    fs::write(drafts.join("new.json"), pins.to_string())?;
    let window = stage.ready().await?;
    window.find(containing("Couldn’t reach 127.0.0.1")).await?;
    stage.server.push(Script::new().text("I cannot."));
    window.keys(&["Return"]).await?;
    window.shows("I cannot.").await?;
    window.close().await
}

#[tokio::test]
async fn a_name_that_is_typed_goes_along_and_an_unknown_one_is_told() -> Result<()> {
    let stage = Stage::new().await?;
    let files = [
        ("src/main.rs", "fn water() {}"),
        ("my notes.txt", "red and ripe"),
        ("tests/words.rs", ""),
    ];
    let folder = stage.project(&files)?;
    let window = in_project(&stage, &folder).await?;
    window.type_text("@sr").await?;
    window.find(named("src/").under("Suggestions")).await?;
    let found = window.all(role(Role::ListItem).under("Suggestions")).await;
    let names: Vec<_> = found.iter().map(|row| row.name().to_owned()).collect();
    assert_eq!(names[..2], ["src/", "src/main.rs"], "{names:?}");
    window.type_text("c/main.rs and @\"my notes.txt\" or @src/none.rs, please").await?;
    window.find(named("Remove src/main.rs")).await?;
    window.find(named("Remove my notes.txt")).await?;
    stage.server.push(Script::new().text("Both are ripe."));
    window.keys(&["Return"]).await?;
    window.find(containing("@src/none.rs isn’t in the project")).await?;
    window.shows("Both are ripe.").await?;
    let asked = asked(&stage);
    assert!(asked.contains("fn water") && asked.contains("red and ripe"), "{asked}");
    window.close().await
}

#[tokio::test]
async fn what_is_told_of_a_message_stays_with_its_chat() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("src/main.rs", "fn water() {}")])?;
    let window = in_project(&stage, &folder).await?;
    let told = || containing("@/etc/ssh/sshd_config isn’t in the project");
    stage.server.push(Script::new().text("I cannot."));
    window.type_text("What is in @/etc/ssh/sshd_config ?").await?;
    window.keys(&["Return"]).await?;
    window.find(told()).await?;
    window.shows("I cannot.").await?;
    assert!(window.has(told()).await, "the chat got its row, and the note is gone");
    window.new_chat().await?;
    window.gone(told()).await?;
    window.close().await
}

#[tokio::test]
async fn many_chips_stay_inside_their_message() -> Result<()> {
    let stage = Stage::new().await?;
    let paths: Vec<String> =
        (1..=6).map(|at| format!("a/rather/long/folder/file-{at}.txt")).collect();
    let files: Vec<_> = paths.iter().map(|path| (path.as_str(), "x")).collect();
    let folder = stage.project(&files)?;
    let window = in_project(&stage, &folder).await?;
    window.resize(560, 700).await?;
    let words: Vec<String> = paths.iter().map(|path| format!("@{path}")).collect();
    window.type_text(&format!("{} all", words.join(" "))).await?;
    window.find(named(&format!("Remove {}", paths[5]))).await?;
    stage.server.push(Script::new().text("So many."));
    window.keys(&["Return"]).await?;
    window.shows("So many.").await?;
    for path in &paths {
        let chip = window.find(named(path).under("Conversation")).await?;
        let (x, _, width, _) = chip.place().await?;
        assert!(x > 0 && x + width < 560, "{path} stands at {x} and is {width} wide");
    }
    window.close().await
}
