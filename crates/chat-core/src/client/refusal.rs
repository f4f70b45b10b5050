//! Why a server refused, as a kind: from its status, and from its words where they say more.
//! The wordings are those of Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and OpenAI.

mod wording;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::scrub::scrub;
use crate::error::{Error, Kind};
use crate::message::{Message, Part};
use crate::settings::Key;

/// What was asked, to say what was refused and to keep it out of the error.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
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
    /// Bytes that a model needs, and bytes that there are: from our own engine.
    memory: Option<(u64, u64)>,
}

/// The error of an answer whose status is not 200.
pub(super) fn of_status(status: u16, headers: &HeaderMap, body: &[u8], asked: &Asked) -> Error {
    let Ok(value) = serde_json::from_slice::<Value>(body) else {
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
        let detail = if page { format!("HTTP {status}") } else { clean(text, asked) };
        return Error::new(kind).with_detail(detail);
    };
    let words = Words::of(&value);
    let kind = by_wording(&words, status, asked)
        .unwrap_or_else(|| by_status(status, headers, &words, asked));
    let detail = clean(&words.message, asked);
    let detail = if detail.is_empty() { format!("HTTP {status}") } else { detail };
    Error::new(kind).with_detail(detail)
}

/// The error of an error object under status 200: `{"error": …}`, or what stands in it.
pub(super) fn of_object(value: &Value, asked: &Asked) -> Error {
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

fn by_status(status: u16, headers: &HeaderMap, words: &Words, asked: &Asked) -> Kind {
    match status {
        401 => Kind::Unauthorized {
            signin_url: words.signin_url.clone(),
            keyless: asked.key.is_none(),
        },
        402 => Kind::NoCredit,
        403 => Kind::Forbidden,
        // Redirects that lead elsewhere are not followed: they would carry the text along.
        300..=399 | 404 | 405 => Kind::WrongUrl,
        413 => Kind::InputTooLong { window: None, largest: None },
        429 if words.code == "insufficient_quota" => Kind::NoCredit,
        429 => Kind::RateLimited { retry_after: retry_after(headers, Timestamp::now()) },
        503 => Kind::Busy,
        // 408: the server gave up waiting for the model.
        408 | 500.. => Kind::ServerFailed,
        _ => Kind::BadRequest,
    }
}

/// What the words say more than the status, if they do.
fn by_wording(words: &Words, status: u16, asked: &Asked) -> Option<Kind> {
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
    let message = words.message.to_lowercase();
    if wording::is_too_long(&message, &words.code, &words.kind) {
        let said = words.window.or_else(|| wording::window(&message));
        let window = asked.window.or(said);
        return Some(Kind::InputTooLong { window, largest: asked.largest.or(said) });
    }
    if let Some(feature) = wording::unsupported(&message) {
        return Some(Kind::Unsupported { feature });
    }
    if words.code == "model_not_found" || wording::is_unknown_model(&message, status) {
        return Some(Kind::ModelNotFound { model: asked.model.clone() });
    }
    None
}

fn clean(message: &str, asked: &Asked) -> String {
    let texts =
        asked.messages.iter().flat_map(|message| &message.parts).filter_map(|part| match part {
            Part::Text(text)
            | Part::Thinking { text, .. }
            | Part::Context { text }
            | Part::File { text, .. } => Some(text),
            Part::ToolResult(result) => Some(&result.text),
            Part::Image { .. } | Part::ToolCall(_) | Part::Compaction(_) => None,
        });
    scrub(message, texts.map(String::as_str), asked.key.as_ref().map(Key::expose))
}

impl Words {
    fn of(value: &Value) -> Self {
        // vLLM once put the fields at the top, FastAPI says `detail`.
        let error = match &value["error"] {
            Value::Null if !value["detail"].is_null() => &value["detail"],
            Value::Null => value,
            error => error,
        };
        let mut words = Self {
            message: message(error),
            code: plain(&error["code"]),
            kind: plain(&error["type"]),
            status: error["code"].as_u64().and_then(|code| code.try_into().ok()),
            window: error["n_ctx"].as_u64().and_then(|n| n.try_into().ok()),
            signin_url: value["signin_url"].as_str().map(str::to_owned),
            memory: error["needed"].as_u64().zip(error["available"].as_u64()),
        };
        // OpenRouter says "Provider returned error"; what the provider said stands apart.
        if let Some(raw) = error["metadata"]["raw"].as_str() {
            let inner: Value = serde_json::from_str(raw).unwrap_or(Value::Null);
            let said = if inner.is_null() { raw.to_owned() } else { Self::of(&inner).message };
            words.message = format!("{}: {said}", words.message);
        }
        words
    }
}

fn message(error: &Value) -> String {
    match error {
        Value::String(message) => message.clone(),
        // FastAPI's list also repeats the input: only the words are taken.
        Value::Array(errors) => {
            let words: Vec<&str> =
                errors.iter().filter_map(|error| error["msg"].as_str()).collect();
            words.join("; ")
        }
        error => error["message"].as_str().unwrap_or_default().to_owned(),
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
