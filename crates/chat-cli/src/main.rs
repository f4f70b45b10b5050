//! `natter-cli`: Natter's engine in a terminal, for people, scripts and tests.
//!
//! Answers go to standard output and everything else to standard error.
//! `docs/user/terminal.md` is the reference.

mod agents;
mod args;
mod arranging;
mod ask;
mod chat;
mod connections;
mod definitions;
mod engine;
mod error;
mod generate;
mod import;
mod keyboard;
mod mcp;
mod messages;
mod models;
mod outgoing;
mod output;
mod prompt;
mod request;
mod rules;
mod say;
mod servers;
mod sessions;
mod show;
mod signals;
mod terminal;
mod trash;
mod trust;
mod turn;
mod worktrees;

use std::process::ExitCode;

use chat_presentation::diagnostics::Diagnostics;

use args::{Cli, Command};
use engine::Program;
use error::{CliError, Outcome, Result};
use terminal::Terminal;

fn main() -> ExitCode {
    let diagnostics = Diagnostics::from_env("natter-cli");
    chat_presentation::i18n::init();
    let cli = Cli::read();
    let terminal = Terminal::detect();
    let outcome = run(cli.command, terminal, &diagnostics).unwrap_or_else(|trouble| {
        trouble.report(terminal);
        trouble.outcome()
    });
    diagnostics.write();
    outcome.code()
}

fn run(command: Command, terminal: Terminal, diagnostics: &Diagnostics) -> Result<Outcome> {
    match command {
        Command::Completions { shell } => generate::completions(shell),
        Command::Man { folder } => generate::man(folder.as_deref()),
        command => {
            let folders = engine::folders()?;
            chat_presentation::log::init("natter-cli", &folders.state);
            // One thread runs everything: requests are separate tasks on it, so that they never
            // wait for what this program does with their answers.
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(|error| CliError::Said(say::output_failed(&error.to_string())))?;
            let outcome = runtime.block_on(async {
                let stays = matches!(command, Command::Chat(_));
                let program = Program::start(folders, terminal, diagnostics.clone(), stays).await?;
                diagnostics.mark("ready");
                let outcome = dispatch(command, &program).await;
                program.end().await;
                outcome
            });
            // A reader that takes nothing may block a writing thread; do not wait for it.
            runtime.shutdown_background();
            outcome
        }
    }
}

async fn dispatch(command: Command, program: &Program) -> Result<Outcome> {
    match command {
        Command::Ask(ask) => ask::run(ask, program).await,
        Command::Chat(request) => chat::run(request, program).await,
        Command::Sessions(args) => sessions::list(args, program).await,
        Command::Agents { action, list } => {
            agents::run(action.unwrap_or(args::Agents::List(list)), program).await
        }
        Command::Show(args) => show::show(args, program).await,
        Command::Rename { fid, title } => sessions::rename(&fid, &title, program).await,
        Command::Arrange(action) => arranging::run(action, program).await,
        Command::Messages(action) => messages::run(action, program).await,
        Command::Delete(args) => sessions::delete(args, program).await,
        Command::Trash { action, json } => trash::run(action, json, program).await,
        Command::Export(args) => show::export(args, program).await,
        Command::Import(args) => import::run(args, program).await,
        Command::Connections { action, json } => connections::run(action, json, program).await,
        Command::Models { action, list } => {
            models::run(action.unwrap_or(args::Models::List(list)), program).await
        }
        Command::Rules { action, json } => rules::run(action, json, program).await,
        Command::Trust { action, json } => trust::run(action, json, program).await,
        Command::Mcp { action, json } => mcp::run(action, json, program).await,
        Command::Worktrees { action, json } => worktrees::run(action, json, program).await,
        // Handled before the engine was started.
        Command::Completions { .. } | Command::Man { .. } => Ok(Outcome::Done),
    }
}
