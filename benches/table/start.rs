//! How fast the window is there, and how much memory it takes.

use std::path::Path;

use anyhow::{Context, Result};
use chat_core::message::Fid;
use chat_testkit::server::Server;
use chat_testkit::ui::{Desktop, Launch};

use super::Plan;
use super::process::{diagnostics, memory, settle, terminate};
use super::report::{Goal, Row};
use super::seed;

/// With as many stored chats as a person has after years.
const CHATS: usize = 5000;

/// First frame and memory of the window, against a window with nothing in it.
pub async fn window(plan: &Plan) -> Result<Vec<Row>> {
    let floor_is = "an empty window";
    let mut first = Row::new("first frame with 5,000 stored chats", "ms", Goal::Times(1.5));
    let mut idle = Row::new("memory of that window, idle", "MiB", Goal::Times(1.35));
    let server = Server::start();
    let desktop = Desktop::start().await?;
    seed::configure(&desktop, &server.url())?;
    seed::chats(&desktop, CHATS).await?;
    // The first start of each fills caches of fonts and icons.
    run(&desktop, &plan.natter(), FIRST)?;
    run(&desktop, &plan.empty_window(), FIRST)?;
    for _ in 0..plan.rounds {
        let floor = run(&desktop, &plan.empty_window(), FIRST)?;
        let natter = run(&desktop, &plan.natter(), FIRST)?;
        first.floor.push(floor.at);
        first.natter.push(natter.at);
        idle.floor.push(floor.memory);
        idle.natter.push(natter.memory);
    }
    Ok(vec![first.against(floor_is), idle.against(floor_is)])
}

/// Opening a long chat, against a short one.
pub async fn stored_chat(plan: &Plan) -> Result<Vec<Row>> {
    let mut row = Row::new("open a stored chat of 10,000 messages", "ms", Goal::Times(2.0))
        .against("a chat of 50");
    let server = Server::start();
    let desktop = Desktop::start().await?;
    seed::configure(&desktop, &server.url())?;
    let short = seed::long_chat(&desktop, 50).await?;
    let long = seed::long_chat(&desktop, 10_000).await?;
    let open = |fid: &Fid| plan.natter().arg("--session").arg(fid.as_str());
    run(&desktop, &open(&short), READY)?;
    for _ in 0..plan.rounds {
        row.floor.push(run(&desktop, &open(&short), READY)?.at);
        row.natter.push(run(&desktop, &open(&long), READY)?.at);
    }
    Ok(vec![row])
}

/// What a program calls its first frame.
pub const FIRST: &str = "first_frame";
/// What it calls the moment when all that was asked for is shown.
const READY: &str = "ready";

pub struct Started {
    /// When the mark was reached, in ms from exec.
    pub at: f64,
    /// Resident memory at rest, in MiB.
    pub memory: f64,
}

/// Starts a program, waits until it rests, and ends it.
pub fn run(desktop: &Desktop, launch: &Launch, mark: &str) -> Result<Started> {
    let file = desktop.folder().join("diagnostics.json");
    forget(&file)?;
    let mut child = desktop.spawn(&launch.clone().env("NATTER_DIAGNOSTICS", &file))?;
    settle(&mut child)?;
    let memory = memory(&child)?;
    terminate(&mut child)?;
    let report = diagnostics(&file)?;
    let at = report["times_ms"][mark].as_f64().with_context(|| format!("no {mark} in {report}"))?;
    Ok(Started { at, memory })
}

fn forget(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
