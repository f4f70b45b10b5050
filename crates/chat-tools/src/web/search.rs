//! Queries search services and parses their answers.
//!
//! An answer in an unexpected format is an error, never an empty list: otherwise a service that
//! changed would seem to find nothing.

mod brave;
mod searxng;
mod tavily;

use chat_core::settings::SearchProvider;
use reqwest::{Client, RequestBuilder, StatusCode, Url};
use serde_json::Value;
use thiserror::Error;

use super::destination;

/// The longest text of a result, in bytes.
const LONGEST: usize = 2_000;

/// A search query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The words.
    pub words: String,
    /// How many results are wanted.
    pub count: usize,
}

/// A result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The page's title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// An excerpt about the words.
    pub text: String,
}

/// Why a service returned no results, as the model is told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// It rejects the key, or needs one and has none.
    #[error("{0} refused the key. The user must set another one in the settings.")]
    Key(&'static str),
    /// Too many queries.
    #[error("{0} has reached its rate limit. Wait a while before the next search.")]
    Limit(&'static str),
    /// The paid quota is used up.
    #[error(
        "{0} accepts no more searches: the quota of the user's plan is used up. Only the user can change that."
    )]
    Quota(&'static str),
    /// An instance that answers only people.
    #[error(
        "This SearXNG instance does not return JSON. Its operator must add `json` to \
         `search.formats` in settings.yml."
    )]
    NoJson,
    /// None of the engines behind it answered.
    #[error("{service} found nothing, and these engines did not respond: {engines}.")]
    Engines {
        /// The service.
        service: &'static str,
        /// Which engines did not answer, and why.
        engines: String,
    },
    /// Its answer has an unknown format.
    #[error(
        "{service} sent an unknown response format ({what}). It may have changed. There may still be results."
    )]
    Layout {
        /// The service.
        service: &'static str,
        /// What is unexpected.
        what: String,
    },
    /// Another error.
    #[error("{service} returned {status}.")]
    Status {
        /// The service.
        service: &'static str,
        /// The status with its text.
        status: String,
    },
}

/// The service's name.
pub fn name(provider: SearchProvider) -> &'static str {
    match provider {
        SearchProvider::Searxng => searxng::NAME,
        SearchProvider::Brave => brave::NAME,
        SearchProvider::Tavily => tavily::NAME,
    }
}

/// The service's own address; none if everyone has another one.
pub fn address(provider: SearchProvider) -> Option<&'static str> {
    match provider {
        SearchProvider::Searxng => None,
        SearchProvider::Brave => Some(brave::ADDRESS),
        SearchProvider::Tavily => Some(tavily::ADDRESS),
    }
}

/// The request to the service at this address.
pub fn question(
    provider: SearchProvider,
    client: &Client,
    base: &Url,
    key: Option<&str>,
    query: &Query,
) -> RequestBuilder {
    match provider {
        SearchProvider::Searxng => searxng::question(client, base, key, query),
        SearchProvider::Brave => brave::question(client, base, key, query),
        SearchProvider::Tavily => tavily::question(client, base, key, query),
    }
}

/// Parses a response as results.
///
/// # Errors
///
/// The service refused, or its format is unknown.
pub fn results(
    provider: SearchProvider,
    status: StatusCode,
    body: &[u8],
    count: usize,
) -> Result<Vec<Hit>, Refusal> {
    let service = name(provider);
    let json: Option<Value> = serde_json::from_slice(body).ok();
    if !status.is_success() {
        let json = json.as_ref().unwrap_or(&Value::Null);
        let known = match provider {
            SearchProvider::Searxng => searxng::refusal(status),
            SearchProvider::Brave => brave::refusal(status, json),
            SearchProvider::Tavily => tavily::refusal(status),
        };
        let status = status.to_string();
        return Err(known.unwrap_or(Refusal::Status { service, status }));
    }
    let layout = |what: &str| Refusal::Layout { service, what: what.to_owned() };
    let json = json.ok_or_else(|| layout("it is not JSON"))?;
    let mut hits = match provider {
        SearchProvider::Searxng => searxng::hits(&json)?,
        SearchProvider::Brave => brave::hits(&json)?,
        SearchProvider::Tavily => tavily::hits(&json)?,
    };
    hits.truncate(count);
    Ok(hits)
}

/// The results of a list, with their texts from these fields.
fn list(service: &'static str, list: Option<&Value>, text: &str) -> Result<Vec<Hit>, Refusal> {
    let layout = |what: &str| Refusal::Layout { service, what: what.to_owned() };
    let list = list.and_then(Value::as_array).ok_or_else(|| layout("it has no list of results"))?;
    let hits: Vec<Hit> = list
        .iter()
        .filter_map(|result| {
            let field = |name: &str| result.get(name).and_then(Value::as_str);
            let url = field("url").and_then(|url| destination::parse(url).ok())?;
            let title = field("title")?;
            let text = field(text).unwrap_or_default();
            Some(Hit { title: plain(title, service), url: url.into(), text: plain(text, service) })
        })
        .collect();
    // A few results may be of another kind, but if all of them are, the format has changed.
    if hits.is_empty() && !list.is_empty() {
        return Err(layout("its results have no address or no title"));
    }
    Ok(hits)
}

/// A shortened text on one line, without the markup that only Brave adds: the texts of other
/// services are plain, and may contain `Vec<T>`.
fn plain(text: &str, service: &str) -> String {
    let mut text = text[..text.floor_char_boundary(LONGEST)].to_owned();
    if service == brave::NAME {
        text = brave::unmarked(&text);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An address below another.
fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    let ending = format!("{}/{path}", base.path().trim_end_matches('/'));
    // The user may have entered the full address.
    if !base.path().trim_end_matches('/').ends_with(&format!("/{path}")) {
        url.set_path(&ending);
    }
    url
}

#[cfg(test)]
mod tests;
