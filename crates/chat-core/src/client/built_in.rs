//! Natter's own engine as one more connection: its models are the installed ones, and the program
//! `natter-engine` runs while it is needed.

mod engine;
mod paths;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::StreamExt;

use self::engine::Engine;
use super::openai::OpenAi;
use super::{Capabilities, Client, ContextWindow, ModelInfo, Reply, Request, Timeouts};
use crate::error::{Error, Kind, Result};
use crate::message::{OptionName, Options};
use crate::models::{CONNECTION, Installed, Library, recommended};
use crate::settings::{EngineSettings, Folders};

pub use self::engine::EngineOptions;

/// The window where nobody chose one, in tokens.
const WINDOW: u32 = 8192;

/// The built-in engine. It is started with the first request, and ends some seconds after this is
/// dropped, unless another program uses it.
#[derive(Debug)]
pub struct BuiltIn {
    library: Library,
    engine: Arc<Engine>,
}

impl BuiltIn {
    /// An engine with these installed models. Starts nothing yet.
    pub fn new(library: Library, options: EngineOptions, timeouts: Timeouts) -> Self {
        Self { library, engine: Arc::new(Engine::new(options, timeouts)) }
    }

    /// Asks the engine, which begins its answer within seconds, if only with a sign of life. One that
    /// does not hangs, and is ended.
    async fn begin(&self, request: Request) -> Result<Reply> {
        let running = self.engine.running().await?;
        let streams = request.stream;
        let asked = running.client().chat(request);
        if !streams {
            // All of it comes at once, after minutes maybe.
            return asked.await;
        }
        let Ok(reply) = tokio::time::timeout(self.engine.silence(), asked).await else {
            self.engine.kill();
            return Err(Kind::Stalled.into());
        };
        reply
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Library) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let library = self.library.clone();
        let asked = tokio::task::spawn_blocking(move || question(&library)).await;
        asked.unwrap_or_else(|_| Err(Kind::Internal.into())).map_err(|error| error.on(CONNECTION))
    }
}

/// Where the engine's things are and how it works.
impl EngineOptions {
    /// As the settings say.
    pub fn of(folders: &Folders, settings: &EngineSettings) -> Self {
        Self {
            program: paths::program(),
            runtime: folders.runtime.clone(),
            log: folders.state.join("engine.log"),
            settings: settings.clone(),
        }
    }
}

#[async_trait]
impl Client for BuiltIn {
    async fn models(&self) -> Result<Vec<ModelInfo>> {
        let installed = self.ask(Library::list).await?;
        Ok(installed.iter().filter(|model| model.problem.is_none()).map(info).collect())
    }

    async fn model(&self, name: &str) -> Result<ModelInfo> {
        let name = name.to_owned();
        self.ask(move |library| library.find(&name)).await.map(|model| info(&model))
    }

    async fn context_window(&self, model: &str, options: &Options, _tokens: u64) -> ContextWindow {
        let name = model.to_owned();
        let Ok(installed) = self.ask(move |library| library.find(&name)).await else {
            return ContextWindow::default();
        };
        let window = Some(window(options, &installed));
        ContextWindow { now: window, largest: window, ..ContextWindow::default() }
    }

    fn takes(&self, option: OptionName) -> bool {
        OpenAi::built_in_takes(option)
    }

    async fn chat(&self, mut request: Request) -> Result<Reply> {
        let name = request.model.clone();
        let installed = self.ask(move |library| library.find(&name)).await?;
        if installed.facts.chat == Some(false) {
            let kind = Kind::Unsupported { feature: crate::error::Feature::Chat };
            return Err(Error::new(kind).on(CONNECTION));
        }
        request.model = installed.path.to_string_lossy().into_owned();
        let longest = installed.facts.context_length.unwrap_or(WINDOW);
        request.options.context_window = Some(window(&request.options, &installed));
        request.sampling = recommended(&installed, request.thinking);
        let reply = match self.begin(request.clone()).await {
            // It may have ended between the two, or be about to: it has answered nothing.
            Err(error) if matches!(error.kind, Kind::Unreachable | Kind::Cut) => {
                self.engine.forget().await;
                self.begin(request).await
            }
            reply => reply,
        };
        let reply = reply.map_err(|error| named(error, &installed, longest))?;
        let engine = Arc::clone(&self.engine);
        let heard = reply.map(move |batch| {
            batch.map_err(|error| {
                if error.kind == Kind::Stalled {
                    // It hangs: whoever asks next gets one that does not.
                    engine.kill();
                }
                named(error, &installed, longest)
            })
        });
        Ok(heard.boxed())
    }
}

/// The window of a request: what was chosen, or the usual one, but no more than the model has.
fn window(options: &Options, installed: &Installed) -> u32 {
    let longest = installed.facts.context_length.unwrap_or(WINDOW);
    options.context_window.unwrap_or(WINDOW).min(longest)
}

/// An error as the person knows the model: by its name, and not by its file.
fn named(mut error: Error, installed: &Installed, longest: u32) -> Error {
    match &mut error.kind {
        Kind::ModelNotFound { model } => model.clone_from(&installed.name),
        Kind::InputTooLong { largest, .. } => *largest = Some(longest),
        _ => {}
    }
    error.on(CONNECTION)
}

fn info(model: &Installed) -> ModelInfo {
    let facts = &model.facts;
    ModelInfo {
        name: model.name.clone(),
        size: Some(model.size),
        parameters: Some(facts.parameters_label()).filter(|label| !label.is_empty()),
        quantization: facts.quantization.clone(),
        context_length: facts.context_length,
        price: None,
        capabilities: Capabilities {
            chat: facts.chat,
            tools: facts.tools,
            vision: Some(false),
            thinking: facts.thinking,
            context_window: Some(true),
        },
    }
}
