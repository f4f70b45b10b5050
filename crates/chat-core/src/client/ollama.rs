//! Speaks Ollama's own protocol. Its `/v1` is not used: it cannot set the context window, and then
//! cuts long conversations without a word.

mod manage;
mod models;
mod reply;
mod request;
mod window;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::OnceCell;

use self::window::{Bounds, Windows};
use super::frames::Framing;
use super::http::Http;
use super::refusal::{self, SentRequest};
use super::stream::Patience;
use super::{
    Client, ContextWindow, ModelInfo, ModelServer, Reply, Request, SentReasoning, Timeouts,
    address, stream,
};
use crate::error::{Error, Kind, Result};
use crate::message::{OptionName, Options};
use crate::models::machine_memory;
use crate::settings::{Connection, Key};

#[cfg(test)]
pub(super) use reply::OllamaReply;

/// A client of an Ollama server.
#[derive(Debug)]
pub(super) struct Ollama {
    http: Arc<Http>,
    /// What bounds the window of each model that was asked for. Asked once, so that the window that
    /// requests ask for stays the same: another one makes the server load the model again.
    bounds: Mutex<HashMap<String, Arc<OnceCell<Bounds>>>>,
    windows: Windows,
    /// This machine's memory, where the server runs on it.
    memory: Option<u64>,
}

impl Ollama {
    pub(super) fn new(
        connection: &Connection,
        key: Option<Key>,
        timeouts: Timeouts,
    ) -> Result<Self> {
        let url = address::parse(&connection.url).map_err(|error| error.on(&connection.name))?;
        let base = address::without_ends(url, &["/api/chat", "/api", "/v1"]);
        let http = Arc::new(Http::new(base, key, connection, timeouts));
        let memory = if address::is_loopback(http.base()) { machine_memory() } else { None };
        Ok(Self { http, bounds: Mutex::default(), windows: Windows::default(), memory })
    }

    /// What bounds a model's window, as far as the server says it.
    async fn bounds_of(&self, model: &str) -> Bounds {
        let cell = {
            let mut known = self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(model.to_owned()).or_default())
        };
        let ask = async || {
            let shown = models::bounds(&self.http, model);
            match tokio::time::timeout(models::PATIENCE, shown).await {
                Ok(Ok(bounds)) => Ok(bounds),
                // It is not there: ask again when it is.
                Ok(Err(error))
                    if matches!(error.kind, Kind::Unreachable | Kind::UnknownHost { .. }) =>
                {
                    Err(error)
                }
                _ => Ok(Bounds::default()),
            }
        };
        cell.get_or_try_init(ask).await.copied().unwrap_or_default()
    }
}

#[async_trait]
impl Client for Ollama {
    fn model_server(&self) -> Option<&dyn ModelServer> {
        Some(self)
    }

    async fn models(&self) -> Result<Vec<ModelInfo>> {
        models::list(&self.http).await
    }

    async fn model(&self, name: &str) -> Result<ModelInfo> {
        models::one(&self.http, name).await
    }

    async fn context_window(&self, model: &str, options: &Options, tokens: u64) -> ContextWindow {
        let bounds = self.bounds_of(model).await;
        let ceiling = bounds.ceiling(self.memory);
        let now = self.windows.fitting(model, options, bounds, ceiling, tokens);
        let largest = if options.context_window.is_some() { now } else { ceiling.max(now) };
        let reasoning = SentReasoning { text: true, data_of: None };
        ContextWindow { now: Some(now), largest: Some(largest), reasoning }
    }

    fn takes(&self, option: OptionName) -> bool {
        request::takes(option)
    }

    async fn chat(&self, request: Request) -> Result<Reply> {
        let Request { model, options, tokens, .. } = &request;
        let bounds = self.bounds_of(model).await;
        let ceiling = bounds.ceiling(self.memory);
        let mut window = self.windows.fitting(model, options, bounds, ceiling, tokens.unwrap_or(0));
        loop {
            let sent = self.chat_within(request.clone(), window, bounds.largest).await;
            let grows = || {
                // A token has a byte at least: what has fewer was refused for another reason.
                let bytes = request::body(&request, window).map_or(0, |body| body.len());
                request.options.context_window.is_none()
                    && window < ceiling
                    && bytes > window as usize
            };
            match sent {
                // It was longer than thought.
                Err(error) if matches!(error.kind, Kind::InputTooLong { .. }) && grows() => {
                    window = window.saturating_mul(2).min(ceiling);
                }
                sent => {
                    if request.options.context_window.is_none() {
                        self.windows.set_requested(&request.model, window);
                    }
                    return sent;
                }
            }
        }
    }
}

impl Ollama {
    async fn chat_within(
        &self,
        request: Request,
        window: u32,
        largest: Option<u32>,
    ) -> Result<Reply> {
        let body = request::body(&request, window).map_err(|error| {
            self.http.named(Error::new(Kind::Internal).with_detail(error.to_string()))
        })?;
        let asked =
            SentRequest { window: Some(window), largest, ..SentRequest::of(&request, &self.http) };
        let response = self.http.chat("api/chat", body, &asked).await;
        let response = response.map_err(|refusal| refusal.error)?;
        if refusal::is_page(&response) {
            return Err(self.http.named(Kind::WrongUrl.into()));
        }
        let framing = if request.stream { Framing::Lines } else { Framing::Whole };
        let http = Arc::clone(&self.http);
        let patience = Patience { silence: self.http.timeouts.silence, to_begin: true };
        let decoder = reply::OllamaReply::new(asked);
        Ok(stream::reply(response, framing, decoder, patience, move |error| http.named(error)))
    }
}
