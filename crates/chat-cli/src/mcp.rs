//! Runs `natter-cli mcp`: the servers of tools.

mod adding;
mod project;

use std::fmt::Write as _;

use chat_core::tool::ToolSource;
use chat_mcp::config::{Change, Server, WriteError};
use chat_mcp::connection::StartFault;
use chat_mcp::servers::{ServerKey, ServerStatus, ToolStatus};
use chat_presentation::words;
use serde::Serialize;

use crate::args::Mcp;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output::line_of;
use crate::say;
use crate::servers;
use crate::signals::Signals;
use crate::terminal;

/// Runs the requested action on the servers.
pub async fn run(action: Option<Mcp>, json: bool, program: &Program) -> Result<Outcome> {
    program.servers.refresh(None).await;
    match action {
        None => list(json, program).await,
        Some(Mcp::List { json }) => list(json, program).await,
        Some(Mcp::Add(new)) => adding::add(*new, program).await,
        Some(Mcp::Remove { name }) => remove(&name, program).await,
        Some(Mcp::Test { name }) => test(&name, program).await,
        Some(Mcp::Tools { name, json }) => tools(&name, json, program).await,
        Some(Mcp::SignIn { name }) => sign_in(&name, program).await,
        Some(Mcp::Trust { project, yes, remove }) => {
            project::trust(&project, yes, remove, program).await
        }
    }
}

/// A server as JSON. References stay references, and values of variables and headers are left out. The command line and
/// the address are as the file has them: a secret that somebody wrote out there is in them.
#[derive(Serialize)]
struct View<'a> {
    name: &'a str,
    server: String,
    on: bool,
    signed_in: bool,
    /// The number of its tools, if they are known.
    tools: Option<usize>,
    /// Whether it is trusted, if the project brings it.
    #[serde(skip_serializing_if = "Option::is_none")]
    trusted: Option<bool>,
}

impl<'a> View<'a> {
    fn of(server: &'a Server, status: Option<&ServerStatus>, trusted: Option<bool>) -> Self {
        Self {
            name: &server.name,
            server: words::mcp_command_line(&server.config),
            on: !server.config.disabled,
            signed_in: status.is_some_and(|it| it.is_signed_in),
            tools: tool_count(status),
            trusted,
        }
    }
}

/// How many tools a server has, if that is known.
fn tool_count(status: Option<&ServerStatus>) -> Option<usize> {
    status?.tools.as_ref().map(|tools| tools.len())
}

async fn list(json: bool, program: &Program) -> Result<Outcome> {
    let config = program.servers.config();
    program.servers.recall(None).await;
    let mut out = String::new();
    for server in &config.servers {
        let status = program.servers.status(&ServerKey::of_user(&server.name));
        if json {
            out.push_str(&line_of(&View::of(server, status.as_ref(), None)));
            continue;
        }
        // Writing into a string cannot fail.
        let _ = write!(out, "{:16}  {}", server.name, words::mcp_command_line(&server.config));
        let about = if server.config.disabled {
            Some(say::off())
        } else {
            tool_count(status.as_ref()).map(words::mcp_tool_count)
        };
        let _ = about.map(|about| write!(out, "  ({about})"));
        out.push('\n');
    }
    for problem in &config.problems {
        remark(&words::mcp_problem(problem));
    }
    let of_project = project::listed(json, program).await?;
    out.push_str(&of_project);
    let is_empty = config.servers.is_empty() && config.problems.is_empty();
    if is_empty && of_project.is_empty() && !json {
        remark(&say::no_servers());
    }
    let out = if json { out } else { program.terminal.clean_output(&out).into_owned() };
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

async fn remove(name: &str, program: &Program) -> Result<Outcome> {
    let config = program.servers.config();
    let secrets = config.own_secrets(name);
    program.servers.change(Change::Remove { name: name.to_owned() }).await.map_err(named)?;
    for secret in &secrets {
        program.servers.keys().remove(secret).await?;
    }
    remark(&say::server_removed(name));
    if !config.knows_others(name) {
        remark(&say::secrets_stay());
    }
    Ok(Outcome::Done)
}

/// Starts a server, or says why that is not possible.
async fn started(name: &str, program: &Program) -> Result<ServerStatus> {
    let key = ServerKey::of_user(name);
    let mut signals = Signals::new()?;
    let result = tokio::select! {
        result = program.servers.start(&key) => result,
        () = signals.next() => return Err(CliError::Stopped),
    };
    match result {
        Some(Ok(())) => program.servers.status_with_tools(&key).await.ok_or_else(|| missing(name)),
        Some(Err(fault)) => Err(CliError::Said(servers::why(name, &fault))),
        None if program.servers.config().server(name).is_some() => {
            Err(CliError::Said(say::server_is_off(name)))
        }
        None => Err(missing(name)),
    }
}

async fn test(name: &str, program: &Program) -> Result<Outcome> {
    let status = started(name, program).await?;
    let tools = status.tools.map_or(0, |tools| tools.len());
    remark(&say::server_works(&words::mcp_tool_count(tools)));
    Ok(Outcome::Done)
}

/// A tool as JSON.
#[derive(Serialize)]
struct ToolView<'a> {
    name: &'a str,
    model_name: &'a str,
    title: &'a str,
    description: &'a str,
    /// Whether the server says that it only reads.
    read_only: bool,
    on: bool,
}

async fn tools(name: &str, json: bool, program: &Program) -> Result<Outcome> {
    let status = started(name, program).await?;
    let tools = status.tools.unwrap_or_default();
    let line = |tool: &ToolStatus| {
        if json {
            return line_of(&ToolView {
                name: &tool.name,
                model_name: &tool.model_name,
                title: &tool.title,
                description: &tool.description,
                read_only: tool.read_only,
                on: tool.is_on,
            });
        }
        let off = if tool.is_on { String::new() } else { format!("  ({})", say::off()) };
        let what = words::one_line(tool.description.trim());
        format!("{:24}  {what}{off}\n", words::one_line(&tool.name))
    };
    let out: String = tools.iter().map(line).collect();
    let out = if json { out } else { program.terminal.clean_output(&out).into_owned() };
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

async fn sign_in(name: &str, program: &Program) -> Result<Outcome> {
    let key = ServerKey::of_user(name);
    let fault = match program.servers.start(&key).await {
        Some(Ok(())) => {
            remark(&say::no_sign_in_wanted(name));
            return Ok(Outcome::Done);
        }
        Some(Err(fault)) => fault,
        None => return Err(missing(name)),
    };
    let Some(begun) = program.servers.begin_sign_in(&key).await else {
        return Err(CliError::Said(words::mcp_start_fault(&fault)));
    };
    let pending = begun.map_err(|fault| said(&fault))?;
    remark(&say::sign_in_at(pending.url()));
    let mut signals = Signals::new()?;
    tokio::select! {
        finished = pending.finish() => finished.map_err(|fault| said(&fault))?,
        () = signals.next() => return Err(CliError::Stopped),
    }
    remark(&say::signed_in(name));
    Ok(Outcome::Done)
}

fn said(fault: &StartFault) -> CliError {
    CliError::Said(words::mcp_start_fault(fault))
}

fn missing(name: &str) -> CliError {
    CliError::Said(say::no_such_server(name))
}

/// Here a server that is not there is one that the user named.
fn named(error: WriteError) -> CliError {
    match error {
        WriteError::NoServer { name } => missing(&name),
        error => CliError::Said(words::mcp_write_error(&error)),
    }
}

fn remark(text: &str) {
    terminal::say(&format!("{}\n", terminal::clean(text)));
}
