//! Says why nobody could sign in.

use rmcp::transport::auth::{AuthError, ProtectedResourceMetadataInvalidReason};

use super::VaultLocked;

/// Why nobody could sign in to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OAuthFault {
    /// The user, or whoever decides for them, said no.
    Denied {
        /// The words of whoever said so, which are data.
        description: Option<String>,
    },
    /// There was an error where the user signs in.
    Failed {
        /// Its code, which is data.
        code: String,
        /// Its words, which are data.
        description: Option<String>,
    },
    /// The user did not sign in in time.
    TimedOut,
    /// The server does not say where to sign in.
    NoMetadata,
    /// Somebody else answered than was asked, or nobody says who.
    IssuerMismatch,
    /// The server says it is another.
    ResourceMismatch,
    /// This program cannot register itself there.
    RegistrationRefused,
    /// There is no token, although the user signed in, or it cannot be renewed.
    TokenRefused,
    /// There is no connection to where the user signs in.
    Unreachable,
    /// The system's certificates cannot be read.
    NoTls,
    /// The server leads to an address that may not be reached for it.
    AddressRefused,
    /// They can sign in only in ways that are not secure, or that this program does not know.
    Unsupported,
    /// The token can neither be read nor removed: the keyring is locked, or does not answer.
    NoKeyring,
    /// This program cannot listen for what the browser brings.
    NoListener,
    /// The browser cannot be opened. Whoever opens it says so.
    NoBrowser,
}

impl From<VaultLocked> for OAuthFault {
    fn from(_: VaultLocked) -> Self {
        Self::NoKeyring
    }
}

impl OAuthFault {
    pub(crate) fn of(error: &AuthError) -> Self {
        match error {
            AuthError::AuthorizationServerMismatch { .. }
            | AuthError::AuthorizationServerMissingIssuer { .. }
            | AuthError::AuthorizationFailed(_) => Self::IssuerMismatch,
            AuthError::ProtectedResourceMetadataInvalid { reason, .. } => match **reason {
                ProtectedResourceMetadataInvalidReason::ResourceMismatch { .. } => {
                    Self::ResourceMismatch
                }
                _ => Self::NoMetadata,
            },
            AuthError::RegistrationFailed(_) => Self::RegistrationRefused,
            AuthError::PkceUnsupported | AuthError::InvalidScope(_) => Self::Unsupported,
            // Another run has not let go of the token yet.
            AuthError::HttpError(_) | AuthError::CredentialStoreError(_) => Self::Unreachable,
            // Whoever answers says so in the words; all else is that nobody did.
            AuthError::TokenRefreshFailed(words) if !words.starts_with("Server returned") => {
                Self::Unreachable
            }
            AuthError::MetadataError(_)
            | AuthError::DiscoveryRequestFailed { .. }
            | AuthError::AuthorizationServersUnavailable { .. }
            | AuthError::OAuthError(_)
            | AuthError::UrlError(_)
            | AuthError::NoAuthorizationSupport => Self::NoMetadata,
            _ => Self::TokenRefused,
        }
    }
}
