//! What sessions at work cost the window that shows one of them, and what it takes to switch between them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use chat_core::message::Role;
use chat_core::store::Store;
use chat_testkit::server::{End, Gate, Script, Server, text};
use chat_testkit::ui::Desktop;
use serde_json::Value;

use super::process::{cpu, diagnostics, main_thread_cpu, settle, terminate};
use super::report::{Goal, Row};
use super::{Plan, loaded, seed};

/// How many sessions stream. The last one is shown.
const SESSIONS: usize = 50;
/// The chunks of each reply, how many come in a second, and the bytes of all.
const CHUNKS: usize = 1_000;
const RATE: f64 = 100.0;
const BYTES: usize = 30_000;
/// How often the user switches while they stream, and how long they look at each.
const SWITCHES: usize = 8;
const LOOK: Duration = Duration::from_millis(600);
/// Until the last chunks are painted and in the journal.
const REST: Duration = Duration::from_millis(600);

/// All rows.
pub async fn agents(plan: &Plan) -> Result<Vec<Row>> {
    let mut thread = Row::new(
        format!("{SESSIONS} sessions streaming, one of them shown: the window's thread"),
        "ms CPU",
        Goal::Times(1.5),
    )
    .against("that one alone");
    let mut all =
        Row::new("the same, all threads", "ms CPU", Goal::Times(1.5)).against("that one alone");
    let mut stall = Row::new("the longest turn of its main loop", "ms CPU", Goal::AtMost(16.0))
        .against("that one alone");
    let mut switch =
        Row::new("switching to a session that streams, as 49 others do", "ms", Goal::AtMost(50.0));
    for _ in 0..plan.rounds.div_ceil(3) {
        let alone = streaming(plan, 1).await?;
        let many = streaming(plan, SESSIONS).await?;
        for (row, alone, many) in [
            (&mut thread, alone.thread, many.thread),
            (&mut all, alone.all, many.all),
            (&mut stall, alone.stall, many.stall),
        ] {
            row.floor.push(alone);
            row.natter.push(many);
        }
        switch.natter.extend(switching(plan).await?);
    }
    Ok(vec![stall, thread, all, switch, loaded::sessions(plan).await?])
}

/// What it costs while the replies arrive, in milliseconds of CPU time.
struct Cost {
    thread: f64,
    all: f64,
    /// The longest turn of the main loop from the first chunk to the end of the last reply.
    stall: f64,
}

/// A window whose sessions have all asked, and none of which was answered yet.
struct AskedWindow {
    server: Server,
    desktop: Desktop,
    child: Child,
    started: Instant,
    diagnostics: PathBuf,
    begin: Gate,
    /// What each reply waits for behind its last chunk.
    ends: Vec<Gate>,
}

impl AskedWindow {
    async fn start(plan: &Plan, sessions: usize) -> Result<Self> {
        let server = Server::start();
        // The first code block of a window costs more than others, whoever else writes.
        server.push(Script::new().flat_out(text::pieces(&text::markdown(2_000, 2), 50)));
        let begin = Gate::new();
        let ends: Vec<Gate> = (0..sessions).map(|_| Gate::new()).collect();
        for (number, end) in ends.iter().enumerate() {
            let reply = format!("Report {number}.\n\n{}", text::markdown(BYTES, 0));
            let pieces = text::pieces(&reply, CHUNKS);
            server.push(Script::new().gate_first(&begin).paced(pieces, RATE).gate(end));
        }
        let desktop = Desktop::start().await?;
        seed::configure(&desktop, &server.url())?;
        seed::answer_at_once(&desktop, SESSIONS)?;
        let diagnostics = desktop.folder().join("diagnostics.json");
        let started = Instant::now();
        let mut child = desktop.spawn(&plan.natter().env("NATTER_DIAGNOSTICS", &diagnostics))?;
        settle(&mut child)?;
        for number in 0..=sessions {
            if number > 0 {
                desktop.input().keys(&["ctrl+n"]).await?;
            }
            desktop.input().type_text(&format!("Task {number}")).await?;
            desktop.input().keys(&["Return"]).await?;
            server.wait_for_chats(number + 1).await;
            if number == 0 {
                server.wait_for_end(0).await;
                settle(&mut child)?;
            }
        }
        settle(&mut child)?;
        Ok(Self { server, desktop, child, started, diagnostics, begin, ends })
    }

    /// The time as the program's own measurements have it, in milliseconds.
    fn now(&self) -> f64 {
        self.started.elapsed().as_secs_f64() * 1e3
    }

    /// Waits until all chunks were sent and taken.
    async fn streamed(&self) {
        for end in &self.ends {
            end.reached().await;
        }
        tokio::time::sleep(REST).await;
    }

    /// Ends the replies one after the other, the shown one last, and the window. What it measured itself.
    async fn end(mut self) -> Result<Value> {
        for (number, end) in self.ends.iter().enumerate() {
            end.open();
            self.server.wait_for_end(number + 1).await;
        }
        settle(&mut self.child)?;
        terminate(&mut self.child)?;
        must_be_stored(&self.desktop, &self.server).await?;
        diagnostics(&self.diagnostics)
    }
}

/// Has so many sessions stream, the last of which is shown.
async fn streaming(plan: &Plan, sessions: usize) -> Result<Cost> {
    let window = AskedWindow::start(plan, sessions).await?;
    let before = (main_thread_cpu(&window.child)?, cpu(&window.child)?);
    let from = window.now();
    window.begin.open();
    window.streamed().await;
    let after = (main_thread_cpu(&window.child)?, cpu(&window.child)?);
    let used = |before, after: Duration| after.saturating_sub(before).as_secs_f64() * 1e3;
    let (thread, all) = (used(before.0, after.0), used(before.1, after.1));
    let told = window.end().await?;
    // Its list of the worst does not hold those of the window's start.
    let shown = told["replies"].as_array().and_then(|replies| replies.last());
    let worst = shown.and_then(|reply| reply["stalls"]["cpu"]["worst"].as_array());
    let worst = worst.context("no turns were counted")?;
    let within = worst.iter().filter(|turn| turn["at_ms"].as_f64().is_some_and(|at| at >= from));
    let stall = within.filter_map(|turn| turn["ms"].as_f64()).reduce(f64::max);
    let stall = stall.context("no turn was long enough to be known")?;
    Ok(Cost { thread, all, stall })
}

/// How long each switch takes while all sessions stream, from when the window learns of it until the chat is
/// painted.
async fn switching(plan: &Plan) -> Result<Vec<f64>> {
    let window = AskedWindow::start(plan, SESSIONS).await?;
    let from = window.now();
    window.begin.open();
    for _ in 0..SWITCHES {
        tokio::time::sleep(LOOK).await;
        window.desktop.input().keys(&["alt+Down"]).await?;
    }
    window.streamed().await;
    let told = window.end().await?;
    let mut took = Vec::new();
    for switch in told["switches"].as_array().context("no switches were measured")? {
        let began = switch["began_ms"].as_f64().context("a switch without a time")?;
        // Each new chat is switched to, too.
        if began >= from {
            let painted = switch["painted_ms"].as_f64().context("a chat was never painted")?;
            took.push(painted - began);
        }
    }
    ensure!(took.len() == SWITCHES, "there were {} switches", took.len());
    Ok(took)
}

/// Checks that the answer to each question is stored as the server sent it.
async fn must_be_stored(desktop: &Desktop, server: &Server) -> Result<()> {
    let store = Store::open(&seed::folders(desktop))?.store;
    let mut stored = BTreeMap::new();
    for session in store.sessions().await? {
        let page = store.page(&session.fid, None, usize::MAX).await?;
        let said = |role| page.messages.iter().find(|message| message.role == role);
        if let (Some(asked), Some(answer)) = (said(Role::User), said(Role::Assistant)) {
            stored.insert(asked.plain_text(), answer.plain_text());
        }
    }
    for chat in server.chats() {
        let question = chat.texts_of("user").pop().context("a request without a question")?;
        let sent = chat.sent();
        ensure!(sent.end == End::Complete, "the answer to {question} ended as {:?}", sent.end);
        let answer = stored.remove(&question).unwrap_or_default();
        ensure!(answer == sent.text, "{question}: {} bytes of {}", answer.len(), sent.text.len());
    }
    ensure!(stored.is_empty(), "more is stored than was sent: {stored:?}");
    Ok(())
}
