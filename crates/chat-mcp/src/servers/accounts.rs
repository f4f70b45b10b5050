//! Signs the user in to servers, and out.

use super::{ServerKey, Servers};
use crate::client::Fault;
use crate::connection::{PendingSignIn, StartFault, State};

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
        let State::Failed { why: StartFault::Client(Fault::Unauthorized(challenge)), .. } =
            entry.connection().snapshot().state
        else {
            return None;
        };
        Some(entry.launcher().begin_sign_in(&challenge).await)
    }

    /// Forgets that the user signed in to a server, and ends it.
    ///
    /// # Errors
    /// Why that is not possible.
    pub async fn sign_out(&self, key: &ServerKey) -> Result<(), StartFault> {
        let entry = self.lock().entry(key);
        let Some(entry) = entry else { return Ok(()) };
        entry.connection().stop().await;
        let done = entry.launcher().sign_out().await;
        self.0.changes.send_replace(());
        done
    }
}
