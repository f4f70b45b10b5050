//! What tools cost: a round of them, a search, the sandbox, and a command that prints without end.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use async_trait::async_trait;
use chat_core::message::{Question, Todo, ToolCallId};
use chat_core::permission::path::{PathEnvironment, Project};
use chat_core::permission::{Request, Why};
use chat_core::tool::{Changes, Denied, PermissionCheck, PermissionGrant, ToolContext, ToolHost};
use chat_sandbox::{Command, Keep, Preference, Sandbox, Spool};
use chat_testkit::server::{Script, Server, text};
use chat_testkit::ui::Desktop;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Plan;
use super::process::{cpu_of, diagnostics, memory, settle, settle_watched, terminate};
use super::report::{Goal, Row};
use super::seed;

/// How many rounds of a call each a request has where a round is measured: fewer than the limit after
/// which the person is asked.
const ROUNDS: usize = 20;

/// Files of the tree that is searched, and the bytes of each.
const FILES: usize = 2_000;
const FILE_BYTES: usize = 8_000;

/// What is looked for in it: in one file of twenty.
const PATTERN: &str = r"needle[0-9]+";

/// How many commands are started before any is measured, and how long what they begin beside them is
/// waited for: a copy of the system's settings.
const FIRST: usize = 5;
const BESIDE: Duration = Duration::from_secs(2);

/// How much a command prints that prints without end.
const MUCH: &str = "yes 0123456789012345678901234567890123456789 | head -c 1000000000";

/// All rows of tools.
pub async fn tools(plan: &Plan) -> Result<Vec<Row>> {
    let mut rows = vec![round(plan).await?, search(plan).await?, start(plan).await?];
    rows.extend(much(plan).await?);
    Ok(rows)
}

/// A round of model, `read_file` and model, in the terminal program.
async fn round(plan: &Plan) -> Result<Row> {
    let mut row = Row::new("a round of a call of read_file", "ms CPU", Goal::AtMost(5.0));
    let server = Server::start();
    let desktop = Desktop::start().await?;
    seed::configure(&desktop, &server.url())?;
    let project = desktop.folder().join("project");
    std::fs::create_dir_all(&project)?;
    std::fs::write(project.join("main.rs"), text::markdown(4_000, 1))?;
    let mut ask = desktop.command(plan.program("natter-cli"));
    ask.args(["ask", "--model", "bench/scripted", "--project"]).arg(&project).arg("Read it");
    for _ in 0..plan.rounds {
        server.push(Script::new().text("There is nothing to read."));
        let without = cpu_of(&ask)?;
        for at in 0..ROUNDS {
            // The same call again and again would be stopped.
            let call = json!({ "path": "main.rs", "from": at + 1, "to": at + 80 });
            server.push(Script::new().tool_call(&format!("c{at}"), "read_file", call));
        }
        server.push(Script::new().text("That was it."));
        let with = cpu_of(&ask)?;
        let more = with.saturating_sub(without);
        row.natter.push(more.as_secs_f64() * 1e3 / ROUNDS as f64);
    }
    Ok(row)
}

/// A search of a tree, against ripgrep's own program.
async fn search(plan: &Plan) -> Result<Row> {
    let what = format!("search_files in {FILES} files");
    let mut row = Row::new(what, "ms", Goal::Times(1.3)).against("rg");
    let folder = tempfile::tempdir()?;
    for at in 0..FILES {
        let below = folder.path().join(format!("part{}", at % 40));
        std::fs::create_dir_all(&below)?;
        let mut content = text::markdown(FILE_BYTES, at);
        if at % 20 == 0 {
            writeln!(content, "\nhere lies needle{at}")?;
        }
        std::fs::write(below.join(format!("file{at}.md")), content)?;
    }
    let tool = chat_tools::all().into_iter().find(|tool| tool.info().name() == "search_files");
    let tool = tool.context("there is no search_files")?;
    for round in 0..=plan.rounds {
        let began = Instant::now();
        let rg = Process::new("rg")
            .args(["--line-number", "--no-config", PATTERN])
            .arg(folder.path())
            .stdout(Stdio::piped())
            .output()?;
        let bare = began.elapsed();
        ensure!(rg.status.success(), "rg found nothing");
        let began = Instant::now();
        let found = tool.run(json!({ "pattern": PATTERN }), context(folder.path())?).await;
        let own = began.elapsed();
        let found = found.map_err(|failure| anyhow!("{}", failure.text))?;
        ensure!(found.text.contains("needle"), "nothing was found: {}", found.text);
        // The first reads what the disk has.
        if round > 0 {
            row.floor.push(bare.as_secs_f64() * 1e3);
            row.natter.push(own.as_secs_f64() * 1e3);
        }
    }
    Ok(row)
}

/// The start of a command in the sandbox, against a bare shell.
async fn start(plan: &Plan) -> Result<Row> {
    let mut row = Row::new("a command in the sandbox: true", "ms", Goal::Above(8.0));
    row = row.against("sh -c true");
    let folder = tempfile::tempdir()?;
    let sandbox = Sandbox::probe(Preference::Best).await;
    for at in 0..FIRST + plan.rounds * 5 {
        if at == FIRST {
            tokio::time::sleep(BESIDE).await;
        }
        let began = Instant::now();
        Process::new("/bin/sh").args(["-c", "true"]).stdin(Stdio::null()).status()?;
        let bare = began.elapsed();
        let spool = Spool::create(&folder.path().join(at.to_string()), Keep::default())?;
        let began = Instant::now();
        let running = sandbox.spawn(Command::new("true", folder.path()), spool).await?;
        ensure!(running.wait().await.is_success(), "true failed");
        if at >= FIRST {
            row.floor.push(bare.as_secs_f64() * 1e3);
            row.natter.push(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    Ok(row)
}

/// A command that prints 1 GB: what it costs the terminal program and the window in memory, and
/// how long the window stands still.
async fn much(plan: &Plan) -> Result<Vec<Row>> {
    let mut terminal = Row::new("a command prints 1 GB: natter-cli", "MB", Goal::Above(20.0))
        .against("a command that prints nothing");
    let mut window = Row::new("the same: the window", "MB", Goal::Above(20.0))
        .against("a command that prints nothing");
    let mut stall = Row::new("the same: the window's worst stall", "ms CPU", Goal::AtMost(16.0));
    for _ in 0..plan.rounds.div_ceil(3) {
        terminal.floor.push(of_terminal(plan, "true").await?);
        terminal.natter.push(of_terminal(plan, MUCH).await?);
        window.floor.push(of_window(plan, "true").await?.0);
        let (grown, stalled) = of_window(plan, MUCH).await?;
        window.natter.push(grown);
        stall.natter.push(stalled);
    }
    Ok(vec![terminal, window, stall])
}

fn runs(server: &Server, command: &str) {
    server.push(Script::new().tool_call("c1", "run_command", json!({ "command": command })));
    server.push(Script::new().text("It ran."));
}

/// The peak memory of the terminal program, in MB.
async fn of_terminal(plan: &Plan, command: &str) -> Result<f64> {
    let (server, desktop) = (Server::start(), Desktop::start().await?);
    seed::configure(&desktop, &server.url())?;
    let file = desktop.folder().join("diagnostics.json");
    let project = desktop.folder().join("project");
    std::fs::create_dir_all(&project)?;
    runs(&server, command);
    let mut ask = desktop.command(plan.program("natter-cli"));
    ask.args(["ask", "--model", "bench/scripted", "--mode", "unattended", "--project"]);
    ask.arg(&project).arg("Run it").env("NATTER_DIAGNOSTICS", &file);
    cpu_of(&ask)?;
    ensure!(server.chats().len() == 2, "the command did not run");
    let peak = diagnostics(&file)?["peak_memory_kib"].as_f64().context("no peak memory")?;
    Ok(peak * 1024.0 / 1e6)
}

/// How much the window grew, in MB, and its worst stall, in milliseconds of CPU.
async fn of_window(plan: &Plan, command: &str) -> Result<(f64, f64)> {
    let (server, desktop) = (Server::start(), Desktop::start().await?);
    seed::configure(&desktop, &server.url())?;
    seed::unattended(&desktop)?;
    let file = desktop.folder().join("diagnostics.json");
    let project = desktop.folder().join("project");
    std::fs::create_dir_all(&project)?;
    runs(&server, command);
    let launch = plan.natter().arg("--project").arg(&project).env("NATTER_DIAGNOSTICS", &file);
    let mut child = desktop.spawn(&launch)?;
    settle(&mut child)?;
    let before = memory(&child)?;
    let mut most = before;
    desktop.input().type_text("Run it").await?;
    desktop.input().keys(&["Return"]).await?;
    settle_watched(&mut child, |child| {
        most = f64::max(most, memory(child)?);
        Ok(())
    })?;
    terminate(&mut child)?;
    ensure!(server.chats().len() == 2, "the command did not run");
    let told = diagnostics(&file)?;
    let stalls = &told["replies"][0]["stalls"]["cpu"]["worst"];
    // One is the warm-up of every first reply.
    let worst = stalls[1]["ms"].as_f64().with_context(|| format!("no worst stalls in {told}"))?;
    Ok(((most - before) * 1024.0 * 1024.0 / 1e6, worst))
}

/// A session in which everything is allowed.
struct Anything;

#[async_trait]
impl ToolHost for Anything {
    async fn permit(&self, _check: PermissionCheck) -> Result<PermissionGrant, Denied> {
        Ok(PermissionGrant::ByRule)
    }

    fn refusal(&self, _request: &Request) -> Option<Why> {
        None
    }

    fn passes(&self, _request: &Request) -> bool {
        true
    }

    async fn ask(&self, _question: Question) -> Result<String, Denied> {
        Err(Denied::Nobody)
    }

    fn on_output(&self, _tail: &str, _bytes: u64) {}

    fn on_todos(&self, _todos: Vec<Todo>) {}
}

/// What a tool of a session is given in which everything is allowed.
pub fn context(project: &Path) -> Result<ToolContext> {
    Ok(ToolContext {
        cancel: CancellationToken::new(),
        call: ToolCallId::new("c1"),
        project: Some(Arc::new(Project::open(project, &PathEnvironment::default())?)),
        memory: Arc::default(),
        outputs: project.join("../outputs"),
        settings: Arc::default(),
        sees: false,
        most: usize::MAX,
        host: Arc::new(Anything),
        team: None,
        skills: Vec::new(),
        changes: Changes::default(),
        asked: Arc::default(),
    })
}
