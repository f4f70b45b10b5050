//! Holds what all users of HTTP share.

use std::error::Error as _;
use std::sync::Once;

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
