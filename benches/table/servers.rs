//! What servers of tools cost: a call, a long list of tools, and the start of a window that has many of them.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use chat_core::settings::Folders;
use chat_core::tool::{Memory, SourceScope, ToolSource};
use chat_mcp::servers::{ServerKey, Servers, ServersOptions};
use chat_testkit::server::Server;
use chat_testkit::ui::Desktop;
use futures_util::{SinkExt, StreamExt, future};
use rmcp::RoleClient;
use rmcp::model::CallToolRequestParams;
use rmcp::service::{RunningService, RxJsonRpcMessage, serve_client};
use rustix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::runtime::Handle;
use tokio_util::codec::{FramedRead, FramedWrite, LinesCodec, LinesCodecError};

use super::Plan;
use super::report::{Goal, Row};
use super::start::{FIRST, run};
use super::{seed, tools};

/// How many calls are measured together.
const CALLS: u32 = 500;

/// How many tools a server lists that has many.
const MANY: usize = 10_000;

/// How many servers are configured where there are many.
const SERVERS: usize = 20;

/// All rows of servers.
pub async fn servers(plan: &Plan) -> Result<Vec<Row>> {
    Ok(vec![call(plan).await?, list(plan).await?, first_frame(plan).await?])
}

/// A call of a tool that only answers, through all that Natter does for one, against the protocol's library alone.
async fn call(plan: &Plan) -> Result<Row> {
    let mut row =
        Row::new("a call of a server's tool that does nothing", "ms CPU", Goal::Above(1.0))
            .against("rmcp alone");
    let program = plan.program("scripted-mcp");
    let folder = tempfile::tempdir()?;
    let servers = configured(folder.path(), &json!({ "bench": server(&program, 0) })).await?;
    start(&servers).await?;
    servers.recall(None).await;
    let memory = Arc::<Memory>::default();
    let scope = SourceScope { project: None, memory: &memory, window: None, percent: 100 };
    let offered = servers.tools(scope);
    let tool = offered.get("bench__echo").context("the server has no tool echo")?;
    let (_child, bare) = bare(&program, 0).await?;
    for round in 0..=plan.rounds {
        let began = cpu()?;
        for _ in 0..CALLS {
            let call = CallToolRequestParams::new("echo");
            bare.call_tool(call.with_arguments(arguments())).await?;
        }
        let floor = cpu()?.saturating_sub(began);
        let began = cpu()?;
        for _ in 0..CALLS {
            let context = tools::context(folder.path())?;
            let done = tool.run(Value::Object(arguments()), context).await;
            done.map_err(|failure| anyhow!("{}", failure.text))?;
        }
        let own = cpu()?.saturating_sub(began);
        // The first stores that the tool is allowed.
        if round > 0 {
            row.floor.push(floor.as_secs_f64() * 1e3 / f64::from(CALLS));
            row.natter.push(own.as_secs_f64() * 1e3 / f64::from(CALLS));
        }
    }
    Ok(row)
}

/// The start of a server with very many tools, until they are known, against the protocol's library alone.
async fn list(plan: &Plan) -> Result<Row> {
    let mut row =
        Row::new(format!("{MANY} tools listed"), "ms", Goal::Above(200.0)).against("rmcp alone");
    let program = plan.program("scripted-mcp");
    let folder = tempfile::tempdir()?;
    let many = configured(folder.path(), &json!({ "bench": server(&program, MANY) })).await?;
    for _ in 0..plan.rounds {
        let began = Instant::now();
        let (_child, bare) = bare(&program, MANY).await?;
        ensure!(bare.list_all_tools().await?.len() >= MANY, "tools are missing");
        row.floor.push(began.elapsed().as_secs_f64() * 1e3);
        row.natter.push(start(&many).await?);
    }
    let status = many.status_with_tools(&key()).await.context("there is no server")?;
    ensure!(status.tools.is_some_and(|tools| tools.len() >= MANY), "tools are missing");
    Ok(row)
}

/// The first frame of a window with many servers, against the same window without any.
async fn first_frame(plan: &Plan) -> Result<Row> {
    let mut row = Row::new(format!("first frame with {SERVERS} servers"), "ms", Goal::Times(1.02))
        .against("with none");
    let llm = Server::start();
    let (with, without) = (Desktop::start().await?, Desktop::start().await?);
    let program = plan.program("scripted-mcp");
    for desktop in [&with, &without] {
        seed::configure(desktop, &llm.url())?;
    }
    let servers: serde_json::Map<String, Value> =
        (0..SERVERS).map(|at| (format!("server{at}"), server(&program, 0))).collect();
    write(&seed::folders(&with), &Value::Object(servers))?;
    run(&with, &plan.natter(), FIRST)?;
    run(&without, &plan.natter(), FIRST)?;
    for _ in 0..plan.rounds {
        row.floor.push(run(&without, &plan.natter(), FIRST)?.at);
        row.natter.push(run(&with, &plan.natter(), FIRST)?.at);
    }
    Ok(row)
}

fn key() -> ServerKey {
    ServerKey::of_user("bench")
}

fn arguments() -> serde_json::Map<String, Value> {
    serde_json::Map::from_iter([("message".to_owned(), json!("Apples"))])
}

/// What the file says of a server with so many tools more than its own.
fn server(program: &Path, tools: usize) -> Value {
    let more = tools.to_string();
    json!({ "command": program, "args": ["good", "--tools", more], "natter": { "sandbox": false } })
}

fn write(folders: &Folders, servers: &Value) -> Result<()> {
    std::fs::create_dir_all(&folders.config)?;
    let file = json!({ "mcpServers": servers }).to_string();
    Ok(std::fs::write(folders.config.join("mcp.json"), file)?)
}

/// These servers, none of which runs.
async fn configured(folder: &Path, servers: &Value) -> Result<Servers> {
    let folders = Folders::below(folder);
    write(&folders, servers)?;
    let servers = Servers::new(ServersOptions::new(folders, Handle::current()));
    servers.refresh(None).await;
    Ok(servers)
}

/// Restarts the server. Returns how long that took, in ms.
async fn start(servers: &Servers) -> Result<f64> {
    servers.stop(&key()).await;
    let began = Instant::now();
    let started = servers.start(&key()).await.context("there is no server")?;
    started.map_err(|fault| anyhow!("{fault:?}"))?;
    Ok(began.elapsed().as_secs_f64() * 1e3)
}

/// The same server with so many tools more, with which the protocol's library speaks by itself. It ends with the child.
async fn bare(program: &Path, tools: usize) -> Result<(Child, RunningService<RoleClient, ()>)> {
    let mut command = Command::new(program);
    command
        .args(["good", "--tools", &tools.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut child = command.spawn()?;
    let (stdin, stdout) = child.stdin.take().zip(child.stdout.take()).context("no pipes")?;
    let sink = FramedWrite::new(stdin, LinesCodec::new())
        .with(|message| future::ready(serde_json::to_string(&message).map_err(unreadable)));
    let stream = FramedRead::new(stdout, LinesCodec::new()).filter_map(|line| {
        let message = line.ok().and_then(|line| serde_json::from_str(&line).ok());
        future::ready::<Option<RxJsonRpcMessage<RoleClient>>>(message)
    });
    Ok((child, serve_client((), (sink, stream)).await?))
}

fn unreadable(error: serde_json::Error) -> LinesCodecError {
    std::io::Error::from(error).into()
}

/// The CPU time of this program until now.
fn cpu() -> Result<Duration> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::new(time.tv_sec.try_into()?, time.tv_nsec.try_into()?))
}
