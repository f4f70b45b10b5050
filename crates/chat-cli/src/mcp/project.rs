//! Trusts the servers that a project brings.

use std::fmt::Write as _;
use std::path::Path;

use chat_mcp::servers::{ProjectServers, ServerKey};
use chat_presentation::words;

use super::{View, remark};
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output::line_of;
use crate::request;
use crate::say;
use crate::sessions::answer;
use crate::terminal;

/// Shows what the servers of a project would start, and trusts them if the user says so.
pub(super) async fn trust(
    given: &Path,
    yes: bool,
    remove: bool,
    program: &Program,
) -> Result<Outcome> {
    let root = request::folder(given)?;
    let shown = program.servers.project(&root).await;
    if remove {
        store(&shown, false, program).await?;
        remark(&say::servers_untrusted());
        return Ok(Outcome::Done);
    }
    for problem in &shown.config.problems {
        remark(&words::mcp_problem(problem));
    }
    if shown.starts.is_empty() {
        remark(&say::folder_has_no_servers());
        return Ok(Outcome::Done);
    }
    let out = program.terminal.clean_output(&described(&shown)).into_owned();
    program.output.print(out).await?;
    if !shown.has_untrusted() {
        return Ok(Outcome::Done);
    }
    if !yes {
        if !program.terminal.input {
            return Err(CliError::Said(say::nobody_to_confirm()));
        }
        terminal::say(&terminal::clean(&say::ask_trust_servers()));
        if !answer().await? {
            remark(&say::servers_untrusted());
            return Ok(Outcome::Failed);
        }
    }
    store(&shown, true, program).await?;
    remark(&say::servers_trusted());
    Ok(Outcome::Done)
}

/// The servers of the project in whose folder the program runs, a line each.
pub(super) async fn listed(json: bool, program: &Program) -> Result<String> {
    let root = request::folder(Path::new("."))?;
    let shown = program.servers.project(&root).await;
    for problem in &shown.config.problems {
        remark(&words::mcp_problem(problem));
    }
    let mut out = String::new();
    for (server, (start, trusted)) in shown.config.servers.iter().zip(&shown.starts) {
        // The user's own of this name is used in its place.
        if shown.taken.contains(&start.name) {
            continue;
        }
        let key = ServerKey { project: Some(root.clone()), name: server.name.clone() };
        let status = program.servers.status(&key);
        if json {
            out.push_str(&line_of(&View::of(server, status.as_ref(), Some(*trusted))));
            continue;
        }
        let about = match (trusted, server.config.disabled) {
            (_, true) => say::off(),
            (true, false) => say::of_project(),
            (false, false) => say::of_untrusted_project(),
        };
        // Writing into a string cannot fail.
        let name = words::visible_line(&server.name);
        let what = words::mcp_command_line(&server.config);
        let _ = writeln!(out, "{name:16}  {what}  ({about})");
    }
    Ok(out)
}

async fn store(shown: &ProjectServers, is_trusted: bool, program: &Program) -> Result<()> {
    let stored = program.servers.trust(shown, is_trusted).await;
    stored.map_err(|_| CliError::Said(words::mcp_trust_not_saved()))
}

/// What each server would start. Nothing is cut.
fn described(shown: &ProjectServers) -> String {
    let mut out = String::new();
    for (start, trusted) in &shown.starts {
        let state = match (shown.taken.contains(&start.name), trusted) {
            (true, _) => format!(" ({})", say::server_not_used()),
            (false, true) => format!(" ({})", say::already_trusted()),
            (false, false) => String::new(),
        };
        // Writing into a string cannot fail.
        let _ = writeln!(out, "{}{state}", words::visible_line(&start.name));
        for line in words::mcp_start_lines(start) {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}
