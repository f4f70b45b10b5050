//! Talks to the hub over HTTP: small requests and files, the token, and errors as kinds.

use std::sync::OnceLock;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, AUTHORIZATION, HeaderMap, HeaderValue, LINK, RANGE};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use serde::de::DeserializeOwned;

use super::{HubOptions, unreadable};
use crate::error::{Error, Kind, Result};
use crate::net::{self, root_words};
use crate::settings::Key;

/// Of an answer so many bytes are read: a page of the longest lists has some hundred kilobytes.
const ANSWER_LIMIT: usize = 16 << 20;
/// The site sends one on to its storage, which may send one on again.
const REDIRECTS: usize = 8;

/// Says what is the matter with a repository or a file.
const REASON: &str = "x-error-code";

/// What is asked for, to say what is missing.
#[derive(Clone, Debug)]
pub(super) enum HubRequest {
    /// Any repositories.
    Search,
    /// What a repository has.
    Repository(String),
    /// A file.
    File { repository: String, file: String },
}

/// The site's connection.
#[derive(Debug)]
pub(super) struct Http {
    base: String,
    token: Option<Key>,
    patience: Duration,
    client: OnceLock<Client>,
}

impl Http {
    pub fn new(options: &HubOptions) -> Self {
        Self {
            base: options.base.clone(),
            token: options.token.clone(),
            patience: options.patience,
            client: OnceLock::new(),
        }
    }

    /// An address at the site, of these words.
    pub fn url(&self, segments: &[&str]) -> Result<Url> {
        let mut url = Url::parse(&self.base).map_err(|_| Kind::InvalidUrl)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Kind::InvalidUrl.into());
        }
        // Only an address without a host has no path.
        url.path_segments_mut().map_err(|()| Kind::InvalidUrl)?.pop_if_empty().extend(segments);
        Ok(url)
    }

    /// Asks a short question. Gives also where the answer goes on.
    pub async fn json<T: DeserializeOwned>(
        &self,
        url: Url,
        asked: &HubRequest,
    ) -> Result<(T, Option<Url>)> {
        let asking = async {
            let response = self.send(url.clone(), HeaderMap::new()).await?;
            if !response.status().is_success() {
                return Err(self.refusal(&response, asked, &url));
            }
            let next = next_page(&url, response.headers());
            let body = read(response).await?;
            let value = serde_json::from_slice(&body).map_err(|error| {
                unreadable(format!(
                    "invalid JSON at line {}, column {}",
                    error.line(),
                    error.column()
                ))
            })?;
            Ok((value, next))
        };
        let answered = tokio::time::timeout(self.patience, asking).await;
        answered.unwrap_or_else(|_| Err(unreachable("no answer in time")))
    }

    /// Asks for a file from a byte on. Resolves with its head, whatever part of it that is.
    pub async fn file(&self, url: Url, from: u64, asked: &HubRequest) -> Result<Response> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if from > 0
            && let Ok(range) = HeaderValue::from_str(&format!("bytes={from}-"))
        {
            headers.insert(RANGE, range);
        }
        let answered = tokio::time::timeout(self.patience, self.send(url.clone(), headers)).await;
        let response = answered.unwrap_or_else(|_| Err(unreachable("no answer in time")))?;
        // 416: there is nothing from there on. What to do about it the download knows.
        if response.status().is_success() || response.status() == 416 {
            return Ok(response);
        }
        Err(self.refusal(&response, asked, &url))
    }

    async fn send(&self, url: Url, mut headers: HeaderMap) -> Result<Response> {
        if let Some(token) = self.token.as_ref().filter(|_| is_private(&url)) {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.expose()))
                .map_err(|_| Kind::KeyUnavailable)?;
            value.set_sensitive(true);
            // reqwest takes it off where a redirect leads to another host or port.
            headers.insert(AUTHORIZATION, value);
        }
        let sent = self.client()?.get(url).headers(headers).send().await;
        sent.map_err(|error| unreachable(root_words(&error)))
    }

    fn refusal(&self, response: &Response, asked: &HubRequest, url: &Url) -> Error {
        let at_site = response.url().origin() == url.origin();
        let told = response.headers().contains_key(REASON);
        // Without a token, or with a good one, the server says what is wrong with the repository.
        if at_site && response.status() == 401 && !told && self.sends_token(url) {
            return Error::new(Kind::HubTokenRefused).with_detail("HTTP 401");
        }
        meaning(response, asked, url)
    }

    fn sends_token(&self, url: &Url) -> bool {
        self.token.is_some() && is_private(url)
    }

    fn client(&self) -> Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        net::provide_tls();
        let mut builder = Client::builder()
            .user_agent(concat!("natter/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.patience)
            .redirect(Policy::custom(|attempt| {
                let safe = attempt.previous().iter().all(|url| url.scheme() == "http");
                if attempt.previous().len() > REDIRECTS {
                    attempt.error("too many redirects")
                } else if !safe && attempt.url().scheme() != "https" {
                    attempt.error("a redirect away from encryption")
                } else {
                    attempt.follow()
                }
            }));
        if Url::parse(&self.base).is_ok_and(|url| is_here(&url)) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|error| unreachable(root_words(&error)))?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// Whether an address is on this machine.
fn is_here(url: &Url) -> bool {
    matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"))
}

/// Whether nobody on the way to an address can read what is sent there.
fn is_private(url: &Url) -> bool {
    url.scheme() == "https" || is_here(url)
}

async fn read(mut response: Response) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(more) = response.chunk().await.map_err(|error| unreadable(root_words(&error)))? {
        if body.len() + more.len() > ANSWER_LIMIT {
            return Err(unreadable("the answer is too long"));
        }
        body.extend_from_slice(&more);
    }
    Ok(body)
}

fn unreachable(detail: impl Into<String>) -> Error {
    Error::new(Kind::HubUnreachable).with_detail(detail)
}

/// What a refusal means. The site hides what is private: who is not let in hears that there is
/// nothing, or that they are not known; a header says which it is.
fn meaning(response: &Response, asked: &HubRequest, site: &Url) -> Error {
    let at_site = response.url().origin() == site.origin();
    let status = response.status().as_u16();
    let code = response.headers().get(REASON).and_then(|code| code.to_str().ok());
    let kind = match asked {
        HubRequest::Search => Kind::HubFailed,
        HubRequest::Repository(repository) => of_repository(code, status, repository),
        HubRequest::File { repository, file } => match (code, status) {
            (Some("EntryNotFound"), _) | (None, 404 | 410) => {
                Kind::RepositoryFileNotFound { repository: repository.clone(), file: file.clone() }
            }
            // The way to the storage is good for a while only: the next one will be new.
            _ if !at_site => Kind::HubFailed,
            (None, 401) => Kind::RepositoryClosed { repository: repository.clone() },
            _ => of_repository(code, status, repository),
        },
    };
    Error::new(kind).with_detail(format!("HTTP {status}"))
}

fn of_repository(code: Option<&str>, status: u16, repository: &str) -> Kind {
    let repository = repository.to_owned();
    match (code, status) {
        (Some("GatedRepo"), _) | (None, 403) => Kind::RepositoryClosed { repository },
        (Some("RepoNotFound" | "RevisionNotFound"), _) | (_, 401 | 404 | 410) => {
            Kind::RepositoryNotFound { repository }
        }
        _ => Kind::HubFailed,
    }
}

/// Where a list goes on: at the same site, as a header says.
fn next_page(asked: &Url, headers: &HeaderMap) -> Option<Url> {
    let links = headers.get(LINK)?.to_str().ok()?;
    let next = links.split(',').find(|link| link.contains("rel=\"next\""))?;
    let target = next.trim().strip_prefix('<')?.split_once('>')?.0;
    let url = asked.join(target).ok()?;
    (url.origin() == asked.origin()).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_goes_on_at_the_same_site_only() {
        let asked = Url::parse("https://hub.example/api/models/a/b/tree/main").unwrap();
        let next = |link: &'static str| {
            let headers = HeaderMap::from_iter([(LINK, HeaderValue::from_static(link))]);
            next_page(&asked, &headers).map(String::from)
        };
        let there = "<https://hub.example/api/x?cursor=1>; rel=\"next\"";
        assert_eq!(next(there).as_deref(), Some("https://hub.example/api/x?cursor=1"));
        assert_eq!(next("</x>; rel=\"next\"").as_deref(), Some("https://hub.example/x"));
        assert_eq!(next("<https://evil.example/>; rel=\"next\""), None);
        assert_eq!(next("<https://hub.example/>; rel=\"prev\""), None);
    }

    #[test]
    fn a_token_never_goes_where_others_read_it() {
        for (address, expected) in [
            ("https://huggingface.co/x", true),
            ("http://127.0.0.1:1/x", true),
            ("http://mirror.example/x", false),
        ] {
            assert_eq!(is_private(&Url::parse(address).unwrap()), expected, "{address}");
        }
    }

    #[test]
    fn names_never_leave_their_place_in_an_address() {
        let http =
            Http::new(&HubOptions { base: "http://h/mirror/".to_owned(), ..HubOptions::default() });
        let url = http.url(&["a", "b", "resolve", "main", "x y?z#.gguf"]).unwrap();
        assert_eq!(url.as_str(), "http://h/mirror/a/b/resolve/main/x%20y%3Fz%23.gguf");
        for base in ["", "file:///etc", "mailto:x"] {
            let http = Http::new(&HubOptions { base: base.to_owned(), ..HubOptions::default() });
            assert_eq!(http.url(&["a"]).unwrap_err().kind, Kind::InvalidUrl);
        }
    }
}
