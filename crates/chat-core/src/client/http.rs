//! Holds what all protocols need of HTTP: one server's connection, its key, and errors as kinds.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use bytes::BytesMut;
use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{ClientBuilder, Method, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::refusal::{self, Refusal, SentRequest};
use super::route::Route;
use super::{Timeouts, address, json};
use crate::error::{Error, Kind, Result};
use crate::message::Origin;
use crate::net::{self, root_words};
use crate::settings::{Connection, Key};

/// Of a short answer so many bytes are read: the longest lists of models have some megabytes.
const ANSWER_LIMIT: usize = 32 << 20;
/// Of an error's body so many: its words come first.
const ERROR_LIMIT: usize = 64 << 10;
/// Redirects that are followed within one server.
const REDIRECTS: usize = 5;

/// How a protocol sends a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyHeader {
    /// As most do.
    Bearer,
    /// In a header of its own, with others that the protocol wants in each request.
    Own { name: &'static str, others: &'static [(&'static str, &'static str)] },
}

/// One server over HTTP.
#[derive(Debug)]
pub(super) struct Http {
    base: Url,
    key: Option<Key>,
    key_header: KeyHeader,
    name: String,
    route: Route,
    /// Where it is no server of the network.
    socket: Option<PathBuf>,
    pub timeouts: Timeouts,
    client: OnceLock<reqwest::Client>,
}

impl Http {
    /// A server below this address. Connects to nothing yet.
    pub fn new(base: Url, key: Option<Key>, connection: &Connection, timeouts: Timeouts) -> Self {
        Self {
            base,
            key,
            key_header: KeyHeader::Bearer,
            name: connection.name.clone(),
            route: Route::of(connection),
            socket: None,
            timeouts,
            client: OnceLock::new(),
        }
    }

    /// Sends the key in another way.
    #[must_use]
    pub fn with_key_header(self, key_header: KeyHeader) -> Self {
        Self { key_header, ..self }
    }

    /// A server of this machine behind a socket.
    pub fn at_socket(socket: &Path, name: &str, timeouts: Timeouts) -> Result<Self> {
        let base = address::parse("http://localhost/v1")?;
        let connection = Connection { name: name.to_owned(), ..Connection::default() };
        Ok(Self { socket: Some(socket.to_owned()), ..Self::new(base, None, &connection, timeouts) })
    }

    /// What a path of a server answers, to be read as it comes.
    pub async fn open(&self, path: &str) -> Result<Response> {
        let mut url = self.base.clone();
        url.set_path(path);
        let response = self.client()?.get(url).send().await;
        let response = response.map_err(|error| self.named(transport(&error)))?;
        response.error_for_status().map_err(|error| self.named(transport(&error)))
    }

    /// The connection's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Identifies the server, whoever the user is; none for a program behind a socket.
    pub fn server(&self) -> Option<String> {
        if self.socket.is_some() {
            return None;
        }
        let mut server = self.base.clone();
        // These fail only for addresses that have no host.
        server.set_username("").ok()?;
        server.set_password(None).ok()?;
        Some(Origin::digest(server.as_str()))
    }

    pub fn key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// What no error repeats, besides the key.
    pub fn secrets(&self) -> Vec<Arc<str>> {
        self.route.secrets()
    }

    /// Names the connection in an error.
    pub fn named(&self, error: Error) -> Error {
        if self.name.is_empty() { error } else { error.on(&self.name) }
    }

    /// A short question.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T> {
        let client = self.client()?;
        self.ask(client.get(address::join(&self.base, path)), &SentRequest::default()).await
    }

    /// The same at another address of the server.
    pub async fn get_at<T: DeserializeOwned>(&self, url: Url) -> Result<T> {
        self.ask(self.client()?.get(url), &SentRequest::default()).await
    }

    /// A short question with a body, about a model.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: Vec<u8>,
        model: &str,
    ) -> Result<T> {
        let asked = SentRequest { model: model.to_owned(), ..SentRequest::default() };
        let request = self.client()?.post(address::join(&self.base, path)).body(body);
        self.ask(request.header(CONTENT_TYPE, "application/json"), &asked).await
    }

    /// Sends a chat request; returns the answer when the server has accepted it, even after minutes.
    pub async fn chat(
        &self,
        path: &str,
        body: Vec<u8>,
        asked: &SentRequest,
    ) -> Result<Response, Refusal> {
        self.stream(Method::POST, path, body, asked).await
    }

    /// What stands at the server's root, as text: how some programs say what they are.
    pub async fn greeting(&self) -> Result<String> {
        let request = self.client()?.get(self.base.clone()).timeout(self.timeouts.question);
        let response =
            self.routed(request)?.send().await.map_err(|error| self.named(transport(&error)))?;
        let body = read(response, ERROR_LIMIT).await?;
        Ok(String::from_utf8_lossy(&body).into_owned())
    }

    /// What a path answers, whatever its status: what a server says without a key may tell what it is.
    pub async fn look(&self, path: &str) -> Result<Value> {
        let request = self.client()?.get(address::join(&self.base, path));
        let request = self.authorized(request)?.timeout(self.timeouts.question);
        let response = request.send().await.map_err(|error| self.named(transport(&error)))?;
        Ok(json::value(&read(response, ANSWER_LIMIT).await?))
    }

    /// Sends a request with a body, about a model; its answer is read as it comes: how long it is, is not known.
    pub async fn follow(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
        model: &str,
    ) -> Result<Response> {
        let asked = SentRequest { model: model.to_owned(), ..SentRequest::default() };
        self.stream(method, path, body, &asked).await.map_err(|refusal| refusal.error)
    }

    /// Sends a request whose answer comes as a stream.
    async fn stream(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
        asked: &SentRequest,
    ) -> Result<Response, Refusal> {
        let request = self
            .client()?
            .request(method, address::join(&self.base, path))
            .header(CONTENT_TYPE, "application/json")
            // A compressed stream comes in lumps.
            .header(ACCEPT_ENCODING, "identity")
            .body(body);
        let response = self.authorized(request)?.send().await;
        let response = response.map_err(|error| self.named(transport(&error)))?;
        if response.status().is_success() {
            return Ok(response);
        }
        Err(self.refusal(response, asked).await)
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        request: RequestBuilder,
        asked: &SentRequest,
    ) -> Result<T> {
        let request = self.authorized(request)?.timeout(self.timeouts.question);
        let response = request.send().await.map_err(|error| self.named(transport(&error)))?;
        if !response.status().is_success() {
            return Err(self.refusal(response, asked).await.error);
        }
        let body = read(response, ANSWER_LIMIT).await.map_err(|error| self.named(error))?;
        serde_json::from_slice(&body).map_err(|error| {
            let json = matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
            let kind = if json { Kind::InvalidResponse } else { Kind::WrongUrl };
            let place = format!("line {}, column {}", error.line(), error.column());
            self.named(Error::new(kind).with_detail(format!("invalid JSON at {place}")))
        })
    }

    async fn refusal(&self, response: Response, asked: &SentRequest) -> Refusal {
        let status = response.status().as_u16();
        let headers: HeaderMap = response.headers().clone();
        let body = tokio::time::timeout(self.timeouts.question, read(response, ERROR_LIMIT)).await;
        // The status says enough where the words do not come.
        let body = body.ok().and_then(Result::ok).unwrap_or_default();
        let secrets = self.route.secrets();
        let asked = SentRequest { key: self.key.clone(), secrets, ..asked.clone() };
        let refusal = refusal::of_status(status, &headers, &body, &asked);
        Refusal { error: self.named(refusal.error), ..refusal }
    }

    fn authorized(&self, request: RequestBuilder) -> Result<RequestBuilder> {
        let request = self.routed(request)?;
        let (header, value) = match (self.key_header, &self.key) {
            (_, None) => return Ok(request),
            (KeyHeader::Bearer, Some(key)) => {
                (AUTHORIZATION.as_str(), format!("Bearer {}", key.expose()))
            }
            (KeyHeader::Own { name, .. }, Some(key)) => (name, key.expose().to_owned()),
        };
        // A key with line breaks or the like was never one.
        let mut value =
            HeaderValue::from_str(&value).map_err(|_| self.named(Kind::KeyUnavailable.into()))?;
        value.set_sensitive(true);
        // Who sends another one in a header of the connection means that.
        if self.route.has(header) { Ok(request) } else { Ok(request.header(header, value)) }
    }

    /// With the protocol's headers and those of the connection, which count where both have one.
    fn routed(&self, mut request: RequestBuilder) -> Result<RequestBuilder> {
        if let KeyHeader::Own { others, .. } = self.key_header {
            for (name, value) in others.iter().filter(|(name, _)| !self.route.has(name)) {
                request = request.header(*name, *value);
            }
        }
        let headers = self.route.headers().map_err(|error| self.named(error))?;
        Ok(request.headers(headers))
    }

    fn client(&self) -> Result<&reqwest::Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = build(&self.base, self.socket.as_deref(), &self.timeouts);
        let encrypted = self.base.scheme() == "https";
        let client = self.route.apply(client, encrypted).map_err(|error| self.named(error))?;
        let client = client
            .build()
            .map_err(|error| self.named(Error::new(Kind::Tls).with_detail(root_words(&error))))?;
        Ok(self.client.get_or_init(|| client))
    }
}

fn build(base: &Url, socket: Option<&Path>, timeouts: &Timeouts) -> ClientBuilder {
    net::provide_tls();
    let mut client = reqwest::Client::builder()
        .user_agent(concat!("natter/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(timeouts.connect)
        .redirect(Policy::custom(|attempt| {
            let same =
                attempt.previous().last().is_some_and(|last| same_server(last, attempt.url()));
            // Elsewhere neither the key nor the conversation is to go.
            if same && attempt.previous().len() <= REDIRECTS {
                attempt.follow()
            } else {
                attempt.stop()
            }
        }));
    if address::is_loopback(base) {
        // A new connection costs nothing here, and an old one may lead to a server that has ended.
        client = client.no_proxy().pool_max_idle_per_host(0);
        if base.scheme() == "http" {
            // Reading the system's certificates costs more than a short conversation.
            client = client.tls_certs_only([]);
        }
    }
    if let Some(socket) = socket {
        client = client.unix_socket(socket);
    }
    client
}

fn same_server(one: &Url, other: &Url) -> bool {
    one.scheme() == other.scheme()
        && one.host_str() == other.host_str()
        && one.port_or_known_default() == other.port_or_known_default()
}

async fn read(mut response: Response, limit: usize) -> Result<BytesMut> {
    let mut body = BytesMut::new();
    while let Some(more) = response.chunk().await.map_err(|error| transport(&error))? {
        if body.len() + more.len() > limit {
            return Err(Kind::LineTooLong.into());
        }
        body.extend_from_slice(&more);
    }
    Ok(body)
}

/// What went wrong on the way, as a kind. Never names the URL, which may hold a password.
pub(super) fn transport(error: &reqwest::Error) -> Error {
    let kind = if error.is_builder() {
        Kind::InvalidUrl
    } else if error.is_connect() {
        if error.is_timeout() {
            Kind::ConnectTimeout
        } else if is_tls(error) {
            Kind::Tls
        } else if is_lookup(error) {
            let host = error.url().and_then(Url::host_str).unwrap_or_default();
            Kind::UnknownHost { host: host.to_owned() }
        } else {
            Kind::Unreachable
        }
    } else if error.is_timeout() {
        Kind::Stalled
    } else {
        Kind::Cut
    };
    Error::new(kind).with_detail(root_words(error))
}

/// Whether the server's name could not be looked up. Its type is private to the connector.
fn is_lookup(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|cause| cause.to_string().starts_with("dns error"))
}

/// Whether a connection was made and its encryption failed.
fn is_tls(error: &(dyn std::error::Error + 'static)) -> bool {
    if error.is::<rustls::Error>() {
        return true;
    }
    if let Some(io) = error.downcast_ref::<io::Error>() {
        // Connecting itself cannot end so: a server that was sent a greeting that it does not
        // understand hangs up.
        let hung_up = [
            io::ErrorKind::ConnectionReset,
            io::ErrorKind::ConnectionAborted,
            io::ErrorKind::BrokenPipe,
            io::ErrorKind::UnexpectedEof,
        ];
        // What is wrapped into an I/O error is not its source.
        return hung_up.contains(&io.kind()) || io.get_ref().is_some_and(|inner| is_tls(inner));
    }
    error.source().is_some_and(is_tls)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_named_by_its_address_without_what_is_secret() {
        let base = address::parse("https://me:secret@h.example/one/v1").unwrap();
        let http = Http::new(base, None, &Connection::default(), Timeouts::default());
        assert_eq!(http.server(), Some(Origin::digest("https://h.example/one/v1")));
        let http = Http::at_socket(Path::new("/s"), "here", Timeouts::default()).unwrap();
        assert_eq!(http.server(), None);
    }
}
