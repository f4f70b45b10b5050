//! Runs `natter-cli ask`: one question, one answer.

use std::collections::HashSet;
use std::io::Read as _;

use chat_core::error::{Error, Kind};
use chat_core::event::StopReason;
use chat_core::message::{ChatRequest, Fid, FromAgent, Queued};
use chat_presentation::slash_commands::{self, SlashCommands, Typed};

use crate::args::{Ask, Request};
use crate::definitions;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::outgoing::{self, Outgoing};
use crate::output::{self, Done};
use crate::request;
use crate::say;
use crate::servers;
use crate::signals::Signals;
use crate::terminal;
use crate::turn::{Beginning, Turns, report_agents};

/// Asks, shows the answer as it arrives, and returns how it ended.
pub async fn run(args: Ask, program: &Program) -> Result<Outcome> {
    let Ask { request, prompt } = args;
    let beginning = async { Ok(Beginning::Send(make(&request, prompt, program).await?)) };
    Box::pin(answer(beginning, request.json, request.agent.is_some(), program)).await
}

/// Shows the answer to what begins like this, waits for agents, and returns how it ended.
pub async fn answer(
    beginning: impl Future<Output = Result<Beginning>>,
    json: bool,
    names_agent: bool,
    program: &Program,
) -> Result<Outcome> {
    let mut signals = Signals::new()?;
    let mut sink = output::sink(json, program.terminal, program.manager.tools());
    let subscription = program.manager.subscribe();
    let mut turns = Turns {
        program,
        subscription,
        signals: &mut signals,
        awaits_agents: true,
        follower: None,
        typed: String::new(),
        servers: servers::Reported::default(),
    };
    let beginning = tokio::select! {
        beginning = beginning => beginning,
        () = turns.signals.next() => Err(CliError::Stopped),
    };
    let asked = match beginning {
        Ok(beginning) => match turns.run(beginning, sink.as_mut()).await {
            Ok((fid, done)) => {
                // Those that it waited for are stopped with it.
                if let Some(fid) = fid.as_ref().filter(|_| done.reason != StopReason::Stopped) {
                    report_agents(fid, program).await;
                    report_waiting(fid, program).await;
                }
                if let Some(fid) = fid {
                    report_worktrees(&fid, program).await;
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
        Ok(Done { error: Some(Error { kind: Kind::AgentMissing { .. }, .. }), .. })
            if names_agent =>
        {
            Ok(Outcome::Usage)
        }
        Ok(Done { error: Some(Error { kind: Kind::Attachment { .. }, .. }), .. }) => {
            Ok(Outcome::Usage)
        }
        Ok(done) => Ok(done.reason.into()),
        // The request was stopped because nobody reads its answer.
        Err(CliError::BrokenPipe) => Ok(Outcome::Stopped),
        Err(trouble) => Err(trouble),
    }
}

/// Says how many reports of agents wait in a chat that does not go on by itself, and how to go on.
async fn report_waiting(fid: &Fid, program: &Program) {
    let (sessions, subscription) = (program.manager.sessions(), program.manager.subscribe());
    // What cannot be told now is in the chat.
    let Ok(snapshot) = sessions.open(fid, 1, &subscription).await else { return };
    sessions.close(fid, &subscription);
    let is_report = |waiting: &&Queued| matches!(waiting.content.agent, Some(FromAgent::Report(_)));
    let count = snapshot.queue.iter().filter(is_report).count();
    if count > 0 {
        let text = say::waiting_reports(count, fid.as_str());
        terminal::say(&format!("{}\n", program.terminal.dim(&terminal::clean(&text))));
    }
}

/// Names the worktrees that agents of a chat have worked in, and how to finish them.
async fn report_worktrees(fid: &Fid, program: &Program) {
    let agents = program.manager.agents().list(Some(fid)).await.unwrap_or_default();
    let mut known = HashSet::new();
    for agent in agents {
        let (Some(name), Some(folder)) = (&agent.name, &agent.project) else { continue };
        if !known.insert(folder.clone()) {
            continue;
        }
        // What cannot be told now is in the list of worktrees.
        let worktrees = program.manager.worktrees();
        if let Ok(Some(worktree)) = worktrees.containing(folder).await
            && worktrees
                .status(&worktree)
                .await
                .map_or(true, |status| status.ahead > 0 || status.is_dirty())
        {
            let text = say::left_worktree(name, worktree.name());
            terminal::say(&format!("{}\n", program.terminal.dim(&terminal::clean(&text))));
        }
    }
}

/// Makes the message that the command line asks for.
pub async fn make(args: &Request, given: String, program: &Program) -> Result<ChatRequest> {
    let mut request = request::make(args, program).await?;
    let definitions = definitions::report(&request, program).await?;
    // What comes from a pipe is nothing that somebody has typed.
    let is_typed = given != "-";
    let text = prompt(given).await?;
    let outgoing = if is_typed {
        let project = program.manager.context().project(&request).await?;
        let commands = outgoing::commands(&definitions, project.as_deref(), &text, program).await?;
        read(&text, &commands)?
    } else {
        Outgoing::text(text)
    };
    request.content.text = outgoing.text;
    request.content.attachments = request::attachments(args).await?;
    request::point_at(&mut request, program).await?;
    if let Some((command, arguments)) = outgoing.command {
        // The options of the command line count for more.
        let command = if request.model.is_some() { command.without_model() } else { command };
        if command.names_model() {
            program.discover();
        }
        slash_commands::attach(&program.manager, &command, &arguments, &mut request).await?;
        request.agent = args.agent.clone().or(request.agent);
    }
    Ok(request)
}

/// Tells a question from a command, as in a conversation.
fn read(text: &str, commands: &SlashCommands) -> Result<Outgoing> {
    let wrong = match commands.read(text) {
        Typed::Message(_) | Typed::Command(..) => return Ok(Outgoing::of(text, commands)),
        Typed::BuiltIn(command, _) | Typed::Unexpected(command) => {
            say::only_in_chat(command.name())
        }
        Typed::Unusable(words) => words,
        Typed::Unknown(name, None) => say::no_command_to_ask(name),
        Typed::Unknown(name, nearest) => slash_commands::unknown_words(name, nearest),
    };
    Err(CliError::Usage(wrong))
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
