//! Detects which protocol a server speaks, and which servers run on this machine.

use std::time::Duration;

use futures_util::future::join_all;
use reqwest::Url;
use serde_json::Value;

use super::http::Http;
use super::openai::{self, owner};
use super::{Timeouts, address, anthropic, presets};
use crate::error::{Error, Kind, Result};
use crate::settings::{Connection, ConnectionKind, Key};

/// How long a server of this machine may take to say what it is.
const NEAR: Duration = Duration::from_millis(1_500);

/// A server that was found on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DetectedServer {
    /// A connection to it, named after the program (`Ollama`).
    pub connection: Connection,
}

/// Where to look for servers on this machine.
#[derive(Clone, Debug)]
pub struct Probe {
    /// The name for the connection, the protocol and the address.
    pub candidates: Vec<Connection>,
}

impl Probe {
    /// The usual ports of the presets that run locally; Ollama's where `OLLAMA_HOST` says that it is.
    pub fn usual(ollama_host: Option<&str>) -> Self {
        let ollama = ollama_host.and_then(ollama_url);
        let candidates = presets::local().map(|preset| {
            let connection = preset.connection();
            match &ollama {
                Some(url) if preset.kind == ConnectionKind::Ollama => {
                    Connection { url: url.clone(), ..connection }
                }
                _ => connection,
            }
        });
        Self { candidates: candidates.collect() }
    }
}

/// The address that Ollama's own programs make of `OLLAMA_HOST`: a missing scheme is HTTP, a
/// missing port is 11434 (80 and 443 where a scheme is given), and "everywhere" is this machine.
fn ollama_url(host: &str) -> Option<String> {
    let host = host.trim().trim_matches(['"', '\'']).trim_end_matches('/');
    if host.is_empty() {
        return None;
    }
    let (scheme, rest) = host.split_once("://").unwrap_or(("", host));
    // A port alone.
    let rest = if rest.starts_with(':') { format!("127.0.0.1{rest}") } else { rest.to_owned() };
    let shown = if scheme.is_empty() { "http" } else { scheme };
    let mut url = Url::parse(&format!("{shown}://{rest}")).ok()?;
    // The URL does not distinguish port 80 from none.
    let authority = rest.split('/').next().unwrap_or_default();
    if scheme.is_empty() && url.port().is_none() && !authority.ends_with(":80") {
        url.set_port(Some(11_434)).ok()?;
    }
    match url.host_str() {
        Some("0.0.0.0") => url.set_host(Some("127.0.0.1")).ok()?,
        Some("[::]") => url.set_host(Some("[::1]")).ok()?,
        _ => {}
    }
    Some(url.as_str().trim_end_matches('/').to_owned())
}

/// What the URL alone says about the kind.
pub fn guess_kind(url: &str) -> Option<ConnectionKind> {
    let url = address::parse(url).ok()?;
    let path = url.path().trim_end_matches('/');
    // Who speaks several protocols has this one there.
    if ["/anthropic", "/anthropic/v1", "/v1/messages"].iter().any(|end| path.ends_with(end)) {
        return Some(ConnectionKind::Anthropic);
    }
    let known = presets::at(&url).map(|preset| preset.kind);
    if let Some(kind) = known.filter(|kind| *kind != ConnectionKind::Ollama) {
        return Some(kind);
    }
    // Whoever types `/v1` means it, also at an Ollama server.
    if path.ends_with("/v1") || path.ends_with("/chat/completions") {
        return Some(ConnectionKind::OpenAi);
    }
    let ollama = url.port() == Some(11_434)
        || known == Some(ConnectionKind::Ollama)
        || path.ends_with("/api")
        || path.ends_with("/api/chat");
    ollama.then_some(ConnectionKind::Ollama)
}

/// Asks the server what it speaks. The connection's kind and its key's source do not matter.
///
/// # Errors
/// `InvalidUrl`; `WrongUrl` where something else answers; why nothing does.
pub async fn detect_kind(
    connection: &Connection,
    key: Option<&Key>,
    timeouts: Timeouts,
) -> Result<ConnectionKind> {
    let url = address::parse(&connection.url)?;
    let unnamed = Connection { name: String::new(), ..connection.clone() };
    let root = address::without_ends(url.clone(), &["/api/chat", "/api", "/v1"]);
    let ollama = Http::new(root, key.cloned(), &unnamed, timeouts);
    let anthropic = anthropic::at(anthropic::base(url.clone()), key.cloned(), &unnamed, timeouts);
    let openai = Http::new(openai::base(url), key.cloned(), &unnamed, timeouts);
    let (is_ollama, is_anthropic, models) =
        tokio::join!(is_ollama(&ollama), is_anthropic(&anthropic), openai.get::<Value>("models"));
    if is_ollama {
        return Ok(ConnectionKind::Ollama);
    }
    if is_anthropic {
        return Ok(ConnectionKind::Anthropic);
    }
    match models {
        Ok(answer) if owner(&answer).is_some() => Ok(ConnectionKind::OpenAi),
        Ok(_) => Err(Kind::WrongUrl.into()),
        // It is there and wants a key: those who do speak this protocol.
        Err(Error { kind: Kind::Unauthorized { .. } | Kind::Forbidden, .. }) => {
            Ok(ConnectionKind::OpenAi)
        }
        // Some have no list of models.
        Err(Error { kind: Kind::WrongUrl | Kind::BadRequest, .. })
            if openai::answers(&openai).await =>
        {
            Ok(ConnectionKind::OpenAi)
        }
        Err(error) => Err(error),
    }
}

/// Whether a server's list of models is Anthropic's, or its refusal, which names its kind.
async fn is_anthropic(http: &Http) -> bool {
    http.look("v1/models").await.is_ok_and(|answer| {
        anthropic::is_list(&answer)
            || (answer["type"] == "error" && answer["error"]["type"].is_string())
    })
}

/// The servers among the candidates that answer, in their order. A program that is something else
/// is none; one that says what it is gets that name.
pub async fn find_local(probe: &Probe) -> Vec<DetectedServer> {
    let mut found: Vec<DetectedServer> = Vec::new();
    let answers = join_all(probe.candidates.iter().map(detect_candidate)).await;
    for connection in answers.into_iter().flatten() {
        if found.iter().all(|other| other.connection.url != connection.url) {
            found.push(DetectedServer { connection });
        }
    }
    found
}

/// The candidate, if it is one.
async fn detect_candidate(candidate: &Connection) -> Option<Connection> {
    let url = address::parse(&candidate.url).ok()?;
    let timeouts = Timeouts { connect: NEAR, silence: NEAR, question: NEAR };
    if candidate.kind == Some(ConnectionKind::Ollama) {
        let http = Http::new(url, None, &Connection::default(), timeouts);
        return is_ollama(&http).await.then(|| candidate.clone());
    }
    let http = Http::new(openai::base(url), None, &Connection::default(), timeouts);
    let answer: Value = http.get("models").await.ok()?;
    let name = program(owner(&answer)?).unwrap_or(&candidate.name);
    Some(Connection { name: name.to_owned(), ..candidate.clone() })
}

/// The program that a list of models comes from, by the owner that it names.
fn program(owner: &str) -> Option<&'static str> {
    match owner {
        "llamacpp" => Some("llama.cpp"),
        "organization_owner" => Some("LM Studio"),
        "vllm" => Some("vLLM"),
        _ => None,
    }
}

/// What the program behind an address is called, where it says so. Asks it for its models.
pub async fn detect_program(
    connection: &Connection,
    kind: ConnectionKind,
    key: Option<&Key>,
    timeouts: Timeouts,
) -> Option<&'static str> {
    if kind == ConnectionKind::Ollama {
        return Some("Ollama");
    }
    // Those who speak this protocol do not say it.
    if kind == ConnectionKind::Anthropic {
        return None;
    }
    let url = address::parse(&connection.url).ok()?;
    let unnamed = Connection { name: String::new(), ..connection.clone() };
    let http = Http::new(openai::base(url), key.cloned(), &unnamed, timeouts);
    let answer: Value = http.get("models").await.ok()?;
    program(owner(&answer)?)
}

/// Whether it says so at its root, or where its root is somebody else's, by its version.
async fn is_ollama(http: &Http) -> bool {
    let (greeting, version) = tokio::join!(http.greeting(), http.get::<Value>("api/version"));
    greeting.is_ok_and(|text| text.contains("Ollama is running"))
        || version.is_ok_and(|version| version["version"].is_string())
}
