//! Reaches servers over HTTP: with bounds for what they send, and only at addresses that they may lead to.
//!
//! Secrets are in the address, the headers and the tokens. None of them is shown by `Debug`, and none is in a fault.

mod addresses;
mod fault;
mod headers;
mod transport;

use std::fmt;
use std::sync::{Arc, Once};
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use url::Url;

use self::addresses::{AddressResolver, Addresses};
use crate::config::ResolvedEndpoint;

pub use self::fault::HttpFault;
pub use self::headers::has_own_authorization;
pub use self::transport::{HttpTransport, transport};

/// How long it may take until there is a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// A connection on which nothing comes is asked so often whether it is still there.
const KEEP_ALIVE: Duration = Duration::from_mins(1);
/// So many redirects are followed.
const REDIRECTS: usize = 5;

/// What reaches one server, and those whom it names for signing in. Cheap to clone. Make a new one for each connection:
/// it holds the server to the network in which it was first found.
#[derive(Clone)]
pub struct HttpClient {
    base: Url,
    addresses: Arc<Addresses>,
    client: Client,
}

impl HttpClient {
    /// A client for a server. Connects to nothing yet.
    ///
    /// # Errors
    /// The address cannot be used, or the system's certificates cannot be read.
    pub fn new(endpoint: &ResolvedEndpoint) -> Result<Self, HttpFault> {
        let base = Url::parse(endpoint.url.expose()).map_err(|_| HttpFault::InvalidUrl)?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(HttpFault::InvalidUrl);
        }
        let addresses = Arc::new(Addresses::new(&base).ok_or(HttpFault::AddressRefused)?);
        let mut client = builder(&addresses).redirect(Policy::custom(|attempt| {
            let is_same =
                attempt.previous().last().is_some_and(|it| is_same_origin(it, attempt.url()));
            // Neither headers nor tokens go elsewhere.
            if is_same && attempt.previous().len() <= REDIRECTS {
                attempt.follow()
            } else {
                attempt.error(RedirectRefused)
            }
        }));
        if base.scheme() == "http" {
            // Reading the system's certificates takes time, and none is needed.
            client = client.tls_certs_only([]);
        }
        let client = client.build().map_err(|_| HttpFault::NoTls)?;
        Ok(Self { base, addresses, client })
    }

    /// The server's address. It may contain a secret.
    pub(crate) fn base(&self) -> &Url {
        &self.base
    }

    /// Whether a request may go there, as far as that is known before its host is resolved.
    pub(crate) fn allows(&self, url: &Url) -> bool {
        let is_http = matches!(url.scheme(), "http" | "https");
        // Whoever is reached in secret leads to nobody who is not.
        let is_downgrade = self.base.scheme() == "https" && url.scheme() != "https";
        is_http && !is_downgrade && self.addresses.allow(url)
    }

    /// A client for requests to others that the server names. It follows redirects if they may be followed.
    pub(crate) fn for_others(&self, follow: bool) -> Result<Client, HttpFault> {
        let policy = if follow {
            let here = self.clone();
            Policy::custom(move |attempt| {
                if attempt.previous().len() <= REDIRECTS && here.allows(attempt.url()) {
                    attempt.follow()
                } else {
                    attempt.error(RedirectRefused)
                }
            })
        } else {
            Policy::none()
        };
        builder(&self.addresses).redirect(policy).build().map_err(|_| HttpFault::NoTls)
    }

    /// What sends requests to the server itself.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}

/// A redirect was not followed.
#[derive(Debug, thiserror::Error)]
#[error("the redirect is not followed")]
struct RedirectRefused;

fn builder(addresses: &Arc<Addresses>) -> ClientBuilder {
    provide_tls();
    let mut client = Client::builder()
        .user_agent(concat!("natter/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        .tcp_keepalive(KEEP_ALIVE)
        .referer(false)
        .dns_resolver(Arc::new(AddressResolver(Arc::clone(addresses))));
    if addresses.are_on_this_machine() {
        client = client.no_proxy();
    }
    client
}

fn is_same_origin(one: &Url, other: &Url) -> bool {
    one.scheme() == other.scheme()
        && one.host_str() == other.host_str()
        && one.port_or_known_default() == other.port_or_known_default()
}

/// Installs the cryptography for TLS; programs do this when they start.
fn provide_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::config::SecretText;

    fn client(url: &str) -> Result<HttpClient, HttpFault> {
        HttpClient::new(&ResolvedEndpoint { url: SecretText::new(url), headers: BTreeMap::new() })
    }

    fn allows(base: &str, url: &str) -> bool {
        client(base).unwrap().allows(&Url::parse(url).unwrap())
    }

    #[test]
    fn whoever_is_reached_in_secret_leads_to_nobody_who_is_not() {
        assert!(allows("https://example.org/mcp", "https://login.example.net/token"));
        assert!(!allows("https://example.org/mcp", "http://login.example.net/token"));
        assert!(allows("http://127.0.0.1:1/mcp", "https://login.example.net/token"));
        assert!(!allows("http://127.0.0.1:1/mcp", "file:///etc/passwd"));
    }

    #[test]
    fn an_address_with_a_secret_is_not_shown() {
        let client = client("https://example.org/mcp?key=hunter2").unwrap();
        assert!(!format!("{client:?}").contains("hunter2"));
    }

    #[test]
    fn what_is_no_server_is_refused() {
        assert_eq!(client("file:///tmp").err(), Some(HttpFault::InvalidUrl));
        assert_eq!(client("example").err(), Some(HttpFault::InvalidUrl));
        let secrets = "http://169.254.169.254/latest";
        assert_eq!(client(secrets).err(), Some(HttpFault::AddressRefused));
    }
}
