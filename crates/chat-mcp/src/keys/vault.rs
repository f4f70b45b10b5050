//! Keeps the tokens of servers in the keyring. Runs that renew one at the same time wait for each other.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use chat_core::settings::Key;
use chat_definitions::Digest;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::Keys;
use crate::oauth::{CredentialVault, VaultLocked};

/// How long is waited for another run. It is longer than a request for a token may take.
const PATIENCE: Duration = Duration::from_secs(40);
/// The system cannot be asked to tell when a lock is free, unless a thread waits for it.
const PAUSE: Duration = Duration::from_millis(50);

/// Keeps tokens under names of their own, which begin like those of secrets.
#[derive(Clone, Debug)]
pub struct TokenVault {
    keys: Keys,
    folder: PathBuf,
}

impl TokenVault {
    /// The vault of a server whose account is kept in this file. What runs wait for is beside it.
    pub fn new(keys: Keys, account: &Path) -> Self {
        Self { keys, folder: account.parent().unwrap_or(Path::new(".")).to_owned() }
    }

    fn lock_file(&self, key: &str) -> PathBuf {
        let digest = Digest::of([key.as_bytes()]).to_string();
        self.folder.join(format!("token-{}.lock", &digest[..16]))
    }
}

#[async_trait]
impl CredentialVault for TokenVault {
    async fn load(&self, key: &str) -> Result<Option<String>, VaultLocked> {
        let keyring = &self.keys.0;
        match keyring.stored(key).await {
            Ok(found) => Ok(found.map(|key| key.expose().to_owned())),
            // Where there is no keyring, nothing was kept.
            Err(_) if keyring.has_no_keyring().await => Ok(None),
            Err(_) => Err(VaultLocked),
        }
    }

    async fn save(&self, key: &str, value: String) {
        if let Err(error) = self.keys.0.set(key, Key::new(&value)).await {
            tracing::warn!(%error, "the token of a server is not kept for the next start");
        }
    }

    async fn remove(&self, key: &str) -> Result<(), VaultLocked> {
        self.keys.0.remove(key).await.map_err(|_| VaultLocked)
    }

    async fn lock(&self, key: &str) -> Result<Box<dyn Send>, VaultLocked> {
        let path = self.lock_file(key);
        let opened = spawn_blocking(move || open(&path)).await.map_err(io::Error::other).flatten();
        let file = match opened {
            Ok(file) => file,
            Err(error) => {
                // Most people run Natter once.
                tracing::warn!(%error, "a token of a server is renewed without a lock");
                return Ok(Box::new(()));
            }
        };
        timeout(PATIENCE, locked(&file)).await.map_err(|_| VaultLocked)?;
        Ok(Box::new(file))
    }
}

fn open(path: &Path) -> io::Result<File> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// Waits until nobody else has the lock. A file system that knows no locks is as one where nobody has it.
async fn locked(file: &File) {
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn two_runs_wait_for_each_other_and_not_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let account = folder.path().join("mcp/notes.account.json");
        let run = || TokenVault::new(Keys::default(), &account);
        let (one, other) = (run(), run());
        let alone = one.lock("key").await.unwrap();
        assert!(other.lock("another").await.is_ok());
        assert!(matches!(other.lock("key").await, Err(VaultLocked)));
        let waiting = tokio::spawn(async move { other.lock("key").await.is_ok() });
        tokio::task::yield_now().await;
        drop(alone);
        assert!(waiting.await.unwrap());
    }
}
