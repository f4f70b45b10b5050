//! Tests a chat that works in a folder: how the folder is chosen, and what is shown about it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use chat_core::message::SessionMeta;
use chat_core::permission::Mode;
use chat_core::store::{NewSession, SessionRecord, Store};
use chat_testkit::server::{Model, Protocol};
use chat_testkit::ui::{Role, containing, named, until};

use crate::stage::{Stage, Window, chat, program};

/// A folder to work in, on the stage's desktop.
pub fn folder(stage: &Stage, name: &str) -> Result<PathBuf> {
    let folder = stage.desktop.folder().canonicalize()?.join("home").join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The program, started in a folder, with a model to write to.
pub async fn window_in(stage: &Stage, folder: &Path) -> Result<Window> {
    let window = stage.launch(program().arg("--project").arg(folder)).await?;
    window.find(named("scripted")).await?;
    Ok(window)
}

/// What is stored of the chat of this title.
pub async fn stored(stage: &Stage, title: &str) -> Result<SessionRecord> {
    let sessions = Store::open(&stage.folders())?.store.sessions().await?;
    sessions.into_iter().find(|session| session.title == title).context("no such chat")
}

/// The names of the tools that the last request offered.
fn offered(stage: &Stage) -> Vec<String> {
    let chat = stage.server.chats().pop().expect("a request");
    let tools = chat.body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn a_chat_begun_in_a_folder_works_there_in_the_mode_that_is_chosen() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = folder(&stage, "garden")?;
    let window = window_in(&stage, &garden).await?;
    window.find(named("garden").role(Role::Label)).await?;
    // The panel moves all when it opens.
    window.find(named("Find a File")).await?;
    // What tools may do is chosen by keyboard.
    window.find(named("Permissions")).await?.click_with_mouse().await?;
    window.find(containing("read-only commands; changes nothing")).await?;
    window.keys(&["Down", "Return"]).await?;
    window.gone(containing("read-only commands; changes nothing")).await?;
    window.find(named("Edits")).await?;
    window.say("What grows here?").await?;
    window.shows("You said: What grows here?").await?;
    let session = stored(&stage, "What grows here?").await?;
    assert_eq!((&session.project, session.mode), (&Some(garden), Mode::Edits));
    assert!(offered(&stage).contains(&"read_file".to_owned()), "{:?}", offered(&stage));

    // A new chat works there too, and is given no more leave than any; told so it works nowhere.
    window.new_chat().await?;
    window.find(named("Ask").role(Role::Label)).await?;
    window.keys(&["ctrl+o"]).await?;
    window.click(named("No Folder")).await?;
    window.gone(named("Permissions")).await?;
    window.open("What grows here?").await?;
    window.find(named("Permissions")).await?;
    window.close().await
}

#[tokio::test]
async fn what_a_killed_command_left_in_the_folder_of_a_new_chat_is_removed() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = folder(&stage, "garden")?;
    let left = garden.join(".natter");
    std::fs::create_dir(&left)?;
    std::fs::set_permissions(&left, std::fs::Permissions::from_mode(0o1755))?;
    let window = window_in(&stage, &garden).await?;
    until("the folder that was left to go", || async { Ok((!left.exists()).then_some(())) })
        .await?;
    window.close().await
}

#[tokio::test]
async fn a_folder_named_to_a_second_program_reaches_the_first_as_seen_from_there() -> Result<()> {
    let stage = Stage::new().await?;
    folder(&stage, "garden")?;
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    let call = |arguments: &[&str]| {
        let mut command = stage.desktop.command(env!("CARGO_BIN_EXE_natter"));
        command.args(arguments).current_dir(stage.desktop.folder().join("home"));
        let mut child = command.spawn()?;
        Ok::<_, anyhow::Error>(child.wait()?)
    };
    assert!(call(&["--project", "garden"])?.success());
    window.find(named("garden").role(Role::Label)).await?;
    window.find(named("New Chat").role(Role::Frame)).await?;
    // What is no folder is said.
    assert!(call(&["--project", "desert"])?.success());
    window.find(containing("Can’t open the folder")).await?;
    window.gone(named("Permissions")).await?;
    // With a chat that is named, the folder is for that one.
    let session = stored(&stage, "Apples").await?;
    assert!(call(&["--session", session.fid.as_str(), "--project", "garden"])?.success());
    window.find(named("Apples").role(Role::Frame)).await?;
    until("the folder to be stored", || async {
        Ok(stored(&stage, "Apples").await?.meta.project.map(drop))
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn folders_that_were_worked_in_are_offered_unless_they_are_gone() -> Result<()> {
    let stage = Stage::new().await?;
    let (garden, _) = (folder(&stage, "garden")?, folder(&stage, "kitchen")?);
    let window = window_in(&stage, &garden).await?;
    window.find(named("garden").role(Role::Label)).await?;
    window.close().await?;

    let kitchen = folder(&stage, "kitchen")?;
    let window = window_in(&stage, &kitchen).await?;
    window.find(named("kitchen").role(Role::Label)).await?;
    window.keys(&["ctrl+o"]).await?;
    window.find(named("garden").role(Role::Label).under("Recent Folders")).await?;
    window.find(named("No Folder")).await?;
    // The arrow keys and Enter take the second.
    window.keys(&["Down", "Return"]).await?;
    window.gone(named("Recent Folders")).await?;
    window.find(named("garden").role(Role::Label)).await?;
    // The keyboard is where it was.
    window.type_text("Pea").await?;
    window.holds("Pea").await?;

    std::fs::remove_dir(&kitchen)?;
    window.keys(&["ctrl+o"]).await?;
    window.find(named("garden").role(Role::Label).under("Recent Folders")).await?;
    window.gone(named("kitchen").role(Role::Label).under("Recent Folders")).await?;
    window.click(named("No Folder")).await?;
    window.gone(named("Permissions")).await?;
    window.type_text("rs").await?;
    window.holds("Pears").await?;
    window.keys(&["Return"]).await?;
    window.shows("You said: Pears").await?;
    assert_eq!(stored(&stage, "Pears").await?.project, None);
    assert_eq!(offered(&stage), Vec::<String>::new());
    window.close().await
}

#[tokio::test]
async fn a_folder_that_is_dropped_is_worked_in_where_the_person_says_so() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = folder(&stage, "garden")?;
    let window = stage.ready().await?;
    // The field would take its name as text; it is the window that takes it.
    let taken = window.find(named("Message")).await?.drop_files(&[&garden]).await?;
    assert!(taken);
    window.find(named("Open the folder “garden” in this chat?")).await?;
    assert!(!window.has(named("Permissions")).await, "nothing is decided yet");
    window.click(named("Open Folder")).await?;
    window.find(named("garden").role(Role::Label)).await?;
    window.find(named("Permissions")).await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    assert_eq!(stored(&stage, "Apples").await?.project, Some(garden));

    // Anywhere else, too, and for the chat that is shown.
    let kitchen = folder(&stage, "kitchen")?;
    assert!(window.find(named("Conversation")).await?.drop_files(&[&kitchen]).await?);
    window.find(named("Open the folder “kitchen” in this chat?")).await?;
    window.click(named("Open Folder")).await?;
    window.find(named("kitchen").role(Role::Label)).await?;
    until("the folder to be stored", || async {
        let project = stored(&stage, "Apples").await?.meta.project;
        Ok((project.as_ref() == Some(&kitchen)).then_some(()))
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn the_dialog_that_is_closed_chooses_nothing() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.keys(&["ctrl+o"]).await?;
    window.click(named("Open Folder…")).await?;
    window.find(named("Open Folder").role(Role::Filler)).await?;
    window.find(containing("Cancel")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Open Folder").role(Role::Filler)).await?;
    assert!(!window.has(named("Permissions")).await);
    window.close().await
}

#[tokio::test]
async fn a_model_that_cannot_use_tools_is_told_where_they_would_be() -> Result<()> {
    let stage = Stage::new().await?;
    let server = chat_testkit::server::Server::start().only(Protocol::Ollama);
    server.set_models([Model::new("able"), Model::new("plain").capabilities(&["completion"])]);
    stage.configure_all(&[("Home", &server.url())])?;
    let garden = folder(&stage, "garden")?;
    let window = stage.launch(program().arg("--project").arg(&garden)).await?;
    window.find(named("able")).await?;
    assert!(!window.has(named("This model can’t use tools")).await);
    window.keys(&["ctrl+m"]).await?;
    window.find(containing("plain").role(Role::Label).under("Models")).await?;
    window.keys(&["Down", "Return"]).await?;
    window.gone(named("Models")).await?;
    window.find(named("This model can’t use tools")).await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_for_code_begins_with_the_files_and_the_next_one_stands_beside_it() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure_agent("code-assistant")?;
    let folder = stage.project(&[("a.txt", "one\n")])?;
    let window = window_in(&stage, &folder).await?;
    window.find(named("a.txt").under("Files")).await?;
    window.say("one").await?;
    window.shows("You said: one").await?;
    window.new_chat().await?;
    window.find(named("garden").role(Role::Label)).await?;
    window.find(named("Explain this project")).await?;
    window.say("two").await?;
    window.shows("You said: two").await?;
    let beside = stored(&stage, "two").await?;
    assert_eq!(beside.project.as_deref(), Some(folder.as_path()));
    assert_eq!(beside.agent, "code-assistant");
    // Without the folder there is nothing to work on, and other things are offered.
    window.new_chat().await?;
    window.find(named("Explain this project")).await?;
    window.keys(&["ctrl+o"]).await?;
    window.click(named("No Folder")).await?;
    window.find(named("Explain something")).await?;
    window.close().await
}

#[tokio::test]
async fn a_folder_that_the_code_assistant_is_given_in_a_new_chat_shows_its_files() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure_agent("code-assistant")?;
    let folder = stage.project(&[("a.txt", "one\n")])?;
    let window = stage.window().await?;
    window.find(named("Code Assistant").role(Role::Label)).await?;
    assert!(window.find(named("Message")).await?.drop_files(&[&folder]).await?);
    window.click(named("Open Folder")).await?;
    window.find(named("a.txt").under("Files")).await?;
    window.close().await
}

#[tokio::test]
async fn a_project_opens_with_the_code_assistant_or_who_worked_there_last() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.project(&[("a.txt", "one\n")])?;
    let window = window_in(&stage, &folder).await?;
    window.find(named("Code Assistant").role(Role::Label)).await?;
    window.find(named("a.txt").under("Files")).await?;
    window.say("one").await?;
    window.shows("You said: one").await?;
    assert_eq!(stored(&stage, "one").await?.agent, "code-assistant");
    // Another agent is chosen for the next chat there.
    window.new_chat().await?;
    window.find(named("Agent")).await?.click_with_mouse().await?;
    window.find(containing("Chats with the model")).await?;
    window.keys(&["Home", "Return"]).await?;
    window.find(named("Just Ask").role(Role::Label)).await?;
    window.say("two").await?;
    window.shows("You said: two").await?;
    assert_eq!(stored(&stage, "two").await?.agent, "just-ask");
    window.close().await?;

    let window = window_in(&stage, &folder).await?;
    window.find(named("Just Ask").role(Role::Label)).await?;
    // A folder that is chosen is like one that is named at the start.
    let garden = self::folder(&stage, "kitchen")?;
    assert!(window.find(named("Message")).await?.drop_files(&[&garden]).await?);
    window.click(named("Open Folder")).await?;
    window.find(named("Code Assistant").role(Role::Label)).await?;
    window.keys(&["ctrl+o"]).await?;
    window.click(named("No Folder")).await?;
    window.find(named("Just Ask").role(Role::Label)).await?;
    window.close().await
}

#[tokio::test]
async fn a_new_chat_from_an_agents_chat_works_where_the_chat_at_the_top_does() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = stage.project(&[("a.txt", "one\n")])?;
    let store = Store::open(&stage.folders())?.store;
    let meta = SessionMeta { project: Some(garden.clone()), ..chat("Fruit").meta };
    let top = store.create(NewSession { meta, ..chat("Fruit") }, Vec::new()).await?;
    let meta = SessionMeta {
        parent: Some(top.meta.fid),
        name: Some("fixer".to_owned()),
        // Its worktree is gone by now.
        project: Some(garden.with_file_name("fixer")),
        ..chat("fixer").meta
    };
    store.create(NewSession { meta, ..chat("fixer") }, Vec::new()).await?;
    drop(store);
    let window = stage.ready().await?;
    window.find(named("Show agents of “Fruit”")).await?.click_with_mouse().await?;
    window.open("fixer").await?;
    window.find(named("Works for “Fruit”")).await?;
    window.new_chat().await?;
    window.say("What grows here?").await?;
    window.shows("You said: What grows here?").await?;
    let session = stored(&stage, "What grows here?").await?;
    assert_eq!((&session.project, &session.parent), (&Some(garden), &None));
    window.close().await
}

#[tokio::test]
async fn a_chat_whose_worktree_is_gone_says_so() -> Result<()> {
    let stage = Stage::new().await?;
    let store = Store::open(&stage.folders())?.store;
    let data = stage.desktop.data().canonicalize()?;
    let gone = data.join("natter-worktrees/garden-0123456789abcdef/fixer-a1b2c3");
    let fixer =
        NewSession { meta: SessionMeta { project: Some(gone), ..chat("Fix").meta }, ..chat("Fix") };
    store.create(fixer, Vec::new()).await?;
    drop(store);
    let window = stage.ready().await?;
    window.open("Fix").await?;
    window.keys(&["F8"]).await?;
    let said = containing("The worktree of this chat was removed.").role(Role::Label);
    window.find(said).await?;
    window.keys(&["F8"]).await?;
    window.say("Go on").await?;
    window.shows("The worktree of this chat was removed. Start a new chat to go on.").await?;
    window.close().await
}
