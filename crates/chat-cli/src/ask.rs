//! Runs `natter-cli ask`: one question, one answer.

use std::io::Read as _;

use chat_core::event::{Status, StopReason};
use chat_core::message::{ChatRequest, Fid};
use chat_presentation::words;

use crate::args::Ask;
use crate::definitions;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output;
use crate::request;
use crate::say;
use crate::signals::Signals;
use crate::terminal;
use crate::turn::Turns;

/// Asks, shows the answer as it arrives, and returns how it ended.
pub async fn run(args: Ask, program: &Program) -> Result<Outcome> {
    let mut signals = Signals::new()?;
    let mut sink = output::sink(args.request.json, program.terminal, program.manager.tools());
    let mut turns =
        Turns { program, subscription: program.manager.subscribe(), signals: &mut signals };
    let request = tokio::select! {
        request = make(args, program) => request,
        () = turns.signals.next() => Err(CliError::Stopped),
    };
    let asked = match request {
        Ok(request) => match turns.run(request, sink.as_mut()).await {
            Ok((fid, done)) => {
                if let Some(fid) = fid.filter(|_| done.reason != StopReason::Stopped) {
                    report_agents(&fid, program).await;
                }
                Ok(done)
            }
            Err(trouble) => Err(trouble),
        },
        Err(CliError::Engine(error)) => Ok(turns.end_early(Some(error), sink.as_mut()).await),
        Err(CliError::Stopped) => Ok(turns.end_early(None, sink.as_mut()).await),
        Err(trouble) => Err(trouble),
    };
    match asked {
        Ok(done) => Ok(done.reason.into()),
        // The request was stopped because nobody reads its answer.
        Err(CliError::BrokenPipe) => Ok(Outcome::Stopped),
        Err(trouble) => Err(trouble),
    }
}

/// Names the agents of a chat that still work: they end with the program.
async fn report_agents(fid: &Fid, program: &Program) {
    let agents = program.manager.agents().list(Some(fid)).await.unwrap_or_default();
    let at_work = agents.into_iter().filter(|agent| agent.status != Status::Idle);
    let names: Vec<_> =
        at_work.filter_map(|agent| agent.name.as_deref().map(words::one_line)).collect();
    if !names.is_empty() {
        let text = say::agents_interrupted(&names.join(", "));
        terminal::say(&format!("{}\n", program.terminal.dim(&terminal::clean(&text))));
    }
}

async fn make(args: Ask, program: &Program) -> Result<ChatRequest> {
    let mut request = request::make(&args.request, program).await?;
    definitions::report(&request, program).await?;
    request.content.text = prompt(args.prompt).await?;
    request.content.attachments = request::attachments(&args.request)?;
    request::point_at(&mut request, program).await?;
    Ok(request)
}

/// The question; `-` means all of standard input.
async fn prompt(given: String) -> Result<String> {
    if given != "-" {
        return Ok(given);
    }
    let read = tokio::task::spawn_blocking(|| {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    });
    match read.await {
        Ok(Ok(bytes)) => Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned()),
        Ok(Err(error)) => Err(CliError::Said(say::input_failed(&error.to_string()))),
        Err(_) => Err(CliError::Stopped),
    }
}
