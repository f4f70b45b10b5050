//! Tests the preferences about tools and permissions.

use anyhow::{Context, Result};
use chat_core::permission::SecretFiles;
use chat_core::settings::{Settings, SettingsFile};
use chat_testkit::ui::{By, Role, State, Wheel, Widget, containing, named, role, until};

use crate::stage::{Stage, Window};

/// Opens a page of the preferences, which holds this.
pub async fn page(window: &Window, name: &str, holds: By) -> Result<()> {
    window.keys(&["ctrl+comma"]).await?;
    window.find(named("Preferences").role(Role::Frame)).await?;
    // The switcher has each page twice: the one below is for windows as narrow as this one.
    let mut lowest = None;
    for tab in window.all(named(name).role(Role::PageTab)).await {
        let (_, y, ..) = tab.place().await?;
        if lowest.as_ref().is_none_or(|(lower, _)| y > *lower) {
            lowest = Some((y, tab));
        }
    }
    lowest.context("there is no such page")?.1.click_with_mouse().await?;
    window.find(holds).await.map(drop)
}

/// Waits until the stored settings are like this.
async fn kept(stage: &Stage, what: &str, is_so: impl Fn(&Settings) -> bool) -> Result<()> {
    until(what, || async {
        let (_, settings, _) = SettingsFile::load(&stage.folders());
        Ok(is_so(&settings).then_some(()))
    })
    .await
}

#[tokio::test]
async fn tools_are_listed_by_what_they_have_to_do_with() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    page(&window, "Tools", named("Run Commands")).await?;
    let listed = [
        "Files",
        "Read Files",
        "Commands",
        "Run Commands",
        "Web",
        "Search the Web",
        "Planning",
        "Ask Questions",
    ];
    let labels = window.all(role(Role::Label).under("Preferences")).await;
    let names = labels.iter().map(Widget::name);
    let found: Vec<_> = names.filter(|name| listed.contains(name)).collect();
    assert_eq!(found, listed);
    window.close().await
}

#[tokio::test]
async fn the_wheel_over_a_number_scrolls_the_page_and_leaves_the_number() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    page(&window, "Tools", named("Run Commands")).await?;
    let number = window.find(containing("Command time limit").role(Role::SpinButton)).await?;
    number.bring_into_sight().await?;
    let (before, (_, top, ..)) = (number.text().await?, number.place().await?);
    number.wheel(Wheel::Down, 1, (8, 8)).await?;
    until("the page to scroll", || async { Ok((number.place().await?.1 < top).then_some(())) })
        .await?;
    assert_eq!(number.text().await?, before);
    window.close().await
}

#[tokio::test]
async fn a_search_of_the_web_is_switched_on_only_with_a_provider() -> Result<()> {
    let stage = Stage::new().await?;
    let config = stage.folders().config.join("config.toml");
    let window = stage.ready().await?;
    page(&window, "Tools", named("Run Commands")).await?;
    let switch = named("Search the Web").role(Role::CheckBox);
    let shown = window.find(switch.clone()).await?;
    assert!(!shown.is(State::Checked) && !shown.is_sensitive(), "{shown:?}");
    assert!(window.find(named("Fetch Web Pages").role(Role::CheckBox)).await?.is_sensitive());

    let before = std::fs::read_to_string(&config)?;
    let search = "[tools.search]\nprovider = \"searxng\"\nurl = \"http://127.0.0.1:1\"\n";
    std::fs::write(&config, format!("{before}\n{search}"))?;
    let on = window.find(switch.state(State::Checked)).await?;
    assert!(on.is_sensitive(), "{on:?}");
    assert!(SettingsFile::load(&stage.folders()).1.tools.off.is_empty());
    window.close().await
}

#[tokio::test]
async fn a_tool_that_is_switched_off_is_offered_no_more() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    page(&window, "Tools", named("Run Commands")).await?;
    let switch = window.find(named("Ask Questions").role(Role::CheckBox)).await?;
    switch.click_with_mouse().await?;
    kept(&stage, "ask_user to be off", |settings| {
        settings.tools.off.contains("ask_user") && settings.tools.off.len() == 1
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn a_tool_is_switched_off_for_one_agent_alone() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    page(&window, "Tools", named("Run Commands")).await?;
    window.find(named("Ask Questions").role(Role::Label)).await?.click_with_mouse().await?;
    window.find(named("Code Assistant").role(Role::Label)).await?.click_with_mouse().await?;
    kept(&stage, "ask_user to be off for one agent", |settings| {
        let of = |agent: &str| settings.tools.is_on(agent, "ask_user");
        settings.tools.off.is_empty() && !of("code-assistant") && of("just-ask")
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn what_cannot_be_kept_is_not_shown_and_what_others_change_is() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    page(&window, "Tools", named("Run Commands")).await?;
    let switch = named("Ask Questions").role(Role::CheckBox);
    let switched_on = switch.clone().state(State::Checked);
    window.find(switched_on.clone()).await?;
    let config = stage.folders().config.join("config.toml");
    let before = std::fs::read_to_string(&config)?;
    std::fs::write(&config, "[tools\n")?;
    window.find(switch).await?.click_with_mouse().await?;
    window.find(containing("config.toml")).await?;
    window.find(switched_on.clone()).await?;
    std::fs::write(&config, format!("{before}\n[tools]\noff = [\"ask_user\"]\n"))?;
    window.gone(switched_on).await?;
    window.close().await
}

#[tokio::test]
async fn remembered_answers_are_written_to_a_file() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure_more(
        "[[permissions.rules]]\nrule = \"run:cargo test *\"\neffect = \"allow\"\n",
    )?;
    let file = stage.desktop.folder().canonicalize()?.join("rules.toml");
    let window = stage.ready().await?;
    page(&window, "Permissions", named("Permission Rules")).await?;
    window.click(containing("Export…").role(Role::Button)).await?;
    window.find(named("Export Rules").role(Role::Filler)).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text(&file.display().to_string()).await?;
    window.keys(&["Return"]).await?;
    window.find(containing("Saved to")).await?;
    let written = std::fs::read_to_string(&file)?;
    assert!(written.contains("run:cargo test *"), "{written}");
    window.close().await
}

#[tokio::test]
async fn a_remembered_answer_is_forgotten_and_taken_back() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure_more(
        "[[permissions.rules]]\nrule = \"run:cargo test *\"\neffect = \"allow\"\n\
         project = \"/home/ada/natter\"\n\n\
         [[permissions.rules]]\nrule = \"network:*.example.org\"\neffect = \"deny\"\n",
    )?;
    let rules = |settings: &Settings| settings.permissions.rules.len();
    let window = stage.ready().await?;
    page(&window, "Permissions", named("Permission Rules")).await?;
    window.find(named("run:cargo test *")).await?;
    window.find(named("Allowed in /home/ada/natter")).await?;
    window.find(named("Denied everywhere")).await?;
    window.click(named("Remove this rule")).await?;
    window.gone(named("run:cargo test *")).await?;
    kept(&stage, "one rule", |settings| rules(settings) == 1).await?;
    window.click(named("Undo")).await?;
    window.find(named("run:cargo test *")).await?;
    kept(&stage, "both rules, in their order", |settings| {
        let first = settings.permissions.rules.first();
        rules(settings) == 2 && first.is_some_and(|it| it.rule.to_string() == "run:cargo test *")
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn the_mode_of_new_chats_is_that_of_the_preferences() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure_more("[permissions]\nmode = \"plan\"\n")?;
    let folder = stage.desktop.folder().join("home");
    let window = stage.launch(crate::stage::program().arg("--project").arg(folder)).await?;
    window.find(named("Plan")).await?;
    window.close().await
}

#[tokio::test]
async fn the_list_of_secret_files_is_edited() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure_more("[permissions]\nsecrets = [\"only.key\", \"!other.key\"]\n")?;
    let window = stage.ready().await?;
    page(&window, "Permissions", named("Secret Files")).await?;
    window.find(named("2 patterns")).await?;
    window.find(named("File Names").role(Role::Label)).await?.click_with_mouse().await?;
    window.find(named("Not a secret")).await?;
    window.find(named("Remove").under("only.key")).await?.click_with_mouse().await?;
    let are = |wanted: &'static [&'static str]| {
        move |settings: &Settings| settings.permissions.secrets.patterns() == wanted
    };
    kept(&stage, "one pattern to be removed", are(&["!other.key"])).await?;
    window.find(named("1 pattern")).await?;
    window.find(named("Reset")).await?.click_with_mouse().await?;
    kept(&stage, "the usual list", |settings| {
        settings.permissions.secrets == SecretFiles::default()
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn a_rule_is_written_and_changed_by_hand() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    let rules = |settings: &Settings| -> Vec<String> {
        let rules = settings.permissions.rules.iter();
        rules.map(|known| format!("{:?} {}", known.effect, known.rule)).collect()
    };
    page(&window, "Permissions", named("Permission Rules")).await?;
    window.click(containing("Add Rule…").role(Role::Button)).await?;
    window.find(named("Applies to")).await?;
    window.find(named("Rule").role(Role::Text)).await?.click_with_mouse().await?;
    window.type_text("run:cargo te*").await?;
    window.find(containing("doesn’t stand alone at the end")).await?;
    window.keys(&["BackSpace"]).await?;
    window.type_text("st *").await?;
    window.gone(containing("doesn’t stand alone at the end")).await?;
    window.click(containing("Save").role(Role::Button)).await?;
    window.find(named("run:cargo test *")).await?;
    kept(&stage, "the rule", |settings| rules(settings) == ["Allow run:cargo test *"]).await?;

    window.click(named("Edit this rule")).await?;
    window.find(named("Applies to")).await?;
    window.find(named("Rule").role(Role::Text)).await?.click_with_mouse().await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("run:cargo *").await?;
    window.click(containing("Save").role(Role::Button)).await?;
    window.find(named("run:cargo *")).await?;
    kept(&stage, "the other rule", |settings| rules(settings) == ["Allow run:cargo *"]).await?;
    window.close().await
}

#[tokio::test]
async fn the_limits_of_agents_are_set_in_the_preferences() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    page(&window, "Tools", named("Run Commands")).await?;
    let levels = containing("Levels of agents").role(Role::SpinButton);
    let levels = window.find(levels).await?;
    levels.bring_into_sight().await?;
    levels.click_with_mouse().await?;
    window.keys(&["Up"]).await?;
    let wakes = containing("Continue when an agent is done").role(Role::CheckBox);
    let wakes = window.find(wakes).await?;
    wakes.bring_into_sight().await?;
    wakes.click_with_mouse().await?;
    kept(&stage, "the limits", |settings| {
        settings.agents.depth == 2 && !settings.agents.wake && settings.agents.at_once == 4
    })
    .await?;
    window.close().await
}
