//! Resolves and judges an address, and connects to exactly the address that was judged.

use std::error::Error as _;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Once};

use chat_permission::reach::{Reach, judge, judge_name};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Url};

use super::error::WebError;
use super::network::Network;

/// This program's user agent.
pub const USER_AGENT: &str = concat!("natter/", env!("CARGO_PKG_VERSION"));

/// The longest address that is fetched, in bytes: servers accept no longer ones, and the user is
/// asked about them.
const LONGEST: usize = 8_192;

/// Where a URL leads: resolved once, and not again before the connection is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The host as rules name it: without brackets, in lower case.
    pub host: String,
    /// The reach of the address that is farthest from the open internet.
    pub reach: Reach,
    /// Its addresses.
    pub found: Vec<IpAddr>,
    addresses: Vec<SocketAddr>,
}

impl Destination {
    /// Resolves a URL's host and judges each of its addresses. If one is nearby, the whole host
    /// counts as nearby, since a connection may use any of them.
    ///
    /// # Errors
    ///
    /// The URL cannot be fetched, or its host has no address.
    pub async fn find(url: &Url, network: &dyn Network) -> Result<Self, WebError> {
        let (host, by_name) = by_name(url)?;
        let nowhere = |words: String| WebError::NoHost { host: host.clone(), words };
        let found = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => network.addresses(&host).await.map_err(|error| nowhere(error.to_string()))?,
        };
        if found.is_empty() {
            return Err(nowhere("it has no address".to_owned()));
        }
        let judgements = found.iter().map(|address| judged(judge(*address)));
        let reach = judgements.fold(by_name, Reach::farther);
        let port = url.port_or_known_default().unwrap_or(80);
        let doors = found.iter().map(|address| network.door(SocketAddr::new(*address, port)));
        let addresses = doors.collect();
        Ok(Self { host, reach, found, addresses })
    }

    /// A client that connects only to these addresses, whatever the name leads to by then. It
    /// follows no redirects, uses no proxy, and sends no referrer.
    ///
    /// # Errors
    ///
    /// The system's certificates cannot be read.
    pub fn client(&self, url: &Url) -> Result<Client, WebError> {
        provide_tls();
        let mut client = Client::builder()
            .user_agent(USER_AGENT)
            .no_proxy()
            .referer(false)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .pool_max_idle_per_host(0)
            .dns_resolver(Arc::new(Pinned(self.addresses.clone())));
        if url.scheme() == "http" {
            // Reading the system's certificates takes time, and none is needed.
            client = client.tls_certs_only([]);
        }
        client.build().map_err(|error| WebError::Unreachable {
            host: self.host.clone(),
            words: innermost(&error),
        })
    }
}

/// A URL's host, and where it leads as far as that is known without a query, since strangers can
/// see which names are resolved.
///
/// # Errors
///
/// It has no host.
pub fn by_name(url: &Url) -> Result<(String, Reach), WebError> {
    let host = host_of(url)?;
    // The URL parser has already normalized every spelling of an address.
    let reach = host.parse().map_or_else(|_| judge_name(&host), judge);
    Ok((host, judged(reach)))
}

/// The judgement, unless this run is sabotaged.
fn judged(reach: Reach) -> Reach {
    if chat_sabotage::is_sabotaged("no_address_check") { Reach::Public } else { reach }
}

/// Parses an address from a model.
///
/// # Errors
///
/// It is not one that can be fetched.
pub fn parse(text: &str) -> Result<Url, WebError> {
    let url = Url::parse(text.trim()).map_err(|_| WebError::no_address(text))?;
    accept(url)
}

/// The URL, if it may be fetched at all; without its fragment, which no server sees.
///
/// # Errors
///
/// It has another scheme, or contains a password.
pub fn accept(mut url: Url) -> Result<Url, WebError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(WebError::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(WebError::Credentials);
    }
    host_of(&url)?;
    url.set_fragment(None);
    if url.as_str().len() > LONGEST {
        return Err(WebError::TooLong(LONGEST));
    }
    Ok(url)
}

fn host_of(url: &Url) -> Result<String, WebError> {
    let host = url.host_str().map(|host| host.trim_start_matches('[').trim_end_matches(']'));
    // A trailing dot marks a name as absolute: it is the same host.
    let host = host.unwrap_or_default().trim_end_matches('.');
    if host.is_empty() { Err(WebError::no_address(url.as_str())) } else { Ok(host.to_owned()) }
}

/// The message of the innermost cause: "Connection refused (os error 111)".
pub fn innermost(error: &reqwest::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words = inner.to_string();
        cause = inner.source();
    }
    words
}

/// Installs the cryptography for TLS; programs do this when they start.
pub fn provide_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// Resolves every name to the addresses that were judged.
struct Pinned(Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use async_trait::async_trait;
    use rstest::rstest;

    use super::*;

    /// Every name has these addresses.
    struct Known(Vec<IpAddr>);

    #[async_trait]
    impl Network for Known {
        async fn addresses(&self, _: &str) -> io::Result<Vec<IpAddr>> {
            Ok(self.0.clone())
        }
    }

    async fn reach(url: &str, addresses: &[&str]) -> Reach {
        let known = Known(addresses.iter().map(|address| address.parse().unwrap()).collect());
        Destination::find(&parse(url).unwrap(), &known).await.unwrap().reach
    }

    #[rstest]
    #[case("http://2130706433/")]
    #[case("http://0x7f000001/")]
    #[case("http://0x7f.1/")]
    #[case("http://017700000001/")]
    #[case("http://0177.0.0.01/")]
    #[case("http://127.1/")]
    #[case("http://127.0.1/")]
    #[case("http://1%327.0.0.1/")]
    #[case("http://①②⑦.⓪.⓪.①/")]
    #[case("http://127。0。0。1/")]
    #[case("http://127.0.0.1./")]
    #[case("http:\\\\127.0.0.1/")]
    #[case("http:127.0.0.1/")]
    #[case("http://0/")]
    #[case("http://[::1]/")]
    #[case("http://[::ffff:127.0.0.1]/")]
    #[case("http://[0:0:0:0:0:ffff:7f00:1]/")]
    #[case("http://[::ffff:7f00:1]:8080/")]
    #[case("https://LOCALHOST/")]
    #[case("https://a.b.localhost./")]
    #[tokio::test]
    async fn odd_spellings_of_this_machine_are_this_machine(#[case] url: &str) {
        // A resolver that lies does not help, either.
        assert_eq!(reach(url, &["93.184.216.34"]).await, Reach::ThisMachine);
    }

    #[tokio::test]
    async fn one_near_address_among_others_makes_a_host_near() {
        let url = "https://example.org/";
        assert_eq!(reach(url, &["93.184.216.34", "2606:4700::1111"]).await, Reach::Public);
        assert_eq!(reach(url, &["93.184.216.34", "10.0.0.1"]).await, Reach::Private);
        assert_eq!(reach(url, &["fe80::1", "93.184.216.34"]).await, Reach::LinkLocal);
    }

    #[tokio::test]
    async fn of_several_near_addresses_the_worst_counts_wherever_it_stands() {
        let url = "https://example.org/";
        for addresses in [["10.0.0.1", "169.254.169.254"], ["169.254.169.254", "10.0.0.1"]] {
            assert_eq!(reach(url, &addresses).await, Reach::Metadata);
        }
        // A name that is known to be nearby stays so, wherever it leads.
        let secrets = "http://metadata.google.internal/";
        assert_eq!(reach(secrets, &["10.0.0.1"]).await, Reach::Metadata);
    }

    #[tokio::test]
    async fn a_host_without_addresses_is_not_found() {
        let (url, known) = (parse("http://nowhere.test").unwrap(), Known(Vec::new()));
        let found = Destination::find(&url, &known).await;
        assert!(matches!(found, Err(WebError::NoHost { .. })));
    }

    #[rstest]
    #[case("ftp://example.org/", WebError::Scheme("ftp".to_owned()))]
    #[case("file:///etc/passwd", WebError::Scheme("file".to_owned()))]
    #[case("javascript:alert(1)", WebError::Scheme("javascript".to_owned()))]
    #[case("https://me@example.org/", WebError::Credentials)]
    #[case("https://:secret@example.org/", WebError::Credentials)]
    #[case("example.org", WebError::NoAddress("example.org".to_owned()))]
    #[case("http://", WebError::NoAddress("http://".to_owned()))]
    #[case("http://256.1.1.1/", WebError::NoAddress("http://256.1.1.1/".to_owned()))]
    fn what_cannot_be_fetched_is_told(#[case] text: &str, #[case] trouble: WebError) {
        assert_eq!(parse(text).unwrap_err(), trouble);
    }

    #[test]
    fn a_fragment_is_nobodys_business() {
        assert_eq!(
            parse(" https://Example.org/a?b#c ").unwrap().as_str(),
            "https://example.org/a?b"
        );
    }
}
