//! What the panel beside the conversation costs in the real window: opening a file, and a large project.

use std::path::Path;
use std::time::Instant;

use anyhow::{Result, ensure};
use chat_testkit::server::Server;
use chat_testkit::ui::Desktop;

use super::Plan;
use super::code::{MANY, fill};
use super::process::{diagnostics, longest_turn, memory, settle, terminate};
use super::report::{Goal, Row};
use super::seed;

/// Functions in the file that is opened: some 1,500 lines.
const FUNCTIONS: usize = 300;

/// All rows of the panel.
pub async fn editor(plan: &Plan) -> Result<Vec<Row>> {
    let turn = |what: &str| Row::new(what, "ms CPU", Goal::AtMost(16.0));
    let mut first = turn("the longest turn while the first file opens");
    let mut again = turn("the same, while another of its kind opens");
    let mut grown = Row::new(
        format!("a window with {MANY} files in its panel, grown"),
        "MB",
        Goal::AtMost(80.0),
    )
    .against("with one file");
    let many = tempfile::tempdir()?;
    fill(many.path(), MANY)?;
    let few = tempfile::tempdir()?;
    fill(few.path(), 1)?;
    for _ in 0..plan.rounds.div_ceil(3) {
        let (one, other) = opening(plan).await?;
        first.natter.push(one);
        again.natter.push(other);
        grown.floor.push(with_project(plan, few.path()).await?);
        grown.natter.push(with_project(plan, many.path()).await?);
    }
    let (natter, floor) = (&mut grown.natter, std::mem::take(&mut grown.floor));
    for (natter, floor) in natter.iter_mut().zip(floor) {
        *natter -= floor;
    }
    Ok(vec![first, again, grown])
}

/// The longest turn of the main loop while a file opens that was looked for, and while a second one does.
async fn opening(plan: &Plan) -> Result<(f64, f64)> {
    let (server, desktop) = (Server::start(), Desktop::start().await?);
    seed::configure(&desktop, &server.url())?;
    let project = desktop.folder().join("project");
    std::fs::create_dir_all(&project)?;
    for name in ["first.rs", "second.rs"] {
        std::fs::write(project.join(name), source())?;
    }
    let file = desktop.folder().join("diagnostics.json");
    let launch = plan.natter().arg("--project").arg(&project).env("NATTER_DIAGNOSTICS", &file);
    let began = Instant::now();
    let mut child = desktop.spawn(&launch)?;
    settle(&mut child)?;
    desktop.input().keys(&["F8"]).await?;
    settle(&mut child)?;
    let mut pressed = Vec::new();
    for name in ["first", "second"] {
        desktop.input().keys(&["ctrl+p"]).await?;
        desktop.input().type_text(name).await?;
        settle(&mut child)?;
        pressed.push(began.elapsed().as_secs_f64() * 1e3);
        desktop.input().keys(&["Return"]).await?;
        settle(&mut child)?;
    }
    pressed.push(f64::INFINITY);
    terminate(&mut child)?;
    let told = diagnostics(&file)?;
    let turn = |from, until| longest_turn(&told["stalls"], from..until);
    Ok((turn(pressed[0], pressed[1])?, turn(pressed[1], pressed[2])?))
}

/// The memory of a window that shows a project's files, in MB.
async fn with_project(plan: &Plan, project: &Path) -> Result<f64> {
    let (server, desktop) = (Server::start(), Desktop::start().await?);
    seed::configure(&desktop, &server.url())?;
    let mut child = desktop.spawn(&plan.natter().arg("--project").arg(project))?;
    settle(&mut child)?;
    desktop.input().keys(&["F8"]).await?;
    settle(&mut child)?;
    // The paths for searching are made when somebody searches.
    desktop.input().keys(&["ctrl+p"]).await?;
    desktop.input().type_text("file0").await?;
    settle(&mut child)?;
    let taken = memory(&child)? * 1024.0 * 1024.0 / 1e6;
    terminate(&mut child)?;
    ensure!(taken > 1.0, "the window was gone");
    Ok(taken)
}

/// A program as people write it.
fn source() -> String {
    let function = |at: usize| {
        format!(
            "/// Adds `{at}` to a number.\nfn add_{at}(number: u64) -> u64 {{\n    \
             let text = \"number {at}\";\n    number + {at} + text.len() as u64\n}}\n\n"
        )
    };
    (0..FUNCTIONS).map(function).collect()
}
