//! Connects to servers at addresses, as whom the user signed in there, and has the user sign in.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;

use super::StartFault;
use super::launch::Launcher;
use crate::client::Fault;
use crate::config::{ResolvedEndpoint, ResolvedServer};
use crate::http::{HttpClient, HttpFault, HttpTransport, transport};
use crate::keys::TokenVault;
use crate::oauth::{Account, CredentialVault, KnownIssuer, OAuthFault, SignIn, SignInOptions};

/// A sign-in that began: the user goes on in the browser. Dropping it ends it.
#[derive(Debug)]
pub struct PendingSignIn {
    sign_in: SignIn,
    account: Account,
    file: PathBuf,
}

impl PendingSignIn {
    /// The address to open in the browser.
    pub fn url(&self) -> &str {
        self.sign_in.url()
    }

    /// Waits until the user has signed in, and keeps that for later runs. A connection has to be started again to use it.
    ///
    /// # Errors
    /// Why the user is not signed in.
    pub async fn finish(self) -> Result<(), StartFault> {
        self.sign_in.finish().await.map_err(of_oauth)?;
        let Some(known) = self.account.known_issuer() else { return Ok(()) };
        let written = spawn_blocking(move || write(&self.file, &known)).await;
        if let Err(error) = written.map_err(io::Error::other).flatten() {
            // The user signs in again in the next run.
            tracing::warn!(%error, "where the user signed in for a server is not kept");
        }
        Ok(())
    }
}

impl Launcher {
    /// A connection to the server at an address, as whom the user signed in there.
    pub(super) async fn reach(
        &self,
        endpoint: &ResolvedEndpoint,
    ) -> Result<HttpTransport, StartFault> {
        let (client, account) = self.account(endpoint).await?;
        account.restore().await.map_err(of_oauth)?;
        transport(&client, endpoint, Some(&account)).map_err(of_http)
    }

    /// Begins to sign the user in, as a server's challenge says.
    ///
    /// # Errors
    /// Why the user cannot sign in.
    pub async fn begin_sign_in(&self, challenge: &str) -> Result<PendingSignIn, StartFault> {
        let resolved = self.server.config.expand(&self.keys).await.map_err(StartFault::Expand)?;
        let ResolvedServer::Endpoint(endpoint) = resolved else {
            return Err(StartFault::Client(Fault::Invalid));
        };
        let (_, account) = self.account(&endpoint).await?;
        // What the user allowed before is asked for again. That needs nobody's answer now.
        drop(account.restore().await);
        let sign_in = SignIn::begin(&account, challenge).await.map_err(of_oauth)?;
        Ok(PendingSignIn { sign_in, account, file: self.account.clone() })
    }

    /// Whether the user signed in, as far as that is known without asking anybody.
    pub fn is_signed_in(&self) -> bool {
        self.account.is_file()
    }

    async fn account(
        &self,
        endpoint: &ResolvedEndpoint,
    ) -> Result<(HttpClient, Account), StartFault> {
        let (file, of_client) = (self.account.clone(), endpoint.clone());
        // The system's certificates are read.
        let prepared = spawn_blocking(move || (read(&file), HttpClient::new(&of_client))).await;
        let (known, client) =
            prepared.map_err(|error| StartFault::NotStarted(error.to_string()))?;
        let client = client.map_err(of_http)?;
        let vault = Arc::new(TokenVault::new(self.keys.clone(), &self.account));
        let account = Account::new(&client, vault, known, SignInOptions::default()).await;
        Ok((client, account.map_err(of_oauth)?))
    }
}

/// Forgets that the user signed in, as this file says where. The server need not be known any more.
///
/// # Errors
/// Why that is not possible; the file is as it was.
pub(crate) async fn sign_out(file: &Path, vault: &dyn CredentialVault) -> Result<(), StartFault> {
    let failed = |error: io::Error| StartFault::NotStarted(error.to_string());
    let path = file.to_owned();
    let known = spawn_blocking(move || read(&path)).await.map_err(|error| failed(error.into()))?;
    if let Some(known) = known {
        known.sign_out(vault).await.map_err(of_oauth)?;
    }
    match tokio::fs::remove_file(file).await {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    }
}

fn of_http(fault: HttpFault) -> StartFault {
    StartFault::Client(Fault::Http(fault))
}

fn of_oauth(fault: OAuthFault) -> StartFault {
    of_http(HttpFault::Authorization(fault))
}

fn read(file: &Path) -> Option<KnownIssuer> {
    serde_json::from_slice(&std::fs::read(file).ok()?).ok()
}

fn write(path: &Path, known: &KnownIssuer) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(known)?)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
