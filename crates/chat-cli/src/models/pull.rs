//! Runs `natter-cli models pull`: downloads a model with progress, and resumes where it was stopped.

use chat_core::error::{Error, Kind};
use chat_core::models::{self, Download, DownloadStage, DownloadState, RemoteModel};
use chat_presentation::words::{self, fill};
use gettextrs::gettext;
use serde_json::json;

use super::view::{DownloadView, InstalledView};
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output::json::ErrorView;
use crate::output::line_of;
use crate::signals::Signals;
use crate::terminal;

/// The default quantization: small, and close to the original.
const USUAL: &str = "*Q4_K_M*.gguf";

/// Downloads a model.
pub async fn run(name: &str, file: Option<&str>, json: bool, program: &Program) -> Result<Outcome> {
    let mut signals = Signals::new()?;
    let fetched = tokio::select! {
        fetched = fetch(name, file, json, program) => fetched,
        () = signals.next() => Err(CliError::Stopped),
    };
    clear_line(program);
    let reason = match &fetched {
        Ok(_) => "complete",
        Err(CliError::Stopped) => "stopped",
        Err(_) => "error",
    };
    if matches!(fetched, Err(CliError::Stopped)) && !program.manager.downloads().list().is_empty() {
        super::remark(&gettext("Download stopped. Run the same command again to resume it."));
    }
    if json {
        let mut last = String::new();
        if let Err(CliError::Engine(error)) = &fetched {
            let sentence = words::sentence(error);
            last.push_str(&typed("error", &ErrorView::new(error, &sentence)));
        }
        last.push_str(&line_of(&json!({ "type": "done", "reason": reason })));
        program.output.print(last).await?;
    }
    fetched
}

async fn fetch(name: &str, file: Option<&str>, json: bool, program: &Program) -> Result<Outcome> {
    let mut events = program.manager.subscribe();
    let model = wanted(name, file, program).await?;
    let id = program.manager.downloads().start(model).await?;
    let mut last = None;
    loop {
        let all = program.manager.downloads().list();
        let Some(download) = all.into_iter().find(|download| download.id == id) else {
            return Err(Error::new(Kind::ModelNotFound { model: name.to_owned() }).into());
        };
        if json && last.as_ref() != Some(&download) {
            program.output.print(line_of(&DownloadView::new(&download))).await?;
        } else if !json {
            show(&download, program);
        }
        match &download.state {
            DownloadState::Done { model } => return done(model, json, program).await,
            DownloadState::Failed(error) => return Err(error.clone().into()),
            _ => {}
        }
        last = Some(download);
        if events.next().await.is_none() {
            return Err(CliError::Stopped);
        }
    }
}

/// Finds the requested model in its repository.
async fn wanted(name: &str, file: Option<&str>, program: &Program) -> Result<RemoteModel> {
    let manager = &program.manager;
    if let Some(offer) = models::offer(name) {
        return Ok(manager
            .repositories()
            .model(&offer.repository, file.unwrap_or(&offer.file))
            .await?);
    }
    if !name.contains('/') {
        return Err(Error::new(Kind::ModelNotFound { model: name.to_owned() }).into());
    }
    if let Some(file) = file {
        return Ok(manager.repositories().model(name, file).await?);
    }
    let mut all = manager.repositories().models(name).await?;
    if all.len() > 1 {
        if let Ok(usual) = manager.repositories().model(name, USUAL).await {
            return Ok(usual);
        }
        let files: Vec<_> = all.iter().map(|model| model.file.as_str()).collect();
        let sentence = gettext("“{name}” has several models. Choose one with --file: {files}");
        return Err(CliError::Usage(fill(
            &sentence,
            &[("name", name), ("files", &files.join(", "))],
        )));
    }
    all.pop().ok_or_else(|| {
        let (repository, file) = (name.to_owned(), "*.gguf".to_owned());
        Error::new(Kind::RepositoryFileNotFound { repository, file }).into()
    })
}

async fn done(name: &str, json: bool, program: &Program) -> Result<Outcome> {
    let installed = program.manager.local_models().list().await?;
    if let Some(model) = installed.iter().find(|model| model.name == name) {
        if json {
            program.output.print(typed("model", &InstalledView::new(model, ""))).await?;
        } else {
            clear_line(program);
            let sentence = gettext(
                "Downloaded “{name}” ({size}). Try it with: natter-cli ask --model {name} PROMPT",
            );
            super::remark(&fill(&sentence, &[("name", name), ("size", &words::bytes(model.size))]));
        }
    }
    Ok(Outcome::Done)
}

/// Shows the progress in one line of the terminal, which is rewritten.
fn show(download: &Download, program: &Program) {
    let DownloadState::Running { stage, speed } = download.state else { return };
    if !program.terminal.rewrites() {
        return;
    }
    let text = match stage {
        DownloadStage::Fetching => {
            let percent = download.received.saturating_mul(100) / download.total.max(1);
            let mut text = fill(
                &gettext("{percent}%, {received} of {total}"),
                &[
                    ("percent", &percent.to_string()),
                    ("received", &words::bytes(download.received)),
                    ("total", &words::bytes(download.total)),
                ],
            );
            if let Some(speed) = speed {
                let speed = fill(&gettext("{amount}/s"), &[("amount", &words::bytes(speed))]);
                text = format!("{text}, {speed}");
            }
            text
        }
        other => words::download_stage(other),
    };
    let line = terminal::clean(&format!("{}: {text}", download.name)).into_owned();
    terminal::say(&format!("\r\x1b[K{}", program.terminal.dim(&line)));
}

fn clear_line(program: &Program) {
    if program.terminal.rewrites() {
        terminal::say("\r\x1b[K");
    }
}

/// Formats plain data with a leading type field.
pub(super) fn typed(kind: &str, view: &impl serde::Serialize) -> String {
    let mut object = serde_json::Map::new();
    object.insert("type".to_owned(), kind.into());
    if let Ok(serde_json::Value::Object(fields)) = serde_json::to_value(view) {
        object.extend(fields);
    }
    line_of(&object)
}
