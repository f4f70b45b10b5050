//! What it costs to look at a large change in the real window.

use std::fmt::Write as _;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use chat_testkit::server::{Script, Server};
use chat_testkit::ui::Desktop;
use serde_json::json;

use super::Plan;
use super::process::{cpu, diagnostics, settle, terminate};
use super::report::{Goal, Row};
use super::seed;

/// Lines of the file, each of which is changed.
const LINES: usize = 5_000;

/// From the key that opens the changes until they are painted, and all that the window does until it is at rest
/// again.
pub async fn review(plan: &Plan) -> Result<Vec<Row>> {
    let what = format!("a change of {LINES} lines, from the key until it is painted");
    let mut opened = Row::new(what, "ms", Goal::AtMost(200.0));
    // The cursor of a text blinks for ten seconds after each key.
    let mut rested = Row::new("the same, until the window rests", "ms CPU", Goal::Above(200.0))
        .against("a key that shows nothing");
    for _ in 0..plan.rounds.div_ceil(3) {
        let (painted, used, floor) = look(plan).await?;
        opened.natter.push(painted);
        rested.natter.push(used);
        rested.floor.push(floor);
    }
    Ok(vec![opened, rested])
}

/// Both for one window and the floor of the second, in milliseconds.
async fn look(plan: &Plan) -> Result<(f64, f64, f64)> {
    let (server, desktop) = (Server::start(), Desktop::start().await?);
    seed::configure(&desktop, &server.url())?;
    seed::unattended(&desktop)?;
    let project = desktop.folder().join("project");
    std::fs::create_dir_all(&project)?;
    let mut old = String::new();
    for line in 0..LINES {
        writeln!(old, "    let value_{line} = compute(input, {line});")?;
    }
    std::fs::write(project.join("large.rs"), &old)?;
    let command = "sed -i 's/compute(input/compute_all(input/' large.rs";
    server.push(Script::new().tool_call("c1", "run_command", json!({ "command": command })));
    server.push(Script::new().text("It is changed."));
    let file = desktop.folder().join("diagnostics.json");
    let launch = plan.natter().arg("--project").arg(&project).env("NATTER_DIAGNOSTICS", &file);
    let began = Instant::now();
    let mut child = desktop.spawn(&launch)?;
    settle(&mut child)?;
    desktop.input().type_text("Change it").await?;
    desktop.input().keys(&["Return"]).await?;
    settle(&mut child)?;
    let new = std::fs::read_to_string(project.join("large.rs"))?;
    ensure!(new != old && new.lines().count() == LINES, "the command did not change it");
    let mut used = Vec::new();
    let mut pressed = 0.0;
    for key in ["ctrl+l", "ctrl+shift+r"] {
        let before = cpu(&child)?;
        pressed = began.elapsed().as_secs_f64() * 1e3;
        desktop.input().keys(&[key]).await?;
        settle(&mut child)?;
        used.push(cpu(&child)?.saturating_sub(before).as_secs_f64() * 1e3);
    }
    terminate(&mut child)?;
    let told = diagnostics(&file)?;
    let painted = told["times_ms"]["changes"].as_f64().context("the changes were never painted")?;
    Ok((painted - pressed, used[1], used[0]))
}
