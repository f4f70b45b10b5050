//! Queries a `SearXNG` instance by its JSON format.
//!
//! `docs.searxng.org/dev/search_api.html`; the fields as `searx/webutils.py` of the project writes
//! them (`get_json_response`).

use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;

use super::{Hit, Query, Refusal, below, list};

pub(super) const NAME: &str = "SearXNG";

pub(super) fn question(
    client: &Client,
    base: &Url,
    key: Option<&str>,
    query: &Query,
) -> RequestBuilder {
    let request =
        client.get(below(base, "search")).query(&[("q", query.words.as_str()), ("format", "json")]);
    // SearXNG itself has no keys, but a proxy before it may.
    match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    }
}

pub(super) fn refusal(status: StatusCode) -> Option<Refusal> {
    match status.as_u16() {
        401 => Some(Refusal::Key(NAME)),
        // Every format that is not enabled is refused like this.
        403 => Some(Refusal::NoJson),
        429 => Some(Refusal::Limit(NAME)),
        _ => None,
    }
}

pub(super) fn hits(json: &Value) -> Result<Vec<Hit>, Refusal> {
    let hits = list(NAME, json.get("results"), "content")?;
    let silent = json.get("unresponsive_engines").and_then(Value::as_array);
    // Some engine is nearly always failing, which matters only if nothing was found.
    if let Some(silent) = silent.filter(|silent| hits.is_empty() && !silent.is_empty()) {
        let engines: Vec<String> = silent.iter().map(engine).collect();
        return Err(Refusal::Engines { service: NAME, engines: engines.join(", ") });
    }
    Ok(hits)
}

/// `["google", "timeout"]` as "google (timeout)".
fn engine(pair: &Value) -> String {
    let word = |at: usize| pair.get(at).and_then(Value::as_str);
    match (word(0).or(pair.as_str()), word(1)) {
        (Some(name), Some(why)) => format!("{name} ({why})"),
        (Some(name), None) => name.to_owned(),
        (None, _) => "another".to_owned(),
    }
}
