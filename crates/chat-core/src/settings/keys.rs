//! Keys of connections: where they are kept, and how they never leak.

use super::Connection;
use crate::error::Result;

/// A connection's key. Shown nowhere: its `Debug` says only that there is one.
#[derive(Clone)]
pub struct Key(std::sync::Arc<str>);

impl Key {
    /// Takes a key as typed; white space around it is dropped.
    pub fn new(key: &str) -> Self {
        Self(key.trim().into())
    }

    /// The key itself, for a header.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Where a key went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Into the Secret Service.
    Keyring,
    /// Into memory, for this run: there is no Secret Service.
    ThisRun,
}

/// Finds and keeps keys.
#[derive(Debug, Default)]
pub struct KeyStore {}

impl KeyStore {
    /// The key of a connection, from where its settings say.
    ///
    /// # Errors
    /// `KeyUnavailable` where it should be somewhere and is not.
    pub async fn get(&self, connection: &Connection) -> Result<Option<Key>> {
        let _ = connection;
        todo!()
    }

    /// Keeps the key of a connection.
    pub async fn set(&self, connection: &str, key: Key) -> Result<Kept> {
        let _ = (connection, key);
        todo!()
    }

    /// Forgets the key of a connection.
    pub async fn remove(&self, connection: &str) -> Result<()> {
        let _ = connection;
        todo!()
    }
}
