//! Keeps the tokens of one server with one issuer.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use chat_definitions::Digest;
use rmcp::transport::auth::{
    AuthError, CredentialRefreshGuard, CredentialStore, OAuthTokenResponse, StoredCredentials,
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use url::Url;

use super::{CredentialVault, VaultLocked};

/// The digits of a hash that tell servers apart.
const DIGITS: usize = 16;

/// Where the tokens of a server are kept. A token is only for the server for which it was issued, whoever issued it;
/// its address is not shown, since it may contain a secret.
pub(super) fn key(issuer: &str, server: &Url) -> String {
    let mut server = server.clone();
    server.set_fragment(None);
    let digest = Digest::of([server.as_str().as_bytes()]).to_string();
    format!("mcp/{issuer}#{}", &digest[..DIGITS])
}

/// The tokens of one server with one issuer. Cheap to clone.
#[derive(Clone)]
pub(super) struct Credentials(Arc<Inner>);

struct Inner {
    vault: Arc<dyn CredentialVault>,
    key: String,
    /// The secret of a client that registered itself.
    client_secret: Option<String>,
    /// What was last seen of the vault. Requests do not wait for a keyring.
    held: Mutex<Option<Item>>,
}

/// What the vault keeps.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Item {
    pub(super) credentials: StoredCredentials,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
}

impl Credentials {
    /// Those that were kept; none if there are none that can be used.
    ///
    /// # Errors
    /// The vault is locked.
    pub(super) async fn load(
        vault: Arc<dyn CredentialVault>,
        key: String,
    ) -> Result<Option<(Self, Item)>, VaultLocked> {
        let item = vault.load(&key).await?.as_deref().and_then(Item::of);
        let Some(item) = item.filter(|item| item.credentials.token_response.is_some()) else {
            return Ok(None);
        };
        let client_secret = item.client_secret.clone();
        let held = Mutex::new(Some(item.clone()));
        Ok(Some((Self(Arc::new(Inner { vault, key, client_secret, held })), item)))
    }

    /// A place for tokens that are still to come.
    pub(super) fn empty(
        vault: Arc<dyn CredentialVault>,
        key: String,
        client_secret: Option<String>,
    ) -> Self {
        Self(Arc::new(Inner { vault, key, client_secret, held: Mutex::default() }))
    }

    /// What the user allowed.
    pub(super) async fn scopes(&self) -> Vec<String> {
        let held = self.0.held.lock().await;
        held.as_ref().map(|item| item.credentials.granted_scopes.clone()).unwrap_or_default()
    }

    /// Forgets them in the vault. Should it keep them, they are of no use any more.
    async fn remove(&self) {
        if let Err(error) = self.0.vault.remove(&self.0.key).await {
            tracing::warn!(%error, "a token of a server that is of no use stays in the keyring");
        }
    }
}

impl Item {
    fn of(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    fn refresh_token(&self) -> Option<String> {
        refresh_token(self.credentials.token_response.as_ref())
    }
}

/// The token for renewing, as it is written: the library that has the type of it is not ours.
fn refresh_token(response: Option<&OAuthTokenResponse>) -> Option<String> {
    let response = serde_json::to_value(response?).ok()?;
    response.get("refresh_token")?.as_str().map(str::to_owned)
}

#[async_trait]
impl CredentialStore for Credentials {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(self.0.held.lock().await.as_ref().map(|item| item.credentials.clone()))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let item = Item { credentials, client_secret: self.0.client_secret.clone() };
        let mut held = self.0.held.lock().await;
        if let Ok(text) = serde_json::to_string(&item) {
            self.0.vault.save(&self.0.key, text).await;
        }
        *held = Some(item);
        Ok(())
    }

    async fn clear(&self) -> Result<(), AuthError> {
        *self.0.held.lock().await = None;
        self.remove().await;
        Ok(())
    }

    async fn on_refresh_token_rejected(
        &self,
        rejected: &StoredCredentials,
    ) -> Result<(), AuthError> {
        let rejected = refresh_token(rejected.token_response.as_ref());
        let is_rejected = |item: &Item| item.refresh_token() == rejected;
        let mut held = self.0.held.lock().await;
        match self.0.vault.load(&self.0.key).await {
            Ok(kept) => {
                *held = kept.as_deref().and_then(Item::of);
                // Another one is a newer one, which another run got.
                if held.as_ref().is_some_and(is_rejected) {
                    *held = None;
                    self.remove().await;
                }
            }
            Err(VaultLocked) => *held = held.take().filter(|item| !is_rejected(item)),
        }
        Ok(())
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let alone = self.0.vault.lock(&self.0.key).await;
        let alone = alone.map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        // Another run may have renewed them, since most tokens for that can be used once, or signed the user out.
        if let Ok(kept) = self.0.vault.load(&self.0.key).await {
            *self.0.held.lock().await = kept.as_deref().and_then(Item::of);
        }
        Ok(Some(CredentialRefreshGuard::new(alone)))
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;

    use super::*;

    #[derive(Default)]
    struct Vault(Mutex<BTreeMap<String, String>>);

    #[async_trait]
    impl CredentialVault for Vault {
        async fn load(&self, key: &str) -> Result<Option<String>, VaultLocked> {
            Ok(self.0.lock().unwrap().get(key).cloned())
        }

        async fn save(&self, key: &str, value: String) {
            self.0.lock().unwrap().insert(key.to_owned(), value);
        }

        async fn remove(&self, key: &str) -> Result<(), VaultLocked> {
            self.0.lock().unwrap().remove(key);
            Ok(())
        }
    }

    fn item(renewing: &str) -> String {
        let token = serde_json::json!({
            "access_token": "token",
            "token_type": "bearer",
            "refresh_token": renewing,
        });
        let credentials = serde_json::json!({ "client_id": "natter", "token_response": token });
        serde_json::json!({ "credentials": credentials }).to_string()
    }

    #[tokio::test]
    async fn a_rejected_token_is_forgotten_and_a_newer_one_of_another_run_is_taken() {
        let vault = Arc::new(Vault::default());
        vault.save("key", item("one")).await;
        let load = || Credentials::load(vault.clone(), "key".to_owned());
        let (credentials, one) = load().await.unwrap().unwrap();
        let renewing = async || Some(credentials.load().await.unwrap()?.token_response);
        vault.save("key", item("two")).await;
        credentials.on_refresh_token_rejected(&one.credentials).await.unwrap();
        let taken = renewing().await.flatten();
        assert_eq!(refresh_token(taken.as_ref()).as_deref(), Some("two"));
        assert!(vault.0.lock().unwrap().contains_key("key"));

        let (_, two) = load().await.unwrap().unwrap();
        credentials.on_refresh_token_rejected(&two.credentials).await.unwrap();
        assert!(renewing().await.is_none());
        assert!(vault.0.lock().unwrap().is_empty());
    }

    #[test]
    fn a_token_is_only_for_its_server() {
        let key = |issuer: &str, url: &str| key(issuer, &Url::parse(url).unwrap());
        let issuer = "https://login.test";
        let one = key(issuer, "https://one.test/mcp?key=hunter2");
        assert!(one.starts_with("mcp/https://login.test#"));
        assert!(!one.contains("hunter2"));
        assert_ne!(one, key(issuer, "https://two.test/mcp?key=hunter2"));
        assert_ne!(one, key(issuer, "https://one.test/mcp"));
        assert_ne!(one, key("https://other.test", "https://one.test/mcp?key=hunter2"));
        assert_eq!(one, key(issuer, "https://one.test/mcp?key=hunter2#part"));
    }
}
