//! Tests worktrees in the window: a new chat in one, the list of them, and how they are finished.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use chat_core::manager::NewWorktree;
use chat_core::message::SessionMeta;
use chat_core::store::{NewSession, Store};
use chat_testkit::ui::{By, Role, containing, named, until};

use crate::projects::{stored, window_in};
use crate::stage::{Stage, Window, chat};

const NEW: &str = "New Chat in a Worktree";

/// Runs git as the user would.
fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .current_dir(folder)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(arguments)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()?;
    ensure!(output.status.success(), "{arguments:?}: {output:?}");
    Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
}

/// A project with one commit on `main`.
fn repository(stage: &Stage) -> Result<PathBuf> {
    let garden = stage.project(&[("notes.txt", "milk\n")])?;
    git(&garden, &["init", "-q", "-b", "main"])?;
    git(&garden, &["add", "-A"])?;
    git(&garden, &["commit", "-q", "-m", "first"])?;
    Ok(garden)
}

/// A worktree of the project, "Fix notes", with a changed file. Its folder.
async fn worktree(stage: &Stage, project: &Path) -> Result<PathBuf> {
    let manager = stage.another_program().await?;
    let new = NewWorktree::default();
    let folder = manager.worktrees().create(project, "Fix notes", new).await?.worktree.project();
    manager.shutdown().await;
    fs::write(folder.join("notes.txt"), "milk\npears\n")?;
    Ok(folder)
}

/// Stores a chat, "Fruit", that works in this folder.
async fn fruit(stage: &Stage, folder: &Path) -> Result<()> {
    let meta = SessionMeta { project: Some(folder.to_owned()), ..chat("Fruit").meta };
    let store = Store::open(&stage.folders())?.store;
    store.create(NewSession { meta, ..chat("Fruit") }, Vec::new()).await?;
    Ok(())
}

/// A button: the title of its row, or a mnemonic, is part of its name.
fn button(label: &str) -> By {
    containing(label).role(Role::Button)
}

/// Opens the list of worktrees from the menu.
async fn open_list(window: &Window) -> Result<()> {
    window.find(named("Main Menu")).await?.click_with_mouse().await?;
    window.click(named("Worktrees…")).await?;
    window.find(named("Worktrees").role(Role::Frame)).await.map(drop)
}

/// Opens the page of "Fix notes" from the list.
async fn open_page(window: &Window) -> Result<()> {
    window.find(named("Fix notes").role(Role::Label)).await?.click_with_mouse().await?;
    window.find(named("Fix notes").role(Role::Frame)).await.map(drop)
}

/// Asks for a new chat in a worktree by keyboard, once the project is known to be a repository.
async fn ask(window: &Window) -> Result<()> {
    until("the question for a worktree", || async {
        window.keys(&["ctrl+shift+n"]).await?;
        Ok(window.wait_briefly(named(NEW).role(Role::Frame)).await.then_some(()))
    })
    .await
}

/// Types into a field of the question. The field itself never counts as focused: what is in it does.
async fn fill_in(window: &Window, name: &str, text: &str) -> Result<()> {
    let field = || named(name).role(Role::Text);
    until("the text in a field", || async {
        if name != "Name" {
            window.find(field()).await?.click_with_mouse().await?;
        }
        window.keys(&["ctrl+a"]).await?;
        window.type_text(text).await?;
        Ok((window.find(field()).await?.text().await? == text).then_some(()))
    })
    .await
}

#[tokio::test]
async fn a_new_chat_works_in_a_worktree_with_what_is_not_committed() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = repository(&stage)?;
    fs::write(garden.join("notes.txt"), "milk\neggs\n")?;
    let window = window_in(&stage, &garden).await?;
    window.find(named("garden").role(Role::Label)).await?;
    ask(&window).await?;
    fill_in(&window, "Name", "Fix notes").await?;
    window
        .find(named("Include Uncommitted Changes").role(Role::Label))
        .await?
        .click_with_mouse()
        .await?;
    window.click(button("reate")).await?;
    window.gone(named(NEW).role(Role::Frame)).await?;
    window.find(named("garden · natter/fix-notes").role(Role::Label)).await?;
    window.say("What grows here?").await?;
    window.shows("You said: What grows here?").await?;
    let folder = stored(&stage, "What grows here?").await?.meta.project.context("a project")?;
    assert!(!folder.starts_with(&garden), "{}", folder.display());
    assert_eq!(fs::read_to_string(folder.join("notes.txt"))?, "milk\neggs\n");
    assert_eq!(git(&folder, &["branch", "--show-current"])?, "natter/fix-notes");
    assert_eq!(git(&garden, &["status", "--porcelain"])?, " M notes.txt");
    window.close().await
}

#[tokio::test]
async fn what_was_typed_for_a_worktree_stays_when_it_cannot_be_created() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = repository(&stage)?;
    let window = window_in(&stage, &garden).await?;
    ask(&window).await?;
    fill_in(&window, "Name", "Fix notes").await?;
    window.find(named("Branch").role(Role::Label)).await?.click_with_mouse().await?;
    let branch = || named("Branch (optional)").role(Role::Text);
    window.find(branch()).await?;
    fill_in(&window, "Branch (optional)", "main").await?;
    window.keys(&["Return"]).await?;
    window.find(containing("The branch “main” already exists.")).await?;
    assert_eq!(window.find(named("Name").role(Role::Text)).await?.text().await?, "Fix notes");
    assert_eq!(window.find(branch()).await?.text().await?, "main");
    fill_in(&window, "Branch (optional)", "natter/pears").await?;
    window.keys(&["Return"]).await?;
    window.find(named("garden · natter/pears").role(Role::Label)).await?;
    window.close().await
}

#[tokio::test]
async fn a_folder_without_a_repository_has_no_worktrees() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = stage.project(&[("notes.txt", "milk\n")])?;
    let window = window_in(&stage, &garden).await?;
    window.find(named("garden").role(Role::Label)).await?;
    open_list(&window).await?;
    window.find(named("No worktrees yet")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Worktrees").role(Role::Frame)).await?;
    window.keys(&["ctrl+shift+n"]).await?;
    // What is pressed after it has been done, and nothing came of that.
    window.keys(&["ctrl+k"]).await?;
    window.find(named("Go to a chat").role(Role::Frame)).await?;
    assert!(!window.has(named(NEW).role(Role::Frame)).await);
    window.close().await
}

#[tokio::test]
async fn a_worktree_is_merged_once_its_changes_were_seen_and_restored_from_its_snapshot()
-> Result<()> {
    let stage = Stage::new().await?;
    let garden = repository(&stage)?;
    let folder = worktree(&stage, &garden).await?;
    fruit(&stage, &folder).await?;
    let window = stage.ready().await?;
    open_list(&window).await?;
    window.find(containing("natter/fix-notes · garden · ")).await?;
    open_page(&window).await?;
    window.find(containing("0 commits, 1 file not committed")).await?;
    window.find(named("notes.txt").role(Role::Label)).await?;
    window.find(named("+1 −0").role(Role::Label)).await?;
    window.find(button("Merge…")).await?.click_with_mouse().await?;
    window.find(named("Commit Before Merging?")).await?;
    window.click(button("_Commit")).await?;
    window.find(named("Merge Into main?")).await?;
    window.find(containing("1 commit, 1 file changed.")).await?;
    window.find(containing("Add the work of Fix notes").role(Role::Label)).await?;
    window.find(named("notes.txt +1 −0").role(Role::Label)).await?;
    assert_eq!(fs::read_to_string(garden.join("notes.txt"))?, "milk\n", "it is not merged yet");
    window.click(button("_Merge")).await?;
    window.find(named("Merged into main.")).await?;
    window.find(named("No worktrees yet")).await?;
    assert_eq!(fs::read_to_string(garden.join("notes.txt"))?, "milk\npears\n");
    assert!(!folder.exists());

    window.find(named("Restore the snapshot of Fix notes")).await?.click_with_mouse().await?;
    window.find(named("Restored on the branch natter/fix-notes")).await?;
    window.gone(named("No worktrees yet")).await?;
    assert_eq!(fs::read_to_string(folder.join("notes.txt"))?, "milk\npears\n");
    window.find(named("Delete the snapshot of Fix notes")).await?.click_with_mouse().await?;
    window.click(button("_Delete")).await?;
    window.gone(named("Restore the snapshot of Fix notes")).await?;
    // Its chat is opened from its page.
    open_page(&window).await?;
    window
        .find(named("Fruit").role(Role::Label).under("Fix notes"))
        .await?
        .click_with_mouse()
        .await?;
    window.gone(named("Fix notes").role(Role::Frame)).await?;
    window.find(named("Fruit").role(Role::Frame)).await?;
    window.find(named("garden · natter/fix-notes").role(Role::Label)).await?;
    window.close().await
}

#[tokio::test]
async fn a_worktree_without_changes_is_not_merged() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = repository(&stage)?;
    let folder = worktree(&stage, &garden).await?;
    fs::write(folder.join("notes.txt"), "milk\n")?;
    fruit(&stage, &folder).await?;
    let window = stage.ready().await?;
    open_list(&window).await?;
    window.find(containing("natter/fix-notes · garden · ")).await?;
    open_page(&window).await?;
    window.find(containing("0 commits, 0 files not committed")).await?;
    window.find(containing("There is nothing to merge yet")).await?;
    assert!(!window.find(button("Merge…")).await?.is_sensitive());
    window.close().await
}

#[tokio::test]
async fn a_conflict_is_named_and_a_worktree_is_committed_and_discarded_by_keyboard() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = repository(&stage)?;
    let folder = worktree(&stage, &garden).await?;
    fruit(&stage, &folder).await?;
    fs::write(garden.join("notes.txt"), "milk\napples\n")?;
    git(&garden, &["commit", "-q", "-a", "-m", "mine"])?;
    let window = stage.ready().await?;
    open_list(&window).await?;
    // The first row has the keyboard.
    window.find(containing("natter/fix-notes · garden · ")).await?;
    window.keys(&["Return"]).await?;
    window.find(containing("1 file not committed")).await?;
    let message = || named("Commit message (optional)").role(Role::Text);
    until("the keyboard in the message", || async {
        window.keys(&["Tab"]).await?;
        window.type_text("N").await?;
        Ok((window.find(message()).await?.text().await? == "N").then_some(()))
    })
    .await?;
    window.type_text("ote pears").await?;
    window.keys(&["Return"]).await?;
    window.find(containing("1 commit, 0 files not committed")).await?;
    assert_eq!(git(&garden, &["log", "-1", "--format=%s", "natter/fix-notes"])?, "Note pears");
    assert_eq!(window.find(message()).await?.text().await?, "");
    window.find(button("Merge…")).await?.click_with_mouse().await?;
    window.find(containing("main changed the same lines of these files:")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(containing("main changed the same lines of these files:")).await?;
    window.find(button("Discard…")).await?.click_with_mouse().await?;
    window.find(named("Discard “Fix notes”?")).await?;
    window.find(containing("Chats that work there are kept")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Discard “Fix notes”?")).await?;
    assert!(folder.exists());
    window.find(button("Discard…")).await?.click_with_mouse().await?;
    window.click(button("_Discard")).await?;
    window.find(named("No worktrees yet")).await?;
    assert!(!folder.exists());
    assert_eq!(git(&garden, &["branch", "--format=%(refname:short)"])?, "main");
    window.find(named("Restore the snapshot of Fix notes")).await?;
    window.close().await
}

#[tokio::test]
async fn what_no_chat_uses_is_said_at_the_start_and_cleared() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = repository(&stage)?;
    let folder = worktree(&stage, &garden).await?;
    fs::remove_dir_all(&folder)?;
    let window = stage.window().await?;
    window.find(containing("1 unused worktree takes up")).await?;
    window.click(named("Show")).await?;
    window.find(containing("its folder is gone")).await?;
    open_page(&window).await?;
    window.find(containing("The folder was deleted.")).await?;
    window.find(button("Remove")).await?.click_with_mouse().await?;
    window.find(named("No worktrees yet")).await?;
    window.close().await?;
    let manager = stage.another_program().await?;
    assert_eq!(manager.worktrees().list().await?, []);
    manager.shutdown().await;
    Ok(())
}

#[tokio::test]
async fn a_worktree_is_repaired_whose_link_is_broken() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = repository(&stage)?;
    let folder = worktree(&stage, &garden).await?;
    fruit(&stage, &folder).await?;
    fs::write(folder.join(".git"), "gitdir: /nowhere\n")?;
    let window = stage.ready().await?;
    open_list(&window).await?;
    window.find(containing("not linked to its repository")).await?;
    open_page(&window).await?;
    window.find(button("Repair")).await?.click_with_mouse().await?;
    window.find(containing("1 file not committed")).await?;
    assert_eq!(git(&folder, &["branch", "--show-current"])?, "natter/fix-notes");
    window.close().await
}
