//! Signs the user in to servers, and out.

use std::io::ErrorKind;

use super::{ServerKey, Servers};
use crate::config::{Change, Server, Transport, WriteError};
use crate::connection::{PendingSignIn, StartFault, sign_out};
use crate::keys::TokenVault;

impl Servers {
    /// Begins to sign the user in to a server that wants that. None if it wants nothing, or is not used.
    ///
    /// # Errors
    /// Why the user cannot sign in.
    pub async fn begin_sign_in(
        &self,
        key: &ServerKey,
    ) -> Option<Result<PendingSignIn, StartFault>> {
        let entry = self.lock().entry(key)?;
        let challenge = entry.connection().snapshot().challenge?;
        Some(entry.launcher().begin_sign_in(&challenge).await)
    }

    /// Forgets that the user signed in to a server, and ends it. The server may be switched off, or gone.
    ///
    /// # Errors
    /// Why that is not possible; the user is still signed in.
    pub async fn sign_out(&self, key: &ServerKey) -> Result<(), StartFault> {
        let entry = self.lock().entry(key);
        if let Some(entry) = entry {
            entry.connection().stop().await;
        }
        let file = self.0.account(key);
        let done = sign_out(&file, &TokenVault::new(self.0.keys.clone(), &file)).await;
        self.0.changes.send_replace(());
        done
    }

    /// Signs the user out of a server that is about to be removed, or to get another address: nobody would find the token
    /// any more.
    ///
    /// # Errors
    /// The token stays; the change must not be made.
    pub(super) async fn sign_out_before(&self, change: &Change) -> Result<(), WriteError> {
        let name = match change {
            Change::Remove { name } => name,
            Change::Replace { name, server } if self.moves(name, server) => name,
            Change::Add(_) | Change::Replace { .. } | Change::SetDisabled { .. } => return Ok(()),
        };
        let key = ServerKey::of_user(name);
        if !self.0.account(&key).is_file() {
            return Ok(());
        }
        self.sign_out(&key).await.map_err(|_| WriteError::StillSignedIn { name: name.clone() })
    }

    /// Takes what is known of a sign-in along to the new name of a server.
    pub(super) fn rename_account(&self, change: &Change) {
        let Change::Replace { name, server } = change else { return };
        if *name == server.name {
            return;
        }
        let account = |name: &str| self.0.account(&ServerKey::of_user(name));
        match std::fs::rename(account(name), account(&server.name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                // The user signs in again.
                tracing::warn!(%error, "where the user signed in for a renamed server is not kept");
            }
            _ => {}
        }
    }

    /// Whether a server of this name would be at another address as this one.
    fn moves(&self, name: &str, server: &Server) -> bool {
        let url = |server: &Server| match &server.config.transport {
            Transport::Http(http) => Some(http.url.source().to_owned()),
            Transport::Stdio(_) => None,
        };
        let known = self.lock();
        let old = known.config().server(name).and_then(url);
        old.is_none() || old != url(server)
    }
}
