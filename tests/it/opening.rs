//! Tests other ways to open files in the editor than a click: files on the command line, and files
//! left open in an earlier run. Also tests files that are saved under another name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, containing, named, until};
use serde_json::json;

use crate::stage::{Stage, Window, program};

/// A repository on the stage's desktop with these files, and a folder next to it.
fn project(stage: &Stage, files: &[(&str, &str)]) -> Result<PathBuf> {
    let folder = stage.project(files)?;
    fs::create_dir_all(folder.join(".git"))?;
    Ok(folder)
}

/// Waits until a file's text is in the editor, and the keyboard in it.
async fn is_edited(window: &Window, name: &str, begin: &str) -> Result<()> {
    until(&format!("{name} to be edited"), || async {
        for text in window.all(named(name).role(Role::Text).state(State::Focused)).await {
            if text.text().await.is_ok_and(|text| text.starts_with(begin)) {
                return Ok(Some(()));
            }
        }
        Ok(None)
    })
    .await
}

/// Waits until a file's text is in the editor.
async fn is_shown(window: &Window, name: &str, begin: &str) -> Result<()> {
    until(&format!("{name} to be shown"), || async {
        for text in window.all(named(name).role(Role::Text)).await {
            if text.text().await.is_ok_and(|text| text.starts_with(begin)) {
                return Ok(Some(()));
            }
        }
        Ok(None)
    })
    .await
}

/// Calls the program once more, from a folder.
fn call(stage: &Stage, from: &Path, arguments: &[&str]) -> Result<()> {
    let mut command = stage.desktop.command(env!("CARGO_BIN_EXE_natter"));
    command.args(arguments).current_dir(from);
    ended_well(command)
}

fn ended_well(mut command: Command) -> Result<()> {
    let status = command.spawn()?.wait()?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(())
}

#[tokio::test]
async fn a_file_named_with_a_line_opens_there_in_its_project() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = project(&stage, &[("beds/a.txt", "one\ntwo\nthree\n"), ("b.txt", "other\n")])?;
    let file = format!("{}:3:2", folder.join("beds/a.txt").display());
    let window = stage.launch(program().arg(file)).await?;
    is_edited(&window, "a.txt", "one").await?;
    window.find(named("Line 3, column 2")).await?;
    window.find(named("garden").role(Role::Label)).await?;

    // From elsewhere, to the program that runs: in the chat that works there already.
    stage.server.when("What grows here?", Script::new().text("Apples."));
    window.say("What grows here?").await?;
    window.shows("Apples.").await?;
    call(&stage, &folder, &["b.txt", "beds/a.txt:2"])?;
    is_edited(&window, "a.txt", "one").await?;
    window.find(named("Line 2, column 1")).await?;
    window.keys(&["ctrl+Page_Down"]).await?;
    is_edited(&window, "b.txt", "other").await?;
    window.find(named("What grows here?").role(Role::Frame)).await?;

    // One that lies in no repository is in its own folder, with a chat of its own.
    let shed = folder.with_file_name("shed");
    fs::create_dir(&shed)?;
    fs::write(shed.join("tools.txt"), "spade\n")?;
    call(&stage, &shed, &["tools.txt"])?;
    is_edited(&window, "tools.txt", "spade").await?;
    window.find(named("shed").role(Role::Label)).await?;
    window.find(named("New Chat").role(Role::Frame)).await?;
    // What is not there yet is made when it is saved.
    call(&stage, &shed, &["--project", ".", "new.txt"])?;
    window.find(containing("Saving creates it")).await?;
    is_edited(&window, "new.txt", "").await?;
    window.type_text("rake").await?;
    window.keys(&["ctrl+s"]).await?;
    until("the new file", || async {
        Ok(fs::read(shed.join("new.txt")).ok().filter(|bytes| bytes == b"rake"))
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn a_file_that_the_desktop_hands_over_opens() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = project(&stage, &[("my file.txt", "one\n")])?;
    let window = stage.ready().await?;
    let id = env!("APP_ID");
    let mut open = stage.desktop.command("gdbus");
    let address = format!("['file://{}/my%20file.txt']", folder.display());
    open.args(["call", "--session", "--dest", id, "--object-path"]);
    open.arg(format!("/{}", id.replace('.', "/").replace('-', "_")));
    open.args(["--method", "org.freedesktop.Application.Open", &address, "{}"]);
    ended_well(open)?;
    is_edited(&window, "my file.txt", "one").await?;
    window.close().await
}

#[tokio::test]
async fn open_files_are_open_again_in_the_next_run() -> Result<()> {
    let stage = Stage::new().await?;
    let files = [("a.txt", "one\ntwo\n"), ("b.txt", "x\ny\nz\n"), ("c.txt", "c\n")];
    let folder = project(&stage, &files)?;
    let path = |name: &str| folder.join(name).into_os_string();
    let all = program().arg(path("a.txt")).arg(path("b.txt")).arg(path("c.txt"));
    let window = stage.launch(all).await?;
    is_edited(&window, "c.txt", "c").await?;
    window.keys(&["ctrl+Page_Up"]).await?;
    is_edited(&window, "b.txt", "x").await?;
    window.keys(&["Down", "Right"]).await?;
    window.find(named("Line 2, column 2")).await?;
    window.close().await?;
    fs::remove_file(folder.join("c.txt"))?;

    let window = stage.launch(program().arg("--project").arg(&folder)).await?;
    window.find(named("Line 2, column 2")).await?;
    // It is read when it comes into sight; the one that is gone is left out.
    window.keys(&["F8", "F8"]).await?;
    is_edited(&window, "b.txt", "x").await?;
    window.keys(&["ctrl+Page_Up"]).await?;
    is_edited(&window, "a.txt", "one").await?;
    window.keys(&["ctrl+Page_Down"]).await?;
    is_edited(&window, "b.txt", "x").await?;
    window.close().await
}

#[tokio::test]
async fn a_file_is_saved_under_another_name_and_is_that_file_then() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = project(&stage, &[("a.txt", "one\n")])?;
    let window = stage.launch(program().arg(folder.join("a.txt").into_os_string())).await?;
    is_edited(&window, "a.txt", "one").await?;
    window.type_text("my ").await?;
    window.find(containing("• a.txt")).await?;
    let save_as = async |name: &str| {
        window.keys(&["ctrl+shift+s"]).await?;
        window.find(named("Save As").role(Role::Filler)).await?;
        window.keys(&["ctrl+a"]).await?;
        window.type_text(name).await?;
        window.keys(&["Return"]).await?;
        window.gone(named("Save As").role(Role::Filler)).await
    };
    save_as("b.txt").await?;
    is_shown(&window, "b.txt", "my one").await?;
    window.gone(containing("• ")).await?;
    ensure!(fs::read(folder.join("a.txt"))? == b"one\n", "what it was stays as it was");
    ensure!(fs::read(folder.join("b.txt"))? == b"my one\n");
    // Outside the project, too; and it is followed there.
    let outside = folder.with_file_name("elsewhere.txt");
    save_as(&outside.display().to_string()).await?;
    is_shown(&window, "elsewhere.txt", "my one").await?;
    fs::write(&outside, "theirs\n")?;
    is_shown(&window, "elsewhere.txt", "theirs").await?;
    // One that is gone is written again where the person says.
    fs::remove_file(&outside)?;
    window.find(containing("was deleted on disk")).await?;
    window.find(named("Save As…").role(Role::Button)).await?;
    save_as(&folder.join("c.txt").display().to_string()).await?;
    is_shown(&window, "c.txt", "theirs").await?;
    ensure!(fs::read(folder.join("c.txt"))? == b"theirs\n");
    window.close().await
}

#[tokio::test]
async fn the_line_of_an_edit_opens_the_file_where_it_was_changed() -> Result<()> {
    let stage = Stage::new().await?;
    let lines: Vec<_> = (1..=40).map(|line| format!("line {line}\n")).collect();
    let folder = project(&stage, &[("a.txt", &lines.concat())])?;
    let edit = json!({ "path": "a.txt", "edits": [{ "old": "line 30", "new": "line thirty" }] });
    stage.server.push(Script::new().tool_call("c1", "edit_file", edit));
    stage.server.push(Script::new().text("Done."));
    stage.configure_more("[permissions]\nmode = \"edits\"\n")?;
    let window = stage.launch(program().arg("--project").arg(&folder)).await?;
    window.find(named("scripted")).await?;
    window.say("change it").await?;
    window.shows("Done.").await?;
    window.click(named("Open a.txt").role(Role::Button)).await?;
    is_edited(&window, "a.txt", "line 1").await?;
    window.find(named("Line 30, column 1")).await?;
    window.close().await
}
