//! Ollama's own protocol. Its `/v1` is not used: it cannot set the context window, and then cuts
//! long conversations without a word.

mod models;
mod reply;
mod request;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::OnceCell;

use super::frames::Framing;
use super::http::Http;
use super::refusal::{self, Asked};
use super::stream::Patience;
use super::{Client, ModelInfo, Reply, Request, Timeouts, address, stream};
use crate::error::{Error, Kind, Result};
use crate::settings::{Connection, Key};

#[cfg(test)]
pub(super) use reply::OllamaReply;

/// A client of an Ollama server.
#[derive(Debug)]
pub(super) struct Ollama {
    http: Arc<Http>,
    /// The longest window of each model that was asked for. Asked once, so that the window that
    /// requests ask for stays the same: another one makes the server load the model again.
    largest: Mutex<HashMap<String, Arc<OnceCell<Option<u32>>>>>,
}

impl Ollama {
    pub(super) fn new(
        connection: &Connection,
        key: Option<Key>,
        timeouts: Timeouts,
    ) -> Result<Self> {
        let url = address::parse(&connection.url).map_err(|error| error.on(&connection.name))?;
        let base = address::without_ends(url, &["/api/chat", "/api", "/v1"]);
        let http = Arc::new(Http::new(base, key, &connection.name, timeouts));
        Ok(Self { http, largest: Mutex::default() })
    }

    /// The longest window that a model has, where the server says it.
    async fn largest_window(&self, model: &str) -> Option<u32> {
        let cell = {
            let mut known = self.largest.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(model.to_owned()).or_default())
        };
        let ask = async || {
            let shown = models::show(&self.http, model);
            match tokio::time::timeout(models::PATIENCE, shown).await {
                Ok(Ok(info)) => Ok(info.context_length),
                // It is not there: ask again when it is.
                Ok(Err(error)) if matches!(error.kind, Kind::Unreachable) => Err(error),
                _ => Ok(None),
            }
        };
        *cell.get_or_try_init(ask).await.unwrap_or(&None)
    }
}

#[async_trait]
impl Client for Ollama {
    async fn models(&self) -> Result<Vec<ModelInfo>> {
        models::list(&self.http).await
    }

    async fn model(&self, name: &str) -> Result<ModelInfo> {
        models::one(&self.http, name).await
    }

    async fn chat(&self, request: Request) -> Result<Reply> {
        let largest = self.largest_window(&request.model).await;
        let window = request::window(&request.options, largest);
        let body = request::body(&request, window).map_err(|error| {
            self.http.named(Error::new(Kind::Internal).with_detail(error.to_string()))
        })?;
        let asked = Asked {
            model: request.model,
            window: Some(window),
            largest,
            messages: request.messages,
            key: self.http.key().cloned(),
        };
        let response = self.http.chat("api/chat", body, &asked).await?;
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
