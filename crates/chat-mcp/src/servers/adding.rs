//! Adds servers with their secrets: no other secret is lost, and a server that is not added leaves none behind.

use std::collections::BTreeSet;

use chat_core::error::Error;
use chat_core::settings::KeyStorage;

use super::Servers;
use crate::config::{Change, SecretText, Server, WriteError};
use crate::import::{PlainSecret, move_secret, numbered, rename_secret};

/// A server to add.
#[derive(Clone, Debug)]
pub struct NewServer {
    /// The server, with its secrets written out.
    pub server: Server,
    /// The secrets that are written out in it, and move into the keyring.
    pub secrets: Vec<PlainSecret>,
    /// What the user was asked for, by the names of secrets to which the server refers for it. None where they answered
    /// nothing. Such a name is another server's, too, so that it is replaced.
    pub inputs: Vec<(String, Option<SecretText>)>,
}

/// Why a server was not added. All is as it was.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// The file could not be changed.
    #[error("{0}")]
    Write(#[from] WriteError),
    /// The keyring failed.
    #[error("{0}")]
    Keyring(#[from] Error),
}

impl Servers {
    /// Adds a server, and keeps its secrets under names that nothing in the file or the keyring has. Gives where they
    /// are, if there are any. May ask the user to unlock the keyring.
    ///
    /// # Errors
    /// Why it was not added.
    pub async fn add(&self, new: NewServer) -> Result<Option<KeyStorage>, AddError> {
        let NewServer { mut server, secrets, inputs } = new;
        if self.config().has_name(&server.name) {
            return Err(WriteError::NameTaken { name: server.name }.into());
        }
        let (mut taken, mut kept) = (BTreeSet::new(), Vec::new());
        for secret in &secrets {
            let free = self.free_secret_name(&secret.name, &mut taken).await?;
            let moved = move_secret(&mut server.config, &secret.place, &free);
            kept.extend(moved.map(|text| (free, text)));
        }
        for (name, text) in inputs {
            let free = self.free_secret_name(&name, &mut taken).await?;
            if rename_secret(&mut server.config, &name, &free) {
                kept.extend(text.map(|text| (free, text)));
            }
        }
        let mut storage = None;
        let mut result = Ok(());
        for (name, text) in &kept {
            match self.keys().set(name, text).await {
                Ok(stored) => storage = Some(stored),
                Err(error) => {
                    result = Err(error.into());
                    break;
                }
            }
        }
        if result.is_ok() {
            result = self.change(Change::Add(server)).await.map_err(AddError::from);
        }
        if result.is_err() {
            for (name, _) in &kept {
                if let Err(error) = self.keys().remove(name).await {
                    tracing::warn!(%error, "the secret of a server that is not added stays");
                }
            }
        }
        result.map(|()| storage)
    }

    /// A name like this one for a secret that neither the file nor the keyring has, nor those that are `taken`, to which
    /// it is added.
    ///
    /// # Errors
    /// The keyring does not answer.
    pub async fn free_secret_name(
        &self,
        wanted: &str,
        taken: &mut BTreeSet<String>,
    ) -> Result<String, Error> {
        let config = self.config();
        let mut name = wanted.to_owned();
        for next in numbered(wanted) {
            name = next;
            let is_free = !taken.contains(&name) && !config.refers_to(&name);
            if is_free && !self.keys().has(&name).await? {
                break;
            }
        }
        taken.insert(name.clone());
        Ok(name)
    }
}
