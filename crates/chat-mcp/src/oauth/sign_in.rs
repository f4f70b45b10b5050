//! Has the user sign in, in the browser.

use std::fmt;

use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationMetadata, AuthorizationSession, OAuthClientConfig,
    WWWAuthenticateParams,
};
use url::Url;

use super::account::issuer;
use super::callback::{Answer, Listener};
use super::credentials::{Credentials, key};
use super::{Account, KnownIssuer, OAuthFault};

/// How this program introduces itself when it registers.
const NAME: &str = "Natter";
/// What a token is asked for that can be renewed while the user is away.
const OFFLINE: &str = "offline_access";

/// A sign-in that began. Dropping it ends it: nobody listens for the browser any more.
pub struct SignIn {
    account: Account,
    session: AuthorizationSession,
    listener: Listener,
    /// What the browser must bring, so that nobody else signs the user in.
    state: String,
    credentials: Credentials,
    known: KnownIssuer,
}

impl SignIn {
    /// Finds out from a server's challenge where the user signs in, and introduces this program there. A server that
    /// wants more than the user allowed before is asked for both.
    ///
    /// # Errors
    /// Why the user cannot sign in.
    pub async fn begin(account: &Account, challenge: &str) -> Result<Self, OAuthFault> {
        let listener = Listener::bind().await.map_err(|_| OAuthFault::NoListener)?;
        let mut manager = account.new_manager().await?;
        let metadata = account.discover(&manager, Some(challenge)).await?;
        let params = WWWAuthenticateParams::parse(challenge, account.server());
        let issuer = issuer(&metadata);
        let is_allowed = |url: &str| Url::parse(url).is_ok_and(|url| account.http().allows(&url));
        if !is_allowed(&metadata.authorization_endpoint) {
            return Err(OAuthFault::AddressRefused);
        }
        manager.set_metadata(metadata.clone());
        let scopes = scopes(account, &manager, &metadata, &params).await;
        let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
        let redirect = listener.address();
        let (config, is_own) =
            introduce(account, &mut manager, &metadata, &redirect, &scopes).await?;
        // The secret of a client that was registered by hand is kept where its entry says.
        let secret = config.client_secret.clone().filter(|_| is_own);
        let known = KnownIssuer {
            key: key(&issuer, account.server()),
            resource_metadata: params.resource_metadata_url.map(String::from),
            issuer,
        };
        let credentials = Credentials::empty(account.vault(), known.key.clone(), secret);
        manager.configure_client(config).map_err(|error| account.fault(&error))?;
        manager.set_credential_store(credentials.clone());
        let url = manager.get_authorization_url(&scopes).await;
        let url = url.map_err(|error| account.fault(&error))?;
        let state = state(&url).ok_or(OAuthFault::Unsupported)?;
        let session = AuthorizationSession::for_scope_upgrade(manager, url, &redirect);
        Ok(Self { account: account.clone(), session, listener, state, credentials, known })
    }

    /// The address to open in the browser.
    pub fn url(&self) -> &str {
        self.session.get_authorization_url()
    }

    /// Waits until the user has signed in. From then on the account has the token, also in connections that are open.
    ///
    /// # Errors
    /// Why there is no token.
    pub async fn finish(self) -> Result<(), OAuthFault> {
        let limit = self.account.options().time_limit;
        let answer = tokio::time::timeout(limit, self.listener.answer(&self.state)).await;
        let answer = answer.map_err(|_| OAuthFault::TimedOut)?;
        let url = match answer.map_err(|_| OAuthFault::NoListener)? {
            Answer::Code { url } => url,
            Answer::Error { code, description } if code == "access_denied" => {
                return Err(OAuthFault::Denied { description });
            }
            Answer::Error { code, description } => {
                return Err(OAuthFault::Failed { code, description });
            }
        };
        let token = self.session.handle_callback_url(&url).await;
        token.map_err(|error| self.account.fault(&error))?;
        self.account.install(self.session.auth_manager, self.credentials, self.known).await;
        Ok(())
    }
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn").field("account", &self.account).finish_non_exhaustive()
    }
}

/// What to ask for: what the server wants, and what the user allowed before.
async fn scopes(
    account: &Account,
    manager: &AuthorizationManager,
    metadata: &AuthorizationMetadata,
    params: &WWWAuthenticateParams,
) -> Vec<String> {
    let mut scopes = account.scopes(&issuer(metadata)).await;
    let wanted = if params.is_insufficient_scope() && params.scope.is_some() {
        let scope = params.scope.as_deref().unwrap_or_default();
        scope.split_whitespace().map(str::to_owned).collect()
    } else {
        manager.select_initial_scopes(&[]).await
    };
    scopes.extend(wanted);
    let is_offered = metadata.scopes_supported.iter().flatten().any(|scope| scope == OFFLINE);
    if is_offered && !scopes.is_empty() {
        scopes.push(OFFLINE.to_owned());
    }
    let mut seen = std::collections::BTreeSet::new();
    scopes.retain(|scope| seen.insert(scope.clone()));
    scopes
}

/// Introduces this program: as what the user registered by hand, else by its description, else by registering itself.
/// Also says whether it did the last.
async fn introduce(
    account: &Account,
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    redirect: &str,
    scopes: &[&str],
) -> Result<(OAuthClientConfig, bool), OAuthFault> {
    let options = account.options();
    if let Some(client) = &options.client {
        if client.issuer.as_ref().is_some_and(|it| *it != issuer(metadata)) {
            return Err(OAuthFault::IssuerMismatch);
        }
        let config = OAuthClientConfig::new(&client.id, redirect);
        let config = match &client.secret {
            Some(secret) => config.with_client_secret(secret.expose()),
            None => config,
        };
        return Ok((config, false));
    }
    let looks = metadata.additional_fields.get("client_id_metadata_document_supported");
    let looks = looks.and_then(serde_json::Value::as_bool).unwrap_or_default();
    if let Some(url) = options.metadata_url.as_ref().filter(|_| looks) {
        return Ok((OAuthClientConfig::new(url, redirect), false));
    }
    let config = manager.register_client(NAME, redirect, scopes).await;
    config.map(|config| (config, true)).map_err(|error| account.fault(&error))
}

/// What the browser must bring back.
fn state(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    url.query_pairs().find(|(name, _)| name == "state").map(|(_, state)| state.into_owned())
}
