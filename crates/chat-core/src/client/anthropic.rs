//! Speaks the protocol of Anthropic's messages, as some other servers do.

mod blocks;
mod models;
mod refused;
mod reply;
mod request;
mod shape;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use reqwest::{Response, Url};

pub(super) use models::is_list;

use self::refused::Refused;
use self::shape::Shape;
use super::http::{Http, KeyHeader};
use super::refusal::{self, SentRequest};
use super::stream::Patience;
use super::{
    Client, ContextWindow, ModelInfo, Recipient, RefusedData, Reply, Request, SentReasoning,
    Timeouts, address, stream,
};
use crate::error::{Error, Kind, Result};
use crate::message::{OptionName, Options, Origin};
use crate::settings::{Connection, Key};

#[cfg(test)]
pub(super) use reply::AnthropicReply;

/// The protocol's name with what servers want back.
const PROTOCOL: &str = "anthropic";

/// How the protocol sends the key, and its version with each request
/// (<https://platform.claude.com/docs/en/api/versioning>).
const KEY_HEADER: KeyHeader =
    KeyHeader::Own { name: "x-api-key", others: &[("anthropic-version", "2023-06-01")] };

/// How often a request is sent in another form after a refusal: each form is about something else.
const CORRECTIONS: usize = 6;

/// A client of a server that speaks Anthropic's protocol.
#[derive(Debug)]
pub(super) struct Anthropic {
    http: Arc<Http>,
    learned: Mutex<Learned>,
}

/// What is known of the server's models and of earlier reasoning.
#[derive(Debug, Default)]
struct Learned {
    /// How each model is asked: as the list says, or as refusals taught.
    shapes: HashMap<String, Shape>,
    /// The values that it does not get back.
    refused: Arc<RefusedData>,
}

impl Anthropic {
    pub(super) fn new(
        connection: &Connection,
        key: Option<Key>,
        timeouts: Timeouts,
    ) -> Result<Self> {
        let url = address::parse(&connection.url).map_err(|error| error.on(&connection.name))?;
        let http = Arc::new(at(base(url), key, connection, timeouts));
        Ok(Self { http, learned: Mutex::default() })
    }

    fn learned(&self) -> MutexGuard<'_, Learned> {
        self.learned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shape(&self, model: &str) -> Shape {
        self.learned().shapes.get(model).copied().unwrap_or_else(|| Shape::of(model))
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

    fn recipient(&self, model: &str) -> Recipient {
        let refused = Arc::clone(&self.learned().refused);
        Recipient { origin: self.origin(model), refused }
    }

    /// The server's answer to a request that it accepts. What it refuses is sent as it wants it, but no
    /// body twice; what it then accepts is remembered.
    async fn accepted(&self, request: &Request, asked: &SentRequest) -> Result<Response> {
        let known = self.shape(&request.model);
        let (mut shape, mut lasting) = (known, known);
        let mut data_of = Some(self.recipient(&request.model));
        let mut sent = Vec::new();
        loop {
            let body = request::body(request, &shape, data_of.as_ref()).map_err(|error| {
                self.http.named(Error::new(Kind::Internal).with_detail(error.to_string()))
            })?;
            let refusal = match self.http.chat("v1/messages", body.clone(), asked).await {
                Ok(response) => {
                    let mut learned = self.learned();
                    if lasting != known {
                        learned.shapes.insert(request.model.clone(), lasting);
                    }
                    if data_of.is_none() {
                        let origin = self.origin(&request.model);
                        let all =
                            request.messages.iter().flat_map(|message| message.provider_data());
                        let own = all.filter(|data| data.json_for(&origin).is_some());
                        own.for_each(|data| Arc::make_mut(&mut learned.refused).insert(data));
                    }
                    return Ok(response);
                }
                Err(refusal) => refusal,
            };
            sent.push(body);
            match Refused::of(&refusal.verbatim) {
                Some(Refused::Reasoning) if data_of.is_some() => data_of = None,
                Some(Refused::Form(change)) => {
                    shape = change.apply(shape);
                    if change.is_lasting() {
                        lasting = change.apply(lasting);
                    }
                }
                _ => return Err(refusal.error),
            }
            let again = request::body(request, &shape, data_of.as_ref());
            if sent.len() > CORRECTIONS || again.is_ok_and(|again| sent.contains(&again)) {
                return Err(refusal.error);
            }
        }
    }
}

/// The server below this address.
pub(super) fn at(base: Url, key: Option<Key>, connection: &Connection, timeouts: Timeouts) -> Http {
    Http::new(base, key, connection, timeouts).with_key_header(KEY_HEADER)
}

/// The address below which `/v1/messages` lies.
pub(super) fn base(url: Url) -> Url {
    address::without_ends(url, &["/v1/messages", "/v1/models", "/v1"])
}

#[async_trait]
impl Client for Anthropic {
    async fn models(&self) -> Result<Vec<ModelInfo>> {
        let listed = models::list(&self.http).await?;
        let mut learned = self.learned();
        for model in &listed {
            let known = learned.shapes.entry(model.info.name.clone());
            let shape = known.or_insert_with(|| Shape::of(&model.info.name));
            *shape = model.shaped(*shape);
        }
        Ok(listed.into_iter().map(|model| model.info).collect())
    }

    async fn model(&self, name: &str) -> Result<ModelInfo> {
        models::one(&self.http, name).await
    }

    async fn context_window(&self, model: &str, _options: &Options, _tokens: u64) -> ContextWindow {
        let data_of = Some(Arc::new(self.recipient(model)));
        let reasoning = SentReasoning { text: false, data_of };
        ContextWindow { reasoning, ..ContextWindow::default() }
    }

    fn takes(&self, option: OptionName) -> bool {
        request::takes(option)
    }

    async fn chat(&self, request: Request) -> Result<Reply> {
        let asked = SentRequest::of(&request, &self.http);
        let response = self.accepted(&request, &asked).await?;
        if refusal::is_page(&response) {
            return Err(self.http.named(Kind::WrongUrl.into()));
        }
        let framing = stream::framing(&response, request.stream);
        let http = Arc::clone(&self.http);
        let patience = Patience { silence: self.http.timeouts.silence, to_begin: true };
        let decoder = reply::AnthropicReply::new(self.origin(&request.model), asked);
        Ok(stream::reply(response, framing, decoder, patience, move |error| http.named(error)))
    }
}
