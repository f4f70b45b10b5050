//! Speaks Brave's search API: `api-dashboard.search.brave.com/app/documentation/web-search`; the
//! types as in `brave/brave-search-mcp-server`, `src/tools/web/types.ts`.

use reqwest::header::{ACCEPT, HeaderValue};
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;

use super::{Hit, Query, Refusal, list};

pub(super) const NAME: &str = "Brave Search";
pub(super) const ADDRESS: &str = "https://api.search.brave.com";
/// The path of web search below the address.
const PATH: &str = "res/v1/web/search";
/// The maximum number of results.
const MOST: usize = 20;

pub(super) fn question(
    client: &Client,
    base: &Url,
    key: Option<&str>,
    query: &Query,
) -> RequestBuilder {
    let count = query.count.min(MOST).to_string();
    let request = client.get(super::below(base, PATH)).header(ACCEPT, "application/json").query(&[
        ("q", query.words.as_str()),
        ("count", &count),
        ("text_decorations", "false"),
        ("result_filter", "web"),
    ]);
    match key.and_then(|key| HeaderValue::from_str(key).ok()) {
        Some(mut key) => {
            key.set_sensitive(true);
            request.header("X-Subscription-Token", key)
        }
        None => request,
    }
}

/// A wrong key is answered with 422, like a wrong query; the code tells them apart.
pub(super) fn refusal(status: StatusCode, json: &Value) -> Option<Refusal> {
    // The reference shows a list, but the service has been seen to send a single object.
    let code = [json.pointer("/error/code"), json.pointer("/errors/0/code")];
    let code = code.into_iter().flatten().find_map(Value::as_str).unwrap_or_default();
    match (status.as_u16(), code) {
        (_, code) if code.starts_with("SUBSCRIPTION_") => Some(Refusal::Key(NAME)),
        (_, "QUOTA_LIMITED") | (402, _) => Some(Refusal::Quota(NAME)),
        (401 | 403, _) => Some(Refusal::Key(NAME)),
        (429, _) => Some(Refusal::Limit(NAME)),
        // Without a key, the query itself is reported as wrong.
        (422, _) if json.to_string().to_lowercase().contains("x-subscription-token") => {
            Some(Refusal::Key(NAME))
        }
        _ => None,
    }
}

/// A text without highlighting, which it contains even if none is requested, and with decoded
/// entities.
pub(super) fn unmarked(text: &str) -> String {
    const NAMES: [(&str, &str); 8] = [
        ("<strong>", ""),
        ("</strong>", ""),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#x27;", "'"),
        // This must be last, or `&amp;lt;` would become `<`.
        ("&amp;", "&"),
    ];
    NAMES.iter().fold(text.to_owned(), |text, (name, letter)| text.replace(name, letter))
}

pub(super) fn hits(json: &Value) -> Result<Vec<Hit>, Refusal> {
    if json.get("web").is_some() {
        return list(NAME, json.pointer("/web/results"), "description");
    }
    // If nothing was found the part may be missing, but then no other part has results either.
    let layout = |what: &str| Refusal::Layout { service: NAME, what: what.to_owned() };
    if json.get("type").and_then(Value::as_str) != Some("search") || json.get("query").is_none() {
        return Err(layout("it is not a search response"));
    }
    if json.as_object().is_some_and(|parts| parts.values().any(holds_results)) {
        return Err(layout("its results are elsewhere"));
    }
    Ok(Vec::new())
}

/// Whether a part of an answer is, contains, or names a list of pages.
fn holds_results(part: &Value) -> bool {
    match part {
        Value::Array(list) => list.iter().any(|one| one.get("url").is_some() || names_web(one)),
        Value::Object(fields) => fields.values().any(holds_results),
        _ => false,
    }
}

/// `mixed` lists the order of the results.
fn names_web(entry: &Value) -> bool {
    entry.get("type").and_then(Value::as_str) == Some("web")
}
