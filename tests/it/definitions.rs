//! Tests the question whether to use the agents, commands and skills of a project, and what its answer changes.

use anyhow::Result;
use chat_core::message::SessionMeta;
use chat_core::store::{NewSession, Store};
use chat_testkit::ui::{By, Role, containing, named, until};

use crate::allowances;
use crate::stage::{Stage, Window, chat};

const GARDENER: &str = "---\ndescription: Waters plants\n---\nYou are a gardener.\n";

/// A window with a chat, "Fruit", in a project with these files.
async fn with_chat(stage: &Stage, files: &[(&str, &str)]) -> Result<Window> {
    let project = stage.project(files)?;
    let store = Store::open(&stage.folders())?.store;
    let meta = SessionMeta { project: Some(project), ..chat("Fruit").meta };
    store.create(NewSession { meta, ..chat("Fruit") }, Vec::new()).await?;
    drop(store);
    let window = stage.ready().await?;
    window.open("Fruit").await?;
    Ok(window)
}

fn question() -> By {
    named("This project has its own agents.")
}

/// Opens what the project has from the menu.
async fn review_from_menu(window: &Window) -> Result<()> {
    window.find(named("Main Menu")).await?.click_with_mouse().await?;
    window.click(named("Project’s Agents and Skills…")).await?;
    window.find(named("Agent gardener – all tools")).await.map(drop)
}

/// What the model was told that it is, last.
fn system(stage: &Stage) -> String {
    let asked = stage.server.chats().pop().expect("a request");
    asked.texts_of("system").concat()
}

#[tokio::test]
async fn an_agent_of_a_project_is_chosen_once_the_user_trusts_it() -> Result<()> {
    let stage = Stage::new().await?;
    let window = with_chat(&stage, &[(".natter/agents/gardener.md", GARDENER)]).await?;
    window.find(question()).await?;
    window.find(named("Review…").role(Role::Button)).await?.click_with_mouse().await?;
    window.find(named("Agent gardener – all tools")).await?;
    window.click(containing("Use Them").role(Role::Button)).await?;
    window.gone(question()).await?;
    window.find(named("Agent")).await?.click_with_mouse().await?;
    window.find(containing("Waters plants")).await?;
    window.keys(&["End", "Return"]).await?;
    window.find(named("gardener").role(Role::Label)).await?;
    window.say("Apples?").await?;
    window.shows("You said: Apples?").await?;
    assert!(system(&stage).starts_with("You are a gardener."), "{}", system(&stage));
    // The next chat there has the same agent.
    window.type_text("/clear").await?;
    window.keys(&["Return"]).await?;
    window.wait_for_text("Conversation", "a new chat", |text| !text.contains("Apples")).await?;
    window.say("Pears?").await?;
    window.shows("You said: Pears?").await?;
    assert!(system(&stage).starts_with("You are a gardener."), "{}", system(&stage));
    window.close().await
}

#[tokio::test]
async fn a_file_that_changes_after_the_trust_is_said_to_have_changed() -> Result<()> {
    let stage = Stage::new().await?;
    let window = with_chat(&stage, &[(".natter/agents/gardener.md", GARDENER)]).await?;
    window.find(named("Review…").role(Role::Button)).await?.click_with_mouse().await?;
    window.click(containing("Use Them").role(Role::Button)).await?;
    window.gone(question()).await?;
    let garden = stage.desktop.folder().canonicalize()?.join("home/garden");
    std::fs::write(garden.join(".natter/agents/gardener.md"), "You water plants.\n")?;
    window.find(named("This project’s agents have changed since you trusted it.")).await?;
    assert!(!window.has(question()).await);
    window.close().await
}

#[tokio::test]
async fn a_project_that_is_not_trusted_is_not_asked_about_again() -> Result<()> {
    let stage = Stage::new().await?;
    let window = with_chat(&stage, &[(".natter/agents/gardener.md", GARDENER)]).await?;
    window.find(named("Review…").role(Role::Button)).await?.click_with_mouse().await?;
    window.find(named("Agent gardener – all tools")).await?;
    // Esc answers nothing.
    window.keys(&["Escape"]).await?;
    window.gone(named("Agent gardener – all tools")).await?;
    window.find(named("Review…").role(Role::Button)).await?.click_with_mouse().await?;
    window.click(containing("Don’t Use").role(Role::Button)).await?;
    window.gone(question()).await?;
    window.find(named("Agent")).await?.click_with_mouse().await?;
    window.find(containing("Chats with the model")).await?;
    assert!(!window.has(containing("Waters plants")).await);
    window.keys(&["Escape"]).await?;
    window.gone(containing("Chats with the model")).await?;
    // The menu asks again, and shows what is trusted.
    review_from_menu(&window).await?;
    window.find(named("Trust This Project?")).await?;
    window.click(containing("Use Them").role(Role::Button)).await?;
    window.gone(named("Trust This Project?")).await?;
    until("the project to be trusted", || async {
        review_from_menu(&window).await?;
        let is_trusted = window.has(named("You Trust This Project")).await;
        window.keys(&["Escape"]).await?;
        window.gone(named("Agent gardener – all tools")).await?;
        Ok(is_trusted.then_some(()))
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn the_text_of_what_is_to_be_trusted_can_be_read() -> Result<()> {
    let stage = Stage::new().await?;
    let own = stage.folders().config.join("agents");
    std::fs::create_dir_all(&own)?;
    std::fs::write(own.join("gardener.md"), "Mine.")?;
    let skill = "---\nname: water\ndescription: Waters\n---\nWater them.";
    let files = [
        (".natter/agents/gardener.md", GARDENER),
        (".agents/skills/water/SKILL.md", skill),
        (".agents/skills/water/run.sh", "echo"),
    ];
    let window = with_chat(&stage, &files).await?;
    window.find(named("Review…").role(Role::Button)).await?.click_with_mouse().await?;
    window.find(named("Agent gardener – all tools")).await?;
    window.find(named("New file: run.sh")).await?;
    window.find(named("New, replaces your own agent of this name")).await?;
    window.find(named("Show text of gardener")).await?.click_with_mouse().await?;
    let text = window.find(named("Text of gardener").role(Role::Text)).await?.text().await?;
    assert_eq!(text, GARDENER);
    window.close().await
}

#[tokio::test]
async fn a_broken_file_is_named_until_the_line_is_closed() -> Result<()> {
    let stage = Stage::new().await?;
    let file = "---\nmode: maybe\n---\nHm.\n";
    let window = with_chat(&stage, &[(".natter/agents/other.md", file)]).await?;
    let line = || containing("“maybe” isn’t a valid value of “mode”.");
    window.find(line()).await?;
    window.find(named("Close file notice")).await?.click_with_mouse().await?;
    window.gone(line()).await?;
    window.type_text("Apples").await?;
    window.holds("Apples").await?;
    window.close().await
}

#[tokio::test]
async fn all_problems_are_listed_and_the_question_names_those_of_an_agent() -> Result<()> {
    let stage = Stage::new().await?;
    let warned = "---\nhooks: x\n---\nHelp.\n";
    let files = [
        (".natter/agents/helper.md", warned),
        (".natter/agents/other.md", "---\nmode: maybe\n---\nHm.\n"),
    ];
    let window = with_chat(&stage, &files).await?;
    window.find(containing("And 1 more problem.")).await?;
    window.find(named("Show all problems").role(Role::Button)).await?.click_with_mouse().await?;
    window.find(named("Problems in Files")).await?;
    window.find(containing("helper.md, line 2: “hooks” is unknown and ignored.")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Problems in Files")).await?;
    window.find(named("Review…").role(Role::Button)).await?.click_with_mouse().await?;
    window.find(named("Line 2: “hooks” is unknown and ignored.")).await?;
    window.close().await
}

#[tokio::test]
async fn trust_is_taken_back_in_the_preferences() -> Result<()> {
    let stage = Stage::new().await?;
    let window = with_chat(&stage, &[(".natter/agents/gardener.md", GARDENER)]).await?;
    window.find(named("Review…").role(Role::Button)).await?.click_with_mouse().await?;
    window.click(containing("Use Them").role(Role::Button)).await?;
    window.gone(question()).await?;
    allowances::page(&window, "Permissions", named("Trusted Projects")).await?;
    let stop = window.find(containing("Stop trusting").role(Role::Button)).await?;
    assert!(stop.name().ends_with("/garden"), "{}", stop.name());
    stop.bring_into_sight().await?;
    stop.click_with_mouse().await?;
    window.find(named("No trusted projects yet")).await?;
    // It can be undone.
    window.find(named("Undo")).await?.click_with_mouse().await?;
    let stop = window.find(containing("Stop trusting").role(Role::Button)).await?;
    window.gone(named("No trusted projects yet")).await?;
    stop.bring_into_sight().await?;
    stop.click_with_mouse().await?;
    window.find(named("No trusted projects yet")).await?;
    window.keys(&["Escape"]).await?;
    window.find(question()).await?;
    window.close().await
}
