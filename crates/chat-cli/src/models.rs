//! Runs `natter-cli models`: lists all models, and manages those on this computer.

mod local;
mod pull;
mod server;
mod view;

use std::fmt::Write as _;

use chat_core::client::ModelInfo;
use chat_core::event::Health;
use chat_core::models::display_name;
use serde::Serialize;

use crate::args::{ListModels, Models};
use crate::engine::Program;
use crate::error::{Outcome, Result, explain};
use crate::output::line_of;
use crate::say;
use crate::terminal;

/// Runs the requested action on models.
pub async fn run(action: Models, program: &Program) -> Result<Outcome> {
    match action {
        Models::List(ListModels { json, installed: true, .. }) => {
            local::installed(json, program).await
        }
        Models::List(ListModels { json, offered: true, .. }) => local::offered(json, program).await,
        Models::List(ListModels { json, found: true, .. }) => {
            local::discovered(json, program).await
        }
        Models::List(ListModels { json, loaded: true, .. }) => server::loaded(json, program).await,
        Models::List(ListModels { json, .. }) => list(json, program).await,
        Models::Info { model, json } => local::info(&model, json, program).await,
        Models::Search { words, json } => local::search(&words, json, program).await,
        Models::Pull { model, file, json } => match server::model_on(&model, program).await {
            Some(model) if file.is_none() => server::pull(&model, json, program).await,
            _ => pull::run(&model, file.as_deref(), json, program).await,
        },
        Models::Add { file, take, json } => local::add(file, take, json, program).await,
        Models::Remove { model } => match server::model_on(&model, program).await {
            Some(model) => server::remove(&model, program).await,
            None => local::remove(&model, program).await,
        },
        Models::Unload { model } => server::unload(&model, program).await,
    }
}

/// A model as JSON.
#[derive(Serialize)]
struct View<'a> {
    model: String,
    connection: &'a str,
    display_name: &'a str,
    #[serde(flatten)]
    info: &'a ModelInfo,
}

/// Lists the models of all servers that answer; servers that do not are named on standard error.
async fn list(json: bool, program: &Program) -> Result<Outcome> {
    let text = if json { json_lines(program).await } else { lines(program).await };
    let found = !text.is_empty();
    program.output.print(text).await?;
    let mut reachable = false;
    for state in program.manager.connections().list() {
        match &state.health {
            Health::Failed(error) => terminal::say(&explain(error, program.terminal)),
            Health::Ready { .. } => reachable = true,
            Health::Checking => {}
        }
    }
    if !found && !reachable {
        terminal::say(&format!("{}\n{}\n", say::no_models(), say::add_server()));
        return Ok(Outcome::Failed);
    }
    if !found && !json {
        terminal::say(&format!("{}\n", say::no_models()));
    }
    Ok(Outcome::Done)
}

/// The list as text.
pub async fn lines(program: &Program) -> String {
    program.settled().await;
    let mut out = String::new();
    for entry in program.manager.models().list() {
        let info = &entry.info;
        let id = &entry.model.model;
        let known = [
            (display_name(&entry.model) != id).then(|| id.clone()),
            info.parameters.clone(),
            info.quantization.clone(),
            info.context_length.map(say::reads),
        ];
        let can = say::abilities(info.capabilities);
        let about: Vec<String> = known.into_iter().flatten().chain(can).collect();
        let name = say::model(&entry.model);
        // Writing into a string cannot fail.
        let _ = writeln!(
            out,
            "{}",
            program.terminal.clean_output(format!("{name:40}  {}", about.join(", ")).trim_end())
        );
    }
    out
}

async fn json_lines(program: &Program) -> String {
    program.settled().await;
    let mut out = String::new();
    for entry in program.manager.models().list() {
        let view = View {
            model: entry.model.to_string(),
            connection: &entry.model.connection,
            display_name: display_name(&entry.model),
            info: &entry.info,
        };
        out.push_str(&line_of(&view));
    }
    out
}

/// Prints a remark to standard error.
fn remark(text: &str) {
    terminal::say(&format!("{}\n", terminal::clean(text)));
}
