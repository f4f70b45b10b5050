//! Finds what the references of servers stand for: variables of the environment, and secrets in the keyring.

mod vault;

use std::sync::Arc;

use chat_core::error::Result;
use chat_core::settings::{Key, KeyStorage, KeyStore};

use crate::config::{Reference, Resolver, SecretText, Unresolved};

pub use self::vault::TokenVault;

/// Secrets of servers stand apart from the keys of connections.
const PREFIX: &str = "mcp/";

/// Finds and keeps the secrets of servers. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Keys(Arc<KeyStore>);

impl Keys {
    /// The secret of this name, if there is one.
    ///
    /// # Errors
    /// The keyring is locked or does not answer.
    pub async fn get(&self, name: &str) -> Result<Option<Key>> {
        self.0.stored(&format!("{PREFIX}{name}")).await
    }

    /// Whether there is a secret of this name. A locked keyring tells that, too.
    ///
    /// # Errors
    /// The keyring does not answer.
    pub async fn has(&self, name: &str) -> Result<bool> {
        self.0.has(&format!("{PREFIX}{name}")).await
    }

    /// Keeps a secret. May ask the user to unlock the keyring.
    ///
    /// # Errors
    /// It could not be kept.
    pub async fn set(&self, name: &str, secret: &SecretText) -> Result<KeyStorage> {
        self.0.set(&format!("{PREFIX}{name}"), Key::new(secret.expose())).await
    }

    /// Forgets a secret.
    ///
    /// # Errors
    /// The keyring has it and keeps it.
    pub async fn remove(&self, name: &str) -> Result<()> {
        self.0.remove(&format!("{PREFIX}{name}")).await
    }
}

impl Resolver for Keys {
    async fn resolve(&self, reference: &Reference) -> Result<SecretText, Unresolved> {
        match reference {
            Reference::Variable { name, .. } => {
                std::env::var(name).map(SecretText::new).map_err(|_| Unresolved::Missing)
            }
            Reference::Secret { name } => match self.get(name).await {
                Ok(Some(key)) => Ok(SecretText::new(key.expose())),
                Ok(None) => Err(Unresolved::Missing),
                Err(_) => Err(Unresolved::Unavailable),
            },
        }
    }
}
