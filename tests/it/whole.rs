//! Tests a programmer's whole workflow: a project is opened, the assistant changes it and runs its
//! tests, the changes are reviewed, and all of it is undone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, containing, named, until};
use serde_json::json;

use crate::stage::{Stage, program};

const LIB: &str = "//! Sums.

/// Both together.
pub fn add(a: i32, b: i32) -> i32 {
    a - b
}

/// Twice as much.
pub fn twice(a: i32) -> i32 {
    add(a, a)
}

#[test]
fn adds() {
    assert_eq!(add(1, 2), 3);
}
";
const MANIFEST: &str = "[package]\nname = \"sums\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";

fn project(stage: &Stage) -> Result<PathBuf> {
    let folder = stage.desktop.folder().canonicalize()?.join("home/sums");
    let files = [
        ("Cargo.toml", MANIFEST),
        ("src/lib.rs", LIB),
        ("AGENTS.md", "Name what you changed.\n"),
        (".gitignore", "target/\n"),
    ];
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("a folder"))?;
        fs::write(path, text)?;
    }
    Ok(folder)
}

/// All files but those that are ignored, and their bytes.
fn files(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.is_file() {
                found.insert(path.clone(), fs::read(path)?);
            }
        }
    }
    Ok(found)
}

/// Where a tool chain of the person's lies, which the desktop's home folder is not.
fn home_of(name: &str, folder: &str) -> PathBuf {
    let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
    std::env::var_os(name).map_or_else(|| home.join(folder), PathBuf::from)
}

#[tokio::test]
async fn a_change_is_asked_for_made_tested_reviewed_and_taken_back() -> Result<()> {
    let stage = Stage::new().await?;
    let config = stage.folders().config.join("config.toml");
    let agent = "[chat]\nagent = \"code-assistant\"\n";
    fs::write(&config, fs::read_to_string(&config)?.replace("[chat]\n", agent))?;
    stage.configure_more("[permissions]\nmode = \"edits\"\n")?;
    let folder = project(&stage)?;
    let before = files(&folder)?;
    let edit = |old: &str, new: &str| json!({ "path": "src/lib.rs", "edits": [{ "old": old, "new": new }] });
    let script = |text: &str| Script::new().text(text);
    stage.server.push(script("`add` subtracts. ").tool_call(
        "c1",
        "edit_file",
        edit("    a - b\n", "    a + b\n"),
    ));
    stage.server.push(script("The title is short. ").tool_call(
        "c2",
        "edit_file",
        edit("//! Sums.\n", "//! Sums of whole numbers.\n"),
    ));
    let test = json!({ "command": "cargo test --offline" });
    stage.server.push(script("Does it hold? ").tool_call("c3", "run_command", test));
    stage.server.push(script("It adds now, and its test passes."));

    let launch = program()
        .arg("--project")
        .arg(&folder)
        .env("CARGO_HOME", home_of("CARGO_HOME", ".cargo"))
        .env("RUSTUP_HOME", home_of("RUSTUP_HOME", ".rustup"));
    let window = stage.launch(launch).await?;
    window.find(named("scripted")).await?;
    window.find(named("sums").role(Role::Label)).await?;

    // The file that it is about, with a line of it selected.
    window.keys(&["F8", "ctrl+p"]).await?;
    window.find(named("Find a File").state(State::Focused)).await?;
    window.type_text("lib").await?;
    window.keys(&["Return"]).await?;
    window.find(named("lib.rs").role(Role::Text).state(State::Focused)).await?;
    window.keys(&["ctrl+Home", "Down", "Down", "Down", "shift+End"]).await?;
    window.find(named("lib.rs:4").role(Role::Label)).await?;
    window.keys(&["ctrl+l"]).await?;
    window.writes().await?;
    window.type_text("Mend add").await?;
    window.keys(&["Return"]).await?;

    // Edits pass in this mode; a command asks.
    window.shows("cargo test --offline").await?;
    window.find(named("Allow Once")).await?;
    window.keys(&["ctrl+shift+y"]).await?;
    window.find(named("Allow Once").state(State::Focused)).await?;
    window.keys(&["Return"]).await?;
    window.shows("It adds now, and its test passes.").await?;
    let told = stage.server.chats();
    let result = told[3].texts_of("tool").pop().unwrap_or_default();
    ensure!(result.contains("test result: ok. 1 passed"), "the tests did not run: {result}");
    let first = told[0].body.to_string();
    for part in ["src/lib.rs", "pub fn add(a: i32, b: i32) -> i32 {", "Name what you changed."] {
        ensure!(first.contains(part), "{part:?} was not in the first request: {first}");
    }
    let asked = told[0].texts_of("user").pop().unwrap_or_default();
    let selection = "<selection path=\"src/lib.rs\" lines=\"4-4\">";
    ensure!(asked.contains(selection), "the selection was not told: {asked}");

    // The title is rejected, the sum accepted.
    window.keys(&["ctrl+shift+r"]).await?;
    until("the changes of the file", || async {
        window.keys(&["j"]).await?;
        Ok(window.has(named("src/lib.rs, line 1").state(State::Focused)).await.then_some(()))
    })
    .await?;
    window.keys(&["r"]).await?;
    let mended = LIB.replace("a - b", "a + b");
    until("the title to be as it was", || async {
        Ok((fs::read_to_string(folder.join("src/lib.rs"))? == mended).then_some(()))
    })
    .await?;
    window.find(named("src/lib.rs, line 5").state(State::Focused)).await?;
    window.keys(&["a"]).await?;
    window.gone(named("src/lib.rs, line 5")).await?;

    // Back to the beginning, the lock file that the command made too.
    ensure!(files(&folder)? != before, "nothing was changed");
    window.click(named("Restore Files to This Point…").role(Role::Button)).await?;
    window.find(named("Restore to This Point?")).await?;
    window.click(containing("Files Only").role(Role::Button)).await?;
    window.find(containing("Restored ")).await?;
    ensure!(files(&folder)? == before, "not all is as before: {:?}", files(&folder)?.keys());
    window.close().await
}
