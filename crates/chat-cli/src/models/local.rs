//! Lists models on this computer, those that other programs have, and those that can be downloaded.

use std::path::{Path, PathBuf};

use chat_core::error::{Error, Kind};
use chat_core::models::{
    self, CONNECTION, Download, DownloadState, Fit, Installed, Offer, RemoteModel,
};
use chat_presentation::words;
use serde::Serialize;

use super::view::{FactsView, InstalledView, OfferView, RemoteView, WINDOW, facts_line};
use crate::engine::Program;
use crate::error::{Outcome, Result, explain};
use crate::output::line_of;
use crate::terminal;

mod sentences;

/// Lists installed models and downloads.
pub async fn installed(json: bool, program: &Program) -> Result<Outcome> {
    let models = program.manager.local_models().list().await?;
    let mut out = String::new();
    for model in &models {
        let sentence = model.problem.as_ref().map(words::sentence).unwrap_or_default();
        if json {
            out.push_str(&line_of(&InstalledView::new(model, &sentence)));
        } else {
            let size = words::bytes(model.size);
            let about = if sentence.is_empty() { facts_line(&model.facts) } else { sentence };
            out.push_str(&row(&model.name, &size, &about, program));
        }
    }
    let waiting = program.manager.downloads().list();
    for download in waiting.iter().filter(|d| !matches!(d.state, DownloadState::Done { .. })) {
        if json {
            out.push_str(&line_of(&super::view::DownloadView::new(download)));
        } else {
            let about = sentences::arrived(download);
            out.push_str(&row(&download.name, &words::bytes(download.total), &about, program));
        }
    }
    if out.is_empty() && !json {
        terminal::say(&format!("{}\n", sentences::none_installed()));
    }
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

/// Lists the models of the catalog.
pub async fn offered(json: bool, program: &Program) -> Result<Outcome> {
    let installed = program.manager.local_models().list().await?;
    let memory = models::machine_memory();
    let mut out = String::new();
    for offer in models::catalogue() {
        let is_here = installed.iter().any(|model| is_of(model, offer));
        if json {
            out.push_str(&line_of(&OfferView::new(offer, is_here)));
            continue;
        }
        let fit = memory.map_or(Fit::Well, |memory| models::fit(offer.memory, memory));
        let mut about = words::good_for(offer);
        if let Some(note) = sentences::note(is_here, fit) {
            about = format!("{about} ({note})");
        }
        out.push_str(&row(&offer.name, &words::bytes(offer.size), &about, program));
    }
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

/// Lists models that other programs have.
pub async fn discovered(json: bool, program: &Program) -> Result<Outcome> {
    #[derive(Serialize)]
    struct View<'a> {
        program: &'a str,
        name: &'a str,
        path: String,
        size: u64,
        #[serde(flatten)]
        facts: FactsView<'a>,
    }
    let mut out = String::new();
    for found in program.manager.local_models().discovered().await? {
        let path = found.path.display().to_string();
        if json {
            let facts = FactsView::new(&found.facts);
            let (program, name, size) = (found.program.name(), found.name.as_str(), found.size);
            out.push_str(&line_of(&View { program, name, path, size, facts }));
        } else {
            let about = format!("{}: {path}", found.program.name());
            out.push_str(&row(&found.name, &words::bytes(found.size), &about, program));
        }
    }
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

/// Shows what is known about one model.
pub async fn info(name: &str, json: bool, program: &Program) -> Result<Outcome> {
    let short = name.strip_prefix(CONNECTION).and_then(|rest| rest.strip_prefix('/'));
    let installed = program.manager.local_models().list().await?;
    let is_it = |model: &&Installed| model.name.eq_ignore_ascii_case(short.unwrap_or(name));
    if let Some(model) = installed.iter().find(is_it) {
        return print_installed(model, json, program).await;
    }
    if let Some(offer) = models::offer(name) {
        let text =
            if json { line_of(&OfferView::new(offer, false)) } else { sentences::of_offer(offer) };
        program.output.print(program.terminal.clean_output(&text).into_owned()).await?;
        return Ok(Outcome::Done);
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|kind| kind == "gguf") && path.exists() {
        let path = path.to_owned();
        let facts = program.manager.local_models().facts(path.clone()).await?;
        let text = if json {
            line_of(&FactsView::new(&facts))
        } else {
            sentences::of_file(&path.display().to_string(), &facts)
        };
        program.output.print(program.terminal.clean_output(&text).into_owned()).await?;
        return Ok(Outcome::Done);
    }
    if name.contains('/') {
        return list_remote(&program.manager.repositories().models(name).await?, json, program)
            .await;
    }
    Err(Error::new(Kind::ModelNotFound { model: name.to_owned() }).into())
}

/// Searches the hub for repositories.
pub async fn search(text: &str, json: bool, program: &Program) -> Result<Outcome> {
    #[derive(Serialize)]
    struct View<'a> {
        repository: &'a str,
        downloads: u64,
        likes: u64,
        licence: Option<&'a str>,
        closed: bool,
    }
    let mut out = String::new();
    for found in program.manager.repositories().search(text).await? {
        let licence = found.licence.as_deref();
        if json {
            out.push_str(&line_of(&View {
                repository: &found.name,
                downloads: found.downloads,
                likes: found.likes,
                licence,
                closed: found.closed,
            }));
        } else {
            let line = format!("{:60}  {}", found.name, licence.unwrap_or_default());
            out.push_str(&program.terminal.clean_output(line.trim_end()));
            out.push('\n');
        }
    }
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

/// Adds a file.
pub async fn add(file: PathBuf, take: bool, json: bool, program: &Program) -> Result<Outcome> {
    let model = if take {
        program.manager.local_models().take_in(file).await?
    } else {
        program.manager.local_models().add(file).await?
    };
    if json {
        program.output.print(line_of(&InstalledView::new(&model, ""))).await?;
    } else {
        super::remark(&sentences::added(&model.name));
    }
    Ok(Outcome::Done)
}

/// Removes a model, or a stopped download.
pub async fn remove(name: &str, program: &Program) -> Result<Outcome> {
    let short = name.strip_prefix(CONNECTION).and_then(|rest| rest.strip_prefix('/'));
    let name = short.unwrap_or(name);
    let downloads = program.manager.downloads().list();
    let waits = |download: &&Download| download.name.eq_ignore_ascii_case(name);
    match program.manager.local_models().remove(name).await {
        Ok(model) => super::remark(&sentences::removed(&model.name, model.owned)),
        // The name may mean a download; but if a model could not be removed, the download must not
        // be discarded instead.
        Err(error) => {
            let unknown = matches!(error.kind, Kind::ModelNotFound { .. });
            let Some(download) = downloads.iter().find(waits).filter(|_| unknown) else {
                return Err(error.into());
            };
            program.manager.downloads().cancel(&download.id).await?;
            super::remark(&sentences::removed(&download.name, true));
        }
    }
    Ok(Outcome::Done)
}

/// Lists the models of a repository.
pub async fn list_remote(models: &[RemoteModel], json: bool, program: &Program) -> Result<Outcome> {
    let mut out = String::new();
    for model in models {
        if json {
            out.push_str(&line_of(&RemoteView::new(model)));
        } else {
            let line = format!("{:>10}  {}", words::bytes(model.size()), model.file);
            out.push_str(&program.terminal.clean_output(&line));
            out.push('\n');
        }
    }
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

async fn print_installed(model: &Installed, json: bool, program: &Program) -> Result<Outcome> {
    let sentence = model.problem.as_ref().map(words::sentence).unwrap_or_default();
    let text = if json {
        line_of(&InstalledView::new(model, &sentence))
    } else {
        sentences::of_installed(model)
    };
    program.output.print(program.terminal.clean_output(&text).into_owned()).await?;
    if let Some(problem) = model.problem.as_ref().filter(|_| !json) {
        terminal::say(&explain(problem, program.terminal));
        return Ok(Outcome::Failed);
    }
    Ok(Outcome::Done)
}

/// Whether an installed model is from the catalog and can be used.
fn is_of(model: &Installed, offer: &Offer) -> bool {
    let from_there = || {
        model.source.as_ref().is_some_and(|source| {
            source.repository == offer.repository && source.file == offer.file
        })
    };
    model.problem.is_none() && (model.name == offer.name || from_there())
}

fn row(name: &str, size: &str, about: &str, program: &Program) -> String {
    let line = format!("{name:24}  {size:>10}  {about}");
    format!("{}\n", program.terminal.clean_output(line.trim_end()))
}

/// Formats how much memory a model needs.
fn memory(facts: &models::Facts) -> String {
    words::bytes(facts.memory.with_window(WINDOW))
}
