//! What it takes to switch between the branches of a stored chat in the real window.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use chat_testkit::server::Server;
use chat_testkit::ui::Desktop;

use super::Plan;
use super::process::{diagnostics, settle, terminate};
use super::report::{Goal, Row};
use super::seed;

/// Messages of the chat.
const MESSAGES: usize = 1_000;
/// How many of them belong to a long branch.
const BRANCH: usize = 21;
/// How often the user switches between the last replies.
const SWITCHES: usize = 8;

/// Switching between two replies at the end of a chat, and to another branch further up.
pub async fn branches(plan: &Plan) -> Result<Vec<Row>> {
    let row = |what: String| Row::new(what, "ms", Goal::AtMost(50.0));
    let mut reply =
        row(format!("another last reply in a stored chat of {MESSAGES} messages, until painted"));
    let mut branch = row(format!("the same, another branch of {BRANCH} messages"));
    for _ in 0..plan.rounds.div_ceil(3) {
        reply.natter.extend(switching(plan, 1, SWITCHES).await?);
        branch.natter.extend(switching(plan, BRANCH, 1).await?);
    }
    Ok(vec![reply, branch])
}

/// How long each switch takes between branches of so many messages, from the request until the rows are painted, in
/// milliseconds.
async fn switching(plan: &Plan, branch: usize, switches: usize) -> Result<Vec<f64>> {
    let (server, desktop) = (Server::start(), Desktop::start().await?);
    seed::configure(&desktop, &server.url())?;
    let fid = seed::branched_chat(&desktop, MESSAGES, branch).await?;
    let file = desktop.folder().join("diagnostics.json");
    let launch = plan.natter().arg("--session").arg(fid.as_str()).env("NATTER_DIAGNOSTICS", &file);
    let began = Instant::now();
    let mut child = desktop.spawn(&launch)?;
    settle(&mut child)?;
    // The way to the arrows: from the message to write they are behind the button with more actions, and from the
    // question after the reply there are the buttons to edit that, and with more actions, in between.
    let questions = branch / 2;
    if questions > 0 {
        desktop.input().keys(&vec!["alt+Prior"; questions]).await?;
        settle(&mut child)?;
        desktop.input().keys(&["shift+Tab", "shift+Tab"]).await?;
    }
    desktop.input().keys(&["shift+Tab", "shift+Tab"]).await?;
    settle(&mut child)?;
    let from = began.elapsed().as_secs_f64() * 1e3;
    for _ in 0..switches {
        // The keyboard goes with it to the arrow that leads back.
        desktop.input().keys(&["space"]).await?;
        settle(&mut child)?;
    }
    terminate(&mut child)?;
    let told = diagnostics(&file)?;
    let mut took = Vec::new();
    for switch in told["switches"].as_array().context("no switches were measured")? {
        let began = switch["began_ms"].as_f64().context("a switch without a time")?;
        if began >= from {
            let painted = switch["painted_ms"].as_f64().context("a branch was never painted")?;
            took.push(painted - began);
        }
    }
    ensure!(took.len() == switches, "there were {} switches", took.len());
    Ok(took)
}
