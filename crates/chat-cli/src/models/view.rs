//! Defines how local and available models are shown, as JSON and as text.

use chat_core::client::Capabilities;
use chat_core::models::{
    CONNECTION, Download, DownloadState, Facts, Installed, Offer, RemoteModel,
};
use chat_presentation::words;
use serde::Serialize;

use crate::output::json::ErrorView;
use crate::say;

/// Memory is given for a context window of this many tokens, as in the catalog.
pub const WINDOW: u32 = 8_192;

/// What a file says about its model.
#[derive(Serialize)]
pub struct FactsView<'a> {
    architecture: &'a str,
    title: Option<&'a str>,
    licence: Option<&'a str>,
    parameters: String,
    quantization: Option<&'a str>,
    context_length: Option<u32>,
    capabilities: Capabilities,
    embedding: bool,
    memory: u64,
}

impl<'a> FactsView<'a> {
    pub fn new(facts: &'a Facts) -> Self {
        Self {
            architecture: &facts.architecture,
            title: facts.title.as_deref(),
            licence: facts.licence.as_deref(),
            parameters: facts.parameters_label(),
            quantization: facts.quantization.as_deref(),
            context_length: facts.context_length,
            capabilities: Capabilities {
                chat: facts.chat,
                tools: facts.tools,
                vision: Some(false),
                thinking: facts.thinking,
                context_window: None,
            },
            embedding: facts.embedding,
            memory: facts.memory.with_window(WINDOW),
        }
    }
}

/// An installed model.
#[derive(Serialize)]
pub struct InstalledView<'a> {
    model: String,
    name: &'a str,
    path: String,
    size: u64,
    owned: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(flatten)]
    facts: FactsView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorView<'a>>,
}

impl<'a> InstalledView<'a> {
    /// Creates the view; `sentence` says why the model cannot be used.
    pub fn new(model: &'a Installed, sentence: &'a str) -> Self {
        Self {
            model: format!("{CONNECTION}/{}", model.name),
            name: &model.name,
            path: model.path.display().to_string(),
            size: model.size,
            owned: model.owned,
            sha256: model.sha256.as_deref(),
            repository: model.source.as_ref().map(|source| source.repository.as_str()),
            file: model.source.as_ref().map(|source| source.file.as_str()),
            facts: FactsView::new(&model.facts),
            error: model.problem.as_ref().map(|problem| ErrorView::new(problem, sentence)),
        }
    }
}

/// A model of the catalog.
#[derive(Serialize)]
pub struct OfferView<'a> {
    name: &'a str,
    title: &'a str,
    good_for: String,
    parameters: &'a str,
    memory: u64,
    size: u64,
    licence: &'a str,
    context_length: u32,
    capabilities: Capabilities,
    repository: &'a str,
    file: &'a str,
    installed: bool,
}

impl<'a> OfferView<'a> {
    pub fn new(offer: &'a Offer, installed: bool) -> Self {
        Self {
            name: &offer.name,
            title: &offer.title,
            good_for: words::good_for(offer),
            parameters: &offer.parameters,
            memory: offer.memory,
            size: offer.size,
            licence: &offer.licence,
            context_length: offer.context,
            capabilities: Capabilities {
                chat: Some(true),
                tools: Some(offer.tools),
                vision: Some(offer.vision),
                thinking: Some(offer.thinking),
                context_window: None,
            },
            repository: &offer.repository,
            file: &offer.file,
            installed,
        }
    }
}

/// A model in a repository.
#[derive(Serialize)]
pub struct RemoteView<'a> {
    repository: &'a str,
    file: &'a str,
    files: usize,
    size: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256: Option<&'a str>,
}

impl<'a> RemoteView<'a> {
    pub fn new(model: &'a RemoteModel) -> Self {
        let first = model.parts.first().filter(|_| model.parts.len() == 1);
        Self {
            repository: &model.repository,
            file: &model.file,
            files: model.parts.len(),
            size: model.size(),
            sha256: first.and_then(|part| part.sha256.as_deref()),
        }
    }
}

/// The state of a download.
#[derive(Serialize)]
pub struct DownloadView<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    repository: &'a str,
    file: &'a str,
    received: u64,
    total: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<u64>,
    state: &'static str,
}

impl<'a> DownloadView<'a> {
    pub fn new(download: &'a Download) -> Self {
        let speed = match download.state {
            DownloadState::Running { speed, .. } => speed,
            _ => None,
        };
        Self {
            kind: "download",
            name: &download.name,
            repository: &download.repository,
            file: &download.file,
            received: download.received,
            total: download.total,
            speed,
            state: match download.state {
                DownloadState::Running { .. } => "running",
                DownloadState::Paused => "paused",
                DownloadState::Failed(_) => "failed",
                DownloadState::Elsewhere => "elsewhere",
                DownloadState::Done { .. } => "done",
            },
        }
    }
}

/// What a file says about its model, in one line.
pub fn facts_line(facts: &Facts) -> String {
    let can = Capabilities {
        chat: facts.chat,
        tools: facts.tools,
        vision: None,
        thinking: facts.thinking,
        context_window: None,
    };
    let about = [
        Some(facts.parameters_label()),
        facts.quantization.clone(),
        facts.context_length.map(say::reads),
    ];
    about.into_iter().flatten().chain(say::abilities(can)).collect::<Vec<_>>().join(", ")
}
