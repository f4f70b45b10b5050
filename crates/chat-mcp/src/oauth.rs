//! Signs in to servers, in the user's browser.
//!
//! A server that wants to know who asks answers with a challenge. [`SignIn`] finds out from it where the user signs in,
//! and gives an [`Account`] the token. The account renews that by itself, until the server has another challenge.
//! Neither tokens nor secrets are shown by `Debug`, and none is in a fault.

mod account;
mod callback;
mod credentials;
mod fault;
mod requests;
mod sign_in;

use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::config::SecretText;

pub use self::account::Account;
pub use self::fault::OAuthFault;
pub use self::sign_in::SignIn;

/// Keeps what must stay secret between runs.
#[async_trait]
pub trait CredentialVault: Send + Sync {
    /// What is kept under a key, if there is something.
    ///
    /// # Errors
    /// There may be something, and it cannot be read now.
    async fn load(&self, key: &str) -> Result<Option<String>, VaultLocked>;

    /// Keeps a text under a key, in place of what was there.
    async fn save(&self, key: &str, value: String);

    /// Forgets what is kept under a key.
    ///
    /// # Errors
    /// There may be something, and it stays.
    async fn remove(&self, key: &str) -> Result<(), VaultLocked>;

    /// Waits until nobody else changes what is kept under a key, in this run or in another one, and keeps them waiting
    /// until what it gives is dropped. A vault that nobody else uses needs none of that.
    ///
    /// # Errors
    /// Somebody else takes too long.
    async fn lock(&self, _key: &str) -> Result<Box<dyn Send>, VaultLocked> {
        Ok(Box::new(()))
    }
}

/// What is in a vault can neither be read nor changed now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the vault is locked")]
pub struct VaultLocked;

/// With whom the user signed in for a server. No secret: it says where the secrets are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownIssuer {
    /// Who issued the token.
    pub issuer: String,
    /// Where the server said so, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resource_metadata: Option<String>,
    /// The key under which the vault keeps the token. It is another one if the server's address changes.
    pub key: String,
}

impl KnownIssuer {
    /// Forgets the token. Nobody has to be reached for that. Connections that use it must have ended.
    ///
    /// # Errors
    /// The vault keeps it.
    pub async fn sign_out(&self, vault: &dyn CredentialVault) -> Result<(), OAuthFault> {
        // Else whoever renews it just now would keep it after all. Whoever takes too long for that is not waited for.
        let _alone = vault.lock(&self.key).await;
        Ok(vault.remove(&self.key).await?)
    }
}

/// How this program introduces itself, and how long it waits.
#[derive(Clone, Debug)]
pub struct SignInOptions {
    /// What the user registered by hand. Without, the program registers itself.
    pub client: Option<RegisteredClient>,
    /// An address at which the program describes itself, for those who look there.
    pub metadata_url: Option<String>,
    /// How long the user may take in the browser.
    pub time_limit: Duration,
}

impl Default for SignInOptions {
    fn default() -> Self {
        Self { client: None, metadata_url: None, time_limit: Duration::from_mins(5) }
    }
}

/// What somebody registered by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredClient {
    /// The client's ID.
    pub id: String,
    /// Its secret, if it has one.
    pub secret: Option<SecretText>,
    /// With whom it is registered. Nobody else is told the secret. None if that is not known.
    pub issuer: Option<String>,
}
