//! Holds who the user is for one server.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::Client;
use rmcp::transport::auth::{
    AuthClient, AuthError, AuthorizationManager, AuthorizationMetadata,
    AuthorizationMetadataResolution, OAuthClientConfig, OAuthHttpClient,
};
use url::Url;

use super::credentials::{Credentials, Item, key};
use super::requests::Requests;
use super::{CredentialVault, KnownIssuer, OAuthFault, SignInOptions};
use crate::http::HttpClient;

/// Who the user is for one server. Cheap to clone.
#[derive(Clone)]
pub struct Account(Arc<Inner>);

struct Inner {
    http: HttpClient,
    requests: Arc<Requests>,
    vault: Arc<dyn CredentialVault>,
    options: SignInOptions,
    /// What connections use. Its manager is replaced when the user signs in, so that they go on with the new token.
    client: AuthClient<Client>,
    state: Mutex<State>,
}

struct State {
    known: Option<KnownIssuer>,
    credentials: Option<Credentials>,
}

impl Account {
    /// An account for the server of a client. `known` is what [`Account::known_issuer`] gave in an earlier run.
    /// Connects to nothing yet.
    ///
    /// # Errors
    /// The server's address is none for that.
    pub async fn new(
        http: &HttpClient,
        vault: Arc<dyn CredentialVault>,
        known: Option<KnownIssuer>,
        options: SignInOptions,
    ) -> Result<Self, OAuthFault> {
        let requests = Arc::new(Requests::new(http.clone()));
        let manager = manager(http.base(), Arc::clone(&requests)).await?;
        let client = AuthClient::new(http.client(), manager);
        let state = Mutex::new(State { known, credentials: None });
        Ok(Self(Arc::new(Inner { http: http.clone(), requests, vault, options, client, state })))
    }

    /// Takes the token of an earlier run, if there is one that can still be used. Whether there is.
    ///
    /// # Errors
    /// There may be a token, but the vault is locked, or whoever issued it cannot be asked about it now.
    pub async fn restore(&self) -> Result<bool, OAuthFault> {
        let Some(known) = self.known_issuer() else { return Ok(false) };
        let key = key(&known.issuer, self.server());
        let vault = Arc::clone(&self.0.vault);
        let Some((credentials, item)) = Credentials::load(vault, key).await? else {
            return Ok(false);
        };
        let challenge = known
            .resource_metadata
            .as_ref()
            .map(|url| format!("Bearer resource_metadata=\"{url}\""));
        let mut manager = self.new_manager().await?;
        let metadata = match self.discover(&manager, challenge.as_deref()).await {
            Ok(metadata) => metadata,
            Err(fault @ (OAuthFault::Unreachable | OAuthFault::NoTls)) => return Err(fault),
            // It leads elsewhere now: its next challenge says where.
            Err(_) => return Ok(false),
        };
        let Some(config) = self.client_of(&item).filter(|_| issuer(&metadata) == known.issuer)
        else {
            return Ok(false);
        };
        manager.set_metadata(metadata);
        manager.configure_client(config).map_err(|error| self.fault(&error))?;
        manager.set_credential_store(credentials.clone());
        self.install(manager, credentials, known).await;
        Ok(true)
    }

    /// With whom the user signed in, to be remembered.
    pub fn known_issuer(&self) -> Option<KnownIssuer> {
        self.state().known.clone()
    }

    /// What sends requests with the token, or without as long as there is none.
    pub(crate) fn client(&self) -> AuthClient<Client> {
        self.0.client.clone()
    }

    pub(super) fn server(&self) -> &Url {
        self.0.http.base()
    }

    pub(super) fn http(&self) -> &HttpClient {
        &self.0.http
    }

    pub(super) fn options(&self) -> &SignInOptions {
        &self.0.options
    }

    pub(super) fn vault(&self) -> Arc<dyn CredentialVault> {
        Arc::clone(&self.0.vault)
    }

    /// What the user allowed an issuer to give.
    pub(super) async fn scopes(&self, with: &str) -> Vec<String> {
        let credentials = {
            let state = self.state();
            let is_same = state.known.as_ref().is_some_and(|known| known.issuer == with);
            state.credentials.clone().filter(|_| is_same)
        };
        match credentials {
            Some(credentials) => credentials.scopes().await,
            None => Vec::new(),
        }
    }

    pub(super) async fn new_manager(&self) -> Result<AuthorizationManager, OAuthFault> {
        manager(self.server(), Arc::clone(&self.0.requests)).await
    }

    /// Finds out who signs users in for the server.
    pub(super) async fn discover(
        &self,
        manager: &AuthorizationManager,
        challenge: Option<&str>,
    ) -> Result<AuthorizationMetadata, OAuthFault> {
        self.0.requests.take_fault();
        let found = manager.resolve_metadata_from_challenge(challenge).await;
        let AuthorizationMetadataResolution { metadata, source, .. } =
            found.map_err(|error| self.fault(&error))?;
        // All else would be a guess.
        if source.is_discovered() { Ok(metadata) } else { Err(OAuthFault::NoMetadata) }
    }

    pub(super) fn fault(&self, error: &AuthError) -> OAuthFault {
        self.0.requests.take_fault().unwrap_or_else(|| OAuthFault::of(error))
    }

    /// Uses a token from now on.
    pub(super) async fn install(
        &self,
        manager: AuthorizationManager,
        credentials: Credentials,
        known: KnownIssuer,
    ) {
        *self.0.client.auth_manager.lock().await = manager;
        let old = {
            let mut state = self.state();
            state.credentials = Some(credentials);
            state.known.replace(known.clone())
        };
        // Whoever issued it issues no more for this server, or the server was at another address.
        if let Some(old) = old.filter(|old| old.key != known.key)
            && let Err(error) = self.0.vault.remove(&old.key).await
        {
            tracing::warn!(%error, "a token of a server that is of no use stays in the keyring");
        }
    }

    /// As whom this program got a token; none if it is somebody else now.
    fn client_of(&self, item: &Item) -> Option<OAuthClientConfig> {
        let id = &item.credentials.client_id;
        let secret = match &self.0.options.client {
            Some(client) if client.id != *id => return None,
            Some(client) => client.secret.as_ref().map(|secret| secret.expose().to_owned()),
            None => item.client_secret.clone(),
        };
        // Nobody is sent anywhere for renewing a token.
        let config = OAuthClientConfig::new(id, "http://127.0.0.1/callback");
        Some(match secret {
            Some(secret) => config.with_client_secret(secret),
            None => config,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("known", &self.state().known).finish_non_exhaustive()
    }
}

/// Who issues tokens. Old ones do not say who they are.
pub(super) fn issuer(metadata: &AuthorizationMetadata) -> String {
    metadata.issuer.clone().unwrap_or_else(|| metadata.token_endpoint.clone())
}

async fn manager(
    server: &Url,
    requests: Arc<Requests>,
) -> Result<AuthorizationManager, OAuthFault> {
    let requests: Arc<dyn OAuthHttpClient> = requests;
    AuthorizationManager::new_with_oauth_http_client(server.clone(), requests)
        .await
        .map_err(|error| OAuthFault::of(&error))
}
