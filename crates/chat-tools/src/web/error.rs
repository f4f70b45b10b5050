//! Explains to the model why a page could not be fetched.

use thiserror::Error;

/// Why something was not fetched.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WebError {
    /// The text is not an address.
    #[error("`{0}` is not a web address. Give a full one, such as https://example.org/page.")]
    NoAddress(String),
    /// It is longer than this many bytes.
    #[error("The address is longer than {0} bytes and is not fetched.")]
    TooLong(usize),
    /// Its scheme is neither http nor https.
    #[error("Only http and https addresses can be fetched, not {0}.")]
    Scheme(String),
    /// It contains a user name or password.
    #[error("Addresses that contain a user name or password are not fetched.")]
    Credentials,
    /// The host's name has no address.
    #[error("The host {host} was not found ({words}).")]
    NoHost {
        /// The host.
        host: String,
        /// The resolver's message.
        words: String,
    },
    /// The connection failed.
    #[error("{host} cannot be reached ({words}).")]
    Unreachable {
        /// The host.
        host: String,
        /// The system's message.
        words: String,
    },
    /// The server closed the connection early.
    #[error("The connection to {host} was lost before the response was complete ({words}).")]
    BrokeOff {
        /// The host.
        host: String,
        /// The system's message.
        words: String,
    },
    /// Nothing came in time.
    #[error("{host} did not respond within {seconds} s.")]
    TooLate {
        /// The host.
        host: String,
        /// The limit.
        seconds: u64,
    },
    /// Too many redirects, one after the other.
    #[error("The address was redirected more than {0} times.")]
    TooManyRedirects(usize),
    /// A redirect's target is not a valid address.
    #[error("{host} redirects to an address that cannot be fetched: {why}")]
    BadRedirect {
        /// The host.
        host: String,
        /// What is wrong with its target.
        why: Box<WebError>,
    },
    /// The server returned an error.
    #[error("{host} returned {status}.")]
    Status {
        /// The host.
        host: String,
        /// The status with its text: "404 Not Found".
        status: String,
    },
    /// The request was stopped.
    #[error("The user stopped this call.")]
    Stopped,
}

impl WebError {
    /// A text that is not an address, shortened.
    pub fn no_address(text: &str) -> Self {
        const SHOWN: usize = 200;
        let mut shown: String = text.chars().take(SHOWN).collect();
        if shown.len() < text.len() {
            shown.push('…');
        }
        Self::NoAddress(shown)
    }
}
