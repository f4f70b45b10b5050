//! Fetches a page that the user named. No permission is needed, and redirects lead only to the open
//! internet, or to the named host while its address stays the same.

use std::sync::Arc;

use async_trait::async_trait;
use chat_core::error::{Error, Kind, PageFault, Result};
use chat_core::settings::ToolSettings;
use chat_core::tool::PageReader;
use chat_permission::reach::Reach;
use reqwest::Url;

use super::REDIRECTS;
use crate::web::answer::{Answer, Budget, Step, ask};
use crate::web::content::{PageContent, content_of, heading};
use crate::web::destination::{self, Destination};
use crate::web::error::WebError;
use crate::web::network::{Network, System};
use crate::web::page::Form;

/// Fetches pages that the user named.
pub struct Pages(Arc<dyn Network>);

impl Default for Pages {
    fn default() -> Self {
        Self::new(Arc::new(System))
    }
}

impl Pages {
    /// Creates it for a network.
    pub fn new(network: Arc<dyn Network>) -> Self {
        Self(network)
    }
}

#[async_trait]
impl PageReader for Pages {
    /// The page as text, below its address and title.
    async fn read(&self, url: &str, settings: &ToolSettings) -> Result<String> {
        page(url, &*self.0, settings).await
    }
}

async fn page(url: &str, network: &dyn Network, settings: &ToolSettings) -> Result<String> {
    let failed = |why| Error::new(Kind::PageNotFetched { url: url.to_owned(), why });
    let given = destination::parse(url).map_err(|trouble| failed(fault(trouble)))?;
    let answer = follow(given, network, settings).await.map_err(failed)?;
    // Converting a page takes a while, and a page may be designed to take long.
    let reading =
        tokio::task::spawn_blocking(move || (content_of(&answer, Form::Markdown), answer));
    let (shown, Answer { url: at, cut, .. }) =
        reading.await.map_err(|_| Error::new(Kind::Internal))?;
    match shown {
        PageContent::Text { title, text, note } => {
            Ok(format!("{}\n\n{text}", heading(&at, title.as_deref(), cut, note)))
        }
        PageContent::Picture(_) | PageContent::Other(_) => Err(failed(PageFault::NoText)),
    }
}

async fn follow(
    mut url: Url,
    network: &dyn Network,
    settings: &ToolSettings,
) -> std::result::Result<Answer, PageFault> {
    let mut budget = Budget::new(settings.fetch_seconds, settings.fetch_kb);
    let mut named = None;
    for _ in 0..=REDIRECTS {
        let (host, _) = destination::by_name(&url).map_err(fault)?;
        let finding = Destination::find(&url, network);
        let destination = budget.within(&host, finding).await.map_err(fault)?;
        let is_first = named.is_none();
        let there = (host, door(&url), destination.reach);
        // A name that leads elsewhere by now is not what the user named, nor is another service
        // there.
        let named = named.get_or_insert_with(|| there.clone());
        let is_named = *named == there && (!is_first || says_that_it_is_near(&there.0));
        if !may_reach(destination.reach, is_named) {
            return Err(PageFault::Elsewhere);
        }
        match ask(&url, &destination, &mut budget).await.map_err(fault)? {
            Step::Redirect(next) => url = next,
            Step::Answer(answer) => return Ok(answer),
        }
    }
    Err(PageFault::Elsewhere)
}

/// The port; 80 and 443 count as the same.
fn door(url: &Url) -> Option<u16> {
    url.port()
}

/// Whether a host's name itself says that it is nearby: the owner of any other name decides where
/// it leads.
fn says_that_it_is_near(host: &str) -> bool {
    const ENDINGS: [&str; 7] =
        [".localhost", ".local", ".lan", ".home", ".internal", ".home.arpa", ".test"];
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    is_address || !host.contains('.') || ENDINGS.iter().any(|ending| host.ends_with(ending))
}

/// Whether a host may be reached: nearby hosts only if the user named them, and metadata services
/// never.
fn may_reach(reach: Reach, is_named: bool) -> bool {
    match reach {
        Reach::Public => true,
        Reach::ThisMachine | Reach::Private | Reach::LinkLocal => is_named,
        Reach::Metadata | Reach::Multicast | Reach::Reserved => false,
    }
}

fn fault(trouble: WebError) -> PageFault {
    match trouble {
        WebError::NoAddress(_)
        | WebError::TooLong(_)
        | WebError::Scheme(_)
        | WebError::Credentials => PageFault::Address,
        WebError::NoHost { host, .. }
        | WebError::Unreachable { host, .. }
        | WebError::BrokeOff { host, .. } => PageFault::Unreachable { host },
        WebError::TooLate { host, seconds } => PageFault::TooLate { host, seconds },
        WebError::Status { host, status } => PageFault::Refused { host, status },
        WebError::TooManyRedirects(_) | WebError::BadRedirect { .. } | WebError::Stopped => {
            PageFault::Elsewhere
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_host_says_so_by_its_name() {
        for host in ["localhost", "127.0.0.1", "::1", "192.168.1.1", "printer", "nas.local"] {
            assert!(says_that_it_is_near(host), "{host}");
        }
        for host in ["example.org", "localhost.example.org", "local", "127.0.0.1.nip.io"] {
            assert_eq!(says_that_it_is_near(host), host == "local", "{host}");
        }
        let at = |url| door(&Url::parse(url).unwrap());
        assert_eq!(at("http://router.lan/"), at("https://router.lan/"));
        assert_ne!(at("http://localhost:3000/"), at("http://localhost:9200/"));
    }

    #[test]
    fn what_is_near_is_asked_only_where_the_person_named_it() {
        assert!(may_reach(Reach::ThisMachine, true));
        assert!(!may_reach(Reach::ThisMachine, false), "a page must not lead there");
        assert!(may_reach(Reach::Public, false));
        assert!(!may_reach(Reach::Metadata, true));
    }
}
