//! Says why a server could not be reached.

use std::error::Error;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::RedirectRefused;
use super::addresses::AddressRefused;
use crate::oauth::OAuthFault;

/// Why a server could not be reached over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HttpFault {
    /// Its address is none.
    InvalidUrl,
    /// A header is one that the protocol sets itself.
    ReservedHeader {
        /// Its name.
        name: String,
    },
    /// A header cannot be sent.
    InvalidHeader {
        /// Its name.
        name: String,
    },
    /// The system's certificates cannot be read.
    NoTls,
    /// It leads to an address that may not be reached for it.
    AddressRefused,
    /// It redirects to another server, or endlessly.
    RedirectRefused,
    /// There is no connection: no such host, nobody there, no network, no valid certificate.
    Unreachable,
    /// It did not answer in time.
    TimedOut,
    /// It answered more than is read.
    TooLarge,
    /// It answered with this status of HTTP.
    Status(u16),
    /// It answered something that is not the protocol.
    NotMcp,
    /// Its token could not be renewed.
    Authorization(OAuthFault),
}

impl HttpFault {
    /// Why a connection could not be made, if HTTP is the reason.
    pub fn of_connect(error: &ClientInitializeError) -> Option<Self> {
        match error {
            ClientInitializeError::TransportError { error, .. } => Self::of(error.error.as_ref()),
            ClientInitializeError::LegacyFallbackFailed { discover, fallback } => {
                Self::of_connect(fallback).or_else(|| Self::of_connect(discover))
            }
            _ => None,
        }
    }

    /// Why a request failed, if HTTP is the reason.
    pub fn of_request(error: &ServiceError) -> Option<Self> {
        match error {
            ServiceError::TransportSend(error) => Self::of(error.error.as_ref()),
            _ => None,
        }
    }

    /// Whether it may be gone the next time, without anybody changing anything.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Unreachable
            | Self::TimedOut
            | Self::Status(408 | 429 | 500..)
            | Self::Authorization(OAuthFault::Unreachable) => true,
            Self::InvalidUrl
            | Self::ReservedHeader { .. }
            | Self::InvalidHeader { .. }
            | Self::NoTls
            | Self::AddressRefused
            | Self::RedirectRefused
            | Self::TooLarge
            | Self::Status(_)
            | Self::NotMcp
            | Self::Authorization(_) => false,
        }
    }

    pub(crate) fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut found = None;
        let mut next = Some(error);
        while let Some(error) = next {
            // An inner one knows better.
            found = Self::of_one(error).or(found);
            next = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
                Some(StreamableHttpError::Client(error)) => Some(error),
                _ => error.source(),
            };
        }
        found
    }

    fn of_one(error: &(dyn Error + 'static)) -> Option<Self> {
        if error.is::<AddressRefused>() {
            return Some(Self::AddressRefused);
        }
        if error.is::<RedirectRefused>() {
            return Some(Self::RedirectRefused);
        }
        if let Some(error) = error.downcast_ref::<AuthError>() {
            return Some(Self::Authorization(OAuthFault::of(error)));
        }
        if let Some(error) = error.downcast_ref::<reqwest::Error>() {
            return Self::of_request_error(error);
        }
        match error.downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
            StreamableHttpError::HttpStatus(error) => Some(Self::Status(error.status)),
            StreamableHttpError::ResponseBodyTooLarge { .. } => Some(Self::TooLarge),
            StreamableHttpError::ControlRequestTimeout
            | StreamableHttpError::SessionRecoveryTimeout => Some(Self::TimedOut),
            StreamableHttpError::UnexpectedServerResponse(words) => {
                Some(status(words).map_or(Self::NotMcp, Self::Status))
            }
            StreamableHttpError::UnexpectedContentType(_)
            | StreamableHttpError::Deserialize(_)
            | StreamableHttpError::MissingSessionIdInResponse => Some(Self::NotMcp),
            _ => None,
        }
    }

    fn of_request_error(error: &reqwest::Error) -> Option<Self> {
        if let Some(status) = error.status() {
            Some(Self::Status(status.as_u16()))
        } else if error.is_timeout() {
            Some(Self::TimedOut)
        } else if error.is_connect() || error.is_request() || error.is_body() {
            Some(Self::Unreachable)
        } else {
            None
        }
    }
}

/// The status in the words for an answer that cannot be used: "HTTP 404 Not Found: …".
fn status(words: &str) -> Option<u16> {
    words.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use rmcp::transport::streamable_http_client::HttpStatusError;

    use super::*;

    #[test]
    fn the_status_is_read_from_the_words() {
        assert_eq!(status("HTTP 404 Not Found: nothing here"), Some(404));
        assert_eq!(status("HTTP 4"), None);
        assert_eq!(status("could not parse JSON response"), None);
    }

    #[test]
    fn the_innermost_reason_counts() {
        type Http = StreamableHttpError<reqwest::Error>;
        let error = Http::HttpStatus(HttpStatusError::new(503, None));
        assert_eq!(HttpFault::of(&error), Some(HttpFault::Status(503)));
        let error = Http::ResponseBodyTooLarge { max_size: 1 };
        assert_eq!(HttpFault::of(&error), Some(HttpFault::TooLarge));
        let error = Http::Auth(AuthError::TokenRefreshFailed("secret".to_owned()));
        let fault = HttpFault::Authorization(OAuthFault::Unreachable);
        assert_eq!(HttpFault::of(&error), Some(fault));
        assert_eq!(HttpFault::of(&std::io::Error::other("else")), None);
    }
}
