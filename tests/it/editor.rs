//! Tests the editor in the panel: files, their text, and what is attached to a message.

use std::fs;
use std::path::Path;

use anyhow::Result;
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, containing, named, until};

use crate::stage::{Stage, Window, program};

/// The program in that project, with the panel open and the tree in sight.
pub async fn with_panel(stage: &Stage, folder: &Path) -> Result<Window> {
    let window = stage.launch(program().arg("--project").arg(folder)).await?;
    window.find(named("scripted")).await?;
    window.find(named("garden").role(Role::Label)).await?;
    // The panel comes with the agent of a project; the keyboard comes along only where a key opens it.
    window.find(named("Code Assistant")).await?;
    window.find(named("Files").role(Role::List)).await?;
    window.keys(&["F8", "F8"]).await?;
    Ok(window)
}

/// Opens a file by letters of its name, and waits until its text is there.
pub async fn open(window: &Window, letters: &str, name: &str, begin: &str) -> Result<()> {
    window.keys(&["ctrl+p"]).await?;
    window.find(named("Find a File").state(State::Focused)).await?;
    window.type_text(letters).await?;
    window.keys(&["Return"]).await?;
    holds(window, name, |text| text.starts_with(begin)).await
}

/// Waits until a file's text in the editor is such.
pub async fn holds(window: &Window, name: &str, is_so: impl Fn(&str) -> bool) -> Result<()> {
    until(&format!("the text of {name}"), || async {
        for text in window.all(named(name).role(Role::Text)).await {
            if text.text().await.is_ok_and(|text| is_so(&text)) {
                return Ok(Some(()));
            }
        }
        Ok(None)
    })
    .await
}

/// Waits until a file on disk has just these bytes.
pub async fn has(path: &Path, bytes: &str) -> Result<()> {
    until(&format!("{} to be {bytes:?}", path.display()), || async {
        Ok((fs::read(path)? == bytes.as_bytes()).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_file_opened_from_the_tree_by_keyboard_is_saved_as_it_was_written() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("beds/apples.txt", "red\r\ngreen\r\n"), ("notes.txt", "x")])?;
    let window = with_panel(&stage, &folder).await?;
    window.find(named("beds").under("Files")).await?;
    window.find(named("Files").role(Role::List)).await?;
    // Into the folder, and to the file in it.
    window.keys(&["Right"]).await?;
    window.find(named("apples.txt").under("Files")).await?;
    window.keys(&["Right", "Return"]).await?;
    holds(&window, "apples.txt", |text| text == "red\ngreen\n").await?;
    window.find(containing("CRLF")).await?;
    window.type_text("ripe ").await?;
    holds(&window, "apples.txt", |text| text.starts_with("ripe red")).await?;
    window.find(containing("• apples.txt")).await?;
    window.keys(&["ctrl+s"]).await?;
    has(&folder.join("beds/apples.txt"), "ripe red\r\ngreen\r\n").await?;
    window.gone(containing("• apples.txt")).await?;
    window.close().await
}

#[tokio::test]
async fn what_changes_on_disk_is_followed_and_never_overwritten_unasked() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("a.txt", "one\n")])?;
    let file = folder.join("a.txt");
    let window = with_panel(&stage, &folder).await?;
    open(&window, "a.t", "a.txt", "one").await?;
    // An unchanged text follows the file.
    fs::write(&file, "one\ntwo\n")?;
    holds(&window, "a.txt", |text| text == "one\ntwo\n").await?;
    // A changed one does not, and is asked about.
    window.type_text("my ").await?;
    holds(&window, "a.txt", |text| text.starts_with("my one")).await?;
    fs::write(&file, "theirs\n")?;
    window.find(containing("was changed both on disk and here")).await?;
    window.keys(&["ctrl+s"]).await?;
    window.click(named("Keep Mine")).await?;
    window.gone(containing("was changed both on disk and here")).await?;
    has(&file, "theirs\n").await?;
    window.keys(&["ctrl+s"]).await?;
    has(&file, "my one\ntwo\n").await?;
    // The other answer takes theirs.
    window.type_text("x").await?;
    window.find(containing("• a.txt")).await?;
    fs::write(&file, "theirs again\n")?;
    window.click(named("Reload")).await?;
    holds(&window, "a.txt", |text| text == "theirs again\n").await?;
    window.gone(containing("• a.txt")).await?;
    window.close().await
}

#[tokio::test]
async fn what_was_not_saved_is_there_again_after_the_program_was_killed() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("a.txt", "one\n")])?;
    let window = with_panel(&stage, &folder).await?;
    open(&window, "a.t", "a.txt", "one").await?;
    window.type_text("two ").await?;
    holds(&window, "a.txt", |text| text == "two one\n").await?;
    let kept = stage.folders().state.join("unsaved");
    until("the text to be kept", || async {
        let found = fs::read_dir(&kept).ok().and_then(|mut all| all.next());
        Ok(found.and_then(Result::ok).filter(|entry| {
            // Before it has its name it is not there.
            entry.path().extension().is_some_and(|end| end == "json")
                && fs::read_to_string(entry.path()).is_ok_and(|text| text.contains("two one"))
        }))
    })
    .await?;
    window.kill().await?;

    let window = stage.launch(program().arg("--project").arg(&folder)).await?;
    window.find(containing("Your unsaved changes were restored")).await?;
    holds(&window, "a.txt", |text| text == "two one\n").await?;
    window.find(containing("• a.txt")).await?;
    has(&folder.join("a.txt"), "one\n").await?;
    window.close().await
}

#[tokio::test]
async fn words_are_found_and_replaced() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("a.txt", "pear plum pear\n")])?;
    let window = with_panel(&stage, &folder).await?;
    open(&window, "a.t", "a.txt", "pear").await?;
    window.keys(&["ctrl+h"]).await?;
    window.type_text("pear").await?;
    window.find(named("1 of 2")).await?;
    window.keys(&["Return"]).await?;
    window.find(named("2 of 2")).await?;
    window.find(named("Replace with")).await?.click_with_mouse().await?;
    window.type_text("fig").await?;
    window.click(named("Replace All").role(Role::Button)).await?;
    holds(&window, "a.txt", |text| text == "fig plum fig\n").await?;
    window.keys(&["Escape", "ctrl+s"]).await?;
    has(&folder.join("a.txt"), "fig plum fig\n").await?;
    window.close().await
}

#[tokio::test]
async fn a_file_named_in_a_reply_opens_at_its_line() -> Result<()> {
    let stage = Stage::new().await?;
    let text = "fn main() {\n    one();\n    two();\n}\n";
    let folder = stage.project(&[("src/main.rs", text)])?;
    stage.server.when("where", Script::new().text("See src/main.rs:3 and `src/none.rs:1`."));
    let window = with_panel(&stage, &folder).await?;
    window.find(named("src").under("Files")).await?;
    window.say("where").await?;
    window.shows("See src/main.rs:3").await?;
    // By keyboard: from the composer back into the reply, where the name is the only link.
    until("the keyboard on the name", || async {
        window.keys(&["shift+Tab"]).await?;
        Ok(window.has(named("./src/main.rs:3")).await.then_some(()))
    })
    .await?;
    window.keys(&["Return"]).await?;
    holds(&window, "main.rs", |found| found == text).await?;
    window.find(named("Line 3, column 1")).await?;
    window.close().await
}

#[tokio::test]
async fn what_is_open_goes_along_as_its_chips_say() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("a.txt", "one\ntwo\n"), ("b.txt", "three\n")])?;
    let window = with_panel(&stage, &folder).await?;
    open(&window, "a.t", "a.txt", "one").await?;
    open(&window, "b.t", "b.txt", "three").await?;
    window.find(named("b.txt:1").role(Role::Label)).await?;
    window.find(named("1 more open file").role(Role::Label)).await?;
    stage.server.when("What is it?", Script::new().text("A berry."));
    stage.server.when("And now?", Script::new().text("Still one."));
    window.say("What is it?").await?;
    window.shows("A berry.").await?;
    let sent = |at: usize| stage.server.chats()[at].body.to_string();
    assert!(sent(0).contains("b.txt") && sent(0).contains("three"), "{}", sent(0));
    assert!(sent(0).contains("a.txt"));
    // What is taken away stays here, for this message.
    window.click(named("Remove b.txt:1")).await?;
    window.gone(named("b.txt:1").role(Role::Label)).await?;
    window.click(named("Remove 1 more open file")).await?;
    window.gone(named("1 more open file").role(Role::Label)).await?;
    window.say("And now?").await?;
    window.shows("Still one.").await?;
    let chats = stage.server.chats();
    let last = chats.last().expect("a request").body["messages"].as_array().cloned();
    let last = last.and_then(|all| all.last().cloned()).expect("a message").to_string();
    assert!(!last.contains("b.txt") && !last.contains("a.txt"), "{last}");
    window.find(named("b.txt:1").role(Role::Label)).await?;
    window.close().await
}

#[tokio::test]
async fn a_narrow_window_shows_one_at_a_time() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("a.txt", "one\n")])?;
    let window = with_panel(&stage, &folder).await?;
    open(&window, "a.t", "a.txt", "one").await?;
    window.resize(360, 640).await?;
    // The keyboard was in the editor: that is what stays in sight, and where it stays.
    window.find(named("Back to Chat")).await?;
    window.find(named("a.txt").role(Role::Text).state(State::Focused)).await?;
    for widget in window.all(named("Back to Chat")).await {
        let (x, _, width, _) = widget.place().await?;
        assert!(x >= 0 && x + width <= 360, "from {x}, {width} wide");
    }
    window.click(named("Back to Chat")).await?;
    window.writes().await?;
    window.keys(&["F8"]).await?;
    window.find(named("a.txt").role(Role::Text).state(State::Focused)).await?;
    window.close().await
}

#[tokio::test]
async fn the_keyboard_stays_where_it_is_when_the_window_becomes_narrow() -> Result<()> {
    let in_editor = || named("a.txt").role(Role::Text).state(State::Focused);
    let stage = Stage::new().await?;
    let folder = stage.project(&[("a.txt", "one\n")])?;
    let window = with_panel(&stage, &folder).await?;
    open(&window, "a.t", "a.txt", "one").await?;
    // The editor was opened last, and the conversation is where the user is.
    window.keys(&["ctrl+l"]).await?;
    window.writes().await?;
    window.resize(360, 640).await?;
    window.find(named("Back to Chats")).await?;
    window.writes().await?;
    // The conversation was in front last, and the editor is where the user is.
    window.resize(1200, 800).await?;
    window.click(named("a.txt").role(Role::Text)).await?;
    window.find(in_editor()).await?;
    window.resize(360, 640).await?;
    window.find(named("Back to Chat")).await?;
    window.find(in_editor()).await?;
    window.close().await
}

#[tokio::test]
async fn a_file_that_is_not_saved_is_asked_about_when_it_is_closed() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("a.txt", "one\n")])?;
    let window = with_panel(&stage, &folder).await?;
    open(&window, "a.t", "a.txt", "one").await?;
    window.type_text("x").await?;
    window.find(containing("• a.txt")).await?;
    window.keys(&["ctrl+shift+w"]).await?;
    window.find(containing("Save “a.txt”?")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(containing("Save “a.txt”?")).await?;
    holds(&window, "a.txt", |text| text == "xone\n").await?;
    window.keys(&["ctrl+shift+w"]).await?;
    window.find(containing("Save “a.txt”?")).await?;
    window.keys(&["Return"]).await?;
    has(&folder.join("a.txt"), "xone\n").await?;
    window.find(named("No File Open")).await?;
    window.close().await
}

#[tokio::test]
async fn tabs_close_lines_become_comments_and_blocks_are_indented() -> Result<()> {
    let stage = Stage::new().await?;
    let code = "fn main() {\n    one();\n}\n";
    let folder = stage.project(&[("main.rs", code), ("b.py", "if a:\n")])?;
    let window = with_panel(&stage, &folder).await?;
    open(&window, "main", "main.rs", "fn main").await?;
    window.keys(&["ctrl+slash"]).await?;
    holds(&window, "main.rs", |text| text.starts_with("// fn main() {\n")).await?;
    window.keys(&["ctrl+slash"]).await?;
    holds(&window, "main.rs", |text| text == code).await?;
    window.keys(&["End", "Return"]).await?;
    window.type_text("two();").await?;
    let indented = "fn main() {\n    two();\n    one();\n}\n";
    holds(&window, "main.rs", |text| text == indented).await?;
    window.keys(&["ctrl+s"]).await?;
    has(&folder.join("main.rs"), indented).await?;
    open(&window, "b.p", "b.py", "if").await?;
    window.keys(&["End", "Return"]).await?;
    window.type_text("b").await?;
    holds(&window, "b.py", |text| text == "if a:\n    b\n").await?;
    window.keys(&["ctrl+s"]).await?;
    window.gone(containing("• b.py")).await?;
    // The tab goes, and neither the window nor the keyboard.
    window.keys(&["ctrl+w"]).await?;
    window.gone(named("b.py").role(Role::Text)).await?;
    window.find(named("main.rs").role(Role::Text).state(State::Focused)).await?;
    window.keys(&["ctrl+w"]).await?;
    window.find(named("No File Open")).await?;
    window.find(named("Message")).await?;
    window.close().await
}
