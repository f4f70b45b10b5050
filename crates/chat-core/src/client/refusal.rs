//! Classifies why a server refused: by its status, and by its words where they say more. The
//! wordings are those of Ollama, llama.cpp, vLLM, LM Studio, LiteLLM, OpenRouter, OpenAI, Anthropic,
//! Gemini, Mistral and DeepSeek.

mod wording;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::http::Http;
use super::scrub::scrub;
use super::{Request, json};
use crate::error::{Error, Kind};
use crate::message::{FromAgent, Message, Part};
use crate::settings::Key;

/// Values of headers with fewer bytes are no secrets: hiding them, such as a `1`, would hide what a server says.
const SHORTEST_SECRET: usize = 8;

/// A server's refusal of a request.
pub(super) struct Refusal {
    /// The error without the user's words, the key and other secrets: this alone leaves the client.
    pub error: Error,
    /// The same with the server's words as they came, to find out what it refuses.
    pub verbatim: Box<Error>,
}

impl From<Error> for Refusal {
    /// Of one that repeats nothing that was sent.
    fn from(error: Error) -> Self {
        Self { verbatim: Box::new(error.clone()), error }
    }
}

/// What was asked, to say what was refused and to keep it out of the error.
#[derive(Clone, Debug, Default)]
pub(super) struct SentRequest {
    /// The model's name.
    pub model: String,
    /// The window that was asked for, in tokens.
    pub window: Option<u32>,
    /// The largest window that the model has.
    pub largest: Option<u32>,
    /// What was sent.
    pub messages: Vec<Arc<Message>>,
    /// The key that it was sent with.
    pub key: Option<Key>,
    /// What else no error repeats.
    pub secrets: Vec<Arc<str>>,
}

impl SentRequest {
    /// What is asked with a request over this connection.
    pub fn of(request: &Request, http: &Http) -> Self {
        Self { messages: request.messages.clone(), ..Self::about(&request.model, http) }
    }

    /// The same without messages.
    pub fn about(model: &str, http: &Http) -> Self {
        Self {
            model: model.to_owned(),
            window: None,
            largest: None,
            messages: Vec::new(),
            key: http.key().cloned(),
            secrets: http.secrets(),
        }
    }
}

/// Whether a refusal of an empty request is that of a model server: any web server refuses what it does not
/// know, in another way.
pub(super) fn is_of_model_server(refused: &Kind) -> bool {
    matches!(
        refused,
        Kind::BadRequest
            | Kind::ModelNotFound { .. }
            | Kind::Unauthorized { .. }
            | Kind::NoCredit
            | Kind::InputTooLong { .. }
            | Kind::Unsupported { .. }
    )
}

/// What a server says about a failure, wherever it puts it.
#[derive(Debug, Default)]
struct Words {
    message: String,
    code: String,
    kind: String,
    status: Option<u16>,
    window: Option<u32>,
    signin_url: Option<String>,
    /// How long to wait, where the body says so.
    retry_after: Option<Duration>,
    /// Whether it is said in the protocol's shape, as only servers of models do.
    is_object: bool,
    /// Bytes that a model needs, and bytes that there are: from our own engine.
    memory: Option<(u64, u64)>,
}

/// The error of an answer whose status is not 200.
pub(super) fn of_status(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    asked: &SentRequest,
) -> Refusal {
    let value = json::value(body);
    if value.is_null() {
        let text = String::from_utf8_lossy(body);
        let text = text.trim();
        let kind = match status {
            401 | 402 | 403 | 413 | 429 | 500.. => {
                by_status(status, headers, &Words::default(), asked)
            }
            // An error page, or a server of something else.
            300..=399 | 404 | 405 => Kind::WrongUrl,
            _ if is_html(text.as_bytes()) => Kind::WrongUrl,
            _ => {
                let words = Words { message: text.to_owned(), ..Words::default() };
                by_wording(&words, status, asked).unwrap_or(Kind::BadRequest)
            }
        };
        let page = is_html(text.as_bytes()) || text.is_empty();
        return refusal(kind, status, if page { "" } else { text }, asked);
    }
    let words = Words::of(&value);
    let kind = by_wording(&words, status, asked)
        .unwrap_or_else(|| by_status(status, headers, &words, asked));
    refusal(kind, status, &words.message, asked)
}

fn refusal(kind: Kind, status: u16, words: &str, asked: &SentRequest) -> Refusal {
    let verbatim = Box::new(Error::new(kind.clone()).with_detail(words));
    let detail = clean(words, asked);
    let detail = if detail.is_empty() { format!("HTTP {status}") } else { detail };
    Refusal { error: Error::new(kind).with_detail(detail), verbatim }
}

/// The error of an error object under status 200: `{"error": …}`, or what stands in it.
pub(super) fn of_object(value: &Value, asked: &SentRequest) -> Error {
    let words = Words::of(value);
    let status = words.status.unwrap_or(0);
    let kind = by_wording(&words, status, asked).unwrap_or_else(|| match status {
        0 => wording::failure(&words.message.to_lowercase(), asked.key.is_none()),
        _ => by_status(status, &HeaderMap::new(), &words, asked),
    });
    let detail = clean(&words.message, asked);
    let error = Error::new(kind);
    if detail.is_empty() { error } else { error.with_detail(detail) }
}

/// The error of an event that names its kind and has no status: Anthropic's.
pub(super) fn of_named(value: &Value, asked: &SentRequest) -> Error {
    let status = match value["error"]["type"].as_str().unwrap_or_default() {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "api_error" => 500,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        // A gateway's.
        _ => return of_object(value, asked),
    };
    let words = Words::of(value);
    let kind = by_wording(&words, status, asked)
        .unwrap_or_else(|| by_status(status, &HeaderMap::new(), &words, asked));
    let detail = clean(&words.message, asked);
    let error = Error::new(kind);
    if detail.is_empty() { error } else { error.with_detail(detail) }
}

/// Whether a request may have been refused for the order of its messages. Servers say that in many
/// ways; the words count only where the error is none of the request's form.
pub(crate) fn refuses_order(error: &Error) -> bool {
    let words = || error.detail.as_deref().unwrap_or_default().to_lowercase();
    match error.kind {
        Kind::BadRequest | Kind::TemplateFailed => true,
        Kind::ServerFailed => wording::is_about_order(&words()),
        _ => false,
    }
}

/// Whether an answer calls itself a web page.
pub(super) fn is_page(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/html"))
}

/// Whether a body is a web page.
fn is_html(body: &[u8]) -> bool {
    let start = body.trim_ascii_start();
    let start = start[..start.len().min(15)].to_ascii_lowercase();
    start.starts_with(b"<!doctype") || start.starts_with(b"<html")
}

fn by_status(status: u16, headers: &HeaderMap, words: &Words, asked: &SentRequest) -> Kind {
    match status {
        401 => Kind::Unauthorized {
            signin_url: words.signin_url.clone(),
            keyless: asked.key.is_none(),
        },
        402 => Kind::NoCredit,
        403 => Kind::Forbidden,
        // A server of models answers so, and says in its own words what it misses.
        404 if words.is_object && !wording::is_unknown_path(&words.message.to_lowercase()) => {
            Kind::BadRequest
        }
        // Redirects that lead elsewhere are not followed: they would carry the text along.
        300..=399 | 404 | 405 => Kind::WrongUrl,
        413 => Kind::InputTooLong { window: None, largest: None },
        429 if words.code == "insufficient_quota" => Kind::NoCredit,
        429 => {
            let wait = retry_after(headers, Timestamp::now()).or(words.retry_after);
            Kind::RateLimited { retry_after: wait }
        }
        // 529 is Anthropic's.
        503 | 529 => Kind::Busy,
        // 408: the server gave up waiting for the model.
        408 | 500.. => Kind::ServerFailed,
        _ => Kind::BadRequest,
    }
}

/// What the words say more than the status, if they do.
fn by_wording(words: &Words, status: u16, asked: &SentRequest) -> Option<Kind> {
    let message = words.message.to_lowercase();
    if wording::is_filtered(&message, &words.code, &words.kind) {
        return Some(Kind::ContentFiltered);
    }
    // These say all that there is to say.
    if matches!(status, 401..=403 | 429 | 503) {
        return None;
    }
    // Our own engine's words.
    match (words.kind.as_str(), words.memory) {
        ("model_too_large", Some((needed, available))) => {
            return Some(Kind::ModelTooLarge { needed, available });
        }
        ("bad_model" | "load_failed", _) => return Some(Kind::ModelNotLoaded),
        ("template_failed", _) => return Some(Kind::TemplateFailed),
        _ => {}
    }
    if wording::is_bad_key(&message) {
        return Some(Kind::Unauthorized { signin_url: None, keyless: asked.key.is_none() });
    }
    if wording::has_no_credit(&message, &words.kind) {
        return Some(Kind::NoCredit);
    }
    if wording::is_too_long(&message, &words.code, &words.kind) {
        let said = words.window.or_else(|| wording::window(&message));
        let window = asked.window.or(said);
        return Some(Kind::InputTooLong { window, largest: asked.largest.or(said) });
    }
    if let Some(feature) = wording::unsupported(&message) {
        return Some(Kind::Unsupported { feature });
    }
    if wording::is_unknown_model(&message, &words.code, &words.kind, status) {
        return Some(Kind::ModelNotFound { model: asked.model.clone() });
    }
    None
}

fn clean(message: &str, asked: &SentRequest) -> String {
    let texts =
        asked.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::Text(text)
            | Part::Thinking { text, .. }
            | Part::Context { text }
            | Part::File { text, .. } => Some(text),
            Part::ToolResult(result) => Some(&result.text),
            Part::Command(command) => Some(&command.text),
            Part::FromAgent(FromAgent::Report(report)) => Some(&report.text),
            Part::FromAgent(FromAgent::Message { .. })
            | Part::Image { .. }
            | Part::ToolCall(_)
            | Part::Compaction(_) => None,
        });
    let key = asked.key.as_ref().map(Key::expose);
    let clean = scrub(message, texts.map(String::as_str), key);
    let secrets = asked.secrets.iter().filter(|secret| secret.len() >= SHORTEST_SECRET);
    secrets.fold(clean, |clean, secret| scrub(&clean, [], Some(secret)))
}

impl Words {
    fn of(value: &Value) -> Self {
        Self::within(value, 3)
    }

    /// The words of an error that may hold another one, so many times.
    fn within(value: &Value, depth: usize) -> Self {
        // Gemini's: a list of one answer.
        let value = match value {
            Value::Array(answers) => answers.first().unwrap_or(value),
            value => value,
        };
        // vLLM once put the fields at the top, FastAPI says `detail`.
        let error = match &value["error"] {
            Value::Null if !value["detail"].is_null() => &value["detail"],
            Value::Null => value,
            error => error,
        };
        let details = || error["details"].as_array().into_iter().flatten();
        let mut words = Self {
            message: message(error),
            code: plain(&error["code"]),
            kind: plain(&error["type"]),
            status: status(&error["code"]),
            window: error["n_ctx"].as_u64().and_then(|n| n.try_into().ok()),
            signin_url: value["signin_url"].as_str().map(str::to_owned),
            // Gemini's: "34s".
            retry_after: details().find_map(|detail| {
                let seconds = detail["retryDelay"].as_str()?.strip_suffix('s')?.parse().ok()?;
                Duration::try_from_secs_f64(seconds).ok()
            }),
            is_object: !message(error).is_empty()
                && (value["error"].is_object() || value["object"] == "error"),
            memory: error["needed"].as_u64().zip(error["available"].as_u64()),
        };
        let inner = |text: &str| {
            let inner = json::value(text.as_bytes());
            (depth > 0 && (inner.is_object() || inner.is_array()))
                .then(|| Self::within(&inner, depth - 1))
                .filter(|inner| !inner.message.is_empty())
        };
        // OpenRouter says "Provider returned error"; what the provider said stands apart.
        if let Some(raw) = error["metadata"]["raw"].as_str() {
            let said = inner(raw).map_or_else(|| raw.to_owned(), |inner| inner.message);
            words.message = format!("{}: {said}", words.message);
        } else if let Some(said) = inner(&words.message) {
            // Some gateways pass on a whole answer as the message.
            words.message = said.message;
            words.retry_after = words.retry_after.or(said.retry_after);
        }
        words
    }
}

/// A status that stands for the code, even as text (LiteLLM).
fn status(code: &Value) -> Option<u16> {
    match code {
        Value::String(text) => text.parse().ok(),
        code => code.as_u64()?.try_into().ok(),
    }
    .filter(|status| (400..600).contains(status))
}

fn message(error: &Value) -> String {
    match error {
        Value::String(message) => message.clone(),
        // FastAPI's list also repeats the input: only the words and the field's name are taken.
        Value::Array(errors) => {
            let words = errors.iter().filter_map(|error| {
                let said = error["msg"].as_str()?;
                let field = error["loc"].as_array().and_then(|path| path.last()?.as_str());
                Some(field.map_or_else(|| said.to_owned(), |field| format!("{field}: {said}")))
            });
            words.collect::<Vec<_>>().join("; ")
        }
        error => match &error["message"] {
            Value::String(message) => message.clone(),
            // Mistral's.
            Value::Null => String::new(),
            nested => message(if nested["detail"].is_null() { nested } else { &nested["detail"] }),
        },
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

/// How long a server asks to wait: seconds or a date, and OpenAI's milliseconds.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let text = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(date - now).unwrap_or_default())
}

#[cfg(test)]
mod tests;
