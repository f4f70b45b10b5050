//! Sends one request to one server, with limits on size and time. Each redirect is judged again.

use std::time::{Duration, Instant};

use reqwest::header::{ACCEPT, CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url};

use super::destination::{Destination, accept, innermost};
use super::error::WebError;

/// The accepted types, the preferred ones first.
const WANTED: &str =
    "text/html,application/xhtml+xml;q=0.9,text/markdown;q=0.9,text/plain;q=0.8,*/*;q=0.5";

/// The longest accepted name of a type, in letters.
const TYPE: usize = 100;

/// A server's response.
#[derive(Debug)]
pub enum Step {
    /// Ask this URL instead.
    Redirect(Url),
    /// The answer.
    Answer(Answer),
}

/// What a server answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Who answered.
    pub url: Url,
    /// The declared type, such as `text/html`; in lower case, and empty if there is none.
    pub mime: String,
    /// The declared encoding.
    pub charset: Option<String>,
    /// The decompressed content.
    pub bytes: Vec<u8>,
    /// Why the content is incomplete.
    pub cut: Option<Cut>,
}

/// Why an answer is incomplete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It is longer than this many kilobytes.
    Size(u64),
    /// The rest did not arrive within this many seconds.
    Time(u64),
}

/// The limits of a fetch, over all its redirects. Waiting for the user does not count.
#[derive(Debug)]
pub struct Budget {
    seconds: u64,
    left: Duration,
    kilobytes: u64,
}

impl Budget {
    /// Allows this many seconds and kilobytes.
    pub fn new(seconds: u64, kilobytes: u64) -> Self {
        Self { seconds, left: Duration::from_secs(seconds), kilobytes }
    }

    /// Waits for something while there is time left.
    ///
    /// # Errors
    ///
    /// The time is over.
    pub async fn within<T>(
        &mut self,
        host: &str,
        work: impl Future<Output = Result<T, WebError>>,
    ) -> Result<T, WebError> {
        let began = Instant::now();
        let done = tokio::time::timeout(self.left, work).await;
        self.left = self.left.saturating_sub(began.elapsed());
        let late = || WebError::TooLate { host: host.to_owned(), seconds: self.seconds };
        done.unwrap_or_else(|_| Err(late()))
    }
}

/// Requests a URL from a server, at the addresses that were judged.
///
/// # Errors
///
/// It does not answer, not in time, or with an error.
pub async fn ask(
    url: &Url,
    destination: &Destination,
    budget: &mut Budget,
) -> Result<Step, WebError> {
    let host = destination.host.as_str();
    let client = destination.client(url)?;
    let asking = async {
        let response = client.get(url.clone()).header(ACCEPT, WANTED).send().await;
        response.map_err(|error| WebError::Unreachable {
            host: host.to_owned(),
            words: innermost(&error),
        })
    };
    let response = budget.within(host, asking).await?;
    let status = response.status();
    if let Some(aim) = aim(&response) {
        let bad = |why| WebError::BadRedirect { host: host.to_owned(), why: Box::new(why) };
        let next = url.join(&aim).map_err(|_| bad(WebError::no_address(&aim)))?;
        return accept(next).map(Step::Redirect).map_err(bad);
    }
    if !status.is_success() {
        return Err(WebError::Status { host: host.to_owned(), status: status.to_string() });
    }
    let (mime, charset) = kind(&response);
    let (bytes, cut) = read(response, host, budget).await?;
    Ok(Step::Answer(Answer { url: url.clone(), mime, charset, bytes, cut }))
}

/// The target of a redirect.
fn aim(response: &Response) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let aim = response.headers().get(LOCATION)?;
    Some(String::from_utf8_lossy(aim.as_bytes()).into_owned())
}

fn kind(response: &Response) -> (String, Option<String>) {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let mut parts = kind.unwrap_or_default().split(';');
    let mime = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
    let mime = mime.chars().take(TYPE).collect();
    let charset = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        name.trim().eq_ignore_ascii_case("charset").then(|| value.to_owned())
    });
    (mime, charset)
}

/// Reads no more than wanted, however well it was compressed.
async fn read(
    mut response: Response,
    host: &str,
    budget: &mut Budget,
) -> Result<(Vec<u8>, Option<Cut>), WebError> {
    let limit = usize::try_from(budget.kilobytes.saturating_mul(1024)).unwrap_or(usize::MAX);
    let mut bytes = Vec::new();
    loop {
        let next = async {
            response.chunk().await.map_err(|error| WebError::BrokeOff {
                host: host.to_owned(),
                words: innermost(&error),
            })
        };
        match budget.within(host, next).await {
            Ok(None) => return Ok((bytes, None)),
            Ok(Some(more)) => {
                let room = limit - bytes.len();
                bytes.extend_from_slice(&more[..more.len().min(room)]);
                if more.len() > room {
                    return Ok((bytes, Some(Cut::Size(budget.kilobytes))));
                }
            }
            // A part is worth having.
            Err(WebError::TooLate { .. }) if !bytes.is_empty() => {
                return Ok((bytes, Some(Cut::Time(budget.seconds))));
            }
            Err(trouble) => return Err(trouble),
        }
    }
}
