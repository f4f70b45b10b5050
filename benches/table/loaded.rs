//! How much memory sessions take that are loaded and have nothing to do.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::Stdio;

use anyhow::{Context, Result, bail, ensure};
use chat_core::agent::AgentRegistry;
use chat_core::event::{Event, Subscription};
use chat_core::manager::{Manager, StartOptions};
use chat_core::message::{ChatRequest, Content, Fid, ModelRef};
use chat_core::settings::Folders;
use chat_testkit::server::{Script, Server, text};
use chat_testkit::ui::Desktop;

use super::Plan;
use super::process::{memory, settle};
use super::report::{Goal, Row};
use super::seed;

/// Has this program hold so many sessions instead of measuring.
pub const HOLD: &str = "--hold-sessions";

/// How many sessions are stored, and at most loaded.
const SESSIONS: usize = 500;
/// How many messages each has.
const MESSAGES: usize = 20;
/// What is said when they are loaded.
const HELD: &str = "held";

/// The memory of an engine that holds many idle sessions, against the same engine with one.
pub async fn sessions(plan: &Plan) -> Result<Row> {
    let what = format!("{SESSIONS} idle sessions that are loaded");
    let mut row = Row::new(what, "MB", Goal::Above(50.0)).against("the same program with one");
    for _ in 0..plan.rounds.div_ceil(3) {
        row.floor.push(holding(plan, 1).await?);
        row.natter.push(holding(plan, SESSIONS).await?);
    }
    Ok(row)
}

/// The memory of a program that holds so many of the stored sessions, in MB.
async fn holding(plan: &Plan, count: usize) -> Result<f64> {
    let (server, desktop) = (Server::start(), Desktop::start().await?);
    server.always(Script::new().text(&text::markdown(600, 1)));
    seed::configure(&desktop, &server.url())?;
    seed::long_chats(&desktop, SESSIONS, MESSAGES).await?;
    let mut command = desktop.command(plan.program("examples/bench-table"));
    command.arg(HOLD).arg(count.to_string());
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut said = String::new();
    BufReader::new(child.stdout.take().context("no output")?).read_line(&mut said)?;
    ensure!(said.trim() == HELD, "the sessions could not be loaded");
    settle(&mut child)?;
    let taken = memory(&child)? * 1024.0 * 1024.0 / 1e6;
    drop(child.stdin.take());
    ensure!(child.wait()?.success(), "the program that held them failed");
    ensure!(server.chats().len() == count, "not each of them got a reply");
    Ok(taken)
}

/// Opens so many sessions and watches them. Each answers once, so that its messages are loaded. Holds
/// them until standard input ends.
pub async fn hold(count: usize) -> Result<()> {
    let options = StartOptions {
        agents: AgentRegistry::built_in(),
        tools: chat_tools::all().into_iter().collect(),
        services: chat_tools::services(),
        ..StartOptions::new(Folders::from_env().context("there is no home")?)
    };
    let manager = Manager::start(options).await?;
    let mut subscription = manager.subscribe();
    for session in manager.sessions().list().await?.into_iter().take(count) {
        let fid = session.meta.fid;
        manager.sessions().open(&fid, MESSAGES, &subscription).await?;
        let request = ChatRequest {
            session: Some(fid.clone()),
            model: Some(ModelRef::new("bench", "scripted")),
            content: Content::text("Is there anything else?"),
            ..ChatRequest::default()
        };
        manager.send(request).await?;
        finished(&mut subscription, &fid).await?;
    }
    let mut out = std::io::stdout();
    writeln!(out, "{HELD}")?;
    out.flush()?;
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    manager.shutdown().await;
    Ok(())
}

/// Waits until a session has answered.
async fn finished(subscription: &mut Subscription, of: &Fid) -> Result<()> {
    while let Some(events) = subscription.next().await {
        for event in events {
            match event {
                Event::RequestFinished { fid, error: None, .. } if fid == *of => return Ok(()),
                Event::RequestFinished { error: Some(error), .. } => return Err(error.into()),
                _ => {}
            }
        }
    }
    bail!("the engine ended")
}
