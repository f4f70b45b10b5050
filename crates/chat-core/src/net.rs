//! Holds what all users of HTTP share.

use std::error::Error as _;
use std::sync::Once;

use reqwest::header::HeaderName;
use reqwest::{Proxy, Url};

/// The word for no proxy at all.
pub(crate) const NO_PROXY: &str = "none";

/// The schemes of proxies that can be used.
const PROXY_SCHEMES: &[&str] = &["http", "https", "socks5", "socks5h"];

/// A proxy that somebody chose.
pub(crate) enum ChosenProxy {
    /// None at all.
    None,
    /// This one.
    Over(Box<Proxy>),
}

impl ChosenProxy {
    /// Reads it as it was written; none where it cannot be used.
    pub fn parse(written: &str) -> Option<Self> {
        let written = written.trim();
        if written == NO_PROXY {
            return Some(Self::None);
        }
        let url = Url::parse(written).ok()?;
        let has_host = url.host_str().is_some_and(|host| !host.is_empty());
        if !PROXY_SCHEMES.contains(&url.scheme()) || !has_host {
            return None;
        }
        Proxy::all(written).ok().map(|proxy| Self::Over(Box::new(proxy)))
    }
}

/// Whether this can be the name of a header.
pub(crate) fn is_header_name(name: &str) -> bool {
    HeaderName::from_bytes(name.as_bytes()).is_ok()
}

/// Sees to it that TLS has its cryptography. Programs install it when they start; who uses the
/// engine alone may not have.
pub(crate) fn provide_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// The words of the innermost cause: "Connection refused (os error 111)".
pub(crate) fn root_words(error: &reqwest::Error) -> String {
    let mut words = String::new();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words = inner.to_string();
        cause = inner.source();
    }
    words
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("none", true)]
    #[case("http://proxy:3128", true)]
    #[case(" https://me:secret@proxy.example.org ", true)]
    #[case("socks5://127.0.0.1:1080", true)]
    #[case("socks5h://127.0.0.1:1080", true)]
    #[case("socks4://127.0.0.1:1080", false)]
    #[case("ftp://proxy", false)]
    #[case("proxy:3128", false)]
    #[case("", false)]
    fn a_proxy_is_an_address_or_none(#[case] written: &str, #[case] is_one: bool) {
        assert_eq!(ChosenProxy::parse(written).is_some(), is_one);
    }
}
