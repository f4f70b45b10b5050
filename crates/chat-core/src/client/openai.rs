//! Speaks the protocol of OpenAI's chat completions, as many servers do.

mod attempt;
mod calls;
mod content;
mod details;
mod models;
mod reasoning;
mod refused;
mod reply;
mod request;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Response, Url};

pub(super) use models::{answers, owner};

use self::attempt::{Attempt, Values};
use self::reasoning::Replay;
use self::refused::Refused;
use self::request::Dialect;
use super::http::Http;
use super::refusal::{self, SentRequest};
use super::stream::Patience;
use super::{
    Client, ContextWindow, ModelInfo, Recipient, RefusedData, Reply, Request, SentReasoning,
    Timeouts, address, stream,
};
use crate::error::{Error, Kind, Result};
use crate::message::{Message, OptionName, Options, Origin, ProviderData};
use crate::settings::{Connection, Key};

#[cfg(test)]
pub(super) use reply::OpenAiReply;

/// The protocol's name with what servers want back.
const PROTOCOL: &str = "openai";

/// How long to wait before a server that loads its model is asked again.
const LOADING: Duration = Duration::from_secs(1);

/// A client of an OpenAI-compatible server.
#[derive(Debug)]
pub(super) struct OpenAi {
    http: Arc<Http>,
    dialect: Dialect,
    learned: Mutex<Learned>,
}

/// What the server's refusals taught about earlier reasoning.
#[derive(Debug, Default)]
struct Learned {
    /// How it goes back, by model.
    replays: HashMap<String, Replay>,
    /// The values that do not.
    refused: Arc<RefusedData>,
}

impl OpenAi {
    pub(super) fn new(
        connection: &Connection,
        key: Option<Key>,
        timeouts: Timeouts,
    ) -> Result<Self> {
        let url = address::parse(&connection.url).map_err(|error| error.on(&connection.name))?;
        let base = base(url);
        let dialect = Dialect::of(&base);
        let http = Arc::new(Http::new(base, key, connection, timeouts));
        Ok(Self { http, dialect, learned: Mutex::default() })
    }
}

impl OpenAi {
    /// A client of Natter's own engine at this socket.
    pub(super) fn at_socket(socket: &Path, name: &str, timeouts: Timeouts) -> Result<Self> {
        let http = Arc::new(Http::at_socket(socket, name, timeouts)?);
        Ok(Self { http, dialect: Dialect::BuiltIn, learned: Mutex::default() })
    }

    /// Whether a request to Natter's own engine can say this option.
    pub(super) fn built_in_takes(option: OptionName) -> bool {
        Dialect::BuiltIn.takes(option)
    }

    /// Its server.
    pub(super) fn http(&self) -> &Http {
        &self.http
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How earlier reasoning goes back to this model.
    fn replay(&self, model: &str) -> Replay {
        self.learned().replays.get(model).copied().unwrap_or_else(|| match self.dialect {
            Dialect::BuiltIn => Replay::BUILT_IN,
            Dialect::Server(_) => Replay::of(self.http.base(), model),
        })
    }

    /// Remembers what the server accepted in place of what is known.
    fn learn(&self, request: &Request, accepted: Attempt, known: Replay) {
        let origin = self.origin(&request.model);
        let own = wanted_back(&request.messages).filter(|data| data.json_for(&origin).is_some());
        let mut learned = self.learned();
        if accepted.replay != known {
            learned.replays.insert(request.model.clone(), accepted.replay);
        }
        let refused = &mut learned.refused;
        match accepted.values {
            Values::Accepted => {}
            Values::All => own.for_each(|data| Arc::make_mut(refused).remove(data)),
            Values::None => own.for_each(|data| Arc::make_mut(refused).insert(data)),
        }
    }

    /// This model, as the origin of what it sends along.
    fn origin(&self, model: &str) -> Origin {
        Origin {
            protocol: PROTOCOL.to_owned(),
            connection: self.http.name().to_owned(),
            server: self.http.server(),
            model: model.to_owned(),
        }
    }

    /// This model, where it gets back what it sent along.
    fn recipient(&self, model: &str, attempt: Attempt) -> Option<Recipient> {
        if !attempt.replay.provider_data {
            return None;
        }
        let refused = match attempt.values {
            Values::None => return None,
            Values::All => Arc::default(),
            Values::Accepted => Arc::clone(&self.learned().refused),
        };
        Some(Recipient { origin: self.origin(model), refused })
    }

    fn body(&self, request: &Request, attempt: Attempt) -> Result<Vec<u8>> {
        let data_of = self.recipient(&request.model, attempt);
        request::body(request, self.dialect, attempt.replay, data_of.as_ref()).map_err(|error| {
            self.http.named(Error::new(Kind::Internal).with_detail(error.to_string()))
        })
    }

    /// The server's answer to a request that it accepts. What it refuses of earlier reasoning is sent
    /// as it wants it, but no body twice; what it then accepts is remembered.
    async fn accepted(&self, request: &Request, asked: &SentRequest) -> Result<Response> {
        let known = self.replay(&request.model);
        let mut attempt = Attempt::first(known);
        let mut body = self.body(request, attempt)?;
        let mut refused_bodies = Vec::new();
        let mut uncorrected = Refused::ALL.to_vec();
        loop {
            let refusal = match self.http.chat("chat/completions", body.clone(), asked).await {
                Ok(response) => {
                    self.learn(request, attempt, known);
                    return Ok(response);
                }
                Err(refusal) => refusal,
            };
            // llama.cpp's server refuses what comes while it loads its model, for minutes with
            // a large one. Others hold the request until they can answer it; so do we.
            if is_loading(&refusal.verbatim) {
                tokio::time::sleep(LOADING).await;
                continue;
            }
            refused_bodies.push(body);
            let corrected = uncorrected.iter().enumerate().find_map(|(at, refused)| {
                attempt.after_refusal(*refused, &refusal.verbatim).into_iter().find_map(|instead| {
                    let again = self.body(request, instead).ok()?;
                    // Otherwise it speaks of something else: there was nothing to change.
                    (!refused_bodies.contains(&again)).then_some((at, instead, again))
                })
            });
            let Some((at, instead, again)) = corrected else { return Err(refusal.error) };
            uncorrected.remove(at);
            (attempt, body) = (instead, again);
        }
    }
}

/// All that servers want back with these messages.
fn wanted_back(messages: &[Arc<Message>]) -> impl Iterator<Item = &ProviderData> {
    messages.iter().flat_map(|message| {
        let of_calls = message.tool_calls().filter_map(|call| call.provider.as_ref());
        message.provider_data().chain(of_calls)
    })
}

/// The address below which the API lies: a server's root means its `/v1`.
pub(super) fn base(url: Url) -> Url {
    let mut base = address::without_ends(url, &["/chat/completions", "/completions", "/models"]);
    let path = base.path().trim_end_matches('/');
    if base.host_str() == Some("openrouter.ai") && matches!(path, "" | "/api" | "/v1") {
        base.set_path("/api/v1");
    } else if path.is_empty() {
        base.set_path("/v1");
    }
    base
}

/// Whether the server says that it is loading its model (llama.cpp, `server.cpp`: a 503 with the
/// message "Loading model").
fn is_loading(error: &Error) -> bool {
    error.kind == Kind::Busy
        && error.detail.as_deref().is_some_and(|detail| detail.contains("Loading model"))
}

#[async_trait]
impl Client for OpenAi {
    async fn models(&self) -> Result<Vec<ModelInfo>> {
        models::list(&self.http).await
    }

    async fn model(&self, name: &str) -> Result<ModelInfo> {
        models::one(&self.http, name).await
    }

    async fn context_window(&self, model: &str, _options: &Options, _tokens: u64) -> ContextWindow {
        let replay = self.replay(model);
        let data_of = self.recipient(model, Attempt::first(replay)).map(Arc::new);
        let reasoning = SentReasoning { text: replay.fills_window(), data_of };
        ContextWindow { reasoning, ..ContextWindow::default() }
    }

    fn takes(&self, option: OptionName) -> bool {
        self.dialect.takes(option)
    }

    async fn chat(&self, request: Request) -> Result<Reply> {
        let asked = SentRequest::of(&request, &self.http);
        let response = self.accepted(&request, &asked).await?;
        if refusal::is_page(&response) {
            return Err(self.http.named(Kind::WrongUrl.into()));
        }
        let framing = stream::framing(&response, request.stream);
        let http = Arc::clone(&self.http);
        // Our own engine gives a sign of life every few seconds, whatever it does.
        let to_begin = self.dialect != Dialect::BuiltIn || !request.stream;
        let patience = Patience { silence: self.http.timeouts.silence, to_begin };
        let decoder = reply::OpenAiReply::new(self.origin(&request.model), asked);
        Ok(stream::reply(response, framing, decoder, patience, move |error| http.named(error)))
    }
}
