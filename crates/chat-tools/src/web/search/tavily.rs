//! Speaks Tavily's search API: `docs.tavily.com/documentation/api-reference/endpoint/search`; the
//! fields and the statuses as in `tavily-ai/tavily-python`.

use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::{Value, json};

use super::{Hit, Query, Refusal, below, list};

pub(super) const NAME: &str = "Tavily";
pub(super) const ADDRESS: &str = "https://api.tavily.com";
/// The maximum number of results.
const MOST: usize = 20;

pub(super) fn question(
    client: &Client,
    base: &Url,
    key: Option<&str>,
    query: &Query,
) -> RequestBuilder {
    let body = json!({ "query": query.words, "max_results": query.count.min(MOST) });
    let request = client.post(below(base, "search")).json(&body);
    match key {
        Some(key) => request.bearer_auth(key),
        None => request,
    }
}

pub(super) fn refusal(status: StatusCode) -> Option<Refusal> {
    match status.as_u16() {
        401 | 403 => Some(Refusal::Key(NAME)),
        429 => Some(Refusal::Limit(NAME)),
        // The limits of the plan, and of pay-as-you-go.
        432 | 433 => Some(Refusal::Quota(NAME)),
        _ => None,
    }
}

pub(super) fn hits(json: &Value) -> Result<Vec<Hit>, Refusal> {
    list(NAME, json.get("results"), "content")
}
