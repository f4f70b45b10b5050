//! Tests reading a reply: formulas, verses and tables.

use anyhow::Result;
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, containing, named, role, until};

use crate::stage::Stage;

const VERSE: &str = "Roses are red,\nviolets are blue.\n\nH<sub>2</sub>O and <kbd>Ctrl</kbd>.\n\n\\[\nx_1 = \
                     a \\\\\n+ b\n\\]\n\nwith \\(a_1\\), for $5 and $6.\n";

#[tokio::test]
async fn verses_stay_verses_and_formulas_are_drawn_where_they_stand() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.when("verse", Script::new().text(VERSE));
    let window = stage.ready().await?;
    window.say("a verse").await?;
    window.shows("Roses are red,\u{2028}violets are blue.").await?;
    window.shows("H2O and Ctrl.").await?;
    window.find(named("x sub 1 = a + b").role(Role::Image)).await?;
    window.find(named("a sub 1").role(Role::Image)).await?;
    window.shows(", for $5 and $6.").await?;
    window.close().await
}

#[tokio::test]
async fn a_table_is_one_for_screen_readers_and_its_cells_wrap() -> Result<()> {
    let stage = Stage::new().await?;
    let long = "some words that take more than one line in a narrow window ".repeat(2);
    let table = format!("| Name | Meaning |\n|---|---|\n| first | {long} |\n| second | {long} |\n");
    stage.server.when("table", Script::new().text(&table));
    let window = stage.ready().await?;
    window.say("a table").await?;
    window.find(role(Role::Table).under("Conversation")).await?;
    assert_eq!(window.all(role(Role::TableRow).under("Table")).await.len(), 3);
    let head = window.find(named("Meaning").role(Role::TableCell).under("Table")).await?;
    window.find(named("first").role(Role::TableCell)).await?;
    window.resize(520, 700).await?;
    let cell = containing("some words").role(Role::TableCell);
    until("cells that wrap in the narrow window", || async {
        let Some(cell) = window.all(cell.clone()).await.into_iter().next() else { return Ok(None) };
        let (x, _, width, height) = cell.place().await?;
        let line = head.place().await?.3;
        Ok((x + width <= 520 && height * 2 >= line * 3).then_some(()))
    })
    .await?;
    window.close().await
}
