//! Fetches, lists, unloads and removes the models of Ollama servers.

use std::fmt::Write as _;

use chat_core::client::{PullStage, Pulled};
use chat_core::error::{Error, Feature, Kind};
use chat_core::message::ModelRef;
use chat_core::models::CONNECTION;
use chat_presentation::words::{self, fill};
use gettextrs::gettext;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::json;

use crate::engine::Program;
use crate::error::{CliError, Outcome, Result, explain};
use crate::output::json::ErrorView;
use crate::output::line_of;
use crate::say;
use crate::signals::Signals;
use crate::terminal;

/// The model that a name means on a configured or discovered server; none if it means one on this computer
/// or on Hugging Face.
pub async fn model_on(name: &str, program: &Program) -> Option<ModelRef> {
    let (connection, model) = name.split_once('/')?;
    if connection == CONNECTION || model.is_empty() {
        return None;
    }
    let has = || {
        let all = program.manager.connections().list();
        all.iter().any(|state| state.connection.name == connection)
    };
    if !has() {
        program.settled().await;
    }
    has().then(|| ModelRef::new(connection, model))
}

/// Has the server fetch a model, with progress.
pub async fn pull(model: &ModelRef, json: bool, program: &Program) -> Result<Outcome> {
    let mut signals = Signals::new()?;
    let pulled = tokio::select! {
        pulled = follow(model, json, program) => pulled,
        () = signals.next() => Err(CliError::Stopped),
    };
    if program.terminal.rewrites() {
        terminal::say("\r\x1b[K");
    }
    let reason = match &pulled {
        Ok(()) => "complete",
        Err(CliError::Stopped) => "stopped",
        Err(_) => "error",
    };
    if matches!(pulled, Err(CliError::Stopped)) {
        super::remark(&gettext("Download stopped. Run the same command again to resume it."));
    }
    if json {
        let mut last = String::new();
        if let Err(CliError::Engine(error)) = &pulled {
            let sentence = words::sentence(error);
            last.push_str(&super::pull::typed("error", &ErrorView::new(error, &sentence)));
        }
        last.push_str(&line_of(&json!({ "type": "done", "reason": reason })));
        program.output.print(last).await?;
    }
    pulled?;
    if !json {
        super::remark(&say::model_pulled_there(&model.to_string()));
    }
    Ok(Outcome::Done)
}

async fn follow(model: &ModelRef, json: bool, program: &Program) -> Result<(), CliError> {
    let mut pull = program.manager.server_models().pull(model);
    while let Some(pulled) = pull.next().await {
        let pulled = pulled?;
        if json {
            let event = json!({
                "type": "download", "name": model.to_string(), "stage": stage(pulled.stage),
                "received": pulled.received, "total": pulled.total,
            });
            program.output.print(line_of(&event)).await?;
        } else if program.terminal.rewrites() {
            let line = format!("{model}: {}", progress(&pulled));
            let line = terminal::clean(&line).into_owned();
            terminal::say(&format!("\r\x1b[K{}", program.terminal.dim(&line)));
        }
        if pulled.stage == PullStage::Done {
            return Ok(());
        }
    }
    Err(Error::new(Kind::Cut).on(&model.connection).into())
}

fn stage(stage: PullStage) -> &'static str {
    match stage {
        PullStage::Preparing => "preparing",
        PullStage::Fetching => "fetching",
        PullStage::Verifying => "verifying",
        PullStage::Done => "done",
    }
}

fn progress(pulled: &Pulled) -> String {
    match pulled.stage {
        PullStage::Fetching if pulled.total > 0 => fill(
            &gettext("{percent}%, {received} of {total}"),
            &[
                ("percent", &(pulled.received.saturating_mul(100) / pulled.total).to_string()),
                ("received", &words::bytes(pulled.received)),
                ("total", &words::bytes(pulled.total)),
            ],
        ),
        PullStage::Verifying => gettext("Checking the download…"),
        _ => gettext("Preparing the download…"),
    }
}

/// A model in a server's memory, as JSON.
#[derive(Serialize)]
struct LoadedView<'a> {
    model: String,
    connection: &'a str,
    size: u64,
    graphics: u64,
    context_window: Option<u32>,
    until: Option<String>,
}

/// Lists the models in the memory of all servers that say it.
pub async fn loaded(json: bool, program: &Program) -> Result<Outcome> {
    program.settled().await;
    let mut out = String::new();
    let mut outcome = Outcome::Done;
    for connection in program.manager.server_models().connections() {
        let loaded = match program.manager.server_models().loaded(&connection).await {
            Ok(loaded) => loaded,
            Err(error) => {
                terminal::say(&explain(&error, program.terminal));
                outcome = Outcome::Failed;
                continue;
            }
        };
        for model in loaded {
            let name = ModelRef::new(&connection, &model.name).to_string();
            if json {
                out.push_str(&line_of(&LoadedView {
                    model: name,
                    connection: &connection,
                    size: model.size,
                    graphics: model.graphics,
                    context_window: model.context_window,
                    until: model.until.map(|until| until.to_string()),
                }));
                continue;
            }
            let until = model.until.map(|until| {
                let time = until.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M");
                say::loaded_until(&time.to_string())
            });
            let line = format!(
                "{name:40}  {:>10}  {}",
                words::bytes(model.size),
                until.unwrap_or_default()
            );
            // Writing into a string cannot fail.
            let _ = writeln!(out, "{}", program.terminal.clean_output(line.trim_end()));
        }
    }
    if out.is_empty() && !json && matches!(outcome, Outcome::Done) {
        terminal::say(&format!("{}\n", say::nothing_loaded()));
    }
    program.output.print(out).await?;
    Ok(outcome)
}

/// Frees the memory of a model.
pub async fn unload(name: &str, program: &Program) -> Result<Outcome> {
    let unsupported = || Error::new(Kind::Unsupported { feature: Feature::Models });
    let model = model_on(name, program).await.ok_or_else(unsupported)?;
    program.manager.server_models().unload(&model).await?;
    super::remark(&say::model_unloaded(&model.to_string()));
    Ok(Outcome::Done)
}

/// Deletes a model at its server.
pub async fn remove(model: &ModelRef, program: &Program) -> Result<Outcome> {
    program.manager.server_models().remove(model).await?;
    super::remark(&say::model_removed_there(&model.model, &model.connection));
    Ok(Outcome::Done)
}
